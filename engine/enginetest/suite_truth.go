package enginetest

import (
	"errors"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// holds returns an expression that is true where the block holds. The block uses the variables
// `outer`, which the clauses around it bind.
func holds(block plan.Clause, outer ...plan.VarID) plan.Holds {
	return plan.Holds{Block: block, Outer: outer}
}

// truthCases returns the cases of conditions that are values.
func truthCases() []testCase {
	// of returns a test case that reads the name of each person and some expressions.
	of := func(name, want string, exprs func(p *readPlan, a plan.VarID) []plan.Expr, args ...any) readCase {
		return readCase{name: name, want: want, args: args, build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.ret(append([]plan.Expr{id(a)}, exprs(p, a)...)...)
		}}
	}
	one := func(e plan.Expr) []plan.Expr { return []plan.Expr{e} }
	compare := func(op plan.Op, left, right plan.Expr) plan.Test {
		return plan.Test{Cond: plan.Compare{Op: op, Left: left, Right: right, Unless: plan.NoParam}}
	}
	cases := readCases("truth", []readCase{
		of("is null and is not null", "ann | false | true\nbob | false | true\ncid | true | false\ndan | true | false\neve | false | true", func(p *readPlan, a plan.VarID) []plan.Expr {
			mood := p.prop(a, "mood")
			return []plan.Expr{plan.Test{Cond: plan.NullTest{Expr: mood}}, plan.Test{Cond: plan.NullTest{Expr: mood, Not: true}}}
		}),
		of("in a list and matches are false for null", "ann | true | true\nbob | false | true\ncid | true | false\ndan | false | false\neve | false | false", func(p *readPlan, a plan.VarID) []plan.Expr {
			ages := plan.Lit{Value: value.OfList(value.I32, []value.Value{value.OfI32(30), value.OfI32(7)})}
			return []plan.Expr{compare(plan.In, p.prop(a, "age"), ages), compare(plan.Matches, p.prop(a, "about"), plan.Lit{Value: value.OfString("engine")})}
		}),
		of("exists", "ann | true\nbob | true\ncid | true\ndan | false\neve | false", func(p *readPlan, a plan.VarID) []plan.Expr {
			return one(holds(exists(hop(a, "Knows", p.node("b", "Person"))), a))
		}),
		of("not", "ann | false\nbob | false\ncid | false\ndan | true\neve | true", func(p *readPlan, a plan.VarID) []plan.Expr {
			return one(holds(not(hop(a, "Knows", p.node("b", "Person"))), a))
		}),
		of("any and all", "ann | true | true\nbob | false | false\ncid | true | false\ndan | false | false\neve | true | false", func(p *readPlan, a plan.VarID) []plan.Expr {
			old := where(p.prop(a, "age"), plan.Gt, 28)
			return []plan.Expr{holds(anyOf(old, where(p.prop(a, "mood"), plan.Eq, "calm")), a), holds(allOf(old, where(p.prop(a, "mood"), plan.Eq, "glad")), a)}
		}),
		of("a search in a block", "ann | true\nbob | true\ncid | false\ndan | false\neve | false", func(p *readPlan, a plan.VarID) []plan.Expr {
			return one(holds(anyOf(plan.Filter{Cond: text(plan.Search, p.prop(a, "about"), "engine")}), a))
		}),
		{name: "collected and counted", want: "[true, false, true, false, true] | [true, false] | 2 | 1", build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.node("b", "Person")
			old := compare(plan.Gt, p.prop(a, "age"), plan.Lit{Value: value.OfI32(28)})
			knows := holds(exists(hop(a, "Knows", b)), a)
			never := plan.Test{Cond: plan.NullTest{Expr: p.prop(a, "name")}}
			p.ret(agg(plan.Collect, old), distinct(agg(plan.Collect, knows)), distinct(count(old)), distinct(count(never)))
		}},
		{name: "counted in a block", want: "ann | 1\nbob | 1\ncid | 1\ndan | 0\neve | 0", build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.node("b", "Person")
			old := compare(plan.Gt, p.prop(b, "age"), plan.Lit{Value: value.OfI32(28)})
			p.ret(id(a), plan.BlockAgg{Func: plan.Count, Distinct: true, Match: []plan.Clause{hop(a, "Knows", b)}, Arg: old, Outer: []plan.VarID{a}})
		}},
		of("a dropped block is true", "ann | true\nbob | true\ncid | true\ndan | true\neve | true", func(p *readPlan, a plan.VarID) []plan.Expr {
			return one(holds(not(unless(p.prop(a, "name"), plan.Eq, p.param("x", stringType.Optional()))), a))
		}, nil),
		of("a condition that applies", "ann | true\nbob | false\ncid | true\ndan | true\neve | true", func(p *readPlan, a plan.VarID) []plan.Expr {
			return one(holds(not(unless(p.prop(a, "name"), plan.Eq, p.param("x", stringType.Optional()))), a))
		}, "bob"),
		of("a block within a block", "ann | true\nbob | true\ncid | false\ndan | false\neve | false", func(p *readPlan, a plan.VarID) []plan.Expr {
			b, c := p.node("b", "Person"), p.node("c", "Person")
			home := holds(exists(hop(b, "Knows", c), where(id(c), plan.Ne, id(a)), where(id(c), plan.Ne, "bob")), a, b)
			return one(holds(exists(hop(a, "Knows", b), plan.Filter{Cond: compare(plan.Eq, home, holds(exists(hop(a, "LivesIn", p.node("d", "City"))), a)).Cond}), a))
		}),
		of("in if", "ann | 1\nbob | 1\ncid | 1\ndan | 2\neve | 2", func(p *readPlan, a plan.VarID) []plan.Expr {
			known := holds(exists(hop(a, "Knows", p.node("b", "Person"))), a)
			return one(call(plan.If, i64Type, known, 1, 2))
		}),
		{name: "in a filter and an order", want: "cid\nann\nbob", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			home := holds(exists(hop(a, "LivesIn", p.node("c", "City"))), a)
			p.match(where(home, plan.Eq, true)).ret(id(a))
			c := p.node("d", "City")
			p.sort(plan.Order{Expr: holds(exists(hop(a, "LivesIn", c), where(p.prop(c, "name"), plan.Eq, "Rome")), a), Desc: true})
		}},
		{name: "of two variables", want: "ann | bob | false\nbob | cid | false\ncid | ann | true", build: func(p *readPlan) {
			a, b := p.node("a", "Person"), p.node("b", "Person")
			c := p.node("c", "Person")
			sameAge := where(p.prop(b, "age"), plan.Eq, p.prop(a, "age"))
			p.match(hop(a, "Knows", b)).ret(id(a), id(b), holds(exists(hop(a, "Follows", c), where(id(c), plan.Eq, id(b)), sameAge), a, b))
		}},
		{name: "as a grouping key, and within an aggregate", want: "false | 2 | 1\ntrue | 3 | 2", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			known := holds(exists(hop(a, "Knows", p.node("b", "Person"))), a)
			other := holds(allOf(where(p.prop(a, "name"), plan.Ne, "ann"), where(p.prop(a, "name"), plan.Ne, "dan")), a)
			p.ret(known, count(whole(a)), call(plan.ToInt, i64Type, agg(plan.Sum, call(plan.If, i64Type, other, 1, 0)))).orderBy(known)
		}},
		of("if computes only the branch that applies", "ann | 60\nbob | 25\ncid | 60\ndan | null\neve | 82", func(p *readPlan, a plan.VarID) []plan.Expr {
			age := p.prop(a, "age")
			return one(call(plan.If, i64Type, test(age, plan.Gt, 28), call(plan.Multiply, i64Type, age, 2), call(plan.Coalesce, i64Type, age, p.prop(a, "big"))))
		}),
	})
	return append(cases,
		testCase{name: "truth/bad pattern in a parameter", schema: people, run: func(s *session) {
			s.load(engine.Merge, crowd)
			var e *engine.BadArgument
			p := s.read()
			a := p.bind("a", "Person")
			q := p.ret(compare(plan.Matches, p.prop(a, "name"), p.param("x", stringType))).query()
			if _, err := query(s.ctx, s.graph, q, engine.Args{value.OfString("(")}); !errors.As(err, &e) || e.Param != "x" {
				s.Errorf("the read gives %v, want a bad argument x", err)
			}
			m := s.change()
			name, x := m.param("name", stringType), m.param("x", stringType)
			m.insert("Person", set{"name": name, "active": compare(plan.Matches, name, x)})
			if _, err := s.tryMutate(m, "zoe", "("); !errors.As(err, &e) || e.Param != "x" {
				s.Errorf("the mutation gives %v, want a bad argument x", err)
			}
		}},
		testCase{name: "truth/in assignments", schema: people, run: func(s *session) {
			m := s.change()
			name, age := m.param("name", stringType), m.param("age", i32Type.Optional())
			words := plan.Lit{Value: textList("fay", "gus")}
			m.insert("Person", set{"name": name, "active": compare(plan.In, name, words), "age": call(plan.If, i32Type, plan.Test{Cond: plan.NullTest{Expr: age}}, value.OfI32(7), age),
				"mood": call(plan.If, stringType, compare(plan.Matches, name, plan.Lit{Value: value.OfString("^f")}), "glad", "sad")})
			s.mutate(m, "fay", nil)
			s.mutate(m, "hal", value.OfI32(3))
			p := s.read()
			a := p.bind("a", "Person")
			s.expect(p.ret(p.prop(a, "name"), p.prop(a, "active"), p.prop(a, "age"), p.prop(a, "mood")), "fay | true | 7 | glad\nhal | false | 3 | sad")
		}},
	)
}
