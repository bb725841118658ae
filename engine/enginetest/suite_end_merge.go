package enginetest

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// endHistoryCases returns the cases of changes and images.
func endHistoryCases() map[string]func(s *session) {
	const move = `{"edge":"About","from":"n1","to":{"type":"City","id":"c1"},"data":{"id":"a1","rank":1}}`
	images := func(s *session, want string) {
		s.Helper()
		c, err := s.graph.Changes(s.ctx, s.head().ID, engine.ChangeRange{Images: true})
		if err != nil {
			s.Fatalf("changes: %v", err)
		}
		var lines []string
		for _, e := range c.List {
			lines = append(lines, e.ID+": before"+imageText(e.Before)+", after"+imageText(e.After))
		}
		if got := strings.Join(lines, "\n"); got != unindent(want) {
			s.Errorf("the images are\n%s\nwant\n%s", got, unindent(want))
		}
	}
	return map[string]func(s *session){
		"change: an inserted edge": func(s *session) {
			c := s.mutate(s.change().link("About", "n4", nodeRef("City", "ann"), set{"id": "a9", "rank": 4}))
			s.expectChanges(c.Commit.ID, engine.ChangeRange{}, `inserted edge About "a9" "n4" City"ann"; rank: null, 4`)
			images(s, `a9: before nothing, after "n4" City"ann"; rank: 4`)
		},
		"change: a deleted edge": func(s *session) {
			c := s.mutate(s.change().unlink("Links", "id", plan.Eq, "l5"))
			s.expectChanges(c.Commit.ID, engine.ChangeRange{}, `deleted edge Links "l5" City"ann" Team"ann"`)
			images(s, `l5: before City"ann" Team"ann", after nothing`)
		},
		"change: a property": func(s *session) {
			c := s.mutate(s.change().alter(plan.Edge, "About", set{"rank": 9}, s.change().pred(plan.Edge, "About", "id", plan.Eq, "a2")))
			s.expectChanges(c.Commit.ID, engine.ChangeRange{}, `updated edge About "a2" "n1" City"ann"; rank: 2, 9`)
			images(s, `a2: before "n1" City"ann"; rank: 2, after "n1" City"ann"; rank: 9`)
		},
		"change: an end": func(s *session) {
			s.move("", move)
			s.expectChanges(s.head().ID, engine.ChangeRange{}, `updated edge About "a1" "n1" City"c1"; to: [Person, ann], [City, c1]`)
			images(s, `a1: before "n1" Person"ann"; rank: 1, after "n1" City"c1"; rank: 1`)
		},
		"change: only the type at an end": func(s *session) {
			s.move("", `{"edge":"Links","from":{"type":"Team","id":"ann"},"to":{"type":"Team","id":"ann"},"data":{"id":"l5"}}`)
			s.expectChanges(s.head().ID, engine.ChangeRange{}, `updated edge Links "l5" Team"ann" Team"ann"; from: [City, ann], [Team, ann]`)
		},
		"change: the edges of a deleted node": func(s *session) {
			c := s.mutate(s.change().remove("Team", "name", plan.Eq, "ann"))
			s.expectChanges(c.Commit.ID, engine.ChangeRange{}, `
				deleted node Team "ann" "" ""; name: ann, null
				deleted edge About "a5" "n2" Team"ann"; rank: 3, null
				deleted edge By "b1" Team"ann" "cid"
				deleted edge Links "l5" City"ann" Team"ann"`)
		},
		"change: ends as values": func(s *session) {
			s.move("", move)
			c, err := s.graph.Changes(s.ctx, s.head().ID, engine.ChangeRange{})
			if err != nil || len(c.List) != 1 || len(c.List[0].Properties) != 1 {
				s.Fatalf("changes %+v, error %v", c, err)
			}
			p := c.List[0].Properties[0]
			if !value.Equal(p.Old, plan.OfNode("Person", "ann")) || !value.Equal(p.New, plan.OfNode("City", "c1")) {
				s.Errorf("the end changes from %v to %v", p.Old, p.New)
			}
			if e := c.List[0]; e.From != "n1" || e.FromType != "" || e.To != "c1" || e.ToType != "City" {
				s.Errorf("the change is %+v", e)
			}
		},
		"an older commit has its edges": func(s *session) {
			before := s.head()
			s.mutate(s.change().remove("Person", "name", plan.Eq, "ann"))
			p := s.read()
			n, x := p.node("n", "Note"), p.shared("x")
			q := p.match(hop(n, "About", x)).ret(id(n), p.prop(x, "type")).query()
			rows, err := queryAt(s.ctx, s.graph, q, nil, engine.Target{Commit: before.ID})
			if got, want := strings.Join(formatRows(rows), "\n"), "n1 | City\nn1 | Person\nn2 | City\nn2 | Team\nn3 | Person"; err != nil || got != want {
				s.Errorf("rows\n%s\nerror %v", got, err)
			}
		},
	}
}

// move replaces edges of a branch by lines with their ids, which may have other ends. It fails the case on an error.
func (s *session) move(branch, lines string) {
	s.Helper()
	if err := s.tryMove(branch, lines); err != nil {
		s.Fatalf("load: %v", err)
	}
}

