package check

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// This file checks the values that a mutation assigns and compares with.

// assigned resolves the value that is assigned to a property.
func (c *checker) assigned(o syntax.Operand, p *catalog.Property) (plan.Expr, bool) {
	switch o := o.(type) {
	case *syntax.Literal:
		v, ok := c.assignable(o, p.Type, p.Name, BadValue)
		return plan.Lit{Value: v}, ok
	case *syntax.Now:
		return plan.Now{}, c.checkFit(value.Of(value.DateTime), p.Type, p, o.Span())
	case *syntax.VarRef, *syntax.PropRef, *syntax.AliasRef:
		var t typed
		var ok bool
		c.wanting(paramType(p.Type), func() { t, ok = c.operand(o, nil) })
		at := o.Source().Span()
		if ok && t.node != "" {
			c.fault(BadValue, at, "write "+o.Source().Tokens[0].Value+".id for its id", "a %s node is not a value of %s", t.node, p.Name)
			return nil, false
		}
		return t.expr, ok && c.checkFit(t.typ, p.Type, p, at)
	case *syntax.Binary, *syntax.Comparison, *syntax.Call, *syntax.ActorRef:
		return c.computed(o, func(from value.Type, at diag.Span) bool { return c.checkFit(from, p.Type, p, at) })
	case *syntax.NodeKey:
		c.fault(BadValue, o.Span(), "write a node only after from:, to: or where from = and where to =", "the property %s cannot be a node", p.Name)
		return nil, false
	case *syntax.Condition, *syntax.Subquery, *syntax.FieldRef, *syntax.OriginRef:
	}
	panic("check: the parser accepted an expression as a value")
}

// idValue resolves the value that an insert assigns to `id`, `from` or `to`.
func (c *checker) idValue(o syntax.Operand, t target, name string) (plan.Expr, bool) {
	if end, shared := t.sharedEnd(name); shared {
		return c.endValue(o, t, name, end)
	}
	if e, found, ok := c.node(o, t, name, name != "id"); found {
		return e, ok
	}
	v, ok := c.assigned(o, &catalog.Property{Name: name, Type: value.Of(value.String)})
	return v, ok && c.endRef(v, t, name, o.Source().Span())
}

// node resolves a value that is a node: the variable of an insert or of a match, or a type with a
// key. The result `found` is false if the value is not a node. A value may be a node only if `end`
// is true, that is, for the end of an edge or the id of a node. The result `ok` is false if node
// reported an error.
func (c *checker) node(o syntax.Operand, t target, name string, end bool) (e plan.Expr, found, ok bool) {
	want := endType(t, name)
	at := o.Source().Span()
	switch o := o.(type) {
	case *syntax.NodeKey:
		if !end {
			return nil, false, false
		}
		e, ok := c.nodeKey(o, nodeEnd{name: want}, name, t)
		return e, true, ok
	case *syntax.VarRef:
		if !end || !c.isNode(o.Tokens[0].Value[1:]) {
			return nil, false, false
		}
		v, ok := c.operand(o, nil)
		if ok && (v.node != want || v.shared) {
			help := ""
			if v.shared {
				name := o.Tokens[0].Value + "2"
				help = "bind a variable of that type in the match: " + name + ": " + want + "  " + name + " = " + o.Tokens[0].Value
			}
			c.fault(WrongEndpoint, at, help, "%s is a %s, but %s of %s is the id of a %s", o.Tokens[0].Value, v.node, name, t.name, want)
			ok = false
		}
		return v.expr, true, ok
	default: // the other operands are not nodes
		return nil, false, false
	}
}

// isNode reports whether a name is the variable of an insert or of a match. It reports false for a
// parameter and for an element of a list.
func (c *checker) isNode(name string) bool {
	if c.each != nil {
		if c.each.list && c.each.name == name {
			return false
		}
		if _, ok := c.each.scope.find(name); ok {
			return true
		}
	}
	_, ok := c.names.find(name)
	return ok
}

// endType returns the type of the entity that the value of `id`, `from` or `to` identifies.
func endType(t target, name string) string {
	switch {
	case t.edge != nil && name == "from":
		return t.edge.From
	case t.edge != nil && name == "to":
		return t.edge.To
	}
	return t.name
}

