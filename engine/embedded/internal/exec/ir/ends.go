package ir

import (
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// This file reads the ends of edges that are at interfaces. The entity at such an end is a reference to a node; see
// package version.

// endPart says what an ExprEnd takes from an end of an edge.
type endPart uint8

const (
	wholeEnd  endPart = iota // the id of the entity; for a reference, the text that the evaluator makes for its node
	endOfType                // the type of the node that a reference stands for
	endID                    // the id of the node that a reference stands for
)

// Of returns the value that an ExprEnd takes from the id of the entity at the end.
func (p endPart) Of(id string) string {
	if p == wholeEnd {
		return id
	}
	typ, node := schema.SplitRef(id)
	if p == endOfType {
		return typ
	}
	return node
}

// checkEnd checks that a variable is bound to edges, and that an interface is, or is not, at their end.
func (b *binder) checkEnd(v plan.VarID, to, atInterface bool) error {
	t := b.Types[v]
	if t.Entity != plan.Edge {
		return Mismatch("$%s is not an edge, so it has no endpoints", b.Read.Vars[v].Name)
	}
	if end := b.Schema.EndType(t, to); (end.Of != nil) != atInterface {
		return Mismatch("an end of edge %s is at %s", t.Name, end.Name)
	}
	return nil
}

// endFields binds the fields of a column with the node at an end of an edge.
func (b *binder) endFields(e plan.EndNode) (fields []*Expr, err error) {
	for _, part := range []endPart{endOfType, endID} {
		ex, err := b.expr(e)
		if err != nil {
			return nil, err
		}
		ex.Part = part
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

// twoNodes returns the operands of a comparison with the node at an end of an edge, as the texts that the evaluator
// makes. It reports false if the comparison is another one.
func (b *binder) twoNodes(c plan.Compare) (left, right *Expr, ok bool, err error) {
	_, l := c.Left.(plan.EndNode)
	_, r := c.Right.(plan.EndNode)
	if !l && !r {
		return nil, nil, false, nil
	}
	if c.Op != plan.Eq && c.Op != plan.Ne {
		return nil, nil, true, Mismatch("two nodes are compared with %s", c.Op)
	}
	if left, err = b.nodeText(c.Left); err == nil {
		right, err = b.nodeText(c.Right)
	}
	return left, right, true, err
}

// nodeText binds an operand of a comparison of nodes as a text.
func (b *binder) nodeText(e plan.Expr) (*Expr, error) {
	switch e := e.(type) {
	case plan.Whole:
		return b.ref(e), nil
	case plan.EndNode:
		return b.expr(e)
	case plan.NodeRef:
		return b.typedArgument(e)
	case plan.ParamRef:
		if e.Index >= 0 && e.Index < len(b.Params) && b.Params[e.Index].Interface != "" {
			return b.argument(e), nil
		}
	}
	return nil, Mismatch("the node at an end of an edge is compared with a value that is no node")
}
