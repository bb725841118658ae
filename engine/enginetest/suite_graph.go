package enginetest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// versionCases returns the cases of reads during writes, and of the commits that results name.
func versionCases() []testCase {
	names := func(s *session) *plan.Query {
		p := s.read()
		a := p.bind("a", "Person")
		return p.ret(id(a), p.prop(a, "age")).query()
	}
	// before opens a read, runs a write, and then checks that the read returns the crowd as it was
	// before the write.
	before := func(write func(s *session)) func(s *session) {
		return func(s *session) {
			q := names(s)
			head := s.head()
			res, err := s.graph.Query(s.ctx, q, nil, engine.Target{})
			if err != nil {
				s.Fatalf("query: %v", err)
			}
			write(s)
			if res.Commit() != head.ID {
				s.Errorf("the result is from commit %s, want %s", res.Commit(), head.ID)
			}
			rows, err := drain(s.ctx, q, res)
			if err != nil {
				s.Fatalf("read: %v", err)
			}
			if got := strings.Join(formatRows(rows), ", "); got != "ann | 30, bob | 25, cid | 30, dan | null, eve | 41" {
				s.Errorf("the open result saw %s", got)
			}
		}
	}
	return writeCases("version", map[string]func(s *session){
		"an open result does not see an insert": before(func(s *session) { s.mutate(s.change().insert("Person", set{"name": "abe"})) }),
		"an open result does not see an upsert": before(func(s *session) { s.mutate(s.change().insert("Person", set{"name": "ann"})) }),
		"an open result does not see an update": before(func(s *session) { s.mutate(s.change().update("Person", set{"age": 1}, "name", plan.Ge, "")) }),
		"an open result does not see a delete":  before(func(s *session) { s.mutate(s.change().remove("Person", "name", plan.Ge, "")) }),
		"an open result does not see a load":    before(func(s *session) { s.load(engine.Merge, manyPeople(2000)) }),
		"an open result does not see an overwrite": before(func(s *session) {
			s.mutate(s.change().remove("Person", "name", plan.Ge, ""))
			s.load(engine.Overwrite, manyPeople(10))
		}),
		"a commit names its parent and has the next number": func(s *session) {
			first := s.head()
			change, err := s.graph.Mutate(s.ctx, s.change().insert("Person", set{"name": "fay"}).query(), nil, engine.WriteOptions{Actor: "alice"})
			if err != nil || change.Commit == nil {
				s.Fatalf("mutate: %v", err)
			}
			c := change.Commit
			if c.Seq != first.Seq+1 || !slices.Equal(c.Parents, []string{first.ID}) || c.Actor != "alice" || c.Branch != engine.MainBranch ||
				len(c.ID) != 26 || c.ID == first.ID || c.Time.Before(first.Time) || c.Schema != first.Schema {
				s.Errorf("commit %+v after %+v", *c, first)
			}
			if head := s.head(); head.ID != c.ID || head.Seq != c.Seq || change.Head.ID != c.ID {
				s.Errorf("head %+v after commit %+v", head, *c)
			}
		},
		"reads name the commit": func(s *session) {
			s.mutate(s.change().insert("Person", set{"name": "fay"}))
			res, err := s.graph.Query(s.ctx, names(s), nil, engine.Target{})
			if err != nil {
				s.Fatalf("query: %v", err)
			}
			if got := res.Commit(); got != s.head().ID {
				s.Errorf("commit %s, head %s", got, s.head().ID)
			}
			if err := errors.Join(res.Close(), res.Close()); err != nil {
				s.Errorf("close twice: %v", err)
			}
		},
		"a read of the head by its commit id": func(s *session) {
			res, err := s.graph.Query(s.ctx, names(s), nil, engine.Target{Commit: s.head().ID})
			if err != nil {
				s.Fatalf("query: %v", err)
			}
			if rows, err := drain(s.ctx, names(s), res); err != nil || len(rows) != 5 {
				s.Errorf("%d rows, %v", len(rows), err)
			}
		},
		"main by name": func(s *session) {
			branches, err := s.graph.Branches(s.ctx)
			if err != nil || len(branches) != 1 || branches[0].Name != engine.MainBranch || branches[0].Head.ID != s.head().ID {
				s.Errorf("branches %+v, %v", branches, err)
			}
			if _, err := s.graph.Snapshot(s.ctx, engine.Target{Branch: engine.MainBranch}); err != nil {
				s.Errorf("snapshot of main: %v", err)
			}
		},
		"schema": func(s *session) {
			schema, err := s.graph.Schema(s.ctx, engine.Target{})
			if err != nil {
				s.Fatalf("schema: %v", err)
			}
			if schema.Source != sourceText || schema.Digest != s.head().Schema || len(schema.Catalog.Nodes) != 2 || schema.Catalog.Node("City") == nil {
				s.Errorf("schema %+v", schema)
			}
		},
	})
}

