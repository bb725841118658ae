package enginetest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
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
			p.match(over(a, k, "Knows", b)).ret(distinct(agg(plan.Collect, id(a))))
		}},
		{name: "by group", want: "null | [dan] | []\n25 | [bob] | [sad]\n30 | [ann, cid] | [glad]\n41 | [eve] | [calm]", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.ret(p.prop(a, "age"), agg(plan.Collect, p.prop(a, "name")), agg(plan.Collect, p.prop(a, "mood")))
		}},
		{name: "nodes, in the order of the ids of all variables", want: "25 | [{c1, Oslo, [59.5 10.5]}]\n30 | [{c1, Oslo, [59.5 10.5]}, {c2, Rome, null}]", build: func(p *readPlan) {
			a, c := p.bind("a", "Person"), p.node("c", "City")
			p.match(hop(a, "LivesIn", c)).ret(p.prop(a, "age"), agg(plan.Collect, whole(c)))
		}},
		{name: "the first variable by name decides about nodes", want: "[{c2, Rome, null}, {c1, Oslo, [59.5 10.5]}, {c1, Oslo, [59.5 10.5]}, {c1, Oslo, [59.5 10.5]}]", build: func(p *readPlan) {
			b, a, c, k := p.bind("b", "Person"), p.node("a", "Person"), p.node("c", "City"), p.edge("k", "Knows")
			p.match(over(b, k, "Knows", a), hop(b, "LivesIn", c)).ret(agg(plan.Collect, whole(c)))
		}},
		{name: "distinct nodes", want: "[{c1, Oslo, [59.5 10.5]}, {c2, Rome, null}] | 3", build: func(p *readPlan) {
			a, c := p.bind("a", "Person"), p.node("c", "City")
			p.match(hop(a, "LivesIn", c)).ret(distinct(agg(plan.Collect, whole(c))), count(whole(c)))
		}},
		{name: "nodes without matches", want: "ann | [{c1, Oslo, [59.5 10.5]}]\nbob | [{c1, Oslo, [59.5 10.5]}]\ncid | [{c2, Rome, null}]\ndan | []\neve | []", build: func(p *readPlan) {
			a, c := p.bind("a", "Person"), p.node("c", "City")
			p.match(p.maybe(hop(a, "LivesIn", c))).ret(id(a), agg(plan.Collect, whole(c)))
		}},
		{name: "no nodes", want: "[]", build: func(p *readPlan) {
			c := p.bind("c", "City")
			p.match(where(id(c), plan.Eq, "none")).ret(agg(plan.Collect, whole(c)))
		}},
		{name: "the size of a list of nodes", want: "[{c1, Oslo, [59.5 10.5]}, {c1, Oslo, [59.5 10.5]}, {c2, Rome, null}] | 3 | 2", build: func(p *readPlan) {
			a, c := p.bind("a", "Person"), p.node("c", "City")
			all := agg(plan.Collect, whole(c))
			p.match(hop(a, "LivesIn", c)).ret(all, sizeOf(all), sizeOf(distinct(all)))
		}},
		{name: "rows chosen by the size of a list of nodes", want: "c1 | 2", build: func(p *readPlan) {
			a, c := p.bind("a", "Person"), p.node("c", "City")
			n := sizeOf(agg(plan.Collect, whole(a)))
			p.match(hop(a, "LivesIn", c)).ret(id(c), n).having(where(n, plan.Gt, plan.Lit{Value: value.OfI32(1)}))
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
			p.ret(sizeOf(agg(plan.Collect, p.prop(a, "age"))))
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
		p = s.read()
		p.bind("c", "City")
		if rows, err := query(s.ctx, s.graph, p.ret(agg(plan.Collect, whole(c))).query(), nil); err != nil || len(rows) != 1 || len(rows[0][0].list) != plan.MaxCollected {
			s.Errorf("%d nodes give %d rows, %v", plan.MaxCollected, len(rows), err)
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
		expectTooLarge(agg(plan.Collect, whole(c)))
		expectTooLarge(sizeOf(agg(plan.Collect, whole(c))))
	}})
}

// sizeOf returns the number of elements of a list.
func sizeOf(list plan.Expr) plan.Apply {
	return plan.Apply{Func: plan.Size, Args: []plan.Expr{list}, Type: i32Type}
}

// cities returns NDJSON of n cities with the same name.
func cities(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"type":"City","data":{"id":"city%05d","name":"x"}}`+"\n", i)
	}
	return b.String()
}
