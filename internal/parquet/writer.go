package parquet

import (
	"context"
	"fmt"
	"io"
	"slices"
)

// writer writes the files of all types, one after the other.
type writer struct {
	opts   Options        // what to export
	create Create         // creates a file
	left   []*table       // the types that have not begun
	types  []ManifestType // the types that have begun; the last one is current
	rows   *rows          // the batch of the current type; nil before the first type
	part   *part          // the current file; nil between two files
}

// write writes all entities of an export.
func (w *writer) write(ctx context.Context, in *lines) (err error) {
	defer func() {
		if w.part != nil { // after an error; close's own error would be less useful, so it is dropped
			_, _ = w.part.close()
		}
	}()
	begin := in.offset() // of the batch
	for n := 1; ; n++ {
		t, err := in.next()
		if err == io.EOF {
			return w.finish()
		}
		if err != nil {
			return in.fault(n, err)
		}
		if err := w.begin(t); err != nil {
			return err
		}
		if err := in.row(w.rows); err != nil {
			return in.fault(n, w.failed(err))
		}
		if !w.batchEnds() && in.offset()-begin < maxBatchBytes {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.flush(); err != nil {
			return err
		}
		begin = in.offset()
	}
}

// batchEnds reports whether the batch must end, because the batch or the current file has the
// maximum number of rows.
func (w *writer) batchEnds() bool {
	rows := int64(w.rows.batch.Len)
	if w.part != nil && w.part.rows+rows >= w.opts.PartRows {
		return true
	}
	return rows >= min(maxBatchRows, w.opts.PartRows)
}

// begin makes t the current type. If t is another type than before, begin ends the current one and
// writes the types between the two, which have no entities. The error says that the export has the
// types in another order than the schema.
func (w *writer) begin(t *table) error {
	if w.rows != nil && w.rows.table == t {
		return nil
	}
	if !slices.Contains(w.left, t) {
		return fmt.Errorf("the export has %s %s after %s %s; expected the types in the order of the schema", t.entity, t.name, w.rows.table.entity, w.rows.table.name)
	}
	for {
		if err := w.end(); err != nil {
			return err
		}
		next := w.left[0]
		w.left = w.left[1:]
		w.rows = newRows(next)
		w.types = append(w.types, next.entry())
		if next == t {
			return nil
		}
	}
}

// finish ends the current type and writes the remaining ones, which have no entities.
func (w *writer) finish() error {
	if n := len(w.left); n > 0 {
		if err := w.begin(w.left[n-1]); err != nil {
			return err
		}
	}
	return w.end()
}

// end completes the files of the current type, if there is one. A type without entities gets an
// empty file.
func (w *writer) end() error {
	if w.rows == nil {
		return nil
	}
	if err := w.flush(); err != nil {
		return err
	}
	if w.part == nil && len(w.current().Files) == 0 {
		if err := w.open(); err != nil {
			return err
		}
	}
	if w.part == nil {
		return nil
	}
	return w.endPart()
}

// flush writes the batch to the current file, and completes a file that is full.
func (w *writer) flush() error {
	if w.rows.batch.Len == 0 {
		return nil
	}
	if w.part == nil {
		if err := w.open(); err != nil {
			return err
		}
	}
	if err := w.part.add(&w.rows.batch, w.opts.Memory); err != nil {
		return w.failed(err)
	}
	w.rows.reset()
	if w.part.full(&w.opts) {
		return w.endPart()
	}
	return nil
}

// current returns the description of the type that is being written.
func (w *writer) current() *ManifestType { return &w.types[len(w.types)-1] }

// open creates the next file of the current type.
func (w *writer) open() (err error) {
	w.part, err = newPart(w.rows.table, len(w.current().Files), w.opts.Memory, w.create)
	return w.failed(err)
}

// endPart completes the current file and adds it to the manifest.
func (w *writer) endPart() error {
	file, err := w.part.close()
	w.part = nil
	t := w.current()
	t.Files = append(t.Files, file)
	t.RowCount += file.RowCount
	return w.failed(err)
}

// failed adds the name of the current type to an error.
func (w *writer) failed(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %s: %w", w.rows.table.entity, w.rows.table.name, err)
}
