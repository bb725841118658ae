package ir

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// ranking holds the scores of a program.
type ranking struct {
	Relevances []*relevance // the calls of `bm25`
	Distances  []*Distance  // the calls of `nearest`
	Fusions    []*Fusion    // the calls of `rrf`
	Drops      []*Expr      // scores that a row must have; rows without them are dropped
}

// relevance is a bound call of `bm25`.
type relevance struct {
	Var   plan.VarID // variable of the ranked entity
	Prop  int        // position of the searched property in the type
	Query *Expr      // the search text
}

// Distance is a bound call of `nearest`.
type Distance struct {
	Var     plan.VarID // variable of the ranked entity
	Prop    int        // position of the vector property in the type
	Operand *Expr      // the vector to compare with
	Slot    int        // the vector for the property's values
}

// Fusion is a bound call of `rrf`.
type Fusion struct {
	Of [2]*Expr // the two rankings
	K  *Expr    // nil for the default
}

// DefaultK is the constant of rank fusion when the query gives none (Cormack, Clarke and
// Büttcher, Reciprocal Rank Fusion, 2009).
const DefaultK = 60

// score binds a score.
func (b *binder) score(e plan.Expr, out *Expr) (err error) {
	out.Type = value.Of(value.F64)
	switch e := e.(type) {
	case plan.BM25:
		r := &relevance{Var: e.Prop.Var}
		if r.Prop, err = b.prop(e.Prop); err != nil {
			return err
		}
		if r.Query, err = b.expr(e.Query); err != nil {
			return err
		}
		if t := b.Types[r.Var].Props[r.Prop].Type; t.Kind != value.String || t.List {
			return Mismatch("bm25 cannot rank a property of type %s", t)
		}
		if !isText(r.Query) {
			return Mismatch("bm25 cannot search for a value of type %s", r.Query.Type)
		}
		if r.Query.Kind != ExprConst {
			return &engine.Unsupported{Construct: "bm25 with a search text that differs from row to row"}
		}
		out.Kind, out.Var, out.Score = ExprBM25, r.Var, len(b.Relevances)
		b.Relevances = append(b.Relevances, r)
	case plan.Nearest:
		d := &Distance{Var: e.Prop.Var, Slot: b.Vecs}
		b.Vecs++
		if d.Prop, err = b.prop(e.Prop); err != nil {
			return err
		}
		if d.Operand, err = b.expr(e.Vector); err != nil {
			return err
		}
		if t := b.Types[d.Var].Props[d.Prop].Type; t.Kind != value.Vector {
			return Mismatch("nearest cannot rank a property of type %s", t)
		}
		if d.Operand.Kind != ExprConst {
			return &engine.Unsupported{Construct: "nearest with a vector that differs from row to row"}
		}
		out.Kind, out.Var, out.Score = ExprNearest, d.Var, len(b.Distances)
		b.Distances = append(b.Distances, d)
	case plan.RRF:
		if !b.ranks {
			return &engine.Unsupported{Construct: "rrf in a condition"}
		}
		f := &Fusion{}
		for i, part := range []plan.Expr{e.First, e.Second} {
			if f.Of[i], err = b.expr(part); err != nil {
				return err
			}
			if k := f.Of[i].Kind; k != ExprBM25 && k != ExprNearest {
				return Mismatch("an argument of rrf is not a ranking")
			}
		}
		if e.K != nil {
			if f.K, err = b.expr(e.K); err != nil {
				return err
			}
			if f.K.Kind != ExprConst {
				return Mismatch("the k of rrf must not differ from row to row")
			}
		}
		out.Kind, out.Score = ExprFused, len(b.Fusions)
		b.Fusions = append(b.Fusions, f)
	}
	return nil
}

// Fuses reports whether a read contains a call of `rrf`.
func Fuses(r *plan.Read) bool {
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
	if Fuses(r) {
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
	note := func(ex *Expr, ordering bool) {
		switch {
		case ex == nil:
		case ex.Kind == ExprNearest, ex.Kind == ExprFused, ex.Kind == ExprBM25 && ordering && len(b.Fusions) > 0:
			b.Drops = append(b.Drops, ex)
		}
	}
	for i := range b.Columns {
		note(b.Columns[i].Value, false)
	}
	for i := range b.Order {
		note(b.Order[i].Expr, true)
	}
	if len(b.Fusions) > 0 {
		for _, f := range b.Fusions {
			b.keepVar(f.Of[0].Var)
			b.keepVar(f.Of[1].Var)
		}
		for _, v := range b.Read.Ties {
			b.keepVar(v)
		}
		b.keepVar(b.RowVar())
	}
}
