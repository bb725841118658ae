package check

import (
	"maps"
	"slices"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// This file checks the ends of edges, which are node types or interfaces.

// nodeEnd is the type of an end of an edge, or of a variable: a node type or an interface.
type nodeEnd struct {
	name   string
	shared bool // it is an interface
}

// endOf returns the type of an end of an edge: of the target if `to` is set, and of the source otherwise.
func endOf(e *catalog.Edge, to bool) nodeEnd {
	name, shared := e.End(to)
	return nodeEnd{name, shared}
}

// isLoop reports whether an edge has the same node type or the same interface at both ends.
func isLoop(e *catalog.Edge) bool { return endOf(e, false) == endOf(e, true) }

// hasInterfaceEnd reports whether an edge of a traversal has an interface at an end.
func (st *step) hasInterfaceEnd() bool {
	return slices.ContainsFunc(st.edges, (*catalog.Edge).HasInterfaceEnd)
}

// typeOfVar returns the type of a node variable. The type must be known.
func typeOfVar(v plan.Var) nodeEnd { return nodeEnd{v.Type, v.Entity == plan.Interface} }

// typesOf lists the names of the node types that a node of the given type may have.
func (c *checker) typesOf(e nodeEnd) []string {
	if !e.shared {
		return []string{e.name}
	}
	var names []string
	for _, n := range c.schema.Nodes {
		c.step(1)
		if slices.Contains(n.Implements, e.name) {
			names = append(names, n.Name)
		}
	}
	return names
}

// meet reports whether a node may have both of two types.
func (c *checker) meet(a, b nodeEnd) bool {
	switch {
	case a == b:
		return true
	case a.shared && b.shared:
		return slices.ContainsFunc(c.typesOf(a), func(name string) bool { return c.implements(name, b.name) })
	case a.shared:
		return c.implements(b.name, a.name)
	case b.shared:
		return c.implements(a.name, b.name)
	}
	return false
}

// chains reports whether an edge of a type can start where another one ends.
func (c *checker) chains(e *catalog.Edge) bool { return c.meet(endOf(e, true), endOf(e, false)) }

// chained returns 1 if an edge of a traversal can start where another one ends, and 0 otherwise.
func (c *checker) chained(st *step) int {
	if slices.ContainsFunc(st.edges, c.chains) {
		return 1
	}
	return 0
}

// given is an interface that a traversal gives a variable without a binding.
type given struct {
	end  nodeEnd
	step *step
	at   syntax.Token // the variable in the traversal
}

// give sets or narrows the type of a variable without a binding, which is at an end of the given type. It
// reports false if the variable has another type already, which the caller compares with the end.
func (c *checker) give(id plan.VarID, g given) bool {
	v := &c.read.Vars[id]
	before, open := c.open[id]
	switch {
	case v.Type == "" && g.end.shared:
		v.Entity, v.Type = plan.Interface, g.end.name
		c.open[id] = []given{g}
	case v.Type == "":
		v.Type = g.end.name
		c.useType(plan.Node, v.Type, false)
	case !open:
		return false
	case g.end.shared:
		if !slices.ContainsFunc(before, func(b given) bool { return b.end == g.end }) {
			c.open[id] = append(before, g)
		}
	case slices.ContainsFunc(before, func(b given) bool { return !c.meet(b.end, g.end) }):
		return false
	default:
		v.Entity, v.Type = plan.Node, g.end.name
		c.useType(plan.Node, v.Type, false)
		delete(c.open, id)
	}
	return true
}

// settle ends the search for the types of the variables of a block. A variable that no traversal gave a node
// type ranges over the interface that one gave it.
func (c *checker) settle() {
	for _, id := range slices.Sorted(maps.Keys(c.open)) {
		list := c.open[id]
		if len(list) > 1 {
			name := list[1].at.Value
			c.fault(WrongEndpoint, syntax.SpanOf(list[1].at), "bind it, as in "+name+": "+list[0].end.name,
				"the edges give %s two interfaces: %s and %s", name, list[0].end.name, list[1].end.name)
		}
		c.useType(plan.Interface, list[0].end.name, false)
	}
	c.open = nil
}

// endNode resolves $w.from or $w.to where the edge has an interface at this end.
func (c *checker) endNode(id plan.VarID, e *catalog.Edge, to bool, sc *scope) typed {
	name, _ := e.End(to)
	types := c.typesOf(nodeEnd{name, true})
	return typed{
		expr: plan.EndNode{Var: id, To: to, Interface: name}, typ: c.nullable(id, value.Type{}, sc),
		end: name, fields: plan.NodeFields(types),
	}
}

// whichEnd returns the name of an end of an edge, as a query writes it.
func whichEnd(to bool) string {
	if to {
		return "to"
	}
	return "from"
}

// endHelp is the help for a wrong use of $w.from or $w.to, where the edge has an interface at this end.
const endHelp = "use the variable at the end of the traversal, as in $x.id"

// sameEnd lowers a comparison with $w.from or $w.to, where the edge has an interface at this end. If no
// operand is of this form, `done` is false. The result `ok` is false if sameEnd reported an error.
func (c *checker) sameEnd(cmp *plan.Compare, l, r typed, at diag.Span) (done, ok bool) {
	one, other := l, r
	if one.end == "" {
		one, other = r, l
	}
	if one.end == "" {
		return false, false
	}
	name := one.expr.(plan.EndNode)
	edge := "$" + c.read.Vars[name.Var].Name + "." + whichEnd(name.To)
	var with nodeEnd
	switch {
	case other.end != "":
		with = nodeEnd{other.end, true}
	case other.among != "":
		with = nodeEnd{other.among, true}
	case other.node != "":
		with = nodeEnd{other.node, other.shared}
	case other.ref != "":
		with = nodeEnd{name: other.ref}
		other.expr = c.nodeRef(other.ref, other.expr)
	default:
		c.fault(Incomparable, at, "compare it with a node variable, or with a parameter that is a node, such as one of the type "+one.end, "%s is a %s, and cannot be compared with %s", edge, one.end, other)
		return true, false
	}
	switch {
	case cmp.Op != plan.Eq && cmp.Op != plan.Ne:
		c.fault(Incomparable, at, "write = or !=", "%s cannot compare two nodes", cmp.Op)
		return true, false
	case !c.meet(nodeEnd{one.end, true}, with):
		c.fault(Incomparable, at, "", "a %s and a %s are never the same node", one.end, with.name)
		return true, false
	}
	cmp.Left, cmp.Right = one.expr, other.expr
	return true, true
}
