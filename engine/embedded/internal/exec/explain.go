package exec

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// explainer builds operators from the steps of a program.
type explainer struct {
	*Program
	plan.Speller
	*ir.Meter
	prof *profile // nil unless the program ran with a profile
}

// maxOperators is the maximum number of steps in an explained plan. Each operator may be
// the child of the previous one, so an indented tree of n operators may take n² bytes.
const maxOperators = 4096

// Explain returns the operators of the program. The root is the operator that yields the
// result. The error is a *engine.TooLarge, or the context's error soon after the context
// ends.
func (p *Program) Explain(ctx context.Context, q *plan.Query) (*engine.Operator, error) {
	return (&explainer{Program: p, Speller: p.speller(q), Meter: ir.NewMeter(ctx)}).explain(0)
}

// Explain returns the operators of the program with the rows and times of this run. Call it
// after the last batch; rows is the number of rows that the run returned. The errors are
// those of [Program.Explain].
func (r *Result) Explain(ctx context.Context, q *plan.Query, rows int64) (*engine.Operator, error) {
	x := &explainer{Program: r.prog, Speller: r.prog.speller(q), Meter: ir.NewMeter(ctx), prof: r.run.matcher.prof}
	return x.explain(rows)
}

// speller returns the Speller of a query that also spells the variables that the binder added.
func (p *Program) speller(q *plan.Query) plan.Speller {
	bound := *q
	bound.Read = p.Read
	return plan.SpellerOf(&bound)
}

// explain returns the operators of the program. The parameter `rows` is the number of rows that
// the run returned; 0 without a run.
func (x *explainer) explain(rows int64) (op *engine.Operator, err error) {
	defer ir.CatchEnd(&err)
	n := x.steps(x.Body)
	for _, t := range x.HeldTests {
		n += 1 + t.size()
		t.pipes(func(inner *Pipe) { n += x.steps(inner) })
	}
	for _, s := range x.Arranged {
		n += 1 + x.steps(s.Inner)
	}
	if n > maxOperators {
		return nil, &engine.TooLarge{Resource: "operators of the plan", Limit: maxOperators, Actual: int64(n), Hint: "explain a query with fewer variables and fewer blocks"}
	}
	return x.result(rows), nil
}

// steps returns the number of steps in a pipe, including those in its blocks.
func (x *explainer) steps(p *Pipe) int {
	n := len(p.Steps)
	for _, s := range p.Steps {
		x.Step(1)
		switch s := s.(type) {
		case *BlockFilter:
			n += s.Test.size()
			s.Test.pipes(func(inner *Pipe) { n += x.steps(inner) })
		case *NearStep:
			n += x.steps(s.Rows)
		case *OptionalStep:
			n += x.steps(s.Inner)
		case *Terms:
			for _, t := range s.Of {
				n += x.steps(t)
			}
		}
	}
	return n
}

// first describes the number of rows that the limit of the read keeps.
func (x *explainer) first() string {
	if x.Read.LimitBy != nil {
		return fmt.Sprintf("%s (at most %d)", x.Expr(*x.Read.LimitBy), x.Read.Limit)
	}
	return strconv.FormatInt(x.Read.Limit, 10)
}

