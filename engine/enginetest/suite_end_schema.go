package enginetest

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// implements returns a change of a schema: it sets the interfaces of a node type.
func implements(typ string, interfaces ...string) func(c *catalog.Schema) {
	return func(c *catalog.Schema) { c.Node(typ).Implements = interfaces }
}

// dropType returns a change of a schema: it removes a node type. No edge type may have it at an end.
func dropType(name string) func(c *catalog.Schema) {
	return func(c *catalog.Schema) {
		c.Nodes = slices.DeleteFunc(c.Nodes, func(n *catalog.Node) bool { return n.Name == name })
	}
}

// renamedType returns a change of a schema: it renames a node type.
func renamedType(was, now string) func(c *catalog.Schema) {
	return func(c *catalog.Schema) { renameNode(c, was, now) }
}

// endSchemaCases returns the cases of schema changes.
func endSchemaCases() map[string]func(s *session) {
	const (
		withoutCity  = "a1 | n1 | {Person, ann}\na4 | n3 | {Person, ann}\na5 | n2 | {Team, ann}"
		withoutTeam  = "a1 | n1 | {Person, ann}\na2 | n1 | {City, ann}\na3 | n2 | {City, c1}\na4 | n3 | {Person, ann}"
		linksNoCity  = "l3 | {Person, bob} | {Person, ann}"
		renamedAbout = "a1 | n1 | {Person, ann}\na2 | n1 | {Town, ann}\na3 | n2 | {Town, c1}\na4 | n3 | {Person, ann}\na5 | n2 | {Team, ann}"
	)
	titled := func(c *catalog.Schema) {
		n := c.Node("Note")
		n.Properties, n.Implements = append(n.Properties, property("name", stringType.Optional())), []string{"Titled"}
		c.Interfaces = append(c.Interfaces, &catalog.Interface{Name: "Titled", Properties: []*catalog.Property{property("name", stringType.Optional())}})
	}
	return map[string]func(s *session){
		"schema: a type begins to implement": func(s *session) {
			s.apply("", implements("Person", "Named", "Made", "Silent"))
			s.expectChange(s.change().link("Hushes", "n1", nodeRef("Person", "ann"), set{"id": "h1"}), 0, 1, true)
			s.expectEdges("Hushes", "h1 | n1 | {Person, ann}")
			s.expectEdges("About", deskAbout)
		},
		"schema: a type stops implementing": func(s *session) {
			before := s.head()
			s.apply("", implements("City"))
			s.expectEdges("About", withoutCity)
			s.expectEdges("Links", linksNoCity)
			s.expectEdges("By", deskBy)
			s.expectCities("ann | Troy\nc1 | Oslo")
			s.expectChanges(s.head().ID, engine.ChangeRange{}, `
				deleted edge About "a2" "n1" City"ann"; rank: 2, null
				deleted edge About "a3" "n2" City"c1"
				deleted edge Links "l1" Person"ann" City"ann"
				deleted edge Links "l2" City"ann" Person"bob"
				deleted edge Links "l4" City"c1" City"c1"
				deleted edge Links "l5" City"ann" Team"ann"`)
			if c, err := s.graph.Commit(s.ctx, s.head().ID); err != nil || c.Parents[0] != before.ID {
				s.Errorf("commit %+v, error %v", c, err)
			}
			_, err := s.tryLoad(engine.Merge, `{"edge":"About","from":"n1","to":{"type":"City","id":"ann"}}`)
			s.expectLineNumbers(err, 1)
		},
		"schema: a type stops implementing the interface at a source": func(s *session) {
			s.apply("", implements("Team", "Named"))
			s.expectEdges("By", "b2 | {Person, ann} | bob\nb3 | {Person, bob} | bob")
			s.expectEdges("About", deskAbout)
			s.expectEdges("Links", deskLinks)
		},
		"schema: a type comes back without its edges": func(s *session) {
			s.apply("", implements("City"))
			s.apply("", implements("City", "Named"))
			s.expectEdges("About", withoutCity)
			s.expectChange(s.change().link("About", "n1", nodeRef("City", "ann"), set{"id": "a2"}), 0, 1, true)
			s.expectEdges("About", "a1 | n1 | {Person, ann}\na2 | n1 | {City, ann}\na4 | n3 | {Person, ann}\na5 | n2 | {Team, ann}")
		},
		"schema: a type is dropped": func(s *session) {
			s.apply("", dropType("Team"))
			s.expectEdges("About", withoutTeam)
			s.expectEdges("By", "b2 | {Person, ann} | bob\nb3 | {Person, bob} | bob")
			s.expectEdges("Links", strings.Replace(deskLinks, "\nl5 | {City, ann} | {Team, ann}", "", 1))
		},
		"schema: dropping a type needs permission": func(s *session) {
			_, err := s.graph.ApplySchema(s.ctx, sourceText, s.evolved(dropType("Team")), engine.SchemaOptions{})
			expectError[*engine.DataLoss](s, err)
			s.expectEdges("About", deskAbout)
		},
		"schema: a type is renamed": func(s *session) {
			s.apply("", renamedType("City", "Town"))
			s.expectEdges("About", renamedAbout)
			s.expectChanges(s.head().ID, engine.ChangeRange{Entities: []string{"edge"}}, `
				updated edge About "a2" "n1" Town"ann"; to: [City, ann], [Town, ann]
				updated edge About "a3" "n2" Town"c1"; to: [City, c1], [Town, c1]
				updated edge Links "l1" Person"ann" Town"ann"; to: [City, ann], [Town, ann]
				updated edge Links "l2" Town"ann" Person"bob"; from: [City, ann], [Town, ann]
				updated edge Links "l4" Town"c1" Town"c1"; from: [City, c1], [Town, c1]; to: [City, c1], [Town, c1]
				updated edge Links "l5" Town"ann" Team"ann"; from: [City, ann], [Town, ann]`)
			p := s.read()
			n, x := p.node("n", "Note"), p.node("x", "Town")
			s.expect(p.match(hop(n, "About", x)).ret(id(n), id(x)), "n1 | ann\nn2 | c1")
			s.load(engine.Merge, `{"edge":"About","from":"n4","to":{"type":"Town","id":"c1"},"data":{"id":"a9"}}`)
			s.expectEdges("About", renamedAbout+"\na9 | n4 | {Town, c1}")
		},
		"schema: two types change their names": func(s *session) {
			s.apply("", renamedType("City", "Town"), renamedType("Team", "Crew"))
			s.expectEdges("About", strings.Replace(renamedAbout, "Team", "Crew", 1))
		},
		"schema: a type is renamed twice": func(s *session) {
			s.apply("", renamedType("City", "Town"))
			s.apply("", renamedType("Town", "Village"))
			s.expectEdges("About", strings.ReplaceAll(renamedAbout, "Town", "Village"))
		},
		"schema: a type is renamed and stops implementing": func(s *session) {
			s.apply("", renamedType("City", "Town"), func(c *catalog.Schema) { c.Node("Town").Implements = nil })
			s.expectEdges("About", withoutCity)
		},
		"schema: the edge type is renamed": func(s *session) {
			s.apply("", edgeType("About", func(e *catalog.Edge) { e.Name, e.RenameFrom = "Regards", "About" }))
			s.expectEdges("Regards", deskAbout)
		},
		"schema: the edge type is renamed, and a type stops implementing": func(s *session) {
			s.apply("", edgeType("About", func(e *catalog.Edge) { e.Name, e.RenameFrom = "Regards", "About" }), implements("City"))
			s.expectEdges("Regards", withoutCity)
		},
		"schema: a type at the other end is renamed": func(s *session) {
			s.apply("", renamedType("Note", "Memo"))
			s.expectEdges("About", deskAbout)
			s.expectChanges(s.head().ID, engine.ChangeRange{Entities: []string{"edge"}}, "")
		},
		"schema: an end becomes an interface, and a node type again": func(s *session) {
			s.apply("", titled, edgeType("About", func(e *catalog.Edge) { e.From, e.FromInterface = "Titled", true }))
			s.expectEdges("About", "a1 | {Note, n1} | {Person, ann}\na2 | {Note, n1} | {City, ann}\na3 | {Note, n2} | {City, c1}\na4 | {Note, n3} | {Person, ann}\na5 | {Note, n2} | {Team, ann}")
			s.apply("", edgeType("About", func(e *catalog.Edge) { e.From, e.FromInterface = "Note", false }))
			s.expectEdges("About", deskAbout)
			s.expectChange(s.change().link("About", "n4", nodeRef("City", "ann"), set{"id": "a9"}), 0, 1, true)
		},
		"schema: an end becomes a node type when no other node is there": func(s *session) {
			person := edgeType("About", func(e *catalog.Edge) { e.To, e.ToInterface = "Person", false })
			s.expectViolations(s.refused(person), "edge About endpoint a2\nedge About endpoint a3\nedge About endpoint a5")
			for _, id := range []string{"a2", "a3", "a5"} {
				s.mutate(s.change().unlink("About", "id", plan.Eq, id))
			}
			s.apply("", person)
			s.expectEdges("About", "a1 | n1 | ann\na4 | n3 | ann")
		},
		"schema: an end becomes a narrower interface, and a wider one": func(s *session) {
			made := edgeType("About", func(e *catalog.Edge) { e.To = "Made" })
			s.expectViolations(s.refused(made), "edge About endpoint a2\nedge About endpoint a3")
			s.mutate(s.change().unlink("About", "id", plan.Eq, "a2"))
			s.mutate(s.change().unlink("About", "id", plan.Eq, "a3"))
			s.apply("", made)
			s.expectEdges("About", withoutCity)
			s.apply("", edgeType("About", func(e *catalog.Edge) { e.To = "Named" }))
			s.expectEdges("About", withoutCity)
			s.expectChange(s.change().link("About", "n1", nodeRef("City", "ann"), set{"id": "a2"}), 0, 1, true)
		},
		"schema: an end cannot become a node type at which no edge ends": func(s *session) {
			expectError[*engine.UnsupportedMigration](s, s.refused(edgeType("By", func(e *catalog.Edge) { e.To = "City" })))
		},
		"schema: the ends of a type without edges change": func(s *session) {
			s.apply("", edgeType("Hushes", func(e *catalog.Edge) { e.To = "Made" }))
			s.expectChange(s.change().link("Hushes", "n1", nodeRef("Team", "ann"), set{"id": "h1"}), 0, 1, true)
			s.expectEdges("Hushes", "h1 | n1 | {Team, ann}")
		},
		"schema: a new edge type": func(s *session) {
			s.apply("", func(c *catalog.Schema) {
				c.Edges = append(c.Edges, &catalog.Edge{Name: "Owns", From: "Made", FromInterface: true, To: "Named", ToInterface: true})
			})
			s.expectChange(s.change().link("Owns", nodeRef("Team", "ann"), nodeRef("City", "c1"), set{"id": "o1"}), 0, 1, true)
			s.expectEdges("Owns", "o1 | {Team, ann} | {City, c1}")
		},
		"schema: the edge type is dropped": func(s *session) {
			s.apply("", func(c *catalog.Schema) {
				c.Edges = slices.DeleteFunc(c.Edges, func(e *catalog.Edge) bool { return e.Name == "About" })
			})
			s.expectEdges("Links", deskLinks)
		},
		"schema: lost edges break a minimum": func(s *session) {
			s.mutate(s.change().remove("Note", "id", plan.Eq, "n4"))
			s.apply("", bounds("About", 1, -1))
			s.expectViolations(s.refused(implements("Person", "Made")), "edge About cardinality")
			s.expectViolations(s.refused(implements("Person", "Made"), edgeType("About", func(e *catalog.Edge) { e.Name, e.RenameFrom = "Regards", "About" })), "edge Regards cardinality")
			s.expectEdges("About", deskAbout)
			s.apply("", implements("Team", "Made"))
			s.expectEdges("About", withoutTeam)
		},
		"schema: lost edges of a source that leaves break no minimum": func(s *session) {
			s.apply("", bounds("By", 1, 1))
			s.apply("", implements("Team", "Named"))
			s.expectEdges("By", "b2 | {Person, ann} | bob\nb3 | {Person, bob} | bob")
		},
		"schema: lost edges of a renamed source break a minimum": func(s *session) {
			s.apply("", bounds("Links", 1, -1))
			s.expectViolations(s.refused(renamedType("Person", "Human"), implements("City")), "edge Links cardinality")
		},
		"schema: lost edges make room for a rule": func(s *session) {
			s.mutate(s.change().unlink("About", "id", plan.Eq, "a4"))
			s.expectViolations(s.refused(bounds("About", 0, 1)), "edge About cardinality")
			s.apply("", implements("City"), bounds("About", 0, 1), aboutRule("dst"))
			s.expectEdges("About", "a1 | n1 | {Person, ann}\na5 | n2 | {Team, ann}")
		},
		"schema: a query from before a type left finds nothing": func(s *session) {
			p := s.read()
			n, x := p.node("n", "Note"), p.node("x", "City")
			q := p.match(hop(n, "About", x)).ret(id(n), id(x))
			w := s.read()
			a, b := w.node("a", "City"), w.node("b", "City")
			stays := w.match(walk(a, "Links", 0, 2, b)).ret(id(a), id(b))
			s.expect(q, "n1 | ann\nn2 | c1")
			s.expect(stays, "ann | ann\nc1 | c1")
			s.apply("", implements("City"))
			s.expect(q, "")
			s.expect(stays, "")
		},
		"schema: a query needs the ends that it knows": func(s *session) {
			p := s.read()
			n, x := p.node("n", "Note"), p.node("x", "Person")
			q := p.match(hop(n, "Hushes", x)).ret(id(n), id(x)).query()
			s.apply("", edgeType("Hushes", func(e *catalog.Edge) { e.To, e.ToInterface = "Person", false }))
			expectError[*engine.SchemaMismatch](s, s.graph.Bind(s.ctx, q, engine.Target{}))
		},
		"schema: a merge brings the rename of a type": func(s *session) {
			s.fork("side", "")
			s.mutate(s.change().link("About", "n4", nodeRef("City", "c1"), set{"id": "a9"}))
			s.apply("side", renamedType("City", "Town"))
			s.merged("side", "main", engine.Merged)
			s.expectEdges("About", renamedAbout+"\na9 | n4 | {Town, c1}")
		},
		"schema: a merge into a branch with the rename of a type": func(s *session) {
			s.fork("side", "")
			s.on("side", s.change().link("About", "n4", nodeRef("City", "c1"), set{"id": "a9"}))
			s.apply("", renamedType("City", "Town"))
			s.merged("side", "main", engine.Merged)
			s.expectEdges("About", renamedAbout+"\na9 | n4 | {Town, c1}")
		},
		"schema: a merge brings the departure of a type": func(s *session) {
			s.fork("side", "")
			s.mutate(s.change().link("About", "n4", nodeRef("Person", "cid"), set{"id": "a9"}))
			s.apply("side", implements("City"))
			s.merged("side", "main", engine.Merged)
			s.expectEdges("About", withoutCity+"\na9 | n4 | {Person, cid}")
			s.expectEdges("Links", linksNoCity)
		},
		"schema: a new edge and the departure of its type": func(s *session) {
			s.fork("side", "")
			s.mutate(s.change().link("About", "n4", nodeRef("City", "c1"), set{"id": "a9"}))
			s.apply("side", implements("City"))
			s.expectConflicts(`delete_vs_update edge About "a9"`)
		},
		"schema: a changed edge and the departure of its type": func(s *session) {
			s.fork("side", "")
			s.on("side", s.change().alter(plan.Edge, "About", set{"rank": 9}, s.change().pred(plan.Edge, "About", "id", plan.Eq, "a2")))
			s.apply("", implements("City"))
			s.expectConflicts(`delete_vs_update edge About "a2"`)
		},
		"schema: an edge that moved to a departed type breaks no minimum": func(s *session) {
			s.mutate(s.change().remove("Note", "id", plan.Eq, "n4"))
			s.apply("", bounds("About", 1, -1))
			s.fork("side", "")
			s.move("side", `{"edge":"About","from":"n3","to":{"type":"City","id":"c1"},"data":{"id":"a4","rank":1}}`)
			s.apply("", implements("City"))
			s.expectConflicts(`delete_vs_update edge About "a4"`)
		},
		"schema: a changed edge and the drop of its type": func(s *session) {
			s.fork("side", "")
			s.on("side", s.change().alter(plan.Edge, "About", set{"rank": 9}, s.change().pred(plan.Edge, "About", "id", plan.Eq, "a5")))
			s.apply("", dropType("Team"))
			s.expectConflicts(`delete_vs_update edge About "a5"`)
		},
		"schema: a deleted edge and the departure of its type": func(s *session) {
			s.fork("side", "")
			s.on("side", s.change().unlink("About", "id", plan.Eq, "a2"))
			s.apply("", implements("City"))
			s.merged("side", "main", engine.AlreadyUpToDate)
			s.expectEdges("About", withoutCity)
		},
		"schema: an edge of a type that left and came back stays away": func(s *session) {
			s.fork("side", "")
			s.fork("other", "")
			s.apply("side", implements("City"))
			s.apply("side", implements("City", "Named"))
			s.mutate(s.change().insert("Team", set{"name": "red"}))
			s.merged("side", "main", engine.Merged)
			s.expectEdges("About", withoutCity)
		},
	}
}
