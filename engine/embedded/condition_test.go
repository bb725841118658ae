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

// stringsOf returns a list of the texts that the function `text` makes for the numbers from 0 to
// n-1.
func stringsOf(n int, text func(int) string) value.Value {
	elems := make([]value.Value, n)
	for i := range elems {
		elems[i] = str(text(i))
	}
	return value.OfList(value.String, elems)
}

// TestMembersAreLookedUp reads the nodes whose key, id or indexed property is in a list. The plan must
// look each element up instead of scanning the type.
func TestMembersAreLookedUp(t *testing.T) {
	ctx := context.Background()
	g := create(t, fs.NewMem(), Options{})
	text := manyPeople(0, 3000)
	for i := range 2000 {
		text += fmt.Sprintf(`{"type":"Note","data":{"text":"t%d"}}`+"\n", i)
	}
	if err := loadText(g, engine.Append, text); err != nil {
		t.Fatal(err)
	}
	textOf := plan.Prop{Var: 0, Name: "text", Type: value.Of(value.String).Optional()}
	list := plan.Lit{Value: stringsOf(4, func(i int) string { return []string{"p000007", "p002999", "p000007", "p9"}[i] })}
	notes := plan.Lit{Value: stringsOf(3, func(i int) string { return fmt.Sprint("t", i*900) })}
	param := plan.ParamRef{Index: 0}
	for _, c := range []struct {
		name, typ string
		left      plan.Expr
		right     plan.Expr
		unless    int
		arg       value.Value
		operator  string
		rows      int
	}{
		{"key", "Person", nameOf, list, plan.NoParam, value.Null, "lookup Person $p by key $p.name in [", 2},
		{"id", "Person", plan.ID{Var: 0}, list, plan.NoParam, value.Null, "lookup Person $p by id, id($p) in [", 2},
		{"unique property", "Note", textOf, notes, plan.NoParam, value.Null, "lookup Note $p by index $p.text in [", 3},
		{"parameter", "Person", nameOf, param, plan.NoParam, list.Value, "lookup Person $p by key $p.name in $n", 2},
		{"null", "Person", nameOf, param, plan.NoParam, value.Null, "lookup Person $p by key $p.name in $n", 0},
		{"empty list", "Person", nameOf, param, plan.NoParam, stringsOf(0, nil), "lookup Person $p by key $p.name in $n", 0},
		{"given optional list", "Person", nameOf, param, 0, list.Value, "lookup Person $p by key $p.name in $n", 2},
		{"dropped condition", "Person", nameOf, param, 0, value.Null, "lookup Person $p by key $p.name in $n", 3000},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := &plan.Query{Params: []plan.Param{{Name: "n", Type: value.Type{Kind: value.String, List: true, Nullable: true}}}, Read: &plan.Read{
				Vars:    []plan.Var{{Name: "p", Type: c.typ}},
				Match:   []plan.Clause{plan.Bind{Var: 0}, plan.Filter{Cond: plan.Compare{Op: plan.In, Left: c.left, Right: c.right, Unless: c.unless}}},
				Columns: []plan.Column{{Name: "id", Expr: plan.ID{Var: 0}, Type: value.Of(value.String)}},
				Ties:    []plan.VarID{0}, Limit: plan.NoLimit,
			}}
			r, err := g.Query(ctx, q, engine.Args{c.arg}, engine.Target{})
			if err != nil {
				t.Fatal(err)
			}
			if n, err := drain(ctx, r); n != c.rows || err != nil {
				t.Errorf("%d rows, error %v, want %d rows", n, err, c.rows)
			}
			e, err := g.Explain(ctx, q, engine.Args{c.arg}, engine.Target{}, false)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(e.String(), c.operator) {
				t.Errorf("the plan has no %q:\n%s", c.operator, e)
			}
		})
	}
}

