package eval

import (
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// nodeText returns the text that the form of an expression takes from an argument that is a node, or null.
func (ev *Evaluator) nodeText(e *ir.Expr, arg value.Value) value.Value {
	if arg.IsNull() {
		return value.Null
	}
	switch e.Form {
	case ir.IDForm:
		typ, id := plan.NodeOf(arg)
		if typ != e.Node && !fault.On(fault.TypesIgnored) {
			return value.Null
		}
		return value.OfString(id)
	case ir.RefForm:
		typ, id := plan.NodeOf(arg)
		return ev.knownRef(e, typ, id)
	case ir.TypedForm:
		return ev.knownRef(e, e.Node, arg.Str())
	case ir.PlainForm:
	}
	return arg
}

// knownRef returns the text of refText for a parameter. The expression has the same node during a run, so the text is made once, kept in
// ev.known, and counted to the memory of the run. If there is no memory, the evaluator fails.
func (ev *Evaluator) knownRef(e *ir.Expr, typ, id string) value.Value {
	if v, ok := ev.known[e]; ok {
		return v
	}
	if err := ev.Spend(len(typ) + 1 + len(id)); err != nil {
		ev.Fail(err)
		return value.Null
	}
	if ev.known == nil {
		ev.known = map[*ir.Expr]value.Value{}
	}
	v := value.OfString(refText(typ, id))
	ev.known[e] = v
	return v
}

// refText returns the text that identifies a node among those of all types; see Evaluator.evalRef.
func refText(typ, id string) string {
	if fault.On(fault.TypesIgnored) {
		return id
	}
	return schema.RefID(typ, id)
}

// IDIn returns the id in a text of refText if the node has the given type, or else false.
func IDIn(ref, typ string) (id string, ok bool) {
	if fault.On(fault.TypesIgnored) {
		return ref, true
	}
	is, id := schema.SplitRef(ref)
	return id, is == typ
}
