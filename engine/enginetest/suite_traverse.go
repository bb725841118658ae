package enginetest

import "github.com/omnigraph-go/omnigraph/gq/plan"

// traversalCases returns the cases of traversals with a fixed number of hops.
func traversalCases() []testCase {
	// known makes a case in which filters by name fix an end of a hop: the source, the target, both
	// or neither. So the cases test every choice of start that an engine can make.
	known := func(name string, boundFrom, boundTo string, want string) readCase {
		return readCase{name: name, want: want, build: func(p *readPlan) {
			a, b := p.node("a", "Person"), p.node("b", "Person")
			p.match(hop(a, "Knows", b))
			if boundFrom != "" {
				p.match(plan.Bind{Var: a}, where(p.prop(a, "name"), plan.Eq, boundFrom))
			}
			if boundTo != "" {
				p.match(plan.Bind{Var: b}, where(p.prop(b, "name"), plan.Eq, boundTo))
			}
			p.ret(id(a), id(b))
		}}
	}
	return readCases("traverse", []readCase{
		known("both ends open, parallel edges once", "", "", "ann | bob\nbob | cid\ncid | ann"),
		known("source known", "ann", "", "ann | bob"),
		known("target known: backwards", "", "bob", "ann | bob"),
		known("both known", "ann", "bob", "ann | bob"),
		known("both known, no edge", "ann", "cid", ""),
		known("both known, edge the other way", "bob", "ann", ""),
		known("unknown source", "zoe", "", ""),
		{name: "unlike endpoints", want: "ann | Oslo\nbob | Oslo\ncid | Rome", build: func(p *readPlan) {
			a, c := p.node("a", "Person"), p.node("c", "City")
			p.match(hop(a, "LivesIn", c)).ret(id(a), p.prop(c, "name"))
		}},
		{name: "unlike endpoints backwards", want: "ann\nbob", build: func(p *readPlan) {
			a, c := p.node("a", "Person"), p.node("c", "City")
			p.match(hop(a, "LivesIn", c), where(p.prop(c, "name"), plan.Eq, "Oslo")).ret(id(a))
		}},
		{name: "two hops", want: "ann | bob | cid\nbob | cid | ann\ncid | ann | bob", build: func(p *readPlan) {
			a, b, c := p.node("a", "Person"), p.node("b", "Person"), p.node("c", "Person")
			p.match(hop(a, "Knows", b), hop(b, "Knows", c)).ret(id(a), id(b), id(c))
		}},
		{name: "two hops to a common node", want: "ann | c1 | bob", build: func(p *readPlan) {
			a, b, c := p.node("a", "Person"), p.node("b", "Person"), p.node("c", "City")
			p.match(hop(a, "LivesIn", c), hop(b, "LivesIn", c), where(id(a), plan.Lt, id(b))).ret(id(a), id(c), id(b))
		}},
		{name: "two edges between the same variables", want: "ann | bob\nbob | cid\ncid | ann", build: func(p *readPlan) {
			a, b := p.node("a", "Person"), p.node("b", "Person")
			p.match(hop(a, "Knows", b), hop(a, "Follows", b)).ret(id(a), id(b))
		}},
		{name: "triangle", want: "ann | bob | cid\nbob | cid | ann\ncid | ann | bob", build: func(p *readPlan) {
			a, b, c := p.node("a", "Person"), p.node("b", "Person"), p.node("c", "Person")
			p.match(hop(a, "Follows", b), hop(b, "Follows", c), hop(c, "Follows", a), where(id(a), plan.Ne, id(b))).ret(id(a), id(b), id(c))
		}},
		{name: "to itself", want: "dan", build: func(p *readPlan) {
			a := p.node("a", "Person")
			p.match(hop(a, "Follows", a)).ret(id(a))
		}},
		{name: "written before its bindings", want: "bob | 25", build: func(p *readPlan) {
			a, b := p.node("a", "Person"), p.node("b", "Person")
			p.match(hop(a, "Knows", b), where(p.prop(b, "age"), plan.Lt, 30), plan.Bind{Var: b}, plan.Bind{Var: a}).ret(id(b), p.prop(b, "age"))
		}},
		{name: "beside a cross product", want: "ann | bob | c1\nann | bob | c2", build: func(p *readPlan) {
			a, b, c := p.node("a", "Person"), p.node("b", "Person"), p.bind("c", "City")
			p.match(hop(a, "Knows", b), where(id(a), plan.Eq, "ann")).ret(id(a), id(b), id(c))
		}},
		{name: "undirected, once for a pair", want: "ann | bob\nann | cid\nbob | ann\nbob | cid\ncid | ann\ncid | bob", build: func(p *readPlan) {
			a, b := p.node("a", "Person"), p.node("b", "Person")
			p.match(undirected(hop(a, "Knows", b))).ret(id(a), id(b))
		}},
		{name: "undirected from one", want: "bob\ncid", build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.node("b", "Person")
			p.match(undirected(hop(a, "Knows", b)), where(id(a), plan.Eq, "ann")).ret(id(b))
		}},
		{name: "undirected both known", want: "bob | ann", build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.bind("b", "Person")
			p.match(undirected(hop(a, "Knows", b)), where(id(a), plan.Eq, "bob"), where(id(b), plan.Eq, "ann")).ret(id(a), id(b))
		}},
		{name: "undirected self-loop once", want: "cid\ndan\neve", build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.node("b", "Person")
			p.match(undirected(hop(a, "Follows", b)), where(id(a), plan.Eq, "dan")).ret(id(b))
		}},
		{name: "edge binding has a row for each parallel edge", want: "ann | k1 | bob\nann | k2 | bob\nbob | k3 | cid\ncid | k4 | ann", build: func(p *readPlan) {
			a, b, e := p.node("a", "Person"), p.node("b", "Person"), p.edge("e", "Knows")
			p.match(over(a, e, "Knows", b)).ret(id(a), id(e), id(b))
		}},
		{name: "edge binding backwards", want: "k1 | 2010 | work\nk2 | 2015 | null", build: func(p *readPlan) {
			a, b, e := p.node("a", "Person"), p.bind("b", "Person"), p.edge("e", "Knows")
			p.match(over(a, e, "Knows", b), where(id(b), plan.Eq, "bob")).ret(id(e), p.prop(e, "since"), p.prop(e, "how"))
		}},
		{name: "edge binding by the edge's id", want: "bob | cid", build: func(p *readPlan) {
			a, b, e := p.node("a", "Person"), p.node("b", "Person"), p.edge("e", "Knows")
			p.match(over(a, e, "Knows", b), where(id(e), plan.Eq, "k3")).ret(from(e), to(e))
		}},
		{name: "edge binding by the edge's endpoint", want: "k3", build: func(p *readPlan) {
			a, b, e := p.node("a", "Person"), p.node("b", "Person"), p.edge("e", "Knows")
			p.match(over(a, e, "Knows", b), where(from(e), plan.Eq, "bob")).ret(id(e))
		}},
		{name: "undirected edge binding", want: "k1 | ann | bob | bob\nk2 | ann | bob | bob\nk4 | cid | ann | cid", build: func(p *readPlan) {
			a, b, e := p.bind("a", "Person"), p.node("b", "Person"), p.edge("e", "Knows")
			p.match(undirected(over(a, e, "Knows", b)), where(id(a), plan.Eq, "ann")).ret(id(e), from(e), to(e), id(b)).orderBy(id(e))
		}},
		{name: "undirected edge binding of a self-loop once", want: "f4 | dan\nf5 | eve\nf6 | cid", build: func(p *readPlan) {
			a, b, e := p.bind("a", "Person"), p.node("b", "Person"), p.edge("e", "Follows")
			p.match(undirected(over(a, e, "Follows", b)), where(id(a), plan.Eq, "dan")).ret(id(e), id(b)).orderBy(id(e))
		}},
		{name: "undirected edge binding by the edge's id", want: "ann | bob\nbob | ann", build: func(p *readPlan) {
			a, b, e := p.node("a", "Person"), p.node("b", "Person"), p.edge("e", "Follows")
			p.match(undirected(over(a, e, "Follows", b)), where(id(e), plan.Eq, "f1")).ret(id(a), id(b))
		}},
		{name: "undirected edge binding of a self-loop by the edge's id once", want: "dan | dan", build: func(p *readPlan) {
			a, b, e := p.node("a", "Person"), p.node("b", "Person"), p.edge("e", "Follows")
			p.match(undirected(over(a, e, "Follows", b)), where(id(e), plan.Eq, "f4")).ret(id(a), id(b))
		}},
		{name: "two edge bindings over the same pair", want: "k1 | k2\nk2 | k1", build: func(p *readPlan) {
			a, b, e, f := p.node("a", "Person"), p.node("b", "Person"), p.edge("e", "Knows"), p.edge("f", "Knows")
			p.match(over(a, e, "Knows", b), over(a, f, "Knows", b), where(id(e), plan.Ne, id(f))).ret(id(e), id(f))
		}},
		{name: "ties are also broken by the edge", want: "bob | bob\nbob | bob\ncid | cid\nann | ann", build: func(p *readPlan) {
			a, b, e := p.node("a", "Person"), p.node("b", "Person"), p.edge("e", "Knows")
			p.match(over(a, e, "Knows", b)).ret(id(b), p.prop(b, "name"))
		}},
		{name: "anonymous target multiplies rows", want: "cid\ncid", build: func(p *readPlan) {
			a, u := p.bind("a", "Person"), p.node("_", "Person")
			p.match(hop(a, "Follows", u), where(id(a), plan.Eq, "cid")).ret(id(a))
		}},
	})
}

