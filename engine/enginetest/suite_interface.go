package enginetest

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// named returns the schema of people with the interface Named, which Person and City implement, and the
// interface Silent, which no type implements.
func named() *catalog.Schema { return compileSchema("named") }

// shared declares a variable over the interface Named.
func (p *readPlan) shared(name string) plan.VarID { return p.declare(name, plan.Interface, "Named") }

// interfaceCases returns the cases of variables over interfaces. Beside the crowd, the graph has a city whose id is
// that of a person.
func interfaceCases() []testCase {
	cases := []readCase{
		{name: "of no type", want: "", build: func(p *readPlan) {
			n := p.declare("n", plan.Interface, "Silent")
			p.match(plan.Bind{Var: n}).ret(id(n))
		}},
	}
	return slices.Concat(interfaceReads(cases), []testCase{interfaceArgumentFaults()}, interfaceRefusals())
}

// interfaceReads returns test cases that load the crowd and a city whose id is that of a person, and check a read.
func interfaceReads(cases []readCase) []testCase {
	var all []testCase
	for _, c := range cases {
		all = append(all, testCase{name: "interfaces/" + c.name, schema: named, run: func(s *session) {
			s.load(engine.Merge, textFile("named.ndjson"))
			p := s.read()
			c.build(p)
			s.expect(p, c.want, c.args...)
		}})
	}
	return all
}

// interfaceRefusals returns the cases of reads that an engine refuses, because the schema lacks the interface or one of
// its properties.
func interfaceRefusals() []testCase {
	refuses := func(name string, build func(p *readPlan)) testCase {
		return testCase{name: "interfaces/" + name, schema: named, run: func(s *session) {
			p := s.read()
			build(p)
			expectError[*engine.SchemaMismatch](s, s.graph.Bind(s.ctx, p.q, engine.Target{}))
		}}
	}
	return []testCase{
		refuses("an unknown interface", func(p *readPlan) {
			n := p.shared("n")
			p.match(plan.Bind{Var: n}).ret(id(n)).query()
			p.q.Read.Vars[n].Type, p.q.Uses[0].Type = "Nameless", "Nameless"
		}),
		refuses("an unknown property", func(p *readPlan) {
			n := p.shared("n")
			p.match(plan.Bind{Var: n}).ret(p.prop(n, "name")).query()
			p.q.Read.Columns[0].Expr = plan.Prop{Var: n, Name: "age", Type: value.Of(value.I32)}
			p.q.Uses = append(p.q.Uses, plan.Use{Entity: plan.Interface, Type: "Named", Property: "age", Value: value.Of(value.I32)})
		}),
	}
}

// namedParam declares a parameter that is a node of the interface Named.
func (p *readPlan) namedParam(optional bool) plan.ParamRef {
	t := plan.NodeType([]string{"Person", "City"})
	t.Nullable = optional
	ref := p.param("who", t)
	p.q.Params[ref.Index].Interface = "Named"
	return ref
}

// interfaceArgumentFaults returns the case of arguments that are not nodes of the interface.
func interfaceArgumentFaults() testCase {
	return testCase{name: "interfaces/parameter: wrong arguments", schema: named, run: func(s *session) {
		for _, arg := range []any{
			nil, value.OfString("ann"), plan.OfNode("Nobody", "ann"), plan.OfNode("Person", "\xff"),
			value.OfRecord([]value.Value{value.OfString("Person")}), value.OfRecord([]value.Value{value.OfString("Person"), value.Null}),
			value.OfRecord([]value.Value{value.OfString("Person"), value.OfI64(1)}), value.OfRecords([][]value.Value{{value.OfString("Person"), value.OfString("ann")}}),
		} {
			p := s.read()
			a := p.bind("a", "Person")
			p.match(where(whole(a), plan.Eq, p.namedParam(false))).ret(id(a))
			s.expectBadArgument(p, "who", arg)
		}
	}}
}
