package main

import (
	"context"
	"errors"
	"fmt"
	"reflect"
)

// asAbsent reports whether err says that a database lacks a feature, and stores that error in
// `to`.
func asAbsent(err error, to **absentError) bool { return errors.As(err, to) }

// agree returns an error if two databases answer differently, or if one answers incorrectly.
func (b *bench) agree(ctx context.Context, w *work, statements []statement, args [][]any) error {
	var judge func(args []any, rows [][]any) error
	n := comparing
	if !w.exact {
		n = 5 // computing the expected ranking scans all rows
	}
	found := 0
	for _, a := range args[:n] {
		if !w.exact {
			judge = b.judge(w, a)
		}
		var first [][]any
		firstName := ""
		for i, run := range statements {
			if run == nil {
				continue
			}
			name := b.peers[i].name()
			var rows [][]any
			if _, err := run(ctx, a, &rows); err != nil {
				return fmt.Errorf("%s, %s: %w", name, w.id, err)
			}
			found += len(rows)
			switch {
			case judge != nil:
				if err := judge(a, rows); err != nil {
					return fmt.Errorf("%s answers %s wrongly: %w", name, w.id, err)
				}
			case firstName == "":
				first, firstName = rows, name
			default:
				if err := sameRows(first, rows, w.compared); err != nil {
					return fmt.Errorf("%s and %s answer %s%v differently: %w", firstName, name, w.id, a, err)
				}
			}
		}
	}
	if found == 0 {
		return fmt.Errorf("%s finds no rows for any of %d arguments, so its time would mean nothing", w.id, n)
	}
	return nil
}

// sameRows returns an error if two results differ in their number of rows or in the first
// `columns` values of a row.
func sameRows(a, b [][]any, columns int) error {
	if len(a) != len(b) {
		return fmt.Errorf("%d rows and %d", len(a), len(b))
	}
	for i := range a {
		if !reflect.DeepEqual(a[i][:columns], b[i][:columns]) {
			return fmt.Errorf("row %d is %v and %v", i, a[i], b[i])
		}
	}
	return nil
}
