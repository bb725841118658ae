package enginetest

import (
	"errors"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/check"
)

// put applies a schema to a branch. It leaves the session's schema as it is.
func (s *session) put(branch string, schema *catalog.Schema) {
	s.Helper()
	_, err := s.graph.ApplySchema(s.ctx, sourceText, schema, engine.SchemaOptions{WriteOptions: engine.WriteOptions{Branch: branch}, AllowDataLoss: true})
	if err != nil {
		s.Fatalf("apply the schema: %v", err)
	}
}

// schemaMergeCases returns the cases of merges of branches with different schemas.
func schemaMergeCases() []testCase {
	age := func(s *session, age int, name string) *mutationPlan {
		return s.change().update("Person", set{"age": age}, "name", plan.Eq, name)
	}
	years := func(s *session, years int, name string) *mutationPlan {
		return s.change().update("Person", set{"years": years}, "name", plan.Eq, name)
	}
	return writeCases("schema merge", map[string]func(s *session){
		"the source's schema descends from the target's": func(s *session) {
			s.fork("side", "")
			s.mutate(age(s, 26, "bob"))
			s.apply("side", renameProperty("age", "years"), addProperty("mail", stringType.Optional()))
			s.on("side", years(s, 42, "eve"))
			s.on("side", s.change().update("Person", set{"mail": "x"}, "name", plan.Eq, "bob"))
			res := s.merged("side", "main", engine.Merged)
			if res.Commit.Schema != catalog.Digest(s.schema) || res.Nodes != 2 {
				s.Errorf("%+v, want two nodes and the schema of the source", res)
			}
			s.expectNamed("", "years", "ann 30, bob 26, cid 30, dan null, eve 42")
			s.expectNamed("", "mail", "ann null, bob x, cid null, dan null, eve null")
			s.merged("side", "main", engine.AlreadyUpToDate)
		},
		"the target's schema descends from the source's": func(s *session) {
			s.fork("side", "")
			s.on("side", age(s, 26, "bob"))
			s.apply("", renameProperty("age", "years"), dropNode("City"))
			s.mutate(years(s, 42, "eve"))
			res := s.merged("side", "main", engine.Merged)
			if res.Commit.Schema != catalog.Digest(s.schema) || res.Nodes != 1 {
				s.Errorf("%+v, want one node and the schema of the target", res)
			}
			s.expectNamed("", "years", "ann 30, bob 26, cid 30, dan null, eve 42")
		},
		"a dropped property comes back empty": func(s *session) {
			// Add mail as the last property: the order of properties is part of a schema.
			s.apply("", addProperty("mail", stringType.Optional()))
			s.mutate(s.change().update("Person", set{"mail": "x"}, "name", plan.Eq, "bob"))
			s.fork("side", "")
			s.apply("side", dropProperty("mail"))
			s.apply("side", addProperty("mail", stringType.Optional()))
			res := s.merged("side", "main", engine.FastForward)
			if res.Nodes != 1 {
				s.Errorf("%+v, want one node", res)
			}
			s.expectNamed("", "mail", "ann null, bob null, cid null, dan null, eve null")
			s.merged("side", "main", engine.AlreadyUpToDate)
		},
		"a dropped edge type comes back without edges": func(s *session) {
			s.apply("", edgeType("Follows", func(e *catalog.Edge) { e.Card = &catalog.Cardinality{Min: 1, Max: 2} }))
			s.fork("side", "")
			whole := s.schema
			s.apply("side", func(c *catalog.Schema) {
				c.Edges = slices.DeleteFunc(c.Edges, func(e *catalog.Edge) bool { return e.Name == "Follows" })
			})
			s.apply("side", func(c *catalog.Schema) { c.Edges = whole.Edges })
			if c := s.compared(); c.Outcome != engine.FastForward || len(c.Conflicts) > 0 {
				s.Errorf("%s, %v, want a fast forward without conflicts", c.Outcome, c.Conflicts)
			}
			// The target did not change, so the state of the source is the result.
			s.merged("side", "main", engine.FastForward)
		},
		"a merge can bring only a schema": func(s *session) {
			s.fork("side", "")
			s.apply("side", renameProperty("age", "years"))
			s.apply("side", renameProperty("years", "winters"))
			res := s.merged("side", "main", engine.FastForward)
			if res.Nodes != 0 || res.Commit.Schema != catalog.Digest(s.schema) {
				s.Errorf("%+v, want no node and the schema of the source", res)
			}
			s.expectNamed("", "winters", crowdAges)
		},
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
		"restoring an older schema does not restore dropped values": func(s *session) {
			s.fork("side", "")
			before := s.schema
			s.apply("side", dropProperty("age"))
			s.schema = before
			s.put("side", before)
			res := s.merged("side", "main", engine.FastForward)
			if res.Nodes != 4 {
				s.Errorf("%d nodes change, want 4", res.Nodes)
			}
			s.expectAges("", "ann null, bob null, cid null, dan null, eve null")
		},
		"a source that went back to a schema older than the base does not restore dropped values": func(s *session) {
			first := s.schema
			s.apply("", addProperty("mail", stringType.Optional()))
			s.mutate(s.change().update("Person", set{"mail": "x"}, "name", plan.Eq, "bob"))
			s.fork("side", "")
			s.put("side", first)
			s.apply("", addProperty("post", stringType.Optional()))
			res := s.merged("side", "main", engine.Merged)
			if res.Nodes != 1 {
				s.Errorf("%d nodes change, want 1", res.Nodes)
			}
			s.expectNamed("", "mail", "ann null, bob null, cid null, dan null, eve null")
		},
		"a source that got the target's schema in another way does not restore dropped values": func(s *session) {
			s.mutate(age(s, 26, "bob"))
			s.fork("side", "")
			before := s.schema
			s.apply("side", dropProperty("age"))
			s.schema = before
			s.apply("", addProperty("mail", stringType.Optional()))
			s.put("side", s.schema)
			res := s.merged("side", "main", engine.Merged)
			if res.Nodes != 4 {
				s.Errorf("%d nodes change, want 4", res.Nodes)
			}
			s.expectAges("", "ann null, bob null, cid null, dan null, eve null")
		},
		"a merge that brings a schema does not restore values that the target dropped": func(s *session) {
			s.mutate(age(s, 26, "bob"))
			s.fork("side", "")
			s.fork("other", "")
			before := s.schema
			s.apply("", dropProperty("age"))
			s.schema = before
			s.apply("side", addProperty("mail", stringType.Optional()))
			s.put("", s.schema)
			s.apply("side", addProperty("post", stringType.Optional()))
			s.merged("side", "main", engine.Merged)
			s.expectAges("", "ann null, bob null, cid null, dan null, eve null")
			res := s.merged("main", "other", engine.FastForward)
			if res.Nodes != 4 {
				s.Errorf("%d nodes change, want 4", res.Nodes)
			}
			s.expectAges("other", "ann null, bob null, cid null, dan null, eve null")
		},
		"the same schema on both sides": func(s *session) {
			s.fork("side", "")
			before := s.schema
			s.apply("side", renameProperty("age", "years"))
			s.schema = before
			s.apply("", renameProperty("age", "years"))
			s.on("side", years(s, 26, "bob"))
			s.mutate(years(s, 42, "eve"))
			s.merged("side", "main", engine.Merged)
			s.expectNamed("", "years", "ann 30, bob 26, cid 30, dan null, eve 42")
		},
		"conflicts are found by the new names": func(s *session) {
			s.fork("side", "")
			s.mutate(age(s, 1, "ann"))
			s.mutate(s.change().remove("Person", "name", plan.Eq, "eve"))
			s.apply("side", renameProperty("age", "years"))
			s.on("side", years(s, 2, "ann"))
			s.on("side", years(s, 3, "eve"))
			s.expectConflicts(`
				delete_vs_update node Person "eve"
				divergent_update node Person "ann" years`)
		},
		"rules of the new schema are checked": func(s *session) {
			s.fork("side", "")
			s.mutate(s.change().insert("Person", set{"name": "fay", "about": "a Gopher"}))
			s.mutate(s.change().link("Follows", "eve", "ann", set{"id": "f7"}).link("Follows", "eve", "bob", set{"id": "f8"}).link("Follows", "eve", "cid", set{"id": "f9"}))
			s.on("side", s.change().update("Person", set{"age": 1}, "name", plan.Eq, "dan"))
			s.apply("side", retype("age", i32Type), person(func(n *catalog.Node) { n.Unique = append(n.Unique, []string{"about"}) }),
				edgeType("Follows", func(e *catalog.Edge) { e.Card = &catalog.Cardinality{Max: 2} }))
			s.expectConflicts(`
				cardinality_violation edge Follows "eve"
				unique_violation node Person "cid" about
				unique_violation node Person "fay" about
				value_constraint_violation node Person "fay" age`)
		},
		"every value that breaks a rule is a conflict": func(s *session) {
			s.fork("side", "")
			s.on("side", s.change().insert("Person", set{"name": "fay", "age": 200, "ratio": 7.5}))
			age, ratio := value.OfI32(100), value.OfF32(1)
			s.apply("", person(func(n *catalog.Node) {
				n.Ranges = append(n.Ranges, catalog.Range{Property: "age", Max: &age}, catalog.Range{Property: "ratio", Max: &ratio})
			}))
			s.expectConflicts(`
				value_constraint_violation node Person "fay" age
				value_constraint_violation node Person "fay" ratio`)
		},
		"changes to dropped types are conflicts": func(s *session) {
			s.fork("side", "")
			s.mutate(s.change().update("City", set{"name": "Roma"}, "name", plan.Eq, "Rome"))
			s.mutate(s.change().link("LivesIn", "dan", "c1", set{"id": "l9"}))
			s.apply("side", dropNode("City"))
			s.expectConflicts(`
				delete_vs_update edge LivesIn "l9"
				delete_vs_update node City "c2"`)
		},
		"a branch from before the change": func(s *session) {
			s.fork("side", "")
			s.fork("other", "")
			before := s.schema
			s.apply("side", renameProperty("age", "years"))
			s.on("side", years(s, 26, "bob"))
			after := s.schema
			s.schema = before
			s.on("other", age(s, 42, "eve"))
			s.schema = after
			s.merged("side", "main", engine.FastForward)
			s.merged("other", "main", engine.Merged)
			s.expectNamed("", "years", "ann 30, bob 26, cid 30, dan null, eve 42")
			s.merged("main", "other", engine.FastForward)
			s.expectNamed("other", "years", "ann 30, bob 26, cid 30, dan null, eve 42")
		},
	})
}

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
func backfilled(name string) func(c *catalog.Schema) { return backfilledWith(name, "age + 1") }

