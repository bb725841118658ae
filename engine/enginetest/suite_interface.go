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
func named() *catalog.Schema {
	s := people()
	s.Interfaces = []*catalog.Interface{
		{Name: "Named", Properties: []*catalog.Property{property("name", stringType)}},
		{Name: "Silent", Properties: []*catalog.Property{property("name", stringType)}},
	}
	for _, n := range s.Nodes {
		n.Implements = []string{"Named"}
	}
	s.Index()
	return s
}

// shared declares a variable over the interface Named.
func (p *readPlan) shared(name string) plan.VarID { return p.declare(name, plan.Interface, "Named") }

// interfaceCases returns the cases of variables over interfaces. Beside the crowd, the graph has a city whose id is
// that of a person.
func interfaceCases() []testCase {
	cases := []readCase{
		{name: "every node of each type, by type and id", want: "City | ann\nCity | c1\nCity | c2\nPerson | ann\nPerson | bob\nPerson | cid\nPerson | dan\nPerson | eve", build: func(p *readPlan) {
			n := p.shared("n")
			p.match(plan.Bind{Var: n}).ret(p.prop(n, "type"), id(n))
		}},
		{name: "of no type", want: "", build: func(p *readPlan) {
			n := p.declare("n", plan.Interface, "Silent")
			p.match(plan.Bind{Var: n}).ret(id(n))
		}},
		{name: "a whole node", want: "{ann, Troy, City}\n{ann, ann, Person}", build: func(p *readPlan) {
			n := p.shared("n")
			p.match(plan.Bind{Var: n}, where(id(n), plan.Eq, "ann")).ret(whole(n))
		}},
		{name: "a condition on a property", want: "Oslo | City\nRome | City\nTroy | City", build: func(p *readPlan) {
			n := p.shared("n")
			p.match(plan.Bind{Var: n}, where(p.prop(n, "name"), plan.Lt, "a")).ret(p.prop(n, "name"), p.prop(n, "type")).orderBy(p.prop(n, "name"))
		}},
		{name: "a limit after the order of types and ids", want: "c2 | City\nann | Person", build: func(p *readPlan) {
			n := p.shared("n")
			p.match(plan.Bind{Var: n}, where(id(n), plan.Ge, "ann"), where(p.prop(n, "name"), plan.Ne, "Troy"), where(p.prop(n, "name"), plan.Ne, "Oslo")).ret(id(n), p.prop(n, "type")).limit(2)
		}},
		{name: "narrowed", want: "ann | 30", build: func(p *readPlan) {
			n, one := p.shared("n"), p.bind("one", "Person")
			p.match(plan.Bind{Var: n}, where(id(n), plan.Eq, "ann"), where(whole(one), plan.Eq, whole(n))).ret(id(one), p.prop(one, "age"))
		}},
		{name: "narrowed in an optional block", want: "City | null\nPerson | 30", build: func(p *readPlan) {
			n := p.shared("n")
			one := p.node("one", "Person")
			p.match(plan.Bind{Var: n}, where(id(n), plan.Eq, "ann"))
			p.match(p.maybe(plan.Bind{Var: one}, where(whole(one), plan.Eq, whole(n)))).ret(p.prop(n, "type"), p.prop(one, "age"))
		}},
		{name: "narrowed inside a not", want: "City | ann\nCity | c1\nCity | c2", build: func(p *readPlan) {
			n, one := p.shared("n"), p.node("one", "Person")
			p.match(plan.Bind{Var: n}, not(plan.Bind{Var: one}, where(whole(n), plan.Eq, whole(one)))).ret(p.prop(n, "type"), id(n))
		}},
		{name: "widened", want: "City | c1", build: func(p *readPlan) {
			n, one := p.shared("n"), p.bind("one", "City")
			p.match(plan.Bind{Var: n}, where(id(one), plan.Eq, "c1"), where(whole(n), plan.Eq, whole(one))).ret(p.prop(n, "type"), id(n))
		}},
		{name: "two variables are the same node only with one type", want: "City | City\nPerson | Person", build: func(p *readPlan) {
			n, m := p.shared("n"), p.shared("m")
			p.match(plan.Bind{Var: n}, plan.Bind{Var: m}, where(id(n), plan.Eq, "ann"), where(whole(n), plan.Eq, whole(m))).ret(p.prop(n, "type"), p.prop(m, "type"))
		}},
		{name: "two variables are different nodes", want: "Person | City\nCity | Person", build: func(p *readPlan) {
			n, m := p.shared("n"), p.shared("m")
			p.match(plan.Bind{Var: n}, plan.Bind{Var: m}, where(id(n), plan.Eq, "ann"), where(id(m), plan.Eq, "ann"), where(whole(n), plan.Ne, whole(m))).ret(p.prop(n, "type"), p.prop(m, "type"))
		}},
		{name: "at the source of an edge", want: "ann\nbob\ncid", build: func(p *readPlan) {
			n, c := p.shared("n"), p.node("c", "City")
			p.match(plan.Bind{Var: n}, hop(n, "LivesIn", c)).ret(id(n))
		}},
		{name: "at the target of an edge", want: "City | c1\nCity | c2", build: func(p *readPlan) {
			a, n := p.node("a", "Person"), p.shared("n")
			p.match(hop(a, "LivesIn", n)).ret(p.prop(n, "type"), id(n)).q.Read.Grouped = true
		}},
		{name: "at both ends", want: "ann | c1\nbob | c1\ncid | c2", build: func(p *readPlan) {
			a, n := p.shared("a"), p.shared("n")
			p.match(hop(a, "LivesIn", n)).ret(id(a), id(n))
		}},
		{name: "at both ends, the same variable", want: "dan", build: func(p *readPlan) {
			a := p.shared("a")
			p.match(hop(a, "Follows", a)).ret(id(a))
		}},
		{name: "at both ends of an edge between two types, the same variable", want: "", build: func(p *readPlan) {
			a := p.shared("a")
			p.match(hop(a, "LivesIn", a)).ret(id(a))
		}},
		{name: "at the ends of two edges", want: "ann | bob | c1\nbob | cid | c1\ncid | ann | c2\ncid | dan | c2", build: func(p *readPlan) {
			a, b, c := p.shared("a"), p.shared("b"), p.shared("c")
			p.match(or(hop(a, "Knows", b), "Follows"), hop(a, "LivesIn", c)).ret(id(a), id(b), id(c))
		}},
		{name: "without an edge", want: "City | ann\nCity | c1\nCity | c2\nPerson | dan\nPerson | eve", build: func(p *readPlan) {
			n, c := p.shared("n"), p.node("c", "City")
			p.match(plan.Bind{Var: n}, not(hop(n, "LivesIn", c))).ret(p.prop(n, "type"), id(n))
		}},
		{name: "with the edge bound", want: "l1 | ann\nl2 | bob\nl3 | cid", build: func(p *readPlan) {
			n, e, c := p.shared("n"), p.edge("e", "LivesIn"), p.node("c", "City")
			p.match(over(n, e, "LivesIn", c)).ret(id(e), id(n)).orderBy(id(e))
		}},
		{name: "with the edge known", want: "ann | c1", build: func(p *readPlan) {
			n, e, c := p.shared("n"), p.edge("e", "LivesIn"), p.shared("c")
			p.match(over(n, e, "LivesIn", c), where(id(e), plan.Eq, "l1")).ret(id(n), id(c))
		}},
		{name: "a walk", want: "bob | 1 | [ann, bob]\ncid | 2 | [ann, bob, cid]", build: func(p *readPlan) {
			a, b := p.shared("a"), p.shared("b")
			t, hops, nodes, _ := along(walk(a, "Follows", 1, 2, b), p.walkVar("w"))
			p.match(t, where(id(a), plan.Eq, "ann")).ret(id(b), hops, nodes)
		}},
		{name: "a walk of no hops needs the type of the end", want: "Person | ann", build: func(p *readPlan) {
			a, b := p.shared("a"), p.shared("b")
			p.match(walk(a, "Follows", 0, 0, b), where(id(a), plan.Eq, "ann")).ret(p.prop(b, "type"), id(b))
		}},
		{name: "a way back", want: "ann\nbob\ncid", build: func(p *readPlan) {
			a := p.shared("a")
			p.match(walk(a, "Follows", 2, 4, a)).ret(id(a))
		}},
		{name: "counted by type", want: "City | 3\nPerson | 5", build: func(p *readPlan) {
			n := p.shared("n")
			p.match(plan.Bind{Var: n}).ret(p.prop(n, "type"), count(whole(n)))
		}},
		{name: "each node once", want: "8", build: func(p *readPlan) {
			n := p.shared("n")
			p.match(plan.Bind{Var: n}).ret(distinct(count(whole(n))))
		}},
		{name: "a list of nodes of several types", want: "[{ann, Troy, City}, {ann, ann, Person}]", build: func(p *readPlan) {
			n := p.shared("n")
			p.match(plan.Bind{Var: n}, where(id(n), plan.Eq, "ann")).ret(agg(plan.Collect, whole(n)))
		}},
		{name: "a list of distinct nodes of several types", want: "[{ann, Troy, City}, {ann, ann, Person}] | 2 | 4", build: func(p *readPlan) {
			n, m := p.shared("n"), p.shared("m")
			p.match(plan.Bind{Var: m}, where(id(m), plan.Eq, "ann"), plan.Bind{Var: n}, where(id(n), plan.Eq, "ann"))
			nodes := agg(plan.Collect, whole(n))
			p.ret(distinct(nodes), sizeOf(distinct(nodes)), sizeOf(nodes))
		}},
		{name: "grouped by the node", want: "{ann, Troy, City} | 1\n{ann, ann, Person} | 1", build: func(p *readPlan) {
			n := p.shared("n")
			p.match(plan.Bind{Var: n}, where(id(n), plan.Eq, "ann")).ret(whole(n), count(whole(n)))
		}},
		{name: "in a subquery", want: "ann | 2\nbob | 0", build: func(p *readPlan) {
			a, n := p.bind("a", "Person"), p.shared("n")
			same := plan.BlockAgg{Match: []plan.Clause{plan.Bind{Var: n}, where(id(n), plan.Eq, id(a)), where(id(a), plan.Eq, "ann")}, Outer: []plan.VarID{a}}
			p.match(where(id(a), plan.Lt, "c")).ret(id(a), same)
		}},
	}
	return slices.Concat(interfaceReads(cases), interfaceArguments(), interfaceRefusals())
}

// interfaceReads returns test cases that load the crowd and a city whose id is that of a person, and check a read.
func interfaceReads(cases []readCase) []testCase {
	var all []testCase
	for _, c := range cases {
		all = append(all, testCase{name: "interfaces/" + c.name, schema: named, run: func(s *session) {
			s.load(engine.Merge, crowd+`{"type":"City","data":{"id":"ann","name":"Troy"}}`)
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
