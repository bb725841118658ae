package enginetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// merged merges source into target. It fails the case on an error or on another outcome.
func (s *session) merged(source, target string, want engine.MergeOutcome) *engine.MergeResult {
	s.Helper()
	res, err := s.graph.Merge(s.ctx, source, target, engine.MergeOptions{Actor: "merger"})
	if err != nil {
		s.Fatalf("merge %s into %s: %v", source, target, err)
	}
	if res.Outcome != want {
		s.Errorf("merge %s into %s: %s, want %s", source, target, res.Outcome, want)
	}
	return res
}

// expectConflicts merges the branch "side" into main. It compares the conflicts with the text
// `want`, which has one line per conflict.
func (s *session) expectConflicts(want string) {
	s.Helper()
	before := s.head()
	_, err := s.graph.Merge(s.ctx, "side", "main", engine.MergeOptions{})
	var conflicts *engine.MergeConflicts
	if !errors.As(err, &conflicts) {
		s.Errorf("merge: %v (%T), want conflicts", err, err)
		return
	}
	if got, want := strings.Join(conflictTexts(conflicts), "\n"), unindent(want); got != want {
		s.Errorf("conflicts\n%s\nwant\n%s", got, want)
	}
	for _, c := range conflicts.Conflicts {
		if c.Message == "" {
			s.Errorf("no message: %+v", c)
		}
	}
	if after := s.head(); after.ID != before.ID {
		s.Errorf("a merge with conflicts made commit %+v", after)
	}
}

// mergeCases returns the cases of merges of branches.
func mergeCases() []testCase {
	update := func(s *session, branch, name string, props set) {
		s.Helper()
		s.on(branch, s.change().update("Person", props, "name", plan.Eq, name))
	}
	return writeCases("merge", map[string]func(s *session){
		"fast forward": func(s *session) {
			s.fork("side", "")
			update(s, "side", "ann", set{"age": 31})
			before := s.head()
			side := s.headOf("side")
			res := s.merged("side", "main", engine.FastForward)
			c := res.Commit
			if c == nil || c.Seq != before.Seq+1 || c.Branch != "main" || c.Actor != "merger" || !slices.Equal(c.Parents, []string{before.ID, side.ID}) || res.Head.ID != c.ID {
				s.Errorf("merge %+v, commit %+v", res, c)
			}
			if res.Nodes != 1 || res.Edges != 0 {
				s.Errorf("%d nodes and %d edges", res.Nodes, res.Edges)
			}
			s.expectAges("", "ann 31, bob 25, cid 30, dan null, eve 41")
		},
		"dry run, and IfCommit with another commit": func(s *session) {
			s.fork("side", "")
			update(s, "side", "ann", set{"age": 31})
			res, err := s.graph.Merge(s.ctx, "side", "main", engine.MergeOptions{DryRun: true})
			if err != nil || res.Outcome != engine.FastForward || res.Commit != nil || res.Nodes != 1 {
				s.Errorf("dry run: %+v, %v", res, err)
			}
			_, err = s.graph.Merge(s.ctx, "side", "main", engine.MergeOptions{IfCommit: s.headOf("side").ID})
			expectError[*engine.PreconditionFailed](s, err)
			s.expectAges("", crowdAges)
			opts := engine.MergeOptions{IdempotencyKey: "k"}
			first, err := s.graph.Merge(s.ctx, "side", "main", opts)
			if err != nil {
				s.Fatalf("merge: %v", err)
			}
			again, err := s.graph.Merge(s.ctx, "side", "main", opts)
			if err != nil || again.Outcome != engine.FastForward || again.Commit == nil || again.Commit.ID != first.Commit.ID {
				s.Errorf("again: %+v, %v", again, err)
			}
			if err := s.graph.DeleteBranch(s.ctx, "side"); err != nil {
				s.Fatalf("delete: %v", err)
			}
			again, err = s.graph.Merge(s.ctx, "side", "main", opts)
			if err != nil || again.Commit == nil || again.Commit.ID != first.Commit.ID {
				s.Errorf("merging again without the source: %+v, %v", again, err)
			}
			_, err = s.graph.Merge(s.ctx, "side", "main", engine.MergeOptions{IdempotencyKey: "another"})
			expectError[*engine.NotFound](s, err)
		},
		"a deleted branch stays an ancestor": func(s *session) {
			s.fork("one", "")
			update(s, "one", "ann", set{"age": 1})
			s.fork("two", "one")
			if err := s.graph.DeleteBranch(s.ctx, "one"); err != nil {
				s.Fatalf("delete: %v", err)
			}
			update(s, "two", "bob", set{"age": 2})
			update(s, "", "cid", set{"age": 3})
			s.merged("two", "main", engine.Merged)
			s.expectAges("", "ann 1, bob 2, cid 3, dan null, eve 41")
		},
	})
}

