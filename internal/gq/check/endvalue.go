package check

import (
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// This file checks the nodes that a mutation writes at an end of an edge that is an interface.

// sharedEnd returns the interface at an end of the edges that a statement writes. It reports false if `name` is not
// the name of such an end.
func (t target) sharedEnd(name string) (end nodeEnd, ok bool) {
	if t.edge == nil || name != "from" && name != "to" {
		return nodeEnd{}, false
	}
	end = endOf(t.edge, name == "to")
	return end, end.shared
}

// endValue resolves the node that a statement writes at, or compares with, an end of an edge that is an
// interface. The value is the type and the id of the node.
func (c *checker) endValue(o syntax.Operand, t target, name string, want nodeEnd) (plan.Expr, bool) {
	at := o.Source().Span()
	switch o := o.(type) {
	case *syntax.NodeKey:
		key, ok := c.nodeKey(o, want, name, t)
		return c.nodeRef(o.Type.Value, key), ok
	case *syntax.VarRef:
		return c.endVariable(o, t, name, want)
	case *syntax.PropRef:
		help := "write the variable at the end of the traversal"
		if o.Prop.Value == "id" {
			help = "write " + o.Var.Value + " without .id"
		}
		c.fault(WrongEndpoint, at, help, "%s of %s is a %s: a node with its type, not a property", name, t.name, want.name)
		return nil, false
	default: // the other operands are not nodes
		c.fault(WrongEndpoint, at, c.endForms(want, o), "%s of %s is a %s: a node with its type, not an id alone", name, t.name, want.name)
		return nil, false
	}
}

// endVariable resolves a variable or a parameter that is the node at an end of an edge.
func (c *checker) endVariable(o *syntax.VarRef, t target, name string, want nodeEnd) (plan.Expr, bool) {
	tok, at := o.Tokens[0], o.Span()
	c.comparing = true // allows a parameter of an interface type
	v, ok := c.operand(o, nil)
	c.comparing = false
	if !ok {
		return nil, false
	}
	var is nodeEnd
	switch {
	case v.node != "":
		is = nodeEnd{v.node, v.shared}
	case v.among != "":
		is = nodeEnd{v.among, true}
	case v.ref != "":
		is = nodeEnd{v.ref, false}
	default:
		c.fault(WrongEndpoint, at, c.endForms(want, o), "%s of %s is a %s: a node with its type, but %s is %s", name, t.name, want.name, tok.Value, v)
		return nil, false
	}
	if !c.meet(is, want) {
		names, _ := c.implementers(want.name)
		c.fault(WrongEndpoint, at, "the types that implement "+want.name+" are "+names, "%s is a %s, but %s of %s is a %s", tok.Value, is.name, name, t.name, want.name)
		return nil, false
	}
	switch {
	case v.among != "":
		return v.expr, true
	case v.shared: // a variable of a match
		var typ typed
		c.within(c.each, func() {
			var whole typed
			if whole, ok = c.variable(o, c.each.scope); ok {
				typ = typeName(whole)
			}
		})
		return plan.NodeRef{Type: c.each.cell(typ.expr, tok.Value+"."+catalog.TypeProperty, typ.typ), ID: v.expr}, ok
	}
	return c.nodeRef(is.name, v.expr), true
}

// nodeRef returns the node with the given type and id, and records that the query uses the type.
func (c *checker) nodeRef(typ string, id plan.Expr) plan.NodeRef {
	c.useType(plan.Node, typ, false)
	return plan.NodeRef{Type: plan.Lit{Value: value.OfString(typ)}, ID: id}
}

// endForms is the help for a value that is no node with its type.
func (c *checker) endForms(want nodeEnd, o syntax.Operand) string {
	typ := want.name
	help := "declare a parameter of the type " + typ
	if v, ok := o.(*syntax.VarRef); ok {
		if _, param := c.params[v.Tokens[0].Value[1:]]; param {
			help = "declare it as " + v.Tokens[0].Value + ": " + typ
		}
	}
	for _, n := range c.schema.Implementers(typ) {
		c.step(1)
		if len(n.Key) == 0 {
			continue
		}
		key := "…"
		if v, ok := o.(*syntax.VarRef); ok {
			key = v.Tokens[0].Value
		} else if l, ok := o.(*syntax.Literal); ok {
			key = l.Tokens[0].Value
		}
		return "write " + n.Name + "(" + key + ") for a " + n.Name + ", or " + help
	}
	return help
}

// endPredicate checks and lowers a condition of an update or delete on an end of an edge that is an interface.
func (c *checker) endPredicate(p *syntax.Pred, pred plan.Pred, t target, end nodeEnd) plan.Pred {
	pred.Type = plan.NodeType(c.typesOf(end))
	if pred.Op != plan.Eq && pred.Op != plan.Ne {
		c.fault(Incomparable, p.Span(), "write = or !=", "%s cannot compare %s of %s, which is a %s", pred.Op, pred.Name, t.name, end.name)
		return pred
	}
	pred.Value, _ = c.endValue(p.Value, t, pred.Name, end)
	return pred
}
