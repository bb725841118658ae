package eval

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
)

// HopsOf appends to the list `hops` the directions in which the edge types of a link are followed.
func (ev *Evaluator) HopsOf(hops []Hop, l *ir.Link, out, in bool) []Hop {
	one, n := ev.Hops(l.EdgeType, out, in)
	hops = append(hops, one[:n]...)
	if l.OrTypes == nil {
		return hops
	}
	for _, edge := range l.EdgeTypes()[1:] {
		if fault.On(fault.OneDirection) && out {
			in = false
		}
		more, n := ev.Hops(edge, out, in)
		hops = append(hops, more[:n]...)
	}
	return hops
}

// Plain reports whether the base of the index lists all neighbours of a node, each once and in ascending order.
func (h *Hop) Plain(node uint32) bool { return h.BaseAlive && h.Adj.Distinct() && h.Adj.InBase(node) }

// Hop is one direction of an edge type.
type Hop struct {
	Edges *version.Table   // the edges of the type
	Adj   *index.Adjacency // the edges by their node at the start of the hop
	Alive bool             // every listed edge is live
	// BaseAlive is set if every edge in the base of the index is live.
	BaseAlive bool
	// Whole is set if the base of the index lists all neighbours of every node, each once.
	Whole bool
}

// newHop returns the hop over the edges that an index of the table lists.
func newHop(t *version.Table, adj *index.Adjacency) Hop {
	base := t.BaseLive()
	return Hop{t, adj, t.AllLive(), base, base && adj.Simple()}
}

// near returns the other ends of a node's edges in the base of the index. It returns the edges too
// unless all of them are live.
func (h *Hop) near(node uint32) (edges, others []uint32) {
	if h.BaseAlive {
		return nil, h.Adj.Others(node)
	}
	return h.Adj.Base(node)
}

// Hops returns the directions in which an edge type is followed, and their number.
func (ev *Evaluator) Hops(edge int, out, in bool) (hops [2]Hop, n int) {
	t := ev.Snap.Edges(edge)
	if out {
		hops[n] = newHop(t, t.Out())
		n++
	}
	if in {
		hops[n] = newHop(t, t.In())
		n++
	}
	return hops, n
}

// Nearby is the memory in which a step lists the edges of a node.
type Nearby struct{ Edges, Nodes []uint32 }

// A node with more than ManyEdges edges, as far as they were counted, is tested by the edges of the other node if that
// one has at most FewEdges.
const (
	ManyEdges = 32
	FewEdges  = 4
)

// MarkShare is a number of edges for each expected test: the nodes at the other ends of a node's edges are marked only
// if the node has fewer. Otherwise a search for each test is cheaper.
const MarkShare = 4

// Joined reports whether a live edge joins two nodes. If `yield` is not nil, Joined calls it for
// each such edge until it returns false.
func Joined(h Hop, a, b uint32, yield func(edge uint32) bool) bool {
	any := false
	edges, others := h.near(a)
	if yield != nil {
		edges, others = h.Adj.Base(a)
	}
	if h.Whole && yield == nil && len(others) <= FewEdges {
		return slices.Contains(others, b)
	}
	at, found := slices.BinarySearch(others, b)
	if h.Whole && yield == nil {
		return found
	}
	for ; at < len(others) && others[at] == b; at++ {
		if h.BaseAlive || h.Edges.Alive(edges[at]) {
			if any = true; yield == nil || !yield(edges[at]) {
				return true
			}
		}
	}
	for o := h.Adj.Later(a); o.Next(); {
		if o.Other == b && (h.Alive || h.Edges.Alive(o.Edge)) {
			if any = true; yield == nil || !yield(o.Edge) {
				return true
			}
		}
	}
	return any
}
