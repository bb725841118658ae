package embedded_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/bench/measure"
	"github.com/omnigraph-go/omnigraph/internal/bench/social"
	"github.com/omnigraph-go/omnigraph/internal/clock"
)

// socialFilter returns rights to the persons of the benchmark graph that pass a filter.
func socialFilter(b *testing.B, schema *catalog.Schema, name, where string) *engine.Rights {
	b.Helper()
	text := func(params, among string) *plan.Query {
		return compiled(b, schema, "query f("+params+") { match { $it: Person  "+where+" "+among+" } return { $it.id } }")
	}
	f := &engine.RowFilter{Name: name, Entities: text("", ""), Among: text("$among: [String]", "$it.id in $among")}
	return &engine.Rights{Digest: name, Nodes: map[string]*engine.TypeRights{"Person": {All: []*engine.RowFilter{f}}}}
}

// BenchmarkRights runs the queries of the benchmark graph in turns with and without rights to about half of the persons, and reports the
// medians and their ratio. It then measures how long the part takes to make, and to follow a commit.
func BenchmarkRights(b *testing.B) {
	ctx := context.Background()
	schema, queries := beginSocial(b)
	g, made := loadSocial(ctx, b, schema)
	rng := rand.New(rand.NewPCG(42, 7))
	person := func() engine.Args { return aPerson(made, rng) }
	for _, filter := range []struct{ name, where string }{
		{"property", "$it.age < 49"},
		{"walk", "exists { $it worksAt $c  $c.slug < \"" + made.CompanySlug(made.Companies/2) + "\" }"},
	} {
		rights := socialFilter(b, schema, filter.name, filter.where)
		b.Run(filter.name+"/make", func(b *testing.B) {
			for b.Loop() {
				rights.Digest += "+" // another part
				readAt(ctx, b, g, queries["w6"], nil, engine.Target{Rights: rights})
			}
		})
		for _, w := range []struct {
			name string
			runs int
			args func() engine.Args
		}{
			{"w1", 20_000, person}, {"w2", 20_000, person}, {"w3", 5000, person}, {"w4", 2000, person}, {"w5", 5000, person},
			{"w6", 20, func() engine.Args { return nil }},
			{"w7", 100, func() engine.Args {
				low := int32(18 + rng.IntN(60))
				return engine.Args{value.OfString(social.City(rng.IntN(100))), value.OfI32(low), value.OfI32(low + 10)}
			}},
			{"w8", 100, func() engine.Args {
				first := 20 + rng.IntN(480)
				return engine.Args{value.OfString(social.Word(first) + " " + social.Word(first+1+rng.IntN(40)))}
			}},
			{"w9", 50, func() engine.Args {
				v := make([]float32, social.Dim)
				social.FillVector(v, rng)
				return engine.Args{value.OfVector(v)}
			}},
		} {
			b.Run(filter.name+"/"+w.name, func(b *testing.B) {
				var times [2][]time.Duration
				targets := [2]engine.Target{{}, {Rights: rights}}
				for b.Loop() {
					for i := range w.runs {
						args := w.args()
						for _, side := range rng.Perm(2) {
							start := clock.Now()
							readAt(ctx, b, g, queries[w.name], args, targets[side])
							if i >= w.runs/10 {
								times[side] = append(times[side], clock.Since(start))
							}
						}
					}
				}
				var p50 [2]time.Duration
				for side := range times {
					slices.Sort(times[side])
					p50[side] = measure.Quantile(times[side], 0.5)
				}
				b.ReportMetric(float64(p50[0]), "all-p50-ns")
				b.ReportMetric(float64(p50[1]), "part-p50-ns")
				b.ReportMetric(float64(p50[1])/float64(p50[0]), "ratio")
			})
		}
		b.Run(filter.name+"/follow", func(b *testing.B) {
			var times []time.Duration
			for b.Loop() {
				line := `{"type":"Person","data":{"slug":"` + aPerson(made, rng)[0].Str() + `","age":30}}`
				if _, err := g.Load(ctx, strings.NewReader(line), engine.LoadOptions{Mode: engine.Patch}); err != nil {
					b.Fatal(err)
				}
				start := clock.Now()
				readAt(ctx, b, g, queries["w1"], person(), engine.Target{Rights: rights})
				times = append(times, clock.Since(start))
			}
			slices.Sort(times)
			b.ReportMetric(float64(measure.Quantile(times, 0.5)), "first-read-p50-ns")
		})
	}
}
