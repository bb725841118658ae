package naive

import (
	"cmp"
	"slices"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// This file evaluates facts about walks. Unlike an engine, the model does not search for a walk: it tests for each node
// whether the rest of a walk of a given length is possible.

// walkPart returns a fact about the walk between two nodes of the environment.
func (ev *evaluation) walkPart(p plan.WalkPart) value.Value {
	from, to := ev.env[p.From], ev.env[p.To]
	if ev.env[p.Var] == nothing {
		return value.Null
	}
	t := walkOf(ev.query, p.Var)
	w := walkTest{ev, t, p.From != t.From, to, map[walkRest]bool{}}
	length := 0
	if t.From == t.To {
		length = 1
	}
	for !w.possible(from, length) {
		if length++; length > t.Max {
			return value.Null // only a model with a fault reaches this line
		}
	}
	if p.Fact == plan.WalkHops {
		if ev.g.fault == HopsFromOne {
			length++
		}
		return value.OfI32(int32(length))
	}
	nodes := []*entity{from}
	for left := length - 1; left >= 0; left-- {
		nodes = append(nodes, w.next(nodes[len(nodes)-1], left))
	}
	if ev.g.fault == WalkReversed {
		slices.Reverse(nodes)
	}
	list := make([]value.Value, len(nodes))
	for i, n := range nodes {
		if p.Fact == plan.WalkTypes {
			list[i] = value.OfString(n.typ)
		} else {
			list[i] = value.OfString(n.id)
		}
	}
	return value.OfList(value.String, list)
}

// walkTest tests whether walks of given lengths lead to a node.
type walkTest struct {
	ev    *evaluation
	t     plan.Traverse
	back  bool // the walk follows the edges from target to source
	to    *entity
	known map[walkRest]bool
}

// walkRest is the rest of a walk: the node at which it begins, and its length.
type walkRest struct {
	node *entity
	left int
}

// possible reports whether a walk of the given length leads from a node to the end.
func (w *walkTest) possible(node *entity, left int) bool {
	if left == 0 {
		return node == w.to
	}
	at := walkRest{node, left}
	if found, ok := w.known[at]; ok {
		return found
	}
	w.known[at] = slices.ContainsFunc(w.neighbours(node), func(n *entity) bool { return w.possible(n, left-1) })
	return w.known[at]
}

// next returns the neighbour whose type and id come first among those from which a walk of the given length leads to the
// end. REQUIRES: there is one.
func (w *walkTest) next(node *entity, left int) *entity {
	fit := slices.DeleteFunc(w.neighbours(node), func(n *entity) bool { return !w.possible(n, left) })
	least := slices.MinFunc[[]*entity]
	if w.ev.g.fault == LastWalk {
		least = slices.MaxFunc[[]*entity]
	}
	return least(fit, func(a, b *entity) int { return cmp.Or(cmp.Compare(a.typ, b.typ), cmp.Compare(a.id, b.id)) })
}

// neighbours returns the nodes that one step of the walk reaches.
func (w *walkTest) neighbours(node *entity) []*entity {
	if !w.back || w.t.Undirected {
		return w.ev.neighbours(w.t, node)
	}
	return w.ev.entering(w.t, node)
}

// entering returns the sources of the edges that enter a node.
func (ev *evaluation) entering(t plan.Traverse, node *entity) []*entity {
	var found []*entity
	for _, name := range ev.alternatives(t) {
		for _, e := range ev.state.sorted(plan.Edge, name) {
			if source := ev.state.node(e, false); source != nil && ev.ends(e, true, node) {
				found = append(found, source)
			}
		}
	}
	return found
}

// walkOf returns the traversal that binds a walk. It looks in every block of the read, including those within
// expressions.
func walkOf(q *plan.Query, v plan.VarID) plan.Traverse {
	var found plan.Traverse
	var search func(clauses []plan.Clause)
	block := func(e plan.Expr) {
		if h, ok := e.(plan.Holds); ok {
			search([]plan.Clause{h.Block})
		}
		if match, _, ok := plan.Subquery(e); ok {
			search(match)
		}
	}
	inside := func(e plan.Expr) { plan.WalkExpr(e, block) }
	search = func(clauses []plan.Clause) {
		for _, c := range clauses {
			if t, ok := c.(plan.Traverse); ok && t.Walk && t.EdgeVar == v {
				found = t
			}
			search(plan.Block(c))
		}
		plan.WalkClauses(clauses, block)
	}
	search(q.Read.Match)
	search(q.Read.Having)
	for _, c := range q.Read.Columns {
		inside(c.Expr)
	}
	for _, o := range q.Read.Order {
		inside(o.Expr)
	}
	return found
}
