package enginetest

import (
	"errors"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
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
	// sides creates the branch "side" from main, and then writes to both branches.
	sides := func(side, main func(s *session, branch string), then func(s *session)) func(s *session) {
		return func(s *session) {
			s.fork("side", "")
			side(s, "side")
			main(s, "")
			then(s)
		}
	}
	conflict := func(side, main func(s *session, branch string), want string) func(s *session) {
		return sides(side, main, func(s *session) { s.expectConflicts(want) })
	}
	person := func(name string, props set) func(s *session, branch string) {
		return func(s *session, branch string) { s.Helper(); update(s, branch, name, props) }
	}
	remove := func(name string) func(s *session, branch string) {
		return func(s *session, branch string) { s.on(branch, s.change().remove("Person", "name", plan.Eq, name)) }
	}
	insert := func(typ string, props set) func(s *session, branch string) {
		return func(s *session, branch string) { s.on(branch, s.change().insert(typ, props)) }
	}
	link := func(typ, from, to string, props set) func(s *session, branch string) {
		return func(s *session, branch string) { s.on(branch, s.change().link(typ, from, to, props)) }
	}
	nothing := func(*session, string) {}
	all := writeCases("merge", map[string]func(s *session){
		"fast forward": sides(person("ann", set{"age": 31}), nothing, func(s *session) {
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
		}),
		"merged property by property": sides(person("ann", set{"age": 31}), person("ann", set{"score": 9.5}), func(s *session) {
			s.merged("side", "main", engine.Merged)
			p := s.read()
			a := p.bind("a", "Person")
			s.expect(p.match(where(p.prop(a, "name"), plan.Eq, "ann")).ret(p.prop(a, "age"), p.prop(a, "score")), "31 | 9.5")
		}),
		"inserts, deletes and edges": sides(func(s *session, branch string) {
			s.on(branch, s.change().insert("Person", set{"name": "fay"}).link("Knows", "fay", "bob", set{"id": "k9"}))
			s.on(branch, s.change().remove("Person", "name", plan.Eq, "dan"))
		}, person("bob", set{"age": 26}), func(s *session) {
			s.merged("side", "main", engine.Merged)
			s.expectAges("", "ann 30, bob 26, cid 30, eve 41, fay null")
			p := s.read()
			a, b, k := p.node("a", "Person"), p.node("b", "Person"), p.edge("k", "Knows")
			s.expect(p.match(over(a, k, "Knows", b), where(p.prop(a, "name"), plan.Eq, "fay")).ret(id(k), id(b)), "k9 | bob")
			s.merged("side", "main", engine.AlreadyUpToDate)
		}),
		"up to date": func(s *session) {
			s.fork("side", "")
			head := s.head()
			if res := s.merged("side", "main", engine.AlreadyUpToDate); res.Commit != nil || res.Head.ID != head.ID {
				s.Errorf("merge %+v", res)
			}
			update(s, "", "ann", set{"age": 31})
			s.merged("side", "main", engine.AlreadyUpToDate)
			update(s, "side", "ann", set{"age": 31})
			s.merged("side", "main", engine.AlreadyUpToDate)
		},
		"the last merge is the ancestor": func(s *session) {
			s.fork("side", "")
			update(s, "side", "ann", set{"age": 31})
			update(s, "", "bob", set{"age": 26})
			s.merged("side", "main", engine.Merged)
			update(s, "side", "ann", set{"age": 32})
			update(s, "", "bob", set{"age": 27})
			s.merged("side", "main", engine.Merged)
			s.expectAges("", "ann 32, bob 27, cid 30, dan null, eve 41")
			s.merged("main", "side", engine.FastForward)
			update(s, "", "ann", set{"age": 33})
			s.merged("main", "side", engine.Merged) // the branch "side" has the commit of the previous merge
			s.expectAges("side", "ann 33, bob 27, cid 30, dan null, eve 41")
		},
		"through a third branch": func(s *session) {
			s.fork("one", "")
			s.fork("two", "")
			update(s, "one", "ann", set{"age": 1})
			s.merged("one", "two", engine.FastForward)
			s.merged("two", "main", engine.FastForward)
			update(s, "", "ann", set{"age": 2})
			s.merged("one", "main", engine.AlreadyUpToDate)
			update(s, "one", "bob", set{"age": 1})
			s.merged("one", "main", engine.Merged)
			s.expectAges("", "ann 2, bob 1, cid 30, dan null, eve 41")
		},
		"dry run, and IfCommit with another commit": sides(person("ann", set{"age": 31}), nothing, func(s *session) {
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
		}),
		"refused": func(s *session) {
			_, err := s.graph.Merge(s.ctx, "main", "main", engine.MergeOptions{})
			expectError[*engine.BadArgument](s, err)
			_, err = s.graph.Merge(s.ctx, "none", "main", engine.MergeOptions{})
			expectError[*engine.NotFound](s, err)
			_, err = s.graph.Merge(s.ctx, "main", "none", engine.MergeOptions{})
			expectError[*engine.NotFound](s, err)
		},
		"equal changes do not conflict": sides(func(s *session, b string) {
			update(s, b, "ann", set{"age": 31})
			remove("dan")(s, b)
			insert("Person", set{"name": "fay", "age": 1})(s, b)
			insert("Person", set{"name": "gil"})(s, b)
		}, func(s *session, b string) {
			update(s, b, "ann", set{"age": 31})
			remove("dan")(s, b)
			insert("Person", set{"name": "fay", "age": 1})(s, b)
		}, func(s *session) {
			if res := s.merged("side", "main", engine.Merged); res.Nodes != 1 || res.Edges != 0 {
				s.Errorf("%d nodes and %d edges", res.Nodes, res.Edges)
			}
			s.expectAges("", "ann 31, bob 25, cid 30, eve 41, fay 1, gil null")
		}),
		"divergent insert": conflict(insert("Person", set{"name": "fay", "age": 1, "score": 2.0}), insert("Person", set{"name": "fay", "age": 2, "score": 2.0}),
			`divergent_insert node Person "fay" age`),
		"divergent insert of an edge": conflict(link("Knows", "ann", "eve", set{"id": "k9"}), link("Knows", "bob", "eve", set{"id": "k9", "since": 5}), `
			divergent_insert edge Knows "k9" from
			divergent_insert edge Knows "k9" since`),
		"divergent update": conflict(person("ann", set{"age": 1, "score": 1.0}), person("ann", set{"age": 2, "score": 2.0}), `
			divergent_update node Person "ann" age
			divergent_update node Person "ann" score`),
		"delete against update": conflict(remove("dan"), person("dan", set{"age": 2}), `
			delete_vs_update node Person "dan"`),
		"update against delete": conflict(person("dan", set{"age": 2}), remove("dan"), `
			delete_vs_update node Person "dan"`),
		"orphan edge in the source": conflict(link("Knows", "ann", "dan", set{"id": "k9"}), remove("dan"), `
			orphan_edge edge Knows "k9" to`),
		"orphan edges in the target": conflict(remove("dan"), func(s *session, b string) {
			link("Knows", "ann", "dan", set{"id": "k8"})(s, b)
			link("Knows", "dan", "dan", set{"id": "k9"})(s, b)
		}, `
			orphan_edge edge Knows "k8" to
			orphan_edge edge Knows "k9" from
			orphan_edge edge Knows "k9" to`),
		"all at once": conflict(func(s *session, b string) {
			update(s, b, "ann", set{"age": 1})
			remove("dan")(s, b)
			link("Knows", "ann", "eve", set{"id": "k9"})(s, b)
		}, func(s *session, b string) {
			update(s, b, "ann", set{"age": 2})
			update(s, b, "dan", set{"age": 2})
			remove("eve")(s, b)
		}, `
			delete_vs_update node Person "dan"
			divergent_update node Person "ann" age
			orphan_edge edge Knows "k9" to`),
		"merge after the conflict is resolved": func(s *session) {
			s.fork("side", "")
			update(s, "side", "ann", set{"age": 1})
			update(s, "", "ann", set{"age": 2})
			s.expectConflicts(`divergent_update node Person "ann" age`)
			update(s, "side", "ann", set{"age": 2})
			update(s, "side", "bob", set{"age": 2})
			s.merged("side", "main", engine.Merged)
			s.expectAges("", "ann 2, bob 2, cid 30, dan null, eve 41")
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
	return append(all, mergeConstraintCases()...)
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

// mergeConstraintCases return cases with the schema of shop, in which each side of a merge
// satisfies every rule.
func mergeConstraintCases() []testCase {
	item := func(s *session, branch string, props set) {
		all := set{"aisle": "c", "number": 1, "kind": "food"}
		for name, x := range props {
			all[name] = x
		}
		s.on(branch, s.change().insert("Item", all))
	}
	const a1, a2, b1 = `["a","1"]`, `["a","2"]`, `["b","1"]`
	runs := map[string]func(s *session){
		"unique": func(s *session) {
			item(s, "side", set{"number": 1, "code": "z-1", "left": 9, "right": 9})
			item(s, "", set{"number": 2, "code": "z-1", "left": 9, "right": 9})
			s.expectConflicts(`
				unique_violation node Item "[\"c\",\"1\"]" code
				unique_violation node Item "[\"c\",\"1\"]" left, right`)
		},
		"unique pair, each branch changes one member": func(s *session) {
			s.on("side", s.change().update("Item", set{"left": 7}, "code", plan.Eq, "x-1"))
			s.on("", s.change().update("Item", set{"right": 7}, "code", plan.Eq, "x-1"))
			s.on("", s.change().insert("Item", set{"aisle": "c", "number": 1, "kind": "food", "left": 7, "right": 7}))
			s.expectConflicts(`unique_violation node Item "[\"a\",\"1\"]" left, right`)
		},
		"unique of edges": func(s *session) {
			s.on("side", s.change().link("Holds", "b1", a2, set{"id": "h8"}))
			s.on("", s.change().link("Holds", "b1", a2, set{"id": "h9"}))
			s.expectConflicts(`
				cardinality_violation edge Holds "b1"
				unique_violation edge Holds "h8" src, dst`)
		},
		"cardinality, too many": func(s *session) {
			s.on("side", s.change().link("Holds", "b1", a2, set{"id": "h8"}))
			s.on("", s.change().link("Holds", "b1", b1, set{"id": "h9"}))
			s.expectConflicts(`cardinality_violation edge Holds "b1"`)
		},
		"cardinality, too few": func(s *session) {
			s.on("", s.change().link("Holds", "b1", a2, set{"id": "h8"}))
			s.fork("other", "main")
			s.on("main", s.change().unlink("Holds", "id", plan.Eq, "h1"))
			s.on("other", s.change().unlink("Holds", "id", plan.Eq, "h8"))
			_, err := s.graph.Merge(s.ctx, "other", "main", engine.MergeOptions{})
			var conflicts *engine.MergeConflicts
			if !errors.As(err, &conflicts) || strings.Join(conflictTexts(conflicts), "\n") != `cardinality_violation edge Holds "b1"` {
				s.Errorf("merge: %v", err)
			}
		},
		"within the rules": func(s *session) {
			item(s, "side", set{"number": 1, "code": "z-1"})
			s.on("side", s.change().link("Holds", "b1", a2, set{"id": "h8"}))
			item(s, "", set{"number": 2, "code": "z-2"})
			s.on("", s.change().link("Holds", "b2", a1, set{"id": "h9"}))
			if res := s.merged("side", "main", engine.Merged); res.Nodes != 1 || res.Edges != 1 {
				s.Errorf("%d nodes and %d edges", res.Nodes, res.Edges)
			}
			s.expectEdges("Holds", "h1 | b1 | "+a1+"\nh8 | b1 | "+a2+"\nh9 | b2 | "+a1)
		},
	}
	var all []testCase
	for _, name := range sortedKeys(runs) {
		all = append(all, testCase{name: "merge constraint/" + name, schema: shop, run: func(s *session) {
			s.load(engine.Merge, stock)
			s.fork("side", "")
			runs[name](s)
		}})
	}
	return all
}
