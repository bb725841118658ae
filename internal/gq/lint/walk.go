package lint

import (
	"maps"
	"slices"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
	"github.com/omnigraph-go/omnigraph/internal/gq/work"
)

// walkTraversals calls `visit` for every traversal in the clauses of a match. It does not visit the
// traversals within expressions.
func walkTraversals(clauses []syntax.Clause, visit func(*syntax.Traversal)) {
	for _, c := range clauses {
		if t, ok := c.(*syntax.Traversal); ok {
			visit(t)
		}
		walkTraversals(syntax.Block(c), visit)
	}
}

// everyTraversal calls visit for every traversal of a read, including those within expressions.
func everyTraversal(r *syntax.Read, visit func(*syntax.Traversal)) {
	r.Walk(func(c syntax.Clause) {
		if t, ok := c.(*syntax.Traversal); ok {
			visit(t)
		}
	}, func(syntax.Operand) {})
}

// varsOf calls `visit` for every variable that a clause names, including the variables in its blocks.
func varsOf(c plan.Clause, visit func(plan.VarID)) {
	switch c := c.(type) {
	case plan.Bind:
		visit(c.Var)
	case plan.Traverse:
		visit(c.From)
		visit(c.To)
		if c.EdgeVar != plan.NoVar {
			visit(c.EdgeVar)
		}
	case plan.Filter:
		switch cond := c.Cond.(type) {
		case plan.Compare:
			exprVar(cond.Left, visit)
			exprVar(cond.Right, visit)
		case plan.TextMatch:
			visit(cond.Prop.Var)
		case plan.NullTest:
			exprVar(cond.Expr, visit)
		}
	case plan.Not, plan.Exists, plan.Any, plan.All, plan.Optional:
		for _, in := range plan.Block(c) {
			varsOf(in, visit)
		}
	}
}

// exprVar calls `visit` for the variable of a comparison's operand.
func exprVar(e plan.Expr, visit func(plan.VarID)) {
	switch e := e.(type) {
	case plan.Prop:
		visit(e.Var)
	case plan.ID:
		visit(e.Var)
	case plan.Endpoint:
		visit(e.Var)
	case plan.EndNode:
		visit(e.Var)
	case plan.Origin:
		visit(e.Var)
	case plan.WalkPart:
		visit(e.Var)
		visit(e.From)
		visit(e.To)
	case plan.Whole:
		visit(e.Var)
	case plan.Matched:
		visit(e.Match.Prop.Var)
	case plan.BM25:
		visit(e.Prop.Var)
	case plan.Nearest:
		visit(e.Prop.Var)
	case plan.Agg:
		exprVar(e.Arg, visit)
	case plan.RRF:
		exprVar(e.First, visit)
		exprVar(e.Second, visit)
	case plan.Apply, plan.Test, plan.Member:
		for _, o := range plan.Operands(e) {
			exprVar(o, visit)
		}
	case plan.Holds:
		for _, v := range e.Outer {
			visit(v)
		}
	case plan.KeyOf, plan.NodeRef:
		for _, o := range plan.Operands(e) {
			exprVar(o, visit)
		}
	case plan.BlockAgg, plan.BlockRows:
		_, outer, _ := plan.Subquery(e)
		for _, v := range outer {
			visit(v)
		}
	case plan.Lit, plan.ParamRef, plan.Now, plan.Old, plan.Cell:
	}
}

// paramUse records that a parameter is assigned to, or compared with, a property.
type paramUse struct {
	param  int         // index in the plan
	entity plan.Entity // whether typ is a node type, an edge type or an interface
	typ    string      // name of the type
	prop   string      // name of the property
}

// paramUses lists the properties that a query assigns its parameters to or compares them with, without a
// computation in between that changes what they mean.
func paramUses(q *plan.Query) []paramUse {
	var out []paramUse
	add := func(e plan.Expr, entity plan.Entity, typ, prop string) {
		if ref, ok := e.(plan.ParamRef); ok {
			out = append(out, paramUse{ref.Index, entity, typ, prop})
		}
	}
	if q.Mutation != nil {
		q.Mutation.Walk(func(st plan.Statement) {
			if each, ok := st.(plan.ForEach); ok {
				if each.Read != nil {
					readUses(each.Read, add)
				}
				return
			}
			entity, typ := plan.Target(st)
			set, where := plan.Written(st)
			for _, a := range set {
				unchanged(a.Value, func(e plan.Expr) { add(e, entity, typ, a.Name) })
			}
			for _, p := range where {
				unchanged(p.Value, func(e plan.Expr) { add(e, entity, typ, p.Name) })
			}
		})
		return out
	}
	readUses(q.Read, add)
	return out
}

// unchanged calls f for the expression and, if it means what its arguments mean, for these.
func unchanged(e plan.Expr, f func(plan.Expr)) {
	f(e)
	if a, ok := e.(plan.Apply); ok && a.Func.KeepsMeaning() {
		for _, arg := range a.Args {
			unchanged(arg, f)
		}
	}
}

