package eval

import (
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// Narrowed returns the ordinal in the table of type t, a node type or a reference type, for the node that a variable
// stands for. It reports false if there is none.
func (ev *Evaluator) Narrowed(v plan.VarID, ord uint32, t *schema.Type) (uint32, bool) {
	typ := ev.Types[v]
	if s := ev.Shared(v); s != nil {
		var k int
		k, ord = s.place(ord)
		typ = s.of.Members[k].Type
		if t.Of != nil && k > 0 && k == len(s.of.Members)-1 && fault.On(fault.EndLost) {
			return 0, false
		}
	}
	if t.Of == nil {
		return ord, typ == t
	}
	return ev.Snap.ReferenceTo(t, typ, ord)
}

// Referent returns the node that a variable of a node type or a reference type stands for: its type, and its ordinal
// in the table of that type.
func (ev *Evaluator) Referent(v plan.VarID, ord uint32) (*schema.Type, uint32) {
	if t := ev.Types[v]; t.Of == nil {
		return t, ord
	}
	return ev.Snap.Referent(ev.Types[v], ord)
}

// Widened returns the ordinal of a variable of an interface or a node type for a node. It reports false if the variable
// cannot stand for the node.
func (ev *Evaluator) Widened(v plan.VarID, typ *schema.Type, ord uint32) (uint32, bool) {
	s := ev.Shared(v)
	if s == nil {
		return ord, typ == ev.Types[v]
	}
	k := s.of.Position(typ)
	if k < 0 {
		return 0, false
	}
	return s.Starts[k] + ord, true
}
