package embedded

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/corruption"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index/vectorindex"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// placeDim is the number of components of the vectors of persons.
const placeDim = 4

// smallVectors are limits with which even small tables get approximate indexes.
var smallVectors = version.VectorLimits{From: 4, Later: 2}

// placed returns the schema of the function people with a sorted index of the ages and a vector with
// an approximate index.
func placed() *catalog.Schema {
	return changed(func(s *catalog.Schema) {
		n := s.Nodes[0]
		n.Index = append(n.Index, []string{"age"})
		n.Properties = append(n.Properties, &catalog.Property{Name: "place", Type: value.Type{Kind: value.Vector, Dim: placeDim, Nullable: true}, Approximate: true})
	})
}

// vectorFor returns a vector with a random direction, which depends only on the text.
func vectorFor(text string) []float32 {
	h := fnv.New64()
	h.Write([]byte(text))
	rng := rand.New(rand.NewPCG(h.Sum64(), 1))
	v := make([]float32, placeDim)
	for i := range v {
		v[i] = float32(math.Round(rng.NormFloat64()*1000) / 1000)
	}
	return v
}

// placedPeople returns NDJSON of n persons, most of them with a vector. The parameter `version`
// selects the vectors.
func placedPeople(first, n int, version string) string {
	var b strings.Builder
	for i := first; i < first+n; i++ {
		name := fmt.Sprintf("p%06d", i)
		fmt.Fprintf(&b, `{"type":"Person","data":{"name":%q,"age":%d`, name, i*37%90)
		if i%9 != 4 {
			fmt.Fprintf(&b, `,"place":%s`, strings.ReplaceAll(fmt.Sprint(vectorFor(name+version)), " ", ","))
		}
		b.WriteString("}}\n")
	}
	return b.String()
}

// building builds the approximate indexes that the graph needs. A checkpoint or a close stores them.
var building = deed{"build", func(g *Graph) error { return g.vectors.make(context.Background()) }}

// sorting reads the first persons of a branch in the order of their ages and in that of their names.
// The reads build the sorted indexes. A checkpoint or a close stores them.
func sorting(branch string) deed {
	return deed{"Query", func(g *Graph) error {
		for _, q := range []*plan.Query{firstPersons(ageOf), firstPersons(nameOf)} {
			if _, err := answer(g, q, nil, branch); err != nil {
				return err
			}
		}
		return nil
	}}
}

// indexing builds, extends and stores approximate indexes of vectors and sorted indexes. At the end,
// the close must store them.
func indexing() script {
	return script{name: "indexes", answers: answersByIndex, stored: &reopenedIndexes{}, deeds: []deed{
		applySchema("", placed(), false),
		loading("", engine.Append, placedPeople(0, 30, "")), // stored as segments
		building,
		checkpoint, // stores the graph of vectors
		sorting(""),
		checkpoint, // stores the sorted indexes
		loading("", engine.Merge, placedPeople(24, 12, "changed")),
		mutation(deletePerson, on(""), "p000003"),
		mutation(birthday, on(""), 77, 37),
		building, // extends the graph
		sorting(""),
		insert("", "ann", 3),
		checkpoint,
		forking("side", ""),
		loading("side", engine.Merge, placedPeople(40, 10, "")),
		building,
		sorting("side"),
		checkpoint,
		loading("", engine.Overwrite, placedPeople(30, 18, "changed")+`{"type":"Person","data":{"name":"cat","age":1}}`),
		checkpoint, // a rewrite, without approximate indexes of main
		building,
		sorting(""),
	}, made: func(t *testing.T, g *Graph) {
		for _, branch := range []string{"main", "side"} {
			if n := nodesOfPlaces(g, branch); n < 10 {
				t.Errorf("the approximate index of %s has %d nodes", branch, n)
			}
		}
	}}
}

// placedTable returns the table of the persons of a branch, and the position of the property
// `place`, or a negative number if the schema does not have it.
func placedTable(g *Graph, branch string) (*version.Table, int) {
	b := must1(g.branches.find(branch))
	t := b.head.Load().snap.Nodes(0)
	return t, slices.IndexFunc(t.Type.Props, func(p *catalog.Property) bool { return p.Name == "place" })
}

// nodesOfPlaces returns the number of nodes in the approximate index of a branch; 0 if it has none.
func nodesOfPlaces(g *Graph, branch string) int {
	t, place := placedTable(g, branch)
	if place < 0 {
		return 0
	}
	view := must1(t.Vectors(index.Work{Ctx: context.Background()}, place))
	if view == nil {
		return 0
	}
	return view.Graph().Nodes()
}

// reopenedIndexes counts the graphs that were opened again after a failure, by the stored indexes of
// their main branches.
type reopenedIndexes struct{ vectors, orders, neither atomic.Int32 }

// count counts a graph that has just been opened.
func (c *reopenedIndexes) count(g *Graph) {
	t, place := placedTable(g, engine.MainBranch)
	vectors, orders := nodesOfPlaces(g, engine.MainBranch) > 0, false
	if place >= 0 {
		// The function does not let SortedBy build an index from scratch.
		orders = must1(t.SortedBy(context.Background(), 0, func(int) bool { return false })) != nil
	}
	switch {
	case vectors:
		c.vectors.Add(1)
	case !orders:
		c.neither.Add(1)
	}
	if orders {
		c.orders.Add(1)
	}
}

// check fails the test unless the counted graphs include some with each kind of index and some
// without any.
func (c *reopenedIndexes) check(t *testing.T) {
	vectors, orders, neither := c.vectors.Load(), c.orders.Load(), c.neither.Load()
	t.Logf("graphs with stored indexes: of vectors %d, sorted %d, neither %d", vectors, orders, neither)
	if min(vectors, orders, neither) == 0 {
		t.Errorf("graphs with stored indexes: of vectors %d, sorted %d, neither %d; want some of each", vectors, orders, neither)
	}
}

