package enginetest

import (
	"fmt"
	"slices"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// subquery draws the clauses of a subquery. It then calls `within`, which draws the rest of the
// subquery. During this call, r.outer holds the variables that the clauses see and bind; `own`
// lists the variables that the clauses bind. The result lists the variables from outside that the
// subquery uses.
func (r *readDraw) subquery(within func(match []plan.Clause, own []plan.VarID) []plan.Expr) []plan.VarID {
	outer, depth := r.outer, r.nesting
	defer func() { r.outer, r.nesting = outer, depth }()
	r.nesting++
	scope := slices.Clone(outer)
	var clauses []plan.Clause
	if r.percent(15) {
		scope = nil // the subquery uses no variable from outside
		if typ := pick(r.drawer, r.schemaNodes()).Name; r.affordable(plan.Node, typ) {
			v := r.fresh(typ)
			scope = append(scope, v)
			clauses = append(clauses, plan.Bind{Var: v})
		} else {
			scope = slices.Clone(outer)
		}
	}
	for range r.between(1, 2) {
		clauses = append(clauses, r.clause(&scope, 1)...)
	}
	required := len(scope)
	r.outer = scope
	if r.percent(25) {
		if block, optional := r.optionalBlock(); len(optional) > 0 {
			clauses = append(clauses, block)
		}
	}
	if len(clauses) == 0 || r.percent(35) {
		clauses = append(clauses, r.filter(r.outer[:max(required, 1)]))
	}
	if r.percent(15) {
		clauses = append(clauses, r.condition(1))
	}
	if r.nesting < 2 && r.percent(10) {
		clauses = append(clauses, r.subqueryFilter())
	}
	r.Shuffle(len(clauses), func(i, j int) { clauses[i], clauses[j] = clauses[j], clauses[i] })
	own := slices.DeleteFunc(slices.Clone(r.outer), func(v plan.VarID) bool { return slices.Contains(outer, v) })
	results := within(clauses, own)
	used := mentioned(clauses)
	for _, e := range results {
		used = append(used, variables(e)...)
	}
	slices.Sort(used)
	return slices.DeleteFunc(slices.Compact(used), func(v plan.VarID) bool { return !slices.Contains(outer, v) })
}

// optionalBlock draws an `optional` block, and adds the variables that it binds to r.outer. The block is not
// usable if it binds none.
func (r *readDraw) optionalBlock() (plan.Clause, []plan.VarID) {
	scope := slices.Clone(r.outer)
	clauses := r.clause(&scope, 1)
	bound := scope[len(r.outer):]
	for _, v := range bound {
		r.q.Read.Vars[v].Optional = true
	}
	r.outer = scope
	return plan.Optional{Match: clauses}, bound
}

// blockAgg draws an aggregate over the matches of a block.
func (r *readDraw) blockAgg() plan.BlockAgg {
	var e plan.BlockAgg
	e.Outer = r.subquery(func(match []plan.Clause, own []plan.VarID) []plan.Expr {
		e.Match = match
		if r.percent(35) || len(own) == 0 {
			return nil
		}
		a, ok := r.aggregate().(plan.Agg)
		if !ok || !a.Func.Row().Block {
			return nil
		}
		e.Func, e.Distinct, e.Arg = a.Func, a.Distinct, a.Arg
		return []plan.Expr{e.Arg}
	})
	return e
}

// blockRows draws a `first` or `collect` block.
func (r *readDraw) blockRows() plan.BlockRows {
	e := plan.BlockRows{First: r.percent(45), Limit: 1}
	if !e.First {
		e.Limit = int64(r.between(1, 4))
	}
	e.Outer = r.subquery(func(match []plan.Clause, own []plan.VarID) []plan.Expr {
		e.Match = match
		var results []plan.Expr
		for i := range r.between(1, 3) {
			c := r.columnOf(fmt.Sprintf("f%d", i), r.column())
			if r.nesting < 2 && r.percent(12) {
				c = r.columnOf(c.Name, r.blockRows())
			}
			e.Columns = append(e.Columns, c)
			results = append(results, c.Expr)
		}
		for range r.IntN(3) {
			o := plan.Order{Expr: r.sortable(), Desc: r.percent(50)}
			e.Order = append(e.Order, o)
			results = append(results, o.Expr)
		}
		e.Ties = tieOrder(r.q.Read, slices.DeleteFunc(own, func(v plan.VarID) bool { return r.q.Read.Vars[v].Entity == plan.Walk }))
		return results
	})
	return e
}

// member picks a `first` block among the columns, and draws a field of the block's record.
func (r *readDraw) member() (plan.Member, bool) {
	for _, i := range r.Perm(len(r.q.Read.Columns)) {
		rows, ok := r.q.Read.Columns[i].Expr.(plan.BlockRows)
		if !ok || !rows.First {
			continue
		}
		for _, c := range rows.Columns {
			if c.Fields == nil && comparable(c.Type) && r.percent(60) {
				return plan.Member{Of: rows, Name: c.Name, Type: c.Type}, true
			}
		}
	}
	return plan.Member{}, false
}

// subqueryFilter draws a condition on an aggregate over a block.
func (r *readDraw) subqueryFilter() plan.Clause {
	e := r.blockAgg()
	t := r.typeOf(e)
	if r.percent(15) {
		return plan.Filter{Cond: plan.NullTest{Expr: e, Not: r.percent(50)}}
	}
	if t.Kind == value.I64 && r.percent(80) {
		return where(e, r.op(), plan.Lit{Value: value.OfI64(int64(r.IntN(4)))})
	}
	t.Enum = nil
	return plan.Filter{Cond: r.compare(e, r.op(), t.Required(), r.scalar(t, false, false))}
}

// optionals draws up to three `optional` blocks. Each may use the variables of the blocks before it.
func (r *readDraw) optionals() []plan.Clause {
	var blocks []plan.Clause
	for range r.between(1, 3) {
		scope := append([]plan.VarID(nil), r.outer...)
		var clauses []plan.Clause
		for range r.between(1, 2) {
			clauses = append(clauses, r.clause(&scope, 1)...)
		}
		for _, v := range scope[len(r.outer):] {
			r.q.Read.Vars[v].Optional = true
		}
		r.outer = scope
		if len(clauses) == 0 || r.percent(35) {
			clauses = append(clauses, r.filter(r.outer))
		}
		if r.percent(15) {
			clauses = append(clauses, r.condition(1))
		}
		r.Shuffle(len(clauses), func(i, j int) { clauses[i], clauses[j] = clauses[j], clauses[i] })
		blocks = append(blocks, plan.Optional{Match: clauses})
	}
	return blocks
}

// inOrder puts the `optional` blocks among the clauses into the order of `blocks`.
func inOrder(clauses, blocks []plan.Clause) {
	for i, c := range clauses {
		if _, ok := c.(plan.Optional); ok {
			clauses[i], blocks = blocks[0], blocks[1:]
		}
	}
}
