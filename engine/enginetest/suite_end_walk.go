package enginetest

import (
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// endWalkCases returns the cases of walks along edges with an interface at an end.
func endWalkCases() []readCase {
	typed := func(p *readPlan, v plan.VarID) plan.Expr { return p.prop(v, catalog.TypeProperty) }
	// from returns a read of the nodes that walks from a person reach.
	from := func(low, high int) func(p *readPlan) {
		return func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.shared("b")
			p.match(where(id(a), plan.Eq, "ann"), walk(a, "Links", low, high, b)).ret(typed(p, b), id(b))
		}
	}
	return []readCase{
		{name: "walk of one edge", want: "City | ann", build: from(1, 1)},
		{name: "walk of two edges", want: "City | ann\nPerson | bob\nTeam | ann", build: from(1, 2)},
		{name: "walk of exactly two edges", want: "Person | bob\nTeam | ann", build: from(2, 2)},
		{name: "walk that may stay", want: "City | ann\nPerson | ann", build: from(0, 1)},
		{name: "walk that never reports its start", want: "City | ann\nPerson | bob\nTeam | ann", build: from(1, 6)},
		{name: "walk to one type", want: "bob | 2", build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.node("b", "Person")
			t, hops, _, _ := along(walk(a, "Links", 1, 4, b), p.walkVar("w"))
			p.match(where(id(a), plan.Eq, "ann"), t).ret(id(b), hops)
		}},
		{name: "walk between two interfaces", want: "City | ann | Person | ann\nCity | ann | Person | bob\nCity | ann | Team | ann\nPerson | ann | City | ann\nPerson | ann | Person | bob\nPerson | ann | Team | ann\nPerson | bob | City | ann\nPerson | bob | Person | ann\nPerson | bob | Team | ann", build: func(p *readPlan) {
			a, b := p.shared("a"), p.shared("b")
			p.match(walk(a, "Links", 1, 5, b)).ret(typed(p, a), id(a), typed(p, b), id(b))
		}},
		{name: "walk backwards", want: "City | ann | 1\nPerson | ann | 2\nPerson | bob | 3", build: func(p *readPlan) {
			a, b := p.shared("a"), p.bind("b", "Team")
			t, hops, _, _ := along(walk(a, "Links", 1, 5, b), p.walkVar("w"))
			p.match(t).ret(typed(p, a), id(a), hops)
		}},
		{name: "walk with its nodes and types", want: "[ann, ann, bob] | [Person, City, Person]", build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.bind("b", "Person")
			t, _, nodes, types := along(walk(a, "Links", 1, 5, b), p.walkVar("w"))
			p.match(t, where(id(a), plan.Eq, "ann"), where(id(b), plan.Eq, "bob")).ret(nodes, types)
		}},
		{name: "walk in both directions", want: "City | ann | 1\nPerson | bob | 1\nTeam | ann | 2", build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.shared("b")
			t, hops, _, _ := along(undirected(walk(a, "Links", 1, 3, b)), p.walkVar("w"))
			p.match(where(id(a), plan.Eq, "ann"), t).ret(typed(p, b), id(b), hops)
		}},
		{name: "closed walk", want: "City | ann\nCity | c1\nPerson | ann\nPerson | bob", build: func(p *readPlan) {
			a := p.shared("a")
			p.match(walk(a, "Links", 1, 3, a)).ret(typed(p, a), id(a))
		}},
		{name: "closed walk of two types with one id is none", want: "City | c1", build: func(p *readPlan) {
			a := p.shared("a")
			p.match(walk(a, "Links", 1, 2, a)).ret(typed(p, a), id(a))
		}},
		{name: "closed walk of one type", want: "ann | [ann, ann, bob, ann]\nbob | [bob, ann, ann, bob]", build: func(p *readPlan) {
			a := p.node("a", "Person")
			t, _, nodes, _ := along(walk(a, "Links", 1, 4, a), p.walkVar("w"))
			p.match(t).ret(id(a), nodes)
		}},
		{name: "walk of two edge types", want: "City | ann | 2\nPerson | ann | 1\nPerson | bob | 2", build: func(p *readPlan) {
			n, x := p.bind("n", "Note"), p.shared("x")
			t, hops, _, _ := along(or(walk(n, "About", 1, 2, x), "Links", "By"), p.walkVar("w"))
			p.match(where(id(n), plan.Eq, "n3"), t).ret(typed(p, x), id(x), hops)
		}},
		{name: "walk goes on only where an edge can start", want: "City | ann\nPerson | ann", build: func(p *readPlan) {
			n, x := p.bind("n", "Note"), p.shared("x")
			p.match(where(id(n), plan.Eq, "n1"), walk(n, "About", 1, 4, x)).ret(typed(p, x), id(x))
		}},
		{name: "walk over notes and what they are about", want: "City | ann\nCity | c1\nPerson | ann\nTeam | ann", build: func(p *readPlan) {
			n, x := p.bind("n", "Note"), p.shared("x")
			p.match(where(id(n), plan.Eq, "n1"), or(walk(n, "Cites", 1, 2, x), "About")).ret(typed(p, x), id(x))
		}},
		{name: "walk that may stay at an end that does not fit", want: "", build: func(p *readPlan) {
			n, x := p.bind("n", "Note"), p.node("x", "Note")
			p.match(walk(n, "About", 0, 2, x)).ret(id(n), id(x))
		}},
		{name: "walk that may stay needs a type of both ends", want: "Person | ann | ann\nPerson | ann | bob\nPerson | bob | bob\nPerson | cid | cid\nTeam | ann | cid", build: func(p *readPlan) {
			a, b := p.shared("a"), p.node("b", "Person")
			p.match(walk(a, "By", 0, 1, b)).ret(typed(p, a), id(a), id(b))
		}},
		{name: "no walk", want: "City | c1\nPerson | cid\nTeam | ann", build: func(p *readPlan) {
			a, b := p.shared("a"), p.node("b", "Person")
			p.match(plan.Bind{Var: a}, not(walk(a, "Links", 1, 4, b))).ret(typed(p, a), id(a))
		}},
		{name: "optional walk", want: "City | ann | 2\nCity | c1 | null\nPerson | ann | null\nPerson | bob | 1\nPerson | cid | null\nTeam | ann | null", build: func(p *readPlan) {
			a, b := p.shared("a"), p.node("b", "Person")
			t, hops, _, _ := along(walk(a, "Links", 1, 4, b), p.walkVar("w"))
			p.match(plan.Bind{Var: a})
			p.match(p.maybe(t, where(id(b), plan.Eq, "ann"))).ret(typed(p, a), id(a), hops)
		}},
	}
}

