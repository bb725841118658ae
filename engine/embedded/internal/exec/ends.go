package exec

import (
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// This file reads the ends of edges that are at interfaces. The entity at such an end is a reference to a node; see
// package version.

// endPart says what an exprEnd takes from an end of an edge.
type endPart uint8

const (
	wholeEnd  endPart = iota // the id of the entity; for a reference, the text that evaluator.evalRef makes for its node
	endOfType                // the type of the node that a reference stands for
	endID                    // the id of the node that a reference stands for
)

// of returns the value that an exprEnd takes from the id of the entity at the end.
func (p endPart) of(id string) string {
	if p == wholeEnd {
		return id
	}
	typ, node := version.SplitRef(id)
	if p == endOfType {
		return typ
	}
	return node
}

// checkEnd checks that a variable is bound to edges, and that an interface is, or is not, at their end.
func (b *binder) checkEnd(v plan.VarID, to, atInterface bool) error {
	t := b.types[v]
	if t.Entity != plan.Edge {
		return mismatch("$%s is not an edge, so it has no endpoints", b.read.Vars[v].Name)
	}
	if end := b.Schema.EndType(t, to); (end.Of != nil) != atInterface {
		return mismatch("an end of edge %s is at %s", t.Name, end.Name)
	}
	return nil
}

// endFields binds the fields of a column with the node at an end of an edge.
func (b *binder) endFields(e plan.EndNode) (fields []*expr, err error) {
	for _, part := range []endPart{endOfType, endID} {
		ex, err := b.expr(e)
		if err != nil {
			return nil, err
		}
		ex.part = part
		fields = append(fields, ex)
	}
	return fields, nil
}

// isNode reports whether an expression is a node with the fields of a column.
func isNode(e plan.Expr) bool {
	switch e.(type) {
	case plan.Whole, plan.EndNode:
		return true
	}
	return false
}

// twoNodes returns the operands of a comparison with the node at an end of an edge, as texts; see evaluator.evalRef. It
// reports false if the comparison is another one.
func (b *binder) twoNodes(c plan.Compare) (left, right *expr, ok bool, err error) {
	_, l := c.Left.(plan.EndNode)
	_, r := c.Right.(plan.EndNode)
	if !l && !r {
		return nil, nil, false, nil
	}
	if c.Op != plan.Eq && c.Op != plan.Ne {
		return nil, nil, true, mismatch("two nodes are compared with %s", c.Op)
	}
	if left, err = b.nodeText(c.Left); err == nil {
		right, err = b.nodeText(c.Right)
	}
	return left, right, true, err
}

// nodeText binds an operand of a comparison of nodes as a text.
func (b *binder) nodeText(e plan.Expr) (*expr, error) {
	switch e := e.(type) {
	case plan.Whole:
		return b.ref(e), nil
	case plan.EndNode:
		return b.expr(e)
	case plan.NodeRef:
		return b.typedArgument(e)
	case plan.ParamRef:
		if e.Index >= 0 && e.Index < len(b.params) && b.params[e.Index].Interface != "" {
			return b.argument(e), nil
		}
	}
	return nil, mismatch("the node at an end of an edge is compared with a value that is no node")
}

// entityAt returns the entity that stands for a node at an end of an edge: the node itself, or its reference of type
// `ref`. It reports false if no edge has needed the reference.
func (ev *evaluator) entityAt(r *route, ref *version.Type, p place) (ord uint32, ok bool) {
	if ref == nil {
		return p.node, true
	}
	return ev.snap.ReferenceTo(ref, ev.snap.Schema.Nodes[r.kinds[p.kind]], p.node)
}

// neighbours calls `yield` for the nodes to which the live edges of a way lead from a node, once for each edge.
func (ev *evaluator) neighbours(r *route, w *way, h hop, node uint32, yield func(place)) error {
	from, ok := ev.entityAt(r, w.fromRef, place{w.from, node})
	if !ok {
		return ev.walk(1)
	}
	visit := func(other uint32) {
		p := place{w.to, other}
		if w.toRef != nil {
			typ, ord := ev.snap.Referent(w.toRef, other)
			kind, known := r.kindOf[typ.Index]
			if !known {
				return
			}
			p = place{kind, ord}
		}
		yield(p)
	}
	edges, others := h.near(from)
	if err := ev.walk(1 + len(others)); err != nil {
		return err
	}
	for i, other := range others {
		if h.alive || h.edges.Alive(edges[i]) {
			visit(other)
		}
	}
	for o := h.adj.Later(from); o.Next(); {
		if h.alive || h.edges.Alive(o.Edge) {
			visit(o.Other)
		}
	}
	return nil
}

// endText returns the value of an exprEnd of an edge.
func (ev *evaluator) endText(e *expr, edges *version.Table, ord uint32) value.Value {
	src, dst := edges.Ends(ord)
	if e.to {
		src = dst
	}
	return value.OfString(e.part.of(ev.snap.Nodes(ev.snap.Schema.EndType(edges.Type, e.to).Index).ID(src)))
}