// headOf returns the head of a branch.
func (s *session) headOf(branch string) engine.Commit {
	s.Helper()
	snap, err := s.graph.Snapshot(s.ctx, engine.Target{Branch: branch})
	if err != nil {
		s.Fatalf("snapshot: %v", err)
	}
	return snap.Commit
}

// schemaMergeCases returns the cases of merges of branches with different schemas that texts cannot express.
func schemaMergeCases() []testCase {
	return writeCases("schema merge", map[string]func(s *session){
		"neither descends": func(s *session) {
			s.fork("side", "")
			before := s.schema
			s.apply("side", addProperty("mail", stringType.Optional()))
			s.schema = before
			s.apply("", addProperty("post", stringType.Optional()))
			_, err := s.graph.Merge(s.ctx, "side", "main", engine.MergeOptions{})
			var diverge *engine.SchemasDiverge
			if !errors.As(err, &diverge) || diverge.Source != "side" || diverge.Target != "main" || diverge.BaseSchema != catalog.Digest(before) || diverge.TargetSchema != catalog.Digest(s.schema) {
				s.Errorf("error %+v (%T), want a *engine.SchemasDiverge", err, err)
			}
		},
	})
}

// keptCases returns the cases of what a comparison says of conflicts of which one side deletes.
func keptCases() []testCase {
	counted, dropped := map[string]func(s *session){}, map[string]func(s *session){}
	for _, way := range []struct{ does, one, other string }{{"the source", "side", ""}, {"the target", "", "side"}} {
		counted["the conflict counts the edges, "+way.does+" deletes"] = func(s *session) {
			s.fork("side", "")
			for _, name := range []string{"ann", "dan"} {
				s.on(way.one, s.change().remove("Person", "name", plan.Eq, name))
				s.on(way.other, s.change().update("Person", set{"age": 50}, "name", plan.Eq, name))
			}
			s.on(way.other, s.change().alter(plan.Edge, "Knows", set{"since": 1999}, newMutation(s.schema).pred(plan.Edge, "Knows", "id", plan.Eq, "k1")))
			s.on(way.other, s.change().unlink("Knows", "id", plan.Eq, "k4"))
			var got []string
			for _, c := range s.compared().Conflicts {
				got = append(got, fmt.Sprintf("%s %s %s %d", c.Kind, c.Entity, c.ID, c.Edges))
			}
			slices.Sort(got)
			if want := []string{"delete_vs_update edge k1 0", "delete_vs_update node ann 5", "delete_vs_update node dan 3"}; !slices.Equal(got, want) {
				s.Errorf("conflicts %q, want %q", got, want)
			}
		}
		dropped["an update, "+way.does+" drops"] = func(s *session) {
			update := func(branch, mail string) {
				s.on(branch, s.change().update("Person", set{"mail": mail}, "name", plan.Eq, "bob"))
			}
			s.apply("", addProperty("mail", stringType.Optional()))
			update("", "old")
			s.fork("side", "")
			update(way.other, "new")
			s.apply(way.one, dropProperty("mail"))
			s.expectConflicts(`delete_vs_update node Person "bob" mail`)
			if c := s.compared().Conflicts[0]; c.Resolvable() {
				s.Errorf("conflict %+v, want one that no resolution resolves", c)
			}
		}
	}
	return slices.Concat(writeCases("merge keeps a node", counted), writeCases("merge with a dropped property", dropped))
}
