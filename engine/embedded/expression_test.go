package embedded

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/slow"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// joined returns a read of all persons. The read appends the text `right` to each name, and orders
// the rows by the result.
func joined(right plan.Expr) *plan.Query {
	text := plan.Apply{Func: plan.Concat, Args: []plan.Expr{nameOf, right}, Type: value.Of(value.String)}
	return &plan.Query{Params: []plan.Param{{Name: "tail", Type: value.Of(value.String)}}, Read: &plan.Read{
		Vars: allPeople.Read.Vars, Match: allPeople.Read.Match, Columns: []plan.Column{{Name: "text", Expr: text, Type: value.Of(value.String)}},
		Order: []plan.Order{{Expr: text, Desc: true}}, Ties: []plan.VarID{0}, Limit: plan.NoLimit}}
}

// TestJoinedTextsCountAsMemory appends a long text to the names of many persons. The query must
// fail because the results exceed its memory. A text that is appended to itself must exceed the
// maximum size of a text. Other queries must still succeed.
func TestJoinedTextsCountAsMemory(t *testing.T) {
	g := create(t, fs.NewMem(), Options{quiet: true, QueryMemory: 48 << 20})
	if err := loadText(g, engine.Merge, manyPeople(0, 3000)); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	run := func(q *plan.Query, args engine.Args) (int, error) {
		r, err := g.Query(ctx, q, args, engine.Target{})
		if err != nil {
			return 0, err
		}
		return drain(ctx, r)
	}
	tail := func(n int) engine.Args { return engine.Args{str(strings.Repeat("x", n))} }
	twice := plan.Apply{Func: plan.Concat, Args: []plan.Expr{plan.ParamRef{}, plan.ParamRef{}}, Type: value.Of(value.String)}
	for _, tt := range []struct {
		name     string
		q        *plan.Query
		args     engine.Args
		resource string // the limit that the query must exceed; "" if the query must succeed
	}{
		{"short texts", joined(plan.ParamRef{}), tail(1000), ""},
		{"long texts", joined(plan.ParamRef{}), tail(100_000), "bytes of memory for one query"},
		{"short texts again", joined(plan.ParamRef{}), tail(1000), ""},
		{"a constant beyond the greatest text", joined(twice), tail(plan.MaxText/2 + 1), "bytes of a text that + makes"},
	} {
		n, err := run(tt.q, tt.args)
		var tooLarge *engine.TooLarge
		switch {
		case tt.resource == "" && (err != nil || n != 3000):
			t.Errorf("%s: %d rows, %v", tt.name, n, err)
		case tt.resource != "" && (!errors.As(err, &tooLarge) || tooLarge.Resource != tt.resource):
			t.Errorf("%s: %d rows, error %v, want a *engine.TooLarge for %s", tt.name, n, err, tt.resource)
		}
		if n, err := run(allPeople, nil); err != nil || n != 3000 {
			t.Errorf("after %s: %d rows, %v", tt.name, n, err)
		}
	}
}

// TestTooLargeInWhere deletes with a text that exceeds the maximum size. The call must fail.
func TestTooLargeInWhere(t *testing.T) {
	g := create(t, fs.NewMem(), Options{quiet: true})
	must(t, loadText(g, engine.Merge, manyPeople(0, 10)))
	text := plan.Apply{Func: plan.Concat, Args: []plan.Expr{plan.ParamRef{}, plan.ParamRef{}}, Type: value.Of(value.String)}
	for _, op := range []plan.Op{plan.Eq, plan.Ne} {
		q := &plan.Query{Params: []plan.Param{{Name: "x", Type: value.Of(value.String)}}, Mutation: &plan.Mutation{Statements: []plan.Statement{
			plan.Delete{Type: "Person", Where: []plan.Pred{{Name: "name", Type: value.Of(value.String), Op: op, Value: text}}}}}}
		_, err := g.Mutate(t.Context(), q, engine.Args{str(strings.Repeat("x", plan.MaxText/2+1))}, engine.WriteOptions{})
		if tooLarge := (*engine.TooLarge)(nil); !errors.As(err, &tooLarge) {
			t.Errorf("%v: error %v, want a *engine.TooLarge", op, err)
		}
	}
}

