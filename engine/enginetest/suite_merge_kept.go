package enginetest

import (
	"fmt"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// keptCases returns the cases of merges in which one side deletes a node with its edges and the other side changes
// the node.
func keptCases() []testCase {
	remove := func(s *session, branch, name string) {
		s.Helper()
		s.on(branch, s.change().remove("Person", "name", plan.Eq, name))
	}
	age := func(s *session, branch, name string) {
		s.Helper()
		s.on(branch, s.change().update("Person", set{"age": 50}, "name", plan.Eq, name))
	}
	ann, dan := engine.ConflictPlace{Entity: "node", Type: "Person", ID: "ann"}, engine.ConflictPlace{Entity: "node", Type: "Person", ID: "dan"}
	k1 := engine.ConflictPlace{Entity: "edge", Type: "Knows", ID: "k1"}
	annsKnows, annsFollows := "k1 | ann | bob\nk2 | ann | bob\nk3 | bob | cid\nk4 | cid | ann", "f1 | ann | bob\nf2 | bob | cid\nf3 | cid | ann\nf4 | dan | dan\nf5 | dan | eve\nf6 | cid | dan"
	// sides[deleter] is the branch that deletes: 0 for the source.
	sides := [][2]string{{"side", ""}, {"", "side"}}
	run := func(name string, write func(s *session, deleter, other string), keep []engine.ConflictPlace, also []engine.Resolution, want func(s *session)) map[string]func(s *session) {
		all := map[string]func(s *session){}
		for i, side := range sides {
			all[name+[]string{", the source deletes", ", the target deletes"}[i]] = func(s *session) {
				s.fork("side", "")
				write(s, side[0], side[1])
				resolutions := slices.Clone(also)
				for j := range resolutions {
					if i == 1 { // the resolutions are written for a source that deletes
						resolutions[j].Take = map[engine.MergeSide]engine.MergeSide{engine.TakeOurs: engine.TakeTheirs, engine.TakeTheirs: engine.TakeOurs}[resolutions[j].Take]
					}
				}
				for _, place := range keep {
					resolutions = append(resolutions, engine.Resolution{ConflictPlace: place, Take: []engine.MergeSide{engine.TakeOurs, engine.TakeTheirs}[i]})
				}
				if _, err := s.graph.Merge(s.ctx, "side", "main", engine.MergeOptions{Resolutions: resolutions}); err != nil {
					s.Fatalf("merge: %v", err)
				}
				want(s)
			}
		}
		return all
	}
	one := []engine.ConflictPlace{ann}
	runs := map[string]func(s *session){}
	add := func(more map[string]func(s *session)) {
		for name, f := range more {
			runs[name] = f
		}
	}
	deleteAnn := func(s *session, deleter, other string) {
		remove(s, deleter, "ann")
		age(s, other, "ann")
	}
	add(run("a node that is kept keeps its edges", deleteAnn, one, nil, func(s *session) {
		s.expectEdges("Knows", annsKnows)
		s.expectEdges("Follows", annsFollows)
		s.expectEdges("LivesIn", "l1 | ann | c1\nl2 | bob | c1\nl3 | cid | c2")
		s.expectAges("", "ann 50, bob 25, cid 30, dan null, eve 41")
	}))
	add(run("a deletion that stands takes the edges", deleteAnn, nil, []engine.Resolution{{ConflictPlace: ann, Take: engine.TakeTheirs}}, func(s *session) {
		s.expectEdges("Knows", "k3 | bob | cid")
		s.expectAges("", "bob 25, cid 30, dan null, eve 41")
	}))
	add(run("an edge from a node to itself", func(s *session, deleter, other string) {
		remove(s, deleter, "dan")
		age(s, other, "dan")
	}, []engine.ConflictPlace{dan}, nil, func(s *session) { s.expectEdges("Follows", annsFollows) }))
	add(run("an edge between two nodes that are kept", func(s *session, deleter, other string) {
		remove(s, deleter, "dan")
		remove(s, deleter, "cid")
		age(s, other, "dan")
		age(s, other, "cid")
	}, []engine.ConflictPlace{dan, {Entity: "node", Type: "Person", ID: "cid"}}, nil, func(s *session) { s.expectEdges("Follows", annsFollows) }))
	add(run("an edge whose other end is deleted too", func(s *session, deleter, other string) {
		deleteAnn(s, deleter, other)
		remove(s, deleter, "bob")
	}, one, nil, func(s *session) {
		s.expectEdges("Knows", "k4 | cid | ann")
		s.expectEdges("Follows", "f3 | cid | ann\nf4 | dan | dan\nf5 | dan | eve\nf6 | cid | dan")
	}))
	add(run("an edge that the other side deleted", func(s *session, deleter, other string) {
		deleteAnn(s, deleter, other)
		s.on(other, s.change().unlink("Knows", "id", plan.Eq, "k4"))
	}, one, nil, func(s *session) { s.expectEdges("Knows", "k1 | ann | bob\nk2 | ann | bob\nk3 | bob | cid") }))
	since := func(s *session, deleter, other string) {
		deleteAnn(s, deleter, other)
		s.on(other, s.change().alter(plan.Edge, "Knows", set{"since": 1999}, newMutation(s.schema).pred(plan.Edge, "Knows", "id", plan.Eq, "k1")))
	}
	add(run("an edge that the other side changed is kept by a resolution of its own", since, []engine.ConflictPlace{ann, k1}, nil, func(s *session) { s.expectEdges("Knows", annsKnows) }))
	add(run("an edge that the other side changed is deleted by a resolution of its own", since, one, []engine.Resolution{{ConflictPlace: k1, Take: engine.TakeTheirs}}, func(s *session) {
		s.expectEdges("Knows", "k2 | ann | bob\nk3 | bob | cid\nk4 | cid | ann")
	}))
	for i, side := range sides {
		runs["the conflict counts the edges, "+[]string{"the source deletes", "the target deletes"}[i]] = func(s *session) {
			s.fork("side", "")
			since(s, side[0], side[1])
			remove(s, side[0], "dan")
			age(s, side[1], "dan")
			s.on(side[1], s.change().unlink("Knows", "id", plan.Eq, "k4"))
			var got []string
			for _, c := range s.compared().Conflicts {
				got = append(got, fmt.Sprintf("%s %s %s %d", c.Kind, c.Entity, c.ID, c.Edges))
			}
			slices.Sort(got)
			want := []string{"delete_vs_update edge k1 0", "delete_vs_update node ann 5", "delete_vs_update node dan 3"}
			if !slices.Equal(got, want) {
				s.Errorf("conflicts %q, want %q", got, want)
			}
		}
	}
	return writeCases("merge keeps a node", runs)
}

// droppedCases returns the cases of merges in which the schema of one side drops a property that the other side writes.
func droppedCases() []testCase {
	update := func(s *session, branch string, props set) {
		s.Helper()
		s.on(branch, s.change().update("Person", props, "name", plan.Eq, "bob"))
	}
	edgeProperty := func(change func(e *catalog.Edge)) func(c *catalog.Schema) { return edgeType("Knows", change) }
	dropHow := edgeProperty(func(e *catalog.Edge) {
		e.Properties = slices.DeleteFunc(e.Properties, func(p *catalog.Property) bool { return p.Name == "how" })
	})
	how := func(s *session, branch string, x any) {
		s.Helper()
		s.on(branch, s.change().alter(plan.Edge, "Knows", set{"how": x}, newMutation(s.schema).pred(plan.Edge, "Knows", "id", plan.Eq, "k1")))
	}
	const conflict = `delete_vs_update node Person "bob" mail`
	rows := map[string]struct {
		write, drop func(s *session, branch string)
		want        string // the conflicts; "" for none
	}{
		"an update":              {func(s *session, b string) { update(s, b, set{"mail": "new"}) }, func(s *session, b string) { s.apply(b, dropProperty("mail")) }, conflict},
		"an update among others": {func(s *session, b string) { update(s, b, set{"mail": "new", "age": 3}) }, func(s *session, b string) { s.apply(b, dropProperty("mail")) }, conflict},
		"a new entity": {func(s *session, b string) { s.on(b, s.change().insert("Person", set{"name": "fay", "mail": "new"})) },
			func(s *session, b string) { s.apply(b, dropProperty("mail")) }, `delete_vs_update node Person "fay" mail`},
		"a new entity without the property": {func(s *session, b string) { s.on(b, s.change().insert("Person", set{"name": "fay"})) },
			func(s *session, b string) { s.apply(b, dropProperty("mail")) }, ""},
		"the value is removed": {func(s *session, b string) { update(s, b, set{"mail": nil}) }, func(s *session, b string) { s.apply(b, dropProperty("mail")) }, ""},
		"another property":     {func(s *session, b string) { update(s, b, set{"age": 3}) }, func(s *session, b string) { s.apply(b, dropProperty("mail")) }, ""},
		"the value comes back": {func(s *session, b string) {
			update(s, b, set{"mail": "new"})
			update(s, b, set{"mail": "old"})
		}, func(s *session, b string) { s.apply(b, dropProperty("mail")) }, ""},
		"dropped and added again": {func(s *session, b string) { update(s, b, set{"mail": "new"}) }, func(s *session, b string) {
			s.apply(b, dropProperty("mail"), addProperty("post", stringType.Optional()))
			s.apply(b, addProperty("mail", stringType.Optional()))
		}, conflict},
		"renamed and then dropped": {func(s *session, b string) { update(s, b, set{"mail": "new"}) }, func(s *session, b string) {
			s.apply(b, renameProperty("mail", "post"))
			s.apply(b, dropProperty("post"))
		}, conflict},
		"of a renamed type": {func(s *session, b string) { update(s, b, set{"mail": "new"}) }, func(s *session, b string) {
			s.apply(b, dropProperty("mail"), func(c *catalog.Schema) { renameNode(c, "Person", "Human") })
		}, `delete_vs_update node Human "bob" mail`},
		"of an edge": {func(s *session, b string) { how(s, b, "new") }, func(s *session, b string) { s.apply(b, dropHow) }, `delete_vs_update edge Knows "k1" how`},
		"of a new edge": {func(s *session, b string) {
			s.on(b, s.change().link("Knows", "dan", "eve", set{"id": "k9", "how": "new"}))
		},
			func(s *session, b string) { s.apply(b, dropHow) }, `delete_vs_update edge Knows "k9" how`},
		"renamed": {func(s *session, b string) { update(s, b, set{"mail": "new"}) }, func(s *session, b string) { s.apply(b, renameProperty("mail", "post")) }, ""},
	}
	runs := map[string]func(s *session){}
	for name, row := range rows {
		for i, sides := range [][2]string{{"side", ""}, {"", "side"}} {
			runs[name+[]string{", the source drops", ", the target drops"}[i]] = func(s *session) {
				s.apply("", addProperty("mail", stringType.Optional()))
				update(s, "", set{"mail": "old"})
				s.fork("side", "")
				row.write(s, sides[1])
				row.drop(s, sides[0])
				if row.want == "" {
					if _, err := s.graph.Merge(s.ctx, "side", "main", engine.MergeOptions{}); err != nil {
						s.Errorf("merge: %v", err)
					}
					return
				}
				s.expectConflicts(row.want)
				for _, c := range s.compared().Conflicts {
					if c.Resolvable() {
						s.Errorf("conflict %+v, want one that no resolution resolves", c)
					}
				}
			}
		}
	}
	return writeCases("merge with a dropped property", runs)
}
