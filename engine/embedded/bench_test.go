package embedded

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

const benchPeople = 100_000

// benchGraph makes a graph of benchPeople persons, each of whom knows ten others.
func benchGraph(b *testing.B) *Graph {
	b.Helper()
	g := create(b, fs.NewMem(), Options{quiet: true})
	if err := loadText(g, engine.Merge, benchText(benchPeople)); err != nil {
		b.Fatal(err)
	}
	return g
}

func benchText(n int) string {
	var s strings.Builder
	if err := writeBenchText(&s, n); err != nil {
		panic(err)
	}
	return s.String()
}

// writeBenchText writes the lines of benchText.
func writeBenchText(w io.Writer, n int) error {
	for i := range n {
		if _, err := fmt.Fprintf(w, `{"type":"Person","data":{"name":"p%06d","age":%d,"city":"c%d"}}`+"\n", i, i%90, i%7); err != nil {
			return err
		}
	}
	for i := range n {
		for k := range 10 {
			if _, err := fmt.Fprintf(w, `{"edge":"Knows","from":"p%06d","to":"p%06d"}`+"\n", i, (i*7+k*k*131+1)%n); err != nil {
				return err
			}
		}
	}
	return nil
}

func benchQuery(b *testing.B, g *Graph, q *plan.Query) {
	ctx := context.Background()
	args := make([]engine.Args, 1024)
	for i := range args {
		args[i] = engine.Args{str(fmt.Sprintf("p%06d", i*97%benchPeople))}
	}
	b.ReportAllocs()
	rows := 0
	for i := 0; b.Loop(); i++ {
		r, err := g.Query(ctx, q, args[i%len(args)], engine.Target{})
		if err != nil {
			b.Fatal(err)
		}
		n, err := drain(ctx, r)
		if err != nil || n == 0 {
			b.Fatalf("%d rows, error %v", n, err)
		}
		rows += n
	}
	b.ReportMetric(float64(rows)/float64(b.N), "rows/op")
}

func BenchmarkQuery(b *testing.B) {
	g := benchGraph(b)
	b.Run("key", func(b *testing.B) { benchQuery(b, g, personByName) })
	b.Run("1 hop", func(b *testing.B) { benchQuery(b, g, walkFrom(1)) })
	b.Run("2 hops", func(b *testing.B) { benchQuery(b, g, walkFrom(2)) })
	b.Run("scan", func(b *testing.B) {
		oldest := &plan.Query{Params: personByName.Params, Read: &plan.Read{
			Vars:    allPeople.Read.Vars,
			Match:   []plan.Clause{plan.Bind{Var: 0}, plan.Filter{Cond: plan.Compare{Op: plan.Ge, Left: ageOf, Right: plan.Lit{Value: value.OfI32(45)}, Unless: plan.NoParam}}},
			Columns: allPeople.Read.Columns, Order: []plan.Order{{Expr: ageOf, Desc: true}}, Ties: []plan.VarID{0}, Limit: 10,
		}}
		benchQuery(b, g, oldest)
	})
}

func BenchmarkCommit(b *testing.B) {
	for _, writers := range []int{1, 16} {
		b.Run(fmt.Sprintf("%d writers", writers), func(b *testing.B) {
			ctx := context.Background()
			g, err := Create(ctx, fs.OS(), b.TempDir()+"/g", "", people(), Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer g.Close()
			var n atomic.Int64
			b.SetParallelism(max(1, writers/2)) // SetParallelism is per processor, and there are two
			b.ReportAllocs()
			b.ResetTimer()
			run := func() bool {
				_, err := g.Mutate(ctx, insertPerson, engine.Args{str(fmt.Sprintf("p%09d", n.Add(1))), num(1)}, engine.WriteOptions{})
				if err != nil {
					b.Error(err)
				}
				return err == nil
			}
			if writers == 1 {
				for range b.N {
					run()
				}
			} else {
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() && run() {
					}
				})
			}
		})
	}
}

func BenchmarkLoad(b *testing.B) {
	text := benchText(benchPeople)
	lines := float64(strings.Count(text, "\n"))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		g, err := Create(context.Background(), fs.OS(), b.TempDir()+"/g", "", people(), Options{quiet: true})
		if err != nil {
			b.Fatal(err)
		}
		if err := loadText(g, engine.Merge, text); err != nil {
			b.Fatal(err)
		}
		if err := g.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(lines*float64(b.N)/b.Elapsed().Seconds(), "lines/s")
}
