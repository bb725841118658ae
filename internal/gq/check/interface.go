package check

import (
	"slices"

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

// interfaceDirection sets the direction of a traversal that has a variable over an interface at an end, or whose
// edges have an interface at an end, and reports
// whether it did. It runs from left to right if both ends can then have the types that the edges give
// them. If both directions are possible because the type of an end is not known, or may still narrow, interfaceDirection
// leaves the choice open, because another traversal may determine this type.
func (c *checker) interfaceDirection(st *step) bool {
	possible := func(reversed bool) bool {
		return slices.ContainsFunc(st.edges, func(e *catalog.Edge) bool {
			return c.mayEnd(st.from, endOf(e, reversed)) && c.mayEnd(st.to, endOf(e, !reversed))
		})
	}
	forward, back := possible(false), possible(true)
	known := func(id plan.VarID) bool {
		_, open := c.open[id]
		return c.read.Vars[id].Type != "" && !open
	}
	if forward && back && !(known(st.from) && known(st.to)) {
		return false
	}
	c.setDirection(st, !forward && back)
	return true
}

// mayEnd reports whether a variable can be at an end of an edge that has the given type.
func (c *checker) mayEnd(id plan.VarID, e nodeEnd) bool {
	v := c.read.Vars[id]
	if v.Type == "" {
		return true
	}
	c.step(1)
	return c.meet(typeOfVar(v), e) && !slices.ContainsFunc(c.open[id], func(g given) bool { return !c.meet(g.end, e) })
}

// oneEnd reports false after it reported that the edges of a traversal give its left end or, if `left` is false,
// its right end several node types, where a variable over an interface is.
func (c *checker) oneEnd(st *step, left bool, t syntax.Token) bool {
	ends := st.ends(left)
	if len(ends) == 1 || slices.ContainsFunc(ends, func(e nodeEnd) bool { return e.shared }) {
		return true
	}
	c.fault(WrongEndpoint, syntax.SpanOf(t), "bind it as one of these types, as in "+t.Value+": "+ends[0].name,
		"%s is bound to an interface, and the edges %s give it several types: %s", t.Value, st.src.EdgeNames(), endNames(ends))
	return false
}

// noEnd returns the help for a variable that cannot be at the end of an edge.
func (c *checker) noEnd(v plan.Var, t syntax.Token, want nodeEnd) string {
	if v.Entity != plan.Interface {
		if names, _ := c.implementers(want.name); want.shared && names != "" {
			return "the types that implement " + want.name + " are " + names
		}
		return ""
	}
	names, _ := c.implementers(v.Type)
	if names == "" {
		return "no node type implements " + v.Type + "; bind another variable: " + t.Value + "2: " + want.name
	}
	return "bind a variable of type " + want.name + "; the types that implement " + v.Type + " are " + names
}

// neverSame reports whether two nodes can never be the same node because of their types.
func (c *checker) neverSame(l, r typed) bool {
	return !c.meet(nodeEnd{l.node, l.shared}, nodeEnd{r.node, r.shared})
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
