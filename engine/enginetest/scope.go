package enginetest

import (
	"reflect"
	"slices"

	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// scoped reports whether every variable that a read refers to is bound, and whether the language
// allows aggregates where the read has them. Shrinking can break both.
func scoped(r *plan.Read) bool {
	bound := binders(r.Match)
	ok := func(e plan.Expr) bool {
		return !slices.ContainsFunc(variables(e), func(v plan.VarID) bool { return !slices.Contains(bound, v) })
	}
	for _, c := range r.Columns {
		if !ok(c.Expr) {
			return false
		}
	}
	grouped := r.Grouped
	for _, c := range r.Columns {
		if plan.HasAggregate(c.Expr) && !inGroups(r, c.Expr) {
			return false
		}
	}
	if !scopedHaving(r, r.Having, func(e plan.Expr) bool { return ok(e) && (!grouped || inGroups(r, e)) }) {
		return false
	}
	for _, o := range r.Order {
		if !ok(o.Expr) || plan.HasAggregate(o.Expr) && !grouped || grouped && !inGroups(r, o.Expr) {
			return false
		}
	}
	return scopedClauses(r.Match, nil) && optionalsBound(r)
}

// optionalsBound reports whether `optional` blocks bind the optional variables of a read and no other clause
// does, and whether each block uses a variable that is bound before the block.
func optionalsBound(r *plan.Read) bool {
	isOptional := func(c plan.Clause) bool { _, ok := c.(plan.Optional); return ok }
	required := binders(slices.DeleteFunc(slices.Clone(r.Match), isOptional))
	nullable := func(v plan.VarID) bool { return v != plan.NoVar && r.Vars[v].Optional }
	if slices.ContainsFunc(required, nullable) {
		return false
	}
	bound := required
	for _, c := range r.Match {
		o, ok := c.(plan.Optional)
		if !ok {
			continue
		}
		if !scopedClauses(o.Match, bound) || !correlated(o.Match, bound) {
			return false
		}
		for _, v := range binders(o.Match) {
			if v != plan.NoVar && !nullable(v) && !slices.Contains(required, v) {
				return false
			}
			bound = append(bound, v)
		}
	}
	return true
}

// scopedHaving reports whether the conditions of `having` use only columns of the read, aggregates and constants, as the
// function `ok` demands.
func scopedHaving(r *plan.Read, list []plan.Clause, ok func(plan.Expr) bool) bool {
	for _, c := range list {
		if inner := plan.Block(c); inner != nil && !scopedHaving(r, inner, ok) {
			return false
		}
		f, isFilter := c.(plan.Filter)
		if isFilter && slices.ContainsFunc(plan.Operands(plan.Test(f)), func(e plan.Expr) bool {
			return !ok(e) || plan.HasAggregate(e) && !slices.ContainsFunc(r.Columns, func(c plan.Column) bool { return plan.HasAggregate(c.Expr) })
		}) {
			return false
		}
	}
	return true
}

// inGroups reports whether an expression has one value in each group of a read: it holds only
// aggregates, constants and columns by which the read groups.
func inGroups(r *plan.Read, e plan.Expr) bool {
	switch e.(type) {
	case plan.Agg, plan.Lit, plan.ParamRef, plan.Now:
		return true
	}
	if _, outer, ok := plan.Subquery(e); ok && len(outer) == 0 {
		return true
	}
	if slices.ContainsFunc(r.Columns, func(c plan.Column) bool { return !plan.HasAggregate(c.Expr) && reflect.DeepEqual(c.Expr, e) }) {
		return true
	}
	if id, ok := e.(plan.ID); ok && inGroups(r, plan.Whole(id)) {
		return true
	}
	parts := plan.Operands(e)
	return len(parts) > 0 && !slices.ContainsFunc(parts, func(p plan.Expr) bool { return !inGroups(r, p) })
}

// binders returns the variables that the bindings and traversals of a block bind.
func binders(clauses []plan.Clause) []plan.VarID {
	var vars []plan.VarID
	for _, c := range clauses {
		switch c := c.(type) {
		case plan.Bind:
			vars = append(vars, c.Var)
		case plan.Traverse:
			vars = append(vars, c.From, c.To, c.EdgeVar)
		case plan.Optional:
			vars = append(vars, binders(c.Match)...)
		case plan.Filter, plan.Not, plan.Exists, plan.Any, plan.All:
		}
	}
	return vars
}

// scopedClauses reports whether the clauses of a shrunken plan are valid. They may use only
// variables that they bind themselves or that `outer` lists, and no block may be empty or unrelated
// to the variables around it.
func scopedClauses(clauses []plan.Clause, outer []plan.VarID) bool {
	bound := append(slices.Clone(outer), binders(clauses)...)
	for _, c := range clauses {
		switch c := c.(type) {
		case plan.Filter:
			if slices.ContainsFunc(condVariables(c.Cond), func(v plan.VarID) bool { return !slices.Contains(bound, v) }) {
				return false
			}
		case plan.Not, plan.Exists:
			if match := plan.Block(c); len(match) == 0 || !scopedClauses(match, bound) || !correlated(match, bound) {
				return false
			}
		case plan.Optional: // see optionalsBound
			if len(c.Match) == 0 {
				return false
			}
		case plan.Any, plan.All:
			if conds := plan.Block(c); len(conds) == 0 || !scopedClauses(conds, bound) {
				return false
			}
		case plan.Bind, plan.Traverse:
		}
	}
	return true
}

// correlated reports whether a block refers to an outer variable.
func correlated(clauses []plan.Clause, outer []plan.VarID) bool {
	about := func(v plan.VarID) bool { return v != plan.NoVar && slices.Contains(outer, v) }
	return slices.ContainsFunc(clauses, func(c plan.Clause) bool {
		switch c := c.(type) {
		case plan.Bind:
			return about(c.Var)
		case plan.Traverse:
			return about(c.From) || about(c.To) || about(c.EdgeVar)
		case plan.Filter:
			return slices.ContainsFunc(condVariables(c.Cond), about)
		case plan.Not, plan.Exists, plan.Any, plan.All, plan.Optional:
			return correlated(plan.Block(c), outer)
		}
		return false
	})
}

// condVariables returns the variables that a condition refers to.
func condVariables(c plan.Cond) []plan.VarID {
	var vars []plan.VarID
	for _, e := range plan.CondOperands(c) {
		vars = append(vars, variables(e)...)
	}
	return vars
}

// variables returns the variables outside its blocks that an expression refers to.
func variables(e plan.Expr) []plan.VarID {
	if v := variable(e); v != plan.NoVar {
		return []plan.VarID{v}
	}
	switch e := e.(type) {
	case plan.Agg:
		return variables(e.Arg)
	case plan.RRF:
		return append(variables(e.First), variables(e.Second)...)
	case plan.Holds:
		return e.Outer
	case plan.BlockAgg, plan.BlockRows:
		_, outer, _ := plan.Subquery(e)
		return outer
	case plan.WalkPart:
		return []plan.VarID{e.Var, e.From, e.To}
	}
	var vars []plan.VarID
	for _, o := range plan.Operands(e) {
		vars = append(vars, variables(o)...)
	}
	return vars
}

// variable returns the variable that a simple expression refers to, or NoVar.
func variable(e plan.Expr) plan.VarID {
	switch e := e.(type) {
	case plan.Prop:
		return e.Var
	case plan.ID:
		return e.Var
	case plan.Endpoint:
		return e.Var
	case plan.EndNode:
		return e.Var
	case plan.Origin:
		return e.Var
	case plan.Whole:
		return e.Var
	case plan.Agg:
		return variable(e.Arg)
	case plan.Matched:
		return e.Match.Prop.Var
	case plan.BM25:
		return e.Prop.Var
	case plan.Nearest:
		return e.Prop.Var
	}
	return plan.NoVar
}

// dropUnused removes the variables that a read does not refer to, and renumbers the others.
func dropUnused(r *plan.Read) {
	var used []plan.VarID
	var mark func(clauses []plan.Clause)
	expr := func(e plan.Expr) {
		plan.WalkExpr(e, func(e plan.Expr) {
			if h, ok := e.(plan.Holds); ok {
				mark([]plan.Clause{h.Block})
			}
			if match, _, ok := plan.Subquery(e); ok {
				mark(match)
			}
		})
	}
	mark = func(clauses []plan.Clause) {
		used = append(used, binders(clauses)...)
		for _, c := range clauses {
			mark(plan.Block(c))
		}
	}
	mark(r.Match)
	plan.WalkClauses(r.Match, expr)
	for _, c := range r.Columns {
		expr(c.Expr)
	}
	for _, o := range r.Order {
		expr(o.Expr)
	}
	fresh := make(renaming, len(r.Vars))
	var vars []plan.Var
	for i, v := range r.Vars {
		fresh[i] = plan.NoVar
		if slices.Contains(used, plan.VarID(i)) {
			fresh[i] = plan.VarID(len(vars))
			vars = append(vars, v)
		}
	}
	r.Vars = vars
	r.Match = fresh.clauses(r.Match)
	r.Columns = slices.Clone(r.Columns)
	for i := range r.Columns {
		r.Columns[i].Expr = fresh.expr(r.Columns[i].Expr)
	}
	r.Having = fresh.clauses(r.Having)
	r.Order = slices.Clone(r.Order)
	for i := range r.Order {
		r.Order[i].Expr = fresh.expr(r.Order[i].Expr)
	}
}

// renaming maps each variable to its new number.
type renaming []plan.VarID

// of returns the variable that replaces v.
func (f renaming) of(v plan.VarID) plan.VarID {
	if v == plan.NoVar {
		return v
	}
	return f[v]
}

// clauses returns the clauses with their variables replaced.
func (f renaming) clauses(clauses []plan.Clause) []plan.Clause {
	out := make([]plan.Clause, len(clauses))
	for i, c := range clauses {
		switch c := c.(type) {
		case plan.Bind:
			out[i] = plan.Bind{Var: f.of(c.Var)}
		case plan.Traverse:
			c.From, c.To, c.EdgeVar = f.of(c.From), f.of(c.To), f.of(c.EdgeVar)
			out[i] = c
		case plan.Filter:
			out[i] = plan.Filter{Cond: f.cond(c.Cond)}
		case plan.Not, plan.Exists, plan.Any, plan.All, plan.Optional:
			out[i] = withBlock(c, f.clauses(plan.Block(c)))
		}
	}
	return out
}

// withBlock returns a clause that contains the given clauses instead of its own.
func withBlock(c plan.Clause, clauses []plan.Clause) plan.Clause {
	switch c.(type) {
	case plan.Not:
		return plan.Not{Match: clauses}
	case plan.Exists:
		return plan.Exists{Match: clauses}
	case plan.Any:
		return plan.Any{Conds: clauses}
	case plan.All:
		return plan.All{Conds: clauses}
	case plan.Optional:
		return plan.Optional{Match: clauses}
	case plan.Bind, plan.Traverse, plan.Filter:
	}
	return c
}

// cond returns the condition with its variables replaced.
func (f renaming) cond(c plan.Cond) plan.Cond {
	switch c := c.(type) {
	case plan.Compare:
		c.Left, c.Right = f.expr(c.Left), f.expr(c.Right)
		return c
	case plan.TextMatch:
		return f.match(c)
	case plan.NullTest:
		c.Expr = f.expr(c.Expr)
		return c
	}
	return c
}

// match returns the text match with its variable replaced.
func (f renaming) match(m plan.TextMatch) plan.TextMatch {
	m.Prop.Var = f.of(m.Prop.Var)
	return m
}

// list returns the variables that replace the variables in a list.
func (f renaming) list(vars []plan.VarID) []plan.VarID {
	out := make([]plan.VarID, len(vars))
	for i, v := range vars {
		out[i] = f.of(v)
	}
	return out
}

func (f renaming) expr(e plan.Expr) plan.Expr {
	switch e := e.(type) {
	case plan.Prop:
		e.Var = f.of(e.Var)
		return e
	case plan.ID:
		e.Var = f.of(e.Var)
		return e
	case plan.Endpoint:
		e.Var = f.of(e.Var)
		return e
	case plan.EndNode:
		e.Var = f.of(e.Var)
		return e
	case plan.Origin:
		e.Var = f.of(e.Var)
		return e
	case plan.WalkPart:
		e.Var, e.From, e.To = f.of(e.Var), f.of(e.From), f.of(e.To)
		return e
	case plan.Whole:
		e.Var = f.of(e.Var)
		return e
	case plan.Agg:
		e.Arg = f.expr(e.Arg)
		return e
	case plan.Matched:
		e.Match = f.match(e.Match)
		return e
	case plan.BM25:
		e.Prop.Var = f.of(e.Prop.Var)
		return e
	case plan.Nearest:
		e.Prop.Var = f.of(e.Prop.Var)
		return e
	case plan.RRF:
		e.First, e.Second = f.expr(e.First), f.expr(e.Second)
		return e
	case plan.Apply:
		e.Args = slices.Clone(e.Args)
		for i := range e.Args {
			e.Args[i] = f.expr(e.Args[i])
		}
		return e
	case plan.Test:
		return plan.Test{Cond: f.cond(e.Cond)}
	case plan.Holds:
		return plan.Holds{Block: f.clauses([]plan.Clause{e.Block})[0], Outer: f.list(e.Outer)}
	case plan.BlockAgg:
		e.Match, e.Outer = f.clauses(e.Match), f.list(e.Outer)
		if e.Arg != nil {
			e.Arg = f.expr(e.Arg)
		}
		return e
	case plan.BlockRows:
		e.Match, e.Outer, e.Ties = f.clauses(e.Match), f.list(e.Outer), f.list(e.Ties)
		e.Columns, e.Order = slices.Clone(e.Columns), slices.Clone(e.Order)
		for i := range e.Columns {
			e.Columns[i].Expr = f.expr(e.Columns[i].Expr)
		}
		for i := range e.Order {
			e.Order[i].Expr = f.expr(e.Order[i].Expr)
		}
		return e
	case plan.Member:
		e.Of = f.expr(e.Of)
		return e
	}
	return e
}
