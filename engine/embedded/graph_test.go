package embedded

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

func wantError[E error](t *testing.T, what string, err error) {
	t.Helper()
	if target := *new(E); !errors.As(err, &target) {
		t.Errorf("%s: error %v (%T), want %T", what, err, err, target)
	}
}

func TestCreateAndOpen(t *testing.T) {
	ctx := context.Background()
	fsys := fs.NewMem()
	_, err := Open(ctx, fsys, dir, Options{})
	wantError[*engine.NotFound](t, "opening nothing", err)
	g := create(t, fsys, Options{LogSize: 8192})
	_, err = Open(ctx, fsys, dir, Options{})
	wantError[*engine.Unavailable](t, "opening an open graph", err)
	before, err := g.Schema(ctx, engine.Target{})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	if err := g.Close(); err != nil {
		t.Errorf("closing twice: %v", err)
	}
	_, err = g.Snapshot(ctx, engine.Target{})
	wantError[*engine.Unavailable](t, "a call after the end", err)
	_, err = Create(ctx, fsys, dir, "", people(), Options{})
	wantError[*engine.Conflict](t, "creating an existing graph", err)
	g, err = Open(ctx, fsys, dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	after, err := g.Schema(ctx, engine.Target{})
	if err != nil || after.Digest != before.Digest || after.Source != "// people" || after.Catalog.Node("Person") == nil {
		t.Errorf("the schema is %+v, error %v; want digest %s", after, err, before.Digest)
	}
}

func TestTargets(t *testing.T) {
	ctx := context.Background()
	g := create(t, fs.NewMem(), Options{LogSize: 8192})
	s, err := g.Snapshot(ctx, engine.Target{})
	if err != nil || s.Commit.Seq != 1 || len(s.Commit.Parents) != 0 {
		t.Fatalf("the first commit is %+v, error %v", s, err)
	}
	change, err := g.Mutate(ctx, insertPerson, engine.Args{str("ann"), num(1)}, engine.WriteOptions{Actor: "tester"})
	if err != nil {
		t.Fatal(err)
	}
	if c := change.Commit; c == nil || c.Seq != 2 || c.Actor != "tester" || len(c.Parents) != 1 || c.Parents[0] != s.Commit.ID || c.Schema != s.Commit.Schema || c.Branch != "main" {
		t.Errorf("the commit is %+v", c)
	}
	if _, err := g.Snapshot(ctx, engine.Target{Branch: "main", Commit: change.Head.ID}); err != nil {
		t.Errorf("the head by its id: %v", err)
	}
	if early, err := g.Snapshot(ctx, engine.Target{Commit: s.Commit.ID}); err != nil || early.Commit.ID != s.Commit.ID || early.Nodes[0].Count != 0 {
		t.Errorf("the first commit is %+v, error %v", early, err)
	}
	_, err = g.Snapshot(ctx, engine.Target{Commit: "01ARZ3NDEKTSV4RRFFQ69G5FAV"})
	wantError[*engine.NotFound](t, "a commit that does not exist", err)
	_, err = g.Snapshot(ctx, engine.Target{Branch: "other"})
	wantError[*engine.NotFound](t, "another branch", err)
	_, err = g.Mutate(ctx, insertPerson, engine.Args{str("ann"), num(1)}, engine.WriteOptions{Branch: "other"})
	wantError[*engine.NotFound](t, "a write to another branch", err)
	branches, err := g.Branches(ctx)
	if err != nil || len(branches) != 1 || branches[0].Head.ID != change.Head.ID {
		t.Errorf("branches are %+v, error %v", branches, err)
	}
}

func TestRefusedCalls(t *testing.T) {
	ctx := context.Background()
	g := create(t, fs.NewMem(), Options{LogSize: 8192, QueryMemory: 1000})
	if err := loadText(g, engine.Merge, manyPeople(0, 2000)); err != nil {
		t.Fatal(err)
	}
	query := func(q *plan.Query, args ...value.Value) error {
		r, err := g.Query(ctx, q, args, engine.Target{})
		if err == nil {
			r.Close()
		}
		return err
	}
	wantError[*engine.TooLarge](t, "more rows than the memory", query(allPeople))
	wantError[*engine.BadArgument](t, "no argument", query(personByName))
	wantError[*engine.BadArgument](t, "an argument of another kind", query(personByName, num(1)))
	wantError[*engine.BadArgument](t, "null for a required parameter", query(personByName, value.Null))
	wantError[*engine.SchemaMismatch](t, "a mutation as a query", query(insertPerson, str("x"), num(1)))

	for _, score := range []plan.Expr{plan.Nearest{Prop: nameOf}, plan.RRF{}} {
		q := &plan.Query{Read: &plan.Read{Vars: allPeople.Read.Vars, Match: allPeople.Read.Match, Columns: allPeople.Read.Columns,
			Order: []plan.Order{{Expr: score}}, Ties: []plan.VarID{0}, Limit: 3}}
		wantError[*engine.SchemaMismatch](t, "a score without operands", g.Bind(ctx, q, engine.Target{}))
	}
	words := plan.BM25{Prop: nameOf, Query: plan.Lit{Value: str("x")}}
	circle := &plan.Query{Read: &plan.Read{Vars: allPeople.Read.Vars, Columns: allPeople.Read.Columns, Ties: []plan.VarID{0}, Limit: 3,
		Match: []plan.Clause{plan.Bind{Var: 0}, plan.Filter{Cond: plan.Compare{Left: plan.RRF{First: words, Second: words}, Right: plan.Lit{Value: value.OfF64(1)}, Unless: plan.NoParam}}}}}
	wantError[*engine.Unsupported](t, "a condition on ranks", g.Bind(ctx, circle, engine.Target{}))
	unknown := &plan.Query{Read: allPeople.Read, Uses: []plan.Use{{Type: "Person", Property: "height", Value: value.Of(value.I32)}}}
	wantError[*engine.SchemaMismatch](t, "a property that is gone", g.Bind(ctx, unknown, engine.Target{}))
	narrowed := &plan.Query{Mutation: deletePerson.Mutation, Params: deletePerson.Params, Uses: []plan.Use{{Type: "Person", Property: "age", Value: value.Of(value.I32)}}}
	wantError[*engine.SchemaMismatch](t, "a property that has become nullable", g.Bind(ctx, narrowed, engine.Target{}))
}

// TestCancellation cancels the context of a query that would otherwise run for a long time.
func TestCancellation(t *testing.T) {
	g := create(t, fs.NewMem(), Options{LogSize: 8192})
	if err := loadText(g, engine.Merge, manyPeople(0, 2000)); err != nil {
		t.Fatal(err)
	}
	// A cross product of 2000³ rows, all of which the query discards.
	never := plan.Filter{Cond: plan.Compare{Left: plan.Prop{Var: 2, Name: "city", Type: value.Of(value.String).Optional()}, Right: plan.Prop{Var: 0, Name: "name", Type: value.Of(value.String)}, Unless: plan.NoParam}}
	person := plan.Var{Name: "p", Type: "Person"}
	q := &plan.Query{Read: &plan.Read{Vars: []plan.Var{person, person, person}, Match: []plan.Clause{plan.Bind{Var: 0}, plan.Bind{Var: 1}, plan.Bind{Var: 2}, never},
		Columns: allPeople.Read.Columns, Ties: []plan.VarID{0, 1, 2}, Limit: plan.NoLimit}}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
	defer cancel()
	begin := clock.Now()
	_, err := g.Query(ctx, q, nil, engine.Target{})
	if took := clock.Since(begin); !errors.Is(err, context.DeadlineExceeded) || took > 2*time.Second {
		t.Errorf("error %v after %v, want %v after 30ms", err, took, context.DeadlineExceeded)
	}
	if _, err := g.Load(ctx, strings.NewReader(manyPeople(0, 10)), engine.LoadOptions{Mode: engine.Append}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("load: error %v, want %v", err, context.DeadlineExceeded)
	}
}
