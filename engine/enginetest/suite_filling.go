package enginetest

import (
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/check"
)

// points returns a change of a schema: it gives the property points of Person, which it adds if necessary, a default.
func points(def int32) func(c *catalog.Schema) {
	return person(func(n *catalog.Node) {
		if n.Property("points") == nil {
			n.Properties = append(n.Properties, property("points", i32Type.Optional()))
			n.IndexProperties()
		}
		n.Property("points").Default = &catalog.Literal{Value: value.OfI32(def)}
	})
}

// backfilled returns a change of a schema: it gives a property of Person, which it adds if necessary, a backfill with the
// age a year later.
func backfilled(name string) func(c *catalog.Schema) {
	return func(c *catalog.Schema) {
		n := c.Node("Person")
		if n.Property(name) == nil {
			n.Properties = append(n.Properties, property(name, i32Type.Optional()))
			n.IndexProperties()
		}
		p := n.Property(name)
		p.Backfill = &catalog.Backfill{Text: "age + 1"}
		encoded, message, _ := check.Backfill(nil, c, false, "Person", p)
		if p.Backfill.Plan = encoded; message != "" {
			panic("enginetest: " + message)
		}
	}
}

// fillingCases returns the cases of merges across schema changes that fill an added property.
func fillingCases() []testCase {
	give := func(s *session, property string, v int, name string) *mutationPlan {
		return s.change().update("Person", set{property: v}, "name", plan.Eq, name)
	}
	// deleteOn deletes eve on a branch that has the schema `old`.
	deleteOn := func(s *session, branch string, old *catalog.Schema) {
		now := s.schema
		s.schema = old
		s.on(branch, s.change().remove("Person", "name", plan.Eq, "eve"))
		s.schema = now
	}
	return writeCases("filling", map[string]func(s *session){
		"an edit to a later default is an edit": func(s *session) {
			s.fork("side", "")
			old := s.schema
			s.apply("", points(1))
			s.apply("", points(2))
			s.mutate(give(s, "points", 2, "eve"))
			deleteOn(s, "side", old)
			s.expectConflicts(`delete_vs_update node Person "eve"`)
		},
		"an edit to a default that came after the property is an edit": func(s *session) {
			s.fork("side", "")
			old := s.schema
			s.apply("", addProperty("points", i32Type.Optional()))
			s.apply("", points(2))
			s.mutate(give(s, "points", 2, "eve"))
			deleteOn(s, "side", old)
			s.expectConflicts(`delete_vs_update node Person "eve"`)
		},
		"a value that is still the first default is no edit": func(s *session) {
			s.fork("side", "")
			old := s.schema
			s.apply("", points(1))
			s.apply("", renameProperty("points", "marks"))
			s.apply("", person(func(n *catalog.Node) { n.Property("marks").Default = nil }), retype("marks", i64Type.Optional()))
			s.mutate(give(s, "marks", 5, "ann"))
			deleteOn(s, "side", old)
			if res := s.merged("side", "main", engine.Merged); res.Nodes != 1 {
				s.Errorf("%d nodes change, want 1", res.Nodes)
			}
			s.expectNamed("", "marks", "ann 5, bob 1, cid 1, dan 1")
		},
		"a value of a backfill is no edit": func(s *session) {
			s.fork("side", "")
			s.fork("other", "")
			old := s.schema
			s.apply("", backfilled("older"))
			s.apply("", renameProperty("older", "later"), retype("later", i64Type.Optional()), backfilled("later"))
			s.mutate(give(s, "later", 7, "ann"))
			deleteOn(s, "other", old)
			s.merged("main", "other", engine.Merged)
			s.expectNamed("other", "later", "ann 7, bob 26, cid 31, dan null")
			deleteOn(s, "side", old)
			if res := s.merged("side", "main", engine.Merged); res.Nodes != 1 {
				s.Errorf("%d nodes change, want 1", res.Nodes)
			}
			s.expectNamed("", "later", "ann 7, bob 26, cid 31, dan null")
		},
		"an edit of a backfilled row is an edit": func(s *session) {
			s.fork("side", "")
			old := s.schema
			s.apply("", backfilled("older"))
			s.mutate(give(s, "older", 43, "eve"))
			deleteOn(s, "side", old)
			s.expectConflicts(`delete_vs_update node Person "eve"`)
		},
		"a value that equals a later backfill is an edit": func(s *session) {
			s.fork("side", "")
			old := s.schema
			s.apply("", addProperty("older", i32Type.Optional()))
			s.apply("", backfilled("older"))
			s.mutate(give(s, "older", 42, "eve"))
			deleteOn(s, "side", old)
			s.expectConflicts(`delete_vs_update node Person "eve"`)
		},
	})
}
