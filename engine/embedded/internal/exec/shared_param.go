package exec

import (
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// This file compares nodes, which may be of an interface, with parameters that are nodes.

// form says which text an exprConst takes from a parameter that is a node.
type form uint8

const (
	plainForm form = iota // the argument as it is
	refForm               // the text that evaluator.evalRef makes for the node, whose type is in the argument
	idForm                // the id of the node in the argument; null if the node has another type than expr.node
	typedForm             // the text that evaluator.evalRef makes for the node of type expr.node whose id is the argument
)

// nodeParam returns the operands of a comparison of a node with a parameter that is a node of an interface, or that is
// the id of a node of a given type. It reports false if the comparison is another one.
func (b *binder) nodeParam(c plan.Compare) (left, right *expr, ok bool, err error) {
	w, isNode := c.Left.(plan.Whole)
	if typed, ok := c.Right.(plan.NodeRef); ok && isNode {
		if c.Op != plan.Eq && c.Op != plan.Ne {
			return nil, nil, true, mismatch("two nodes are compared with %s", c.Op)
		}
		right, err = b.typedArgument(typed)
		return b.ref(w), right, true, err
	}
	ref, isParam := c.Right.(plan.ParamRef)
	switch {
	case !isNode || !isParam:
		return nil, nil, false, nil
	case ref.Index < 0 || ref.Index >= len(b.params):
		return nil, nil, true, mismatch("there is no parameter %d", ref.Index)
	case b.params[ref.Index].Interface == "":
		return nil, nil, false, nil
	case c.Op != plan.Eq && c.Op != plan.Ne:
		return nil, nil, true, mismatch("two nodes are compared with %s", c.Op)
	}
	right = b.argument(ref)
	if c.Op == plan.Ne || b.isShared(w.Var) {
		return b.ref(w), right, true, nil
	}
	// A comparison with the id lets the planner look the node up.
	right.form, right.node = idForm, b.types[w.Var].Name
	left, err = b.expr(plan.ID(w))
	return left, right, true, err
}

// argument binds a parameter that is a node of an interface as a text.
func (b *binder) argument(ref plan.ParamRef) *expr {
	b.step(1)
	b.vecs++
	return &expr{src: ref, typ: value.Of(value.String), slot: b.vecs - 1, form: refForm}
}

// typedArgument binds a node of a given type, whose id is a parameter, as a text.
func (b *binder) typedArgument(ref plan.NodeRef) (*expr, error) {
	typ, isLit := ref.Type.(plan.Lit)
	id, isParam := ref.ID.(plan.ParamRef)
	switch {
	case !isLit || typ.Value.Kind() != value.String || typ.Value.IsNull() || typ.Value.IsList() || !isParam:
		return nil, mismatch("a node is compared with another node than a parameter")
	case id.Index < 0 || id.Index >= len(b.params):
		return nil, mismatch("there is no parameter %d", id.Index)
	case b.params[id.Index].Interface != "" || b.params[id.Index].Type.Kind != value.String || b.params[id.Index].Type.List:
		return nil, mismatch("the parameter %s is not the id of a node", b.params[id.Index].Name)
	case b.Schema.Type(plan.Node, typ.Value.Str()) == nil:
		return nil, mismatch("there is no node type %s", typ.Value.Str())
	}
	out := b.argument(id)
	out.form, out.node = typedForm, typ.Value.Str()
	return out, nil
}

// nodeText returns the text that an expression takes from an argument that is a node, or null.
func (ev *evaluator) nodeText(e *expr, arg value.Value) value.Value {
	if arg.IsNull() {
		return value.Null
	}
	typ, id := e.node, ""
	if e.form == typedForm {
		id = arg.Str()
	} else {
		typ, id = plan.NodeOf(arg)
	}
	if e.form == idForm {
		if typ != e.node && !fault.On(fault.TypesIgnored) {
			return value.Null
		}
		return value.OfString(id)
	}
	if v, ok := ev.known[e]; ok {
		return v
	}
	if err := ev.spend(len(typ) + 1 + len(id)); err != nil {
		ev.fail(err)
		return value.Null
	}
	if ev.known == nil {
		ev.known = map[*expr]value.Value{}
	}
	v := value.OfString(refText(typ, id))
	ev.known[e] = v
	return v
}

// refText returns the text that identifies a node among those of all types; see evaluator.evalRef.
func refText(typ, id string) string {
	if fault.On(fault.TypesIgnored) {
		return id
	}
	return version.RefID(typ, id)
}

// idIn returns the id in a text of refText if the node has the given type, or else false.
func idIn(ref, typ string) (id string, ok bool) {
	if fault.On(fault.TypesIgnored) {
		return ref, true
	}
	is, id := version.SplitRef(ref)
	return id, is == typ
}