// walkCases returns the cases of traversals with a variable number of hops.
func walkCases() []testCase {
	// reach walks Follows from one node, with bounds. The edges are ann → bob → cid → ann, cid →
	// dan, dan → dan, dan → eve.
	reach := func(name, start string, low, high int, want string) readCase {
		return readCase{name: name, want: want, build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.node("b", "Person")
			p.match(walk(a, "Follows", low, high, b), where(id(a), plan.Eq, start)).ret(id(b))
		}}
	}
	back := func(name, end string, low, high int, want string) readCase {
		return readCase{name: name, want: want, build: func(p *readPlan) {
			a, b := p.node("a", "Person"), p.bind("b", "Person")
			p.match(walk(a, "Follows", low, high, b), where(id(b), plan.Eq, end)).ret(id(a))
		}}
	}
	return readCases("walk", []readCase{
		reach("one to two", "ann", 1, 2, "bob\ncid"),
		reach("exactly two", "ann", 2, 2, "cid"),
		reach("exactly three: a cycle does not report the start", "ann", 3, 3, "dan"),
		reach("two to four", "ann", 2, 4, "cid\ndan\neve"),
		reach("exactly four: no node twice", "ann", 4, 4, "eve"),
		reach("beyond the end", "ann", 5, 9, ""),
		reach("all", "ann", 1, 100, "bob\ncid\ndan\neve"),
		reach("all, from zero steps on", "ann", 0, 100, "ann\nbob\ncid\ndan\neve"),
		reach("zero to one", "ann", 0, 1, "ann\nbob"),
		reach("zero steps: only the start", "ann", 0, 0, "ann"),
		reach("bounds of one: no self-loop", "dan", 1, 1, "eve"),
		reach("self-loop at one or two", "dan", 1, 2, "eve"),
		reach("self-loop at zero to one: once", "dan", 0, 1, "dan\neve"),
		reach("self-loop is not reported at two", "dan", 2, 2, ""),
		reach("from a dead end", "eve", 1, 5, ""),
		reach("from a dead end, from zero steps on", "eve", 0, 5, "eve"),
		back("backwards one to two", "dan", 1, 2, "bob\ncid"),
		back("backwards zero to two", "dan", 0, 2, "bob\ncid\ndan"),
		back("backwards exactly two", "dan", 2, 2, "bob"),
		back("backwards all", "eve", 1, 9, "ann\nbob\ncid\ndan"),
		{name: "parallel edges once", want: "bob\ncid", build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.node("b", "Person")
			p.match(walk(a, "Knows", 1, 2, b), where(id(a), plan.Eq, "ann")).ret(id(b))
		}},
		{name: "both ends open", want: "ann | cid\nbob | ann\nbob | dan\ncid | bob\ncid | eve", build: func(p *readPlan) {
			a, b := p.node("a", "Person"), p.node("b", "Person")
			p.match(walk(a, "Follows", 2, 2, b)).ret(id(a), id(b))
		}},
		{name: "both ends known", want: "ann | dan", build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.bind("b", "Person")
			p.match(walk(a, "Follows", 2, 3, b), where(id(a), plan.Eq, "ann"), where(id(b), plan.Eq, "dan")).ret(id(a), id(b))
		}},
		{name: "both ends known, the same node", want: "", build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.bind("b", "Person")
			p.match(walk(a, "Follows", 1, 3, b), where(id(a), plan.Eq, "ann"), where(id(b), plan.Eq, "ann")).ret(id(a), id(b))
		}},
		{name: "both ends known, the same node, from zero steps on", want: "ann | ann", build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.bind("b", "Person")
			p.match(walk(a, "Follows", 0, 3, b), where(id(a), plan.Eq, "ann"), where(id(b), plan.Eq, "ann")).ret(id(a), id(b))
		}},
		{name: "both ends equal by a filter: a walk does not return to its start", want: "", build: func(p *readPlan) {
			a, b := p.node("a", "Person"), p.node("b", "Person")
			p.match(walk(a, "Follows", 1, 9, b), where(id(a), plan.Eq, id(b))).ret(id(a))
		}},
		{name: "way back", want: "ann\nbob\ncid", build: func(p *readPlan) {
			a := p.node("a", "Person")
			p.match(walk(a, "Follows", 2, 3, a)).ret(id(a))
		}},
		{name: "way back, by a self-loop", want: "dan", build: func(p *readPlan) {
			a := p.node("a", "Person")
			p.match(walk(a, "Follows", 1, 2, a)).ret(id(a))
		}},
		{name: "way back: only the shortest walk counts", want: "", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.match(walk(a, "Follows", 4, 9, a)).ret(id(a))
		}},
		{name: "undirected way back by the same edge", want: "ann\nbob\ncid\neve", build: func(p *readPlan) {
			a := p.node("a", "Person")
			p.match(undirected(walk(a, "Follows", 2, 2, a))).ret(id(a))
		}},
		{name: "no way back inside a not", want: "dan\neve", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.match(not(walk(a, "Knows", 1, 9, a))).ret(id(a))
		}},
		{name: "undirected, not back by the same edge", want: "ann\nbob\ncid\ndan", build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.node("b", "Person")
			p.match(undirected(walk(a, "Follows", 1, 3, b)), where(id(a), plan.Eq, "eve")).ret(id(b))
		}},
		{name: "undirected, exactly two", want: "cid", build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.node("b", "Person")
			p.match(undirected(walk(a, "Follows", 2, 2, b)), where(id(a), plan.Eq, "eve")).ret(id(b))
		}},
		{name: "endpoints of different types end the walk after a step", want: "c1", build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.node("b", "City")
			p.match(walk(a, "LivesIn", 1, 3, b), where(id(a), plan.Eq, "ann")).ret(id(b))
		}},
		{name: "endpoints of different types: a walk does not report its start", want: "c1", build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.node("b", "City")
			p.match(walk(a, "LivesIn", 0, 3, b), where(id(a), plan.Eq, "ann")).ret(id(b))
		}},
		{name: "walk, then hop", want: "bob | c1\ncid | c2", build: func(p *readPlan) {
			a, b, c := p.bind("a", "Person"), p.node("b", "Person"), p.node("c", "City")
			p.match(walk(a, "Follows", 1, 2, b), hop(b, "LivesIn", c), where(id(a), plan.Eq, "ann")).ret(id(b), id(c))
		}},
	})
}

