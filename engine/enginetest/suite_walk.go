package enginetest

import "github.com/omnigraph-go/omnigraph/gq/plan"

// alternativeCases returns the cases of traversals that follow one of several edge types.
func alternativeCases() []testCase {
	return readCases("alternatives", []readCase{
		{name: "each pair once", want: "ann | bob\nbob | cid\ncid | ann\ncid | dan\ndan | dan\ndan | eve", build: func(p *readPlan) {
			a, b := p.node("a", "Person"), p.node("b", "Person")
			p.match(or(hop(a, "Knows", b), "Follows")).ret(id(a), id(b))
		}},
		{name: "backwards", want: "cid\ndan", build: func(p *readPlan) {
			a, b := p.node("a", "Person"), p.bind("b", "Person")
			p.match(or(hop(a, "Knows", b), "Follows"), where(id(b), plan.Eq, "dan")).ret(id(a))
		}},
		{name: "in either direction", want: "ann\nbob\ndan", build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.node("b", "Person")
			p.match(undirected(or(hop(a, "Knows", b), "Follows")), where(id(a), plan.Eq, "cid")).ret(id(b))
		}},
		{name: "both ends known", want: "cid | dan", build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.bind("b", "Person")
			p.match(or(hop(a, "Knows", b), "Follows"), where(id(a), plan.Eq, "cid"), where(id(b), plan.Eq, "dan")).ret(id(a), id(b))
		}},
		{name: "from a node to itself", want: "dan", build: func(p *readPlan) {
			a := p.node("a", "Person")
			p.match(or(hop(a, "Knows", a), "Follows")).ret(id(a))
		}},
		{name: "inside a not", want: "eve", build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.node("b", "Person")
			p.match(not(or(hop(a, "Knows", b), "Follows"))).ret(id(a))
		}},
		{name: "a not between known ends", want: "eve", build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.bind("b", "Person")
			p.match(not(or(hop(a, "Knows", b), "Follows")), where(id(b), plan.Eq, "eve"), where(id(a), plan.Gt, "dan")).ret(id(a))
		}},
		{name: "counted", want: "ann | 1\nbob | 1\ncid | 2\ndan | 2", build: func(p *readPlan) {
			a, b := p.node("a", "Person"), p.node("b", "Person")
			p.match(or(hop(a, "Knows", b), "Follows")).ret(id(a), count(whole(b)))
		}},
		{name: "a walk", want: "bob\ncid\ndan", build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.node("b", "Person")
			p.match(or(walk(a, "Knows", 1, 3, b), "Follows"), where(id(a), plan.Eq, "ann")).ret(id(b))
		}},
		{name: "a walk in either direction", want: "ann\nbob\ncid", build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.node("b", "Person")
			p.match(undirected(or(walk(a, "Knows", 2, 3, b), "Follows")), where(id(a), plan.Eq, "eve")).ret(id(b))
		}},
		{name: "a way back", want: "ann\nbob\ncid", build: func(p *readPlan) {
			a := p.node("a", "Person")
			p.match(or(walk(a, "Knows", 2, 4, a), "Follows")).ret(id(a))
		}},
		{name: "a walk over nodes of several types", want: "c1\nc2", build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.node("b", "City")
			p.match(or(walk(a, "Follows", 1, 3, b), "LivesIn"), where(id(a), plan.Eq, "ann")).ret(id(b))
		}},
		{name: "a walk over nodes of several types goes on only where an edge starts", want: "bob\ncid", build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.node("b", "Person")
			p.match(or(walk(a, "LivesIn", 1, 2, b), "Follows"), where(id(a), plan.Eq, "ann")).ret(id(b))
		}},
		{name: "a walk over nodes of several types, backwards", want: "ann\nbob", build: func(p *readPlan) {
			a, b := p.node("a", "Person"), p.bind("b", "City")
			p.match(or(walk(a, "Knows", 2, 3, b), "LivesIn"), where(id(b), plan.Eq, "c2")).ret(id(a))
		}},
	})
}

