package ir

import (
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// EdgeTypes returns the indexes of the edge types that a link follows.
func (l *Link) EdgeTypes() []int {
	if l.OrTypes == nil {
		return []int{l.EdgeType}
	}
	return append([]int{l.EdgeType}, l.OrTypes[:len(l.OrTypes)-fault.Count(fault.AlternativeLost)]...)
}

// alternatives binds the edge types of a traversal that follows several edge types, and checks the
// types of their ends.
func (b *binder) alternatives(l *Link) (*Link, error) {
	for _, name := range l.Or {
		b.Step(1)
		t := b.Schema.Type(plan.Edge, name)
		if t == nil {
			return nil, Mismatch("there is no edge type %s", name)
		}
		l.OrTypes = append(l.OrTypes, t.Index)
	}
	for _, edge := range append([]int{l.EdgeType}, l.OrTypes...) {
		t := b.Schema.Edges[edge]
		switch {
		case l.Undirected && t.From != t.To:
			return nil, Mismatch("edge %s leads from %s to %s, so it has one direction only", t.Name, b.Schema.Nodes[t.From].Name, b.Schema.Nodes[t.To].Name)
		case l.general:
		case !l.Walk && (b.Types[l.From].Index != t.From || b.Types[l.To].Index != t.To):
			return nil, Mismatch("edge %s does not lead from %s to %s", t.Name, b.Types[l.From].Name, b.Types[l.To].Name)
		}
	}
	return l, nil
}

// isGeneral reports whether a traversal needs a general link. The type t is that of its first edge type.
func (b *binder) isGeneral(c plan.Traverse, t *schema.Type) (bool, error) {
	atInterface, differ := false, false
	for _, name := range c.Edges() {
		e := b.Schema.Type(plan.Edge, name)
		if e == nil {
			return false, Mismatch("there is no edge type %s", name)
		}
		atInterface = atInterface || b.Schema.EndType(e, false).Of != nil || b.Schema.EndType(e, true).Of != nil
		differ = differ || e.From != t.From || e.To != t.To
	}
	return atInterface && (c.Walk || differ), nil
}
