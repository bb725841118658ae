package corpus_test

import (
	"context"
	"errors"
	"unsafe"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// graph is an engine.Graph that records its calls. It answers a read with two rows of the plan's
// columns: one with all values, and one with null in every nullable column.
type graph struct {
	engine.Graph
	plan   *plan.Query
	args   engine.Args
	at     engine.Target
	opts   engine.WriteOptions
	failAt int // the call of Next that fails, counted from 1; 0 for none
	closed int
}

var errBroken = errors.New("broken")

func (g *graph) Query(_ context.Context, q *plan.Query, args engine.Args, at engine.Target) (engine.Result, error) {
	g.plan, g.args, g.at = q, args, at
	return &result{graph: g, cols: q.Read.Columns}, nil
}

func (g *graph) Mutate(_ context.Context, q *plan.Query, args engine.Args, opts engine.WriteOptions) (engine.Change, error) {
	g.plan, g.args, g.opts = q, args, opts
	return engine.Change{Nodes: 7}, nil
}

type result struct {
	graph *graph
	cols  []plan.Column
	calls int
	batch *engine.Batch
}

func (r *result) Columns() []plan.Column { return r.cols }
func (r *result) Commit() string         { return "c" }
func (r *result) More() bool             { return false }
func (r *result) Close() error           { r.spoil(); r.graph.closed++; return nil }

func (r *result) Next(context.Context) (*engine.Batch, error) {
	r.spoil()
	r.calls++
	switch {
	case r.calls == r.graph.failAt:
		return nil, errBroken
	case r.calls > 2:
		return nil, nil
	}
	r.batch = &engine.Batch{Len: 1}
	for _, c := range r.cols {
		col := engine.Column{Type: c.Type}
		for _, f := range c.Fields {
			col.Fields = append(col.Fields, column(f.Type, r.calls == 2))
		}
		if c.Fields == nil {
			col = column(c.Type, r.calls == 2)
		}
		r.batch.Columns = append(r.batch.Columns, col)
	}
	return r.batch, nil
}

// spoil overwrites the strings of the last batch, because an engine may reuse their memory.
func (r *result) spoil() {
	if r.batch == nil {
		return
	}
	var spoil func(cols []engine.Column)
	spoil = func(cols []engine.Column) {
		for _, c := range cols {
			for _, s := range c.Strings {
				clear(unsafe.Slice(unsafe.StringData(s), len(s)))
			}
			for _, l := range c.Lists {
				if !l.IsNull() && l.Kind() == value.String {
					for _, e := range l.Elems() {
						clear(unsafe.Slice(unsafe.StringData(e.Str()), len(e.Str())))
					}
				}
			}
			for _, v := range c.Vectors {
				clear(v)
			}
			spoil(c.Fields)
		}
	}
	spoil(r.batch.Columns)
	r.batch = nil
}

// column returns a column of one row.
func column(t value.Type, null bool) engine.Column {
	c := engine.Column{Type: t}
	null = null && t.Nullable
	if null {
		c.Valid = engine.NewBitmap(1)
	}
	switch {
	case t.List && null:
		c.Lists = []value.Value{value.Null}
	case t.List:
		c.Lists = []value.Value{value.OfList(t.Kind, []value.Value{scalar(t.Elem()), scalar(t.Elem())})}
	case t.Kind == value.String || t.Kind == value.Blob:
		c.Strings = []string{text(t)}
	case t.Kind == value.Decimal:
		v, err := value.ParseDecimal("1", t)
		if err != nil {
			panic(err)
		}
		c.Strings = []string{v.Raw()}
	case t.Kind.IsFloat():
		c.Floats = []float64{1.5}
	case t.Kind == value.Vector && null:
		c.Vectors = [][]float32{nil}
	case t.Kind == value.Vector:
		c.Vectors = [][]float32{{1, 2, 3}}
	default:
		c.Ints = []int64{1}
	}
	return c
}

func text(t value.Type) string {
	s := "text"
	if t.Enum != nil {
		s = t.Enum[0]
	}
	return string([]byte(s)) // in memory of its own, so that spoil can overwrite it
}

func scalar(t value.Type) value.Value {
	c := column(t, false)
	return c.Value(0)
}
