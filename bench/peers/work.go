package main

import (
	"math/rand/v2"
	"slices"

	"github.com/omnigraph-go/omnigraph/internal/bench/social"
)

// work is one read that the benchmark measures.
type work struct {
	id, label string // such as w1; title in the report
	columns   int    // number of columns of a row
	// compared is the number of leading columns that must be equal in all databases.
	compared int
	// args draws arguments. Texts are strings, numbers int64 and vectors []float32.
	args func(g *social.Graph, rng *rand.Rand) []any
	// exact is true if all databases must return the same rows in the same order. It is false for
	// rankings, because the weights of tokens and the rounding differ; see rankings.go.
	exact bool
	goal  float64 // maximum ratio of this engine's p50 to that of the best peer
	// goal99 is the maximum ratio of the p99; 0 means the same as goal.
	goal99 float64
}

// aPerson draws the slug of a person.
func aPerson(g *social.Graph, rng *rand.Rand) []any {
	return []any{g.PersonSlug(rng.IntN(g.Persons))}
}

// works are the reads that the benchmark measures.
var works = []*work{
	{id: "w1", label: "lookup by key, 4 properties", columns: 4, compared: 4, exact: true, args: aPerson, goal: 0.2},
	{id: "w2", label: "1-hop neighbours by name, limit 50", columns: 3, compared: 3, exact: true, args: aPerson, goal: 0.1},
	{id: "w3", label: "distinct friends of friends, count", columns: 1, compared: 1, exact: true, args: aPerson, goal: 0.05},
	{id: "w4", label: "reach within 1..3 hops, count", columns: 1, compared: 1, exact: true, args: aPerson, goal: 0.05, goal99: 0.2},
	{id: "w5", label: "colleagues who do not know X, limit 20", columns: 2, compared: 2, exact: true, args: aPerson, goal: 0.1},
	{id: "w6", label: "employees per company, top 20", columns: 2, compared: 2, exact: true,
		args: func(*social.Graph, *rand.Rand) []any { return nil }, goal: 0.15},
	{id: "w7", label: "age range and city, no index, limit 20", columns: 3, compared: 3, exact: true,
		args: func(_ *social.Graph, rng *rand.Rand) []any {
			low := int64(18 + rng.IntN(60))
			return []any{social.City(rng.IntN(100)), low, low + 10}
		}, goal: 0.1},
	{id: "w8", label: "BM25 top 10 of the posts", columns: 2, compared: 1,
		args: func(_ *social.Graph, rng *rand.Rand) []any {
			// Draw two words that are neither in every second post nor in almost none.
			first := 20 + rng.IntN(480)
			second := 20 + rng.IntN(480)
			if second == first {
				second++
			}
			return []any{social.Word(first) + " " + social.Word(second)}
		}, goal: 0.06},
	{id: "w9", label: "exact cosine top 10 of the vectors", columns: 2, compared: 1,
		args: func(_ *social.Graph, rng *rand.Rand) []any {
			v := make([]float32, social.Dim)
			social.FillVector(v, rng)
			return []any{v}
		}, goal: 0.33},
}

// workNamed returns the work with an id.
func workNamed(id string) *work {
	return works[slices.IndexFunc(works, func(w *work) bool { return w.id == id })]
}

// workArgs draws n sets of arguments for a work. All databases get the same ones.
func workArgs(w *work, g *social.Graph, n int) [][]any {
	rng := rand.New(rand.NewPCG(g.Seed, uint64(1000+len(w.label))))
	out := make([][]any, n)
	for i := range out {
		out[i] = w.args(g, rng)
	}
	return out
}
