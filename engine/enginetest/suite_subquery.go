package enginetest

import (
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// blockAgg returns an aggregate of e over the matches of clauses. The expression e is nil for the number of
// matches. The variables `outer` are bound outside of the block.
func blockAgg(f plan.AggFunc, e plan.Expr, outer []plan.VarID, clauses ...plan.Clause) plan.BlockAgg {
	return plan.BlockAgg{Func: f, Arg: e, Outer: outer, Match: clauses}
}

// first returns a `first` block. The caller adds the fields of its record.
func first(outer []plan.VarID, clauses ...plan.Clause) plan.BlockRows {
	return plan.BlockRows{First: true, Limit: 1, Outer: outer, Match: clauses}
}

// gather returns a `collect` block. The caller adds the fields of its records.
func gather(limit int64, outer []plan.VarID, clauses ...plan.Clause) plan.BlockRows {
	return plan.BlockRows{Limit: limit, Outer: outer, Match: clauses}
}

// returning adds fields called f0, f1 and so on to a block, and sets the variables that break ties.
func (p *readPlan) returning(b plan.BlockRows, ties []plan.VarID, exprs ...plan.Expr) plan.BlockRows {
	for i, e := range exprs {
		b.Columns = append(b.Columns, p.columnOf("f"+string(rune('0'+i)), e))
	}
	b.Ties = tieOrder(p.q.Read, ties)
	return b
}

// subqueryCases returns the cases of subqueries.
func subqueryCases() []testCase {
	vars := func(v ...plan.VarID) []plan.VarID { return v }
	number := func(n int64) plan.Lit { return plan.Lit{Value: value.OfI64(n)} }
	// of returns a case that reads the id of each person and some expressions.
	of := func(name, want string, exprs func(p *readPlan, a plan.VarID) []plan.Expr) readCase {
		return readCase{name: name, want: want, build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.ret(append([]plan.Expr{id(a)}, exprs(p, a)...)...)
		}}
	}
	one := func(e plan.Expr) []plan.Expr { return []plan.Expr{e} }
	// friends returns the records of the people whom a person knows.
	friends := func(p *readPlan, a plan.VarID, limit int64) plan.BlockRows {
		b, k := p.node("b", "Person"), p.edge("k", "Knows")
		rows := p.returning(gather(limit, vars(a), over(a, k, "Knows", b)), vars(b, k), id(b), p.prop(k, "since"))
		rows.Order = []plan.Order{{Expr: p.prop(k, "since"), Desc: true}}
		return rows
	}
	return readCases("subquery", []readCase{
		of("matches", "ann | 2\nbob | 1\ncid | 1\ndan | 0\neve | 0", func(p *readPlan, a plan.VarID) []plan.Expr {
			b, k := p.node("b", "Person"), p.edge("k", "Knows")
			return one(blockAgg(plan.Count, nil, vars(a), over(a, k, "Knows", b)))
		}),
		of("a pair of nodes counts once", "ann | 1\nbob | 1\ncid | 1\ndan | 0\neve | 0", func(p *readPlan, a plan.VarID) []plan.Expr {
			return one(blockAgg(plan.Count, nil, vars(a), hop(a, "Knows", p.node("b", "Person"))))
		}),
		of("distinct values", "ann | 1\nbob | 1\ncid | 1\ndan | 0\neve | 0", func(p *readPlan, a plan.VarID) []plan.Expr {
			b, k := p.node("b", "Person"), p.edge("k", "Knows")
			e := blockAgg(plan.Count, p.prop(b, "age"), vars(a), over(a, k, "Knows", b))
			e.Distinct = true
			return one(e)
		}),
		of("sum, min, max and avg are null without a value", "ann | 4025 | 2010 | 2015 | 2012.5\nbob | 2010 | 2010 | 2010 | 2010\ncid | null | null | null | null\ndan | null | null | null | null\neve | null | null | null | null",
			func(p *readPlan, a plan.VarID) []plan.Expr {
				var list []plan.Expr
				for _, f := range []plan.AggFunc{plan.Sum, plan.Min, plan.Max, plan.Avg} {
					b, k := p.node("b", "Person"), p.edge("k", "Knows")
					list = append(list, blockAgg(f, p.prop(k, "since"), vars(a), over(a, k, "Knows", b)))
				}
				return list
			}),
		of("without an outer variable", "ann | 2\nbob | 2\ncid | 2\ndan | 2\neve | 2", func(p *readPlan, _ plan.VarID) []plan.Expr {
			return one(blockAgg(plan.Count, nil, nil, plan.Bind{Var: p.node("c", "City")}))
		}),
		of("an optional block inside", "ann | 2 | 1\nbob | 1 | 1\ncid | 1 | 1\ndan | 0 | 0\neve | 0 | 0", func(p *readPlan, a plan.VarID) []plan.Expr {
			var list []plan.Expr
			for _, whole := range []bool{true, false} {
				b, k, c := p.node("b", "Person"), p.edge("k", "Knows"), p.node("c", "City")
				p.q.Read.Vars[c].Optional = true
				e := blockAgg(plan.Count, nil, vars(a), over(a, k, "Knows", b), plan.Optional{Match: []plan.Clause{hop(b, "LivesIn", c)}})
				if !whole {
					e.Arg, e.Distinct = plan.ID{Var: c}, true
				}
				list = append(list, e)
			}
			return list
		}),
		{name: "in a condition", want: "ann", build: func(p *readPlan) {
			a, b, k := p.bind("a", "Person"), p.node("b", "Person"), p.edge("k", "Knows")
			p.match(where(blockAgg(plan.Count, nil, vars(a), over(a, k, "Knows", b)), plan.Gt, number(1))).ret(id(a))
		}},
		{name: "a sort key", want: "ann\nbob", build: func(p *readPlan) {
			a, b, k := p.bind("a", "Person"), p.node("b", "Person"), p.edge("k", "Knows")
			p.ret(id(a)).orderDesc(blockAgg(plan.Count, nil, vars(a), over(a, k, "Knows", b))).limit(2)
		}},
		{name: "a grouping key", want: "0 | 2\n1 | 2\n2 | 1", build: func(p *readPlan) {
			a, b, k := p.bind("a", "Person"), p.node("b", "Person"), p.edge("k", "Knows")
			p.ret(blockAgg(plan.Count, nil, vars(a), over(a, k, "Knows", b)), count(whole(a)))
		}},
		{name: "the argument of an aggregate", want: "4", build: func(p *readPlan) {
			a, b, k := p.bind("a", "Person"), p.node("b", "Person"), p.edge("k", "Knows")
			p.ret(agg(plan.Sum, blockAgg(plan.Count, nil, vars(a), over(a, k, "Knows", b))))
		}},
		{name: "a variable that is null", want: "ann | 2\nbob | 2\ncid | 1\ndan | 0\neve | 0", build: func(p *readPlan) {
			a, c, n := p.bind("a", "Person"), p.node("c", "City"), p.node("n", "Person")
			p.match(p.maybe(hop(a, "LivesIn", c))).ret(id(a), blockAgg(plan.Count, nil, vars(c), hop(n, "LivesIn", c)))
		}},
		of("a block within a block", "ann | 1\nbob | 1\ncid | 2\ndan | null\neve | null", func(p *readPlan, a plan.VarID) []plan.Expr {
			b, c, k := p.node("b", "Person"), p.node("c", "Person"), p.edge("k", "Knows")
			known := blockAgg(plan.Count, nil, vars(b), over(b, k, "Knows", c))
			return one(blockAgg(plan.Max, known, vars(a), hop(a, "Knows", b)))
		}),
		of("a block within a condition of a block", "ann | 0\nbob | 0\ncid | 1\ndan | 0\neve | 0", func(p *readPlan, a plan.VarID) []plan.Expr {
			b, c, k := p.node("b", "Person"), p.node("c", "Person"), p.edge("k", "Knows")
			known := blockAgg(plan.Count, nil, vars(b), over(b, k, "Knows", c))
			return one(blockAgg(plan.Count, nil, vars(a), hop(a, "Knows", b), where(known, plan.Gt, number(1))))
		}),
		of("a list of records", "ann | [{bob, 2015}, {bob, 2010}]\nbob | [{cid, 2010}]\ncid | [{ann, null}]\ndan | []\neve | []", func(p *readPlan, a plan.VarID) []plan.Expr {
			return one(friends(p, a, 10))
		}),
		of("the limit of a block is for each row", "ann | [{bob, 2015}]\nbob | [{cid, 2010}]\ncid | [{ann, null}]\ndan | []\neve | []", func(p *readPlan, a plan.VarID) []plan.Expr {
			return one(friends(p, a, 1))
		}),
		of("the first record", "ann | {k2, 2015}\nbob | {k3, 2010}\ncid | {k4, null}\ndan | {null, null}\neve | {null, null}", func(p *readPlan, a plan.VarID) []plan.Expr {
			b, k := p.node("b", "Person"), p.edge("k", "Knows")
			rows := p.returning(first(vars(a), over(a, k, "Knows", b)), vars(b, k), id(k), p.prop(k, "since"))
			rows.Order = []plan.Order{{Expr: p.prop(k, "since"), Desc: true}}
			return one(rows)
		}),
		of("ids break ties", "ann | {k1}\nbob | {k3}\ncid | {k4}\ndan | {null}\neve | {null}", func(p *readPlan, a plan.VarID) []plan.Expr {
			b, k := p.node("b", "Person"), p.edge("k", "Knows")
			return one(p.returning(first(vars(a), over(a, k, "Knows", b)), vars(b, k), id(k)))
		}),
		of("whole nodes and outer values in records", "ann | [{ann, {c1, Oslo, [59.5 10.5]}}]\nbob | [{bob, {c1, Oslo, [59.5 10.5]}}]\ncid | [{cid, {c2, Rome, null}}]\ndan | []\neve | []", func(p *readPlan, a plan.VarID) []plan.Expr {
			c := p.node("c", "City")
			return one(p.returning(gather(3, vars(a), hop(a, "LivesIn", c)), vars(c), p.prop(a, "name"), whole(c)))
		}),
		of("records within records", "ann | [{bob, [{cid}], 1}]\nbob | [{cid, [{ann}], 1}]\ncid | [{ann, [{bob}], 2}]\ndan | []\neve | []", func(p *readPlan, a plan.VarID) []plan.Expr {
			b, c, d, k := p.node("b", "Person"), p.node("c", "Person"), p.node("d", "Person"), p.edge("k", "Knows")
			inner := p.returning(gather(5, vars(b), hop(b, "Knows", c)), vars(c), id(c))
			n := blockAgg(plan.Count, nil, vars(b), over(b, k, "Knows", d))
			return one(p.returning(gather(5, vars(a), hop(a, "Knows", b)), vars(b), id(b), inner, n))
		}),
		of("null records within records", "ann | {bob, {cid}, [{cid}]}\nbob | {cid, {null}, []}\ncid | {ann, {null}, []}\ndan | {null, {null}, []}\neve | {null, {null}, []}", func(p *readPlan, a plan.VarID) []plan.Expr {
			b, c, d := p.node("b", "Person"), p.node("c", "Person"), p.node("d", "Person")
			third := p.returning(first(vars(b), hop(b, "Knows", c), where(id(c), plan.Eq, "cid")), vars(c), id(c))
			list := p.returning(gather(2, vars(b), hop(b, "Knows", d), where(id(d), plan.Eq, "cid")), vars(d), id(d))
			return one(p.returning(first(vars(a), hop(a, "Knows", b)), vars(b), id(b), third, list))
		}),
		of("records without an outer variable", "ann | [{Oslo}, {Rome}]\nbob | [{Oslo}, {Rome}]\ncid | [{Oslo}, {Rome}]\ndan | [{Oslo}, {Rome}]\neve | [{Oslo}, {Rome}]", func(p *readPlan, _ plan.VarID) []plan.Expr {
			c := p.node("c", "City")
			return one(p.returning(gather(5, nil, plan.Bind{Var: c}), vars(c), p.prop(c, "name")))
		}),
		{name: "a field of a record", want: "ann | {k2, 2015} | 2015\nbob | {k3, 2010} | 2010", build: func(p *readPlan) {
			a, b, k := p.bind("a", "Person"), p.node("b", "Person"), p.edge("k", "Knows")
			latest := p.returning(first(vars(a), over(a, k, "Knows", b)), vars(b, k), id(k), p.prop(k, "since"))
			latest.Order = []plan.Order{{Expr: p.prop(k, "since"), Desc: true}}
			since := plan.Member{Of: latest, Name: "f1", Type: i32Type.Optional()}
			p.ret(id(a), latest, since).having(notNull(since)).orderDesc(since)
		}},
	})
}