// TestLongPatternEnds matches a long text with a large pattern, which would take minutes. The
// context ends after the query has checked it a few times. The query must then return the context's
// error.
func TestLongPatternEnds(t *testing.T) {
	g := create(t, fs.NewMem(), Options{})
	if err := loadText(g, engine.Merge, `{"type":"Person","data":{"name":"ann","city":"`+strings.Repeat("a", 8<<20)+`"}}`); err != nil {
		t.Fatal(err)
	}
	city := plan.Prop{Var: 0, Name: "city", Type: value.Of(value.String).Optional()}
	q := read(func(r *plan.Read) {
		r.Match = append(r.Match, plan.Filter{Cond: plan.Compare{Op: plan.Matches, Left: city, Right: plan.Lit{Value: str("(a?){200}b")}, Unless: plan.NoParam}})
	})
	if _, err := g.Query(&countdown{context.Background(), 40}, q, engine.Args{value.Null}, engine.Target{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the context's error", err)
	}
}

// TestListMemory compares a property with lists in a parameter. The query must refuse a list that
// exceeds its memory.
func TestListMemory(t *testing.T) {
	ctx := context.Background()
	g := create(t, fs.NewMem(), Options{QueryMemory: 300_000})
	if err := loadText(g, engine.Merge, manyPeople(0, 10)); err != nil {
		t.Fatal(err)
	}
	city := plan.Prop{Var: 0, Name: "city", Type: value.Of(value.String).Optional()}
	q := read(func(r *plan.Read) {
		r.Match = append(r.Match, plan.Filter{Cond: plan.Compare{Op: plan.In, Left: city, Right: plan.ParamRef{}, Unless: plan.NoParam}})
	})
	q.Params = []plan.Param{{Name: "n", Type: value.Type{Kind: value.String, List: true}}}
	run := func(n int) error {
		r, err := g.Query(ctx, q, engine.Args{stringsOf(n, func(i int) string { return fmt.Sprint("c", i) })}, engine.Target{})
		if err != nil {
			return err
		}
		rows, err := drain(ctx, r)
		if rows != 10 {
			t.Errorf("%d rows for a list of %d, want 10", rows, n)
		}
		return err
	}
	if err := run(100); err != nil {
		t.Error(err)
	}
	wantError[*engine.TooLarge](t, "a list past the memory", run(100_000))
	if err := run(100); err != nil {
		t.Error(err)
	}
}

// TestBlockMemory reads with a `not` block that binds many variables and keeps no row. The rows of the
// block take 4 kB for each variable, which must count towards the memory of the query.
func TestBlockMemory(t *testing.T) {
	const variables = 200
	q := read(func(r *plan.Read) {
		var match []plan.Clause
		for range variables {
			v := plan.VarID(len(r.Vars))
			r.Vars = append(r.Vars, plan.Var{Name: fmt.Sprint("v", v), Type: "Person"})
			match = append(match, plan.Bind{Var: v}, plan.Filter{Cond: plan.Compare{Op: plan.Eq, Left: plan.Prop{Var: v, Name: "name", Type: value.Of(value.String)}, Right: nameOf, Unless: plan.NoParam}})
		}
		r.Match = append(r.Match, plan.Not{Match: match})
	})
	run := func(memory int64) error {
		ctx := context.Background()
		g := create(t, fs.NewMem(), Options{QueryMemory: memory})
		if err := loadText(g, engine.Merge, manyPeople(0, 10)); err != nil {
			t.Fatal(err)
		}
		r, err := g.Query(ctx, q, engine.Args{value.Null}, engine.Target{})
		if err != nil {
			return err
		}
		_, err = drain(ctx, r)
		return err
	}
	wantError[*engine.TooLarge](t, "a block past the memory", run(4000*variables/2))
	if err := run(1 << 30); err != nil {
		t.Error(err)
	}
}

// TestExplainBlockValue explains a read with a block as a column. The plan must show the steps of the
// block, with the number of rows for which it is true.
func TestExplainBlockValue(t *testing.T) {
	ctx := context.Background()
	g := create(t, fs.NewMem(), Options{})
	if err := loadText(g, engine.Merge, manyPeople(0, 10)); err != nil {
		t.Fatal(err)
	}
	q := read(func(r *plan.Read) {
		r.Vars = append(r.Vars, plan.Var{Name: "q", Type: "Person"})
		first := plan.Compare{Op: plan.Eq, Left: plan.Prop{Var: 1, Name: "name", Type: value.Of(value.String)}, Right: plan.Lit{Value: str("p000003")}, Unless: plan.NoParam}
		same := plan.Compare{Op: plan.Eq, Left: nameOf, Right: plan.Prop{Var: 1, Name: "name", Type: value.Of(value.String)}, Unless: plan.NoParam}
		known := plan.Holds{Block: plan.Exists{Match: []plan.Clause{plan.Bind{Var: 1}, plan.Filter{Cond: first}, plan.Filter{Cond: same}}}, Outer: []plan.VarID{0}}
		r.Columns = []plan.Column{{Name: "known", Expr: known, Type: value.Of(value.Bool)}}
	})
	e, err := g.Explain(ctx, q, engine.Args{value.Null}, engine.Target{}, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"exists (estimate 5, rows 1,", "lookup Person $q by key name = "} {
		if !strings.Contains(e.String(), want) {
			t.Errorf("the plan has no %q:\n%s", want, e)
		}
	}
}