// backfilledWith is like backfilled, with an expression.
func backfilledWith(name, text string) func(c *catalog.Schema) {
	return func(c *catalog.Schema) {
		n := c.Node("Person")
		if n.Property(name) == nil {
			n.Properties = append(n.Properties, property(name, i32Type.Optional()))
			n.IndexProperties()
		}
		p := n.Property(name)
		p.Backfill = &catalog.Backfill{Text: text}
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
		"a value of a backfill that reads another one is no edit": func(s *session) {
			s.fork("side", "")
			old := s.schema
			s.apply("", points(3), backfilled("older"), backfilledWith("later", "older + points"))
			s.apply("", backfilledWith("last", "later + 1"))
			deleteOn(s, "side", old)
			s.merged("side", "main", engine.Merged)
			s.expectNamed("", "last", "ann 35, bob 30, cid 35, dan null")
		},
		"an edit of a value that a backfill read is an edit": func(s *session) {
			s.fork("side", "")
			old := s.schema
			s.apply("", backfilled("older"))
			s.mutate(give(s, "older", 50, "eve"))
			s.apply("", backfilledWith("later", "older + 1"))
			s.mutate(give(s, "older", 42, "eve"))
			deleteOn(s, "side", old)
			s.expectConflicts(`delete_vs_update node Person "eve"`)
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
