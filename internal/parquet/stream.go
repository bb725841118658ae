package parquet

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/omnigraph-go/omnigraph/engine"
)

// WriteStream reads an Arrow IPC stream with the rows of a read, and writes the rows as one Parquet
// file, batch by batch. The columns have the same types as in the files of an export: a duration is
// stored as its number of nanoseconds, and a vector as a list. The file has the same metadata as
// the stream.
func WriteStream(ctx context.Context, stream io.Reader, w io.Writer) (err error) {
	in, err := ipc.NewReader(stream)
	if err != nil {
		return fmt.Errorf("read the Arrow stream: %w", err)
	}
	defer in.Release()
	columns, err := engine.ArrowColumns(in.Schema())
	if err != nil {
		return err
	}
	fields := in.Schema().Fields()
	for i := range fields {
		fields[i].Type = storable(fields[i].Type)
	}
	schema := arrow.NewSchema(fields, nil)
	props, err := properties(schema, memory.DefaultAllocator)
	if err != nil {
		return err
	}
	// The struct hides the method Close of w. Otherwise the Parquet writer would close w.
	out, err := pqarrow.NewFileWriter(schema, struct{ io.Writer }{w}, props, pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if err := keep(out, in.Schema().Metadata()); err != nil {
		return err
	}
	held := uint64(0) // bytes in the current row group, as record batches
	for in.Next() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if m, ok := in.RecordBatch().(arrow.RecordBatchWithMetadata); ok {
			if err := keep(out, m.Metadata()); err != nil {
				return err
			}
		}
		b, err := engine.BatchOfArrow(columns, in.RecordBatch())
		if err != nil {
			return err
		}
		rows, err := engine.ArrowBatch(schema, b, memory.DefaultAllocator)
		if err != nil {
			return err
		}
		if held > maxGroupBytes {
			out.NewBufferedRowGroup()
			held = 0
		}
		for _, c := range rows.Columns() {
			held += c.Data().SizeInBytes()
		}
		err = out.WriteBuffered(rows)
		rows.Release()
		if err != nil {
			return err
		}
	}
	return in.Err()
}

// keep copies the metadata of a stream into a file.
func keep(out *pqarrow.FileWriter, meta arrow.Metadata) error {
	for i, name := range meta.Keys() {
		if err := out.AppendKeyValueMetadata(name, meta.Values()[i]); err != nil {
			return err
		}
	}
	return nil
}

// storable returns the type with which a column is stored in a Parquet file. A vector becomes a
// list, because a fixed-size list cannot be null in Parquet.
func storable(t arrow.DataType) arrow.DataType {
	switch t := t.(type) {
	case *arrow.FixedSizeListType:
		return arrow.ListOf(t.Elem())
	case *arrow.StructType:
		fields := t.Fields()
		for i := range fields {
			fields[i].Type = storable(fields[i].Type)
		}
		return arrow.StructOf(fields...)
	}
	return withoutDuration(t)
}
