package embedded

import (
	"fmt"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq"
)

// TestBlocksRememberWalks runs blocks that check walks between 2,000 nodes and a few others, with a bound on what walks may
// visit. The bound is enough to walk from each of the others a few times, and far too low to walk for each pair.
func TestBlocksRememberWalks(t *testing.T) {
	const nodes, few, more = 2000, 5, 100
	source := "interface Named { name: String }\nnode F implements Named { name: String @key kind: String? @index }\n" +
		"node G implements Named { name: String @key }\nedge Calls: F -> F\nedge Uses: F -> F\nedge Holds: Named -> Named"
	schema, faults := gq.CompileSchema(gq.Source{Name: "s.pg", Text: source})
	must(t, faults.Err())
	var data strings.Builder
	for i := range nodes {
		kind := "null"
		switch {
		case i < few:
			kind = `"entry"`
		case i%20 == 19:
			kind = `"test"` // more
		}
		fmt.Fprintf(&data, `{"type":"F","data":{"name":"f%d","kind":%s}}`+"\n", i, kind)
		for _, to := range []int{i*7 + 3, i*13 + 1, i*31 + 2} { // nodes with i%3 == 0 lead to half of the graph
			if to %= nodes; i%2 == 0 {
				to -= to % 2
			}
			fmt.Fprintf(&data, `{"edge":"%s","from":"f%d","to":"f%d"}`+"\n", []string{"Calls", "Calls", "Uses"}[to%3], i, to)
			fmt.Fprintf(&data, `{"edge":"Holds","from":{"type":"F","id":"f%d"},"to":{"type":"F","id":"f%d"}}`+"\n", i, to)
		}
	}
	open := func(walked int64) *Graph {
		g := must1(OpenMemory(t.Context(), source, schema, Options{walked: walked}))
		t.Cleanup(func() { must(t, g.Close()) })
		must1(g.Load(t.Context(), strings.NewReader(data.String()), engine.LoadOptions{Mode: engine.Append}))
		return g
	}
	// A step may search from both ends for the first rows about a node, and each search visits up to all nodes and edges.
	bounded, free := map[string]*Graph{"entry": open(10 * few * 4 * nodes), "test": open(10 * more * 4 * nodes)}, open(0)
	count := func(g *Graph, body string) int64 {
		t.Helper()
		queries, faults := gq.CompileQueries(schema, gq.Source{Name: "q.gq", Text: "query q() { match { " + body + " }"})
		must(t, faults.Err())
		r, err := g.Query(t.Context(), queries[0].Plan, nil, engine.Target{})
		if err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		defer r.Close()
		b, err := r.Next(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		return b.Columns[0].Value(0).Int()
	}
	const all = " return { count($f) as n }"
	for _, tt := range []struct{ walk, kind string }{
		{"$e calls{1,60} $f", "entry"}, {"$f calls{1,60} $e", "entry"}, {"$e calls{2,3} $f", "entry"}, {"$f calls{0,4} $e", "entry"},
		{"$e calls{1,60} $f", "test"}, {"$f calls{2,3} $e", "test"},
		{"$e calls|uses{1,60} $f", "entry"}, {"$f calls|uses{1,60} $e", "test"}, {"$f calls|uses{0,3} $e", "entry"}, {"$e calls|uses{2,3} $f", "test"},
		{"$e holds{1,60} $f", "entry"}, {"$f holds{1,60} $e", "test"}, {"$f holds{2,4} $e", "entry"}, {"$e holds{0,2} $f", "test"},
	} {
		g := free
		if strings.Contains(tt.walk, "60") { // a short walk visits little from any end
			g = bounded[tt.kind]
		}
		block := fmt.Sprintf("{ $e: F { kind: %q } %s }", tt.kind, tt.walk)
		reached := count(free, fmt.Sprintf("$e: F { kind: %q } %s } return { count(distinct $f) as n }", tt.kind, tt.walk))
		if reached == 0 || reached == nodes && tt.walk == "$e calls{1,60} $f" {
			t.Errorf("%s: all or none of the nodes are reached", tt.walk)
		}
		for _, q := range []struct {
			body string
			want int64
		}{
			{"$f: F exists " + block + " }" + all, reached},
			{"$f: F not " + block + " }" + all, nodes - reached},
			{"$f: F (exists " + block + ") = true }" + all, reached},
		} {
			if got := count(g, q.body); got != q.want {
				t.Errorf("%s: %d, want %d", q.body, got, q.want)
			}
		}
	}
}
