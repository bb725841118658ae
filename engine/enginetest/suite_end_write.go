package enginetest

import (
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// deskExport is the export of the edges of the desk.
const deskExport = `{"edge":"About","from":"n1","to":{"type":"Person","id":"ann"},"data":{"id":"a1","rank":1}}
{"edge":"About","from":"n1","to":{"type":"City","id":"ann"},"data":{"id":"a2","rank":2}}
{"edge":"About","from":"n2","to":{"type":"City","id":"c1"},"data":{"id":"a3"}}
{"edge":"About","from":"n3","to":{"type":"Person","id":"ann"},"data":{"id":"a4"}}
{"edge":"About","from":"n2","to":{"type":"Team","id":"ann"},"data":{"id":"a5","rank":3}}
{"edge":"By","from":{"type":"Team","id":"ann"},"to":"cid","data":{"id":"b1"}}
{"edge":"By","from":{"type":"Person","id":"ann"},"to":"bob","data":{"id":"b2"}}
{"edge":"By","from":{"type":"Person","id":"bob"},"to":"bob","data":{"id":"b3"}}
`

// exported returns the export of some types of main.
func (s *session) exported(types ...string) string {
	s.Helper()
	var b strings.Builder
	if _, err := s.graph.Export(s.ctx, &b, engine.Target{}, engine.ExportOptions{Types: types}); err != nil {
		s.Fatalf("export: %v", err)
	}
	return b.String()
}

// endLoadCases returns the cases of loads and exports.
func endLoadCases() map[string]func(s *session) {
	return map[string]func(s *session){
		"export": func(s *session) {
			if got := s.exported("About", "By"); got != deskExport {
				s.Errorf("the export is\n%s\nwant\n%s", got, deskExport)
			}
		},
		"export and load again": func(s *session) {
			want := s.exported()
			s.mutate(s.change().remove("Person", "name", plan.Ge, "").remove("City", "name", plan.Ge, "").remove("Team", "name", plan.Ge, "").remove("Note", "id", plan.Ge, ""))
			s.load(engine.Append, want)
			if got := s.exported(); got != want {
				s.Errorf("the export is\n%s\nwant\n%s", got, want)
			}
			s.expectEdges("About", deskAbout)
			s.expectEdges("Links", deskLinks)
		},
		"load counts": func(s *session) {
			res := s.load(engine.Append, `{"edge":"About","from":"n4","to":{"type":"Team","id":"red"}}
{"type":"Team","data":{"name":"red"}}`)
			if len(res.Nodes) != 1 || len(res.Edges) != 1 || res.Edges[0] != (engine.TypeCount{Type: "About", Count: 1}) {
				s.Errorf("the load reports %v and %v", res.Nodes, res.Edges)
			}
			p := s.read()
			n, x := p.node("n", "Note"), p.node("x", "Team")
			s.expect(p.match(hop(n, "About", x)).ret(id(n), id(x)), "n2 | ann\nn4 | red")
		},
		"an overwrite moves an end to another type": func(s *session) {
			s.move("", `{"edge":"About","from":"n1","to":{"type":"Team","id":"ann"},"data":{"id":"a1","rank":1}}`)
			s.expectEdges("About", strings.Replace(deskAbout, "{Person, ann}", "{Team, ann}", 1))
			p := s.read()
			n, x := p.node("n", "Note"), p.node("x", "Person")
			s.expect(p.match(hop(n, "About", x)).ret(id(n), id(x)), "n3 | ann")
		},
		"merge of the same edge commits nothing": func(s *session) {
			head := s.head()
			s.load(engine.Merge, `{"edge":"About","from":"n1","to":{"id":"ann","type":"Person"},"data":{"id":"a1","rank":1}}`)
			if now := s.head(); now.ID != head.ID {
				s.Errorf("the head moved")
			}
		},
		"an overwrite moves a source": func(s *session) {
			s.move("", `{"edge":"By","from":{"type":"Person","id":"ann"},"to":"cid","data":{"id":"b1"}}`)
			s.expectEdges("By", strings.Replace(deskBy, "{Team, ann}", "{Person, ann}", 1))
		},
		"overwrite": func(s *session) {
			s.load(engine.Overwrite, `{"edge":"About","from":"n4","to":{"type":"City","id":"c1"},"data":{"id":"a9"}}`)
			s.expectEdges("About", "a9 | n4 | {City, c1}")
		},
		"overwrite of a type at the end": func(s *session) {
			s.load(engine.Overwrite, `{"type":"Team","data":{"name":"ann"}}`)
			s.expectEdges("About", deskAbout)
			_, err := s.tryLoad(engine.Overwrite, `{"type":"Team","data":{"name":"red"}}`)
			s.expectViolation(err, "endpoint", "")
		},
		"ids with every character": func(s *session) {
			s.load(engine.Merge, `{"type":"City","data":{"id":"a\u0000 \"é","name":"Å"}}
{"edge":"About","from":"n4","to":{"type":"City","id":"a\u0000 \"é"},"data":{"id":"a9"}}`)
			s.expectEdges("About", deskAbout+"\na9 | n4 | {City, a\x00 \"é}")
			if got, want := s.exported("About"), `"to":{"type":"City","id":"a\u0000 \"é"}`; !strings.Contains(got, want) {
				s.Errorf("the export is\n%s\nwant %s in it", got, want)
			}
		},
	}
}

// endLoadFaults returns the cases of bad lines.
func endLoadFaults() map[string]func(s *session) {
	runs := map[string]func(s *session){
		"a missing node is reported with its line": func(s *session) {
			_, err := s.tryLoad(engine.Merge, `{"type":"Team","data":{"name":"red"}}
{"edge":"About","from":"n1","to":{"type":"Team","id":"blue"}}
{"edge":"About","from":"n1","to":{"type":"Team","id":"c1"}}`)
			s.expectLineNumbers(err, 2, 3)
			s.expectEdges("About", deskAbout)
		},
	}
	for name, line := range map[string]string{
		"a string at an interface":           `{"edge":"About","from":"n1","to":"ann"}`,
		"an object at a node type":           `{"edge":"About","from":{"type":"Note","id":"n1"},"to":{"type":"City","id":"c1"}}`,
		"no end":                             `{"edge":"About","from":"n1"}`,
		"null":                               `{"edge":"About","from":"n1","to":null}`,
		"a list":                             `{"edge":"About","from":"n1","to":["Person","ann"]}`,
		"no type":                            `{"edge":"About","from":"n1","to":{"id":"ann"}}`,
		"no id":                              `{"edge":"About","from":"n1","to":{"type":"Person"}}`,
		"a further member":                   `{"edge":"About","from":"n1","to":{"type":"Person","id":"ann","name":"ann"}}`,
		"another member":                     `{"edge":"About","from":"n1","to":{"type":"Person","key":"ann"}}`,
		"a member twice":                     `{"edge":"About","from":"n1","to":{"type":"Person","type":"Person","id":"ann"}}`,
		"an id that is a number":             `{"edge":"About","from":"n1","to":{"type":"Person","id":1}}`,
		"a type that is null":                `{"edge":"About","from":"n1","to":{"type":null,"id":"ann"}}`,
		"an unknown type":                    `{"edge":"About","from":"n1","to":{"type":"Nothing","id":"ann"}}`,
		"a type without the interface":       `{"edge":"About","from":"n1","to":{"type":"Note","id":"n1"}}`,
		"the interface as the type":          `{"edge":"About","from":"n1","to":{"type":"Named","id":"ann"}}`,
		"a source of another interface":      `{"edge":"By","from":{"type":"City","id":"ann"},"to":"cid"}`,
		"a source that is a string":          `{"edge":"By","from":"ann","to":"cid"}`,
		"an interface without types":         `{"edge":"Hushes","from":"n1","to":{"type":"Person","id":"ann"}}`,
		"a node of another type with the id": `{"edge":"By","from":{"type":"Team","id":"bob"},"to":"cid"}`,
	} {
		runs["bad line: "+name] = func(s *session) {
			_, err := s.tryLoad(engine.Merge, `{"type":"Team","data":{"name":"red"}}`+"\n\n"+line)
			s.expectLineNumbers(err, 3)
			s.expectEdges("About", deskAbout)
			s.expectEdges("By", deskBy)
			p := s.read()
			t := p.bind("t", "Team")
			s.expect(p.ret(id(t)), "ann")
		}
	}
	return runs
}

// endMutationCases returns the cases of mutations.
func endMutationCases() map[string]func(s *session) {
	text := func(v plan.Expr) plan.NodeRef {
		return plan.NodeRef{Type: plan.Lit{Value: value.OfString("Team")}, ID: v}
	}
	namedNode := func(m *mutationPlan, optional bool) plan.ParamRef {
		t := plan.NodeType([]string{"Person", "City", "Team"})
		t.Nullable = optional
		ref := m.param("who", t)
		m.q.Params[ref.Index].Interface = "Named"
		return ref
	}
	const added = deskAbout + "\na9 | n4 | "
	return map[string]func(s *session){
		"insert": func(s *session) {
			s.expectChange(s.change().link("About", "n4", nodeRef("City", "ann"), set{"id": "a9", "rank": 4}), 0, 1, true)
			s.expectEdges("About", added+"{City, ann}")
		},
		"insert by a key": func(s *session) {
			m := s.change()
			m.link("About", "n4", text(m.keyOf("Team", "ann")), set{"id": "a9"})
			s.expectChange(m, 0, 1, true)
			s.expectEdges("About", added+"{Team, ann}")
		},
		"insert with an argument of a node type": func(s *session) {
			m := s.change()
			m.link("About", "n4", nodeRef("Person", m.param("p", stringType)), set{"id": "a9"})
			s.expectChange(m, 0, 1, true, "bob")
			s.expectEdges("About", added+"{Person, bob}")
		},
		"insert with an argument of the interface": func(s *session) {
			m := s.change()
			m.link("About", "n4", namedNode(m, false), set{"id": "a9"})
			s.expectChange(m, 0, 1, true, plan.OfNode("City", "c1"))
			s.expectEdges("About", added+"{City, c1}")
		},
		"insert with an argument that is null": func(s *session) {
			m := s.change()
			m.link("About", "n4", namedNode(m, true), nil)
			_, err := s.tryMutate(m, nil)
			s.expectViolation(err, "endpoint", "")
		},
		"insert with a wrong argument": func(s *session) {
			m := s.change()
			m.link("About", "n4", namedNode(m, false), nil)
			_, err := s.tryMutate(m, plan.OfNode("Note", "n1"))
			expectError[*engine.BadArgument](s, err)
			s.expectEdges("About", deskAbout)
		},
		"insert of a node and an edge to it": func(s *session) {
			m := s.change()
			red := m.insert("Team", set{"name": "red"}).named("t")
			m.link("About", "n4", text(plan.ID{Var: red}), set{"id": "a9"})
			s.expectChange(m, 1, 1, true)
			s.expectEdges("About", added+"{Team, red}")
		},
		"insert of an edge from a new node": func(s *session) {
			m := s.change()
			red := m.insert("Team", set{"name": "red"}).named("t")
			m.link("By", text(plan.ID{Var: red}), "ann", set{"id": "b9"})
			s.expectChange(m, 1, 1, true)
			s.expectEdges("By", deskBy+"\nb9 | {Team, red} | ann")
		},
		"insert between two interfaces": func(s *session) {
			s.expectChange(s.change().link("Links", nodeRef("Team", "ann"), nodeRef("City", "c1"), set{"id": "l9"}), 0, 1, true)
			s.expectEdges("Links", deskLinks+"\nl9 | {Team, ann} | {City, c1}")
		},
		"insert to a node that does not exist": func(s *session) {
			_, err := s.tryMutate(s.change().link("About", "n4", nodeRef("Team", "red"), nil))
			s.expectViolation(err, "endpoint", "")
		},
		"insert to a node of another type": func(s *session) {
			_, err := s.tryMutate(s.change().link("About", "n4", nodeRef("Team", "bob"), nil))
			s.expectViolation(err, "endpoint", "")
			s.expectEdges("About", deskAbout)
		},
		"insert in a block over an interface": func(s *session) {
			m, p := s.change(), s.read()
			x := p.shared("x")
			p.match(plan.Bind{Var: x}, where(id(x), plan.Eq, "ann"))
			m.forEach(p, func(row func(plan.Expr) plan.Expr) {
				m.link("Links", plan.NodeRef{Type: row(p.prop(x, catalog.TypeProperty)), ID: row(id(x))}, nodeRef("City", "c1"), nil)
			})
			s.expectChange(m, 0, 3, true)
			q := s.read()
			a, c := q.shared("a"), q.node("c", "City")
			s.expect(q.match(hop(a, "Links", c), where(id(c), plan.Eq, "c1")).ret(q.prop(a, "type"), id(a)), "City | ann\nCity | c1\nPerson | ann\nTeam | ann")
		},
		"insert in a block with a type that does not fit": func(s *session) {
			m, p := s.change(), s.read()
			x := p.shared("x")
			p.match(plan.Bind{Var: x}, where(id(x), plan.Eq, "ann"))
			m.forEach(p, func(row func(plan.Expr) plan.Expr) {
				m.link("By", plan.NodeRef{Type: row(p.prop(x, catalog.TypeProperty)), ID: row(id(x))}, "cid", nil)
			})
			_, err := s.tryMutate(m)
			s.expectViolation(err, "endpoint", "")
			s.expectEdges("By", deskBy)
		},
		"insert in a block over a node type": func(s *session) {
			m, p := s.change(), s.read()
			a := p.bind("a", "Person")
			m.forEach(p, func(row func(plan.Expr) plan.Expr) {
				m.link("About", "n4", plan.NodeRef{Type: plan.Lit{Value: value.OfString("Person")}, ID: row(id(a))}, nil)
			})
			s.expectChange(m, 0, 3, true)
		},
		"insert in a block over a list": func(s *session) {
			m := s.change()
			list := m.param("list", value.Type{Kind: value.String, List: true})
			m.forElements(list, stringType, func(elem plan.Expr) { m.link("About", "n4", nodeRef("City", elem), nil) })
			s.expectChange(m, 0, 2, true, value.OfList(value.String, []value.Value{textValue("ann"), textValue("c1")}))
		},
		"returned ends": func(s *session) {
			m := s.change()
			e := m.link("Links", nodeRef("Team", "ann"), nodeRef("City", "c1"), set{"id": "l9"}).named("e")
			m.returns(plan.ID{Var: e}, endExpr(s.schema.Edge("Links"), e, false), endExpr(s.schema.Edge("Links"), e, true))
			s.expectRow(s.mutate(m), textValue("l9"), textValue("Team"), textValue("ann"), textValue("City"), textValue("c1"))
		},
		"returned ends of an edge at a node type": func(s *session) {
			m := s.change()
			e := m.link("By", nodeRef("Team", "ann"), "ann", set{"id": "b9"}).named("e")
			m.returns(endExpr(s.schema.Edge("By"), e, true), endExpr(s.schema.Edge("By"), e, false))
			s.expectRow(s.mutate(m), textValue("ann"), textValue("Team"), textValue("ann"))
		},
		"returned ends of an edge that is deleted": func(s *session) {
			m := s.change()
			e := m.link("About", "n4", nodeRef("Team", "ann"), set{"id": "a9"}).named("e")
			m.unlink("About", "id", plan.Eq, "a9")
			m.returns(plan.ID{Var: e}, endExpr(s.schema.Edge("About"), e, true))
			m.insert("Team", set{"name": "red"})
			s.expectRow(s.mutate(m), value.Null, value.Null, value.Null)
		},
		"update by an end": func(s *session) {
			s.expectChange(s.change().alter(plan.Edge, "About", set{"rank": 9}, s.change().pred(plan.Edge, "About", "to", plan.Eq, nodeRef("Person", "ann"))), 0, 2, true)
			p := s.read()
			n, e, x := p.node("n", "Note"), p.edge("e", "About"), p.shared("x")
			s.expect(p.match(over(n, e, "About", x), where(p.prop(e, "rank"), plan.Eq, 9)).ret(id(e)), "a1\na4")
		},
		"update by another end": func(s *session) {
			s.expectChange(s.change().alter(plan.Edge, "About", set{"rank": 9}, s.change().pred(plan.Edge, "About", "to", plan.Ne, nodeRef("Person", "ann"))), 0, 3, true)
		},
		"delete by an end": func(s *session) {
			s.expectChange(s.change().unlink("About", "to", plan.Eq, nodeRef("City", "ann")), 0, 1, true)
			s.expectEdges("About", "a1 | n1 | {Person, ann}\na3 | n2 | {City, c1}\na4 | n3 | {Person, ann}\na5 | n2 | {Team, ann}")
		},
		"delete by a source": func(s *session) {
			s.expectChange(s.change().unlink("By", "from", plan.Eq, nodeRef("Person", "ann")), 0, 1, true)
			s.expectEdges("By", "b1 | {Team, ann} | cid\nb3 | {Person, bob} | bob")
		},
		"delete by the other end": func(s *session) {
			s.expectChange(s.change().unlink("By", "to", plan.Eq, "bob"), 0, 2, true)
			s.expectEdges("By", "b1 | {Team, ann} | cid")
		},
		"delete by both ends": func(s *session) {
			m := s.change()
			m.add(plan.Delete{Entity: plan.Edge, Type: "Links", Where: []plan.Pred{m.pred(plan.Edge, "Links", "from", plan.Eq, nodeRef("City", "ann")),
				m.pred(plan.Edge, "Links", "to", plan.Eq, nodeRef("Team", "ann"))}})
			s.expectChange(m, 0, 1, true)
			s.expectEdges("Links", "l1 | {Person, ann} | {City, ann}\nl2 | {City, ann} | {Person, bob}\nl3 | {Person, bob} | {Person, ann}\nl4 | {City, c1} | {City, c1}")
		},
		"delete by an argument": func(s *session) {
			m := s.change()
			m.unlink("About", "to", plan.Ne, namedNode(m, false))
			s.expectChange(m, 0, 3, true, plan.OfNode("Person", "ann"))
			s.expectEdges("About", "a1 | n1 | {Person, ann}\na4 | n3 | {Person, ann}")
		},
		"delete by an argument that is null": func(s *session) {
			for _, op := range []plan.Op{plan.Eq, plan.Ne} {
				m := s.change()
				m.unlink("About", "to", op, namedNode(m, true))
				s.expectChange(m, 0, 0, false, nil)
			}
		},
		"delete of a node takes its edges": func(s *session) {
			s.expectChange(s.change().remove("Person", "name", plan.Eq, "ann"), 1, 5, true)
			s.expectEdges("About", "a2 | n1 | {City, ann}\na3 | n2 | {City, c1}\na5 | n2 | {Team, ann}")
			s.expectEdges("By", "b1 | {Team, ann} | cid\nb3 | {Person, bob} | bob")
			s.expectEdges("Links", "l2 | {City, ann} | {Person, bob}\nl4 | {City, c1} | {City, c1}\nl5 | {City, ann} | {Team, ann}")
		},
		"delete of a node of another type with the id": func(s *session) {
			s.expectChange(s.change().remove("Team", "name", plan.Eq, "ann"), 1, 3, true)
			s.expectEdges("About", "a1 | n1 | {Person, ann}\na2 | n1 | {City, ann}\na3 | n2 | {City, c1}\na4 | n3 | {Person, ann}")
			s.expectEdges("By", "b2 | {Person, ann} | bob\nb3 | {Person, bob} | bob")
		},
		"delete of a node with a loop": func(s *session) {
			s.expectChange(s.change().remove("City", "id", plan.Eq, "c1"), 1, 2, true)
			s.expectEdges("Links", "l1 | {Person, ann} | {City, ann}\nl2 | {City, ann} | {Person, bob}\nl3 | {Person, bob} | {Person, ann}\nl5 | {City, ann} | {Team, ann}")
		},
		"delete of nodes at the other end": func(s *session) {
			s.expectChange(s.change().remove("Note", "id", plan.Eq, "n1"), 1, 3, true)
			s.expectEdges("About", "a3 | n2 | {City, c1}\na4 | n3 | {Person, ann}\na5 | n2 | {Team, ann}")
		},
		"delete and insert again": func(s *session) {
			again := func(typ string) *mutationPlan {
				return s.change().unlink("About", "id", plan.Eq, "a3").link("About", "n2", nodeRef(typ, "ann"), set{"id": "a3"})
			}
			s.expectChange(again("City"), 0, 2, true)
			s.expectChange(again("City"), 0, 2, false)
			s.expectChange(again("Person"), 0, 2, true)
			s.expectEdges("About", strings.Replace(deskAbout, "{City, c1}", "{Person, ann}", 1))
		},
	}
}
