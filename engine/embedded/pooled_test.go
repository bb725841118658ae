package embedded

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// rowsOf returns a query's rows as text.
func rowsOf(t *testing.T, g *Graph, q *plan.Query, args engine.Args) string {
	t.Helper()
	ctx := context.Background()
	r, err := g.Query(ctx, q, args, engine.Target{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var out strings.Builder
	for {
		b, err := r.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if b == nil {
			return out.String()
		}
		for i := range b.Len {
			for k := range b.Columns {
				if v := b.Columns[k].Value(i); v.IsNull() {
					out.WriteString("null ")
				} else {
					out.WriteString(value.Text(v) + " ")
				}
			}
			out.WriteByte('\n')
		}
	}
}

// TestStateIsUsedAgain runs programs with different arguments in turn. Between the runs it
// cancels runs and closes results half-way. Each answer must be that of a program that never
// ran before.
func TestStateIsUsedAgain(t *testing.T) {
	g := create(t, fs.NewMem(), Options{quiet: true})
	if err := loadText(g, engine.Merge, manyPeople(0, 3000)); err != nil {
		t.Fatal(err)
	}
	above := func(r *plan.Read) {
		r.Match = append(r.Match, plan.Filter{Cond: plan.Compare{Op: plan.Ge, Left: ageOf, Right: plan.ParamRef{}, Unless: plan.NoParam}})
	}
	cityOf := plan.Prop{Var: 0, Name: "city", Type: value.Of(value.String).Optional()}
	knows := plan.Traverse{From: 0, To: 1, Edge: "Knows", EdgeVar: plan.NoVar, Min: 1, Max: 1}
	friend := plan.Var{Name: "q", Type: "Person"}
	for name, change := range map[string]func(r *plan.Read){
		"groups": func(r *plan.Read) {
			above(r)
			r.Grouped, r.Ties = true, nil
			r.Columns = []plan.Column{{Name: "city", Expr: cityOf, Type: cityOf.Type},
				{Name: "n", Expr: plan.Agg{Func: plan.Count, Arg: plan.Whole{}}, Type: value.Of(value.I64)},
				{Name: "sum", Expr: plan.Agg{Func: plan.Sum, Arg: ageOf}, Type: value.Of(value.F64).Optional()},
				{Name: "min", Expr: plan.Agg{Func: plan.Min, Arg: nameOf}, Type: value.Of(value.String).Optional()}}
		},
		"one group": func(r *plan.Read) {
			above(r)
			r.Grouped, r.Ties = true, nil
			r.Columns = []plan.Column{{Name: "max", Expr: plan.Agg{Func: plan.Max, Arg: nameOf}, Type: value.Of(value.String).Optional()}}
		},
		"order": func(r *plan.Read) { above(r); r.Order = []plan.Order{{Expr: cityOf, Desc: true}, {Expr: ageOf}} },
		"limit": func(r *plan.Read) { above(r); r.Order, r.Limit = []plan.Order{{Expr: cityOf}}, 7 },
		"not": func(r *plan.Read) {
			r.Vars = append(r.Vars, friend)
			age := plan.Prop{Var: 1, Name: "age", Type: ageOf.Type}
			r.Match = append(r.Match, plan.Not{Match: []plan.Clause{knows,
				plan.Filter{Cond: plan.Compare{Op: plan.Ge, Left: age, Right: plan.ParamRef{}, Unless: plan.NoParam}}}})
		},
		"walk": func(r *plan.Read) {
			above(r)
			far := knows
			far.Walk, far.Min, far.Max = true, 2, 4
			r.Vars, r.Match, r.Ties = append(r.Vars, friend), append(r.Match, far), append(r.Ties[:1:1], 1)
		},
		"search": func(r *plan.Read) {
			above(r)
			r.Match = append(r.Match, plan.Filter{Cond: plan.TextMatch{Prop: cityOf, Query: plan.Lit{Value: str("c3 c5")}}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			kept := read(change)
			ctx := context.Background()
			for _, age := range []int{80, 0, 95, 40, 0, 88} {
				args := engine.Args{num(age)}
				if got, want := rowsOf(t, g, kept, args), rowsOf(t, g, read(change), args); got != want {
					t.Fatalf("age %d: the rows are\n%.500s\nwant\n%.500s", age, got, want)
				}
				for looks := range 3 {
					if r, err := g.Query(&countdown{ctx, looks}, kept, args, engine.Target{}); err == nil {
						r.Close()
					}
				}
				r, err := g.Query(ctx, kept, args, engine.Target{})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := r.Next(ctx); err != nil {
					t.Fatal(err)
				}
				// A second run while the first result is open.
				other, err := g.Query(ctx, kept, engine.Args{num(age / 2)}, engine.Target{})
				if err != nil {
					t.Fatal(err)
				}
				r.Close()
				other.Close()
			}
		})
	}
}

// TestQueryMemory runs a query with enough memory for its limit but not for all its rows. Memory
// that pruning and sorting release must be available again.
func TestQueryMemory(t *testing.T) {
	ctx := context.Background()
	g := create(t, fs.NewMem(), Options{quiet: true, QueryMemory: 600 << 10})
	if err := loadText(g, engine.Merge, manyPeople(0, 400)); err != nil {
		t.Fatal(err)
	}
	pairs := func(limit int64) *plan.Query {
		return read(func(r *plan.Read) {
			r.Vars = append(r.Vars, plan.Var{Name: "q", Type: "Person"})
			r.Match = append(r.Match, plan.Bind{Var: 1})
			r.Order, r.Ties, r.Limit = []plan.Order{{Expr: ageOf, Desc: true}}, []plan.VarID{0, 1}, limit
		})
	}
	for range 2 {
		r, err := g.Query(ctx, pairs(10), engine.Args{value.Null}, engine.Target{})
		if err != nil {
			t.Fatal(err)
		}
		if n, err := drain(ctx, r); n != 10 || err != nil {
			t.Errorf("%d rows, error %v", n, err)
		}
		var tooLarge *engine.TooLarge
		if _, err := g.Query(ctx, pairs(plan.NoLimit), engine.Args{value.Null}, engine.Target{}); !errors.As(err, &tooLarge) {
			t.Errorf("all pairs: error %v, want a *engine.TooLarge", err)
		}
	}
}

// TestSharedMemory runs queries of two graphs with memory for one large result at a time. Small
// results must fit in addition to it, and closing a result must release its memory.
func TestSharedMemory(t *testing.T) {
	ctx := context.Background()
	pairs := read(func(r *plan.Read) {
		r.Vars = append(r.Vars, plan.Var{Name: "q", Type: "Person"})
		r.Match = append(r.Match, plan.Bind{Var: 1})
		r.Order, r.Ties, r.Limit = []plan.Order{{Expr: ageOf, Desc: true}}, []plan.VarID{0, 1}, plan.NoLimit
	})
	open := func(m *Memory) *Graph {
		g := create(t, fs.NewMem(), Options{quiet: true, SharedMemory: m})
		if err := loadText(g, engine.Merge, manyPeople(0, 500)); err != nil {
			t.Fatal(err)
		}
		return g
	}
	all := NewMemory(1 << 40)
	r, err := open(all).Query(ctx, pairs, engine.Args{value.Null}, engine.Target{})
	if err != nil {
		t.Fatal(err)
	}
	one := all.Taken()
	if one < 1<<20 {
		t.Fatalf("a large result takes %d bytes, which proves little", one)
	}
	if err := r.Close(); err != nil || all.Taken() != 0 {
		t.Errorf("%d bytes are taken when the result is closed, %v", all.Taken(), err)
	}

	shared := NewMemory(one)
	a, b := open(shared), open(shared)
	for range 3 {
		r, err := a.Query(ctx, pairs, engine.Args{value.Null}, engine.Target{})
		if err != nil {
			t.Fatal(err)
		}
		var busy *engine.Busy
		if _, err := b.Query(ctx, pairs, engine.Args{value.Null}, engine.Target{}); !errors.As(err, &busy) || !engine.IsRetryable(err) {
			t.Errorf("while a large result is open: error %v, want a *engine.Busy", err)
		}
		if shared.Taken() != one {
			t.Errorf("%d bytes are taken, want %d", shared.Taken(), one)
		}
		small := read(func(r *plan.Read) { r.Limit = 3 })
		if rows := rowsOf(t, b, small, engine.Args{value.Null}); rows == "" {
			t.Error("a small query has no rows")
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if shared.Taken() != 0 {
			t.Errorf("%d bytes are taken when all results are closed", shared.Taken())
		}
	}
}

// TestWalkMemory runs a query with enough memory for a short walk but not for a long one. The nodes
// that a walk visits must count, even if they make no rows.
func TestWalkMemory(t *testing.T) {
	g := create(t, fs.NewMem(), Options{quiet: true, QueryMemory: 40 << 10})
	if err := loadText(g, engine.Merge, manyPeople(0, 20_000)); err != nil {
		t.Fatal(err)
	}
	walk := func(most int) *plan.Query {
		q := walkFrom(1)
		far := q.Read.Match[len(q.Read.Match)-1].(plan.Traverse)
		far.Walk, far.Max = true, most
		q.Read.Match[len(q.Read.Match)-1] = far
		q.Read.Grouped, q.Read.Ties = true, nil
		q.Read.Columns = []plan.Column{{Name: "n", Expr: plan.Agg{Func: plan.Count, Arg: plan.Whole{Var: 1}}, Type: value.Of(value.I64)}}
		return q
	}
	args := engine.Args{str("p000000")}
	short, long := walk(1000), walk(20_000)
	for range 2 {
		if got := rowsOf(t, g, short, args); got != "1000 \n" {
			t.Errorf("a short walk reaches %s", got)
		}
		var tooLarge *engine.TooLarge
		if _, err := g.Query(context.Background(), long, args, engine.Target{}); !errors.As(err, &tooLarge) {
			t.Errorf("a long walk: error %v, want a *engine.TooLarge", err)
		}
	}
}
