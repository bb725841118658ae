package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/bench/social"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
	"github.com/omnigraph-go/omnigraph/internal/storage/object/address"
)

// addition is the query of the timed commits.
const addition = `query add($slug: String) {
  insert Person { slug: $slug, name: "Added Person", age: 30, city: "added", bio: "added while measuring" }
}`

// compiled is the schema and the queries of the graphs.
type compiled struct {
	schema *catalog.Schema
	plans  map[string]*plan.Query // by name
}

// compile compiles the schema and the queries of the social graph.
func compile() (*compiled, error) {
	schema, faults := gq.CompileSchema(gq.Source{Name: "schema.pg", Text: social.Schema})
	if err := faults.Err(); err != nil {
		return nil, err
	}
	texts, err := social.Queries()
	if err != nil {
		return nil, err
	}
	sources := []gq.Source{{Name: "add.gq", Text: addition}}
	for name, text := range texts {
		sources = append(sources, gq.Source{Name: name, Text: text})
	}
	queries, faults := gq.CompileQueries(schema, sources...)
	if err := faults.Err(); err != nil {
		return nil, err
	}
	c := &compiled{schema: schema, plans: map[string]*plan.Query{}}
	for _, q := range queries {
		c.plans[q.Plan.Name] = q.Plan
	}
	return c, nil
}

// read is a timed read.
type read struct {
	query string // name of the plan
	what  string // in the tables
	args  func(g *social.Graph, n int) engine.Args
}

// person returns the key of a person as the only argument.
func person(g *social.Graph, n int) engine.Args {
	return engine.Args{value.OfString(g.PersonSlug((n*7919 + 1) % g.Persons))}
}

// words returns two words as the only argument.
func words(_ *social.Graph, n int) engine.Args {
	return engine.Args{value.OfString(social.Word(20+n%100) + " " + social.Word(400+n%100))}
}

var (
	lookup = read{"w1", "person by key", person}
	hop    = read{"w2", "one hop", person}
	hops   = read{"w3", "two hops", person}
	search = read{"w8", "search", words}
)

// do runs the read and uses every row. It returns the number of rows.
func (r read) do(ctx context.Context, g engine.Graph, c *compiled, rows *social.Graph, n int) (int, error) {
	res, err := g.Query(ctx, c.plans[r.query], r.args(rows, n), engine.Target{})
	if err != nil {
		return 0, fmt.Errorf("%s: %w", r.what, err)
	}
	defer res.Close()
	size := 0 // of the strings, so that each is read
	for count := 0; ; {
		batch, err := res.Next(ctx)
		if err != nil || batch == nil {
			runtime.KeepAlive(size)
			return count, err
		}
		for i := range batch.Columns {
			for _, s := range batch.Columns[i].Strings {
				size += len(s)
			}
		}
		count += batch.Len
	}
}

// load fills a graph.
func load(ctx context.Context, g engine.Graph, rows *social.Graph) error {
	r, w := io.Pipe()
	done := make(chan struct{})
	go func() {
		w.CloseWithError(rows.WriteNDJSON(w))
		close(done)
	}()
	_, err := g.Load(ctx, r, engine.LoadOptions{Mode: engine.Append})
	r.CloseWithError(err)
	<-done
	return err
}

// place connects to storage and returns where a graph is in it. The caller calls the function that place
// returns.
func place(ctx context.Context, url, graph, cache string) (embedded.SharedPlace, func(), error) {
	bucket, done, err := address.Open(ctx, url)
	if err != nil {
		return embedded.SharedPlace{}, nil, err
	}
	return embedded.SharedPlace{Bucket: bucket, Prefix: "graph/" + graph + "/", Cache: cache, Node: "bench"}, done, nil
}

// create makes a graph in storage with the function fill, and closes it.
func create(ctx context.Context, url, graph, cache string, c *compiled, fill func(*embedded.Graph) error) (err error) {
	at, done, err := place(ctx, url, graph, cache)
	if err != nil {
		return err
	}
	defer done()
	g, err := embedded.CreateShared(ctx, at, social.Schema, c.schema, embedded.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	return fill(g)
}

// counting replaces the bucket of a place by one that counts.
func counting(at *embedded.SharedPlace) *countedBucket {
	b := &countedBucket{Bucket: at.Bucket}
	at.Bucket = object.Bucket(b)
	return b
}

// persons returns the number of entities of the type Person.
func persons(ctx context.Context, g engine.Graph) (int64, error) {
	snap, err := g.Snapshot(ctx, engine.Target{})
	if err != nil {
		return 0, err
	}
	i := slices.IndexFunc(snap.Nodes, func(t engine.TypeCount) bool { return t.Type == "Person" })
	if i < 0 {
		return 0, nil
	}
	return snap.Nodes[i].Count, nil
}
