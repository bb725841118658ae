package enginetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// writeCases returns cases that start with the crowd.
func writeCases(group string, runs map[string]func(s *session)) []testCase {
	var all []testCase
	for _, name := range sortedKeys(runs) {
		all = append(all, testCase{name: group + "/" + name, schema: people, run: func(s *session) {
			s.load(engine.Merge, crowd)
			runs[name](s)
		}})
	}
	return all
}

// expectPeople compares the names, ages and moods of all people with the text `want`.
func (s *session) expectPeople(want string) {
	s.Helper()
	p := s.read()
	a := p.bind("a", "Person")
	p.ret(id(a), p.prop(a, "age"), p.prop(a, "mood"))
	s.expect(p, want)
}

// expectEdges compares the edges of a type with the text `want`.
func (s *session) expectEdges(typ, want string) {
	s.Helper()
	edge := s.schema.Edge(typ)
	p := s.read()
	a, b, e := p.endVar("a", edge, false), p.endVar("b", edge, true), p.edge("e", edge.Name)
	p.match(over(a, e, edge.Name, b)).ret(id(e), p.from(e), p.to(e)).orderBy(id(e))
	s.expect(p, want)
}

// crowdPeople lists the persons in the crowd, for expectPeople.
const crowdPeople = `
	ann | 30 | glad
	bob | 25 | sad
	cid | 30 | null
	dan | null | null
	eve | 41 | calm`

// insertCases returns the cases of inserts.
func insertCases() []testCase {
	return writeCases("insert", map[string]func(s *session){
		"parameter out of the property's range": func(s *session) {
			m := s.change()
			m.insert("Person", set{"name": "fay", "age": m.param("age", i64Type)})
			_, err := s.tryMutate(m, value.OfI64(1<<40))
			// The argument fits its parameter but not the property, so the error may blame either.
			var argument *engine.BadArgument
			if !errors.As(err, &argument) {
				s.expectViolation(err, "type", "age")
			}
			s.expectPeople(crowdPeople)
		},
		"every kind": func(s *session) {
			s.mutate(s.change().insert("Person", set{"name": "fay", "age": -1, "big": 5, "small": 6, "wide": 7, "ratio": 0.125, "score": 0.1,
				"active": false, "born": "2000-02-29", "seen": "1969-12-31T23:59:59.999Z", "mood": "calm", "tags": []any{"x", "", "x"},
				"lucky": []any{1, -2}, "about": "é \x00 \"q\"", "photo": value.OfBlob([]byte{0, 255})}))
			p := s.read()
			a := p.bind("a", "Person")
			s.expect(p.match(where(id(a), plan.Eq, "fay")).ret(whole(a)),
				"{fay, fay, -1, 5, 6, 7, 0.125, 0.1, false, 2000-02-29, 1969-12-31T23:59:59.999Z, calm, [x, , x], [1, -2], é \x00 \"q\"}")
		},
		"unkeyed gets an id of its own": func(s *session) {
			s.expectChange(s.change().insert("City", set{"name": "Bern"}), 1, 0, true)
			s.expectChange(s.change().insert("City", set{"name": "Bern"}), 1, 0, true)
			p := s.read()
			c := p.bind("c", "City")
			rows := s.rows(p.match(where(p.prop(c, "name"), plan.Eq, "Bern")).ret(id(c)).query())
			if len(rows) != 2 || rows[0] == rows[1] || len(rows[0]) != 26 {
				s.Errorf("ids %v; want two ULIDs", rows)
			}
		},
	})
}

// expectViolation checks that err is a violation of a rule. Unless `property` is empty, the error
// must also be about that property.
func (s *session) expectViolation(err error, rule, property string) {
	s.Helper()
	var v *engine.ConstraintViolation
	if !errors.As(err, &v) {
		s.Errorf("error %v (%T); want a violation of %s", err, err, rule)
		return
	}
	if v.Rule != rule || property != "" && v.Property != property {
		s.Errorf("violation of rule %q, property %q; want %q, %q", v.Rule, v.Property, rule, property)
	}
}

