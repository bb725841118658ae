package embedded

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// walksOf returns a read of the pairs of persons between which there is a walk in either direction. If `bound` is
// true, it returns the length and the nodes of each walk.
func walksOf(bound bool, change func(r *plan.Read)) *plan.Query {
	t := plan.Traverse{From: 0, To: 1, Edge: "Knows", EdgeVar: plan.NoVar, Undirected: true, Walk: true, Min: 1, Max: 64}
	other := plan.Prop{Var: 1, Name: "name", Type: value.Of(value.String)}
	r := &plan.Read{
		Vars:    []plan.Var{{Name: "a", Type: "Person"}, {Name: "b", Type: "Person"}},
		Columns: []plan.Column{{Name: "a", Expr: nameOf, Type: nameOf.Type}, {Name: "b", Expr: other, Type: other.Type}},
		Ties:    []plan.VarID{0, 1}, Limit: 10,
	}
	if bound {
		t.EdgeVar = 2
		r.Vars = append(r.Vars, plan.Var{Name: "w", Entity: plan.Walk})
		for _, f := range []plan.WalkFact{plan.WalkHops, plan.WalkNodes} {
			r.Columns = append(r.Columns, plan.Column{Name: f.String(), Expr: plan.WalkPart{Var: 2, Fact: f, From: 0, To: 1}, Type: f.Type()})
		}
	}
	r.Match = []plan.Clause{t}
	if change != nil {
		change(r)
	}
	return &plan.Query{Name: "walks", Read: r}
}

// named returns a filter by the name of a person.
func named(v plan.VarID, name string) plan.Filter {
	return plan.Filter{Cond: plan.Compare{Op: plan.Eq, Left: plan.Prop{Var: v, Name: "name", Type: value.Of(value.String)}, Right: plan.Lit{Value: str(name)}, Unless: plan.NoParam}}
}

// TestWalkBudget runs walks of 64 hops that visit more nodes and edges than a query may visit. Each
// must end with an error that contains the text of the walk. Meanwhile the graph must serve other
// reads.
func TestWalkBudget(t *testing.T) {
	ctx := context.Background()
	const most = 3_000_000
	g := create(t, fs.NewMem(), Options{walked: most})
	if err := loadText(g, engine.Merge, crowdOf(3000)); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name  string
		query *plan.Query
	}{
		{"a walk", walksOf(false, nil)},
		{"a bound walk", walksOf(true, nil)},
		{"a walk that is counted", walksOf(false, func(r *plan.Read) {
			r.Columns = []plan.Column{{Name: "n", Expr: plan.Agg{Func: plan.Count, Arg: plan.Whole{Var: 1}}, Type: value.Of(value.I64)}}
			r.Grouped, r.Limit = true, plan.NoLimit
		})},
		{"a walk between known ends", walksOf(true, func(r *plan.Read) {
			r.Match = append([]plan.Clause{plan.Bind{Var: 0}, plan.Bind{Var: 1}, plan.Filter{Cond: plan.Compare{Op: plan.Lt, Left: nameOf, Right: plan.Prop{Var: 1, Name: "name", Type: value.Of(value.String)}, Unless: plan.NoParam}}}, r.Match...)
		})},
	} {
		done := make(chan error, 1)
		go func() {
			_, err := g.Query(ctx, tt.query, nil, engine.Target{})
			done <- err
		}()
		served := 0
		var err error
		for waiting := true; waiting; {
			r, failed := g.Query(ctx, walksOf(true, func(r *plan.Read) { r.Match = append(r.Match, named(0, "p000001"), named(1, "p000009")) }), nil, engine.Target{})
			if failed != nil {
				t.Fatal(failed)
			}
			if rows, failed := drain(ctx, r); rows != 1 || failed != nil {
				t.Fatalf("%d rows, error %v, want 1 row", rows, failed)
			}
			select {
			case err = <-done:
				waiting = false
			default:
				served++
			}
		}
		var large *engine.TooLarge
		if !errors.As(err, &large) || large.Limit != most || large.Actual <= most || !strings.Contains(large.Resource, "walks") || !strings.Contains(large.Hint, "Knows{1,64}]- $b") {
			t.Errorf("%s: error %v, want a *engine.TooLarge that names the walk and its limit %d", tt.name, err, most)
		}
		if served == 0 {
			t.Errorf("%s: no other read was served meanwhile", tt.name)
		}
	}
}

