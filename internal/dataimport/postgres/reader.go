package postgres

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/omnigraph-go/omnigraph/internal/dataimport/pgtext"
	"github.com/omnigraph-go/omnigraph/internal/dataimport/record"
)

// fetchRows is the number of rows that one request asks for.
const fetchRows = 4096

// cursor is the name of the cursor of the reader that is open.
const cursor = "omnigraph_import"

// source is a table or a query.
type source struct {
	db       *Database
	name     string
	from     string   // what stands after FROM
	keys     []string // the columns of the primary key; nil for none
	columns  []string
	decoders []pgtext.Decoder // by column
}

// open returns a reader of the rows.
func (s *source) open(opts record.Options) (record.Reader, error) {
	return &reader{source: s, count: opts.Count}, nil
}

// reader reads the rows of a source. It implements [record.Reader].
type reader struct {
	*source
	count    func(n int)
	selected []string // the columns of the records, and then the key
	decode   []pgtext.Decoder

	declared bool
	rows     *pgconn.ResultReader // of the current request; nil between two
	got      int                  // rows of the current request
	texts    [][]byte             // of the current row
	record   record.Record
}

// Columns implements [record.Reader].
func (r *reader) Columns() []string { return r.columns }

// Select implements [record.Reader].
func (r *reader) Select(columns []string) {
	r.selected = slices.Concat(columns, r.keys)
	for _, name := range columns {
		r.decode = append(r.decode, r.decoders[slices.Index(r.columns, name)])
	}
	r.record.Values = make([]record.Value, len(columns))
	if len(r.keys) > 0 {
		r.record.Key = r.key
	}
}

// key names the current row by its primary key.
func (r *reader) key() string {
	var parts []string
	for i, name := range r.keys {
		parts = append(parts, name+"="+string(r.texts[len(r.decode)+i]))
	}
	return strings.Join(parts, ", ")
}

// declare opens the cursor.
func (r *reader) declare() error {
	list := "1" // to count the rows
	if len(r.selected) > 0 {
		quoted := make([]string, len(r.selected))
		for i, name := range r.selected {
			quoted[i] = pgx.Identifier{name}.Sanitize()
		}
		list = strings.Join(quoted, ", ")
	}
	_, err := r.db.conn.Exec(r.db.ctx, "DECLARE "+cursor+" NO SCROLL CURSOR FOR SELECT "+list+" FROM "+r.from)
	r.declared = err == nil
	return err
}

// Next implements [record.Reader].
func (r *reader) Next() (*record.Record, error) {
	more, err := r.next()
	if err != nil {
		return nil, &record.Fault{File: r.name, Row: r.record.Row, Err: fmt.Errorf("reading from the database: %w", err), Final: true}
	}
	if !more {
		return nil, io.EOF
	}
	r.record.Row++
	for i, decode := range r.decode {
		v := &r.record.Values[i]
		if text := r.texts[i]; text == nil {
			*v = record.Value{}
		} else {
			*v = decode(text)
		}
	}
	return &r.record, nil
}

// next goes to the next row, and reports whether there is one.
func (r *reader) next() (bool, error) {
	if !r.declared {
		if err := r.declare(); err != nil {
			return false, err
		}
	}
	for {
		if r.rows == nil {
			r.rows = r.db.conn.PgConn().ExecParams(r.db.ctx, fmt.Sprintf("FETCH %d FROM %s", fetchRows, cursor), nil, nil, nil, nil)
			r.got = 0
		}
		if r.rows.NextRow() {
			r.got++
			r.texts = r.rows.Values()
			return true, nil
		}
		_, err := r.rows.Close()
		r.rows = nil
		if r.count != nil {
			r.count(r.got * rowUnits)
		}
		if err != nil || r.got < fetchRows {
			return false, err
		}
	}
}

// Close implements [record.Reader].
func (r *reader) Close() error {
	var err error
	if r.rows != nil {
		_, err = r.rows.Close()
		r.rows = nil
	}
	if r.declared && !r.db.conn.IsClosed() && r.db.conn.PgConn().TxStatus() == 'T' {
		_, closed := r.db.conn.Exec(r.db.ctx, "CLOSE "+cursor)
		err = errors.Join(err, closed)
	}
	r.declared = false
	return err
}
