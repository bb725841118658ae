package enginetest

import (
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// distinct draws the columns and the order of a read that returns each combination of its columns once.
func (r *readDraw) distinct() {
	r.q.Read.Grouped = true
	for range r.between(1, 3) {
		r.ret(r.column())
	}
	for range r.IntN(3) {
		if e := pick(r.drawer, r.q.Read.Columns).Expr; comparable(r.typeOf(e)) {
			r.sort(plan.Order{Expr: e, Desc: r.percent(50)})
		}
	}
}

// perhapsDistinct sometimes makes an aggregate count equal values once, if the function allows that.
func (r *readDraw) perhapsDistinct(a plan.Agg) plan.Agg {
	a.Distinct = a.Func.Row().Distinct && r.percent(45)
	return a
}

// having draws conditions on the columns.
func (r *readDraw) having() {
	for range r.between(1, 2) {
		c, ok := r.columnCondition()
		if !ok {
			continue
		}
		if other, ok := r.columnCondition(); ok && r.percent(25) {
			if r.percent(60) {
				c = plan.Any{Conds: []plan.Clause{c, other}}
			} else {
				c = plan.All{Conds: []plan.Clause{c, other}}
			}
		}
		r.q.Read.Having = append(r.q.Read.Having, c)
	}
}

// columnCondition draws a condition on a column. The result `ok` is false if the drawn column takes none.
func (r *readDraw) columnCondition() (c plan.Clause, ok bool) {
	e := pick(r.drawer, r.q.Read.Columns).Expr
	if m, ok := r.member(); ok && r.percent(30) {
		e = m
	}
	t := r.typeOf(e).Required()
	t.Enum = nil
	switch {
	case t.List && t.Kind.IsComparable():
		return plan.Filter{Cond: r.compare(e, plan.Contains, t.Elem(), r.scalar(t.Elem(), false, false))}, true
	case !comparable(t):
		if w, whole := e.(plan.Whole); whole && r.q.Read.Vars[w.Var].Optional {
			return plan.Filter{Cond: plan.NullTest{Expr: plan.ID(w), Not: r.percent(50)}}, true
		}
		return nil, false
	case r.percent(20):
		return plan.Filter{Cond: plan.NullTest{Expr: e, Not: r.percent(60)}}, true
	case r.percent(20):
		other := pick(r.drawer, r.q.Read.Columns).Expr
		if o := r.typeOf(other); comparable(o) && together(o, t) {
			return where(e, r.op(), other), true
		}
	case t.Kind == value.I64: // most often a count
		return where(e, r.op(), plan.Lit{Value: value.OfI64(int64(r.IntN(4)))}), true
	}
	return plan.Filter{Cond: r.compare(e, r.op(), t, r.scalar(t, false, false))}, true
}