// TestConstantIsComputedOnce looks up a computed key for each of many persons. The read must compute
// the key only once.
func TestConstantIsComputedOnce(t *testing.T) {
	g := create(t, fs.NewMem(), Options{quiet: true})
	must(t, loadText(g, engine.Merge, manyPeople(0, 500)))
	text := value.Of(value.String)
	key := plan.Apply{Func: plan.Concat, Args: []plan.Expr{plan.ParamRef{}, plan.ParamRef{}}, Type: text}
	is := func(op plan.Op, left, right plan.Expr) plan.Clause {
		return plan.Filter{Cond: plan.Compare{Op: op, Left: left, Right: right, Unless: plan.NoParam}}
	}
	other := plan.Prop{Var: 1, Name: "name", Type: text}
	q := &plan.Query{Params: []plan.Param{{Name: "x", Type: text}}, Read: &plan.Read{
		Vars: []plan.Var{{Name: "p", Entity: plan.Node, Type: "Person"}, {Name: "q", Entity: plan.Node, Type: "Person"}},
		Match: []plan.Clause{plan.Bind{Var: 0}, plan.Exists{Match: []plan.Clause{
			is(plan.Ne, nameOf, plan.Lit{Value: str("")}), plan.Bind{Var: 1}, is(plan.Eq, other, key)}}},
		Columns: []plan.Column{{Name: "name", Expr: nameOf, Type: text}}, Ties: []plan.VarID{0}, Limit: plan.NoLimit}}
	const size = 1 << 20
	args := engine.Args{str(strings.Repeat("x", size))}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r, err := g.Query(t.Context(), q, args, engine.Target{})
	if err == nil {
		_, err = drain(t.Context(), r)
	}
	must(t, err)
	runtime.ReadMemStats(&after)
	if bytes := after.TotalAlloc - before.TotalAlloc; bytes > 20*size {
		t.Errorf("the read allocated %d bytes, want at most %d", bytes, 20*size)
	}
}

// TestComputedFilterMakesNoGarbage compares the allocations of a filter on a computed number over
// few and over many rows. The filter may allocate for each frame of 1,024 rows, but not for each
// row.
func TestComputedFilterMakesNoGarbage(t *testing.T) {
	slow.Test(t)
	ctx := context.Background()
	half := plan.Apply{Func: plan.Divide, Args: []plan.Expr{ageOf, plan.Lit{Value: value.OfI64(2)}}, Type: value.Of(value.F64).Optional()}
	sum := plan.Apply{Func: plan.Add, Args: []plan.Expr{half, plan.Apply{Func: plan.Abs, Args: []plan.Expr{ageOf}, Type: ageOf.Type}}, Type: value.Of(value.F64).Optional()}
	q := read(func(r *plan.Read) {
		r.Match = append(r.Match, plan.Filter{Cond: plan.Compare{Op: plan.Gt, Left: sum, Right: plan.Lit{Value: value.OfF64(1e6)}, Unless: plan.NoParam}})
	})
	allocs := map[int]float64{}
	for _, people := range []int{4000, 40_000} {
		g := create(t, fs.NewMem(), Options{quiet: true})
		if err := loadText(g, engine.Merge, manyPeople(0, people)); err != nil {
			t.Fatal(err)
		}
		allocs[people] = testing.AllocsPerRun(5, func() {
			r, err := g.Query(ctx, q, engine.Args{value.Null}, engine.Target{})
			if err == nil {
				_, err = drain(ctx, r)
			}
			if err != nil {
				t.Fatal(err)
			}
		})
	}
	if more := allocs[40_000] - allocs[4000]; more > 360 {
		t.Errorf("36,000 more rows make %.0f more allocations: %v", more, allocs)
	}
}

// TestBranchesThatNoRowNeeds reads an `if` and a `coalesce` with an argument whose computation would
// fail. No row needs that argument, so the read must succeed.
func TestBranchesThatNoRowNeeds(t *testing.T) {
	ctx := context.Background()
	g := create(t, fs.NewMem(), Options{})
	if err := loadText(g, engine.Merge, `{"type":"Person","data":{"name":"ann","city":"`+strings.Repeat("a", plan.MaxText/2+1)+`"}}`); err != nil {
		t.Fatal(err)
	}
	str := value.Of(value.String)
	city := plan.Prop{Var: 0, Name: "city", Type: str.Optional()}
	double := plan.Apply{Func: plan.Concat, Args: []plan.Expr{city, city}, Type: str.Optional()}
	long := plan.Test{Cond: plan.Compare{Op: plan.Gt, Left: plan.Apply{Func: plan.Length, Args: []plan.Expr{city}, Type: value.Of(value.I32).Optional()}, Right: plan.Lit{Value: value.OfI64(9)}, Unless: plan.NoParam}}
	name := plan.Prop{Var: 0, Name: "name", Type: str}
	for text, e := range map[string]plan.Expr{
		"if":       plan.Apply{Func: plan.If, Args: []plan.Expr{long, name, double}, Type: str.Optional()},
		"coalesce": plan.Apply{Func: plan.Coalesce, Args: []plan.Expr{name, double}, Type: str},
	} {
		q := read(func(r *plan.Read) { r.Columns = []plan.Column{{Name: "x", Expr: e, Type: str.Optional()}} })
		r, err := g.Query(ctx, q, engine.Args{value.Null}, engine.Target{})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if n, err := drain(ctx, r); n != 1 || err != nil {
			t.Errorf("%s: %d rows, error %v", text, n, err)
		}
	}
}