// TestBoundWalkMemory runs a read of walks with a context that ends during the read, and then with
// too little memory. Both runs must fail.
func TestBoundWalkMemory(t *testing.T) {
	g := create(t, fs.NewMem(), Options{QueryMemory: 300_000})
	if err := loadText(g, engine.Merge, crowdOf(3000)); err != nil {
		t.Fatal(err)
	}
	all := walksOf(true, func(r *plan.Read) { r.Limit = plan.NoLimit })
	if _, err := g.Query(&countdown{context.Background(), 3}, all, nil, engine.Target{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the context's error", err)
	}
	_, err := g.Query(context.Background(), all, nil, engine.Target{})
	wantError[*engine.TooLarge](t, "walks past the memory", err)
}

// TestWalkExplain explains walks that start at one end and walks that start at both ends. The
// explained plan must show the difference.
func TestWalkExplain(t *testing.T) {
	ctx := context.Background()
	g := create(t, fs.NewMem(), Options{})
	if err := loadText(g, engine.Merge, crowdOf(50)); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(r *plan.Read){
		"walk $a -[$w:Knows{1,64}]- $b by source and target from $a": func(r *plan.Read) { r.Match = append(r.Match, named(0, "p000001")) },
		"reaches $a -[$w:Knows{1,64}]- $b searched from both ends": func(r *plan.Read) {
			r.Match = append(r.Match, named(0, "p000001"), named(1, "p000009"))
		},
	} {
		e, err := g.Explain(ctx, walksOf(true, change), nil, engine.Target{}, true)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(e.String(), want) {
			t.Errorf("the plan has no %q:\n%s", want, e)
		}
	}
}

// notReached returns a read that counts the persons whom no walk joins to one person.
func notReached() *plan.Query {
	return walksOf(false, func(r *plan.Read) {
		t := r.Match[0].(plan.Traverse)
		t.Max = 6
		r.Match[0] = t
		r.Match = []plan.Clause{plan.Bind{Var: 0}, plan.Not{Match: append([]plan.Clause{plan.Bind{Var: 1}, named(1, "p000001")}, r.Match...)}}
		r.Columns = []plan.Column{{Name: "n", Expr: plan.Agg{Func: plan.Count, Arg: plan.Whole{Var: 0}}, Type: value.Of(value.I64)}}
		r.Ties, r.Grouped = []plan.VarID{0}, true
	})
}

// TestNotReached explains a read with a walk in a not block. The plan must look up the known end, because the check
// remembers what it reaches.
func TestNotReached(t *testing.T) {
	g := create(t, fs.NewMem(), Options{})
	if err := loadText(g, engine.Merge, manyPeople(0, 3000)); err != nil {
		t.Fatal(err)
	}
	e, err := g.Explain(context.Background(), notReached(), nil, engine.Target{}, true)
	if err != nil {
		t.Fatal(err)
	}
	if want := "reaches $a -[Knows{1,6}]- $b"; !strings.Contains(e.String(), want) {
		t.Errorf("the plan has no %q:\n%s", want, e)
	}
}

// BenchmarkNotReached measures a walk in a not block, from one person to each of 3,000.
func BenchmarkNotReached(b *testing.B) {
	g := create(b, fs.NewMem(), Options{})
	if err := loadText(g, engine.Merge, crowdOf(3000)); err != nil {
		b.Fatal(err)
	}
	q := notReached()
	for b.Loop() {
		r, err := g.Query(context.Background(), q, nil, engine.Target{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := drain(context.Background(), r); err != nil {
			b.Fatal(err)
		}
	}
}

// TestWalkPlans gives the engine plans with walks that the checker never makes.
func TestWalkPlans(t *testing.T) {
	g := create(t, fs.NewMem(), Options{})
	part := func(change func(p *plan.WalkPart)) func(r *plan.Read) {
		return func(r *plan.Read) {
			p := r.Columns[2].Expr.(plan.WalkPart)
			change(&p)
			r.Columns[2].Expr = p
		}
	}
	walk := func(change func(t *plan.Traverse)) func(r *plan.Read) {
		return func(r *plan.Read) {
			t := r.Match[0].(plan.Traverse)
			change(&t)
			r.Match[0] = t
		}
	}
	for name, change := range map[string]func(r *plan.Read){
		"a fact that does not exist":   part(func(p *plan.WalkPart) { p.Fact = 9 }),
		"other ends":                   part(func(p *plan.WalkPart) { p.To = 0 }),
		"a node instead of a walk":     part(func(p *plan.WalkPart) { p.Var = 1 }),
		"a walk instead of a node":     part(func(p *plan.WalkPart) { p.From = 2 }),
		"no walk for the variable":     walk(func(t *plan.Traverse) { t.EdgeVar = plan.NoVar }),
		"a walk bound to a node":       walk(func(t *plan.Traverse) { t.EdgeVar = 1 }),
		"a traversal bound to a walk":  walk(func(t *plan.Traverse) { t.Walk, t.Max = false, 1 }),
		"an edge type that is unknown": walk(func(t *plan.Traverse) { t.Or = []string{"Nothing"} }),
		"a walk as a tie-break":        func(r *plan.Read) { r.Ties = append(r.Ties, 2) },
		"the id of a walk":             func(r *plan.Read) { r.Columns[0].Expr = plan.ID{Var: 2} },
		"two walks of one variable": func(r *plan.Read) {
			t := r.Match[0].(plan.Traverse)
			t.Min = 2
			r.Match = append(r.Match, t)
		},
	} {
		_, err := g.Query(context.Background(), walksOf(true, change), nil, engine.Target{})
		wantError[*engine.SchemaMismatch](t, name, err)
	}
}

// TestWalkLong checks which nodes a walk along a chain of 64 edges reaches, and which a walk around
// a ring, back to its start, reaches.
func TestWalkLong(t *testing.T) {
	ctx := context.Background()
	g := create(t, fs.NewMem(), Options{})
	const n = 65
	var b, want strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"type":"Person","data":{"name":"c%02d"}}`+"\n", i)
		fmt.Fprintf(&want, "c%02d ", i)
	}
	for i := range n - 1 {
		fmt.Fprintf(&b, `{"edge":"Knows","from":"c%02d","to":"c%02d"}`+"\n", i, i+1)
	}
	if err := loadText(g, engine.Merge, b.String()); err != nil {
		t.Fatal(err)
	}
	for _, ends := range [][2]string{{"c00", "c64"}, {"c64", "c00"}} {
		r, err := g.Query(ctx, walksOf(true, func(r *plan.Read) { r.Match = append(r.Match, named(0, ends[0]), named(1, ends[1])) }), nil, engine.Target{})
		if err != nil {
			t.Fatal(err)
		}
		batch, err := r.Next(ctx)
		if err != nil || batch == nil || batch.Len != 1 {
			t.Fatalf("batch %v, error %v, want one row", batch, err)
		}
		var got []string
		for _, id := range batch.Columns[3].Lists[0].Elems() {
			got = append(got, id.Str())
		}
		names := strings.Fields(want.String())
		if ends[0] != names[0] {
			for i, j := 0, len(names)-1; i < j; i, j = i+1, j-1 {
				names[i], names[j] = names[j], names[i]
			}
		}
		if hops := batch.Columns[2].Ints[0]; hops != n-1 || strings.Join(got, " ") != strings.Join(names, " ") {
			t.Errorf("%d hops along %v, want %d along %v", hops, got, n-1, names)
		}
	}
}
