package check

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// This file checks the parameters that are nodes: ids of nodes of one type, as in ($p: Person), and nodes of an
// interface, as in ($n: Named).

// interfaceParam returns the types that implement the interface that a word in the type of the parameter `name`
// names. The result `ok` is false if the word names no interface. If no type implements the interface,
// interfaceParam reports this.
func (c *checker) interfaceParam(word syntax.Token, name string) (types []string, ok bool) {
	if !slices.ContainsFunc(c.schema.Interfaces, func(i *catalog.Interface) bool { return i.Name == word.Value }) {
		return nil, false
	}
	for _, n := range c.schema.Implementers(word.Value) {
		c.step(1)
		types = append(types, n.Name)
	}
	if len(types) == 0 {
		c.fault(UnknownNode, syntax.SpanOf(word), "write implements "+word.Value+" after the name of a node type in the schema",
			"no node type implements %s, so $%s can have no value", word.Value, name)
		return nil, true
	}
	c.useType(plan.Interface, word.Value, false)
	return types, true
}

// sameHelp returns the help for a wrong use of a parameter that is a node of an interface.
func sameHelp(param string) string { return "compare it with a node of the match: $n = $" + param }

// sameAsArgument lowers a comparison of a node with a parameter that is a node of an interface. If no operand
// is such a parameter, `done` is false. The result `ok` is false if sameAsArgument reported an error.
func (c *checker) sameAsArgument(cmp *plan.Compare, l, r typed, at diag.Span) (done, ok bool) {
	node, arg := l, r
	if l.among != "" {
		node, arg = r, l
	}
	if arg.among == "" {
		return false, false
	}
	name := c.plan.Params[arg.expr.(plan.ParamRef).Index].Name
	whole, isWhole := node.expr.(plan.Whole)
	switch {
	case !isWhole:
		c.fault(Incomparable, at, sameHelp(name), "$%s is a %s, and cannot be compared with %s", name, arg.among, node)
		return true, false
	case cmp.Op != plan.Eq && cmp.Op != plan.Ne:
		c.fault(Incomparable, at, sameHelp(name)+", or with !=", "%s cannot compare two nodes", cmp.Op)
		return true, false
	case c.neverSame(node, typed{node: arg.among, shared: true}):
		c.fault(Incomparable, at, "", "a %s and a %s are never the same node", node.node, arg.among)
		return true, false
	}
	cmp.Left, cmp.Right = whole, arg.expr
	return true, true
}

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
	help := c.suggest(word.Value, c.typeNames)
	if help == "" {
		help = syntax.ScalarHelp(word.Value)
	}
	c.fault(syntax.UnknownScalar, at, help, "unknown type %s: it is neither a scalar, a node type nor an interface", word.Value)
	return ""
}

// sameAsRef lowers a comparison of a node or its id with a parameter that is the id of a node. A variable over an
// interface is compared with the type and the id. If the
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
		param := c.plan.Params[ref.expr.(plan.ParamRef).Index].Name
		whole, isWhole := node.expr.(plan.Whole)
		switch {
		case !isWhole:
			c.fault(Incomparable, at, "compare the node, with its type: $"+v.Name+" = $"+param, "$%s is bound to the interface %s, and its id cannot be compared with the id of a %s", v.Name, v.Type, ref.ref)
			return true, false
		case !c.meet(typeOfVar(v), nodeEnd{name: ref.ref}):
			c.fault(Incomparable, at, "", "a %s and a %s are never the same node", v.Type, ref.ref)
			return true, false
		}
		cmp.Left, cmp.Right = whole, c.nodeRef(ref.ref, ref.expr)
		return true, true
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
