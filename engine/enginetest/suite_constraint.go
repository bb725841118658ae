package enginetest

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// shop returns a schema with every kind of constraint.
func shop() *catalog.Schema {
	zero, hundred := value.OfF64(0), value.OfF64(100)
	least := value.OfF32(0.5)
	return schemaOf([]*catalog.Node{
		{Name: "Item", Key: []string{"aisle", "number"}, Properties: []*catalog.Property{
			property("number", i32Type),
			property("aisle", stringType),
			property("kind", enumOf("food", "tool")),
			property("code", stringType.Optional()),
			property("left", i32Type.Optional()),
			property("right", i32Type.Optional()),
			property("price", f64Type.Optional()),
			property("weight", f32Type.Optional()),
			property("tare", f64Type.Optional()),
		},
			Unique: [][]string{{"code"}, {"left", "right"}, {"tare"}},
			Ranges: []catalog.Range{{Property: "price", Min: &zero, Max: &hundred}, {Property: "weight", Min: &least}},
			Checks: []catalog.Check{{Property: "code", Pattern: "[a-z]-[0-9]"}}},
		{Name: "Box", Properties: []*catalog.Property{property("label", stringType.Optional())}},
	}, []*catalog.Edge{
		{Name: "Holds", From: "Box", To: "Item", Card: &catalog.Cardinality{Min: 1, Max: 2},
			Properties: []*catalog.Property{property("slot", i32Type.Optional())}, Unique: [][]string{{"src", "dst"}, {"slot"}}},
		{Name: "Near", From: "Box", To: "Box", Card: &catalog.Cardinality{Min: 0, Max: 1}},
	})
}

// stock is the data of the constraint cases, as NDJSON lines.
const stock = `
{"type":"Item","data":{"aisle":"a","number":1,"kind":"food","code":"x-1","left":1,"right":1,"price":5}}
{"type":"Item","data":{"aisle":"a","number":2,"kind":"tool","left":1,"right":2}}
{"type":"Item","data":{"aisle":"b","number":1,"kind":"tool","left":1}}
{"type":"Box","data":{"id":"b1"}}
{"type":"Box","data":{"id":"b2"}}
{"edge":"Holds","from":"b1","to":"[\"a\",\"1\"]","data":{"id":"h1","slot":1}}
{"edge":"Near","from":"b1","to":"b2","data":{"id":"n1"}}
`

