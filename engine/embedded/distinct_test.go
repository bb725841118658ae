package embedded

import (
	"context"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// TestDistinctMemory counts and collects more distinct values than the memory of a query holds. Such a read fails, and
// a later one with fewer values is answered.
func TestDistinctMemory(t *testing.T) {
	ctx := context.Background()
	g := create(t, fs.NewMem(), Options{QueryMemory: 250_000})
	if err := loadText(g, engine.Merge, manyPeople(0, 5000)); err != nil {
		t.Fatal(err)
	}
	run := func(a plan.Agg, typ value.Type, fields ...plan.Field) error {
		q := read(func(r *plan.Read) {
			r.Match, r.Grouped, r.Order = []plan.Clause{plan.Bind{Var: 0}}, true, nil
			r.Columns = []plan.Column{{Name: "x", Expr: a, Type: typ, Fields: fields}}
		})
		r, err := g.Query(ctx, q, engine.Args{value.Null}, engine.Target{})
		if err != nil {
			return err
		}
		n, err := drain(ctx, r)
		if err == nil && n != 1 {
			t.Errorf("%d rows, want 1", n)
		}
		return err
	}
	names := value.Type{Kind: value.String, List: true}
	wantError[*engine.TooLarge](t, "a distinct count", run(plan.Agg{Func: plan.Count, Distinct: true, Arg: nameOf}, value.Of(value.I64)))
	wantError[*engine.TooLarge](t, "a list", run(plan.Agg{Func: plan.Collect, Arg: nameOf}, names))
	wantError[*engine.TooLarge](t, "a distinct list", run(plan.Agg{Func: plan.Collect, Distinct: true, Arg: nameOf}, names))
	nodes := value.Type{List: true}
	id := plan.Field{Name: "id", Type: value.Of(value.String)}
	name := plan.Field{Name: "name", Type: value.Of(value.String)}
	wantError[*engine.TooLarge](t, "a distinct list of nodes", run(plan.Agg{Func: plan.Collect, Distinct: true, Arg: plan.Whole{}}, nodes, id))
	wantError[*engine.TooLarge](t, "the fields of a list of nodes", run(plan.Agg{Func: plan.Collect, Arg: plan.Whole{}}, nodes, id, name))
	if err := run(plan.Agg{Func: plan.Collect, Arg: plan.Whole{}}, nodes, id); err != nil {
		t.Error(err)
	}
	if err := run(plan.Agg{Func: plan.Count, Distinct: true, Arg: ageOf}, value.Of(value.I64)); err != nil {
		t.Error(err)
	}
}
