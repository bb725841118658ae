package lint

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// The rules about subqueries, and about counts that a subquery would make right.

// blockWithoutLimit reports each subquery among the columns and the sort keys of a read without a limit, and among the
// sort keys of a match block without one.
func blockWithoutLimit(p *queryPass) {
	for _, m := range p.matches() {
		if m.read.Limit != plan.NoLimit || singleRow(p.in.Meter, p.in.Schema, m.read, m.inner) {
			continue
		}
		help, holder := "add a limit at the end of the query, such as limit 100", p.Plan.Name
		if m.block {
			help, holder = "add a limit before the statements, such as limit 100", "the match block"
		}
		operands := m.returns
		for _, o := range m.order {
			operands = append(operands, o.Expr)
		}
		for _, o := range operands {
			syntax.Blocks(o, func(o syntax.Operand) {
				p.in.Meter.Step(1)
				if s, ok := o.(*syntax.Subquery); ok {
					p.report(syntax.SpanOf(s.Keyword), help, nil, "the %s block runs for every row, and %s has no limit", s.Keyword.Value, holder)
				}
			})
		}
	}
}

// matched is the match of a read, or of a block of a mutation, in both forms.
type matched struct {
	read    *plan.Read
	inner   func(plan.VarID) bool // reports whether a variable is bound inside a block
	block   bool                  // it is a block of a mutation
	clauses []syntax.Clause
	returns []syntax.Operand // the columns; nil for a block
	order   []*syntax.Ordering
}

// matches returns the match of a read, or those of the match blocks of a mutation.
func (p *queryPass) matches() []matched {
	if r, ok := p.Syntax.Body.(*syntax.Read); ok {
		m := matched{read: p.Plan.Read, inner: p.inner, clauses: r.Match, order: r.Order}
		for _, col := range r.Returns {
			m.returns = append(m.returns, col.Expr)
		}
		return []matched{m}
	}
	var list []matched
	block := -1
	for _, w := range p.written() {
		each, ok := w.st.(plan.ForEach)
		if !ok {
			continue
		}
		block++
		if tree, ok := w.tree.(*syntax.MatchBlock); ok {
			vars := p.Info.Blocks[block].Vars
			list = append(list, matched{read: each.Read, inner: func(v plan.VarID) bool { return vars[v].Inner }, block: true, clauses: tree.Match, order: tree.Order})
		}
	}
	return list
}

// multipliedCount reports each count, sum, avg or collect over rows that two unrelated sets of nodes multiply:
// each match of one set is counted once for each match of the other.
func multipliedCount(p *queryPass) {
	r := p.Plan.Read
	if r == nil || !r.Grouped {
		return
	}
	sets := p.fanOuts()
	if len(sets) < 2 {
		return
	}
	for _, call := range p.aggregates() {
		p.in.Meter.Step(1)
		a := call.agg
		if a.Distinct || a.Func == plan.Min || a.Func == plan.Max {
			continue
		}
		own, others := "", ""
		for _, set := range sets {
			var used []plan.VarID
			exprVar(a.Arg, func(v plan.VarID) { used = append(used, v) })
			if slices.ContainsFunc(used, func(v plan.VarID) bool { return slices.Contains(set, v) }) {
				own = p.varName(set[0])
			} else if others == "" {
				others = p.varName(set[0])
			}
		}
		if own == "" || others == "" {
			continue
		}
		help := "write " + a.Func.String() + " { … } with the clauses of " + own + " in the block"
		if !a.Func.Row().Block {
			help = "put the clauses of " + others + " into a block of their own, such as count { … }"
		}
		p.report(call.tree.Span(), help, nil,
			"%s takes each match of %s once for each match of %s, because nothing but the grouping keys connects them", a.Func, own, others)
	}
}

// aggregate is an aggregate in both forms.
type aggregate struct {
	agg  plan.Agg
	tree *syntax.Call
}

