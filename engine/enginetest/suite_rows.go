package enginetest

import (
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// aggregateCases returns the cases of aggregates and groups.
func aggregateCases() []testCase {
	// all returns a case that applies aggregates to a property of all persons.
	all := func(name, prop, want string, funcs ...plan.AggFunc) readCase {
		return readCase{name: name, want: want, build: func(p *readPlan) {
			a := p.bind("a", "Person")
			for _, f := range funcs {
				p.ret(agg(f, p.prop(a, prop)))
			}
		}}
	}
	return readCases("aggregate", []readCase{
		{name: "count of rows", want: "5", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.ret(count(whole(a)))
		}},
		all("count skips nulls", "age", "4", plan.Count),
		all("i32", "age", "126 | 31.5 | 25 | 41", plan.Sum, plan.Avg, plan.Min, plan.Max),
		all("f64 with nulls", "score", "-0.75 | -0.25 | -2.25 | 1.5", plan.Sum, plan.Avg, plan.Min, plan.Max),
		all("f32", "ratio", "0.75 | 0.375 | 0.25 | 0.5", plan.Sum, plan.Avg, plan.Min, plan.Max),
		all("u64 keeps its type", "wide", "9007199254740993 | 18446744073709551615", plan.Min, plan.Max),
		all("u32", "small", "4294967296 | 1 | 4294967295", plan.Sum, plan.Min, plan.Max),
		all("i64 keeps its type", "big", "-5 | 9007199254740993", plan.Min, plan.Max),
		all("sum and avg are rounded once", "big", "9007199254740988 | 4503599627370494", plan.Sum, plan.Avg),
		all("dates keep their type", "born", "1994-02-28 | 1999-12-31 | 2", plan.Min, plan.Max, plan.Count),
		all("instants keep their type", "seen", "2024-05-01T12:30:00.250Z | 2024-05-01T12:30:00.250Z", plan.Min, plan.Max),
		all("median of i32", "age", "30", plan.Median),
		all("median of f64 skips nulls", "score", "0", plan.Median),
		all("median of f32", "ratio", "0.375", plan.Median),
		all("median of u32", "small", "2147483648", plan.Median),
		all("median of u64 is rounded once", "wide", "9227875636482146000", plan.Median),
		all("median of i64", "big", "4503599627370494", plan.Median),
		{name: "median by group, ordered by it, null without values", want: "calm | 41\nglad | 30\nsad | 25\nnull | null", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.match(where(p.prop(a, "name"), plan.Ne, "cid"))
			p.ret(p.prop(a, "mood"), agg(plan.Median, p.prop(a, "age"))).orderDesc(agg(plan.Median, p.prop(a, "age")))
		}},
		{name: "median of no rows", want: "null", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.match(where(p.prop(a, "name"), plan.Eq, "zoe")).ret(agg(plan.Median, p.prop(a, "age")))
		}},
		{name: "no rows and no grouping keys", want: "0 | 0 | null | null | null | null", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			age := p.prop(a, "age")
			p.match(where(p.prop(a, "name"), plan.Eq, "zoe"))
			p.ret(count(whole(a)), count(age), agg(plan.Sum, age), agg(plan.Avg, age), agg(plan.Min, age), agg(plan.Max, age))
		}},
		{name: "no rows, a key", want: "", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.match(where(p.prop(a, "name"), plan.Eq, "zoe")).ret(p.prop(a, "age"), count(whole(a)))
		}},
		{name: "nulls alone", want: "0 | null | null | null", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.match(where(p.prop(a, "name"), plan.Eq, "dan"))
			age := p.prop(a, "age")
			p.ret(count(age), agg(plan.Sum, age), agg(plan.Avg, age), agg(plan.Max, age))
		}},
		{name: "grouped, with null as a separate group, nulls first", want: "null | 1\n25 | 1\n30 | 2\n41 | 1", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.ret(p.prop(a, "age"), count(whole(a)))
		}},
		{name: "key after the aggregate", want: "1 | null\n1 | false\n1 | true", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.match(where(p.prop(a, "name"), plan.Ne, "eve"), where(p.prop(a, "name"), plan.Ne, "cid"))
			p.ret(count(whole(a)), p.prop(a, "active"))
		}},
		{name: "two keys", want: "null | null | 1\n25 | sad | 1\n30 | null | 1\n30 | glad | 1\n41 | calm | 1", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.ret(p.prop(a, "age"), p.prop(a, "mood"), count(whole(a)))
		}},
		{name: "over a traversal", want: "c1 | 2\nc2 | 1", build: func(p *readPlan) {
			a, c := p.node("a", "Person"), p.bind("c", "City")
			p.match(hop(a, "LivesIn", c)).ret(id(c), count(whole(a)))
		}},
		{name: "grouped by a whole node", want: "{c1, Oslo, [59.5 10.5]} | 2\n{c2, Rome, null} | 1", build: func(p *readPlan) {
			a, c := p.node("a", "Person"), p.bind("c", "City")
			p.match(hop(a, "LivesIn", c)).ret(whole(c), count(whole(a)))
		}},
		{name: "parallel edges count once", want: "3", build: func(p *readPlan) {
			a, b := p.node("a", "Person"), p.node("b", "Person")
			p.match(hop(a, "Knows", b)).ret(count(whole(a)))
		}},
		{name: "edge binding counts edges", want: "ann | 2 | 4025\nbob | 1 | 2010\ncid | 1 | null", build: func(p *readPlan) {
			a, b, e := p.node("a", "Person"), p.node("b", "Person"), p.edge("e", "Knows")
			p.match(over(a, e, "Knows", b)).ret(id(a), count(id(e)), agg(plan.Sum, p.prop(e, "since")))
		}},
		{name: "ordered by the aggregate, ties by the key", want: "30 | 2\nnull | 1\n25 | 1\n41 | 1", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.ret(p.prop(a, "age"), count(whole(a))).orderDesc(count(whole(a)))
		}},
		{name: "ordered by the key descending", want: "41 | 1\n30 | 2\n25 | 1\nnull | 1", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.ret(p.prop(a, "age"), count(whole(a))).orderDesc(p.prop(a, "age"))
		}},
		{name: "ordered by an aggregate that is not returned", want: "41 | 1\nnull | 1", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.ret(p.prop(a, "age"), count(whole(a))).orderDesc(agg(plan.Max, p.prop(a, "name"))).limit(2)
		}},
		{name: "limit counts groups", want: "null | 1\n25 | 1", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.ret(p.prop(a, "age"), count(whole(a))).limit(2)
		}},
	})
}

