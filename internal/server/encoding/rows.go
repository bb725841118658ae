package encoding

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"math"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
)

// cut is the limit that cut rows off a result.
type cut string

const (
	whole   cut = ""      // nothing was cut off
	byRows  cut = "rows"  // at the limit of rows
	byBytes cut = "bytes" // at the limit of bytes
	byLimit cut = "limit" // the limit of the query itself
)

// skipper is implemented by results that can skip rows without computing them. Skip skips
// up to n rows and returns how many it skipped.
type skipper interface{ Skip(n int) int }

// rowsOf writes rows of a result as a JSON array. It starts at the row with the index `from`
// and stops when a limit is reached. It returns the number of rows written and the limit that cut
// rows off. It reports the query's own limit only if the options limit the number of rows. The
// argument `head` is the number of bytes of the answer before the rows. If a row does not fit even
// alone, the error is a *wireerror.Oversize, since no page could contain that row.
func (e *Writer) rowsOf(ctx context.Context, r engine.Result, from int64, head int) (n int, why cut, err error) {
	keys := columnKeys(r.Columns())
	if e.enc.Arrays {
		for i := range keys {
			keys[i].text = nil
		}
	}
	var ids []idColumn
	if e.entities != nil {
		ids = idColumns(r.Columns())
	}
	start, total, over := len(e.buf), int64(0), 0
	e.buf = append(e.buf, '[')
	if s, ok := r.(skipper); ok {
		from -= skip(s, from)
	}
	for {
		b, err := r.Next(ctx)
		if err != nil {
			return n, why, err
		}
		if b == nil {
			break
		}
		first := int(min(from, int64(b.Len)))
		from -= int64(first)
		total += int64(b.Len - first)
		for i := first; i < b.Len && why == whole; i++ {
			if e.enc.MaxRows > 0 && e.rows == e.enc.MaxRows {
				why = byRows
				break
			}
			if e.nested += nested(b.Columns, i); e.nested > plan.MaxNested && n > 0 {
				if e.enc.Refuse || e.enc.MaxRows == 0 && e.enc.MaxBytes == 0 {
					return n, why, &engine.TooLarge{Resource: "nested records of one answer", Limit: plan.MaxNested, Actual: int64(e.nested),
						Hint: "ask for pages of fewer rows with max_rows, or lower the limit of the block"}
				}
				why = byRows
				break
			}
			before := len(e.buf)
			if n > 0 {
				e.buf = append(e.buf, ',')
			}
			if size, ok := e.rowWithin(keys, b.Columns, i); !ok {
				over, why = len(e.buf)-before+size, byBytes
				e.buf = e.buf[:before]
				break
			}
			n++
			e.rows++
			if ids != nil {
				name(e.entities, ids, b.Columns, i)
			}
			if err := e.part(); err != nil {
				return n, why, err
			}
		}
		if why == whole {
			continue
		}
		if !e.enc.Refuse {
			break
		}
		if s, ok := r.(skipper); ok {
			total += skip(s, math.MaxInt64)
		}
	}
	switch {
	case why != whole && e.enc.Refuse:
		// Count the row that did not fit; it may be the only one.
		counted := max(n, 1)
		if over > 0 {
			counted = n + 1
		}
		estimate := int64(len(e.buf)-start+over) * total / int64(counted)
		return n, why, &wireerror.Oversize{Rows: int(total), Bytes: estimate, MaxRows: e.enc.MaxRows, MaxBytes: e.enc.MaxBytes}
	case why == byBytes && n == 0 && head+len(`[`)+over > e.enc.MaxBytes:
		return n, why, &wireerror.Oversize{Rows: 1, Bytes: int64(head + len(`[`) + over), MaxBytes: e.enc.MaxBytes, SingleRow: true}
	}
	if why == whole && e.enc.MaxRows > 0 && r.More() {
		why = byLimit
	}
	e.truncated = e.truncated || why != whole
	e.buf = append(e.buf, ']')
	return n, why, nil
}

// rowWithin writes row i, unless the answer would then be longer than MaxBytes. If ok
// is false, it wrote nothing, and size is the size of the row or a lower bound of it, in bytes.
func (e *Writer) rowWithin(keys []columnKey, cols []engine.Column, i int) (size int, ok bool) {
	start := len(e.buf)
	if e.enc.MaxBytes == 0 {
		e.row(keys, cols, i)
		return len(e.buf) - start, true
	}
	// A row may be far larger than an answer, so estimate its size before writing it.
	if size = least(keys, cols, i); start+size > e.enc.MaxBytes {
		return size, false
	}
	e.row(keys, cols, i)
	if size = len(e.buf) - start; len(e.buf) > e.enc.MaxBytes {
		e.buf = e.buf[:start]
		return size, false
	}
	return size, true
}

// FirstRows returns the first rows of a result as JSON objects: at most maxRows rows, and only while
// they have at most maxBytes together. The result `more` reports whether there are further rows.
func FirstRows(ctx context.Context, r engine.Result, maxRows, maxBytes int) (rows []json.RawMessage, more bool, err error) {
	forms, more, err := FirstRowsAs(ctx, r, maxRows, maxBytes, Options{})
	return forms[0], more, err
}

