package check

import (
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// maxEdits bounds the edit distance that a call of fuzzy may allow.
const maxEdits = 2

// textClause checks a condition that calls search, match_text or fuzzy and translates it to a
// condition of the plan.
func (c *checker) textClause(cl *syntax.TextClause, sc *scope) (plan.Cond, bool) {
	if cl.Op != nil {
		return c.filter(cl.Call, *cl.Op, cl.Right, cl.Optional, cl.Span(), sc)
	}
	return c.textMatch(cl.Call.(*syntax.Call), sc)
}

// textMatch checks a call of search, match_text or fuzzy and translates it to a condition of the
// plan.
func (c *checker) textMatch(o *syntax.Call, sc *scope) (plan.TextMatch, bool) {
	m := plan.TextMatch{}
	code, most := BadSearch, 2
	switch o.Name.Value {
	case "search":
		m.Kind = plan.Search
	case "match_text":
		m.Kind, code = plan.Phrase, BadRanking
	case "fuzzy":
		m.Kind, most = plan.Fuzzy, 3
	}
	if len(o.Args) < 2 || len(o.Args) > most {
		c.fault(code, o.Span(), "", "%s has %d arguments, want a property and a text", m.Kind, len(o.Args))
		return m, false
	}
	ok := c.document(o, &m.Prop, &m.Query, code, sc)
	if len(o.Args) == 3 {
		edits, okEdits := c.edits(o.Args[2], sc)
		m.MaxEdits, ok = edits, ok && okEdits
	}
	return m, ok
}

// document resolves the first two arguments of a text function: the property and the query text.
func (c *checker) document(o *syntax.Call, prop *plan.Prop, query *plan.Expr, code diag.Code, sc *scope) bool {
	ref, ok := o.Args[0].(*syntax.PropRef)
	if !ok {
		c.fault(code, o.Args[0].Source().Span(), "write $variable.property", "the first argument of %s must be a property", o.Name.Value)
		return false
	}
	t, ok := c.operand(ref, sc)
	if !ok {
		return false
	}
	if *prop, ok = t.expr.(plan.Prop); !ok || t.typ.Kind != value.String || t.typ.List {
		c.fault(code, ref.Span(), "", "the property of %s must be a String, found %s", o.Name.Value, t)
		return false
	}
	if !c.searchable(*prop, o.Name.Value, code, ref.Span()) {
		return false
	}
	*query, ok = c.text(o.Args[1], o.Name.Value, code, sc)
	return ok
}

// text resolves a query text, which must be a String literal or parameter.
func (c *checker) text(o syntax.Operand, fn string, code diag.Code, sc *scope) (plan.Expr, bool) {
	t, ok := c.operand(o, sc)
	if !ok {
		return nil, false
	}
	if constant(t) && t.typ.Kind == value.String && !t.typ.List {
		return t.expr, true
	}
	c.fault(code, o.Source().Span(), "", "the text of %s must be a String literal or parameter, found %s", fn, t)
	return nil, false
}

// constant reports whether the operand is a literal or a parameter.
func constant(t typed) bool {
	switch t.expr.(type) {
	case plan.Lit, plan.ParamRef:
		return true
	}
	return false
}

// edits checks the argument of fuzzy that gives the number of edits, and translates it to an
// expression of the plan.
func (c *checker) edits(o syntax.Operand, sc *scope) (plan.Expr, bool) {
	t, ok := c.operand(o, sc)
	if !ok {
		return nil, false
	}
	if lit, isLit := t.expr.(plan.Lit); isLit {
		ok = lit.Value.Kind() == value.I64 && !lit.Value.IsList() && lit.Value.Int() >= 0 && lit.Value.Int() <= maxEdits
	} else {
		ok = constant(t) && t.typ.Kind.IsInteger() && !t.typ.List
	}
	if !ok {
		c.fault(BadSearch, o.Source().Span(), "", "the number of edits of fuzzy must be an integer from 0 to %d", maxEdits)
	}
	return t.expr, ok
}

// bm25 checks a call of bm25 and translates it to an expression of the plan.
func (c *checker) bm25(o *syntax.Call, sc *scope) (plan.Expr, bool) {
	if len(o.Args) != 2 {
		c.fault(BadRanking, o.Span(), "", "bm25 has %d arguments, want a property and a text", len(o.Args))
		return nil, false
	}
	e := plan.BM25{}
	ok := c.document(o, &e.Prop, &e.Query, BadRanking, sc)
	return e, ok
}

// nearestCall checks a call of nearest and translates it to an expression of the plan.
func (c *checker) nearestCall(o *syntax.Call, sc *scope) (plan.Expr, bool) {
	if len(o.Args) != 2 {
		c.fault(BadOperand, o.Span(), "", "nearest has %d arguments, want a property and a vector", len(o.Args))
		return nil, false
	}
	ref, ok := o.Args[0].(*syntax.PropRef)
	if !ok {
		c.fault(BadOperand, o.Args[0].Source().Span(), "write $variable.property", "the first argument of nearest must be a property")
		return nil, false
	}
	t, ok := c.operand(ref, sc)
	if !ok {
		return nil, false
	}
	prop, ok := t.expr.(plan.Prop)
	if !ok || t.typ.Kind != value.Vector {
		c.fault(BadOperand, ref.Span(), "", "the property of nearest must be a Vector, found %s", t)
		return nil, false
	}
	if !c.searchable(prop, "nearest", BadOperand, ref.Span()) {
		return nil, false
	}
	at := o.Args[1].Source().Span()
	if lit, isLit := o.Args[1].(*syntax.Literal); isLit && lit.Kind == syntax.ListLiteral {
		v, err := convert(lit, t.typ)
		if err != nil {
			c.fault(BadOperand, at, "", "the vector of nearest is not valid: %v", err)
			return nil, false
		}
		return plan.Nearest{Prop: prop, Vector: plan.Lit{Value: v}}, true
	}
	v, ok := c.operand(o.Args[1], sc)
	if !ok {
		return nil, false
	}
	switch {
	case constant(v) && v.typ.Kind == value.String && !v.typ.List:
	case constant(v) && v.typ.Kind == value.Vector && v.typ.Dim == t.typ.Dim:
	default:
		c.fault(BadOperand, at, "", "the second argument of nearest must be a %s or a String to embed, found %s", withoutNull(t.typ), v)
		return nil, false
	}
	return plan.Nearest{Prop: prop, Vector: v.expr}, true
}

// rrf checks a call of rrf and translates it to an expression of the plan.
func (c *checker) rrf(o *syntax.Call, sc *scope) (plan.Expr, bool) {
	if !c.limit {
		c.fault(BadFusion, o.Span(), "add limit 10", "a query with rrf needs a limit")
	}
	if len(o.Args) < 2 || len(o.Args) > 3 {
		c.fault(BadFusion, o.Span(), "", "rrf has %d arguments, want two rankings and optionally k", len(o.Args))
		return nil, false
	}
	e := plan.RRF{}
	ok := true
	for i, dst := range []*plan.Expr{&e.First, &e.Second} {
		rank, okRank := c.rank(o.Args[i], sc)
		*dst, ok = rank, ok && okRank
	}
	if len(o.Args) < 3 {
		return e, ok
	}
	k, okK := c.operand(o.Args[2], sc)
	if !okK {
		return nil, false
	}
	if lit, isLit := k.expr.(plan.Lit); isLit {
		okK = lit.Value.Kind() == value.I64 && !lit.Value.IsList() && lit.Value.Int() > 0
	} else {
		okK = constant(k) && k.typ.Kind.IsInteger() && !k.typ.List
	}
	if !okK {
		c.fault(BadFusion, o.Args[2].Source().Span(), "", "the third argument of rrf, k, must be a positive integer")
	}
	e.K = k.expr
	return e, ok && okK
}

// rank checks a ranking that rrf fuses and translates it to an expression of the plan.
func (c *checker) rank(o syntax.Operand, sc *scope) (plan.Expr, bool) {
	if call, ok := o.(*syntax.Call); ok {
		switch call.Name.Value {
		case "nearest":
			return c.nearestCall(call, sc)
		case "bm25":
			return c.bm25(call, sc)
		}
	}
	c.fault(BadFusion, o.Source().Span(), "", "the first two arguments of rrf must be nearest or bm25")
	return nil, false
}
