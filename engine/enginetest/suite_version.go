package enginetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// fork creates a branch. It fails the case on an error.
func (s *session) fork(name, from string) engine.Branch {
	s.Helper()
	b, err := s.graph.CreateBranch(s.ctx, name, engine.Target{Branch: from})
	if err != nil {
		s.Fatalf("create branch %s: %v", name, err)
	}
	return b
}

// on runs a mutation on a branch. It fails the case on an error.
func (s *session) on(branch string, m *mutationPlan, args ...any) engine.Change {
	s.Helper()
	c, err := s.graph.Mutate(s.ctx, m.query(), arguments(args), engine.WriteOptions{Branch: branch})
	if err != nil {
		s.Fatalf("mutate %s: %v\n%s", branch, err, planText(m.query()))
	}
	return c
}

// ages lists the names and ages at a target.
func (s *session) ages(at engine.Target) string {
	s.Helper()
	p := s.read()
	a := p.bind("a", "Person")
	rows, err := queryAt(s.ctx, s.graph, p.ret(id(a), p.prop(a, "age")).query(), nil, at)
	if err != nil {
		s.Fatalf("query at %+v: %v", at, err)
	}
	return strings.ReplaceAll(strings.Join(formatRows(rows), ", "), " | ", " ")
}

// expectAges checks the names and ages of the persons on a branch.
func (s *session) expectAges(branch, want string) {
	s.Helper()
	if got := s.ages(engine.Target{Branch: branch}); got != want {
		s.Errorf("branch %q has %s, want %s", branch, got, want)
	}
}

// expectError checks that err has the type E.
func expectError[E error](s *session, err error) {
	s.Helper()
	var want E
	if !errors.As(err, &want) {
		s.Errorf("error %v (%T), want %T", err, err, want)
	}
}

// crowdAges lists the names and ages of the persons in the crowd, for expectAges.
const crowdAges = "ann 30, bob 25, cid 30, dan null, eve 41"