// notCases returns the cases of `not` blocks.
func notCases() []testCase {
	return readCases("not", []readCase{
		{name: "without an edge", want: "dan\neve", build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.node("b", "Person")
			p.match(not(hop(a, "Knows", b))).ret(id(a))
		}},
		{name: "without an edge backwards", want: "dan\neve", build: func(p *readPlan) {
			a, b := p.node("a", "Person"), p.bind("b", "Person")
			p.match(not(hop(a, "Knows", b))).ret(id(b))
		}},
		{name: "with a condition inside", want: "ann\nbob\ndan\neve", build: func(p *readPlan) {
			a, c := p.bind("a", "Person"), p.node("c", "City")
			p.match(not(hop(a, "LivesIn", c), where(p.prop(c, "name"), plan.Eq, "Rome"))).ret(id(a))
		}},
		{name: "filter alone keeps nulls", want: "bob\ndan\neve", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.match(not(where(p.prop(a, "score"), plan.Ge, 0))).ret(id(a))
		}},
		{name: "correlated with two variables", want: "ann | cid\nbob | ann\ncid | bob", build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.bind("b", "Person")
			p.match(undirected(hop(a, "Knows", b)), not(hop(a, "Knows", b))).ret(id(a), id(b))
		}},
		{name: "correlated by a comparison", want: "eve | 41", build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.node("b", "Person")
			p.match(where(p.prop(a, "age"), plan.Gt, 0),
				not(plan.Bind{Var: b}, where(p.prop(b, "age"), plan.Gt, p.prop(a, "age")))).ret(id(a), p.prop(a, "age"))
		}},
		{name: "nested", want: "ann\nbob\ndan\neve", build: func(p *readPlan) {
			// The persons for whom this holds: everyone whom they follow, except themselves and
			// eve, lives in a city.
			a, b, c := p.bind("a", "Person"), p.node("b", "Person"), p.node("c", "City")
			p.match(not(hop(a, "Follows", b), not(hop(b, "LivesIn", c)), where(id(a), plan.Ne, id(b)), where(id(b), plan.Ne, "eve"))).ret(id(a))
		}},
		{name: "nested, correlated over two levels", want: "ann\ndan\neve", build: func(p *readPlan) {
			// The persons who live in the same city as all persons whom they know.
			a, b, c := p.bind("a", "Person"), p.node("b", "Person"), p.node("c", "City")
			p.match(not(hop(a, "Knows", b), not(hop(a, "LivesIn", c), hop(b, "LivesIn", c)))).ret(id(a))
		}},
		{name: "nested, with one traversal alone", want: "ann | bob\nbob | cid\ncid | ann", build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.bind("b", "Person")
			p.match(not(not(hop(a, "Knows", b)))).ret(id(a), id(b))
		}},
		{name: "in an exists block, with one traversal alone", want: "ann | cid\nbob | ann\ncid | bob", build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.bind("b", "Person")
			p.match(undirected(hop(a, "Knows", b)), plan.Exists{Match: []plan.Clause{not(hop(a, "Knows", b))}}).ret(id(a), id(b))
		}},
		{name: "two blocks", want: "dan", build: func(p *readPlan) {
			a, b, c := p.bind("a", "Person"), p.node("b", "Person"), p.node("c", "City")
			p.match(not(hop(a, "LivesIn", c)), not(hop(a, "Follows", b), where(id(b), plan.Eq, "zoe")), where(id(a), plan.Lt, "eve")).ret(id(a))
		}},
		{name: "walk inside", want: "ann\ndan\neve", build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.node("b", "Person")
			p.match(not(walk(a, "Follows", 1, 5, b), where(id(b), plan.Eq, "ann"))).ret(id(a))
		}},
		{name: "edge binding inside", want: "bob\ncid\ndan\neve", build: func(p *readPlan) {
			a, b, e := p.bind("a", "Person"), p.node("b", "Person"), p.edge("e", "Knows")
			p.match(not(over(a, e, "Knows", b), where(p.prop(e, "since"), plan.Gt, 2010))).ret(id(a))
		}},
		{name: "anonymous node inside does not multiply rows", want: "dan\neve", build: func(p *readPlan) {
			a, u := p.bind("a", "Person"), p.node("_", "City")
			p.match(not(hop(a, "LivesIn", u))).ret(id(a))
		}},
		{name: "optional filter inside", args: []any{nil}, want: "ann\nbob\ncid\ndan\neve", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.match(not(unless(p.prop(a, "age"), plan.Eq, p.param("age", i32Type.Optional())))).ret(id(a))
		}},
		{name: "edge variable outside", want: "k1\nk3", build: func(p *readPlan) {
			// The edges without a parallel edge of an earlier year. Only edges with a year are
			// considered.
			a, b, e, f := p.node("a", "Person"), p.node("b", "Person"), p.edge("e", "Knows"), p.edge("f", "Knows")
			p.match(over(a, e, "Knows", b), where(p.prop(e, "since"), plan.Gt, 0),
				not(over(a, f, "Knows", b), where(p.prop(f, "since"), plan.Lt, p.prop(e, "since")))).ret(id(e))
		}},
	})
}
