package check

import (
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// This file checks the parameters that are ids of nodes, as in ($p: Person).

// nodeParam returns the node type that a word in the type of the parameter `name` names, or "" after it
// reported that there is none.
func (c *checker) nodeParam(word syntax.Token, name string) string {
	c.step(1)
	at := syntax.SpanOf(word)
	if n := c.schema.Node(word.Value); n != nil {
		return n.Name
	}
	if e := c.schema.Edge(word.Value); e != nil {
		c.fault(UnknownNode, at, "declare $"+name+" as String for the id of an edge, or name a node type", "%s is an edge, and a parameter can be the id of a node only", word.Value)
		return ""
	}
	if types, ok := c.implementers(word.Value); ok {
		help := "declare $" + name + " as String"
		if types != "" {
			help = "name a type that implements it: " + types
		}
		c.fault(UnknownNode, at, help, "%s is an interface, but the type of a parameter must be a node type or a scalar", word.Value)
		return ""
	}
	help := c.suggest(word.Value, func() []string { return nodeNames(c.schema) })
	if help == "" {
		help = syntax.ScalarHelp(word.Value)
	}
	c.fault(syntax.UnknownScalar, at, help, "unknown type %s: it is neither a scalar nor a node type", word.Value)
	return ""
}

// sameAsRef lowers a comparison of a node or its id with a parameter that is the id of a node. If the
// operands are not of this form, `done` is false. The result `ok` is false if it reported an error.
func (c *checker) sameAsRef(cmp *plan.Compare, l, r typed, at diag.Span) (done, ok bool) {
	if cmp.Op != plan.Eq && cmp.Op != plan.Ne {
		return false, false
	}
	node, ref := l, r
	if l.ref != "" {
		node, ref = r, l
	}
	var of plan.ID
	switch e := node.expr.(type) {
	case plan.Whole:
		of = plan.ID(e)
	case plan.ID:
		of = e
	default:
		return false, false
	}
	v := c.read.Vars[of.Var]
	if ref.ref != "" && v.Entity == plan.Interface { // nodes of other types may have the same id
		c.fault(Incomparable, at, "bind a variable of that type and compare it with both: $"+v.Name+"2: "+ref.ref, "$%s is bound to the interface %s, and cannot be compared with the id of a %s", v.Name, v.Type, ref.ref)
		return true, false
	}
	if ref.ref == "" || v.Entity != plan.Node {
		return false, false
	} else if v.Type != ref.ref {
		c.fault(Incomparable, at, "", "a %s and a %s are never the same node", v.Type, ref.ref)
		return true, false
	}
	cmp.Left, cmp.Right = of, ref.expr
	return true, true
}

// endRef checks a parameter that a mutation uses as the id of a node. The argument `name` is id, from or
// to. It returns false if it reported that the parameter is the id of a node of another type.
func (c *checker) endRef(e plan.Expr, t target, name string, at diag.Span) bool {
	p, ok := e.(plan.ParamRef)
	if !ok || c.plan.Params[p.Index].Node == "" {
		return true
	}
	ref, want := c.plan.Params[p.Index].Node, t.name
	switch {
	case t.edge != nil && name == "from":
		want = t.edge.From
	case t.edge != nil && name == "to":
		want = t.edge.To
	}
	if ref == want {
		return true
	}
	c.fault(WrongEndpoint, at, "", "$%s is a %s, but %s of %s is the id of a %s", c.plan.Params[p.Index].Name, ref, name, t.name, want)
	return false
}