// boundWalkCases returns the cases of walks that are bound to a variable.
func boundWalkCases() []testCase {
	// around returns a case that binds walks along Follows from one person.
	around := func(name string, low, high int, start, want string) readCase {
		return readCase{name: name, want: want, build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.node("b", "Person")
			t, hops, nodes, types := along(walk(a, "Follows", low, high, b), p.walkVar("w"))
			p.match(t, where(id(a), plan.Eq, start)).ret(id(b), hops, nodes, types)
		}}
	}
	// between returns a case that binds a walk along Follows between two persons.
	between := func(name string, low, high int, start, end, want string) readCase {
		return readCase{name: name, want: want, build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.bind("b", "Person")
			t, hops, nodes, _ := along(walk(a, "Follows", low, high, b), p.walkVar("w"))
			p.match(t, where(id(a), plan.Eq, start), where(id(b), plan.Eq, end)).ret(hops, nodes)
		}}
	}
	return readCases("bound walk", []readCase{
		around("from one end", 1, 2, "ann", "bob | 1 | [ann, bob] | [Person, Person]\ncid | 2 | [ann, bob, cid] | [Person, Person, Person]"),
		around("from zero steps on", 0, 1, "ann", "ann | 0 | [ann] | [Person]\nbob | 1 | [ann, bob] | [Person, Person]"),
		around("none within the bounds", 5, 9, "ann", ""),
		between("both ends known", 1, 9, "ann", "eve", "4 | [ann, bob, cid, dan, eve]"),
		between("both ends known, one hop", 1, 9, "dan", "eve", "1 | [dan, eve]"),
		between("both ends known, longer than the bounds", 1, 3, "ann", "eve", ""),
		between("both ends known, shorter than the bounds", 5, 9, "ann", "eve", ""),
		between("both ends known, no walk", 1, 64, "eve", "ann", ""),
		between("both ends known and equal", 0, 9, "ann", "ann", "0 | [ann]"),
		between("both ends known and equal, at least one hop", 1, 9, "ann", "ann", ""),
		{name: "from the target to the source", want: "2 | [cid, bob, ann]", build: func(p *readPlan) {
			a, b, w := p.bind("a", "Person"), p.bind("b", "Person"), p.walkVar("w")
			t, _, _, _ := along(walk(a, "Follows", 1, 9, b), w)
			p.match(t, where(id(a), plan.Eq, "ann"), where(id(b), plan.Eq, "cid")).
				ret(plan.WalkPart{Var: w, Fact: plan.WalkHops, From: b, To: a}, plan.WalkPart{Var: w, Fact: plan.WalkNodes, From: b, To: a})
		}},
		{name: "a way back", want: "ann | 3 | [ann, bob, cid, ann]\nbob | 3 | [bob, cid, ann, bob]\ncid | 3 | [cid, ann, bob, cid]\ndan | 1 | [dan, dan]", build: func(p *readPlan) {
			a := p.node("a", "Person")
			t, hops, nodes, _ := along(walk(a, "Follows", 1, 9, a), p.walkVar("w"))
			p.match(t).ret(id(a), hops, nodes)
		}},
		{name: "a way back that takes an edge twice", want: "ann | 2 | [ann, bob, ann]\nbob | 2 | [bob, ann, bob]\ncid | 2 | [cid, ann, cid]", build: func(p *readPlan) {
			a := p.node("a", "Person")
			t, hops, nodes, _ := along(undirected(walk(a, "Knows", 1, 9, a)), p.walkVar("w"))
			p.match(t).ret(id(a), hops, nodes)
		}},
		{name: "along edges of two types", want: "eve | 3 | [bob, cid, dan, eve]\ndan | 2 | [bob, cid, dan]", build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.node("b", "Person")
			t, hops, nodes, _ := along(undirected(or(walk(a, "Knows", 2, 3, b), "Follows")), p.walkVar("w"))
			p.match(t, where(id(a), plan.Eq, "bob")).ret(id(b), hops, nodes).orderDesc(hops)
		}},
		{name: "over nodes of several types", want: "c1 | [ann, c1] | [Person, City]\nc2 | [ann, bob, cid, c2] | [Person, Person, Person, City]", build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.node("b", "City")
			t, _, nodes, types := along(or(walk(a, "Follows", 1, 3, b), "LivesIn"), p.walkVar("w"))
			p.match(t, where(id(a), plan.Eq, "ann")).ret(id(b), nodes, types)
		}},
		{name: "in a filter", want: "ann | cid\nbob | ann\nbob | dan\ncid | bob\ncid | eve", build: func(p *readPlan) {
			a, b := p.node("a", "Person"), p.node("b", "Person")
			t, hops, _, _ := along(walk(a, "Follows", 1, 4, b), p.walkVar("w"))
			p.match(where(hops, plan.Eq, plan.Lit{Value: literal(2, i32Type)}), t).ret(id(a), id(b))
		}},
		{name: "grouped by its length", want: "1 | 5\n2 | 5\n3 | 2\n4 | 1", build: func(p *readPlan) {
			a, b := p.node("a", "Person"), p.node("b", "Person")
			t, hops, _, _ := along(walk(a, "Follows", 1, 9, b), p.walkVar("w"))
			p.match(t).ret(hops, count(whole(b)))
		}},
		{name: "in an optional block", want: "ann | 1\nbob | null\ncid | 2\ndan | null\neve | null", build: func(p *readPlan) {
			a, b, w := p.bind("a", "Person"), p.bind("b", "Person"), p.walkVar("w")
			t, hops, _, _ := along(walk(a, "Knows", 1, 9, b), w)
			p.match(where(id(b), plan.Eq, "bob"))
			p.match(p.maybe(where(hops, plan.Lt, plan.Lit{Value: literal(3, i32Type)}), t)).ret(id(a), hops)
		}},
		{name: "in an optional block, tested outside", want: "dan\neve", build: func(p *readPlan) {
			a, b, w := p.bind("a", "Person"), p.bind("b", "Person"), p.walkVar("w")
			t, hops, _, _ := along(walk(a, "Knows", 1, 9, b), w)
			p.match(where(id(b), plan.Eq, "ann"), where(id(a), plan.Ne, "ann"), p.maybe(t), isNull(hops)).ret(id(a))
		}},
		{name: "inside a not", want: "ann\nbob\ndan\neve", build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.node("b", "Person")
			t, hops, _, _ := along(walk(a, "Follows", 1, 3, b), p.walkVar("w"))
			p.match(not(t, where(id(b), plan.Eq, "eve"), where(hops, plan.Eq, plan.Lit{Value: literal(2, i32Type)}))).ret(id(a))
		}},
		{name: "used inside a not", want: "ann | cid", build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.node("b", "Person")
			t, hops, _, _ := along(walk(a, "Follows", 1, 3, b), p.walkVar("w"))
			p.match(t, where(id(a), plan.Eq, "ann"), not(where(hops, plan.Ne, plan.Lit{Value: literal(2, i32Type)}))).ret(id(a), id(b))
		}},
	})
}
