package vectorindex

import (
	"slices"
	"sort"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
)

// View is an approximate index of the vectors of one state of a table. It consists of a
// graph, built for this or an earlier state, and of the vectors that were added or changed since
// then. Searches compare these later vectors one by one. A node counts only if its entity still has
// the same row as in the state of the graph. A View is immutable. Views of later states share
// its parts.
type View struct {
	graph *Graph          // the graph that the view extends
	later []*laterVectors // vectors that the graph does not have
	rows  index.Rows      // by ordinal: the entity's current row
	next  uint32          // number of ordinals assigned
	added int             // vectors in `later`, with those that do not count any more
	gone  int             // an upper bound of the number of nodes that do not count
}

// Vectors returns the vector of a row; ok is false if it is null. The vector aliases the table.
type Vectors func(row uint32) (v []float32, ok bool)

// NewView returns the view of a state that has the given rows and the ordinals [0, next). The
// graph may be that of another state, even of another branch, but both states must have the same
// rows below number g.Covered(). A search compares one by one the entities that have a later row,
// and the entities that have no node because they were dead in the state of the graph.
//
// NewView fails only if the context ends or if Spend fails. It calls Spend before it codes
// vectors.
func NewView(w index.Work, g *Graph, next uint32, rows index.Rows, vector Vectors) (*View, error) {
	v := &View{graph: g, rows: rows, next: next}
	found := engine.NewBitmap(int(g.covered))
	for node, row := range g.rows {
		if v.counts(uint32(node)) {
			found.Set(int(row))
		} else {
			v.gone++
		}
	}
	v.NotFinite(func(ord uint32) { found.Set(int(rows.Get(ord))) })
	c := &laterCollector{Work: w, vector: vector, size: g.LaterBytes()}
	for ord := range next {
		if row := rows.Get(ord); row != index.Dead && (row >= g.covered || !found.Get(int(row))) {
			c.add(ord, row)
		}
	}
	return v, c.finish(v)
}

// Gone returns the number of nodes that belong to dead or changed entities in the state with the
// given rows and the ordinals [0, next).
func (g *Graph) Gone(next uint32, rows index.Rows) (n int) {
	v := View{graph: g, rows: rows, next: next}
	for node := range uint32(len(g.ords)) {
		if !v.counts(node) {
			n++
		}
	}
	return n
}

// Update returns the view of a later state of the same table, in which rows have kept their
// numbers. It takes time in proportion to the number of changes. The only possible errors are those
// of [NewView].
func Update(w index.Work, v *View, next uint32, rows index.Rows, vector Vectors) (*View, error) {
	u := &View{graph: v.graph, later: slices.Clip(v.later), rows: rows, next: next, added: v.added, gone: v.gone}
	c := &laterCollector{Work: w, vector: vector, size: v.graph.LaterBytes()}
	rows.Changes(&v.rows, v.next, next, func(ord, was, is uint32) {
		if was < v.graph.covered {
			u.gone++
		}
		if is != index.Dead {
			c.add(ord, is)
		}
	})
	return u, c.finish(u)
}

// Mapped returns the view with its graph in the form that [Graph.Mapped] returns.
func (v *View) Mapped() *View {
	if v.graph.Mapped() == v.graph {
		return v
	}
	m := *v
	m.graph = v.graph.Mapped()
	return &m
}

// Graph returns the graph of the view.
func (v *View) Graph() *Graph { return v.graph }

// Later returns the number of vectors that are not in the graph.
func (v *View) Later() int { return v.added }

// Gone returns an upper bound of the number of nodes that do not count any more.
func (v *View) Gone() int { return v.gone }

// counts reports whether a node is the current vector of its entity in this state.
func (v *View) counts(node uint32) bool {
	ord := v.graph.ords[node]
	return ord < v.next && v.rows.Get(ord) == v.graph.rows[node]
}

// ScatterCost is the time that a search loses when it reads the codes of a node at a random place.
// The unit is the time in which a comparison of nodes in order processes one component. Tests lower
// ScatterCost.
var ScatterCost = 1500

// SearchCost estimates the time of a search with the given breadth. ScatteredCost estimates the
// time in which n nodes at random places are compared. The unit of both is the time in which one
// node is compared when all nodes are compared in order.
func (g *Graph) SearchCost(breadth int) float64 { return g.ScatteredCost(breadth * degree) }

// ScatteredCost is described at [Graph.SearchCost].
func (g *Graph) ScatteredCost(n int) float64 {
	return float64(n) * (1 + float64(ScatterCost)/float64(g.stride))
}

// Coded is a vector that a search yields: the entity, the inner product of the vector's codes
// and the query, and the Scale and Error of the codes.
type Coded struct {
	Ord          uint32  // ordinal of the entity
	Sum          int32   // inner product of the codes and the query
	Scale, Error float32 // see column.Codes
}

// Search is memory that searches in views reuse. Only one search at a time may use it.
type Search struct {
	graphSearch
	sums [buildBatch]int32 // inner products of consecutive vectors and the query
}

// Bytes returns the size of the memory in bytes.
func (s *Search) Bytes() int {
	return 8*(len(s.visited)+cap(s.open)+cap(s.best)+cap(s.near)) + 4*(cap(s.words)+cap(s.fresh))
}

