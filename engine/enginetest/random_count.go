package enginetest

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// drawCount draws a read that counts the matches of a pattern of traversals, in all or by a value of one variable.
// Engines may count such a pattern without enumerating its matches.
func (d *drawer) drawCount() (*plan.Query, engine.Args) {
	r := &readDraw{drawer: d, readPlan: newRead(d.schema), product: 1}
	start := r.fresh(pick(d, d.schema.Nodes).Name)
	r.outer = []plan.VarID{start}
	clauses := []plan.Clause{plan.Bind{Var: start}}
	for range d.between(2, 5) {
		if t, ok := r.plainHop(&r.outer, 25); ok {
			clauses = append(clauses, t)
		}
	}
	nodes := slices.Clone(r.outer)
	for range d.IntN(3) {
		clauses = append(clauses, r.filter(nodes))
	}
	for _, a := range nodes {
		for _, b := range nodes {
			if a < b && r.q.Read.Vars[a].Type == r.q.Read.Vars[b].Type && d.percent(25) {
				clauses = append(clauses, where(id(a), plan.Ne, id(b)))
			}
		}
	}
	if d.percent(30) {
		scope := slices.Clone(nodes)
		if t, ok := r.plainHop(&scope, 100); ok && len(scope) == len(nodes) {
			clauses = append(clauses, plan.Not{Match: []plan.Clause{t}})
		}
	}
	var blocks []plan.Clause
	var binds [][]plan.VarID // the variables of each block
	for range d.IntN(3) {
		bound := len(r.outer)
		if b := r.plainOptional(nodes); b != nil {
			blocks = append(blocks, b)
			binds = append(binds, r.outer[bound:])
		}
	}
	clauses = append(clauses, blocks...)
	d.Shuffle(len(clauses), func(i, j int) { clauses[i], clauses[j] = clauses[j], clauses[i] })
	inOrder(clauses, blocks)
	if len(binds) == 2 && d.params.percent(60) {
		if c, ok := r.acrossOptionals(binds[0], binds[1]); ok {
			clauses = slices.Insert(clauses, d.params.IntN(len(clauses)+1), c)
		}
	}
	r.match(clauses...)
	exprs := []plan.Expr{count(whole(pick(d, nodes)))}
	if d.percent(30) {
		exprs = append(exprs, id(pick(d, nodes)))
	}
	if d.percent(10) {
		exprs = append(exprs, count(whole(pick(d, r.outer))))
	}
	r.ret(exprs...)
	if d.percent(20) {
		r.sort(plan.Order{Expr: exprs[0], Desc: d.percent(50)})
		r.drawLimit()
	}
	return r.query(), r.args
}

// plainHop draws a traversal of one edge, without a variable for it, from a variable in scope. It adds the variable at
// the other end to the scope unless it is there. In `again` percent of the draws that end is a variable in scope, if one
// fits.
func (r *readDraw) plainHop(scope *[]plan.VarID, again int) (plan.Traverse, bool) {
	var choices []plan.Traverse
	for _, v := range *scope {
		typ := r.q.Read.Vars[v].Type
		for _, e := range r.drawer.schema.Edges {
			if e.HasInterfaceEnd() {
				continue
			}
			if e.From == typ {
				choices = append(choices, plan.Traverse{Edge: e.Name, From: v, To: plan.NoVar})
			}
			if e.To == typ {
				choices = append(choices, plan.Traverse{Edge: e.Name, From: plan.NoVar, To: v})
			}
		}
	}
	if len(choices) == 0 {
		return plan.Traverse{}, false
	}
	t := pick(r.drawer, choices)
	edge := r.drawer.schema.Edge(t.Edge)
	end, typ := &t.To, edge.To
	if t.From == plan.NoVar {
		end, typ = &t.From, edge.From
	}
	if r.percent(again) || !r.affordable(plan.Node, typ) {
		for _, i := range r.Perm(len(*scope)) {
			if v := (*scope)[i]; r.q.Read.Vars[v].Type == typ && v != t.From && v != t.To {
				*end = v
				break
			}
		}
	}
	if *end == plan.NoVar {
		if !r.affordable(plan.Node, typ) {
			return plan.Traverse{}, false
		}
		*end = r.fresh(typ)
		*scope = append(*scope, *end)
	}
	t.EdgeVar, t.Min, t.Max = plan.NoVar, 1, 1
	t.Undirected = edge.From == edge.To && r.percent(40)
	return t, true
}

