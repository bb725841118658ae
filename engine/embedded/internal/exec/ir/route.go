package ir

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// WalkType serves as the type of variables that are bound to walks. No schema contains it.
var WalkType = &schema.Type{Entity: plan.Walk, Name: "walk", IDProp: -1}

// Route is the part of a schema that a walk between two nodes can use, or a traversal along edges of several
// types that have an interface at an end. Its nodes may be of several types. The route numbers these types;
// the number of a type is its kind.
type Route struct {
	Link      *Link
	Kinds     []int       // indexes of the node types; a kind is a position in this list
	Names     []string    // names of the node types
	KindOf    map[int]int // kinds by index of the node type
	accepts   [2][]bool   // by kind: whether such a node may be at the near end, and at the far end
	Near, Far RouteEnd    // the variables of the link
	Closed    bool        // the walk leads back to its start
	Min, Max  int         // bounds of the length
	Ahead     []Way       // the ways that lead away from the near end
	Back      []Way       // the same ways, reversed
}

// Way is one direction of an edge type on a route, for source nodes of one kind.
type Way struct {
	Edge    int          // index of the edge type
	In      bool         // follows edges from target to source
	From    int          // kind of the node at which it begins
	To      int          // kind of the node at which it ends; of no use if ToRef is not nil
	FromRef *schema.Type // reference type at which the way begins, or nil
	ToRef   *schema.Type // reference type at which the way ends, or nil
}

// Place is a node on a route.
type Place struct {
	Kind int
	Node uint32
}

// RouteEnd says which nodes a variable at an end of a route can stand for.
type RouteEnd struct {
	Var    plan.VarID
	Only   int   // kind of the nodes of a variable over a node type, or -1 if none is on the route
	Kinds  []int // of a variable over an interface, by position of the member: the kind, or -1 for none
	Member []int // of a variable over an interface, by kind: the position of the member, or -1 for none
}

// NewRoute returns the route of a link. If the argument `back` is true, the walk begins at the link's target
// and follows the edges backwards.
func NewRoute(q *Query, l *Link, back bool) *Route {
	s := q.Schema
	r := &Route{Link: l, Closed: l.From == l.To, Min: l.Min, Max: l.Max, KindOf: map[int]int{}}
	from, to := l.From, l.To
	if back {
		from, to = to, from
	}
	if !l.general {
		r.accept(0, r.kind(s, q.Types[from].Index))
		r.accept(1, r.kind(s, q.Types[to].Index))
	}
	for _, edge := range l.EdgeTypes() {
		t := s.Edges[edge]
		if !back || l.Undirected {
			r.addWays(s, t, false)
		}
		if back || l.Undirected {
			r.addWays(s, t, true)
		}
	}
	r.Near, r.Far = r.end(q, from, 0), r.end(q, to, 1)
	return r
}

// kind returns the kind of a node type.
func (r *Route) kind(s *schema.Schema, node int) int {
	at, ok := r.KindOf[node]
	if !ok {
		at = len(r.Kinds)
		r.KindOf[node] = at
		r.Kinds, r.Names = append(r.Kinds, node), append(r.Names, s.Nodes[node].Name)
		r.accepts[0], r.accepts[1] = append(r.accepts[0], false), append(r.accepts[1], false)
	}
	return at
}

// accept records that nodes of a kind may be at the near end (0) or the far end (1).
func (r *Route) accept(end, kind int) { r.accepts[end][kind] = true }

// addWays adds the ways along an edge type, ahead and back. The argument `in` says whether the ways ahead lead
// from target to source.
func (r *Route) addWays(s *schema.Schema, t *schema.Type, in bool) {
	begin, end := s.EndType(t, in), s.EndType(t, !in)
	starts, ends := r.kindsAt(s, begin), r.kindsAt(s, end)
	if r.Link.general {
		for _, k := range starts {
			r.accept(0, k)
		}
		for _, k := range ends {
			r.accept(1, k)
		}
	}
	r.Ahead = appendWays(r.Ahead, t.Index, in, begin, end, starts, ends)
	r.Back = appendWays(r.Back, t.Index, !in, end, begin, ends, starts)
}

// kindsAt returns the kinds of the nodes that may be at an end of an edge.
func (r *Route) kindsAt(s *schema.Schema, end *schema.Type) []int {
	if end.Of == nil {
		return []int{r.kind(s, end.Index)}
	}
	kinds := make([]int, len(end.Of.Members))
	for i, m := range end.Of.Members {
		kinds[i] = r.kind(s, m.Type.Index)
	}
	return kinds
}

// appendWays appends the ways of an edge type from nodes of some kinds to nodes of others.
func appendWays(ways []Way, edge int, in bool, begin, end *schema.Type, starts, ends []int) []Way {
	w := Way{Edge: edge, In: in}
	if begin.Of != nil {
		w.FromRef = begin
	}
	if end.Of != nil {
		w.ToRef = end
	} else {
		w.To = ends[0]
	}
	for _, k := range starts {
		w.From = k
		ways = append(ways, w)
	}
	return ways
}

// IsDirect reports whether the ends of the edges are the nodes themselves and not references.
func (w *Way) IsDirect() bool { return w.FromRef == nil && w.ToRef == nil }

// end returns the nodes that a variable can stand for at the near end (0) or the far end (1).
func (r *Route) end(q *Query, v plan.VarID, end int) RouteEnd {
	kindOf := func(t *schema.Type) int {
		if k, ok := r.KindOf[t.Index]; ok && r.accepts[end][k] {
			return k
		}
		return -1
	}
	over := q.Over[v]
	if over == nil {
		return RouteEnd{Var: v, Only: kindOf(q.Types[v])}
	}
	out := RouteEnd{Var: v, Only: -1, Member: slices.Repeat([]int{-1}, len(r.Kinds))}
	for m, member := range over.Members {
		k := kindOf(member.Type)
		if out.Kinds = append(out.Kinds, k); k >= 0 {
			out.Member[k] = m
		}
	}
	return out
}

// Within returns the given length, or -1 if the length is outside of the route's bounds.
func (r *Route) Within(length int) int {
	if length < r.Min || length > r.Max {
		return -1
	}
	return length
}
