package mutate

import (
	"context"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/planner"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// rows returns the rows of a ForEach, evaluated in the current state of the transaction.
func (w *Write) rows(s plan.ForEach) ([][]value.Value, error) {
	if s.Read == nil {
		return w.elements(s)
	}
	snap := w.Tx.View()
	q := matchQuery(w.query, s.Read)
	prog, err := planner.Bind(w.ctx, q, snap)
	if err != nil {
		return nil, err
	}
	res, err := prog.Run(w.ctx, snap, w.Args, eval.Options{Now: w.Now, Origins: w.Origins, Memory: w.Memory, Shared: w.Shared, Visits: w.Visits})
	if err != nil {
		return nil, err
	}
	defer res.Close()
	var rows [][]value.Value
	for {
		batch, err := res.Next(w.ctx)
		if err != nil {
			return nil, err
		}
		if batch == nil {
			return rows, nil
		}
		for i := range batch.Len {
			if len(rows) == plan.MaxRows {
				return nil, tooManyRows("rows of a match block", plan.MaxRows+1)
			}
			row := make([]value.Value, len(batch.Columns))
			bytes := rowHeaderBytes
			for c := range batch.Columns {
				row[c] = version.Detached(batch.Columns[c].Value(i))
				bytes += heldBytes(row[c])
			}
			if err := w.held.Spend(bytes); err != nil {
				return nil, err
			}
			rows = append(rows, row)
		}
	}
}

// rowHeaderBytes is the size in bytes of the header of a row of a block.
const rowHeaderBytes = 24

// heldBytes returns the number of bytes that a value takes.
func heldBytes(v value.Value) int {
	n := eval.ValueBytes
	switch {
	case v.IsNull():
	case v.IsList():
		for _, e := range v.Elems() {
			n += heldBytes(e)
		}
	case v.Kind().Storage() == value.InText:
		n += len(v.Str())
	case v.Kind().Storage() == value.InVector:
		n += 4 * len(v.Vector())
	}
	return n
}

// matchQuery returns the match of a ForEach as a query. If the match has no limit, the query gets a
// limit of one row more than a ForEach allows, so that the caller notices that there are too many
// rows.
func matchQuery(q *plan.Query, r *plan.Read) *plan.Query {
	read := *r
	if read.Limit == plan.NoLimit {
		read.Limit = plan.MaxRows + 1
	}
	return &plan.Query{Name: q.Name, Params: q.Params, Read: &read}
}

// elements returns a row for each element of the list of a ForEach. A null list has no elements.
func (w *Write) elements(s plan.ForEach) ([][]value.Value, error) {
	list, err := w.value(s.List)
	if err != nil || list.IsNull() {
		return nil, err
	}
	elems := list.Elems()
	if len(elems) > plan.MaxRows {
		return nil, tooManyRows("elements in the list of a `for` block", int64(len(elems)))
	}
	if len(elems) > 0 && elems[0].IsList() {
		elems = elems[:len(elems)-fault.Count(fault.RecordLost)]
	}
	rows := make([][]value.Value, len(elems))
	for i, e := range elems {
		if rows[i] = elems[i : i+1]; e.IsList() { // a record: its fields are the values of the row
			rows[i] = e.Elems()
			if fault.On(fault.FieldsShifted) {
				rows[i] = append(slices.Clone(e.Elems()[1:]), e.Elems()[0])
			}
		}
	}
	return rows, nil
}

// tooManyRows returns the error for more rows than a ForEach allows.
func tooManyRows(what string, n int64) error {
	return &engine.TooLarge{Resource: what, Limit: plan.MaxRows, Actual: n}
}

// BindBlocks checks that the matches of a mutation fit a snapshot. The errors are those of [Bind].
func BindBlocks(ctx context.Context, q *plan.Query, snap *version.Snapshot) error {
	for _, st := range q.Mutation.Statements {
		if each, ok := st.(plan.ForEach); ok && each.Read != nil {
			if _, err := planner.Bind(ctx, matchQuery(q, each.Read), snap); err != nil {
				return err
			}
		}
	}
	return nil
}
