package enginetest

import "github.com/omnigraph-go/omnigraph/gq/plan"

// optionalCases returns the cases of `optional` blocks.
func optionalCases() []testCase {
	return readCases("optional", []readCase{
		{name: "a row without a match stays", want: "ann | bob\nbob | cid\ncid | ann\ndan | null\neve | null", build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.node("b", "Person")
			p.match(p.maybe(hop(a, "Knows", b))).ret(id(a), id(b))
		}},
		{name: "each match is a row", want: "ann | k1\nann | k2\nbob | k3\ncid | k4\ndan | null\neve | null", build: func(p *readPlan) {
			a, b, k := p.bind("a", "Person"), p.node("b", "Person"), p.edge("k", "Knows")
			p.match(p.maybe(over(a, k, "Knows", b))).ret(id(a), id(k))
		}},
		{name: "a condition inside the block", want: "ann | null\nbob | cid\ncid | null\ndan | null\neve | null", build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.node("b", "Person")
			p.match(p.maybe(hop(a, "Knows", b), where(p.prop(b, "name"), plan.Eq, "cid"))).ret(id(a), id(b))
		}},
		{name: "a condition after the block", want: "bob | cid", build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.node("b", "Person")
			p.match(where(p.prop(b, "name"), plan.Eq, "cid"), p.maybe(hop(a, "Knows", b))).ret(id(a), id(b))
		}},
		{name: "an unequal id after the block", want: "ann | bob\ncid | ann", build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.node("b", "Person")
			p.match(p.maybe(hop(a, "Knows", b)), where(id(b), plan.Ne, "cid")).ret(id(a), id(b))
		}},
		{name: "null keeps the rows without a match", want: "dan\neve", build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.node("b", "Person")
			p.match(p.maybe(hop(a, "Knows", b)), isNull(id(b))).ret(id(a))
		}},
		{name: "not null keeps the others", want: "ann\nbob\ncid", build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.node("b", "Person")
			p.match(p.maybe(hop(a, "Knows", b)), notNull(id(b))).ret(id(a))
		}},
		{name: "a property of an optional variable", want: "ann | 25 | Oslo\nbob | 30 | Rome\ncid | 30 | Oslo\ndan | null | null\neve | null | null", build: func(p *readPlan) {
			a, b, c := p.bind("a", "Person"), p.node("b", "Person"), p.node("c", "City")
			p.match(p.maybe(hop(a, "Knows", b), hop(b, "LivesIn", c))).ret(id(a), p.prop(b, "age"), p.prop(c, "name"))
		}},
		{name: "a whole node", want: "cid | {c2, Rome, null}\ndan | {null, null, null}", build: func(p *readPlan) {
			a, c := p.bind("a", "Person"), p.node("c", "City")
			p.match(p.maybe(hop(a, "LivesIn", c)), where(p.prop(a, "name"), plan.Ge, "cid"), where(p.prop(a, "name"), plan.Lt, "eve")).ret(id(a), whole(c))
		}},
		{name: "the ends of an optional edge", want: "ann | ann | c1\nbob | bob | c1\ncid | cid | c2\ndan | null | null\neve | null | null", build: func(p *readPlan) {
			a, c, l := p.bind("a", "Person"), p.node("c", "City"), p.edge("l", "LivesIn")
			p.match(p.maybe(over(a, l, "LivesIn", c))).ret(id(a), from(l), to(l))
		}},
		{name: "blocks in order", want: "ann | bob | c1\nbob | cid | c2\ncid | ann | c1\ndan | null | null\neve | null | null", build: func(p *readPlan) {
			a, b, c := p.bind("a", "Person"), p.node("b", "Person"), p.node("c", "City")
			p.match(p.maybe(hop(a, "Knows", b)))
			p.match(p.maybe(hop(b, "LivesIn", c))).ret(id(a), id(b), id(c))
		}},
		{name: "a block over a null variable has no match", want: "dan | null | null\neve | null | null", build: func(p *readPlan) {
			a, b, c := p.bind("a", "Person"), p.node("b", "Person"), p.node("c", "Person")
			p.match(p.maybe(hop(a, "Knows", b)), isNull(id(b)))
			p.match(p.maybe(plan.Bind{Var: b}, hop(c, "Follows", b))).ret(id(a), id(b), id(c))
		}},
		{name: "a walk over a null variable has no match", want: "ann | bob | bob\nann | bob | cid\nbob | cid | ann\nbob | cid | cid\ncid | ann | ann\ncid | ann | bob\ndan | null | null\neve | null | null", build: func(p *readPlan) {
			a, b, c := p.bind("a", "Person"), p.node("b", "Person"), p.node("c", "Person")
			p.match(p.maybe(hop(a, "Knows", b)))
			p.match(p.maybe(walk(b, "Knows", 0, 1, c))).ret(id(a), id(b), id(c))
		}},
		{name: "two independent blocks multiply", want: "ann | bob | c1\nbob | cid | c1\ncid | ann | c2\ncid | dan | c2\ndan | dan | null\ndan | eve | null\neve | null | null", build: func(p *readPlan) {
			a, b, c := p.bind("a", "Person"), p.node("b", "Person"), p.node("c", "City")
			p.match(p.maybe(hop(a, "Follows", b)))
			p.match(p.maybe(hop(a, "LivesIn", c))).ret(id(a), id(b), id(c))
		}},
		{name: "not over a null variable holds", want: "cid | dan\ndan | dan\ndan | eve\neve | null", build: func(p *readPlan) {
			a, b, c := p.bind("a", "Person"), p.node("b", "Person"), p.node("c", "City")
			p.match(p.maybe(hop(a, "Follows", b)), not(hop(b, "LivesIn", c))).ret(id(a), id(b))
		}},
		{name: "exists over a null variable does not hold", want: "ann | bob\nbob | cid\ncid | ann", build: func(p *readPlan) {
			a, b, c := p.bind("a", "Person"), p.node("b", "Person"), p.node("c", "Person")
			p.match(p.maybe(hop(a, "Knows", b)), exists(hop(b, "Follows", c))).ret(id(a), id(b))
		}},
		{name: "not joined with a null variable", want: "dan\neve", build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.node("b", "Person")
			p.match(p.maybe(hop(a, "Knows", b)), not(hop(a, "Knows", b))).ret(id(a))
		}},
		{name: "any over an optional variable", want: "bob\ndan\neve", build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.node("b", "Person")
			p.match(p.maybe(hop(a, "Knows", b)), anyOf(isNull(id(b)), where(id(b), plan.Eq, "cid"))).ret(id(a))
		}},
		{name: "count counts the matches", want: "ann | 2\nbob | 1\ncid | 1\ndan | 0\neve | 0", build: func(p *readPlan) {
			a, b, k := p.bind("a", "Person"), p.node("b", "Person"), p.edge("k", "Knows")
			p.match(p.maybe(over(a, k, "Knows", b))).ret(id(a), count(whole(b)))
		}},
		{name: "aggregates ignore the rows without a match", want: "ann | 25 | 1\nbob | 30 | 1\ncid | 30 | 1\ndan | null | 0\neve | null | 0", build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.node("b", "Person")
			p.match(p.maybe(hop(a, "Knows", b))).ret(id(a), agg(plan.Max, p.prop(b, "age")), count(p.prop(b, "age")))
		}},
		{name: "grouped by an optional node", want: "null | 2\nc1 | 2\nc2 | 1", build: func(p *readPlan) {
			a, c := p.bind("a", "Person"), p.node("c", "City")
			p.match(p.maybe(hop(a, "LivesIn", c))).ret(id(c), count(whole(a)))
		}},
		{name: "ordered by an optional property", want: "cid | 2020\nann | 2001\nbob | null\ndan | null\neve | null", build: func(p *readPlan) {
			a, c, l := p.bind("a", "Person"), p.node("c", "City"), p.edge("l", "LivesIn")
			p.match(p.maybe(over(a, l, "LivesIn", c))).ret(id(a), p.prop(l, "since")).orderDesc(p.prop(l, "since"))
		}},
		{name: "null ids break ties first", want: "dan | null\neve | null\ncid | ann\nann | bob\nbob | cid", build: func(p *readPlan) {
			a, b := p.bind("z", "Person"), p.node("b", "Person")
			p.match(p.maybe(hop(a, "Knows", b))).ret(id(a), id(b)).orderBy(plan.Apply{Func: plan.If, Type: i64Type.Optional(), Args: []plan.Expr{
				plan.Test{Cond: plan.Compare{Op: plan.Eq, Left: id(b), Right: id(b), Unless: plan.NoParam}}, expression(1, p.prop(a, "big"))}})
			p.limit(5)
		}},
		{name: "a limit counts the extended rows", want: "ann | k1\nann | k2\nbob | k3", build: func(p *readPlan) {
			a, b, k := p.bind("a", "Person"), p.node("b", "Person"), p.edge("k", "Knows")
			p.match(p.maybe(over(a, k, "Knows", b))).ret(id(a), id(k)).limit(3)
		}},
		{name: "a search in an optional text", want: "ann | bob\ncid | ann", build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.node("b", "Person")
			p.match(p.maybe(hop(a, "Knows", b)), plan.Filter{Cond: text(plan.Search, p.prop(b, "about"), "engine")}).ret(id(a), id(b))
		}},
		{name: "a search as a column", want: "ann | true\nbob | false\ncid | true\ndan | false\neve | false", build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.node("b", "Person")
			p.match(p.maybe(hop(a, "Knows", b))).ret(id(a), plan.Matched{Match: text(plan.Search, p.prop(b, "about"), "engine")})
		}},
		{name: "a relevance of an optional text", want: "ann | bob\ncid | ann", build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.node("b", "Person")
			score := plan.BM25{Prop: p.prop(b, "about"), Query: expression("graph engines", p.prop(b, "about"))}
			p.match(p.maybe(hop(a, "Knows", b))).ret(id(a), id(b)).orderDesc(score).limit(5)
		}},
		{name: "a distance of an optional vector", want: "ann | c1\nbob | c1", build: func(p *readPlan) {
			a, c := p.bind("a", "Person"), p.node("c", "City")
			p.match(p.maybe(hop(a, "LivesIn", c))).ret(id(a), id(c)).orderBy(plan.Nearest{Prop: p.prop(c, "place"), Vector: p.param("v", vectorOf(2))}).limit(5)
		}, args: []any{[]float32{1, 1}}},
		{name: "a key from the outer row", want: "ann | null\nbob | null\ncid | null\ndan | null\neve | eve", build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.node("b", "Person")
			p.match(p.maybe(plan.Bind{Var: b}, where(p.prop(b, "name"), plan.Eq, p.prop(a, "name")), where(p.prop(a, "age"), plan.Gt, 30))).ret(id(a), id(b))
		}},
		{name: "a dropped condition in a block", want: "ann | bob\nbob | cid\ncid | ann\ndan | null\neve | null", build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.node("b", "Person")
			p.match(p.maybe(hop(a, "Knows", b), unless(p.prop(b, "name"), plan.Eq, p.param("x", stringType.Optional())))).ret(id(a), id(b))
		}, args: []any{nil}},
		{name: "a block that binds nothing changes nothing", want: "ann\nbob\ncid\ndan\neve", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.match(p.maybe(where(p.prop(a, "age"), plan.Gt, 30))).ret(id(a))
		}},
	})
}
