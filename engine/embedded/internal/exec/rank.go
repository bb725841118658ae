package exec

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// ranking holds the scores of a program.
type ranking struct {
	relevances []*relevance // the calls of `bm25`
	distances  []*distance  // the calls of `nearest`
	fusions    []*fusion    // the calls of `rrf`
	drops      []*expr      // scores that a row must have; rows without them are dropped
}

// relevance is a bound call of `bm25`.
type relevance struct {
	v     plan.VarID // variable of the ranked entity
	prop  int        // position of the searched property in the type
	query *expr      // the search text
}

// distance is a bound call of `nearest`.
type distance struct {
	v       plan.VarID // variable of the ranked entity
	prop    int        // position of the vector property in the type
	operand *expr      // the vector to compare with
	slot    int        // the vector for the property's values
}

// fusion is a bound call of `rrf`.
type fusion struct {
	of [2]*expr // the two rankings
	k  *expr    // nil for the default
}

// defaultK is the constant of rank fusion when the query gives none (Cormack, Clarke and
// Büttcher, Reciprocal Rank Fusion, 2009).
const defaultK = 60

// score binds a score.
func (b *binder) score(e plan.Expr, out *expr) (err error) {
	out.typ = value.Of(value.F64)
	switch e := e.(type) {
	case plan.BM25:
		r := &relevance{v: e.Prop.Var}
		if r.prop, err = b.prop(e.Prop); err != nil {
			return err
		}
		if r.query, err = b.expr(e.Query); err != nil {
			return err
		}
		if t := b.types[r.v].Props[r.prop].Type; t.Kind != value.String || t.List {
			return mismatch("bm25 cannot rank a property of type %s", t)
		}
		if !isText(r.query) {
			return mismatch("bm25 cannot search for a value of type %s", r.query.typ)
		}
		if r.query.kind != exprConst {
			return &engine.Unsupported{Construct: "bm25 with a search text that differs from row to row"}
		}
		out.kind, out.v, out.score = exprBM25, r.v, len(b.relevances)
		b.relevances = append(b.relevances, r)
	case plan.Nearest:
		d := &distance{v: e.Prop.Var, slot: b.vecs}
		b.vecs++
		if d.prop, err = b.prop(e.Prop); err != nil {
			return err
		}
		if d.operand, err = b.expr(e.Vector); err != nil {
			return err
		}
		if t := b.types[d.v].Props[d.prop].Type; t.Kind != value.Vector {
			return mismatch("nearest cannot rank a property of type %s", t)
		}
		if d.operand.kind != exprConst {
			return &engine.Unsupported{Construct: "nearest with a vector that differs from row to row"}
		}
		out.kind, out.v, out.score = exprNearest, d.v, len(b.distances)
		b.distances = append(b.distances, d)
	case plan.RRF:
		if !b.ranks {
			return &engine.Unsupported{Construct: "rrf in a condition"}
		}
		f := &fusion{}
		for i, part := range []plan.Expr{e.First, e.Second} {
			if f.of[i], err = b.expr(part); err != nil {
				return err
			}
			if k := f.of[i].kind; k != exprBM25 && k != exprNearest {
				return mismatch("an argument of rrf is not a ranking")
			}
		}
		if e.K != nil {
			if f.k, err = b.expr(e.K); err != nil {
				return err
			}
			if f.k.kind != exprConst {
				return mismatch("the k of rrf must not differ from row to row")
			}
		}
		out.kind, out.score = exprFused, len(b.fusions)
		b.fusions = append(b.fusions, f)
	}
	return nil
}

// fuses reports whether a read contains a call of `rrf`.
func fuses(r *plan.Read) bool {
	var is func(e plan.Expr) bool
	is = func(e plan.Expr) bool {
		if a, ok := e.(plan.Agg); ok {
			e = a.Arg
		}
		_, ok := e.(plan.RRF)
		return ok || slices.ContainsFunc(plan.Operands(e), is)
	}
	return slices.ContainsFunc(r.Columns, func(c plan.Column) bool { return is(c.Expr) }) ||
		slices.ContainsFunc(r.Order, func(o plan.Order) bool { return is(o.Expr) })
}

// withRankFilters returns the clauses of a read, plus the filters that its sort keys imply: bm25
// keeps only rows in which a token occurs. If the read has an rrf, it adds no filters, because an
// rrf must rank all rows before any is dropped.
func withRankFilters(r *plan.Read) []plan.Clause {
	clauses := r.Match
	if fuses(r) {
		return clauses
	}
	for _, o := range r.Order {
		if e, ok := o.Expr.(plan.BM25); ok {
			clauses = append(slices.Clip(clauses), plan.Filter{Cond: plan.TextMatch{Kind: plan.Search, Prop: e.Prop, Query: e.Query}})
		}
	}
	return clauses
}

// dropping records the scores that a row must have: each distance or fusion that is a
// column or a sort key, and, if the read has an rrf, each relevance that is a sort key.
func (b *binder) dropping() {
	note := func(ex *expr, ordering bool) {
		switch {
		case ex == nil:
		case ex.kind == exprNearest, ex.kind == exprFused, ex.kind == exprBM25 && ordering && len(b.fusions) > 0:
			b.drops = append(b.drops, ex)
		}
	}
	for i := range b.columns {
		note(b.columns[i].ex, false)
	}
	for i := range b.order {
		note(b.order[i].ex, true)
	}
	if len(b.fusions) > 0 {
		for _, f := range b.fusions {
			b.keepVar(f.of[0].v)
			b.keepVar(f.of[1].v)
		}
		for _, v := range b.read.Ties {
			b.keepVar(v)
		}
		b.keepVar(b.rowVar())
	}
}

// rowVar returns an additional variable, after those of the plan. It holds the row's number
// among the rows to be fused.
func (q *query) rowVar() plan.VarID { return plan.VarID(len(q.types)) }
