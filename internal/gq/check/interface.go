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

// This file checks variables over interfaces, as in $n: Named.

// nodeType is the type of a node variable: a node type or an interface.
type nodeType struct {
	entity plan.Entity
	name   string
	props  []*catalog.Property
	find   func(name string) *catalog.Property // looks up one of props
}

// nodeType returns the type of a node variable. The type must be known.
func (c *checker) nodeType(v plan.Var) nodeType {
	if v.Entity == plan.Interface {
		i := c.schema.Interface(v.Type)
		return nodeType{plan.Interface, i.Name, i.Common(), i.Property}
	}
	n := c.schema.Node(v.Type)
	return nodeType{plan.Node, n.Name, n.Properties, n.Property}
}

// useNodeProp records that the query reads a property of a node variable.
func (c *checker) useNodeProp(t nodeType, p *catalog.Property) {
	if t.entity == plan.Interface && p.Name == catalog.TypeProperty {
		return // every interface has it
	}
	c.useProp(t.entity, t.name, p, false)
}

// typeNames returns the names that a binding can name: those of the node types and of the interfaces.
func (c *checker) typeNames() []string {
	names := nodeNames(c.schema)
	for _, i := range c.schema.Interfaces {
		names = append(names, i.Name)
	}
	return names
}

// implements reports whether a node type implements an interface.
func (c *checker) implements(node, name string) bool {
	n := c.schema.Node(node)
	return n != nil && slices.Contains(n.Implements, name)
}

// fits reports whether the nodes of a variable can have the given node type. The variable's type must be
// known.
func (c *checker) fits(id plan.VarID, node string) bool {
	v := c.read.Vars[id]
	if v.Entity == plan.Interface {
		c.step(1)
		return c.implements(node, v.Type)
	}
	return v.Type == node
}

// interfaceDirection sets the direction of a traversal that has a variable over an interface at an end, and reports
// whether it did. It runs from left to right if both ends can then have the types that the edges give
// them. If both directions are possible because the type of an end is not known, interfaceDirection
// leaves the choice open, because another traversal may determine this type.
func (c *checker) interfaceDirection(st *step) bool {
	possible := func(reversed bool) bool {
		return slices.ContainsFunc(st.edges, func(e *catalog.Edge) bool {
			left, right := e.From, e.To
			if reversed {
				left, right = right, left
			}
			return c.mayEnd(st.from, left) && c.mayEnd(st.to, right)
		})
	}
	forward, back := possible(false), possible(true)
	known := c.read.Vars[st.from].Type != "" && c.read.Vars[st.to].Type != ""
	if forward && back && !known {
		return false
	}
	c.setDirection(st, !forward && back)
	return true
}

// mayEnd reports whether a variable can stand at an end of an edge that has the given node type.
func (c *checker) mayEnd(id plan.VarID, node string) bool {
	return c.read.Vars[id].Type == "" || c.fits(id, node)
}

// oneEnd returns the node type that the edges of a traversal give its left end or, if `left` is false, its
// right end, where a variable over an interface stands. It returns "" after it reported that there are
// several.
func (c *checker) oneEnd(st *step, left bool, t syntax.Token) string {
	types := st.endTypes(left)
	if len(types) == 1 {
		return types[0]
	}
	c.fault(WrongEndpoint, syntax.SpanOf(t), "bind it as one of these types, as in "+t.Value+": "+types[0],
		"%s is bound to an interface, and the edges %s give it several types: %s", t.Value, st.src.EdgeNames(), strings.Join(types, ", "))
	return ""
}

// noEnd returns the help for a variable that cannot stand at the end of an edge.
func (c *checker) noEnd(v plan.Var, t syntax.Token, want string) string {
	if v.Entity != plan.Interface {
		return ""
	}
	names, _ := c.implementers(v.Type)
	if names == "" {
		return "no node type implements " + v.Type + "; bind another variable: " + t.Value + "2: " + want
	}
	return "bind a variable of type " + want + "; the types that implement " + v.Type + " are " + names
}

// neverSame reports whether two nodes can never be the same node because of their types.
func (c *checker) neverSame(l, r typed) bool {
	switch {
	case l.shared && r.shared:
		return l.node != r.node && !slices.ContainsFunc(c.schema.Nodes, func(n *catalog.Node) bool {
			c.step(1)
			return slices.Contains(n.Implements, l.node) && slices.Contains(n.Implements, r.node)
		})
	case l.shared:
		return !c.implements(r.node, l.node)
	case r.shared:
		return !c.implements(l.node, r.node)
	}
	return l.node != r.node
}

// typeName returns the name of a node's type. The node is that of a variable over an interface.
func typeName(t typed) typed {
	text := value.Of(value.String)
	out := typed{expr: plan.Prop{Var: t.expr.(plan.Whole).Var, Name: catalog.TypeProperty, Type: text}, typ: text}
	if t.typ.Nullable {
		out.typ = text.Optional()
	}
	return out
}

// searchable reports whether a function that searches an index can take a property. If the variable is over an
// interface, searchable adds a fault, because each node type has an index of its own.
func (c *checker) searchable(p plan.Prop, function string, code diag.Code, at diag.Span) bool {
	v := c.read.Vars[p.Var]
	if v.Entity != plan.Interface {
		return true
	}
	names, _ := c.implementers(v.Type)
	c.fault(code, at, "bind a variable of one type that implements "+v.Type+", and write a query for each: "+names,
		"%s searches the nodes of one type, but $%s is bound to the interface %s", function, v.Name, v.Type)
	return false
}