// orderCases returns the cases of sort keys and limits.
func orderCases() []testCase {
	sorted := func(name, prop string, desc bool, want string) readCase {
		return readCase{name: name, want: want, build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.ret(id(a)).sort(plan.Order{Expr: p.prop(a, prop), Desc: desc})
		}}
	}
	return readCases("order", []readCase{
		sorted("nulls first, ties by id", "age", false, "dan\nbob\nann\ncid\neve"),
		sorted("descending nulls last, ties by id ascending", "age", true, "eve\nann\ncid\nbob\ndan"),
		sorted("strings", "about", false, "dan\neve\nbob\nann\ncid"),
		sorted("bools", "active", false, "cid\ndan\nbob\nann\neve"),
		sorted("dates descending", "born", true, "bob\nann\ncid\ndan\neve"),
		sorted("u64 as unsigned", "wide", true, "ann\nbob\ncid\ndan\neve"),
		sorted("i64 with negatives", "big", false, "cid\ndan\neve\nbob\nann"),
		sorted("floats with negatives", "score", false, "dan\neve\nbob\ncid\nann"),
		sorted("enums by text", "mood", true, "bob\nann\neve\ncid\ndan"),
		{name: "two keys", want: "eve\ncid\nann\nbob\ndan", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.ret(id(a)).orderDesc(p.prop(a, "age")).orderDesc(p.prop(a, "name"))
		}},
		{name: "by a property that is not returned", want: "41\n30\n30\n25\nnull", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.ret(p.prop(a, "age")).orderDesc(p.prop(a, "age"))
		}},
		{name: "by id descending", want: "c2\nc1", build: func(p *readPlan) {
			c := p.bind("c", "City")
			p.ret(id(c)).orderDesc(id(c))
		}},
		{name: "limit", want: "ann\nbob", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.ret(id(a)).limit(2)
		}},
		{name: "limit after the order", want: "eve\nann", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.ret(id(a)).orderDesc(p.prop(a, "age")).limit(2)
		}},
		{name: "limit within ties", want: "dan\nbob\nann", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.ret(id(a)).orderBy(p.prop(a, "age")).limit(3)
		}},
		{name: "limit above the number of rows", want: "ann\nbob\ncid\ndan\neve", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.ret(id(a)).limit(100)
		}},
		{name: "limit of none", want: "", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.ret(id(a)).limit(0)
		}},
		{name: "ties by variable name, not by order of binding", want: "ann | c2\nbob | c2\ncid | c2\nann | c1\nbob | c1\ncid | c1", build: func(p *readPlan) {
			c, a := p.bind("c", "City"), p.bind("a", "Person")
			p.match(where(id(a), plan.Lt, "dan")).ret(id(a), id(c)).orderDesc(p.prop(c, "name"))
		}},
		{name: "limit over a cross product", want: "ann | c1\nann | c2\nbob | c1", build: func(p *readPlan) {
			c, a := p.bind("c", "City"), p.bind("a", "Person")
			p.ret(id(a), id(c)).limit(3)
		}},
		{name: "limit over a traversal", want: "bob | 25\ncid | 30", build: func(p *readPlan) {
			a, b := p.node("a", "Person"), p.node("b", "Person")
			p.match(hop(a, "Knows", b)).ret(id(b), p.prop(b, "age")).orderBy(p.prop(b, "age")).limit(2)
		}},
	})
}

