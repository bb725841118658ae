package enginetest

import (
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// castCases returns the cases of schema changes that cast the values of a property to another kind.
func castCases() []testCase {
	text, date, instant := stringType.Optional(), value.Of(value.Date).Optional(), value.Of(value.DateTime).Optional()
	about := func(s *session, name, text string) *mutationPlan {
		return s.change().update("Person", set{"about": text}, "name", plan.Eq, name)
	}
	// numbers gives each person a number in about.
	numbers := func(s *session) {
		for name, text := range map[string]string{"ann": "1", "bob": "-2", "cid": "3000000000", "dan": "4", "eve": "05"} {
			s.mutate(about(s, name, text))
		}
	}
	return writeCases("cast", map[string]func(s *session){
		"a number becomes a text and a number again": func(s *session) {
			s.apply("", retype("age", text))
			s.expectAges("", crowdAges)
			p := s.read()
			a := p.bind("a", "Person")
			s.expect(p.match(where(p.prop(a, "age"), plan.Eq, "30")).ret(id(a)), "ann\ncid")
			s.mutate(s.change().update("Person", set{"age": "7"}, "name", plan.Eq, "dan"))
			s.apply("", retype("age", u64Type.Optional()))
			s.expectAges("", "ann 30, bob 25, cid 30, dan 7, eve 41")
		},
		"a text that is no number is refused": func(s *session) {
			s.expectViolations(s.refused(retype("about", i64Type.Optional())), `
				node Person type ann
				node Person type bob
				node Person type cid`)
			numbers(s)
			s.expectViolations(s.refused(retype("about", i32Type.Optional())), `node Person type cid`)
			s.apply("", retype("about", i64Type.Optional()))
			s.expectNamed("", "about", "ann 1, bob -2, cid 3000000000, dan 4, eve 5")
		},
		"a number that a narrower type lacks is refused": func(s *session) {
			s.expectViolations(s.refused(retype("big", i32Type.Optional())), `node Person type ann`)
			s.mutate(s.change().update("Person", set{"big": 12}, "name", plan.Eq, "ann"))
			s.apply("", retype("big", i32Type.Optional()))
			s.expectNamed("", "big", "ann 12, bob -5, cid null, dan null, eve null")
			s.expectViolations(s.refused(retype("big", u32Type.Optional())), `node Person type bob`)
		},
		"values that become equal break a unique rule": func(s *session) {
			numbers(s)
			s.mutate(about(s, "dan", "5"))
			s.apply("", person(func(n *catalog.Node) { n.Unique = append(n.Unique, []string{"about"}) }))
			s.expectViolations(s.refused(retype("about", i64Type.Optional())), "node Person unique dan\nnode Person unique eve")
			s.mutate(about(s, "dan", "4"))
			s.apply("", retype("about", i64Type.Optional()))
			_, err := s.tryMutate(s.change().update("Person", set{"about": 5}, "name", plan.Eq, "dan"))
			expectError[*engine.ConstraintViolation](s, err)
		},
		"a day becomes an instant and a day again": func(s *session) {
			s.apply("", addProperty("day", date))
			s.mutate(s.change().update("Person", set{"day": value.OfDate(-1)}, "name", plan.Eq, "ann"))
			s.apply("", retype("day", instant))
			s.expectNamed("", "day", `ann 1969-12-31T00:00:00.000Z, bob null, cid null, dan null, eve null`)
			s.apply("", retype("day", date))
			s.expectNamed("", "day", `ann 1969-12-31, bob null, cid null, dan null, eve null`)
			s.apply("", retype("day", instant))
			s.mutate(s.change().update("Person", set{"day": value.OfDateTime(1)}, "name", plan.Eq, "bob"))
			s.expectViolations(s.refused(retype("day", date)), `node Person type bob`)
		},
		"the elements of a list": func(s *session) {
			s.apply("", retype("lucky", listOf(stringType).Optional()))
			s.expectNamed("", "lucky", `ann [3, 7], bob [7], cid null, dan null, eve null`)
			s.load(engine.Merge, `{"type":"Person","data":{"name":"cid","lucky":["8","x"]}}`)
			s.expectViolations(s.refused(retype("lucky", listOf(i32Type).Optional())), `node Person type cid`)
		},
		"earlier commits and branches keep the type": func(s *session) {
			head, before := s.head(), s.schema
			s.fork("side", "")
			s.apply("", retype("age", text))
			after := s.schema
			s.schema = before
			if got := s.named(engine.Target{Commit: head.ID}, "age"); got != crowdAges {
				s.Errorf("before: %s", got)
			}
			if got := s.named(engine.Target{Branch: "side"}, "age"); got != crowdAges {
				s.Errorf("side: %s", got)
			}
			s.on("side", s.change().update("Person", set{"age": 26}, "name", plan.Eq, "bob"))
			s.merged("side", "main", engine.Merged)
			s.schema = after
			s.expectAges("", "ann 30, bob 26, cid 30, dan null, eve 41")
		},
		"a merge casts over several changes": func(s *session) {
			for name, day := range map[string]string{"ann": "2026-01-02", "bob": "2026-01-03", "cid": "2026-01-04"} {
				s.mutate(about(s, name, day))
			}
			s.fork("side", "")
			before := s.schema
			s.apply("", retype("about", date))
			s.apply("", retype("about", instant))
			after := s.schema
			s.schema = before
			s.on("side", about(s, "ann", "2026-02-01"))
			s.merged("side", "main", engine.Merged)
			s.schema = after
			s.expectNamed("", "about", `ann 2026-02-01T00:00:00.000Z, bob 2026-01-03T00:00:00.000Z, cid 2026-01-04T00:00:00.000Z, dan null, eve null`)
		},
		"a number becomes a Decimal, and gets other digits": func(s *session) {
			s.mutate(s.change().update("Person", set{"big": 12}, "name", plan.Eq, "ann"))
			s.apply("", retype("big", value.DecimalOf(19, 0).Optional()))
			s.expectNamed("", "big", "ann 12, bob -5, cid null, dan null, eve null")
			s.apply("", retype("big", value.DecimalOf(21, 2).Optional()))
			s.expectNamed("", "big", "ann 12.00, bob -5.00, cid null, dan null, eve null")
			price, err := value.ParseDecimal("-5.25", value.DecimalOf(21, 2))
			must(err)
			s.mutate(s.change().update("Person", set{"big": price}, "name", plan.Eq, "bob"))
			s.expectViolations(s.refused(retype("big", value.DecimalOf(21, 1).Optional())), "node Person type bob")
			s.expectViolations(s.refused(retype("big", value.DecimalOf(3, 2).Optional())), "node Person type ann")
			s.expectViolations(s.refused(retype("big", i64Type.Optional())), "node Person type bob")
			s.apply("", retype("big", value.DecimalOf(4, 2).Optional()))
			s.expectNamed("", "big", "ann 12.00, bob -5.25, cid null, dan null, eve null")
			s.apply("", retype("big", f64Type.Optional()))
			s.expectNamed("", "big", "ann 12, bob -5.25, cid null, dan null, eve null")
			s.apply("", retype("big", value.DecimalOf(10, 3).Optional()))
			s.apply("", retype("big", text))
			s.expectNamed("", "big", "ann 12.000, bob -5.250, cid null, dan null, eve null")
		},
		"a large number keeps its digits by way of a float": func(s *session) {
			const large = int64(1) << 62 // the shortest text of the float ends in zeros
			whole := value.DecimalOf(19, 0).Optional()
			s.mutate(s.change().update("Person", set{"big": value.OfI64(large)}, "name", plan.Eq, "ann"))
			s.apply("", retype("big", f64Type.Optional()))
			s.apply("", retype("big", whole))
			s.expectNamed("", "big", "ann 4611686018427387904, bob -5, cid null, dan null, eve null")
			s.apply("", retype("big", f64Type.Optional()))
			s.apply("", retype("big", i64Type.Optional()))
			s.expectNamed("", "big", "ann 4611686018427387904, bob -5, cid null, dan null, eve null")
			s.apply("", retype("big", whole))
			padded, err := value.ParseDecimal("4611686018427388000", whole)
			must(err)
			s.mutate(s.change().update("Person", set{"big": padded}, "name", plan.Eq, "bob"))
			s.expectViolations(s.refused(retype("big", f64Type.Optional())), "node Person type bob")
		},
		"a merge casts by way of a Decimal": func(s *session) {
			for name, text := range map[string]string{"ann": "1.5", "bob": "2.5", "cid": "3", "dan": "4", "eve": "5"} {
				s.mutate(about(s, name, text))
			}
			s.fork("side", "")
			before := s.schema
			s.apply("", retype("about", value.DecimalOf(9, 2).Optional()))
			s.apply("", retype("about", f64Type.Optional()))
			after := s.schema
			s.schema = before
			s.on("side", about(s, "ann", "7"))
			s.on("side", about(s, "bob", "7.125"))
			s.expectConflicts("delete_vs_update node Person \"bob\" about")
			s.on("side", about(s, "bob", "7.25"))
			s.merged("side", "main", engine.Merged)
			s.schema = after
			s.expectNamed("", "about", "ann 7, bob 7.25, cid 3, dan 4, eve 5")
		},
		"a value that the new type lacks is a conflict": func(s *session) {
			numbers(s)
			s.fork("side", "")
			before := s.schema
			s.apply("", retype("about", i64Type.Optional()))
			after := s.schema
			s.schema = before
			s.on("side", about(s, "bob", "7"))
			s.on("side", about(s, "ann", "one"))
			s.expectConflicts("delete_vs_update node Person \"ann\" about")
			s.on("side", about(s, "ann", "11"))
			s.merged("side", "main", engine.Merged)
			s.schema = after
			s.expectNamed("", "about", "ann 11, bob 7, cid 3000000000, dan 4, eve 5")
		},
		"a merge brings a cast": func(s *session) {
			numbers(s)
			s.fork("side", "")
			before := s.schema
			s.apply("side", retype("about", i64Type.Optional()))
			after := s.schema
			s.schema = before
			s.mutate(about(s, "bob", "seven"))
			s.expectConflicts("delete_vs_update node Person \"bob\" about")
			s.mutate(about(s, "bob", "7"))
			s.merged("side", "main", engine.Merged)
			s.schema = after
			s.expectNamed("", "about", "ann 1, bob 7, cid 3000000000, dan 4, eve 5")
		},
	})
}
