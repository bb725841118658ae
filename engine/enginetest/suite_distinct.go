package enginetest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// distinctCases returns the cases of `distinct` and of collect.
func distinctCases() []testCase {
	unique := func(exprs ...plan.Expr) func(p *readPlan) {
		return func(p *readPlan) {
			p.q.Read.Grouped = true
			p.ret(exprs...)
		}
	}
	cases := readCases("distinct", []readCase{
		{name: "each combination once", want: "null\n25\n30\n41", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			unique(p.prop(a, "age"))(p)
		}},
		{name: "several columns", want: "null | null\n25 | sad\n30 | null\n30 | glad\n41 | calm", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			unique(p.prop(a, "age"), p.prop(a, "mood"))(p)
		}},
		{name: "whole nodes", want: "{c1, Oslo, [59.5 10.5]}\n{c2, Rome, null}", build: func(p *readPlan) {
			a, c := p.bind("a", "Person"), p.node("c", "City")
			p.match(hop(a, "LivesIn", c))
			unique(whole(c))(p)
		}},
		{name: "ordered and limited", want: "41\n30", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			unique(p.prop(a, "age"))(p)
			p.orderDesc(p.prop(a, "age")).limit(2)
		}},
		{name: "a computed column", want: "a\nb\nc\nd\ne", build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.bind("b", "Person")
			p.match(where(p.prop(b, "age"), plan.Eq, 30))
			name := p.prop(a, "name")
			unique(plan.Apply{Func: plan.Substring, Args: []plan.Expr{name, expression(0, plan.Prop{Type: i64Type}), expression(1, plan.Prop{Type: i64Type})}, Type: stringType})(p)
		}},
		{name: "no rows", want: "", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.match(where(p.prop(a, "age"), plan.Gt, 99))
			unique(p.prop(a, "age"))(p)
		}},
		{name: "count of values", want: "3 | 4", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.ret(distinct(count(p.prop(a, "age"))), count(p.prop(a, "age")))
		}},
		{name: "count of nodes", want: "c1 | 2 | 3\nc2 | 1 | 1", build: func(p *readPlan) {
			a, b, c := p.bind("a", "Person"), p.node("b", "Person"), p.node("c", "City")
			p.match(hop(a, "LivesIn", c), over(b, p.edge("f", "Follows"), "Follows", a)).ret(id(c), distinct(count(whole(a))), count(whole(b)))
			p.match(over(b, p.edge("k", "Knows"), "Knows", a))
		}},
		{name: "count without matches", want: "ann | 1\nbob | 1\ncid | 1\ndan | 0\neve | 0", build: func(p *readPlan) {
			a, b, k := p.bind("a", "Person"), p.node("b", "Person"), p.edge("k", "Knows")
			p.match(p.maybe(over(a, k, "Knows", b))).ret(id(a), distinct(count(whole(b))))
		}},
		{name: "count of no rows", want: "0", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.match(where(p.prop(a, "age"), plan.Gt, 99)).ret(distinct(count(p.prop(a, "age"))))
		}},
		{name: "ordered by a count", want: "30 | 2\nnull | 1", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			names := distinct(count(p.prop(a, "name")))
			p.ret(p.prop(a, "age"), names).orderDesc(names).limit(2)
		}},
	})
	cases = append(cases, readCases("collect", []readCase{
		{name: "in the order of ids, without nulls", want: "[30, 25, 30, 41]", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.ret(agg(plan.Collect, p.prop(a, "age")))
		}},
		{name: "distinct keeps the first", want: "[30, 25, 41]", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.ret(distinct(agg(plan.Collect, p.prop(a, "age"))))
		}},
		{name: "the first variable by name decides", want: "[cid, ann, ann, bob]", build: func(p *readPlan) {
			a, b, k := p.bind("z", "Person"), p.node("b", "Person"), p.edge("k", "Knows")
			p.match(over(a, k, "Knows", b)).ret(agg(plan.Collect, p.prop(a, "name")))
		}},
		{name: "distinct in that order", want: "[cid, ann, bob]", build: func(p *readPlan) {
			a, b, k := p.bind("z", "Person"), p.node("b", "Person"), p.edge("k", "Knows")
			p.match(over(a, k, "Knows", b)).ret(distinct(agg(plan.Collect, whole(a))))
		}},
		{name: "by group", want: "null | [dan] | []\n25 | [bob] | [sad]\n30 | [ann, cid] | [glad]\n41 | [eve] | [calm]", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.ret(p.prop(a, "age"), agg(plan.Collect, p.prop(a, "name")), agg(plan.Collect, p.prop(a, "mood")))
		}},
		{name: "nodes as ids", want: "c1 | [ann, bob]\nc2 | [cid]", build: func(p *readPlan) {
			a, c := p.bind("a", "Person"), p.node("c", "City")
			p.match(hop(a, "LivesIn", c)).ret(id(c), agg(plan.Collect, whole(a)))
		}},
		{name: "no rows", want: "[]", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.match(where(p.prop(a, "age"), plan.Gt, 99)).ret(agg(plan.Collect, p.prop(a, "age")))
		}},
		{name: "without matches", want: "ann | [bob]\nbob | [cid]\ncid | [ann]\ndan | []\neve | []", build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.node("b", "Person")
			p.match(p.maybe(hop(a, "Knows", b))).ret(id(a), agg(plan.Collect, p.prop(b, "name")))
		}},
		{name: "the size of a list", want: "4", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.ret(plan.Apply{Func: plan.Size, Args: []plan.Expr{agg(plan.Collect, p.prop(a, "age"))}, Type: i32Type})
		}},
		{name: "dates", want: "[1994-02-28, 1999-12-31]", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.ret(agg(plan.Collect, p.prop(a, "born")))
		}},
	})...)
	return append(cases, testCase{name: "collect/too many values", schema: people, large: true, run: func(s *session) {
		s.load(engine.Merge, cities(plan.MaxCollected))
		p := s.read()
		c := p.bind("c", "City")
		q := p.ret(agg(plan.Collect, p.prop(c, "name")), distinct(agg(plan.Collect, id(c)))).query()
		if rows, err := query(s.ctx, s.graph, q, nil); err != nil || len(rows) != 1 || len(rows[0][0].value.Elems()) != plan.MaxCollected {
			s.Errorf("%d values give %d rows, %v", plan.MaxCollected, len(rows), err)
		}
		s.load(engine.Merge, `{"type":"City","data":{"id":"one-more","name":"x"}}`)
		expectTooLarge := func(e plan.Expr) {
			p := s.read()
			p.bind("c", "City")
			_, err := query(s.ctx, s.graph, p.ret(e).query(), nil)
			var large *engine.TooLarge
			if !errors.As(err, &large) || large.Limit != plan.MaxCollected {
				s.Errorf("%d values: error %v, want a *engine.TooLarge", plan.MaxCollected+1, err)
			}
		}
		expectTooLarge(agg(plan.Collect, p.prop(c, "name")))
		expectTooLarge(distinct(agg(plan.Collect, id(c))))
	}})
}

// cities returns NDJSON of n cities with the same name.
func cities(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"type":"City","data":{"id":"city%05d","name":"x"}}`+"\n", i)
	}
	return b.String()
}