// endNodeCases returns the cases of reads that use the node at an end of an edge.
func endNodeCases() []readCase {
	// about declares the variables of a traversal from notes, with the edge bound.
	about := func(p *readPlan) (n, e, x plan.VarID) {
		n, e, x = p.node("n", "Note"), p.edge("e", "About"), p.shared("x")
		p.match(over(n, e, "About", x))
		return n, e, x
	}
	return []readCase{
		{name: "end as a column", want: deskAbout, build: func(p *readPlan) {
			_, e, _ := about(p)
			p.ret(id(e), p.from(e), p.to(e)).orderBy(id(e))
		}},
		{name: "ends as columns", want: deskLinks, build: func(p *readPlan) {
			a, e, b := p.shared("a"), p.edge("e", "Links"), p.shared("b")
			p.match(over(a, e, "Links", b)).ret(id(e), p.from(e), p.to(e)).orderBy(id(e))
		}},
		{name: "end without the node's properties", want: "b1 | {Team, ann}\nb2 | {Person, ann}\nb3 | {Person, bob}", build: func(p *readPlan) {
			a, e, b := p.declare("a", plan.Interface, "Made"), p.edge("e", "By"), p.node("b", "Person")
			p.match(over(a, e, "By", b)).ret(id(e), p.from(e)).orderBy(id(e))
		}},
		{name: "end of an optional edge", want: "n4 | {null, null}\nn1 | {Person, ann}\nn1 | {City, ann}\nn2 | {City, c1}\nn3 | {Person, ann}\nn2 | {Team, ann}", build: func(p *readPlan) {
			n, e, x := p.bind("n", "Note"), p.edge("e", "About"), p.shared("x")
			p.match(p.maybe(over(n, e, "About", x))).ret(id(n), p.to(e))
		}},
		{name: "end is null", want: "n4", build: func(p *readPlan) {
			n, e, x := p.bind("n", "Note"), p.edge("e", "About"), p.shared("x")
			p.match(p.maybe(over(n, e, "About", x)), isNull(p.to(e))).ret(id(n))
		}},
		{name: "end is not null", want: "n1\nn1\nn2\nn3\nn2", build: func(p *readPlan) {
			n, e, x := p.bind("n", "Note"), p.edge("e", "About"), p.shared("x")
			p.match(p.maybe(over(n, e, "About", x)), notNull(p.to(e))).ret(id(n))
		}},
		{name: "grouped by the end", want: "{City, ann} | 1\n{City, c1} | 1\n{Person, ann} | 2\n{Team, ann} | 1", build: func(p *readPlan) {
			_, e, _ := about(p)
			p.ret(p.to(e), count(id(e)))
		}},
		{name: "grouped by the end of an optional edge", want: "{null, null} | 1\n{City, ann} | 1\n{City, c1} | 1\n{Person, ann} | 2\n{Team, ann} | 1", build: func(p *readPlan) {
			n, e, x := p.bind("n", "Note"), p.edge("e", "About"), p.shared("x")
			p.match(p.maybe(over(n, e, "About", x))).ret(p.to(e), count(id(n)))
		}},
		{name: "distinct ends", want: "{City, ann}\n{City, c1}\n{Person, ann}\n{Team, ann}", build: func(p *readPlan) {
			_, e, _ := about(p)
			p.ret(p.to(e)).q.Read.Grouped = true
		}},
		{name: "grouped by both ends", want: "{City, ann} | {Person, bob} | 1\n{City, ann} | {Team, ann} | 1\n{City, c1} | {City, c1} | 1\n{Person, ann} | {City, ann} | 1\n{Person, bob} | {Person, ann} | 1", build: func(p *readPlan) {
			a, e, b := p.shared("a"), p.edge("e", "Links"), p.shared("b")
			p.match(over(a, e, "Links", b)).ret(p.from(e), p.to(e), count(id(e)))
		}},
		{name: "end in a list of records", want: "n1 | [{a1, {Person, ann}}, {a2, {City, ann}}]\nn2 | [{a3, {City, c1}}, {a5, {Team, ann}}]\nn3 | [{a4, {Person, ann}}]\nn4 | []", build: func(p *readPlan) {
			n, e, x := p.bind("n", "Note"), p.edge("e", "About"), p.shared("x")
			rows := p.returning(gather(5, []plan.VarID{n}, over(n, e, "About", x)), []plan.VarID{e, x}, id(e), p.to(e))
			rows.Order = []plan.Order{{Expr: id(e)}}
			p.ret(id(n), rows)
		}},
		{name: "end in the first record", want: "n1 | {{City, ann}, a2}\nn2 | {{Team, ann}, a5}\nn3 | {{Person, ann}, a4}\nn4 | {{null, null}, null}", build: func(p *readPlan) {
			n, e, x := p.bind("n", "Note"), p.edge("e", "About"), p.shared("x")
			rows := p.returning(first([]plan.VarID{n}, over(n, e, "About", x)), []plan.VarID{e, x}, p.to(e), id(e))
			rows.Order = []plan.Order{{Expr: id(e), Desc: true}}
			p.ret(id(n), rows)
		}},
		{name: "end equals a node", want: "a1 | ann\na4 | ann", build: func(p *readPlan) {
			_, e, _ := about(p)
			a := p.bind("a", "Person")
			p.match(where(p.to(e), plan.Eq, whole(a))).ret(id(e), id(a)).orderBy(id(e))
		}},
		{name: "node equals an end", want: "a2\na3", build: func(p *readPlan) {
			_, e, _ := about(p)
			c := p.bind("c", "City")
			p.match(where(whole(c), plan.Eq, p.to(e))).ret(id(e)).orderBy(id(e))
		}},
		{name: "end differs from a node", want: "a2\na3\na5", build: func(p *readPlan) {
			_, e, _ := about(p)
			a := p.bind("a", "Person")
			p.match(where(id(a), plan.Eq, "ann"), where(p.to(e), plan.Ne, whole(a))).ret(id(e)).orderBy(id(e))
		}},
		{name: "end equals a node of an interface", want: "a1 | Person\na2 | City\na3 | City\na4 | Person\na5 | Team", build: func(p *readPlan) {
			_, e, _ := about(p)
			y := p.shared("y")
			p.match(plan.Bind{Var: y}, where(p.to(e), plan.Eq, whole(y))).ret(id(e), p.prop(y, "type")).orderBy(id(e))
		}},
		{name: "end equals an end", want: "a1 | l1\na2 | l2\na2 | l5\na3 | l4\na4 | l1", build: func(p *readPlan) {
			_, e, _ := about(p)
			a, l, b := p.shared("a"), p.edge("l", "Links"), p.shared("b")
			p.match(over(a, l, "Links", b), where(p.to(e), plan.Eq, p.from(l))).ret(id(e), id(l)).orderBy(id(e)).orderBy(id(l))
		}},
		{name: "end differs from the other end", want: "l1\nl2\nl3\nl5", build: func(p *readPlan) {
			a, l, b := p.shared("a"), p.edge("l", "Links"), p.shared("b")
			p.match(over(a, l, "Links", b), where(p.from(l), plan.Ne, p.to(l))).ret(id(l)).orderBy(id(l))
		}},
		{name: "end equals an argument", args: []any{plan.OfNode("City", "ann")}, want: "a2", build: func(p *readPlan) {
			_, e, _ := about(p)
			p.match(where(p.to(e), plan.Eq, p.namedNode(false))).ret(id(e))
		}},
		{name: "argument equals an end", args: []any{plan.OfNode("Person", "ann")}, want: "a1\na4", build: func(p *readPlan) {
			_, e, _ := about(p)
			p.match(where(p.namedNode(false), plan.Eq, p.to(e))).ret(id(e)).orderBy(id(e))
		}},
		{name: "end differs from an argument", args: []any{plan.OfNode("Person", "ann")}, want: "a2\na3\na5", build: func(p *readPlan) {
			_, e, _ := about(p)
			p.match(where(p.to(e), plan.Ne, p.namedNode(false))).ret(id(e)).orderBy(id(e))
		}},
		{name: "end and an argument that is null", args: []any{nil}, want: "", build: func(p *readPlan) {
			_, e, _ := about(p)
			p.match(where(p.to(e), plan.Ne, p.namedNode(true))).ret(id(e))
		}},
		{name: "end and an argument that drops the comparison", args: []any{nil}, want: "5", build: func(p *readPlan) {
			_, e, _ := about(p)
			p.match(unless(p.to(e), plan.Eq, p.namedNode(true))).ret(count(id(e)))
		}},
		{name: "end equals the id of a node of a type", args: []any{"ann"}, want: "a2", build: func(p *readPlan) {
			_, e, _ := about(p)
			p.match(where(p.to(e), plan.Eq, nodeRef("City", p.param("who", stringType)))).ret(id(e))
		}},
		{name: "end differs from the id of a node of a type", args: []any{"ann"}, want: "a2\na3\na5", build: func(p *readPlan) {
			_, e, _ := about(p)
			p.match(where(p.to(e), plan.Ne, nodeRef("Person", p.param("who", stringType)))).ret(id(e)).orderBy(id(e))
		}},
		{name: "end and an id that is null", args: []any{nil}, want: "", build: func(p *readPlan) {
			_, e, _ := about(p)
			p.match(where(p.to(e), plan.Ne, nodeRef("Person", p.param("who", stringType.Optional())))).ret(id(e))
		}},
		{name: "ends counted", want: "5 | 4", build: func(p *readPlan) {
			_, e, _ := about(p)
			p.ret(count(p.to(e)), distinct(count(p.to(e))))
		}},
		{name: "ends counted in a block", want: "n1 | 2\nn2 | 2\nn3 | 1\nn4 | 0", build: func(p *readPlan) {
			n, e, x := p.bind("n", "Note"), p.edge("e", "About"), p.shared("x")
			p.ret(id(n), plan.BlockAgg{Func: plan.Count, Distinct: true, Match: []plan.Clause{over(n, e, "About", x)}, Arg: p.to(e), Outer: []plan.VarID{n}})
		}},
		{name: "ends that may be null counted", want: "n1 | 2\nn2 | 2\nn3 | 1\nn4 | 0", build: func(p *readPlan) {
			n, e, x := p.bind("n", "Note"), p.edge("e", "About"), p.shared("x")
			p.match(p.maybe(over(n, e, "About", x))).ret(id(n), distinct(count(p.to(e))))
		}},
		{name: "ends collected", want: "n1 | [{Person, ann}, {City, ann}]\nn2 | [{City, c1}, {Team, ann}]\nn3 | [{Person, ann}]", build: func(p *readPlan) {
			n, e, _ := about(p)
			p.ret(id(n), agg(plan.Collect, p.to(e)))
		}},
		{name: "distinct ends collected", want: "[{Person, ann}, {City, ann}, {City, c1}, {Team, ann}] | [n1, n1, n2, n3, n2] | 5 | 4", build: func(p *readPlan) {
			_, e, _ := about(p)
			all := agg(plan.Collect, p.to(e))
			p.ret(distinct(all), agg(plan.Collect, p.from(e)), sizeOf(all), sizeOf(distinct(all)))
		}},
		{name: "the first variable by name decides about ends", want: "[{City, ann}, {City, c1}, {Person, ann}, {Team, ann}] | [n1, n2, n1, n3, n2]", build: func(p *readPlan) {
			n, e, x := p.node("z", "Note"), p.edge("y", "About"), p.shared("a")
			p.match(over(n, e, "About", x)).ret(distinct(agg(plan.Collect, p.to(e))), agg(plan.Collect, p.from(e)))
		}},
		{name: "both ends collected", want: "[{City, ann}, {City, c1}, {Person, ann}, {Person, bob}] | [{City, ann}, {City, ann}, {City, c1}, {Person, ann}, {Person, bob}] | [{Person, bob}, {Team, ann}, {City, c1}, {City, ann}, {Person, ann}]", build: func(p *readPlan) {
			a, e, b := p.shared("a"), p.edge("e", "Links"), p.shared("b")
			p.match(over(a, e, "Links", b)).ret(distinct(agg(plan.Collect, p.from(e))), agg(plan.Collect, p.from(e)), agg(plan.Collect, p.to(e)))
		}},
		{name: "ends at a node type collected", want: "[bob, bob, cid] | [bob, cid]", build: func(p *readPlan) {
			a, e, b := p.declare("a", plan.Interface, "Made"), p.edge("e", "By"), p.node("b", "Person")
			p.match(over(a, e, "By", b)).ret(agg(plan.Collect, p.to(e)), distinct(agg(plan.Collect, p.to(e))))
		}},
		{name: "ends of optional edges collected", want: "n1 | [{Person, ann}, {City, ann}]\nn2 | [{City, c1}, {Team, ann}]\nn3 | [{Person, ann}]\nn4 | []", build: func(p *readPlan) {
			n, e, x := p.bind("n", "Note"), p.edge("e", "About"), p.shared("x")
			p.match(p.maybe(over(n, e, "About", x))).ret(id(n), distinct(agg(plan.Collect, p.to(e))))
		}},
		{name: "no ends collected", want: "[] | 0", build: func(p *readPlan) {
			n, e, _ := about(p)
			all := agg(plan.Collect, p.to(e))
			p.match(where(id(n), plan.Eq, "n4")).ret(all, sizeOf(all))
		}},
		{name: "rows chosen by the size of a list of ends", want: "n1 | [{Person, ann}, {City, ann}]\nn2 | [{City, c1}, {Team, ann}]", build: func(p *readPlan) {
			n, e, _ := about(p)
			all := agg(plan.Collect, p.to(e))
			p.ret(id(n), all).having(where(sizeOf(distinct(all)), plan.Gt, plan.Lit{Value: value.OfI32(1)}))
		}},
		{name: "ends collected by an end", want: "{City, ann} | [{Person, bob}, {Team, ann}]\n{City, c1} | [{City, c1}]\n{Person, ann} | [{City, ann}]\n{Person, bob} | [{Person, ann}]", build: func(p *readPlan) {
			a, e, b := p.shared("a"), p.edge("e", "Links"), p.shared("b")
			p.match(over(a, e, "Links", b)).ret(p.from(e), agg(plan.Collect, p.to(e)))
		}},
		{name: "comparison with an end as a value", args: []any{plan.OfNode("City", "ann")}, want: "a1 | false\na2 | true\na3 | false\na4 | false\na5 | false", build: func(p *readPlan) {
			_, e, _ := about(p)
			p.ret(id(e), test(p.to(e), plan.Eq, p.namedNode(false))).orderBy(id(e))
		}},
		{name: "end inside a not", want: "City | c1\nPerson | bob\nPerson | cid\nTeam | ann", build: func(p *readPlan) {
			x := p.shared("x")
			a, l, b := p.shared("a"), p.edge("l", "Links"), p.shared("b")
			p.match(plan.Bind{Var: x}, not(over(a, l, "Links", b), where(p.from(l), plan.Eq, whole(x)), where(p.to(l), plan.Ne, whole(x)),
				where(id(x), plan.Ne, "bob"))).ret(p.prop(x, "type"), id(x))
		}},
		{name: "end and an id at the other end", want: "b1 | {Team, ann} | cid", build: func(p *readPlan) {
			a, e, b := p.declare("a", plan.Interface, "Made"), p.edge("e", "By"), p.node("b", "Person")
			p.match(over(a, e, "By", b), where(p.to(e), plan.Eq, "cid")).ret(id(e), p.from(e), p.to(e))
		}},
	}
}
