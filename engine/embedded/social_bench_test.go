package embedded_test

import (
	"context"
	"flag"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/bench/social"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// socialKeys are the keys of the graph that BenchmarkSocial and BenchmarkCold measure.
var socialKeys social.Keys

func init() {
	flag.Var(&socialKeys, "embedded.keys", "keys of the benchmark graph: serial or scattered")
}

// aPerson returns the key of a random person as the only argument.
func aPerson(g *social.Graph, rng *rand.Rand) engine.Args {
	return engine.Args{value.OfString(g.PersonSlug(rng.IntN(g.Persons)))}
}

// BenchmarkSocial runs queries of the benchmark graph at full size and reads every value of their
// results. The first four are short reads about one person, warm; see BenchmarkCold. The others scan, group,
// search and compare vectors.
func BenchmarkSocial(b *testing.B) {
	ctx := context.Background()
	schema, queries := beginSocial(b)
	g, made := loadSocial(ctx, b, schema)
	rng := rand.New(rand.NewPCG(42, 7))
	person := func() engine.Args { return aPerson(made, rng) }
	works := []struct {
		name string
		args func() engine.Args
	}{
		{"w1", person},
		{"w2", person},
		{"w3", person},
		{"w5", person},
		{"w6", func() engine.Args { return nil }},
		{"w7", func() engine.Args {
			low := int32(18 + rng.IntN(60))
			return engine.Args{value.OfString(social.City(rng.IntN(100))), value.OfI32(low), value.OfI32(low + 10)}
		}},
		{"w8", func() engine.Args {
			first := 20 + rng.IntN(480)
			return engine.Args{value.OfString(social.Word(first) + " " + social.Word(first+1+rng.IntN(40)))}
		}},
		{"w9", func() engine.Args {
			v := make([]float32, social.Dim)
			social.FillVector(v, rng)
			return engine.Args{value.OfVector(v)}
		}},
	}
	for _, w := range works {
		b.Run(w.name, func(b *testing.B) {
			q := queries[w.name]
			args := make([]engine.Args, 256)
			for i := range args {
				args[i] = w.args()
			}
			b.ReportAllocs()
			rows := 0
			for i := 0; b.Loop(); i++ {
				rows += readAll(ctx, b, g, q, args[i%len(args)])
			}
			if rows == 0 {
				b.Fatal("no query found a row")
			}
		})
	}
}

// beginSocial returns the schema and the queries of the benchmark graph. It ends a benchmark that runs
// with -short, because all of them load the graph at full size.
func beginSocial(b *testing.B) (*catalog.Schema, map[string]*plan.Query) {
	b.Helper()
	if testing.Short() {
		b.Skip("it loads 1,620,000 rows")
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
	out := map[string]*plan.Query{}
	for _, q := range queries {
		out[q.Plan.Name] = q.Plan
	}
	return schema, out
}

func loadSocial(ctx context.Context, b *testing.B, schema *catalog.Schema) (*embedded.Graph, *social.Graph) {
	b.Helper()
	g, made := createSocial(ctx, b, schema, 1, filepath.Join(b.TempDir(), "graph"))
	b.Cleanup(func() {
		if err := g.Close(); err != nil {
			b.Error(err)
		}
	})
	return g, made
}

// createSocial creates the benchmark graph in a folder. The graph has size × 1,620,000 rows, which made
// yields again.
func createSocial(ctx context.Context, b *testing.B, schema *catalog.Schema, size float64, dir string) (g *embedded.Graph, made *social.Graph) {
	b.Helper()
	made, err := social.New(size, 42)
	if err != nil {
		b.Fatal(err)
	}
	made.Keys = socialKeys
	g, err = embedded.Create(ctx, fs.OS(), dir, social.Schema, schema, embedded.Options{})
	if err != nil {
		b.Fatal(err)
	}
	loadMade(ctx, b, g, made)
	return g, made
}

// readAll runs a query, reads every value, and returns the number of rows.
func readAll(ctx context.Context, b testing.TB, g engine.Graph, q *plan.Query, args engine.Args) int {
	return readAt(ctx, b, g, q, args, engine.Target{})
}

// readAt is readAll for another target than the head of main.
func readAt(ctx context.Context, b testing.TB, g engine.Graph, q *plan.Query, args engine.Args, at engine.Target) int {
	res, err := g.Query(ctx, q, args, at)
	if err != nil {
		b.Fatal(err)
	}
	defer res.Close()
	rows := 0
	for {
		batch, err := res.Next(ctx)
		if err != nil {
			b.Fatal(err)
		}
		if batch == nil {
			return rows
		}
		rows += batch.Len
		for k := range batch.Columns {
			for i := range batch.Len {
				batchSink += touched(&batch.Columns[k], i)
			}
		}
	}
}

// batchSink is assigned by the benchmarks so that the compiler does not remove reads with unused
// results.
var batchSink int64

func touched(c *engine.Column, i int) int64 {
	switch {
	case c.IsNull(i):
	case c.Strings != nil:
		s := c.Strings[i]
		if s == "" {
			return 0
		}
		return int64(len(s)) + int64(s[0]) + int64(s[len(s)-1])
	case c.Ints != nil:
		return c.Ints[i]
	case c.Floats != nil:
		return int64(c.Floats[i])
	}
	return 0
}
