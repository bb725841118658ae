package enginetest

import (
	"fmt"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// scored returns the properties in scope that a score can rank: texts and vectors.
func (r *readDraw) scored() (texts, vectors []plan.Prop) {
	for _, v := range r.outer {
		declared := r.q.Read.Vars[v]
		for _, p := range properties(r.drawer.schema, declared.Entity, declared.Type) {
			switch {
			case p.Type.List:
			case r.hasWords(declared.Type, p):
				texts = append(texts, r.prop(v, p.Name))
			case p.Type.Kind == value.Vector:
				vectors = append(vectors, r.prop(v, p.Name))
			}
		}
	}
	return texts, vectors
}

// score draws a score of one entity or, if `fuse` is true, possibly of a whole row. The result `ok`
// is false if no variable in scope can have a score.
func (r *readDraw) score(fuse bool) (e plan.Expr, ok bool) {
	texts, vectors := r.scored()
	draw := func() plan.Expr {
		if len(vectors) > 0 && (len(texts) == 0 || r.percent(45)) {
			r.ranked = true
			p := pick(r.drawer, vectors)
			return plan.Nearest{Prop: p, Vector: r.vector(p.Type.Dim)}
		}
		return plan.BM25{Prop: pick(r.drawer, texts), Query: r.words()}
	}
	if len(texts)+len(vectors) == 0 {
		return nil, false
	}
	if !fuse || r.percent(65) {
		return draw(), true
	}
	f := plan.RRF{First: draw(), Second: draw()}
	if r.percent(40) {
		f.K = plan.Lit{Value: value.OfI64(int64(r.between(1, 9)))}
	}
	r.ranked = true
	return f, true
}

// words draws a query text.
func (r *readDraw) words() plan.Expr {
	return r.constant(stringType, value.OfString(pick(r.drawer, []string{"red fox", "foxes", "run the fox running", "blue box fox", "red red blue", "d c", "boxes", "of", "", "f\u00f3xes", "documentation réd"})))
}

// vector draws a query vector of a length.
func (r *readDraw) vector(dim int) plan.Expr {
	return r.constant(vectorOf(dim), r.scalar(vectorOf(dim), false, false))
}

// constant returns a literal or a parameter. The argument of a parameter may be null.
func (r *readDraw) constant(t value.Type, v value.Value) plan.Expr {
	if r.percent(60) {
		return plan.Lit{Value: v}
	}
	if r.percent(30) {
		t = t.Optional()
		if r.percent(25) {
			v = value.Null
		}
	}
	r.args = append(r.args, v)
	return r.param(fmt.Sprintf("x%d", len(r.q.Params)), t)
}

// ranking draws a score and returns it, orders by it, or both.
func (r *readDraw) ranking() {
	e, ok := r.score(true)
	if !ok {
		return
	}
	returned := r.percent(60)
	if returned {
		r.ret(e)
	}
	if returned && r.percent(25) {
		return
	}
	_, distance := e.(plan.Nearest)
	o := plan.Order{Expr: e, Desc: !distance}
	if r.percent(15) {
		o.Desc = !o.Desc
	}
	r.sort(o)
	if r.percent(60) {
		r.ranked = true
	}
}

// scoreFilter draws a filter on a score.
func (r *readDraw) scoreFilter() (plan.Clause, bool) {
	e, ok := r.score(false)
	if !ok {
		return nil, false
	}
	return where(e, r.op(), plan.Lit{Value: value.OfF64(pick(r.drawer, []float64{0, 0.25, 0.5, 1}))}), true
}