// Near searches the graph for the entities with vectors that are closest in direction to the vector
// `query`, which must be padded in the same way as the codes of a vector. The search keeps the
// closest `breadth` nodes and yields the entities that it found, usually the closest ones. It
// yields only entities for which the function `accept` returns true; if `accept` is nil, it yields
// any entities. If it found fewer than `least` entities, or gave up because it had compared more
// than `most` nodes, it yields nothing and ok is false. Near calls `tick` with the number of nodes
// compared since the last call, and returns only errors of `tick`.
func (v *View) Near(s *Search, query []int16, breadth, least, most int, accept func(ord uint32) bool, tick func(n int) error, yield func(Coded)) (ok bool, err error) {
	g := v.graph
	if g.entry == noNode {
		return least == 0, nil
	}
	t := &graphTarget{wide: query}
	s.near = append(s.near[:0], g.descend(t, 0))
	s.begin(len(g.ords))
	var counts func(node uint32) bool
	if accept != nil || v.gone > 0 {
		counts = func(node uint32) bool { return v.counts(node) && (accept == nil || accept(g.ords[node])) }
	}
	complete, err := g.explore(&s.graphSearch, t, 0, breadth, most, counts, tick)
	if err != nil || !complete || len(s.best) < least {
		return false, err
	}
	for _, c := range s.best {
		yield(v.code(t, c.node(), c.node()))
	}
	return true, nil
}

// code returns the coded vector of a node, with its inner product with the target.
func (v *View) code(t *graphTarget, node, ahead uint32) Coded {
	g := v.graph
	return Coded{g.ords[node], t.sum(g.vector(node), g.vector(ahead)), g.scale[node], g.lack[node]}
}

// MaxError returns the maximum Error of the vectors.
func (v *View) MaxError() float32 {
	most := v.graph.maxLack
	for _, l := range v.later {
		most = max(most, l.MaxError)
	}
	return most
}

// Each yields every entity in the set `accept` that has a coded vector; if `accept` is nil, every
// entity that has one. It yields the nodes of the graph only if the argument `nodes` is true. It
// skips vectors with a Sum × Scale less than `*least`; the function `yield` may raise `*least`.
// Each calls `tick` and returns errors in the same way as Near.
func (v *View) Each(s *Search, query []int16, nodes bool, accept engine.Bitmap, least *float32, tick func(n int) error, yield func(Coded)) error {
	g := v.graph
	for first := 0; nodes && first < len(g.ords); first += len(s.sums) {
		n := min(len(s.sums), len(g.ords)-first)
		if err := tick(n); err != nil {
			return err
		}
		Dots(s.sums[:n], g.codesOf(first, n), query)
		for i := range n {
			node := uint32(first + i)
			if float32(s.sums[i])*g.scale[node] < *least {
				continue
			}
			if v.counts(node) && (accept == nil || accept.Get(int(g.ords[node]))) {
				yield(Coded{g.ords[node], s.sums[i], g.scale[node], g.lack[node]})
			}
		}
	}
	for _, l := range v.later {
		for first := 0; first < len(l.Rows); first += len(s.sums) {
			n := min(len(s.sums), len(l.Rows)-first)
			if err := tick(n); err != nil {
				return err
			}
			Dots(s.sums[:n], l.Bytes[first*l.Stride:(first+n)*l.Stride], query)
			for i := range n {
				row := l.Rows[first+i]
				if float32(s.sums[i])*l.Scale[first+i] < *least {
					continue
				}
				if ord := l.ords[row]; v.rows.Get(ord) == row && (accept == nil || accept.Get(int(ord))) {
					yield(Coded{ord, s.sums[i], l.Scale[first+i], l.Error[first+i]})
				}
			}
		}
	}
	return nil
}

// Of yields those entities in ords that have a node. REQUIRES: ords ascends.
func (v *View) Of(query []int16, ords []uint32, yield func(Coded)) {
	g := v.graph
	t := &graphTarget{wide: query}
	find := func(ord uint32) (uint32, bool) {
		row := v.rows.Get(ord)
		if row >= g.covered {
			return 0, false
		}
		if int(row) < len(g.rows) && g.rows[row] == row {
			return row, true
		}
		n := sort.Search(min(len(g.rows), int(row)+1), func(i int) bool { return g.rows[i] >= row })
		return uint32(n), n < len(g.rows) && g.rows[n] == row
	}
	held := noNode // the previous node, held back until the node after it is known
	for _, ord := range ords {
		node, ok := find(ord)
		if !ok {
			continue
		}
		if held != noNode {
			yield(v.code(t, held, node))
		}
		held = node
	}
	if held != noNode {
		yield(v.code(t, held, held))
	}
}

// NotFinite yields the entities with vectors that are not finite. Such vectors have no codes.
func (v *View) NotFinite(yield func(ord uint32)) {
	for i, ord := range v.graph.oddOrds {
		if ord < v.next && v.rows.Get(ord) == v.graph.oddRows[i] {
			yield(ord)
		}
	}
	for _, l := range v.later {
		for _, row := range l.Codes.NotFinite {
			if ord := l.ords[row]; v.rows.Get(ord) == row {
				yield(ord)
			}
		}
	}
}
