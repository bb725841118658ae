package exec

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// Ahead lists the data that a read will need about an entity after it has looked it up. A lookup
// waits for memory several times. The step prefetches the listed data during the first wait, so
// that the waits overlap.
type Ahead struct {
	Props []int  // positions of the properties
	hops  []side // directions of the edges at the entity
}

// side is one direction of an edge type.
type side struct {
	edge int  // index of the edge type
	back bool // whether the edges are followed from target to source
}

// Sides records the edges that the steps of a pipe will look up at a variable's node.
func (a *Ahead) Sides(p *Pipe, v plan.VarID) {
	add := func(t *Traversal, back bool) {
		if t.OrTypes != nil {
			return // the edges that are read next need not be of the first edge type
		}
		for _, back := range []bool{back, !back} {
			if s := (side{t.EdgeType, back}); !slices.Contains(a.hops, s) {
				a.hops = append(a.hops, s)
			}
			if !t.Undirected {
				break
			}
		}
	}
	for _, s := range p.Steps {
		switch s := s.(type) {
		case *Expand:
			if s.Near == v {
				add(&s.Traversal, s.Back)
			}
		case *Reach:
			if s.Near == v {
				add(&s.Traversal, s.Back)
			}
		case *Check:
			if s.To == v {
				add(&s.Traversal, true)
			}
		case *BlockFilter:
			s.Test.pipes(func(inner *Pipe) { a.Sides(inner, v) })
		case *OptionalStep:
			a.Sides(s.Inner, v)
		}
	}
}

// readAhead prefetches the data of entity `ord` of table t that later steps will read: the
// properties and the edges in a.
func (m *matcher) readAhead(a *Ahead, t *version.Table, ord uint32) {
	m.ahead = a.read(m.Snap, t, ord)
}

// read does the work of [matcher.readAhead]. The result has no meaning.
func (a *Ahead) read(snap *version.Snapshot, t *version.Table, ord uint32) uint32 {
	sum := t.ReadAhead(ord, a.Props)
	for _, s := range a.hops {
		edges := snap.Edges(s.edge)
		if s.back {
			sum += edges.In().ReadAhead(ord)
		} else {
			sum += edges.Out().ReadAhead(ord)
		}
	}
	return sum
}