// aggregates lists the aggregates that the columns and the sort keys of a read contain, also within expressions. An
// aggregate that an expression uses by the name of its column is listed only once, where the column computes it.
func (p *queryPass) aggregates() (list []aggregate) {
	add := func(e plan.Expr, o syntax.Operand) {
		var aggs []plan.Agg
		plan.WalkExpr(e, func(e plan.Expr) {
			p.in.Meter.Step(1)
			if a, ok := e.(plan.Agg); ok {
				aggs = append(aggs, a)
			}
		})
		var find func(o syntax.Operand)
		find = func(o syntax.Operand) {
			p.in.Meter.Step(1)
			if c, ok := o.(*syntax.Call); ok {
				if i := slices.IndexFunc(aggs, func(a plan.Agg) bool { return p.isCallOf(c, a) }); i >= 0 {
					list = append(list, aggregate{aggs[i], c})
					aggs = slices.Delete(aggs, i, i+1)
					return
				}
			}
			for _, part := range syntax.Parts(o) {
				find(part)
			}
		}
		if len(aggs) > 0 {
			find(o)
		}
	}
	read := p.Syntax.Body.(*syntax.Read)
	for i, c := range p.Plan.Read.Columns[:min(len(read.Returns), len(p.Plan.Read.Columns))] {
		add(c.Expr, read.Returns[i].Expr)
	}
	for i, o := range p.Plan.Read.Order[:min(len(read.Order), len(p.Plan.Read.Order))] {
		add(o.Expr, read.Order[i].Expr)
	}
	return list
}

// isCallOf reports whether a call has the function and the variables of an aggregate.
func (p *queryPass) isCallOf(c *syntax.Call, a plan.Agg) bool {
	if c.Name.Value != a.Func.String() || (c.Distinct != nil) != a.Distinct {
		return false
	}
	var planned, written []string
	exprVar(a.Arg, func(v plan.VarID) { planned = append(planned, "$"+p.Plan.Read.Vars[v].Name) })
	var find func(o syntax.Operand)
	find = func(o syntax.Operand) {
		p.in.Meter.Step(1)
		switch o := o.(type) {
		case *syntax.VarRef:
			written = append(written, o.Tokens[0].Value)
		case *syntax.PropRef:
			written = append(written, o.Var.Value)
		case *syntax.OriginRef:
			written = append(written, o.Var.Value)
		default: // the other operands name no variable
		}
		for _, part := range syntax.Parts(o) {
			find(part)
		}
	}
	find(c)
	return !slices.ContainsFunc(planned, func(name string) bool { return !slices.Contains(written, name) })
}

// fanOuts lists the sets of node variables that can have several matches in one group. Traversals
// connect the variables of a set. Such a connection does not lead through a grouping key, nor
// through a node that the other variables determine.
func (p *queryPass) fanOuts() [][]plan.VarID {
	r := p.Plan.Read
	fixed := atMostOne(p.in.Meter, p.in.Schema, r, p.inner)
	for _, c := range r.Columns {
		if !plan.HasAggregate(c.Expr) {
			exprVar(c.Expr, func(v plan.VarID) { fixed[v] = true })
		}
	}
	parent := make([]plan.VarID, len(r.Vars))
	for i := range parent {
		parent[i] = plan.VarID(i)
	}
	find := func(v plan.VarID) plan.VarID {
		for parent[v] != v {
			v = parent[v]
		}
		return v
	}
	join := func(c plan.Clause) {
		p.in.Meter.Step(1)
		var vars []plan.VarID
		varsOf(c, func(v plan.VarID) {
			if !fixed[v] {
				vars = append(vars, v)
			}
		})
		for _, v := range vars[min(1, len(vars)):] {
			parent[find(v)] = find(vars[0])
		}
	}
	reached := map[plan.VarID]bool{} // variables at the ends of traversals
	each := func(clauses []plan.Clause) {
		for _, c := range clauses {
			if t, ok := c.(plan.Traverse); ok {
				reached[t.From], reached[t.To] = true, true
			}
			if _, ok := c.(plan.Optional); !ok {
				join(c)
			}
		}
	}
	each(r.Match)
	for _, c := range r.Match {
		if o, ok := c.(plan.Optional); ok {
			each(o.Match)
		}
	}
	sets := map[plan.VarID][]plan.VarID{}
	for i, v := range r.Vars {
		if id := plan.VarID(i); v.Entity.IsNode() && !fixed[id] && !p.inner(id) && reached[id] {
			root := find(id)
			sets[root] = append(sets[root], id)
		}
	}
	var list [][]plan.VarID
	for i := range r.Vars {
		if set := sets[plan.VarID(i)]; set != nil {
			list = append(list, set)
		}
	}
	return list
}