// columnCases returns the cases of result columns.
func columnCases() []testCase {
	cases := readCases("column", []readCase{
		{name: "every kind", want: `
			ann | 30 | 9007199254740993 | 1 | 18446744073709551615 | 0.5 | 1.5 | true | 1994-02-28 | 2024-05-01T12:30:00.250Z | glad | [go, tea] | [3, 7]
			bob | 25 | -5 | 4294967295 | 9007199254740993 | 0.25 | -2.25 | false | 1999-12-31 | 2024-05-01T12:30:00.250Z | sad | [] | [7]`,
			build: func(p *readPlan) {
				a := p.bind("a", "Person")
				p.match(where(id(a), plan.Lt, "c"))
				for _, name := range []string{"name", "age", "big", "small", "wide", "ratio", "score", "active", "born", "seen", "mood", "tags", "lucky"} {
					p.ret(p.prop(a, name))
				}
			}},
		{name: "nulls of every kind", want: "dan | null | null | null | null | null | null | null | null | null | null | null | null",
			build: func(p *readPlan) {
				a := p.bind("a", "Person")
				p.match(where(id(a), plan.Eq, "dan"))
				for _, name := range []string{"name", "age", "big", "small", "wide", "ratio", "score", "active", "born", "seen", "mood", "tags", "lucky"} {
					p.ret(p.prop(a, name))
				}
			}},
		{name: "vector", want: "[59.5 10.5]\nnull", build: func(p *readPlan) {
			c := p.bind("c", "City")
			p.ret(p.prop(c, "place"))
		}},
		{name: "whole node, its id first and blobs left out", want: `
			{bob, bob, 25, -5, 4294967295, 9007199254740993, 0.25, -2.25, false, 1999-12-31, 2024-05-01T12:30:00.250Z, sad, [], [7], Runs the graphs of an engine room}
			{dan, dan, null, null, null, null, null, null, null, null, null, null, null, null, null}`,
			build: func(p *readPlan) {
				a := p.bind("a", "Person")
				p.match(where(p.prop(a, "name"), plan.Ne, "ann"), where(p.prop(a, "name"), plan.Ne, "cid"), where(p.prop(a, "name"), plan.Ne, "eve"))
				p.ret(whole(a))
			}},
		{name: "literal and parameter", args: []any{"x"}, want: "c1 | 7 | x\nc2 | 7 | x", build: func(p *readPlan) {
			c := p.bind("c", "City")
			p.ret(id(c), plan.Lit{Value: value.OfI64(7)}, p.param("x", stringType))
		}},
		{name: "null parameter", args: []any{nil}, want: "c1 | null\nc2 | null", build: func(p *readPlan) {
			c := p.bind("c", "City")
			p.ret(id(c), p.param("x", i32Type.Optional()))
		}},
		{name: "two whole nodes", want: "{c1, Oslo, [59.5 10.5]} | {c1, Oslo, [59.5 10.5]}\n{c2, Rome, null} | {c1, Oslo, [59.5 10.5]}\n{c1, Oslo, [59.5 10.5]} | {c2, Rome, null}\n{c2, Rome, null} | {c2, Rome, null}", build: func(p *readPlan) {
			a, b := p.bind("a", "City"), p.bind("b", "City")
			p.ret(whole(b), whole(a))
		}},
	})
	return append(cases, testCase{name: "column/now is one instant", schema: people, run: func(s *session) {
		s.load(engine.Merge, crowd)
		p := s.read()
		p.bind("a", "Person")
		p.bind("b", "Person")
		p.ret(plan.Now{}, plan.Now{})
		rows := s.rows(p.query())
		if len(rows) != 25 {
			s.Fatalf("%d rows, not 25", len(rows))
		}
		first := rows[0][:len(rows[0])/2-1]
		for _, r := range rows {
			if r != first+" | "+first {
				s.Errorf("row %s beside %s", r, rows[0])
			}
		}
	}}, testCase{name: "column/many rows in order", schema: people, run: func(s *session) {
		s.load(engine.Merge, manyPeople(3000))
		p := s.read()
		a := p.bind("a", "Person")
		p.ret(p.prop(a, "age"), id(a)).orderDesc(p.prop(a, "age"))
		rows := s.rows(p.query())
		if len(rows) != 3000 || rows[0] != "2999 | p2999" || rows[2999] != "0 | p0000" {
			s.Errorf("%d rows from %s to %s", len(rows), rows[0], rows[len(rows)-1])
		}
	}})
}
