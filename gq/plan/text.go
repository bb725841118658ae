package plan

import (
	"fmt"
	"strings"
)

// Speller formats parts of a query as [Format] does.
type Speller struct{ p *printer }

// SpellerOf returns the Speller of a query.
func SpellerOf(q *Query) Speller {
	p := &printer{q: q}
	p.names()
	return Speller{p}
}

// Var returns the name of a variable, including the dollar sign.
func (s Speller) Var(v VarID) string { return s.p.vars[v] }

// Expr formats an expression.
func (s Speller) Expr(e Expr) string { return s.p.expr(e) }

// Plain formats an expression. It writes numbers without their kinds, as a query does.
func (s Speller) Plain(e Expr) string {
	p := *s.p
	p.plain = true
	return p.expr(e)
}

// Valid formats when the entities of a read are valid.
func (s Speller) Valid(v *Valid) string { return s.p.valid(v) }

// Cond formats a condition.
func (s Speller) Cond(c Cond) string { return s.p.cond(c) }

// Preds formats the predicates of an update or a delete.
func (s Speller) Preds(list []Pred) string { return s.p.preds(list) }

// Traverse formats a traversal from its source to its target.
func (s Speller) Traverse(t Traverse) string {
	edge := strings.Join(t.Edges(), "|")
	if t.EdgeVar != NoVar {
		edge = s.p.vars[t.EdgeVar] + ":" + edge
	}
	if t.Walk {
		edge += fmt.Sprintf("{%d,%d}", t.Min, t.Max)
	}
	arrow := "->"
	if t.Undirected {
		arrow = "-"
	}
	return fmt.Sprintf("%s -[%s]%s %s", s.p.vars[t.From], edge, arrow, s.p.vars[t.To])
}