// branchCases returns the cases of branches.
func branchCases() []testCase {
	age := func(s *session, name string, age int) *mutationPlan {
		return s.change().update("Person", set{"age": age}, "name", plan.Eq, name)
	}
	return writeCases("branch", map[string]func(s *session){
		"begins at the head of its origin": func(s *session) {
			head := s.head()
			b := s.fork("side", "")
			if b.Name != "side" || b.Head.ID != head.ID {
				s.Errorf("branch %+v, head of main %+v", b, head)
			}
			s.expectAges("side", crowdAges)
			c := s.on("side", age(s, "ann", 31)).Commit
			if c.Seq != head.Seq+1 || c.Branch != "side" || !slices.Equal(c.Parents, []string{head.ID}) {
				s.Errorf("commit %+v after %+v", c, head)
			}
			all, err := s.graph.Branches(s.ctx)
			if err != nil || len(all) != 2 || all[0].Name != "main" || all[0].Head.ID != head.ID || all[1].Name != "side" || all[1].Head.ID != c.ID {
				s.Errorf("branches %+v, %v", all, err)
			}
		},
		"of a branch, of a commit, at least a commit": func(s *session) {
			origin := s.head()
			s.fork("one", "")
			head := *s.on("one", age(s, "ann", 1)).Commit
			s.fork("two", "one")
			s.expectAges("two", "ann 1, bob 25, cid 30, dan null, eve 41")
			if _, err := s.graph.CreateBranch(s.ctx, "three", engine.Target{Commit: head.ID}); err != nil {
				s.Errorf("from a commit: %v", err)
			}
			s.expectAges("three", "ann 1, bob 25, cid 30, dan null, eve 41")
			s.on("", age(s, "ann", 5))
			if got := s.ages(engine.Target{Commit: origin.ID}); got != crowdAges {
				s.Errorf("the commit that two branches descend from has %s", got)
			}
			if got := s.ages(engine.Target{Branch: "one", AtLeast: origin.ID}); !strings.HasPrefix(got, "ann 1,") {
				s.Errorf("reading at least the origin: %s", got)
			}
			_, err := s.graph.Snapshot(s.ctx, engine.Target{AtLeast: head.ID})
			expectError[*engine.NotFound](s, err)
		},
		"as of an instant": func(s *session) {
			origin := s.head()
			s.on("", age(s, "ann", 1))
			s.fork("one", "")
			for n := 2; n < 6; n++ {
				s.on("one", age(s, "ann", n))
				s.on("", age(s, "ann", 10+n))
			}
			for _, branch := range []string{"", "one"} {
				commits, err := s.graph.Commits(s.ctx, branch, engine.CommitRange{})
				if err != nil {
					s.Fatalf("%v", err)
				}
				for _, c := range commits {
					newest := commits[slices.IndexFunc(commits, func(o engine.Commit) bool { return o.Time.Equal(c.Time) })]
					snap, err := s.graph.Snapshot(s.ctx, engine.Target{Branch: branch, AsOf: c.Time})
					if err != nil || snap.Commit.ID != newest.ID {
						s.Errorf("branch %q as of %s: %+v, %v; want commit %d", branch, c.Time, snap, err, newest.Seq)
					}
					if got, want := s.ages(engine.Target{Branch: branch, AsOf: c.Time}), s.ages(engine.Target{Commit: newest.ID}); got != want {
						s.Errorf("branch %q as of %s has %s, want %s", branch, c.Time, got, want)
					}
					p := s.read()
					a := p.bind("a", "Person")
					q := p.ret(id(a), p.prop(a, "age")).query()
					at, err := value.DateTimeFrom(c.Time)
					if err != nil {
						s.Fatalf("%v", err)
					}
					q.Params = append(q.Params, plan.Param{Name: "t", Type: value.Of(value.DateTime)})
					q.AsOf = plan.ParamRef{Index: len(q.Params) - 1}
					rows, err := queryAt(s.ctx, s.graph, q, engine.Args{value.OfDateTime(at)}, engine.Target{Branch: branch})
					if got := strings.ReplaceAll(strings.Join(formatRows(rows), ", "), " | ", " "); err != nil || got != s.ages(engine.Target{Commit: newest.ID}) {
						s.Errorf("a query on branch %q as of %s: %s, %v", branch, c.Time, got, err)
					}
				}
				_, err = s.graph.Snapshot(s.ctx, engine.Target{Branch: branch, AsOf: origin.Time.Add(-time.Hour * 24 * 365 * 20)})
				expectError[*engine.NotFound](s, err)
				_, err = s.graph.Snapshot(s.ctx, engine.Target{Branch: branch, AsOf: origin.Time.Add(time.Hour * 24 * 365 * 20)})
				expectError[*engine.BadArgument](s, err)
				old, err := s.graph.Snapshot(s.ctx, engine.Target{Commit: commits[0].ID, AsOf: origin.Time})
				if err != nil || old.Commit.Time.After(origin.Time) {
					s.Errorf("a commit of branch %q as of the origin: %+v, %v", branch, old, err)
				}
			}
			if _, err := s.graph.CreateBranch(s.ctx, "back", engine.Target{Branch: "one", AsOf: origin.Time}); err != nil {
				s.Fatalf("%v", err)
			}
			if snap, err := s.graph.Snapshot(s.ctx, engine.Target{Branch: "back"}); err != nil || snap.Commit.Time.After(origin.Time) {
				s.Errorf("a branch from the past begins at %+v, %v", snap, err)
			}
		},
		"loads": func(s *session) {
			s.fork("side", "")
			opts := engine.LoadOptions{Mode: engine.Overwrite, WriteOptions: engine.WriteOptions{Branch: "side"}}
			s.on("side", s.change().unlink("Knows", "id", plan.Ge, "").unlink("Follows", "id", plan.Ge, "").unlink("LivesIn", "id", plan.Ge, ""))
			if _, err := s.graph.Load(s.ctx, strings.NewReader(manyPeople(2000)), opts); err != nil {
				s.Fatalf("load: %v", err)
			}
			s.fork("more", "side")
			s.on("more", s.change().remove("Person", "name", plan.Ge, ""))
			s.expectAges("more", "")
			s.expectAges("", crowdAges)
			snap, err := s.graph.Snapshot(s.ctx, engine.Target{Branch: "side"})
			if err != nil || snap.Nodes[0].Count != 2000 {
				s.Errorf("snapshot %+v, %v", snap, err)
			}
		},
		"deleted and created again": func(s *session) {
			s.fork("side", "")
			s.on("side", age(s, "ann", 1))
			s.fork("other", "side")
			if err := s.graph.DeleteBranch(s.ctx, "side"); err != nil {
				s.Fatalf("delete: %v", err)
			}
			expectError[*engine.NotFound](s, s.graph.DeleteBranch(s.ctx, "side"))
			_, err := s.graph.Snapshot(s.ctx, engine.Target{Branch: "side"})
			expectError[*engine.NotFound](s, err)
			_, err = s.graph.Mutate(s.ctx, age(s, "ann", 2).query(), nil, engine.WriteOptions{Branch: "side"})
			expectError[*engine.NotFound](s, err)
			s.expectAges("other", "ann 1, bob 25, cid 30, dan null, eve 41")
			s.fork("side", "")
			s.expectAges("side", crowdAges)
		},
		"deleted only at its head": func(s *session) {
			before := s.fork("side", "").Head.ID
			head := s.on("side", age(s, "ann", 1)).Commit.ID
			err := s.graph.DeleteBranchAt(s.ctx, "side", before)
			var elsewhere *engine.PreconditionFailed
			if !errors.As(err, &elsewhere) || elsewhere.Expected != before || elsewhere.Actual != head {
				s.Errorf("deleting at %s: error %v, want an error that names %s", before, err, head)
			}
			s.expectAges("side", "ann 1, bob 25, cid 30, dan null, eve 41")
			if err := s.graph.DeleteBranchAt(s.ctx, "side", head); err != nil {
				s.Errorf("deleting at the head: %v", err)
			}
			expectError[*engine.NotFound](s, s.graph.DeleteBranchAt(s.ctx, "side", head))
			expectError[*engine.Conflict](s, s.graph.DeleteBranchAt(s.ctx, "main", s.head().ID))
		},
		"refused": func(s *session) {
			expectError[*engine.Conflict](s, s.graph.DeleteBranch(s.ctx, "main"))
			expectError[*engine.Conflict](s, s.graph.DeleteBranch(s.ctx, ""))
			s.fork("side", "")
			for _, name := range []string{"main", "side"} {
				_, err := s.graph.CreateBranch(s.ctx, name, engine.Target{})
				expectError[*engine.Conflict](s, err)
			}
			_, err := s.graph.CreateBranch(s.ctx, "new", engine.Target{Branch: "none"})
			expectError[*engine.NotFound](s, err)
			_, err = s.graph.CreateBranch(s.ctx, "new", engine.Target{Commit: "01ARZ3NDEKTSV4RRFFQ69G5FAV"})
			expectError[*engine.NotFound](s, err)
			for _, name := range []string{"", "/a", "a/", "a//b", "..", "a/../b", ".", "./a", "a/.", "a/./b", "a b", "ä", "\xff", strings.Repeat("x", 201)} {
				_, err := s.graph.CreateBranch(s.ctx, name, engine.Target{})
				expectError[*engine.BadArgument](s, err)
			}
			for _, name := range []string{"a", "A-1_2.3/b..c/.d", strings.Repeat("x", 200)} {
				s.fork(name, "")
			}
		},
		"commits": func(s *session) {
			s.on("", age(s, "ann", 1))
			s.fork("side", "")
			s.on("side", age(s, "ann", 2))
			last := s.on("side", age(s, "ann", 3)).Commit
			s.on("", age(s, "bob", 3))
			list := func(branch string, r engine.CommitRange) string {
				all, err := s.graph.Commits(s.ctx, branch, r)
				if err != nil {
					s.Fatalf("commits: %v", err)
				}
				return texts(all, func(c engine.Commit) string { return fmt.Sprint(c.Seq, " ", c.Branch) })
			}
			for _, c := range []struct {
				branch string
				r      engine.CommitRange
				want   string
			}{
				{"side", engine.CommitRange{}, "5 side; 4 side; 3 main; 2 main; 1 main"},
				{"side", engine.CommitRange{Limit: 2}, "5 side; 4 side"},
				{"side", engine.CommitRange{Before: 4, Limit: 2}, "3 main; 2 main"},
				{"", engine.CommitRange{Before: 1}, ""},
				{"main", engine.CommitRange{Before: 9}, "4 main; 3 main; 2 main; 1 main"},
			} {
				if got := list(c.branch, c.r); got != c.want {
					s.Errorf("commits of %s in %+v: %s, want %s", c.branch, c.r, got, c.want)
				}
			}
			got, err := s.graph.Commit(s.ctx, last.ID)
			if err != nil || got.ID != last.ID || got.Seq != last.Seq || !got.Time.Equal(last.Time) || got.Schema != last.Schema || !slices.Equal(got.Parents, last.Parents) {
				s.Errorf("commit %+v, %v; want %+v", got, err, *last)
			}
			_, err = s.graph.Commits(s.ctx, "none", engine.CommitRange{})
			expectError[*engine.NotFound](s, err)
			_, err = s.graph.Commit(s.ctx, "01ARZ3NDEKTSV4RRFFQ69G5FAV")
			expectError[*engine.NotFound](s, err)
		},
	})
}

