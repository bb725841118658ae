package ir

import (
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// This file compares nodes, which may be of an interface, with parameters that are nodes.

// form says which text an ExprConst takes from a parameter that is a node.
type form uint8

const (
	PlainForm form = iota // the argument as it is
	RefForm               // the text that the evaluator makes for the node, whose type is in the argument
	IDForm                // the id of the node in the argument; null if the node has another type than Expr.Node
	TypedForm             // the text that the evaluator makes for the node of type Expr.Node whose id is the argument
)

// nodeParam returns the operands of a comparison of a node with a parameter that is a node of an interface, or that is
// the id of a node of a given type. It reports false if the comparison is another one.
func (b *binder) nodeParam(c plan.Compare) (left, right *Expr, ok bool, err error) {
	w, isNode := c.Left.(plan.Whole)
	if typed, ok := c.Right.(plan.NodeRef); ok && isNode {
		if c.Op != plan.Eq && c.Op != plan.Ne {
			return nil, nil, true, Mismatch("two nodes are compared with %s", c.Op)
		}
		right, err = b.typedArgument(typed)
		return b.ref(w), right, true, err
	}
	ref, isParam := c.Right.(plan.ParamRef)
	switch {
	case !isNode || !isParam:
		return nil, nil, false, nil
	case ref.Index < 0 || ref.Index >= len(b.Params):
		return nil, nil, true, Mismatch("there is no parameter %d", ref.Index)
	case b.Params[ref.Index].Interface == "":
		return nil, nil, false, nil
	case c.Op != plan.Eq && c.Op != plan.Ne:
		return nil, nil, true, Mismatch("two nodes are compared with %s", c.Op)
	}
	right = b.argument(ref)
	if c.Op == plan.Ne || b.IsShared(w.Var) {
		return b.ref(w), right, true, nil
	}
	// A comparison with the id lets the planner look the node up.
	right.Form, right.Node = IDForm, b.Types[w.Var].Name
	left, err = b.expr(plan.ID(w))
	return left, right, true, err
}

// argument binds a parameter that is a node of an interface as a text.
func (b *binder) argument(ref plan.ParamRef) *Expr {
	b.Step(1)
	b.Vecs++
	return &Expr{Src: ref, Type: value.Of(value.String), Slot: b.Vecs - 1, Form: RefForm}
}

// typedArgument binds a node of a given type, whose id is a parameter, as a text.
func (b *binder) typedArgument(ref plan.NodeRef) (*Expr, error) {
	typ, isLit := ref.Type.(plan.Lit)
	id, isParam := ref.ID.(plan.ParamRef)
	switch {
	case !isLit || typ.Value.Kind() != value.String || typ.Value.IsNull() || typ.Value.IsList() || !isParam:
		return nil, Mismatch("a node is compared with another node than a parameter")
	case id.Index < 0 || id.Index >= len(b.Params):
		return nil, Mismatch("there is no parameter %d", id.Index)
	case b.Params[id.Index].Interface != "" || b.Params[id.Index].Type.Kind != value.String || b.Params[id.Index].Type.List:
		return nil, Mismatch("the parameter %s is not the id of a node", b.Params[id.Index].Name)
	case b.Schema.Type(plan.Node, typ.Value.Str()) == nil:
		return nil, Mismatch("there is no node type %s", typ.Value.Str())
	}
	out := b.argument(id)
	out.Form, out.Node = TypedForm, typ.Value.Str()
	return out, nil
}
