package lint

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// The rules about subqueries, and about counts that a subquery would make right.

// blockWithoutLimit reports each subquery among the columns of a read without a limit.
func blockWithoutLimit(p *queryPass) {
	r := p.Plan.Read
	if r == nil || r.Limit != plan.NoLimit || p.oneRow() {
		return
	}
	for _, col := range p.Syntax.Body.(*syntax.Read).Returns {
		syntax.Blocks(col.Expr, func(o syntax.Operand) {
			p.in.Meter.Step(1)
			if s, ok := o.(*syntax.Subquery); ok {
				p.report(syntax.SpanOf(s.Keyword), "add a limit at the end of the query, such as limit 100", nil,
					"the %s block runs for every row, and %s has no limit", s.Keyword.Value, p.Plan.Name)
			}
		})
	}
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
	columns := p.Syntax.Body.(*syntax.Read).Returns
	for i, c := range r.Columns {
		p.in.Meter.Step(1)
		a, ok := c.Expr.(plan.Agg)
		if !ok || a.Distinct || a.Func == plan.Min || a.Func == plan.Max || i >= len(columns) {
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
		p.report(columns[i].Expr.Source().Span(), help, nil,
			"%s takes each match of %s once for each match of %s, because nothing but the grouping keys connects them", a.Func, own, others)
	}
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
