// Package stored runs the stored queries of the Social Network Benchmark on a graph of the engine.
package stored

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/bench/snb"
	"github.com/omnigraph-go/omnigraph/internal/bench/snb/plain"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// Compile compiles the schema and the stored queries. The map has the plans by the names of the queries.
func Compile() (*catalog.Schema, map[string]*plan.Query, error) {
	schema, faults := gq.CompileSchema(gq.Source{Name: "schema.pg", Text: snb.Schema})
	if err := faults.Err(); err != nil {
		return nil, nil, err
	}
	texts, err := snb.Queries()
	if err != nil {
		return nil, nil, err
	}
	var sources []gq.Source
	for name, text := range texts {
		sources = append(sources, gq.Source{Name: name, Text: text})
	}
	queries, faults := gq.CompileQueries(schema, sources...)
	if err := faults.Err(); err != nil {
		return nil, nil, err
	}
	plans := make(map[string]*plan.Query, len(queries))
	for _, q := range queries {
		plans[q.Plan.Name] = q.Plan
	}
	return schema, plans, nil
}

// Create makes a graph with the network in a new folder.
func Create(ctx context.Context, dir string, schema *catalog.Schema, n *snb.Network) (*embedded.Graph, error) {
	g, err := embedded.Create(ctx, fs.OS(), dir, snb.Schema, schema, embedded.Options{})
	if err != nil {
		return nil, err
	}
	r, w := io.Pipe()
	written := make(chan struct{})
	go func() {
		defer close(written)
		w.CloseWithError(n.WriteNDJSON(w))
	}()
	_, err = g.Load(ctx, r, engine.LoadOptions{Mode: engine.Append})
	r.CloseWithError(err)
	<-written
	if err != nil {
		return nil, errors.Join(err, g.Close())
	}
	return g, nil
}

// Args returns arguments in the form of the engine. See [snb.Update] for the types that they may have.
func Args(q *plan.Query, args []any) engine.Args {
	out := make(engine.Args, len(args))
	for i, a := range args {
		out[i] = argument(a, q.Params[i].Type.Kind)
	}
	return out
}

// argument returns an argument for a parameter whose kind, or whose elements' kind, is k.
func argument(a any, k value.Kind) value.Value {
	switch a := a.(type) {
	case nil:
		return value.Null
	case string:
		return value.OfString(a)
	case int64:
		if k == value.I32 {
			return value.OfI32(int32(a))
		}
		return value.OfI64(a)
	case snb.Millis:
		return value.OfDateTime(value.DateTimeValue(1000 * a))
	case snb.Day:
		return value.OfDate(value.DateValue(a))
	case []int64:
		return list(a, k)
	case []string:
		return list(a, k)
	case []snb.Position:
		records := make([][]value.Value, len(a))
		for i, p := range a {
			records[i] = []value.Value{value.OfI64(p.Organisation), value.OfI32(int32(p.Year))}
		}
		return value.OfRecords(records)
	}
	panic(fmt.Sprintf("an argument of type %T", a))
}

// list returns a list argument.
func list[T any](members []T, k value.Kind) value.Value {
	out := make([]value.Value, len(members))
	for i, m := range members {
		out[i] = argument(m, k)
	}
	return value.OfList(k, out)
}

// Rows runs a read and returns its rows in the form of [plain.Text].
func Rows(ctx context.Context, g engine.Graph, q *plan.Query, args engine.Args) (rows [][]string, err error) {
	res, err := g.Query(ctx, q, args, engine.Target{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, res.Close()) }()
	for {
		batch, err := res.Next(ctx)
		if err != nil || batch == nil {
			return rows, err
		}
		for i := range batch.Len {
			row := make([]string, len(batch.Columns))
			for k := range batch.Columns {
				row[k] = text(&batch.Columns[k], i)
			}
			rows = append(rows, row)
		}
	}
}

// text returns the text of row i of a column.
func text(c *engine.Column, i int) string {
	switch {
	case c.Offsets != nil:
		var records []string
		for k := c.Offsets[i]; k < c.Offsets[i+1]; k++ {
			records = append(records, record(c, int(k)))
		}
		return plain.List(records)
	case c.Fields != nil:
		return record(c, i)
	case c.IsNull(i):
		return "null"
	case c.Lists != nil:
		var members []string
		for _, e := range c.Lists[i].Elems() {
			members = append(members, value.Text(e))
		}
		return plain.List(members)
	case c.Strings != nil:
		return string([]byte(c.Strings[i])) // a copy: the text may point into the engine's memory
	case c.Type.Kind == value.Bool:
		return strconv.FormatBool(c.Ints[i] != 0)
	case c.Type.Kind == value.DateTime:
		return strconv.FormatInt(value.DateTimeValue(c.Ints[i]).Time().UnixMilli(), 10)
	case c.Ints != nil:
		return strconv.FormatInt(c.Ints[i], 10)
	}
	return value.Text(c.Value(i))
}

// record returns the text of record i of a column.
func record(c *engine.Column, i int) string {
	fields := make([]any, len(c.Fields))
	for k := range c.Fields {
		fields[k] = text(&c.Fields[k], i)
	}
	return plain.Record(fields...)
}

// Sink changes with the values that Read reads, so that the compiler cannot leave these reads out. Only
// one goroutine at a time may call Read.
var Sink int64

// Read runs a read and reads every value of every row. It returns the number of rows.
func Read(ctx context.Context, g engine.Graph, q *plan.Query, args engine.Args) (rows int, err error) {
	res, err := g.Query(ctx, q, args, engine.Target{})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, res.Close()) }()
	for {
		batch, err := res.Next(ctx)
		if err != nil || batch == nil {
			return rows, err
		}
		rows += batch.Len
		for i := range batch.Columns {
			touch(&batch.Columns[i])
		}
	}
}

// touch reads every value of a column.
func touch(c *engine.Column) {
	for i := range c.Fields {
		touch(&c.Fields[i])
	}
	for _, s := range c.Strings {
		if s != "" {
			Sink += int64(s[0]) + int64(s[len(s)-1])
		}
	}
	for _, n := range c.Ints {
		Sink += n
	}
	for _, f := range c.Floats {
		Sink += int64(f)
	}
	for _, l := range c.Lists {
		if !l.IsNull() {
			Sink += int64(len(l.Elems()))
		}
	}
}