// writeOptionCases returns the cases of the options of writes.
func writeOptionCases() []testCase {
	birth := func(s *session, name string) *mutationPlan {
		return s.change().insert("Person", set{"name": name, "age": 0})
	}
	return writeCases("write option", map[string]func(s *session){
		"if commit": func(s *session) {
			head := s.head()
			q := birth(s, "fay").query()
			if _, err := s.graph.Mutate(s.ctx, q, nil, engine.WriteOptions{IfCommit: head.ID}); err != nil {
				s.Errorf("at the head: %v", err)
			}
			_, err := s.graph.Mutate(s.ctx, birth(s, "gil").query(), nil, engine.WriteOptions{IfCommit: head.ID})
			var failed *engine.PreconditionFailed
			if !errors.As(err, &failed) || failed.Expected != head.ID || failed.Actual != s.head().ID {
				s.Errorf("writing at an older commit: error %v", err)
			}
			_, err = s.graph.Load(s.ctx, strings.NewReader(crowd), engine.LoadOptions{WriteOptions: engine.WriteOptions{IfCommit: head.ID}})
			expectError[*engine.PreconditionFailed](s, err)
			s.expectAges("", crowdAges+", fay 0")
		},
		"dry run": func(s *session) {
			head := s.head()
			dry := engine.WriteOptions{DryRun: true}
			c, err := s.graph.Mutate(s.ctx, birth(s, "fay").query(), nil, dry)
			if err != nil || c.Nodes != 1 || c.Commit != nil || c.Head.ID != head.ID {
				s.Errorf("change %+v, %v", c, err)
			}
			l, err := s.graph.Load(s.ctx, strings.NewReader(manyPeople(2000)), engine.LoadOptions{WriteOptions: dry})
			if err != nil || l.Commit != nil || l.Nodes[0].Count != 2000 {
				s.Errorf("load %+v, %v", l, err)
			}
			_, err = s.graph.Mutate(s.ctx, s.change().link("Knows", "ann", "nobody", nil).query(), nil, dry)
			expectError[*engine.ConstraintViolation](s, err)
			s.expectAges("", crowdAges)
			s.mutate(birth(s, "gil"))
			s.expectAges("", crowdAges+", gil 0")
		},
		"message": func(s *session) {
			const words = "why\nè ✓"
			opts := engine.WriteOptions{Message: words, IdempotencyKey: "k"}
			first, err := s.graph.Mutate(s.ctx, birth(s, "fay").query(), nil, opts)
			if err != nil || first.Commit == nil || first.Commit.Message != words || first.Head.Message != words {
				s.Fatalf("mutate: %+v, %v", first, err)
			}
			s.fork("side", "")
			opts.Message = "other words"
			again, err := s.graph.Mutate(s.ctx, birth(s, "fay").query(), nil, opts) // the message is not a part of the request
			if err != nil || again.Commit == nil || again.Commit.ID != first.Commit.ID || again.Commit.Message != words {
				s.Errorf("again: %+v, %v", again, err)
			}
			on := engine.WriteOptions{Branch: "side", Message: "a load"}
			if _, err := s.graph.Load(s.ctx, strings.NewReader(`{"type":"Person","data":{"name":"gil"}}`), engine.LoadOptions{WriteOptions: on}); err != nil {
				s.Fatalf("load: %v", err)
			}
			if _, err := s.graph.Merge(s.ctx, "side", "", engine.MergeOptions{Message: "a merge"}); err != nil {
				s.Fatalf("merge: %v", err)
			}
			s.mutate(birth(s, "hal"))
			var found []string
			for _, c := range slices.Backward(s.line("")) {
				one, err := s.graph.Commit(s.ctx, c.ID)
				if err != nil || one.Message != c.Message {
					s.Errorf("commit %+v, listed %+v, %v", one, c, err)
				}
				found = append(found, c.Message)
			}
			if want := []string{"", "a merge", words}; len(found) < 3 || !slices.Equal(found[:3], want) {
				s.Errorf("messages %q, want first %q", found, want)
			}
			for _, bad := range []string{"\x00", "a\tb", "a\rb", "\x7f", "\u0085", "\xff", "a\xe2\x9c", strings.Repeat("x", engine.MaxMessage+1)} {
				opts := engine.WriteOptions{Message: bad}
				_, mutated := s.graph.Mutate(s.ctx, birth(s, "ida").query(), nil, opts)
				_, loaded := s.graph.Load(s.ctx, strings.NewReader(`{"type":"Person","data":{"name":"ida"}}`), engine.LoadOptions{WriteOptions: opts})
				_, merged := s.graph.Merge(s.ctx, "side", "", engine.MergeOptions{Message: bad})
				for _, err := range []error{mutated, loaded, merged} {
					expectError[*engine.BadArgument](s, err)
				}
			}
			if _, err := s.graph.Mutate(s.ctx, birth(s, "ida").query(), nil, engine.WriteOptions{Message: strings.Repeat("x", engine.MaxMessage)}); err != nil {
				s.Errorf("the longest message: %v", err)
			}
		},
		"idempotency key": func(s *session) {
			opts := engine.WriteOptions{IdempotencyKey: "k", Actor: "a"}
			m := s.change().insert("City", set{"name": "Bern"})
			first, err := s.graph.Mutate(s.ctx, m.query(), nil, opts)
			if err != nil || first.Commit == nil {
				s.Fatalf("mutate: %v", err)
			}
			s.mutate(birth(s, "fay"))
			again, err := s.graph.Mutate(s.ctx, m.query(), nil, opts)
			if err != nil || again.Commit == nil || again.Commit.ID != first.Commit.ID || again.Nodes != 1 {
				s.Errorf("again: %+v, %v; first %+v", again, err, first)
			}
			_, err = s.graph.Mutate(s.ctx, s.change().insert("City", set{"name": "Rome"}).query(), nil, opts)
			expectError[*engine.Conflict](s, err)
			_, err = s.graph.Load(s.ctx, strings.NewReader(crowd), engine.LoadOptions{WriteOptions: opts})
			expectError[*engine.Conflict](s, err)
			// A key that another actor uses, or that is used on another branch, counts as a
			// different key.
			s.fork("side", "")
			for _, o := range []engine.WriteOptions{{IdempotencyKey: "k", Actor: "b"}, {IdempotencyKey: "k", Actor: "a", Branch: "side"}} {
				c, err := s.graph.Mutate(s.ctx, m.query(), nil, o)
				if err != nil || c.Commit == nil || c.Commit.ID == first.Commit.ID {
					s.Errorf("as %+v: %+v, %v", o, c, err)
				}
			}
		},
		"idempotency key of a named statement": func(s *session) {
			write := func(key, name, city string) (engine.Change, error) {
				return s.graph.Mutate(s.ctx, s.change().insert("City", set{"name": city}).query(), nil, engine.WriteOptions{IdempotencyKey: key, Statement: name})
			}
			for key, names := range map[string][2]string{"by name": {"add", "add"}, "by the plan, as older programs did": {"", "add"}} {
				first, err := write(key, names[0], "Bern"+key)
				if err != nil || first.Commit == nil {
					s.Fatalf("%s: %+v, %v", key, first, err)
				}
				again, err := write(key, names[1], "Bern"+key)
				if err != nil || again.Commit == nil || again.Commit.ID != first.Commit.ID {
					s.Errorf("%s again: %+v, %v; first %+v", key, again, err, first)
				}
				_, err = write(key, "other", "Rome")
				expectError[*engine.Conflict](s, err)
			}
			changed, err := write("by name", "add", "Rome")
			if err != nil || changed.Nodes != 1 {
				s.Errorf("the statement with another plan: %+v, %v", changed, err)
			}
			_, err = write("by the plan, as older programs did", "add", "Rome")
			expectError[*engine.Conflict](s, err)
			_, err = write("by name", "", "Bern by name")
			expectError[*engine.Conflict](s, err)
		},
		"idempotency key of a named statement with other columns or another order of parameters": func(s *session) {
			opts := engine.WriteOptions{IdempotencyKey: "k", Statement: "add"}
			write := func(columns int, names, values []string) (engine.Change, error) {
				m, args := s.change(), engine.Args{}
				var city plan.ParamRef
				for i, name := range names {
					if p := m.param(name, value.Of(value.String)); name == "city" {
						city = p
					}
					args = append(args, value.OfString(values[i]))
				}
				v := m.insert("City", set{"name": city}).named("c")
				return s.graph.Mutate(s.ctx, m.returns([]plan.Expr{m.prop(v, "name"), plan.ID{Var: v}}[:columns]...).query(), args, opts)
			}
			names, values := []string{"city", "note"}, []string{"Bern", "n"}
			first, err := write(1, names, values)
			if err != nil || first.Commit == nil {
				s.Fatalf("%+v, %v", first, err)
			}
			for _, order := range [][2][]string{{names, values}, {{"note", "city"}, {"n", "Bern"}}} {
				if again, err := write(1, order[0], order[1]); err != nil || again.Commit == nil || again.Commit.ID != first.Commit.ID || len(again.Row) != 1 {
					s.Errorf("again with %v: %+v, %v", order, again, err)
				}
			}
			for _, columns := range []int{0, 2} {
				_, err = write(columns, names, values)
				expectError[*engine.Conflict](s, err)
			}
			_, err = write(1, []string{"note", "city"}, values)
			expectError[*engine.Conflict](s, err)
		},
		"idempotency key of a load": func(s *session) {
			opts := engine.LoadOptions{WriteOptions: engine.WriteOptions{IdempotencyKey: "k"}}
			first, err := s.graph.Load(s.ctx, strings.NewReader(`{"type":"Person","data":{"name":"fay"}}`), opts)
			if err != nil || first.Commit == nil {
				s.Fatalf("load: %v", err)
			}
			s.mutate(s.change().remove("Person", "name", plan.Eq, "fay"))
			again, err := s.graph.Load(s.ctx, strings.NewReader(`{"type":"Person","data":{"name":"fay"}}`), opts)
			if err != nil || again.Commit == nil || again.Commit.ID != first.Commit.ID || len(again.Nodes) != 1 || again.Nodes[0] != first.Nodes[0] {
				s.Errorf("again: %+v, %v", again, err)
			}
			s.expectAges("", crowdAges)
		},
		"errors and calls that change nothing are not repeated": func(s *session) {
			opts := engine.WriteOptions{IdempotencyKey: "k"}
			m := s.change().update("Person", set{"age": 7}, "name", plan.Eq, "fay").query()
			if c, err := s.graph.Mutate(s.ctx, m, nil, opts); err != nil || c.Commit != nil {
				s.Errorf("without fay: %+v, %v", c, err)
			}
			bad := s.change().link("Knows", "ann", "fay", nil).query()
			_, err := s.graph.Mutate(s.ctx, bad, nil, opts)
			expectError[*engine.ConstraintViolation](s, err)
			s.mutate(birth(s, "fay"))
			if c, err := s.graph.Mutate(s.ctx, m, nil, opts); err != nil || c.Commit == nil {
				s.Errorf("with fay: %+v, %v", c, err)
			}
			s.expectAges("", crowdAges+", fay 7")
		},
	})
}