// nodeKey resolves a node that is given by its key, whose members are in the order of @key. The node must have the type `want`, or implement it.
func (c *checker) nodeKey(o *syntax.NodeKey, want nodeEnd, name string, t target) (plan.Expr, bool) {
	n := c.schema.Node(o.Type.Value)
	at := syntax.SpanOf(o.Type)
	switch {
	case n == nil:
		c.fault(UnknownNode, at, c.suggest(o.Type.Value, func() []string { return nodeNames(c.schema) }), "unknown node type %s", o.Type.Value)
		return nil, false
	case !c.meet(nodeEnd{name: n.Name}, want):
		help := ""
		if want.shared {
			names, _ := c.implementers(want.name)
			help = "the types that implement " + want.name + " are " + names
		}
		c.fault(WrongEndpoint, at, help, "%s of %s is a %s, not a %s", name, t.name, want.name, n.Name)
		return nil, false
	case len(n.Key) == 0 && want.shared:
		c.fault(WrongEndpoint, at, "declare a parameter of the type "+n.Name+", or write the variable of an insert", "%s has no key", n.Name)
		return nil, false
	case len(n.Key) == 0:
		c.fault(WrongEndpoint, at, "write its id, or the variable of an insert", "%s has no key", n.Name)
		return nil, false
	case len(o.Key) != len(n.Key):
		c.fault(WrongEndpoint, o.Span(), "write "+n.Name+"("+strings.Join(n.DeclaredKey(), ", ")+")", "the key of %s has %d members, found %d", n.Name, len(n.Key), len(o.Key))
		return nil, false
	}
	key := plan.KeyOf{Node: n.Name, Key: make([]plan.Assign, len(n.Key))} // the members in the order of n.Key
	all := true
	for i, member := range o.Key {
		p := n.Property(n.DeclaredKey()[i])
		c.useProp(plan.Node, n.Name, p, false)
		v, ok := c.assigned(member, p)
		key.Key[slices.Index(n.Key, p.Name)] = plan.Assign{Name: p.Name, Type: p.Type, Value: v}
		all = all && ok
	}
	return key, all
}

// writtenVariable resolves a variable or a parameter in a statement of a mutation.
func (c *checker) writtenVariable(o *syntax.VarRef) (typed, bool) {
	tok := o.Tokens[0]
	name := tok.Value[1:]
	if t, found, ok := c.each.variable(c, o); found {
		return t, ok
	}
	id, ok := c.names.find(name)
	if !ok {
		return c.param(tok)
	}
	c.info.Vars[id].Uses++
	v := c.read.Vars[id]
	if v.Entity == plan.Edge {
		c.fault(EdgeBindingMisuse, o.Span(), "use it in the return of the mutation", "%s names an edge, which cannot be used as a value", tok.Value)
		return typed{}, false
	}
	return typed{expr: plan.ID{Var: id}, typ: value.Of(value.String), node: v.Type}, true
}

// writtenProperty resolves a property of a variable in a statement of a mutation.
func (c *checker) writtenProperty(o *syntax.PropRef) (typed, bool) {
	if t, found, ok := c.each.property(c, o); found {
		return t, ok
	}
	name := o.Var.Value[1:]
	id, ok := c.names.find(name)
	switch {
	case !ok:
		t, ok := c.param(o.Var)
		if ok {
			c.fault(Unbound, syntax.SpanOf(o.Prop), "", "$%s is a parameter, and a parameter has no properties", name)
		}
		return t, false
	case o.Prop.Value != "id":
		c.fault(Unbound, syntax.SpanOf(o.Prop), "use the value that the insert assigns", "%s names an inserted entity, and a statement can use only its id", o.Var.Value)
		return typed{}, false
	}
	c.info.Vars[id].Uses++
	return typed{expr: plan.ID{Var: id}, typ: value.Of(value.String)}, true
}

// oldValue resolves a name in an assignment: the value that a property has before the update or upsert.
func (c *checker) oldValue(o *syntax.AliasRef) (typed, bool) {
	name := o.Tokens[0].Value
	p := c.old.property(name)
	if p == nil {
		help, known := foreignNames[name]
		if !known {
			help = c.suggest(name, func() []string { return propNames(c.old.properties()) })
		}
		c.fault(Unbound, o.Span(), help, "%s has no property %s", c.old.name, name)
		return typed{}, false
	}
	if p.Type.Kind == value.Blob {
		c.fault(BlobValue, o.Span(), "", "a query cannot use a blob as a value")
		return typed{}, false
	}
	c.useProp(c.old.entity, c.old.name, p, false)
	return typed{expr: plan.Old{Name: p.Name, Type: p.Type}, typ: p.Type}, true
}

// returns checks and lowers the columns that a mutation returns.
func (c *checker) returns(m *syntax.Mutation) {
	if m.Returns == nil {
		return
	}
	c.project(m.Returns, c.names)
	for i, col := range c.read.Columns {
		at := m.Returns[min(i, len(m.Returns)-1)].Span()
		plan.WalkExpr(col.Expr, func(e plan.Expr) {
			switch e.(type) {
			case plan.Agg, plan.BlockAgg, plan.BlockRows, plan.Holds, plan.Matched, plan.BM25, plan.Nearest, plan.RRF:
				c.fault(BadReturn, at, "write a query for it", "the column %s searches the graph, but a mutation returns values of what it inserted and of its parameters", col.Name)
			case plan.Origin:
				c.fault(BadReturn, at, "read it with a query after the mutation", "the column %s reads an origin, but a mutation has none before its commit", col.Name)
			default: // the other expressions are values
			}
		})
	}
	c.plan.Mutation.Returns = c.read.Columns
}