// result returns the operators for the whole plan: the match, and the operators that
// process its rows.
func (x *explainer) result(rows int64) *engine.Operator {
	r := x.Read
	op, matched := x.pipe(x.Body, nil)
	est := matched
	if op != nil {
		est = op.Estimate
	}
	over := func(o *engine.Operator) *engine.Operator {
		if op != nil {
			o.Children = append(o.Children, op)
		}
		return o
	}
	if len(x.Fusions) > 0 {
		op = over(&engine.Operator{Name: "fuse", Detail: "rankings by their reciprocal ranks", Estimate: est})
		x.measure(op, x.sinkRows(), 0)
	}
	grouped := int64(0)
	if x.prof != nil {
		grouped = int64(x.prof.grouped)
	}
	if r.Grouped {
		var keys, aggs []string
		for _, c := range r.Columns {
			x.Step(1)
			if plan.HasAggregate(c.Expr) {
				aggs = append(aggs, x.Expr(c.Expr))
			} else {
				keys = append(keys, x.Expr(c.Expr))
			}
		}
		name, detail := "group", strings.Join(aggs, ", ")
		if len(aggs) == 0 {
			name, detail = "distinct", strings.Join(keys, ", ")
		} else if len(keys) > 0 {
			detail += " by " + strings.Join(keys, ", ")
		}
		if len(keys) > 0 {
			est = max(1, est*ir.GroupShare)
		} else {
			est = 1
		}
		if x.CountsOnly {
			detail += ", counting without making rows"
		}
		op = over(&engine.Operator{Name: name, Detail: detail, Estimate: est})
		x.measure(op, grouped, x.profTime(collecting))
	}
	if len(r.Having) > 0 {
		var conds []string
		for _, t := range x.HavingTests {
			conds = append(conds, x.having(t))
			est *= ir.OtherShare
		}
		op = over(&engine.Operator{Name: "having", Detail: strings.Join(conds, ", "), Estimate: est})
		if x.prof != nil {
			x.measure(op, x.prof.passed, 0)
		}
	}
	var by []string
	for _, o := range r.Order {
		x.Step(1)
		s := x.Expr(o.Expr)
		if o.Desc {
			s += " desc"
		}
		by = append(by, s)
	}
	if len(by) > 0 || r.Limit != plan.NoLimit || !r.Grouped && len(r.Ties) > 0 {
		detail := "by id"
		if r.Grouped {
			detail = "by group"
		}
		if len(by) > 0 {
			detail = "by " + strings.Join(by, ", ")
		}
		if r.Limit != plan.NoLimit {
			detail += ", first " + x.first()
			est = min(est, float64(r.Limit))
		}
		op = over(&engine.Operator{Name: "sort", Detail: detail, Estimate: est})
		x.measure(op, rows, x.profTime(sorting))
	}
	if r.Valid != nil {
		op = over(&engine.Operator{Name: "valid", Detail: x.Valid(r.Valid) + "; all operators below see only what is valid then", Estimate: est})
		x.measure(op, rows, 0)
	}
	var columns []string
	for _, c := range r.Columns {
		columns = append(columns, c.Name)
	}
	op = over(&engine.Operator{Name: "return", Detail: strings.Join(columns, ", "), Estimate: est})
	for i := range x.Columns {
		op.Children = append(op.Children, x.explainColumn(&x.Columns[i], est)...)
	}
	x.measure(op, rows, x.profTime(returning))
	return op
}

// pipe builds a chain of operators from a pipe's steps. Each operator is the parent of the operator
// before it. The operator of the first step is the parent of the parameter `first`. pipe returns
// the last operator, or nil if the chain is empty, and the estimated number of rows that the pipe
// yields.
func (x *explainer) pipe(p *Pipe, first *engine.Operator) (*engine.Operator, float64) {
	op, est := first, 1.0
	for i, s := range p.Steps {
		x.Step(1)
		if i < len(p.Estimates) {
			est = p.Estimates[i]
		}
		name, detail := s.describe(x)
		next := &engine.Operator{Name: name, Detail: detail, Estimate: est}
		if op != nil {
			next.Children = append(next.Children, op)
		}
		switch s := s.(type) {
		case *BlockFilter:
			next.Children = append(next.Children, x.conditions(s.Test, est)...)
		case *Filter:
			for _, c := range s.Conds {
				next.Children = append(next.Children, x.explainHoldings(c.Left, est)...)
				next.Children = append(next.Children, x.explainHoldings(c.Right, est)...)
			}
		case *NearStep:
			if inner, _ := x.pipe(s.Rows, nil); inner != nil {
				next.Children = append(next.Children, inner)
			}
		case *OptionalStep:
			if inner, _ := x.pipe(s.Inner, nil); inner != nil {
				next.Children = append(next.Children, inner)
			}
		case *Terms:
			for _, t := range s.Of {
				inner, _ := x.pipe(t, nil)
				next.Children = append(next.Children, inner)
			}
		}
		if x.prof != nil {
			x.measure(next, x.prof.of(p, i+1).rows, x.prof.of(p, i).time)
		}
		op = next
	}
	return op, est
}

// describe implements [Step].
func (l *Lookup) describe(x *explainer) (name, detail string) {
	t := x.Types[l.Var]
	detail = t.Name + " " + x.Var(l.Var)
	if l.ByID {
		detail += " by id = " + x.Expr(l.Exprs[0].Src)
	} else {
		for i, k := range t.Key {
			sep := " by key "
			if i > 0 {
				sep = ", "
			}
			detail += sep + t.Props[k].Name + " = " + x.Expr(l.Exprs[i].Src)
		}
	}
	if l.Edge != nil {
		detail += ": " + x.Traverse(l.Edge.Traverse)
	}
	return "lookup", detail
}

