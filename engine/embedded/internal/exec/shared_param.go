package exec

import (
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// This file compares nodes with parameters that are nodes of interfaces.

// form says which text an exprConst takes from a parameter that is a node of an interface.
type form uint8

const (
	plainForm form = iota // the parameter is not a node of an interface
	refForm               // the text that evaluator.evalRef makes for the node
	idForm                // the id of the node; null if the node has another type than expr.node
)

// nodeParam returns the operands of a comparison of a node with a parameter that is a node of an interface. It
// reports false if the comparison is another one.
func (b *binder) nodeParam(c plan.Compare) (left, right *expr, ok bool, err error) {
	w, isNode := c.Left.(plan.Whole)
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

// nodeText returns the text that an expression takes from an argument that is a node of an interface, or null.
func (ev *evaluator) nodeText(e *expr, arg value.Value) value.Value {
	if arg.IsNull() {
		return value.Null
	}
	typ, id := plan.NodeOf(arg)
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