// tryMove does the work of move. It overwrites the edges of the types in the lines, because the other modes keep ends.
func (s *session) tryMove(branch, lines string) error {
	parse := func(line string) (typ, id string) {
		var l struct {
			Edge string
			Data struct{ ID string }
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			s.Fatalf("%s: %v", line, err)
		}
		return l.Edge, l.Data.ID
	}
	var types []string
	moved := map[string]bool{}
	for line := range strings.Lines(lines) {
		typ, id := parse(line)
		types, moved[id] = append(types, typ), true
	}
	slices.Sort(types)
	var b strings.Builder
	if _, err := s.graph.Export(s.ctx, &b, engine.Target{Branch: branch}, engine.ExportOptions{Types: slices.Compact(types)}); err != nil {
		s.Fatalf("export: %v", err)
	}
	for line := range strings.Lines(b.String()) {
		if _, id := parse(line); !moved[id] {
			lines += "\n" + line
		}
	}
	_, err := s.graph.Load(s.ctx, strings.NewReader(lines), engine.LoadOptions{Mode: engine.Overwrite, WriteOptions: engine.WriteOptions{Branch: branch}})
	return err
}

// endMergeCases returns the cases of merges.
func endMergeCases() map[string]func(s *session) {
	// moved returns the line of the edge a1 with a target.
	moved := func(typ, id string) string {
		return `{"edge":"About","from":"n1","to":{"type":"` + typ + `","id":"` + id + `"},"data":{"id":"a1","rank":1}}`
	}
	place := engine.ConflictPlace{Entity: "edge", Type: "About", ID: "a1", Property: "to"}
	const widenedBy = "b1 | {Team, ann} | {Person, cid}\nb2 | {Person, ann} | {Person, bob}\nb3 | {Person, bob} | {Person, bob}"
	// resolved merges two changes of an end with a resolution.
	resolved := func(take engine.MergeSide, v value.Value, want string) func(s *session) {
		return func(s *session) {
			s.fork("side", "")
			s.move("side", moved("City", "ann"))
			s.move("", moved("Team", "ann"))
			_, err := s.graph.Merge(s.ctx, "side", "main", engine.MergeOptions{Resolutions: []engine.Resolution{{ConflictPlace: place, Take: take, Value: v}}})
			if err != nil {
				s.Fatalf("merge: %v", err)
			}
			s.expectEdges("About", strings.Replace(deskAbout, "{Person, ann}", want, 1))
		}
	}
	return map[string]func(s *session){
		"merge: an end of one side and a property of the other": func(s *session) {
			s.fork("side", "")
			s.move("side", moved("City", "c1"))
			s.mutate(s.change().alter(plan.Edge, "About", set{"rank": 9}, s.change().pred(plan.Edge, "About", "id", plan.Eq, "a1")))
			s.merged("side", "main", engine.Merged)
			s.expectEdges("About", strings.Replace(deskAbout, "{Person, ann}", "{City, c1}", 1))
		},
		"merge: the same end on both sides": func(s *session) {
			s.fork("side", "")
			s.move("side", moved("City", "ann"))
			s.move("", moved("City", "ann"))
			s.merged("side", "main", engine.AlreadyUpToDate)
		},
		"merge: two ends": func(s *session) {
			s.fork("side", "")
			s.move("side", moved("City", "ann"))
			s.move("", moved("Team", "ann"))
			s.expectConflicts(`divergent_update edge About "a1" to`)
			c := s.compared().Conflicts[0]
			if got, want := imageText(c.Base)+imageText(c.Ours)+imageText(c.Theirs), ` "n1" Person"ann" "n1" Team"ann" "n1" City"ann"`; got != want {
				s.Errorf("the images are%s, want%s", got, want)
			}
		},
		"merge: take theirs":    resolved(engine.TakeTheirs, value.Null, "{City, ann}"),
		"merge: take ours":      resolved(engine.TakeOurs, value.Null, "{Team, ann}"),
		"merge: take a value":   resolved(engine.TakeValue, plan.OfNode("Person", "cid"), "{Person, cid}"),
		"merge: take the other": resolved(engine.TakeValue, plan.OfNode("City", "c1"), "{City, c1}"),
		"merge: take a node that does not exist": func(s *session) {
			s.fork("side", "")
			s.move("side", moved("City", "ann"))
			s.move("", moved("Team", "ann"))
			_, err := s.graph.Merge(s.ctx, "side", "main", engine.MergeOptions{Resolutions: []engine.Resolution{
				{ConflictPlace: place, Take: engine.TakeValue, Value: plan.OfNode("Team", "red")}}})
			expectError[*engine.MergeConflicts](s, err)
			c := s.compared(engine.Resolution{ConflictPlace: place, Take: engine.TakeValue, Value: plan.OfNode("Team", "red")})
			if got := strings.Join(placeTexts(c.Conflicts), "\n"); got != `orphan_edge edge About "a1" to` {
				s.Errorf("conflicts %s", got)
			}
		},
		"merge: take a wrong value": func(s *session) {
			s.fork("side", "")
			s.move("side", moved("City", "ann"))
			s.move("", moved("Team", "ann"))
			for _, v := range []value.Value{value.Null, textValue("ann"), value.OfI64(1), plan.OfNode("Note", "n1"), plan.OfNode("Nothing", "ann"),
				value.OfRecord([]value.Value{textValue("City")}), value.OfRecord([]value.Value{textValue("City"), value.Null}),
				value.OfRecord([]value.Value{textValue("City"), value.OfI64(1)})} {
				_, err := s.graph.Merge(s.ctx, "side", "main", engine.MergeOptions{Resolutions: []engine.Resolution{{ConflictPlace: place, Take: engine.TakeValue, Value: v}}})
				expectError[*engine.BadArgument](s, err)
			}
			from := place
			from.Property = "from"
			_, err := s.graph.Merge(s.ctx, "side", "main", engine.MergeOptions{Resolutions: []engine.Resolution{{ConflictPlace: from, Take: engine.TakeValue, Value: plan.OfNode("Note", "n1")}}})
			expectError[*engine.BadArgument](s, err)
		},
		"merge: a deleted edge and its changed end": func(s *session) {
			s.fork("side", "")
			s.on("side", s.change().unlink("About", "id", plan.Eq, "a1"))
			s.move("", moved("City", "ann"))
			s.expectConflicts(`delete_vs_update edge About "a1"`)
		},
		"merge: unique targets": func(s *session) {
			s.mutate(s.change().unlink("About", "id", plan.Eq, "a4"))
			s.apply("", aboutRule("dst"))
			s.fork("side", "")
			s.on("side", s.change().link("About", "n4", nodeRef("Person", "bob"), set{"id": "a8"}).link("About", "n4", nodeRef("Person", "cid"), set{"id": "a6"}))
			s.mutate(s.change().link("About", "n3", nodeRef("Person", "bob"), set{"id": "a9"}))
			s.expectConflicts(`unique_violation edge About "a8" dst`)
		},
		"merge: unique targets with one id": func(s *session) {
			s.mutate(s.change().unlink("About", "from", plan.Ge, ""))
			s.apply("", aboutRule("dst"))
			s.fork("side", "")
			s.on("side", s.change().link("About", "n4", nodeRef("Person", "ann"), set{"id": "a8"}))
			s.mutate(s.change().link("About", "n4", nodeRef("Team", "ann"), set{"id": "a9"}))
			s.merged("side", "main", engine.Merged)
			s.expectEdges("About", "a8 | n4 | {Person, ann}\na9 | n4 | {Team, ann}")
		},
		"merge: too many edges": func(s *session) {
			s.apply("", bounds("Links", 0, 2))
			s.fork("side", "")
			s.on("side", s.change().link("Links", nodeRef("Person", "ann"), nodeRef("City", "c1"), set{"id": "l8"}))
			s.mutate(s.change().link("Links", nodeRef("Person", "ann"), nodeRef("Team", "ann"), set{"id": "l9"}))
			s.expectConflicts(`cardinality_violation edge Links "ann"`)
		},
		"merge: edges of two nodes with one id": func(s *session) {
			s.apply("", bounds("Links", 0, 2))
			s.fork("side", "")
			s.on("side", s.change().link("Links", nodeRef("Person", "ann"), nodeRef("City", "c1"), set{"id": "l8"}))
			s.mutate(s.change().link("Links", nodeRef("Team", "ann"), nodeRef("City", "c1"), set{"id": "l9"}))
			s.merged("side", "main", engine.Merged)
			s.expectEdges("Links", deskLinks+"\nl8 | {Person, ann} | {City, c1}\nl9 | {Team, ann} | {City, c1}")
		},
		"merge: a type leaves an end that was widened before": func(s *session) {
			s.fork("side", "")
			s.on("side", s.change().unlink("By", "id", plan.Eq, "b1").link("About", "n4", nodeRef("City", "c1"), set{"id": "a9"}))
			s.apply("", func(c *catalog.Schema) { c.Edge("By").To, c.Edge("By").ToInterface = "Named", true })
			s.expectEdges("By", widenedBy)
			s.apply("", implements("Person", "Made"))
			s.merged("side", "main", engine.Merged)
			s.expectEdges("By", "")
			s.expectEdges("About", "a2 | n1 | {City, ann}\na3 | n2 | {City, c1}\na5 | n2 | {Team, ann}\na9 | n4 | {City, c1}")
		},
		"compare: the changes of a branch": func(s *session) {
			s.fork("side", "")
			s.move("side", moved("City", "c1"))
			c := s.compared()
			if len(c.List) != 1 || changeText(&c.List[0]) != `updated edge About "a1" "n1" City"c1"; to: [Person, ann], [City, c1]`+"\n" || c.Outcome != engine.FastForward {
				s.Errorf("the comparison is %+v", c)
			}
			first := c.Digest
			s.move("side", moved("Team", "ann"))
			second := s.compared().Digest
			s.move("side", moved("City", "ann"))
			if third := s.compared().Digest; first == second || second == third {
				s.Errorf("the digests of three changes are %s, %s and %s", first, second, third)
			}
		},
	}
}