// acrossOptionals draws a condition or a `not` block over variables of two `optional` blocks. The result
// `ok` is false if no variables fit. It takes its random numbers from params, so that the rest of the
// statements of a seed does not depend on it.
func (r *readDraw) acrossOptionals(first, second []plan.VarID) (c plan.Clause, ok bool) {
	var all []plan.Clause
	for _, a := range first {
		for _, b := range second {
			x, y := r.q.Read.Vars[a].Type, r.q.Read.Vars[b].Type
			if x == y {
				all = append(all, where(id(a), plan.Ne, id(b)), where(id(a), plan.Eq, id(b)),
					plan.Any{Conds: []plan.Clause{where(id(a), plan.Ne, id(b)), plan.Filter{Cond: plan.NullTest{Expr: id(b)}}}})
			}
			for _, e := range r.drawer.schema.Edges {
				for _, t := range []plan.Traverse{{Edge: e.Name, From: a, To: b}, {Edge: e.Name, From: b, To: a}} {
					if !e.HasInterfaceEnd() && e.From == r.q.Read.Vars[t.From].Type && e.To == r.q.Read.Vars[t.To].Type {
						t.EdgeVar, t.Min, t.Max = plan.NoVar, 1, 1
						t.Undirected = e.From == e.To && r.params.percent(40)
						all = append(all, plan.Not{Match: []plan.Clause{t}})
					}
				}
			}
		}
	}
	if len(all) == 0 {
		return nil, false
	}
	return pick(r.params, all), true
}

// plainOptional draws an `optional` block with one or two traversals from one of some variables. It returns nil if there
// is none.
func (r *readDraw) plainOptional(nodes []plan.VarID) plan.Clause {
	scope := []plan.VarID{pick(r.drawer, nodes)}
	var clauses []plan.Clause
	for range r.between(1, 2) {
		if t, ok := r.plainHop(&scope, 10); ok {
			clauses = append(clauses, t)
		}
	}
	if len(clauses) == 0 {
		return nil
	}
	for _, v := range scope[1:] {
		r.q.Read.Vars[v].Optional = true
	}
	if len(scope) > 1 && r.percent(30) {
		clauses = append(clauses, r.filter(scope[1:]))
	}
	r.outer = append(r.outer, scope[1:]...)
	return plan.Optional{Match: clauses}
}

// distinct draws the columns and the order of a read that returns each combination of its columns once.
func (r *readDraw) distinct() {
	r.q.Read.Grouped = true
	for range r.between(1, 3) {
		r.ret(r.column())
	}
	for range r.IntN(3) {
		if e := pick(r.drawer, r.q.Read.Columns).Expr; comparable(r.typeOf(e)) {
			r.sort(plan.Order{Expr: e, Desc: r.percent(50)})
		}
	}
}

// perhapsDistinct sometimes makes an aggregate count equal values once, if the function allows that.
func (r *readDraw) perhapsDistinct(a plan.Agg) plan.Agg {
	a.Distinct = a.Func.Row().Distinct && r.percent(45)
	return a
}

// having draws conditions on the columns.
func (r *readDraw) having() {
	for range r.between(1, 2) {
		c, ok := r.columnCondition()
		if !ok {
			continue
		}
		if other, ok := r.columnCondition(); ok && r.percent(25) {
			if r.percent(60) {
				c = plan.Any{Conds: []plan.Clause{c, other}}
			} else {
				c = plan.All{Conds: []plan.Clause{c, other}}
			}
		}
		r.q.Read.Having = append(r.q.Read.Having, c)
	}
}

// columnCondition draws a condition on a column. The result `ok` is false if the drawn column takes none.
func (r *readDraw) columnCondition() (c plan.Clause, ok bool) {
	e := pick(r.drawer, r.q.Read.Columns).Expr
	if m, ok := r.member(); ok && r.percent(30) {
		e = m
	}
	t := r.typeOf(e).Required()
	t.Enum = nil
	switch {
	case t.List && t.Kind.IsComparable():
		return plan.Filter{Cond: r.compare(e, plan.Contains, t.Elem(), r.scalar(t.Elem(), false, false))}, true
	case !comparable(t):
		if w, whole := e.(plan.Whole); whole && r.q.Read.Vars[w.Var].Optional {
			return plan.Filter{Cond: plan.NullTest{Expr: plan.ID(w), Not: r.percent(50)}}, true
		}
		return nil, false
	case r.percent(20):
		return plan.Filter{Cond: plan.NullTest{Expr: e, Not: r.percent(60)}}, true
	case r.percent(20):
		other := pick(r.drawer, r.q.Read.Columns).Expr
		if o := r.typeOf(other); comparable(o) && together(o, t) {
			return where(e, r.op(), other), true
		}
	case t.Kind == value.I64: // most often a count
		return where(e, r.op(), plan.Lit{Value: value.OfI64(int64(r.IntN(4)))}), true
	}
	return plan.Filter{Cond: r.compare(e, r.op(), t, r.scalar(t, false, false))}, true
}
