package embedded

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/slow"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// dense is a graph of few people and many edges, and a list of the edges by their ids.
type dense struct {
	g     *Graph
	n     int
	edges map[string][2]int
}

// TestDense compares traversals with the results computed from the list of edges: in the base
// alone, with dead edges, and with edges of the overlay. There are parallel edges and edges
// from a node to itself. The nodes have more neighbours than in the random comparison.
func TestDense(t *testing.T) {
	slow.Test(t)
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(8, 9))
	d := &dense{g: create(t, fs.NewMem(), Options{quiet: true, InlineBytes: -1}), n: 150, edges: map[string][2]int{}}
	var lines strings.Builder
	for i := range d.n {
		fmt.Fprintf(&lines, `{"type":"Person","data":{"name":"p%d","age":%d}}`+"\n", i, i%90)
	}
	for k := range 1500 {
		from, to := rng.IntN(d.n), int(rng.ExpFloat64()*20)%d.n
		id := fmt.Sprintf("k%04d", k)
		d.edges[id] = [2]int{from, to}
		fmt.Fprintf(&lines, `{"edge":"Knows","from":"p%d","to":"p%d","data":{"id":%q}}`+"\n", from, to, id)
	}
	if err := loadText(d.g, engine.Merge, lines.String()); err != nil {
		t.Fatal(err)
	}
	knows := d.g.branches.main.head.Load().snap.Edges(0)
	if !knows.AllLive() || knows.Out().Overlay() != 0 || knows.Out().Distinct() {
		t.Fatalf("the loaded edges are alive %t, %d of them in the overlay, distinct %t", knows.AllLive(), knows.Out().Overlay(), knows.Out().Distinct())
	}
	t.Run("base", d.compare)
	remove := &plan.Query{Params: []plan.Param{{Name: "id", Type: value.Of(value.String)}}, Mutation: &plan.Mutation{Statements: []plan.Statement{
		plan.Delete{Entity: plan.Edge, Type: "Knows", Where: []plan.Pred{{Name: "id", Type: value.Of(value.String), Op: plan.Eq, Value: plan.ParamRef{}}}}}}}
	for k := range 500 {
		id := fmt.Sprintf("k%04d", k)
		delete(d.edges, id)
		if _, err := d.g.Mutate(ctx, remove, engine.Args{str(id)}, engine.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("dead edges", d.compare)
	for k := range 300 {
		id, from, to := fmt.Sprintf("o%04d", k), rng.IntN(20), rng.IntN(d.n)
		d.edges[id] = [2]int{from, to}
		if _, err := d.g.Mutate(ctx, connect, engine.Args{str(fmt.Sprintf("p%d", from)), str(fmt.Sprintf("p%d", to)), str(id)}, engine.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("overlay", d.compare)
}

// joined returns, for each pair of nodes, whether there is an edge from the first node to the
// second.
func (d *dense) joined(undirected bool) [][]bool {
	m := make([][]bool, d.n)
	for i := range m {
		m[i] = make([]bool, d.n)
	}
	for _, e := range d.edges {
		m[e[0]][e[1]] = true
		if undirected {
			m[e[1]][e[0]] = true
		}
	}
	return m
}

func (d *dense) compare(t *testing.T) {
	age := plan.Prop{Var: 1, Name: "age", Type: ageOf.Type}
	older := plan.Filter{Cond: plan.Compare{Op: plan.Ge, Left: age, Right: plan.ParamRef{}, Unless: plan.NoParam}}
	count := func(match ...plan.Clause) *plan.Query {
		return read(func(r *plan.Read) {
			r.Vars = append(r.Vars, plan.Var{Name: "q", Type: "Person"})
			r.Match = append(append(r.Match, plan.Bind{Var: 1}), match...)
			r.Grouped, r.Ties = true, nil
			r.Columns = []plan.Column{{Name: "n", Expr: plan.Agg{Func: plan.Count, Arg: plan.Whole{Var: 1}}, Type: value.Of(value.I64)}}
		})
	}
	same := func(name string, q *plan.Query, arg, want int) {
		t.Helper()
		if got := rowsOf(t, d.g, q, engine.Args{num(arg)}); got != fmt.Sprintf("%d \n", want) {
			t.Errorf("%s, from age %d on: %s, want %d", name, arg, got, want)
		}
	}
	for _, undirected := range []bool{false, true} {
		m := d.joined(undirected)
		knows := plan.Traverse{From: 0, To: 1, Edge: "Knows", EdgeVar: plan.NoVar, Undirected: undirected, Min: 1, Max: 1}
		back := knows
		back.From, back.To = 1, 0
		for _, least := range []int{0, 80, 88} {
			pairs, mutual, apart := 0, 0, 0
			for i := range d.n {
				for k := range d.n {
					switch {
					case k%90 < least:
					case m[i][k] && m[k][i]:
						pairs++
						mutual++
					case m[i][k]:
						pairs++
					default:
						apart++
					}
				}
			}
			name := fmt.Sprintf("undirected %t, ", undirected)
			same(name+"joined", count(older, knows), least, pairs)
			same(name+"mutual", count(older, knows, back), least, mutual)
			same(name+"not joined", count(older, plan.Not{Match: []plan.Clause{knows}}), least, apart)
			same(name+"not joined after a filter", count(older, plan.Not{Match: []plan.Clause{knows, plan.Filter{Cond: older.Cond}}}), least, apart)
		}
		for _, bounds := range [][2]int{{0, 0}, {0, 2}, {1, 1}, {2, 2}, {1, 3}, {2, 3}, {3, 9}, {30, 40}} {
			far := knows
			far.Walk, far.Min, far.Max = true, bounds[0], bounds[1]
			reached := 0
			for i := range d.n {
				reached += walked(m, i, far.Min, far.Max)
			}
			name := fmt.Sprintf("undirected %t, %v hops", undirected, bounds)
			same(name, count(far), 0, reached)
			same(name+", as rows", count(far, older), 0, reached)
			same(name+", checked", count(plan.Not{Match: []plan.Clause{far}}), 0, d.n*d.n-reached)
		}
	}
}

// walked counts the nodes at a distance of at least `least` and at most `most` from node `from`.
func walked(m [][]bool, from, least, most int) (n int) {
	seen := make([]bool, len(m))
	seen[from] = true
	level := []int{from}
	if least == 0 {
		n++
	}
	for d := 1; d <= most; d++ {
		var next []int
		for _, i := range level {
			for k, joined := range m[i] {
				if joined && !seen[k] {
					seen[k] = true
					next = append(next, k)
				}
			}
		}
		if d >= least {
			n += len(next)
		}
		level = next
	}
	return n
}
