package bench

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/bench/social"
	"github.com/omnigraph-go/omnigraph/internal/clock"
)

var rightsSize = flag.Float64("bench.rights", 0, "with a factor of the size of the social graph, TestRightsCost measures its reads with rights to a part; 0 leaves it out")

// socialFilters are filters of persons and posts that keep about half of each.
var socialFilters = []struct{ name, persons, posts string }{
	{"property", `$it.age < 49`, `$it.slug < $post`},
	{"claim", `$it.city in $cities`, `$it.slug in $posts`},
	{"walk", `exists { $it worksAt $c $c.slug < $company }`, `exists { $a authored $it $a.age < 49 }`},
}

// filterParams are the parameters that the filters stand for: constants of the policy, and claims of the caller.
const filterParams = `$post: String, $company: String, $cities: [String], $posts: [String]`

// TestRightsCost measures the reads of the social graph after 1,000 commits: without rights, and with each of the filters, in turns. It prints the
// medians and their ratios.
func TestRightsCost(t *testing.T) {
	if *rightsSize == 0 {
		t.Skip("without -bench.rights")
	}
	rows, err := social.New(*rightsSize, seed)
	if err != nil {
		t.Fatal(err)
	}
	g, plans := openSocial(t, rows)
	defer g.Close()
	targets := []engine.Target{{}}
	for _, f := range socialFilters {
		targets = append(targets, engine.Target{Rights: rightsOf(t, rows, f.name, f.persons, f.posts)})
	}
	rng := rand.New(rand.NewPCG(seed, 6))
	// The reads start at persons whom each filter keeps: others have no answer, which takes no time.
	var starts []engine.Args
	for len(starts) < 200 {
		args := person(rows, rng)
		if !slices.ContainsFunc(targets, func(at engine.Target) bool { n, _ := timeRead(t, g, plans["w1"], args, at); return n == 0 }) {
			starts = append(starts, args)
		}
	}
	start := func() engine.Args { return starts[rng.IntN(len(starts))] }
	works := []struct {
		name, label string
		args        func() engine.Args
	}{
		{"w1", "lookup", start}, {"w2", "1 hop", start},
		{"w3", "2 hops", start}, {"w4", "1 to 3 hops", start},
		{"w5", "colleagues", start}, {"w6", "aggregate", func() engine.Args { return nil }},
		{"w7", "scan", func() engine.Args {
			low := int32(18 + rng.IntN(60))
			return engine.Args{value.OfString(social.City(rng.IntN(100))), value.OfI32(low), value.OfI32(low + 10)}
		}},
		{"w8", "BM25", func() engine.Args {
			return engine.Args{value.OfString(social.Word(20+rng.IntN(480)) + " " + social.Word(500+rng.IntN(480)))}
		}},
		{"w9", "vectors", func() engine.Args {
			v := make([]float32, social.Dim)
			social.FillVector(v, rng)
			return engine.Args{value.OfVector(v)}
		}},
	}
	kept := make([]string, len(targets))
	for i, at := range targets {
		s, err := g.Snapshot(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range s.Nodes {
			kept[i] += fmt.Sprintf(" %s %d", c.Type, c.Count)
		}
		name := "all"
		if i > 0 {
			name = socialFilters[i-1].name
		}
		t.Logf("%s:%s", name, kept[i])
	}
	began := clock.Now()
	for i := range 1000 {
		args := engine.Args{value.OfString(fmt.Sprintf("zz-added-%d", i)), person(rows, rng)[0], value.OfDate(20000)}
		if _, err := g.Mutate(t.Context(), plans["w10"], args, engine.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		if i%50 == 0 { // somebody reads meanwhile
			for _, at := range targets {
				timeRead(t, g, plans["w1"], start(), at)
			}
		}
	}
	t.Logf("1,000 commits, and reads after each fiftieth, in %v", clock.Since(began))
	for _, w := range works {
		took := make([][]time.Duration, len(targets))
		end := clock.Now().Add(6 * time.Second)
		for n := 0; n < 2000 && (n < 20 || clock.Now().Before(end)); n++ {
			args := w.args()
			for i := range targets {
				i = (i + n) % len(targets) // no target is always the first with new arguments
				_, d := timeRead(t, g, plans[w.name], args, targets[i])
				took[i] = append(took[i], d)
			}
		}
		line := ""
		for i := range targets {
			slices.Sort(took[i])
			m := took[i][len(took[i])/2]
			if line += fmt.Sprintf(" | %v", m); i > 0 {
				line += fmt.Sprintf(", %.2f", float64(m)/float64(took[0][len(took[0])/2]))
			}
		}
		t.Logf("| %s %s | %d%s |", w.name, w.label, len(took[0]), line)
	}
}

// person draws the key of a person.
func person(g *social.Graph, rng *rand.Rand) engine.Args {
	return engine.Args{value.OfString(g.PersonSlug(rng.IntN(g.Persons)))}
}

// timeRead measures a read with all of its rows, and returns their number.
func timeRead(t *testing.T, g engine.Graph, q *plan.Query, args engine.Args, at engine.Target) (rows int, took time.Duration) {
	t.Helper()
	start := clock.Now()
	res, err := g.Query(context.Background(), q, args, at)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Close()
	for {
		batch, err := res.Next(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if batch == nil {
			return rows, clock.Since(start)
		}
		rows += batch.Len
	}
}

// rightsOf returns rights with a filter of persons and one of posts.
func rightsOf(t *testing.T, rows *social.Graph, name, persons, posts string) *engine.Rights {
	t.Helper()
	schema, faults := gq.CompileSchema(gq.Source{Name: "schema.pg", Text: social.Schema})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	var cities, half []value.Value
	for i := range 50 {
		cities = append(cities, value.OfString(social.City(i)))
	}
	for i := range rows.Posts / 2 {
		half = append(half, value.OfString(rows.PostSlug(i)))
	}
	all := map[string]value.Value{
		"post": value.OfString(rows.PostSlug(rows.Posts / 2)), "company": value.OfString(rows.CompanySlug(rows.Companies * 2 / 3)),
		"cities": value.OfList(value.String, cities), "posts": value.OfList(value.String, half),
	}
	rights := &engine.Rights{Digest: name, Nodes: map[string]*engine.TypeRights{}}
	for typ, where := range map[string]string{"Person": persons, "Post": posts} {
		text := fmt.Sprintf("query entities(%s) { match { $it: %s %s } return { $it.id as id } }\n", filterParams, typ, where) +
			fmt.Sprintf("query among(%s, $among: [String]) { match { $it: %s %s $it.id in $among } return { $it.id as id } }\n", filterParams, typ, where)
		queries, faults := gq.CompileQueries(schema, gq.Source{Name: "filters.gq", Text: text})
		if err := faults.Err(); err != nil {
			t.Fatal(err)
		}
		args := engine.Args{all["post"], all["company"], all["cities"], all["posts"]}
		rights.Nodes[typ] = &engine.TypeRights{Any: [][]*engine.RowFilter{{{Name: name + " of " + typ, Entities: queries[0].Plan, Among: queries[1].Plan, Args: args}}}}
	}
	return rights
}