// constraintCases returns the cases of writes that keep or break a rule of the schema.
func constraintCases() []testCase {
	item := func(props set) set {
		all := set{"aisle": "c", "number": 1, "kind": "food"}
		for name, x := range props {
			all[name] = x
		}
		return all
	}
	// refused runs a mutation that violates a rule, and checks that the graph stays unchanged.
	refused := func(rule, property string, build func(m *mutationPlan), args ...any) func(s *session) {
		return func(s *session) {
			before := s.head()
			m := s.change()
			build(m)
			_, err := s.tryMutate(m, args...)
			s.expectViolation(err, rule, property)
			if s.head().ID != before.ID {
				s.Errorf("a rejected write moved the head")
			}
			p := s.read()
			i := p.bind("i", "Item")
			s.expect(p.ret(count(whole(i)), agg(plan.Sum, p.prop(i, "left")), agg(plan.Max, p.prop(i, "price"))), "3 | 3 | 5")
		}
	}
	allowed := func(nodes, edges int64, build func(m *mutationPlan), args ...any) func(s *session) {
		return func(s *session) {
			m := s.change()
			build(m)
			s.expectChange(m, nodes, edges, true, args...)
		}
	}
	const a1, a2, b1 = `["a","1"]`, `["a","2"]`, `["b","1"]`
	runs := map[string]func(s *session){
		"composite key is the id": func(s *session) {
			s.mutate(s.change().insert("Item", set{"aisle": `<&"`, "number": -7, "kind": "food"}))
			p := s.read()
			i := p.bind("i", "Item")
			s.expect(p.ret(id(i)), `["<&\"","-7"]`+"\n"+a1+"\n"+a2+"\n"+b1)
		},
		"composite key upsert": allowed(1, 0, func(m *mutationPlan) {
			m.insert("Item", set{"aisle": "a", "number": 1, "kind": "tool"})
		}),
		"required left out":         refused("required", "kind", func(m *mutationPlan) { m.insert("Item", set{"aisle": "c", "number": 1}) }),
		"enum":                      refused("enum", "kind", func(m *mutationPlan) { m.insert("Item", item(set{"kind": m.param("k", stringType)})) }, "toy"),
		"enum by update":            refused("enum", "kind", func(m *mutationPlan) { m.update("Item", set{"kind": m.param("k", stringType)}, "number", plan.Eq, 1) }, "Food"),
		"range above":               refused("range", "price", func(m *mutationPlan) { m.insert("Item", item(set{"price": 100.5})) }),
		"range below":               refused("range", "price", func(m *mutationPlan) { m.insert("Item", item(set{"price": -0.5})) }),
		"range by update":           refused("range", "price", func(m *mutationPlan) { m.update("Item", set{"price": 101.0}, "aisle", plan.Eq, "a") }),
		"range with only a minimum": refused("range", "weight", func(m *mutationPlan) { m.insert("Item", item(set{"weight": 0.25})) }),
		"range includes its bounds": allowed(2, 0, func(m *mutationPlan) {
			m.insert("Item", item(set{"price": 100.0, "weight": 0.5})).insert("Item", item(set{"number": 2, "price": 0.0, "weight": 1e30}))
		}),
		"check": refused("check", "code", func(m *mutationPlan) { m.insert("Item", item(set{"code": "x1"})) }),
		"check pattern may match a part of the text": allowed(1, 0, func(m *mutationPlan) { m.insert("Item", item(set{"code": "__x-1__"})) }),
		"unique":                   refused("unique", "", func(m *mutationPlan) { m.insert("Item", item(set{"code": "x-1"})) }),
		"unique by update":         refused("unique", "", func(m *mutationPlan) { m.update("Item", set{"code": "x-1"}, "aisle", plan.Eq, "b") }),
		"unique within one update": refused("unique", "", func(m *mutationPlan) { m.update("Item", set{"code": "y-1"}, "aisle", plan.Eq, "a") }),
		"unique within one mutation": refused("unique", "", func(m *mutationPlan) {
			m.insert("Item", item(set{"code": "y-1"})).insert("Item", item(set{"number": 2, "code": "y-1"}))
		}),
		"unique pair": refused("unique", "", func(m *mutationPlan) { m.insert("Item", item(set{"left": 1, "right": 2})) }),
		"unique zeros of different signs": refused("unique", "", func(m *mutationPlan) {
			m.insert("Item", item(set{"tare": 0.0})).insert("Item", item(set{"number": 2, "tare": minusZero}))
		}),
		"unique pair with a null is exempt":           allowed(1, 0, func(m *mutationPlan) { m.insert("Item", item(set{"left": 1})) }),
		"unique nulls are exempt":                     allowed(2, 0, func(m *mutationPlan) { m.insert("Item", item(nil)).insert("Item", item(set{"number": 2})) }),
		"unique does not compare a row with itself":   allowed(1, 0, func(m *mutationPlan) { m.insert("Item", set{"aisle": "a", "number": 1, "kind": "tool", "code": "x-1"}) }),
		"unique value that an earlier commit removed": freed,
		"unique value reused within one mutation": allowed(2, 0, func(m *mutationPlan) {
			m.update("Item", set{"code": "y-9"}, "code", plan.Eq, "x-1").insert("Item", item(set{"code": "x-1"}))
		}),
		"unique endpoints of edges":                   refused("unique", "", func(m *mutationPlan) { m.link("Holds", "b1", a1, nil) }),
		"unique property of edges":                    refused("unique", "", func(m *mutationPlan) { m.link("Holds", "b2", a2, set{"slot": 1}) }),
		"edges that the rules allow":                  allowed(0, 2, func(m *mutationPlan) { m.link("Holds", "b1", a2, nil).link("Holds", "b2", a1, set{"slot": 2}) }),
		"cardinality, one edge too many":              refused("cardinality", "", func(m *mutationPlan) { m.link("Holds", "b1", a2, nil).link("Holds", "b1", b1, nil) }),
		"cardinality, one more than a maximum of one": refused("cardinality", "", func(m *mutationPlan) { m.link("Near", "b1", "b1", nil) }),
		"cardinality, the last edge removed":          refused("cardinality", "", func(m *mutationPlan) { m.unlink("Holds", "from", plan.Eq, "b1") }),
		"cardinality, the target removed":             refused("cardinality", "", func(m *mutationPlan) { m.remove("Item", "code", plan.Eq, "x-1") }),
		"cardinality, the source removed too":         allowed(1, 2, func(m *mutationPlan) { m.remove("Box", "id", plan.Eq, "b1") }),
		"cardinality, target and source removed":      allowed(2, 2, func(m *mutationPlan) { m.remove("Item", "code", plan.Eq, "x-1").remove("Box", "id", plan.Eq, "b1") }),
		"cardinality, an untouched source":            allowed(1, 0, func(m *mutationPlan) { m.insert("Box", set{"id": "b3"}) }),
		"cardinality, freed again": func(s *session) {
			s.expectChange(s.change().unlink("Near", "id", plan.Eq, "n1"), 0, 1, true)
			s.expectChange(s.change().link("Near", "b1", "b1", set{"id": "n2"}), 0, 1, true)
			s.expectEdges("Near", "n2 | b1 | b1")
		},
		"every violation of a load": func(s *session) {
			_, err := s.tryLoad(engine.Merge, `{"type":"Item","data":{"aisle":"c","number":1,"kind":"toy"}}
{"type":"Item","data":{"aisle":"c","number":2,"kind":"food","price":101}}
{"type":"Item","data":{"aisle":"c","number":3,"kind":"food"}}
{"type":"Item","data":{"aisle":"c","number":4,"kind":"food","code":"nope"}}
{"type":"Item","data":{"aisle":"c","kind":"food"}}`)
			s.expectLines(err, "1 data.kind\n2 data.price\n4 data.code\n5 data.number")
		},
		"unique against a load": func(s *session) {
			_, err := s.tryLoad(engine.Merge, `{"type":"Item","data":{"aisle":"c","number":1,"kind":"food","code":"x-1"}}`)
			s.expectViolation(err, "unique", "")
		},
		"unique value moved by a load": func(s *session) {
			s.load(engine.Merge, `{"type":"Item","data":{"aisle":"c","number":1,"kind":"food","code":"x-1"}}
{"type":"Item","data":{"aisle":"a","number":1,"kind":"food"}}`)
		},
		"cardinality against a load": func(s *session) {
			_, err := s.tryLoad(engine.Append, `{"edge":"Near","from":"b1","to":"b1"}`)
			s.expectViolation(err, "cardinality", "")
		},
		"cardinality when an edge moves to another source": func(s *session) {
			err := s.tryMove("", `{"edge":"Holds","from":"b2","to":"[\"a\",\"1\"]","data":{"id":"h1"}}`)
			s.expectViolation(err, "cardinality", "")
		},
	}
	var all []testCase
	for _, name := range sortedKeys(runs) {
		all = append(all, testCase{name: "constraint/" + name, schema: shop, run: func(s *session) {
			s.load(engine.Merge, stock)
			runs[name](s)
		}})
	}
	return all
}

// freed removes a unique value from one node and assigns it to another.
func freed(s *session) {
	m := s.change()
	m.update("Item", set{"code": m.param("code", stringType.Optional())}, "code", plan.Eq, "x-1")
	s.mutate(m, nil)
	s.expectChange(s.change().update("Item", set{"code": "x-1"}, "aisle", plan.Eq, "b"), 1, 0, true)
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
