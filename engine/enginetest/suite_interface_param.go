package enginetest

import (
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// namedParam declares a parameter that is a node of the interface Named.
func (p *readPlan) namedParam(optional bool) plan.ParamRef {
	t := plan.NodeType([]string{"Person", "City"})
	t.Nullable = optional
	ref := p.param("who", t)
	p.q.Params[ref.Index].Interface = "Named"
	return ref
}

// interfaceArguments returns the cases of parameters that are nodes of an interface.
func interfaceArguments() []testCase {
	person, city := plan.OfNode("Person", "ann"), plan.OfNode("City", "ann")
	// of returns a read of the nodes of a variable over the interface for which a comparison with the parameter holds.
	of := func(op plan.Op, optional bool) func(p *readPlan) {
		return func(p *readPlan) {
			n := p.shared("n")
			p.match(plan.Bind{Var: n}, where(id(n), plan.Eq, "ann"), where(whole(n), op, p.namedParam(optional))).ret(p.prop(n, "type"), id(n))
		}
	}
	// people returns a read of the people for whom a comparison with the parameter holds.
	people := func(op plan.Op) func(p *readPlan) {
		return func(p *readPlan) {
			a := p.bind("a", "Person")
			p.match(where(whole(a), op, p.namedParam(false))).ret(id(a))
		}
	}
	// dropped returns a read with a comparison that a null argument drops.
	dropped := func(p *readPlan) {
		n := p.shared("n")
		p.match(plan.Bind{Var: n}, where(id(n), plan.Eq, "ann"), unless(whole(n), plan.Eq, p.namedParam(true))).ret(p.prop(n, "type"))
	}
	// tested returns a read that tests the parameter for null.
	tested := func(p *readPlan) {
		a := p.bind("a", "Person")
		ref := p.namedParam(true)
		p.match(plan.Any{Conds: []plan.Clause{isNull(ref), where(whole(a), plan.Eq, ref)}}).ret(id(a))
	}
	// typed returns a read of the nodes of a variable over the interface for which a comparison with the id of a person holds.
	typed := func(op plan.Op, t value.Type) func(p *readPlan) {
		return func(p *readPlan) {
			n := p.shared("n")
			ref := p.param("who", t)
			cond := plan.Compare{Op: op, Left: whole(n), Right: nodeRef("Person", ref), Unless: plan.NoParam}
			if t.Nullable && op == plan.Eq {
				cond.Unless = ref.Index
			}
			p.match(plan.Bind{Var: n}, where(id(n), plan.Eq, "ann"), plan.Filter{Cond: cond}).ret(p.prop(n, "type"), id(n))
		}
	}
	cases := []readCase{
		{name: "an id alone finds the node", want: "Person | ann | 30", args: []any{"ann"}, build: func(p *readPlan) {
			n, a := p.shared("n"), p.node("a", "Person")
			p.match(plan.Bind{Var: n}, where(whole(n), plan.Eq, nodeRef("Person", p.param("who", stringType))))
			p.match(plan.Bind{Var: a}, where(whole(a), plan.Eq, whole(n))).ret(p.prop(n, "type"), id(n), p.prop(a, "age"))
		}},
		{name: "the id of a node of its type", want: "Person | ann", args: []any{"ann"}, build: typed(plan.Eq, stringType)},
		{name: "the id of a node of another type", want: "City | ann", args: []any{"ann"}, build: typed(plan.Ne, stringType)},
		{name: "an id that names no node", want: "", args: []any{"none"}, build: typed(plan.Eq, stringType)},
		{name: "an id that names no node, and differs from all", want: "City | ann\nPerson | ann", args: []any{"none"}, build: typed(plan.Ne, stringType)},
		{name: "an id that is null differs from no node", want: "", args: []any{nil}, build: typed(plan.Ne, stringType.Optional())},
		{name: "an id that is null drops the comparison", want: "City | ann\nPerson | ann", args: []any{nil}, build: typed(plan.Eq, stringType.Optional())},
		{name: "an id as a value", want: "City | ann | false\nPerson | ann | true", args: []any{"ann"}, build: func(p *readPlan) {
			n := p.shared("n")
			ref := nodeRef("Person", p.param("who", stringType))
			p.match(plan.Bind{Var: n}, where(id(n), plan.Eq, "ann")).ret(p.prop(n, "type"), id(n), test(whole(n), plan.Eq, ref))
		}},
		{name: "the id of a city at the end of an edge", want: "ann\nbob", args: []any{"c1"}, build: func(p *readPlan) {
			a, n := p.node("a", "Person"), p.shared("n")
			p.match(hop(a, "LivesIn", n), where(whole(n), plan.Eq, nodeRef("City", p.param("who", stringType)))).ret(id(a))
		}},
		{name: "an id inside a not", want: "City | ann\nCity | c1\nCity | c2\nPerson | ann", args: []any{"ann"}, build: func(p *readPlan) {
			n, a, ref := p.shared("n"), p.node("a", "Person"), nodeRef("Person", p.param("who", stringType))
			p.match(plan.Bind{Var: n}, not(plan.Bind{Var: a}, where(whole(a), plan.Eq, whole(n)), where(whole(n), plan.Ne, ref))).ret(p.prop(n, "type"), id(n))
		}},
		{name: "alone finds the node", want: "Person | ann", args: []any{person}, build: func(p *readPlan) {
			n := p.shared("n")
			p.match(plan.Bind{Var: n}, where(whole(n), plan.Eq, p.namedParam(false))).ret(p.prop(n, "type"), id(n))
		}},
		{name: "finds the node of its type", want: "City | ann", args: []any{city}, build: of(plan.Eq, false)},
		{name: "differs from the node of another type", want: "City | ann", args: []any{person}, build: of(plan.Ne, false)},
		{name: "names no node", want: "", args: []any{plan.OfNode("City", "none")}, build: of(plan.Eq, false)},
		{name: "names no node, and differs from all", want: "City | ann\nPerson | ann", args: []any{plan.OfNode("City", "none")}, build: of(plan.Ne, false)},
		{name: "null equals no node", want: "", args: []any{nil}, build: of(plan.Eq, true)},
		{name: "null differs from no node", want: "", args: []any{nil}, build: of(plan.Ne, true)},
		{name: "a node of one type", want: "ann", args: []any{person}, build: people(plan.Eq)},
		{name: "a node of one type and an argument of another", want: "", args: []any{city}, build: people(plan.Eq)},
		{name: "other nodes of one type", want: "bob\ncid\ndan\neve", args: []any{person}, build: people(plan.Ne)},
		{name: "other nodes of one type and an argument of another", want: "ann\nbob\ncid\ndan\neve", args: []any{city}, build: people(plan.Ne)},
		{name: "a comparison that stays", want: "City", args: []any{city}, build: dropped},
		{name: "a comparison that is dropped", want: "City\nPerson", args: []any{nil}, build: dropped},
		{name: "tested for null, given", want: "ann", args: []any{person}, build: tested},
		{name: "tested for null, left out", want: "ann\nbob\ncid\ndan\neve", args: []any{nil}, build: tested},
		{name: "as a value", want: "City | ann | false | null\nPerson | ann | true | 30", args: []any{person}, build: func(p *readPlan) {
			n, ref := p.shared("n"), p.namedParam(false)
			one := p.node("one", "Person")
			p.match(plan.Bind{Var: n}, where(id(n), plan.Eq, "ann"))
			p.match(p.maybe(plan.Bind{Var: one}, where(whole(one), plan.Eq, whole(n)), where(whole(one), plan.Eq, ref)))
			p.ret(p.prop(n, "type"), id(n), test(whole(n), plan.Eq, ref), p.prop(one, "age"))
		}},
		{name: "as a value of a node that may be null", want: "City | false\nPerson | true", args: []any{person}, build: func(p *readPlan) {
			n, ref := p.shared("n"), p.namedParam(false)
			one := p.node("one", "Person")
			p.match(plan.Bind{Var: n}, where(id(n), plan.Eq, "ann"), p.maybe(plan.Bind{Var: one}, where(whole(one), plan.Eq, whole(n))))
			p.ret(p.prop(n, "type"), test(whole(one), plan.Eq, ref))
		}},
		{name: "at the end of an edge", want: "ann\nbob", args: []any{plan.OfNode("City", "c1")}, build: func(p *readPlan) {
			a, n := p.node("a", "Person"), p.shared("n")
			p.match(hop(a, "LivesIn", n), where(whole(n), plan.Eq, p.namedParam(false))).ret(id(a))
		}},
		{name: "inside a not", want: "City | ann\nCity | c1\nCity | c2", args: []any{plan.OfNode("City", "c1")}, build: func(p *readPlan) {
			n, a, ref := p.shared("n"), p.node("a", "Person"), p.namedParam(false)
			p.match(plan.Bind{Var: n}, not(plan.Bind{Var: a}, where(whole(a), plan.Eq, whole(n)), where(whole(a), plan.Ne, ref))).ret(p.prop(n, "type"), id(n))
		}},
		{name: "in a subquery", want: "ann | 1\nbob | 0\ncid | 0\ndan | 0\neve | 0", args: []any{person}, build: func(p *readPlan) {
			a, n := p.bind("a", "Person"), p.shared("n")
			match := []plan.Clause{plan.Bind{Var: n}, where(whole(n), plan.Eq, whole(a)), where(whole(n), plan.Eq, p.namedParam(false))}
			p.ret(id(a), plan.BlockAgg{Match: match, Outer: []plan.VarID{a}})
		}},
	}
	for i := range cases {
		cases[i].name = "parameter: " + cases[i].name
	}
	return append(interfaceReads(cases), interfaceArgumentFaults())
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
