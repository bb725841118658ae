package enginetest

import (
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// aboutRule returns a change of a schema: it adds unique rules to the edge type About.
func aboutRule(unique ...string) func(c *catalog.Schema) {
	return edgeType("About", func(e *catalog.Edge) { e.Unique = append(e.Unique, unique) })
}

// bounds returns a change of a schema: it bounds the number of edges of a type from one node.
func bounds(edge string, low, high int) func(c *catalog.Schema) {
	return edgeType(edge, func(e *catalog.Edge) { e.Card = &catalog.Cardinality{Min: low, Max: high} })
}

// endRuleCases returns the cases of the rules about several edges.
func endRuleCases() map[string]func(s *session) {
	about := func(s *session, from, typ, id string, props set) *mutationPlan {
		return s.change().link("About", from, nodeRef(typ, id), props)
	}
	return map[string]func(s *session){
		"unique pairs of ends": func(s *session) {
			s.apply("", aboutRule("src", "dst"))
			s.expectChange(about(s, "n1", "Team", "ann", nil), 0, 1, true)
			_, err := s.tryMutate(about(s, "n1", "City", "ann", nil))
			s.expectViolation(err, "unique", "")
		},
		"unique targets": func(s *session) {
			s.expectViolations(s.refused(aboutRule("dst")), "edge About unique a1\nedge About unique a4")
			s.mutate(s.change().unlink("About", "id", plan.Eq, "a4"))
			s.apply("", aboutRule("dst"))
			s.expectChange(about(s, "n4", "Person", "bob", nil), 0, 1, true)
			_, err := s.tryMutate(about(s, "n4", "City", "ann", nil))
			s.expectViolation(err, "unique", "")
		},
		"unique sources": func(s *session) {
			s.apply("", edgeType("By", func(e *catalog.Edge) { e.Unique = [][]string{{"src"}} }))
			_, err := s.tryMutate(s.change().link("By", nodeRef("Team", "ann"), "bob", nil))
			s.expectViolation(err, "unique", "")
			s.expectChange(s.change().link("By", nodeRef("Person", "cid"), "bob", nil), 0, 1, true)
		},
		"unique targets in a load": func(s *session) {
			s.mutate(s.change().unlink("About", "id", plan.Eq, "a4"))
			s.apply("", aboutRule("dst"))
			_, err := s.tryLoad(engine.Append, `{"edge":"About","from":"n4","to":{"type":"Person","id":"bob"}}
{"edge":"About","from":"n4","to":{"type":"Team","id":"ann"}}`)
			s.expectLineNumbers(err, 2)
		},
		"unique with a property": func(s *session) {
			s.apply("", aboutRule("dst", "rank"))
			s.expectChange(about(s, "n4", "City", "ann", set{"rank": 1}), 0, 1, true)
			_, err := s.tryMutate(about(s, "n4", "Person", "ann", set{"rank": 1}))
			s.expectViolation(err, "unique", "")
		},
		"upsert finds the edge between its ends": func(s *session) {
			s.apply("", aboutRule("src", "dst"))
			s.expectChange(s.change().relink("About", "n1", nodeRef("City", "ann"), set{"rank": 7}), 0, 1, true)
			s.expectEdges("About", deskAbout)
			p := s.read()
			n, e, x := p.node("n", "Note"), p.edge("e", "About"), p.shared("x")
			s.expect(p.match(over(n, e, "About", x), where(p.prop(e, "rank"), plan.Eq, 7)).ret(id(e), p.to(e)), "a2 | {City, ann}")
		},
		"upsert to another type with the id inserts": func(s *session) {
			s.apply("", aboutRule("src", "dst"))
			s.expectChange(s.change().relink("About", "n1", nodeRef("Team", "ann"), set{"rank": 7}), 0, 1, true)
			p := s.read()
			n, e, x := p.node("n", "Note"), p.edge("e", "About"), p.node("x", "Team")
			s.expect(p.match(over(n, e, "About", x)).ret(id(n), p.prop(e, "rank")).orderBy(id(n)), "n1 | 7\nn2 | 3")
		},
		"at most so many edges from each node": func(s *session) {
			s.apply("", bounds("By", 0, 1))
			s.expectChange(s.change().link("By", nodeRef("Person", "cid"), "bob", nil), 0, 1, true)
			_, err := s.tryMutate(s.change().link("By", nodeRef("Team", "ann"), "bob", nil))
			s.expectViolation(err, "cardinality", "")
		},
		"at most two edges from nodes with one id": func(s *session) {
			s.apply("", bounds("Links", 0, 2))
			s.expectChange(s.change().link("Links", nodeRef("Team", "ann"), nodeRef("City", "c1"), nil), 0, 1, true)
			_, err := s.tryMutate(s.change().link("Links", nodeRef("City", "ann"), nodeRef("City", "c1"), nil))
			s.expectViolation(err, "cardinality", "")
		},
		"at least one edge": func(s *session) {
			s.apply("", bounds("By", 1, 2))
			_, err := s.tryMutate(s.change().unlink("By", "id", plan.Eq, "b1"))
			s.expectViolation(err, "cardinality", "")
			_, err = s.tryMutate(s.change().unlink("By", "from", plan.Eq, nodeRef("Person", "ann")))
			s.expectViolation(err, "cardinality", "")
			s.expectChange(s.change().remove("Team", "name", plan.Eq, "ann"), 1, 3, true)
		},
		"at least one edge, after the other end is deleted": func(s *session) {
			s.apply("", bounds("About", 1, -1))
			_, err := s.tryMutate(s.change().remove("Person", "name", plan.Eq, "ann"))
			s.expectViolation(err, "cardinality", "")
			s.expectChange(s.change().remove("Team", "name", plan.Eq, "ann"), 1, 3, true)
		},
		"a source moves to another type": func(s *session) {
			s.apply("", bounds("By", 1, 1))
			err := s.tryMove("", `{"edge":"By","from":{"type":"Person","id":"ann"},"to":"cid","data":{"id":"b1"}}`)
			s.expectViolation(err, "cardinality", "")
			s.move("", `{"edge":"By","from":{"type":"Person","id":"ann"},"to":"cid","data":{"id":"b1"}}
{"edge":"By","from":{"type":"Team","id":"ann"},"to":"bob","data":{"id":"b2"}}`)
			s.expectEdges("By", "b1 | {Person, ann} | cid\nb2 | {Team, ann} | bob\nb3 | {Person, bob} | bob")
		},
		"indexes on the ends": func(s *session) {
			s.apply("", edgeType("About", func(e *catalog.Edge) { e.Index = [][]string{{"dst"}, {"src"}} }))
			p := s.read()
			n, x := p.node("n", "Note"), p.bind("x", "City")
			s.expect(p.match(hop(n, "About", x), where(id(x), plan.Eq, "ann")).ret(id(n)), "n1")
			s.expectChange(s.change().unlink("About", "to", plan.Eq, nodeRef("City", "ann")), 0, 1, true)
			s.expectChange(s.change().unlink("About", "from", plan.Eq, "n2"), 0, 2, true)
			s.expectEdges("About", "a1 | n1 | {Person, ann}\na4 | n3 | {Person, ann}")
		},
	}
}
