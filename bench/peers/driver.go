package main

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"
)

// The benchmark calls the in-process SQL databases directly through their drivers. With
// database/sql in between, it would also measure the connection pool and the conversions of that
// package.

// execAll runs the statements of a script. Each ends in a semicolon at the end of a line.
func execAll(ctx context.Context, conn driver.Conn, script string) error {
	for _, stmt := range strings.SplitAfter(script, ";\n") {
		if strings.TrimSpace(stmt) == "" {
			continue
		}
		if _, err := conn.(driver.ExecerContext).ExecContext(ctx, stmt, nil); err != nil {
			return fmt.Errorf("%s: %w", strings.TrimSpace(stmt), err)
		}
	}
	return nil
}

// prepared is a prepared statement with the buffer for its arguments.
type prepared struct {
	stmt driver.Stmt         // the statement of the driver
	args []driver.NamedValue // reused for each execution
}

// prepare prepares a query of an SQL database.
func prepare(ctx context.Context, conn driver.Conn, query string) (*prepared, error) {
	stmt, err := conn.(driver.ConnPrepareContext).PrepareContext(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", query, err)
	}
	return &prepared{stmt: stmt}, nil
}

// bind sets the arguments of the next run.
func (p *prepared) bind(values ...any) {
	p.args = p.args[:0]
	for i, v := range values {
		p.args = append(p.args, driver.NamedValue{Ordinal: i + 1, Value: v})
	}
}

// exec runs the statement with these values and ignores its result.
func (p *prepared) exec(ctx context.Context, values ...any) error {
	p.bind(values...)
	_, err := p.stmt.(driver.StmtExecContext).ExecContext(ctx, p.args)
	return err
}

// statement prepares a read that returns the given number of columns; with 0, the driver says at
// each run how many columns there are. The function `argument` may be nil; otherwise it converts an
// argument to the form that the database accepts.
func (p *prepared) statement(columns int, argument func(any) any) statement {
	row := make([]driver.Value, columns)
	return func(ctx context.Context, args []any, keep *[][]any) (n int, err error) {
		p.bind(args...)
		if argument != nil {
			for i := range p.args {
				p.args[i].Value = argument(p.args[i].Value)
			}
		}
		rows, err := p.stmt.(driver.StmtQueryContext).QueryContext(ctx, p.args)
		if err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, rows.Close()) }()
		if columns == 0 {
			row = make([]driver.Value, len(rows.Columns()))
		}
		for {
			if err := rows.Next(row); errors.Is(err, io.EOF) {
				return n, nil
			} else if err != nil {
				return n, err
			}
			n++
			for _, v := range row {
				readValue(v)
			}
			if keep != nil {
				kept := make([]any, len(row))
				for i, v := range row {
					kept[i] = plain(v)
				}
				*keep = append(*keep, kept)
			}
		}
	}
}

// readValue reads all bytes of a value, so that no database can skip them.
func readValue(v any) {
	switch v := v.(type) {
	case string:
		sink += touch(v)
	case []byte:
		sink += int64(len(v))
	case int64:
		sink += v
	case int32:
		sink += int64(v)
	case float64:
		sink += int64(v)
	case float32:
		sink += int64(v)
	}
}

// plain converts a value that a driver returned to the form in which a statement appends values to
// `keep`.
func plain(v any) any {
	switch v := v.(type) {
	case []byte:
		return string(v)
	case int32:
		return int64(v)
	case float32:
		return float64(v)
	}
	return v
}
