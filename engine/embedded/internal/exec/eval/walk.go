package eval

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
)

// Walk is a set of ordinals. To clear it, only the visited ordinals are removed.
type Walk struct {
	Bits    engine.Bitmap // the ordinals in the set
	Visited []uint32      // in the order of their first visit
	Counted int           // bytes that were charged to the run
	seen    uint32        // keeps the compiler from removing spread's prefetches
}

// Begin empties the set and makes room for the ordinals below n.
func (w *Walk) Begin(n uint32) {
	if len(w.Visited) > len(w.Bits) {
		clear(w.Bits)
	} else {
		for _, v := range w.Visited {
			w.Bits[v>>6] = 0
		}
	}
	w.Visited = w.Visited[:0]
	if words := (int(n) + 63) / 64; len(w.Bits) < words {
		w.Bits = make(engine.Bitmap, words)
	}
}

// Visit adds an ordinal and reports whether the set lacked it.
func (w *Walk) Visit(ord uint32) bool {
	if w.Bits.Get(int(ord)) {
		return false
	}
	w.Bits.Set(int(ord))
	w.Visited = append(w.Visited, ord)
	return true
}

// Charge charges the run for the growth of the walk's memory.
func (ev *Evaluator) Charge(w *Walk) error {
	if now := 8*len(w.Bits) + 4*len(w.Visited); now > w.Counted {
		more := now - w.Counted
		w.Counted = now
		return ev.Spend(more)
	}
	return nil
}

// readAhead is the number of nodes that spread looks up together. It is large enough to
// keep the memory system busy, and small enough that prefetched data is still in the cache
// when it is used.
const readAhead = 16

// Spread visits the neighbours of nodes. All edges of the nodes must be live and in the base of the
// index. It overlaps the memory latency of several nodes: it first reads where their edges are, and
// then where those edges lead.
func (ev *Evaluator) Spread(w *Walk, adj *index.Adjacency, nodes []uint32) error {
	var rows [readAhead][]uint32
	for len(nodes) > 0 {
		some := nodes[:min(len(nodes), readAhead)]
		nodes = nodes[len(some):]
		total := 0
		for i, node := range some {
			rows[i] = adj.Others(node)
			total += len(rows[i])
		}
		var seen uint32
		for _, others := range rows[:len(some)] {
			if len(others) > 0 {
				seen += others[0]
			}
		}
		w.seen = seen
		if err := ev.Walk(len(some) + total); err != nil {
			return err
		}
		n := len(w.Visited)
		queue := slices.Grow(w.Visited, total)[:n+total]
		bits := w.Bits
		for _, others := range rows[:len(some)] {
			for _, other := range others {
				word, bit := &bits[other>>6], uint64(1)<<(other&63)
				old := *word
				*word = old | bit
				queue[n] = other
				n += int(^old >> (other & 63) & 1) // a branch would often be mispredicted
			}
		}
		w.Visited = queue[:n]
	}
	return nil
}

// Trail visits the live neighbours of nodes.
func (ev *Evaluator) Trail(w *Walk, h Hop, nodes []uint32) error {
	for _, node := range nodes {
		edges, others := h.near(node)
		if err := ev.Walk(1 + len(others)); err != nil {
			return err
		}
		for j, other := range others {
			if h.BaseAlive || h.Edges.Alive(edges[j]) || fault.On(fault.DeadWalked) {
				w.Visit(other)
			}
		}
		for o := h.Adj.Later(node); o.Next() && !fault.On(fault.OverlayNotWalked); {
			if h.Alive || h.Edges.Alive(o.Edge) {
				w.Visit(o.Other)
			}
		}
	}
	return nil
}