// callCases returns the cases of the targets, arguments and contexts of calls.
func callCases() []testCase {
	everybody := func(s *session) *readPlan {
		p := s.read()
		a := p.bind("a", "Person")
		return p.ret(id(a))
	}
	notFound := func(s *session, err error) {
		s.Helper()
		var e *engine.NotFound
		if !errors.As(err, &e) {
			s.Errorf("error %v (%T); want not found", err, err)
		}
	}
	badArgument := func(s *session, err error) {
		s.Helper()
		var e *engine.BadArgument
		if !errors.As(err, &e) {
			s.Errorf("error %v (%T); want a bad argument", err, err)
		}
	}
	ask := func(s *session, q *plan.Query, at engine.Target, args ...any) error {
		res, err := s.graph.Query(s.ctx, q, arguments(args), at)
		if err == nil {
			_, err = drain(s.ctx, q, res)
		}
		return err
	}
	return writeCases("call", map[string]func(s *session){
		"unknown branch": func(s *session) {
			at := engine.Target{Branch: "other"}
			notFound(s, ask(s, everybody(s).query(), at))
			_, err := s.graph.Snapshot(s.ctx, at)
			notFound(s, err)
			_, err = s.graph.Mutate(s.ctx, s.change().insert("Person", set{"name": "x"}).query(), nil, engine.WriteOptions{Branch: "other"})
			notFound(s, err)
			_, err = s.graph.Load(s.ctx, strings.NewReader(crowd), engine.LoadOptions{WriteOptions: engine.WriteOptions{Branch: "other"}})
			notFound(s, err)
		},
		"explain": func(s *session) {
			_, err := s.graph.Explain(s.ctx, everybody(s).query(), nil, engine.Target{Branch: "other"}, false)
			notFound(s, err)
			before := s.head()
			m := s.change().insert("Person", set{"name": "x"}).query()
			e, err := s.graph.Explain(s.ctx, m, nil, engine.Target{}, false)
			if err != nil || len(e.Plan) != 1 {
				s.Errorf("explain of a mutation: %v, error %v", e, err)
			}
			_, err = s.graph.Explain(s.ctx, m, nil, engine.Target{}, true)
			badArgument(s, err)
			if s.head().ID != before.ID {
				s.Errorf("explain has made a commit")
			}
		},
		"unknown commit": func(s *session) {
			notFound(s, ask(s, everybody(s).query(), engine.Target{Commit: "01ARZ3NDEKTSV4RRFFQ69G5FAV"}))
		},
		"another now": func(s *session) {
			p := s.read()
			a := p.bind("a", "Person")
			q := p.match(where(p.prop(a, "seen"), plan.Lt, plan.Now{})).ret(id(a), plan.Now{}).query()
			at := time.Date(2024, 5, 1, 12, 30, 0, 250_999_000, time.UTC)
			for _, tt := range []struct {
				at   time.Time
				want string
			}{
				{at, ""}, // "seen" of both persons is exactly this millisecond, which now() is too
				{at.Add(time.Millisecond), "ann | 2024-05-01T12:30:00.251Z, bob | 2024-05-01T12:30:00.251Z"},
				{time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC), ""},
				{time.Date(3000, 1, 1, 0, 0, 0, 0, time.FixedZone("", 3600)), "ann | 2999-12-31T23:00:00.000Z, bob | 2999-12-31T23:00:00.000Z"},
			} {
				for _, commit := range []string{"", s.head().ID} {
					rows, err := queryAt(s.ctx, s.graph, q, nil, engine.Target{Commit: commit, Now: tt.at})
					if err != nil {
						s.Fatalf("query: %v", err)
					}
					if got := strings.Join(formatRows(rows), ", "); got != tt.want {
						s.Errorf("at %s: got %s, want %s", tt.at, got, tt.want)
					}
				}
				e, err := s.graph.Explain(s.ctx, q, nil, engine.Target{Now: tt.at}, true)
				if err != nil || *e.Plan[0].Rows != int64(strings.Count(tt.want, "|")) {
					s.Errorf("explain at %s: %v, %v", tt.at, e, err)
				}
			}
		},
		"argument of another kind": func(s *session) {
			p := everybody(s)
			p.match(where(p.prop(0, "age"), plan.Eq, p.param("age", i32Type)))
			badArgument(s, ask(s, p.query(), engine.Target{}, "x"))
			badArgument(s, ask(s, p.query(), engine.Target{}, nil))
			badArgument(s, ask(s, p.query(), engine.Target{}))
		},
		"list or vector that does not fit": func(s *session) {
			m := s.change()
			m.insert("Person", set{"name": "fay", "lucky": m.param("lucky", listOf(i32Type).Optional())})
			strings := value.OfList(value.String, []value.Value{value.OfString("x")})
			for _, x := range []any{strings, value.OfI32(1), value.OfList(value.I32, []value.Value{value.OfString("x")})} {
				_, err := s.tryMutate(m, x)
				badArgument(s, err)
			}
			m = s.change()
			m.insert("City", set{"name": "Bern", "place": m.param("place", vectorOf(2))})
			_, err := s.tryMutate(m, []float32{1, 2, 3})
			badArgument(s, err)
			s.mutate(m, []float32{1, 2})
		},
		"mutation argument of the wrong kind": func(s *session) {
			m := s.change()
			m.insert("Person", set{"name": m.param("name", stringType)})
			_, err := s.tryMutate(m, 1)
			badArgument(s, err)
			_, err = s.tryMutate(m, nil)
			badArgument(s, err)
		},
		"plan of another schema": func(s *session) {
			other := shop()
			p := newRead(other)
			i := p.bind("i", "Item")
			q := p.ret(p.prop(i, "number")).query()
			var mismatch *engine.SchemaMismatch
			if err := s.graph.Bind(s.ctx, q, engine.Target{}); !errors.As(err, &mismatch) {
				s.Errorf("bind: %v", err)
			}
			if err := ask(s, q, engine.Target{}); !errors.As(err, &mismatch) {
				s.Errorf("query: %v", err)
			}
			if _, err := s.graph.Mutate(s.ctx, newMutation(other).insert("Box", nil).query(), nil, engine.WriteOptions{}); !errors.As(err, &mismatch) {
				s.Errorf("mutate: %v", err)
			}
			if err := s.graph.Bind(s.ctx, everybody(s).query(), engine.Target{}); err != nil {
				s.Errorf("bind of a plan that fits: %v", err)
			}
		},
		"property of another type": func(s *session) {
			other := people()
			other.Node("Person").Property("age").Type = i64Type
			p := newRead(other)
			a := p.bind("a", "Person")
			var mismatch *engine.SchemaMismatch
			if err := s.graph.Bind(s.ctx, p.ret(p.prop(a, "age")).query(), engine.Target{}); !errors.As(err, &mismatch) {
				s.Errorf("bind: %v", err)
			}
		},
		"one plan runs with many arguments": func(s *session) {
			p := everybody(s)
			p.match(where(p.prop(0, "name"), plan.Eq, p.param("name", stringType)))
			for _, name := range []string{"ann", "eve", "zoe", "ann"} {
				want := name
				if name == "zoe" {
					want = ""
				}
				s.expect(p, want, name)
			}
		},
		"one plan runs before and after a write": func(s *session) {
			p := everybody(s)
			p.match(where(p.prop(0, "age"), plan.Eq, 30))
			s.expect(p, "ann\ncid")
			s.mutate(s.change().update("Person", set{"age": 30}, "name", plan.Eq, "eve"))
			s.expect(p, "ann\ncid\neve")
			s.mutate(s.change().remove("Person", "name", plan.Eq, "ann"))
			s.expect(p, "cid\neve")
		},
		"ended context": func(s *session) {
			ctx, cancel := context.WithCancel(s.ctx)
			cancel()
			if _, err := query(ctx, s.graph, everybody(s).query(), nil); !errors.Is(err, context.Canceled) {
				s.Errorf("query: %v", err)
			}
			if _, err := s.graph.Mutate(ctx, s.change().insert("Person", set{"name": "x"}).query(), nil, engine.WriteOptions{}); !errors.Is(err, context.Canceled) {
				s.Errorf("mutate: %v", err)
			}
			if _, err := s.graph.Load(ctx, strings.NewReader(crowd), engine.LoadOptions{}); !errors.Is(err, context.Canceled) {
				s.Errorf("load: %v", err)
			}
			s.expectPeople(crowdPeople)
		},
	})
}
