package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/bench/social"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// omnigraph is this engine.
type omnigraph struct{}

// name implements [peer].
func (omnigraph) name() string { return "omnigraph" }

// searches implements [peer].
func (o omnigraph) searches(ctx context.Context, dir string) (ok bool, err error) {
	s, err := o.open(ctx, dir)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	var why *absentError
	if _, err := s.prepare(ctx, workNamed("w8")); asAbsent(err, &why) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	return true, nil
}

// graphDir returns the folder of the graph in the engine's folder.
func graphDir(dir string) string { return filepath.Join(dir, "graph") }

// compileSchema compiles the schema of the social graph.
func compileSchema() (*catalog.Schema, error) {
	schema, faults := gq.CompileSchema(gq.Source{Name: "schema.pg", Text: social.Schema})
	if err := faults.Err(); err != nil {
		return nil, err
	}
	return schema, nil
}

// load implements [peer].
func (omnigraph) load(ctx context.Context, dir string, from source) error {
	schema, err := compileSchema()
	if err != nil {
		return err
	}
	g, err := embedded.Create(ctx, fs.OS(), graphDir(dir), social.Schema, schema, embedded.Options{})
	if err != nil {
		return err
	}
	file, err := os.Open(from.file)
	if err != nil {
		return errors.Join(err, g.Close())
	}
	defer file.Close()
	_, err = g.Load(ctx, file, engine.LoadOptions{Mode: engine.Append})
	return errors.Join(err, g.Close()) // Close builds and stores the text index of the posts
}

// open opens only the graph, without compiling queries. In a real program, generated packages carry
// compiled plans, so opening a graph compiles nothing. Here, prepare uses the compiled queries.
func (omnigraph) open(ctx context.Context, dir string) (session, error) {
	g, err := embedded.Open(ctx, fs.OS(), graphDir(dir), embedded.Options{})
	if err != nil {
		return nil, err
	}
	return &graphSession{graph: g}, nil
}

// graphSession is an open graph of this engine.
type graphSession struct{ graph *embedded.Graph }

// version implements [session].
func (s *graphSession) version(context.Context) (string, error) { return "this tree", nil }

// close implements [session].
func (s *graphSession) close() error { return s.graph.Close() }

// compiled returns the stored queries of the benchmark by name.
var compiled = sync.OnceValues(compileQueries)

// compileQueries compiles the queries of the benchmark. The map's key is the id of a work.
func compileQueries() (map[string]*gq.Query, error) {
	schema, err := compileSchema()
	if err != nil {
		return nil, err
	}
	texts, err := social.Queries()
	if err != nil {
		return nil, err
	}
	var sources []gq.Source
	for name, text := range texts {
		sources = append(sources, gq.Source{Name: name, Text: text})
	}
	queries, faults := gq.CompileQueries(schema, sources...)
	if err := faults.Err(); err != nil {
		return nil, err
	}
	out := make(map[string]*gq.Query, len(queries))
	for _, q := range queries {
		out[q.Plan.Name] = q
	}
	return out, nil
}

// prepare implements [session].
func (s *graphSession) prepare(ctx context.Context, w *work) (statement, error) {
	queries, err := compiled()
	if err != nil {
		return nil, err
	}
	q := queries[w.id]
	if q == nil {
		return nil, fmt.Errorf("there is no stored query %s", w.id)
	}
	var not *engine.Unsupported
	if err := s.graph.Bind(ctx, q.Plan, engine.Target{}); errors.As(err, &not) {
		return nil, absent("%s", not.Error())
	} else if err != nil {
		return nil, err
	}
	args := make(engine.Args, len(q.Plan.Params))
	return func(ctx context.Context, given []any, keep *[][]any) (int, error) {
		for i, a := range given {
			args[i] = toValue(a, q.Plan.Params[i].Type.Kind)
		}
		res, err := s.graph.Query(ctx, q.Plan, args, engine.Target{})
		if err != nil {
			return 0, err
		}
		defer res.Close()
		rows := 0
		for {
			batch, err := res.Next(ctx)
			if err != nil || batch == nil {
				return rows, err
			}
			rows += batch.Len
			for i := range batch.Columns {
				readColumn(&batch.Columns[i], batch.Len)
			}
			if keep != nil {
				*keep = append(*keep, batchRows(batch)...)
			}
		}
	}, nil
}

// sink prevents the compiler from removing reads whose values are not used.
//
//lint:ignore U1000 nothing reads it
var sink int64

// readColumn reads every value by the column's kind, as an encoder would.
func readColumn(c *engine.Column, n int) {
	for i := range n {
		if c.IsNull(i) {
			continue
		}
		switch {
		case c.Strings != nil:
			sink += touch(c.Strings[i])
		case c.Ints != nil:
			sink += c.Ints[i]
		case c.Floats != nil:
			sink += int64(c.Floats[i])
		}
	}
}

// touch reads the first and the last byte of a text, so that its memory must be loaded.
func touch(s string) int64 {
	if s == "" {
		return 0
	}
	return int64(len(s)) + int64(s[0]) + int64(s[len(s)-1])
}

// batchRows returns the rows of a batch.
func batchRows(b *engine.Batch) [][]any {
	rows := make([][]any, b.Len)
	for i := range rows {
		for k := range b.Columns {
			rows[i] = append(rows[i], fromValue(b.Columns[k].Value(i)))
		}
	}
	return rows
}

// toValue returns an argument as a value of the engine.
func toValue(a any, kind value.Kind) value.Value {
	switch a := a.(type) {
	case string:
		return value.OfString(a)
	case int64:
		if kind == value.Date {
			return value.OfDate(value.DateValue(a))
		}
		return value.OfI32(int32(a))
	case []float32:
		return value.OfVector(slices.Clone(a))
	}
	panic(fmt.Sprintf("argument of type %T", a))
}

// fromValue returns a value of the engine as a value of database/sql.
func fromValue(v value.Value) any {
	switch {
	case v.IsNull():
		return nil
	case v.Kind() == value.String:
		return string([]byte(v.Str())) // a copy: v may point into the engine's memory
	case v.Kind().IsFloat():
		return v.Float()
	}
	return v.Int()
}

// writers implements [session].
func (s *graphSession) writers(_ context.Context, n int) ([]commitFunc, error) {
	queries, err := compiled()
	if err != nil {
		return nil, err
	}
	q := queries["w10"].Plan
	commit := func(ctx context.Context, _ int, slug, friend string, day int) error {
		_, err := s.graph.Mutate(ctx, q, engine.Args{
			value.OfString(slug), value.OfString(friend), value.OfDate(value.DateValue(day)),
		}, engine.WriteOptions{})
		return err
	}
	return slices.Repeat([]commitFunc{commit}, n), nil
}