// FirstRowsAs is like FirstRows. It returns the same rows with each of the options. The rows with the first options
// have at most maxBytes.
func FirstRowsAs(ctx context.Context, r engine.Result, maxRows, maxBytes int, options ...Options) (forms [][]json.RawMessage, more bool, err error) {
	forms = make([][]json.RawMessage, len(options))
	keys := columnKeys(r.Columns())
	for {
		b, err := r.Next(ctx)
		if b == nil || err != nil {
			return forms, false, err
		}
		for i := range b.Len {
			if len(forms[0]) == maxRows || least(keys, b.Columns, i) > maxBytes {
				return forms, true, nil
			}
			for k, o := range options {
				e := &Writer{enc: o}
				e.object(keys, b.Columns, i)
				if k == 0 {
					if maxBytes -= len(e.buf); maxBytes < 0 {
						return forms, true, nil
					}
				}
				forms[k] = append(forms[k], e.buf)
			}
		}
	}
}

// KeyedRows returns all rows of a result as JSON objects, in the form of each of the options, and a key for each row.
// Only the first `shown` columns are in the objects. The key is the text of the columns with the given indexes. It
// stops with more = true after maxRows rows, or if the rows with the first options have more than maxBytes.
func KeyedRows(ctx context.Context, r engine.Result, shown int, key []int, maxRows, maxBytes int, options ...Options) (forms [][]json.RawMessage, keys []string, more bool, err error) {
	forms = make([][]json.RawMessage, len(options))
	names := columnKeys(r.Columns())
	keyed := make([]columnKey, len(key))
	for k, j := range key {
		keyed[k] = names[j]
	}
	cells := make([]engine.Column, len(key))
	for {
		b, err := r.Next(ctx)
		if b == nil || err != nil {
			return forms, keys, false, err
		}
		for k, j := range key {
			cells[k] = b.Columns[j]
		}
		for i := range b.Len {
			if len(keys) == maxRows || least(names, b.Columns, i) > maxBytes {
				return forms, keys, true, nil
			}
			for k, o := range options {
				e := &Writer{enc: o}
				if e.object(names, b.Columns[:shown], i); k == 0 {
					maxBytes -= len(e.buf)
				}
				forms[k] = append(forms[k], e.buf)
			}
			e := &Writer{}
			e.object(keyed, cells, i)
			keys = append(keys, string(e.buf))
			if maxBytes < 0 {
				return forms, keys, true, nil
			}
		}
	}
}

// nested returns the number of nested records in row i: the records in the values of `cols`, and
// the records within these records.
func nested(cols []engine.Column, i int) int {
	n := 0
	for j := range cols {
		switch c := &cols[j]; {
		case c.IsNull(i):
		case c.Offsets != nil:
			for k := c.Offsets[i]; k < c.Offsets[i+1]; k++ {
				n += 1 + nested(c.Fields, int(k))
			}
		case c.Fields != nil:
			n += nested(c.Fields, i)
		}
	}
	return n
}

// skip skips up to n rows and returns how many it skipped.
func skip(s skipper, n int64) (passed int64) {
	for passed < n {
		k := s.Skip(int(min(n-passed, math.MaxInt32)))
		if k == 0 {
			break
		}
		passed += int64(k)
	}
	return passed
}

// least returns a lower bound in bytes for row i written with the keys. It only adds up
// lengths.
func least(keys []columnKey, cols []engine.Column, i int) int {
	size := 1 + len(cols) // the two braces, and a comma between every two columns
	for j := range cols {
		c := &cols[j]
		size += len(keys[j].text)
		switch {
		case c.IsNull(i):
			size += len("null")
		case c.Offsets != nil:
			for k := c.Offsets[i]; k < c.Offsets[i+1]; k++ {
				size += 1 + least(keys[j].fields, c.Fields, int(k))
			}
		case c.Fields != nil:
			size += least(keys[j].fields, c.Fields, i)
		case c.Type.List:
			size += leastList(c.Lists[i])
		case c.Type.Kind.Storage() == value.InText:
			size += 2 + len(c.Strings[i])
		case c.Type.Kind == value.Decimal:
			size += len(`"0"`)
		case c.Type.Kind.Storage() == value.InBytes:
			size += 2 + base64.StdEncoding.EncodedLen(len(c.Strings[i]))
		case c.Type.Kind.Storage() == value.InVector:
			size += 1 + 2*len(c.Vectors[i])
		default:
			size++
		}
	}
	return size
}

// leastList returns a lower bound of the size of a list as JSON, in bytes.
func leastList(list value.Value) int {
	elems := list.Elems()
	size := 1 + 2*len(elems)
	for _, v := range elems {
		switch {
		case v.IsNull():
		case v.Kind().Storage() == value.InText:
			size += len(v.Str())
		case v.Kind() == value.Blob:
			size += len(v.Raw())
		}
	}
	return size
}
