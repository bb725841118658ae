package bench

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/omnigraph-go/omnigraph/bench/social"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/engine/embedded/fs"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

var socialSize = flag.Float64("social.size", 0.05, "size of the social graph as a factor of 1,620,000 rows")

// socialGraph loads the social graph into a folder and closes it.
func socialGraph(b *testing.B, dir string) (*social.Graph, map[string]*plan.Query) {
	b.Helper()
	sg, err := social.New(*socialSize, seed)
	if err != nil {
		b.Fatal(err)
	}
	schema, faults := gq.CompileSchema(gq.Source{Name: "schema.pg", Text: social.Schema})
	if err := faults.Err(); err != nil {
		b.Fatal(err)
	}
	texts, err := social.Queries()
	if err != nil {
		b.Fatal(err)
	}
	var sources []gq.Source
	for name, text := range texts {
		sources = append(sources, gq.Source{Name: name, Text: text})
	}
	queries, faults := gq.CompileQueries(schema, sources...)
	if err := faults.Err(); err != nil {
		b.Fatal(err)
	}
	plans := map[string]*plan.Query{}
	for _, q := range queries {
		plans[q.Plan.Name] = q.Plan
	}
	g, err := embedded.Create(b.Context(), fs.OS(), dir, social.Schema, schema, embedded.Options{})
	if err != nil {
		b.Fatal(err)
	}
	r, w := io.Pipe()
	go func() { w.CloseWithError(sg.WriteNDJSON(w)) }()
	if _, err := g.Load(b.Context(), r, engine.LoadOptions{Mode: engine.Append}); err != nil {
		b.Fatal(err)
	}
	socialRead(b, g, plans["w8"], engine.Args{value.OfString(social.Word(0))}) // builds the text index
	if err := g.Close(); err != nil {
		b.Fatal(err)
	}
	return sg, plans
}

func socialRead(b *testing.B, g engine.Graph, q *plan.Query, args engine.Args) {
	res, err := g.Query(context.Background(), q, args, engine.Target{})
	if err != nil {
		b.Fatal(err)
	}
	defer res.Close()
	for {
		batch, err := res.Next(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		if batch == nil {
			return
		}
		for i := range batch.Columns {
			c := &batch.Columns[i]
			for row := range batch.Len {
				sink += len(c.Strings) + int(c.Value(row).Kind())
			}
		}
	}
}

// socialArgs draws the arguments of the reads by name.
func socialArgs(sg *social.Graph, rng *rand.Rand) map[string]func() engine.Args {
	person := func() engine.Args {
		return engine.Args{value.OfString(social.PersonSlug(rng.IntN(sg.Persons)))}
	}
	return map[string]func() engine.Args{
		"w1": person, "w2": person, "w3": person, "w4": person, "w5": person,
		"w6": func() engine.Args { return nil },
		"w7": func() engine.Args {
			low := int32(18 + rng.IntN(60))
			return engine.Args{value.OfString(social.City(rng.IntN(100))), value.OfI32(low), value.OfI32(low + 10)}
		},
		"w8": func() engine.Args {
			first := 20 + rng.IntN(480)
			return engine.Args{value.OfString(social.Word(first) + " " + social.Word(500+first))}
		},
	}
}

// BenchmarkSocial runs the reads of the comparison with other databases, warm, on a graph
// that has been opened.
func BenchmarkSocial(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "graph")
	sg, plans := socialGraph(b, dir)
	g, err := embedded.Open(b.Context(), fs.OS(), dir, embedded.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer g.Close()
	args := socialArgs(sg, rand.New(rand.NewPCG(seed, 3)))
	for i := 1; i <= len(args); i++ {
		name := fmt.Sprint("w", i)
		socialRead(b, g, plans[name], args[name]())
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				socialRead(b, g, plans[name], args[name]())
			}
		})
	}
}

// BenchmarkSocialOpen opens the graph, answers one read, and closes it.
func BenchmarkSocialOpen(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "graph")
	sg, plans := socialGraph(b, dir)
	args := socialArgs(sg, rand.New(rand.NewPCG(seed, 3)))
	for _, name := range []string{"w1", "w2", "w4", "w8"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				g, err := embedded.Open(b.Context(), fs.OS(), dir, embedded.Options{})
				if err != nil {
					b.Fatal(err)
				}
				socialRead(b, g, plans[name], args[name]())
				if err := g.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