// readUses calls `add` for each expression that a read compares with a property or searches it for.
func readUses(r *plan.Read, add func(e plan.Expr, entity plan.Entity, typ, prop string)) {
	meet := func(p plan.Prop, e plan.Expr) {
		v := r.Vars[p.Var]
		add(e, v.Entity, v.Type, p.Name)
	}
	expr := func(e plan.Expr) {
		plan.WalkExpr(e, func(e plan.Expr) {
			switch e := e.(type) {
			case plan.Matched:
				meet(e.Match.Prop, e.Match.Query)
			case plan.BM25:
				meet(e.Prop, e.Query)
			case plan.Nearest:
				meet(e.Prop, e.Vector)
			default: // no other expression searches a property for an argument
			}
		})
	}
	plan.WalkClauses(slices.Concat(r.Match, r.Having), expr)
	for _, c := range r.Columns {
		expr(c.Expr)
	}
	for _, o := range r.Order {
		expr(o.Expr)
	}
	r.WalkConds(func(c plan.Cond) {
		cmp, ok := c.(plan.Compare)
		if !ok {
			return
		}
		sides(cmp, func(one, other plan.Expr) {
			if p, ok := one.(plan.Prop); ok {
				unchanged(other, func(e plan.Expr) { meet(p, e) })
			}
		})
	})
}

// property returns the property of a type, or nil. The names `id`, `from` and `to` are not
// properties.
func property(s *catalog.Schema, entity plan.Entity, typ, name string) *catalog.Property {
	switch entity {
	case plan.Edge:
		return s.Edge(typ).Property(name)
	case plan.Interface:
		return s.Interface(typ).Property(name)
	default:
		return s.Node(typ).Property(name)
	}
}

// isConstant reports whether an expression has the same value in every row.
func isConstant(e plan.Expr) bool {
	constant := true
	exprVar(e, func(plan.VarID) { constant = false })
	return constant
}

// pinned returns the variables that conditions with constants restrict to at most one entity, and those of walks, which
// depend on their ends alone.
func pinned(m *work.Meter, s *catalog.Schema, r *plan.Read, inner func(plan.VarID) bool) map[plan.VarID]bool {
	given := map[plan.VarID]map[string]bool{}
	pins := map[plan.VarID]bool{}
	pin := func(c plan.Clause) {
		m.Step(1)
		f, ok := c.(plan.Filter)
		if !ok {
			return
		}
		cmp, ok := f.Cond.(plan.Compare)
		if !ok || cmp.Op != plan.Eq || cmp.Unless != plan.NoParam {
			return
		}
		for _, sides := range [][2]plan.Expr{{cmp.Left, cmp.Right}, {cmp.Right, cmp.Left}} {
			if !isConstant(sides[1]) {
				continue
			}
			switch e := sides[0].(type) {
			case plan.ID:
				if r.Vars[e.Var].Entity != plan.Interface { // an id is unique only within a type
					pins[e.Var] = true
				}
			case plan.Whole:
				pins[e.Var] = true // the constant is a parameter that is a node
			case plan.Prop:
				if given[e.Var] == nil {
					given[e.Var] = map[string]bool{}
				}
				given[e.Var][e.Name] = true
			default: // no other expression selects one node
			}
		}
	}
	for _, c := range r.Match {
		pin(c)
		if o, ok := c.(plan.Optional); ok {
			for _, inner := range o.Match {
				pin(inner)
			}
		}
	}
	for id, v := range r.Vars {
		if v.Entity == plan.Walk {
			pins[plan.VarID(id)] = true
		}
		if v.Entity != plan.Node || inner(plan.VarID(id)) {
			continue
		}
		n := s.Node(v.Type)
		all := len(n.Key) > 0
		for _, k := range n.Key {
			all = all && given[plan.VarID(id)][k]
		}
		if all {
			pins[plan.VarID(id)] = true
		}
	}
	return pins
}

// singleTargets returns, by the source, the traversals outside blocks or in `optional` blocks that have at most one target.
func singleTargets(m *work.Meter, s *catalog.Schema, r *plan.Read) map[plan.VarID][]plan.Traverse {
	single := map[plan.VarID][]plan.Traverse{}
	addSingle := func(c plan.Clause) {
		m.Step(1)
		if t, ok := c.(plan.Traverse); ok && !t.Undirected && t.Or == nil && t.Min == 1 && t.Max == 1 {
			if card := s.Edge(t.Edge).Card; card != nil && card.Max == 1 {
				single[t.From] = append(single[t.From], t)
			}
		}
	}
	for _, c := range r.Match {
		addSingle(c)
		if o, ok := c.(plan.Optional); ok {
			for _, inner := range o.Match {
				addSingle(inner)
			}
		}
	}
	return single
}

// atMostOne returns the variables, bound outside blocks or in `optional` blocks, that can match at most one
// entity.
// Such a variable is a node with a given key, or the target of an edge type that allows at most one
// target, if the source of the edge is pinned.
func atMostOne(m *work.Meter, s *catalog.Schema, r *plan.Read, inner func(plan.VarID) bool) map[plan.VarID]bool {
	pins := pinned(m, s, r, inner)
	single := singleTargets(m, s, r)
	todo := slices.Collect(maps.Keys(pins))
	for len(todo) > 0 {
		from := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, t := range single[from] {
			if t.EdgeVar != plan.NoVar {
				pins[t.EdgeVar] = true
			}
			if !pins[t.To] {
				pins[t.To] = true
				todo = append(todo, t.To)
			}
		}
	}
	return pins
}
