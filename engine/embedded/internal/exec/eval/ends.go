package eval

import (
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// entityAt returns the entity that stands for a node at an end of an edge: the node itself, or its reference of type
// `ref`. It reports false if no edge has needed the reference.
func (ev *Evaluator) entityAt(r *ir.Route, ref *schema.Type, p ir.Place) (ord uint32, ok bool) {
	if ref == nil {
		return p.Node, true
	}
	return ev.Snap.ReferenceTo(ref, ev.Snap.Schema.Nodes[r.Kinds[p.Kind]], p.Node)
}

// neighbours calls `yield` for the nodes to which the live edges of a way lead from a node, once for each edge.
func (ev *Evaluator) neighbours(r *ir.Route, w *ir.Way, h Hop, node uint32, yield func(ir.Place)) error {
	from, ok := ev.entityAt(r, w.FromRef, ir.Place{Kind: w.From, Node: node})
	if !ok {
		return ev.Walk(1)
	}
	visit := func(other uint32) {
		p := ir.Place{Kind: w.To, Node: other}
		if w.ToRef != nil {
			typ, ord := ev.Snap.Referent(w.ToRef, other)
			kind, known := r.KindOf[typ.Index]
			if !known {
				return
			}
			p = ir.Place{Kind: kind, Node: ord}
		}
		yield(p)
	}
	edges, others := h.near(from)
	if err := ev.Walk(1 + len(others)); err != nil {
		return err
	}
	for i, other := range others {
		if h.BaseAlive || h.Edges.Alive(edges[i]) {
			visit(other)
		}
	}
	for o := h.Adj.Later(from); o.Next(); {
		if h.Alive || h.Edges.Alive(o.Edge) {
			visit(o.Other)
		}
	}
	return nil
}

// endText returns the value of an ir.ExprEnd of an edge.
func (ev *Evaluator) endText(e *ir.Expr, edges *version.Table, ord uint32) value.Value {
	src, dst := edges.Ends(ord)
	if e.To {
		src = dst
	}
	return value.OfString(e.Part.Of(ev.Snap.Nodes(ev.Snap.Schema.EndType(edges.Type, e.To).Index).ID(src)))
}
