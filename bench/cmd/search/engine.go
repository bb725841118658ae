package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/bench/social"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// ours is the engine with a loaded graph.
type ours struct {
	graph *embedded.Graph // the loaded graph
	plan  *plan.Query     // the query that searches the posts
}

// openEngine loads the graph and opens it again, as the load left it.
func openEngine(ctx context.Context, o options, g *social.Graph) (*ours, error) {
	schema, faults := gq.CompileSchema(gq.Source{Name: "schema.pg", Text: social.Schema})
	if err := faults.Err(); err != nil {
		return nil, err
	}
	texts, err := social.Queries()
	if err != nil {
		return nil, err
	}
	queries, faults := gq.CompileQueries(schema, gq.Source{Name: "posts.gq", Text: texts["posts.gq"]})
	if err := faults.Err(); err != nil {
		return nil, err
	}
	s := &ours{}
	for _, q := range queries {
		if q.Plan.Name == "w8" {
			s.plan = q.Plan
		}
	}
	if s.plan == nil {
		return nil, errors.New("posts.gq has no query w8")
	}
	dir := filepath.Join(o.dir, "omnigraph")
	if err := loadEngine(ctx, dir, g, schema); err != nil {
		return nil, err
	}
	s.graph, err = embedded.Open(ctx, fs.OS(), dir, embedded.Options{})
	return s, err
}

// loadEngine makes a graph in the folder and fills it.
func loadEngine(ctx context.Context, dir string, g *social.Graph, schema *catalog.Schema) (err error) {
	graph, err := embedded.Create(ctx, fs.OS(), dir, social.Schema, schema, embedded.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, graph.Close()) }()
	r, w := io.Pipe()
	go func() { w.CloseWithError(g.WriteNDJSON(w)) }()
	_, err = graph.Load(ctx, r, engine.LoadOptions{Mode: engine.Append})
	r.CloseWithError(err)
	return err
}

// search searches for words. It returns the keys of the posts found and the time that this took.
func (s *ours) search(ctx context.Context, words string) (keys []string, took time.Duration, err error) {
	begin := clock.Now()
	res, err := s.graph.Query(ctx, s.plan, engine.Args{value.OfString(words)}, engine.Target{})
	if err != nil {
		return nil, 0, err
	}
	defer res.Close()
	for {
		batch, err := res.Next(ctx)
		if err != nil {
			return nil, 0, err
		}
		if batch == nil {
			return keys, clock.Since(begin), nil
		}
		for i := range batch.Len {
			keys = append(keys, string([]byte(batch.Columns[0].Strings[i])))
		}
	}
}

// close closes the graph. An error makes no difference to the figures, and is printed.
func (s *ours) close() {
	if err := s.graph.Close(); err != nil {
		fmt.Println("close the graph:", err)
	}
}
