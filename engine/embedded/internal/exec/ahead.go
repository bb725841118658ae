package exec

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// ahead lists the data that a read will need about an entity after it has looked it up. A lookup
// waits for memory several times. The step prefetches the listed data during the first wait, so
// that the waits overlap.
type ahead struct {
	props []int  // positions of the properties
	hops  []side // directions of the edges at the entity
}

// side is one direction of an edge type.
type side struct {
	edge int  // index of the edge type
	back bool // whether the edges are followed from target to source
}

// lookAhead sets the ahead field of the match's lookups. It skips a lookup by a key other
// than the id, because such a lookup knows the entity only after it has compared the key.
func (pl *planner) lookAhead() {
	for _, s := range pl.body.steps {
		l, ok := s.(*lookup)
		if !ok || pl.Types[l.v].Entity != plan.Node || pl.Types[l.v].IDProp < 0 || len(l.exs) != 1 {
			continue
		}
		a := &ahead{props: []int{pl.Types[l.v].IDProp}}
		for _, p := range pl.Reads[l.v] {
			if p != pl.Types[l.v].IDProp {
				a.props = append(a.props, p)
			}
		}
		a.sides(pl.body, l.v)
		l.ahead = a
	}
}

// sides records the edges that the steps of a pipe will look up at a variable's node.
func (a *ahead) sides(p *pipe, v plan.VarID) {
	add := func(t *traverse, back bool) {
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
	for _, s := range p.steps {
		switch s := s.(type) {
		case *expand:
			if s.from == v {
				add(&s.traverse, s.back)
			}
		case *reach:
			if s.from == v {
				add(&s.traverse, s.back)
			}
		case *check:
			if s.To == v {
				add(&s.traverse, true)
			}
		case *blockFilter:
			s.test.pipes(func(inner *pipe) { a.sides(inner, v) })
		case *optionalStep:
			a.sides(s.inner, v)
		}
	}
}

// readAhead prefetches the data of entity `ord` of table t that later steps will read: the
// properties and the edges in a.
func (m *matcher) readAhead(a *ahead, t *version.Table, ord uint32) {
	m.ahead = a.read(m.Snap, t, ord)
}

// read does the work of [matcher.readAhead]. The result has no meaning.
func (a *ahead) read(snap *version.Snapshot, t *version.Table, ord uint32) uint32 {
	sum := t.ReadAhead(ord, a.props)
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
