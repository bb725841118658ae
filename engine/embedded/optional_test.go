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

// friendsOptional returns a read of each person, with the persons that the person knows if there are any.
func friendsOptional(change func(r *plan.Read)) *plan.Query {
	friend := plan.Prop{Var: 1, Name: "name", Type: value.Of(value.String)}
	r := &plan.Read{
		Vars:    []plan.Var{{Name: "p", Type: "Person"}, {Name: "q", Type: "Person", Optional: true}},
		Match:   []plan.Clause{plan.Bind{Var: 0}, plan.Optional{Match: []plan.Clause{plan.Traverse{From: 0, To: 1, Edge: "Knows", EdgeVar: plan.NoVar, Min: 1, Max: 1}}}},
		Columns: []plan.Column{{Name: "name", Expr: nameOf, Type: nameOf.Type}, {Name: "friend", Expr: friend, Type: friend.Type.Optional()}},
		Ties:    []plan.VarID{0, 1}, Limit: plan.NoLimit,
	}
	change(r)
	return &plan.Query{Name: "friends", Read: r}
}

// crowdOf returns NDJSON of n persons. The first knows all others, and each tenth person knows the next.
func crowdOf(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"type":"Person","data":{"name":"p%06d","age":%d}}`+"\n", i, i%90)
	}
	for i := 1; i < n; i++ {
		fmt.Fprintf(&b, `{"edge":"Knows","from":"p%06d","to":"p%06d"}`+"\n", 0, i)
		if i%10 == 0 && i+1 < n {
			fmt.Fprintf(&b, `{"edge":"Knows","from":"p%06d","to":"p%06d"}`+"\n", i, i+1)
		}
	}
	return b.String()
}

// TestOptionalLarge extends more rows than a frame holds, one of them by more matches than a frame holds.
func TestOptionalLarge(t *testing.T) {
	ctx := context.Background()
	g := create(t, fs.NewMem(), Options{})
	const n = 5000
	if err := loadText(g, engine.Merge, crowdOf(n)); err != nil {
		t.Fatal(err)
	}
	friends := plan.Agg{Func: plan.Count, Arg: plan.Whole{Var: 1}}
	isNull := plan.Filter{Cond: plan.NullTest{Expr: plan.ID{Var: 1}}}
	inOrder := func(r *plan.Read) { r.Order, r.Limit = []plan.Order{{Expr: ageOf}}, 100 }
	const lonely = n - 1 - (n-1)/10
	for _, tt := range []struct {
		name   string
		change func(r *plan.Read)
		rows   int
		first  string
	}{
		{"rows", func(*plan.Read) {}, n - 1 + (n-1)/10 + lonely, "p000000 p000001"},
		{"rows without a match", func(r *plan.Read) { r.Match = append(r.Match, isNull) }, lonely, "p000001 null"},
		{"in order", inOrder, 100, "p000000 p000001"},
		{"counts", func(r *plan.Read) {
			r.Grouped, r.Columns[1] = true, plan.Column{Name: "n", Expr: friends, Type: value.Of(value.I64)}
		}, n, fmt.Sprint("p000000 ", n-1)},
	} {
		q := friendsOptional(tt.change)
		r, err := g.Query(ctx, q, nil, engine.Target{})
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		b, err := r.Next(ctx)
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		first := value.Text(b.Columns[0].Value(0)) + " "
		if b.Columns[1].IsNull(0) {
			first += "null"
		} else {
			first += value.Text(b.Columns[1].Value(0))
		}
		begun := b.Len
		rows, err := drain(ctx, r)
		if rows += begun; err != nil || rows != tt.rows || first != tt.first {
			t.Errorf("%s: %d rows, the first is %s, error %v; want %d rows, the first %s", tt.name, rows, first, err, tt.rows, tt.first)
		}
	}
}

// TestOptionalExplained explains a read with an `optional` block. The block is a child of its operator.
func TestOptionalExplained(t *testing.T) {
	g := create(t, fs.NewMem(), Options{})
	if err := loadText(g, engine.Merge, crowdOf(50)); err != nil {
		t.Fatal(err)
	}
	e, err := g.Explain(context.Background(), friendsOptional(func(*plan.Read) {}), nil, engine.Target{}, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"optional", "expand $p -[Knows]-> $q by source from $p", "scan Person $p"} {
		if !strings.Contains(e.String(), want) {
			t.Errorf("the plan has no %q:\n%s", want, e)
		}
	}
	if rows := e.Plan[0].Rows; rows == nil || *rows != 49+4+45 {
		t.Errorf("the plan counts %v rows, want %d:\n%s", rows, 49+4+45, e)
	}
}

// TestOptionalBounds ends the context of a read with an `optional` block, and gives such a read too little memory.
// Each ends with its error, and later reads are answered.
func TestOptionalBounds(t *testing.T) {
	g := create(t, fs.NewMem(), Options{QueryMemory: 1 << 20})
	if err := loadText(g, engine.Merge, crowdOf(3000)); err != nil {
		t.Fatal(err)
	}
	all := friendsOptional(func(r *plan.Read) {
		for v := plan.VarID(2); v < 5; v++ {
			r.Vars = append(r.Vars, plan.Var{Name: fmt.Sprint("r", v), Type: "Person", Optional: true})
			r.Match = append(r.Match, plan.Optional{Match: []plan.Clause{plan.Bind{Var: v}, plan.Filter{Cond: plan.Compare{Op: plan.Ge, Left: ageOf, Right: plan.Prop{Var: v, Name: "age", Type: ageOf.Type}, Unless: plan.NoParam}}}})
		}
	})
	if _, err := g.Query(&countdown{context.Background(), 20}, all, nil, engine.Target{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the context's error", err)
	}
	_, err := g.Query(context.Background(), all, nil, engine.Target{})
	wantError[*engine.TooLarge](t, "rows past the memory", err)
	r, err := g.Query(context.Background(), friendsOptional(func(r *plan.Read) { r.Limit = 10 }), nil, engine.Target{})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := drain(context.Background(), r); n != 10 || err != nil {
		t.Errorf("%d rows, error %v, want 10 rows", n, err)
	}
}

// TestOptionalPlans gives the engine plans with `optional` blocks that the checker never makes.
func TestOptionalPlans(t *testing.T) {
	g := create(t, fs.NewMem(), Options{})
	knows := plan.Traverse{From: 0, To: 1, Edge: "Knows", EdgeVar: plan.NoVar, Min: 1, Max: 1}
	for name, change := range map[string]func(r *plan.Read){
		"bound outside too": func(r *plan.Read) { r.Match = append(r.Match, plan.Bind{Var: 1}) },
		"not optional":      func(r *plan.Read) { r.Vars[1].Optional = false },
		"in a not block":    func(r *plan.Read) { r.Match = append(r.Match, plan.Not{Match: r.Match[1:]}) },
		"in another block": func(r *plan.Read) {
			r.Match[1] = plan.Optional{Match: []plan.Clause{plan.Optional{Match: []plan.Clause{knows}}}}
		},
		"in an any block":    func(r *plan.Read) { r.Match = append(r.Match, plan.Any{Conds: r.Match[1:2]}) },
		"bound by no clause": func(r *plan.Read) { r.Match = r.Match[:1] },
	} {
		_, err := g.Query(context.Background(), friendsOptional(change), nil, engine.Target{})
		wantError[*engine.SchemaMismatch](t, name, err)
	}
}