// manyPeople returns n lines of people, starting with p0000.
func manyPeople(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"type":"Person","data":{"name":"p%04d","age":%d}}`+"\n", i, i)
	}
	return b.String()
}

// expectRow checks the row that a mutation returns.
func (s *session) expectRow(got engine.Change, want ...value.Value) {
	s.Helper()
	if !slices.EqualFunc(got.Row, want, value.Equal) {
		s.Errorf("the mutation returns %v, expected %v", got.Row, want)
	}
}

// textValue returns a String.
func textValue(s string) value.Value { return value.OfString(s) }

// namedCases returns the cases of inserts with names, and of the row that a mutation returns.
func namedCases() []testCase {
	return writeCases("named insert", map[string]func(s *session){
		"a replay returns the same row": func(s *session) {
			m := s.change()
			city := m.insert("City", set{"name": "Bern", "place": []float32{1, 2}}).named("c")
			m.returns(plan.ID{Var: city}, m.prop(city, "place"), plan.Lit{Value: value.Null}, plan.Lit{Value: value.OfF64(0.5)})
			var rows [2]engine.Change
			for i := range rows {
				var err error
				if rows[i], err = s.graph.Mutate(s.ctx, m.query(), nil, engine.WriteOptions{IdempotencyKey: "once", Actor: "ann"}); err != nil {
					s.Fatalf("call %d: %v", i, err)
				}
			}
			if len(rows[0].Row) != 4 || len(rows[0].Row[0].Str()) != ulidLength {
				s.Errorf("the first call returns %v", rows[0].Row)
			}
			s.expectRow(rows[1], rows[0].Row...)
		},
	})
}

// blockCases returns the cases of blocks that run for each match or element.
func blockCases() []testCase {
	return writeCases("block", map[string]func(s *session){
		"records of a list": func(s *session) {
			m := s.change()
			t := value.Type{List: true, Nullable: true, Fields: []value.Field{{Name: "name", Type: stringType}, {Name: "age", Type: value.Of(value.I32).Optional()}, {Name: "to", Type: stringType}}}
			m.forRecords(m.param("people", t), t.Fields, func(field func(int) plan.Expr) {
				p := m.insert("Person", set{"name": field(0), "age": field(1), "mood": "calm"}).named("p")
				m.link("Follows", plan.ID{Var: p}, field(2), set{"id": field(0)})
			})
			record := func(name, age, to value.Value) []value.Value { return []value.Value{name, age, to} }
			str := value.OfString
			s.expectChange(m, 2, 2, true, value.OfRecords([][]value.Value{record(str("fay"), value.OfI32(7), str("ann")), record(str("gus"), value.Null, str("bob"))}))
			s.expectPeople(crowdPeople + "\nfay | 7 | calm\ngus | null | calm")
			s.expectChange(m, 0, 0, false, value.Null)
			s.expectChange(m, 0, 0, false, value.OfRecords(nil))
			for _, bad := range []value.Value{
				str("fay"), textList("fay"), value.OfRecords([][]value.Value{{str("fay")}}),
				value.OfRecords([][]value.Value{record(value.Null, value.Null, str("ann"))}), value.OfRecords([][]value.Value{record(str("x"), str("y"), str("ann"))}),
			} {
				_, err := s.tryMutate(m, bad)
				expectError[*engine.BadArgument](s, err)
			}
		},
	})
}

// shop returns a schema with every kind of constraint.
func shop() *catalog.Schema { return compileSchema("shop") }

// stock is the data of the constraint cases, as NDJSON lines.
var stock = textFile("stock.ndjson")

// constraintCases returns the case of an insert without a required property, which the language refuses.
func constraintCases() []testCase {
	return []testCase{{name: "constraint/required left out", schema: shop, run: func(s *session) {
		s.load(engine.Merge, stock)
		before := s.head()
		_, err := s.tryMutate(s.change().insert("Item", set{"aisle": "c", "number": 1}))
		s.expectViolation(err, "required", "kind")
		if s.head().ID != before.ID {
			s.Errorf("a rejected write moved the head")
		}
	}}}
}

// sortedKeys returns the keys of a map in ascending order.
func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
