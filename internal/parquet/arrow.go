package parquet

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
)

// Table converts an NDJSON export of the entities of one type to Arrow record batches. The columns
// have the same names and the same order as in a Parquet file of that type; their types are those
// of [engine.ArrowSchema].
type Table struct {
	table  *table
	schema *arrow.Schema
}

// NewTable returns the table for the one type that the list `types` names. The error is an
// *engine.BadArgument if the list names no type of the schema, or more than one.
func NewTable(s *catalog.Schema, types []string) (*Table, error) {
	const one = "an Arrow stream has one table, so name exactly one type"
	if len(types) != 1 {
		return nil, &engine.BadArgument{Param: "types", Detail: one}
	}
	tables, err := tablesOf(s, types)
	if err != nil {
		return nil, err
	}
	if len(tables) != 1 {
		return nil, &engine.BadArgument{Param: "types", Detail: "a node type and an edge type have the name " + strings.ToValidUTF8(types[0], "") + "; " + one}
	}
	t := tables[0]
	fields := engine.ArrowSchema(t.columns).Fields()
	for i := range fields {
		fields[i].Nullable = t.columns[i].Type.Nullable
	}
	return &Table{table: t, schema: arrow.NewSchema(fields, nil)}, nil
}

// Name returns the name of the type.
func (t *Table) Name() string { return t.table.name }

// Schema returns the Arrow types of the columns.
func (t *Table) Schema() *arrow.Schema { return t.schema }

// Export calls `write` with the entities of the type of `t` at a commit, in the order of an NDJSON export.
// The function `write` must release each batch.
func (t *Table) Export(ctx context.Context, g engine.Graph, at engine.Target, write func(arrow.RecordBatch) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	lines, to := io.Pipe()
	exported := make(chan struct{})
	go func() {
		defer close(exported)
		_, err := g.Export(ctx, to, at, engine.ExportOptions{Types: []string{t.table.name}})
		to.CloseWithError(err)
	}()
	defer func() {
		lines.CloseWithError(context.Canceled)
		<-exported
	}()
	err := t.Read(ctx, lines, write)
	if errors.Is(err, io.ErrClosedPipe) && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// Read reads an export that contains only entities of the type of `t`, and calls `write` with each
// batch. The function `write` must release the batch.
func (t *Table) Read(ctx context.Context, export io.Reader, write func(arrow.RecordBatch) error) error {
	in := newLines(export, []*table{t.table})
	r := newRows(t.table)
	flush := func() error {
		if r.batch.Len == 0 {
			return nil
		}
		b, err := engine.ArrowBatch(t.schema, &r.batch, memory.DefaultAllocator)
		if err != nil {
			return err
		}
		r.reset()
		return write(b)
	}
	begin := in.offset() // where the batch begins
	for n := 1; ; n++ {
		_, err := in.next()
		if err == io.EOF {
			return flush()
		}
		if err == nil {
			err = in.row(r)
		}
		if err != nil {
			return in.fault(n, err)
		}
		if r.batch.Len < maxBatchRows && in.offset()-begin < maxBatchBytes {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := flush(); err != nil {
			return err
		}
		begin = in.offset()
	}
}
