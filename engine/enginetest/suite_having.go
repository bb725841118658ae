package enginetest

import (
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// havingCases returns the cases of conditions on the rows of the result.
func havingCases() []testCase {
	number := func(n int64) plan.Lit { return plan.Lit{Value: value.OfI64(n)} }
	// followers returns each person with the number of persons that follow the person.
	followers := func(p *readPlan) (who plan.Prop, n plan.Agg) {
		a, b := p.bind("a", "Person"), p.node("b", "Person")
		p.match(p.maybe(hop(b, "Follows", a)))
		who, n = p.prop(a, "name"), count(whole(b))
		p.ret(who, n)
		return who, n
	}
	cases := readCases("having", []readCase{
		{name: "a count", want: "dan | 2", build: func(p *readPlan) {
			_, n := followers(p)
			p.having(where(n, plan.Gt, number(1)))
		}},
		{name: "a count of the other end", want: "dan | 2", build: func(p *readPlan) {
			a, b := p.node("a", "Person"), p.node("b", "Person")
			n := count(whole(b))
			p.match(hop(b, "Follows", a)).ret(id(a), n)
			p.having(where(n, plan.Gt, number(1)))
		}},
		{name: "a key", want: "cid | 1\ndan | 2\neve | 1", build: func(p *readPlan) {
			who, _ := followers(p)
			p.having(where(who, plan.Gt, "bob"))
		}},
		{name: "several conditions", want: "cid | 1\neve | 1", build: func(p *readPlan) {
			who, n := followers(p)
			p.having(where(who, plan.Gt, "bob"), where(n, plan.Lt, number(2)))
		}},
		{name: "any and all", want: "ann | 1\ndan | 2", build: func(p *readPlan) {
			who, n := followers(p)
			p.having(anyOf(where(n, plan.Gt, number(1)), allOf(where(who, plan.Lt, "bob"), where(n, plan.Eq, number(1)))))
		}},
		{name: "before order and limit", want: "eve | 1\ncid | 1", build: func(p *readPlan) {
			who, n := followers(p)
			p.having(where(n, plan.Eq, number(1))).orderDesc(who).limit(2)
		}},
		{name: "a computed aggregate", want: "dan | 2", build: func(p *readPlan) {
			_, n := followers(p)
			p.having(where(plan.Apply{Func: plan.Multiply, Args: []plan.Expr{n, number(2)}, Type: i64Type}, plan.Gt, number(3)))
		}},
		{name: "a list", want: "30 | [ann, cid]", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			names := agg(plan.Collect, p.prop(a, "name"))
			p.ret(p.prop(a, "age"), names).having(where(names, plan.Contains, plan.Lit{Value: value.OfString("cid")}))
		}},
		{name: "a null aggregate", want: "null | null", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			top := agg(plan.Max, p.prop(a, "age"))
			p.ret(p.prop(a, "age"), top).having(isNull(top))
		}},
		{name: "the group of no rows", want: "", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.match(where(p.prop(a, "age"), plan.Gt, 99)).ret(count(whole(a))).having(where(count(whole(a)), plan.Gt, number(0)))
		}},
		{name: "the group of no rows stays", want: "0", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.match(where(p.prop(a, "age"), plan.Gt, 99)).ret(count(whole(a))).having(where(count(whole(a)), plan.Eq, number(0)))
		}},
		{name: "rows without groups", want: "bob | 26\neve | 42", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			next := plan.Apply{Func: plan.Add, Args: []plan.Expr{p.prop(a, "age"), number(1)}, Type: i64Type.Optional()}
			p.ret(p.prop(a, "name"), next).having(where(next, plan.Ne, number(31)))
		}},
		{name: "rows before the limit", want: "ann | 30\ncid | 30", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.ret(p.prop(a, "name"), p.prop(a, "age")).having(where(p.prop(a, "age"), plan.Eq, 30)).orderBy(p.prop(a, "name")).limit(2)
		}},
		{name: "distinct rows", want: "25\n41", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.q.Read.Grouped = true
			p.ret(p.prop(a, "age")).having(where(p.prop(a, "age"), plan.Ne, 30))
		}},
		{name: "a whole node that may be null", want: "{null, null, null} | 2", build: func(p *readPlan) {
			a, c := p.bind("a", "Person"), p.node("c", "City")
			p.match(p.maybe(hop(a, "LivesIn", c))).ret(whole(c), count(whole(a))).having(isNull(id(c)))
		}},
		{name: "a relevance", want: "ann", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			score := plan.BM25{Prop: p.prop(a, "about"), Query: expression("graph writes", p.prop(a, "about"))}
			p.ret(p.prop(a, "name")).orderDesc(score).limit(5)
			p.column("score", score)
			p.having(where(score, plan.Gt, plan.Lit{Value: value.OfF64(1)}))
			p.q.Read.Columns = p.q.Read.Columns[:1]
		}},
		{name: "a dropped condition", want: "ann | 1\nbob | 1\ncid | 1\ndan | 2\neve | 1", build: func(p *readPlan) {
			who, _ := followers(p)
			p.having(unless(who, plan.Eq, p.param("x", stringType.Optional())))
		}, args: []any{nil}},
		{name: "a pattern", want: "ann | 1\ndan | 2", build: func(p *readPlan) {
			who, _ := followers(p)
			p.having(where(who, plan.Matches, p.param("x", stringType)))
		}, args: []any{"an"}},
	})
	return append(cases, testCase{name: "having/cut rows", schema: people, run: func(s *session) {
		s.load(engine.Merge, crowd)
		p := s.read()
		_, n := followers(p)
		q := p.having(where(n, plan.Eq, number(1))).limit(4).query()
		if rows, more, err := queryMore(s.ctx, s.graph, q, nil, engine.Target{}); err != nil || len(rows) != 4 || more {
			s.Errorf("%d rows, more %t, %v; want 4 rows and no more", len(rows), more, err)
		}
		q.Read.Limit = 3
		if rows, more, err := queryMore(s.ctx, s.graph, q, nil, engine.Target{}); err != nil || len(rows) != 3 || !more {
			s.Errorf("%d rows, more %t, %v; want 3 rows and more", len(rows), more, err)
		}
	}})
}