// describe implements [Step].
func (s *Probe) describe(x *explainer) (name, detail string) {
	t := x.Types[s.Var]
	var parts []string
	for i, k := range t.Tuples[s.Tuple] {
		parts = append(parts, t.Props[k].Name+" = "+x.Expr(s.Exprs[i].Src))
	}
	return "probe", t.Name + " " + x.Var(s.Var) + " by index " + strings.Join(parts, ", ")
}

// describe implements [Step].
func (s *Scan) describe(x *explainer) (name, detail string) {
	return "scan", x.Types[s.Var].Name + " " + x.Var(s.Var)
}

// describe implements [Step].
func (s *Sorted) describe(x *explainer) (name, detail string) {
	t := x.Types[s.Var]
	prop := x.Var(s.Var) + "." + t.Props[s.Prop].Name
	detail = t.Name + " " + x.Var(s.Var) + " by index " + t.Props[s.Prop].Name
	if s.Ordered {
		detail += " in order"
		if s.Desc {
			detail += ", from the end"
		}
	}
	var parts []string
	seen := map[string]bool{}
	for _, list := range [][]Bound{s.Lower, s.Upper} {
		for _, b := range list {
			x.Step(1)
			part := prop + " " + b.Op.String() + " " + x.Expr(b.ex.Src)
			if !seen[part] {
				seen[part] = true
				parts = append(parts, part)
			}
		}
	}
	if len(parts) > 0 {
		detail += ", " + strings.Join(parts, ", ")
	}
	return "range", detail
}

// describe implements [Step].
func (s *ColumnScan) describe(x *explainer) (name, detail string) {
	var parts []string
	for i := range s.Tests {
		x.Step(1)
		parts = append(parts, x.condition(s.Tests[i].cond))
	}
	return "scan", x.Types[s.Var].Name + " " + x.Var(s.Var) + " in column blocks, " + strings.Join(parts, ", ")
}

// describe implements [Step].
func (s *Degrees) describe(x *explainer) (name, detail string) {
	return "degrees", x.Traverse(s.Traverse) + " counted at " + x.Var(s.Var)
}

// describe implements [Step].
func (s *TextScan) describe(x *explainer) (name, detail string) {
	return "search", x.Types[s.Var].Name + " " + x.Var(s.Var) + " by text index " + x.Cond(x.Texts[s.Text].Src)
}

// describe implements [Step].
func (s *TopStep) describe(x *explainer) (name, detail string) {
	detail = fmt.Sprintf("%s %s, first %s by %s", x.Types[s.Var].Name, x.Var(s.Var), x.first(), x.Expr(s.Score.Src))
	if s.Score.Kind == ir.ExprNearest && x.IsApproximate(s.Score) {
		detail += x.approximately(s.Score)
	}
	return "top", detail
}

// describe implements [Step].
func (s *Expand) describe(x *explainer) (name, detail string) {
	return "expand", x.traversal(&s.Traversal)
}

// describe implements [Step].
func (s *Reach) describe(x *explainer) (name, detail string) {
	if s.Both {
		return "reaches", x.traversal(&s.Traversal)
	}
	return "walk", x.traversal(&s.Traversal)
}

// describe implements [Step].
func (s *Check) describe(x *explainer) (name, detail string) {
	if s.Not {
		return "not joined", x.Traverse(s.Traverse)
	}
	return "joined", x.Traverse(s.Traverse)
}

// traversal returns the text of a traversal and of the side from which it follows edges.
func (x *explainer) traversal(t *Traversal) string {
	side := " by source from "
	switch {
	case t.Undirected:
		side = " by source and target from "
	case t.Back:
		side = " by target from "
	}
	return x.Traverse(t.Traverse) + side + x.Var(t.Near)
}

// describe implements [Step].
func (s *Filter) describe(x *explainer) (name, detail string) {
	var parts []string
	for _, c := range s.Conds {
		x.Step(1)
		parts = append(parts, x.condition(c))
	}
	return "filter", strings.Join(parts, ", ")
}

// describe implements [Step].
func (s *IDFilter) describe(x *explainer) (name, detail string) {
	return "filter", x.condition(s.Cond) + " by key"
}

// condition returns the text of a condition.
func (x *explainer) condition(c *ir.Cond) string {
	if c.Text >= 0 {
		return x.Cond(x.Texts[c.Text].Src)
	}
	if c.Right == nil {
		return x.Cond(plan.NullTest{Expr: c.Left.Src, Not: c.NotNull})
	}
	return x.Cond(plan.Compare{Op: c.Op, Left: c.Left.Src, Right: c.Right.Src, Unless: c.Unless})
}
