package ir

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// ref binds the text that identifies the node of a variable among those of all types.
func (b *binder) ref(w plan.Whole) *Expr {
	b.Step(1)
	out := &Expr{Kind: ExprRef, Src: w, Var: w.Var, Type: value.Of(value.String), Slot: b.Vecs, Optional: b.Read.Vars[w.Var].Optional}
	b.Vecs++
	b.Computes = true
	return out
}

// tieExpr binds the value by which an optional variable breaks ties.
func (b *binder) tieExpr(v plan.VarID) (*Expr, error) {
	if b.IsShared(v) {
		return b.ref(plan.Whole{Var: v}), nil
	}
	return b.expr(plan.ID{Var: v})
}

// checkSearch returns an error if a property that the plan searches or ranks belongs to a variable over an interface:
// each node type has indexes of its own.
func (b *binder) checkSearch(p plan.Prop) error {
	if b.IsShared(p.Var) {
		return &engine.Unsupported{Construct: "a search of $" + b.Read.Vars[p.Var].Name + " over the interface " + b.Types[p.Var].Name}
	}
	return nil
}

// narrowed returns a traversal whose ends are variables of the types that the edge needs. In place of a variable of
// another type, an interface or a node type whose nodes references stand for, is a new variable of the needed type; a link
// in the list says that the two are the same node.
func (b *binder) narrowed(c plan.Traverse, t *schema.Type) (plan.Traverse, []*Link, error) {
	var links []*Link
	for _, end := range []struct {
		v    *plan.VarID
		node int
	}{{&c.From, t.From}, {&c.To, t.To}} {
		if node := b.Schema.Nodes[end.node]; !b.IsShared(*end.v) && (node.Of == nil || b.Types[*end.v].Entity != plan.Node) {
			continue
		}
		if n := len(links); n > 0 && links[n-1].From == *end.v && b.Types[links[n-1].To].Index == end.node {
			*end.v = links[n-1].To
			continue
		}
		of := *end.v
		var err error
		if *end.v, err = b.hidden(of, b.Schema.Nodes[end.node]); err != nil {
			return c, nil, err
		}
		links = append(links, identity(of, *end.v))
	}
	return c, links, nil
}

// identity returns the link between a variable over an interface or a node type, and a variable of a node type or a
// reference type, that are the same node.
func identity(of, narrow plan.VarID) *Link {
	return &Link{Traverse: plan.Traverse{From: of, To: narrow, EdgeVar: plan.NoVar, Min: 1, Max: 1}, Same: true}
}

// hidden adds a variable that the plan lacks. It stands for the node of the variable `of` as a node of type t.
func (b *binder) hidden(of plan.VarID, t *schema.Type) (plan.VarID, error) {
	id := len(b.Types)
	if id >= 2*maxVars {
		return plan.NoVar, &engine.TooLarge{Resource: "ends of traversals at variables over interfaces", Limit: maxVars, Actual: int64(id) - maxVars}
	}
	if !b.extended { // other programs share the plan
		read := *b.Read
		read.Vars = slices.Clone(read.Vars)
		b.Read, b.extended = &read, true
	}
	b.Types, b.Over = append(b.Types, t), append(b.Over, nil)
	b.Read.Vars = append(b.Read.Vars, plan.Var{Name: b.Read.Vars[of].Name + " as " + t.Name, Entity: plan.Node, Type: t.Name})
	return plan.VarID(id), nil
}

// sameNode returns the link for a filter that requires a variable over an interface and a variable of a node type to be
// the same node. It returns nil for another filter, and if one of the variables may be null.
func (b *binder) sameNode(c plan.Cond, clauses []plan.Clause) *Link {
	eq, ok := c.(plan.Compare)
	if !ok || eq.Op != plan.Eq && !fault.On(fault.UnequalNarrows) || eq.Unless != plan.NoParam {
		return nil
	}
	l, isNode := eq.Left.(plan.Whole)
	r, areNodes := eq.Right.(plan.Whole)
	if !isNode || !areNodes || b.IsShared(l.Var) == b.IsShared(r.Var) {
		return nil
	}
	for _, v := range []plan.VarID{l.Var, r.Var} {
		if b.Read.Vars[v].Optional && !slices.ContainsFunc(clauses, func(c plan.Clause) bool { return binds(c, v) }) {
			return nil
		}
		b.Step(len(clauses))
	}
	if b.IsShared(l.Var) {
		return identity(l.Var, r.Var)
	}
	return identity(r.Var, l.Var)
}

// binds reports whether a clause is a binding or a traversal of a variable.
func binds(c plan.Clause, v plan.VarID) bool {
	switch c := c.(type) {
	case plan.Bind:
		return c.Var == v
	case plan.Traverse:
		return c.From == v || c.To == v
	case plan.Filter, plan.Not, plan.Exists, plan.Any, plan.All, plan.Optional:
	}
	return false
}

// interfaceOf returns the interface of a variable and the type that stands for it. The error is a
// *engine.SchemaMismatch.
func (b *binder) interfaceOf(v plan.Var) (*schema.Interface, error) {
	i := b.Schema.Interface(v.Type)
	if i == nil {
		return nil, Mismatch("there is no interface %s", v.Type)
	}
	for _, m := range i.Members {
		for p, at := range m.Props {
			if name := i.Type.Props[p].Name; at < 0 && name != catalog.TypeProperty {
				return nil, Mismatch("node %s does not have the property %s of the interface %s", m.Type.Name, name, v.Type)
			}
		}
	}
	return i, nil
}