// firstPersons returns a query for the first persons by a property.
func firstPersons(by plan.Prop) *plan.Query {
	return &plan.Query{Read: &plan.Read{
		Vars: []plan.Var{{Name: "p", Type: "Person"}}, Match: []plan.Clause{plan.Bind{Var: 0}},
		Columns: []plan.Column{{Name: "name", Expr: nameOf, Type: nameOf.Type}}, Order: []plan.Order{{Expr: by}}, Ties: []plan.VarID{0}, Limit: 7,
	}}
}

// nearestPersons returns a query for the persons whose places are nearest to a vector. If the argument
// `filtered` is true, the query first selects the persons with a place.
func nearestPersons(filtered bool) *plan.Query {
	place := plan.Prop{Var: 0, Name: "place", Type: value.Type{Kind: value.Vector, Dim: placeDim, Nullable: true}}
	q := firstPersons(nameOf)
	q.Params = []plan.Param{{Name: "q", Type: value.Type{Kind: value.Vector, Dim: placeDim}}}
	q.Read.Order = []plan.Order{{Expr: plan.Nearest{Prop: place, Vector: plan.ParamRef{Index: 0}}}}
	if filtered {
		q.Read.Match = append(q.Read.Match, plan.Filter{Cond: plan.NullTest{Expr: place, Not: true}})
	}
	return q
}

// person is a row of the model that answersByIndex uses.
type person struct {
	name  string
	age   int // -1 for null
	place []float32
}

// answersByIndex returns, for each branch, the answers that use indexes. An answer that differs from
// a scan of all persons is followed by the right one.
func answersByIndex(g *Graph) (text string) {
	var b strings.Builder
	for _, br := range must1(g.Branches(context.Background())) {
		table, place := placedTable(g, br.Name)
		if place < 0 {
			continue
		}
		var all []person
		for ord := range table.Ordinals() {
			if !table.Alive(ord) {
				continue
			}
			p := person{name: table.ID(ord), age: -1}
			if v := table.Value(ord, 1); !v.IsNull() {
				p.age = int(v.Int())
			}
			if v := table.Value(ord, place); !v.IsNull() {
				p.place = v.Vector()
			}
			all = append(all, p)
		}
		check := func(what string, q *plan.Query, args engine.Args, compare func(a, b person) int) {
			got, err := answer(g, q, args, br.Name)
			slices.SortFunc(all, func(a, b person) int { return cmp.Or(compare(a, b), cmp.Compare(a.name, b.name)) })
			want := ""
			for _, p := range all[:min(int(q.Read.Limit), len(all))] {
				want += p.name + " \n"
			}
			if fmt.Fprintf(&b, "%s of %s: %q\n", what, br.Name, got); err != nil || got != want {
				fmt.Fprintf(&b, "BUT THE SCAN FINDS %q; error %v\n", want, err)
			}
		}
		check("youngest", firstPersons(ageOf), nil, func(a, b person) int { return cmp.Compare(a.age, b.age) })
		check("first", firstPersons(nameOf), nil, func(a, b person) int { return 0 })
		all = slices.DeleteFunc(all, func(p person) bool { return p.place == nil })
		for _, target := range []string{"x", "y", "z"} {
			v := vectorFor(target)
			closer := func(a, b person) int { return cmp.Compare(awayFrom(v, a.place), awayFrom(v, b.place)) }
			check("nearest to "+target, nearestPersons(true), engine.Args{value.OfVector(v)}, closer)
			if q := nearestPersons(false); len(all) >= int(q.Read.Limit) { // otherwise rows without a place follow
				check("nearest to "+target+" without a filter", q, engine.Args{value.OfVector(v)}, closer)
			}
		}
		if err := walkAll(table, place); err != nil {
			fmt.Fprintf(&b, "BUT THE GRAPH OF %s HAS A FAULT: %v\n", br.Name, err)
		}
	}
	return b.String()
}

// awayFrom returns the cosine distance of two vectors.
func awayFrom(a, b []float32) float64 {
	var dot, aa, bb float64
	for i := range a {
		dot += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	return 1 - dot/(math.Sqrt(aa)*math.Sqrt(bb))
}

// walkAll follows the links of the approximate index, if there is one. A search that keeps all nodes
// must find each live entity that has a vector in the graph. Reads of so small a graph do not follow
// its links.
func walkAll(t *version.Table, p int) (err error) {
	defer corruption.Catch(corruption.Watch(), &err)
	view, err := t.Vectors(index.Work{Ctx: context.Background()}, p)
	if view == nil || err != nil {
		return err
	}
	query, s, found := make([]int16, 32), &vectorindex.Search{}, map[uint32]bool{} // codes are padded to 32
	query[0] = 1
	none, least := func(int) error { return nil }, float32(math.Inf(-1))
	if _, err := view.Near(s, query, 1<<10, 0, math.MaxInt, nil, none, func(c vectorindex.Coded) { found[c.Ord] = true }); err != nil {
		return err
	}
	walked := len(found)
	// This adds the entities that are not in the graph, without the graph's links.
	if err := view.Each(s, query, false, nil, &least, none, func(c vectorindex.Coded) { found[c.Ord] = true }); err != nil {
		return err
	}
	for ord := range t.Ordinals() {
		if t.Alive(ord) && !t.Value(ord, p).IsNull() && !found[ord] {
			return fmt.Errorf("the links of %d nodes do not lead to %s; they lead to %d", view.Graph().Nodes(), t.ID(ord), walked)
		}
	}
	return nil
}
