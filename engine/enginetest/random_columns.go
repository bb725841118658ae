package enginetest

import "github.com/omnigraph-go/omnigraph/gq/plan"

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
