package version

import (
	"context"
	"errors"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index/vectorindex"
)

const (
	// laterPart bounds the vectors outside the graph relative to its nodes: a build needs at least one
	// such vector for every laterPart nodes.
	laterPart = 32
	// gonePart bounds the nodes of dead or changed entities: if these are more than 1/gonePart of
	// all nodes, and more than VectorLimits.Later, the next build makes a new graph.
	gonePart = 4
)

// VectorLimits bound the builds of graphs to those that save time.
type VectorLimits struct {
	From  uint32 // least number of entities for which a graph is built
	Later int    // least number of vectors outside the graph that are worth a build
}

// DefaultVectorLimits returns the limits of a graph that serves users. The exact scan of fewer
// entities takes less than a millisecond.
func DefaultVectorLimits() VectorLimits { return VectorLimits{From: 4096, Later: 1024} }

// VectorNeed says what a property of a table needs: a build of a graph, or the graph of another
// branch.
type VectorNeed struct {
	t       *Table
	p       int
	earlier *vectorindex.Graph // the graph that the build extends; nil for a new graph
	taken   *vectorindex.Graph // the graph of another branch; then no build is needed
}

// VectorNeeds returns what the table needs. A property needs a build if its graph is missing, lacks
// many vectors, or has many nodes of dead or changed entities. The parameter `donor` is a table of
// another branch, or nil. A table without a graph takes over the graph of `donor`, if both tables
// share the rows of that graph.
//
// VectorNeeds reads rows and files and may take long, so the caller should hold no lock. It throws
// the faults that it finds; see package corruption. It returns an error only if the context ends.
func (t *Table) VectorNeeds(ctx context.Context, donor *Table, limits VectorLimits) (needs []VectorNeed, err error) {
	if t.live < limits.From {
		return nil, nil
	}
	for p := range t.Type.Props {
		if !t.Type.Approximate(p) {
			continue
		}
		need, ok, err := limits.need(ctx, t, donor, p)
		if err != nil {
			return nil, err
		}
		if ok {
			needs = append(needs, need)
		}
	}
	return needs, nil
}

// need returns what property p of a table needs; ok is false if it needs nothing.
func (limits VectorLimits) need(ctx context.Context, t, donor *Table, p int) (need VectorNeed, ok bool, err error) {
	need = VectorNeed{t: t, p: p}
	n := &t.texts.nearby
	last, _ := n.latest(p)
	if !last.exists() {
		need.taken, err = limits.take(ctx, t, donor, p)
		return need, true, err
	}
	if s := n.unread(p); s != nil {
		// This is an upper bound of the number of vectors outside the graph. An exact count
		// would read the graph.
		if rows := t.base + uint32(len(t.tail)); int(rows-s.covered) < max(limits.Later, int(s.covered/laterPart)) {
			return need, false, nil
		}
	}
	g := last.graph(t.Type.Props[p].Type.Dim)
	gone := 0
	switch view, err := t.Vectors(limits.fewVectors(ctx, g), p); {
	case err == errOutdated:
		gone = g.Gone(t.next, t.rows)
	case err != nil || view == nil:
		return need, false, err
	case view.Graph().Covered() != g.Covered():
		return need, false, nil // a build has just replaced the graph
	case view.Later() < limits.outdatedFrom(g) && !limits.startsAnew(g, view.Gone()):
		return need, false, nil
	default:
		gone = view.Gone()
	}
	if !limits.startsAnew(g, gone) {
		need.earlier = g
	}
	return need, true, nil
}

// take returns the graph that the table `donor` has for property p, or nil if the table t
// cannot use it.
func (limits VectorLimits) take(ctx context.Context, t, donor *Table, p int) (*vectorindex.Graph, error) {
	if donor == nil || donor == t || donor.Type != t.Type {
		return nil, nil
	}
	v, _ := donor.texts.nearby.latest(p)
	if !v.exists() {
		return nil, nil
	}
	g := v.graph(t.Type.Props[p].Type.Dim)
	if g.Covered() > sharedSegments(&t.Rows, &donor.Rows) {
		return nil, nil
	}
	view, err := vectorindex.NewView(limits.fewVectors(ctx, g), g, t.next, t.rows, t.vectorSource(p))
	switch {
	case err == errOutdated || err == nil && view.Later() >= limits.outdatedFrom(g):
		// A build adds only the rows after the rows of `donor`. The other vectors would stay
		// outside the graph, so that one build after another would extend it.
		return nil, nil
	case err != nil:
		return nil, err
	}
	return g, nil
}

// Begin gives the table `tip` the graph of another branch, or begins a build and returns it; the
// caller must then run the build. Begin returns nil if there is nothing to build. The table must be
// that of the tip of the branch. The caller must ensure that no later state begins during the call,
// so that all later states wait for the build.
func (need VectorNeed) Begin(tip *Table) *VectorBuild {
	if tip.Type != need.t.Type || tip.origin != need.t.origin {
		return nil // the rows have been laid out anew
	}
	n := &tip.texts.nearby
	if need.taken != nil {
		if v, _ := n.latest(need.p); !v.exists() {
			n.put(need.p, nearbyView{taken: need.taken})
		}
		return nil
	}
	b := &VectorBuild{t: tip, p: need.p, earlier: need.earlier}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.builds == nil {
		n.builds = map[int]*VectorBuild{}
	}
	n.builds[need.p] = b
	return b
}

// outdatedFrom returns the smallest number of vectors outside the graph at which a build must add
// them.
func (limits VectorLimits) outdatedFrom(g *vectorindex.Graph) int {
	return max(limits.Later, g.Nodes()/laterPart)
}

// errOutdated says that more vectors are outside a graph than outdatedFrom allows.
var errOutdated = errors.New("version: too many vectors are outside the graph")

// fewVectors returns limits for making a view of the graph. If the view would have to code many
// vectors, it fails with errOutdated instead.
func (limits VectorLimits) fewVectors(ctx context.Context, g *vectorindex.Graph) index.Work {
	// Spend is called for 256 vectors at a time.
	left := (limits.outdatedFrom(g) + 256) * g.LaterBytes()
	return index.Work{Ctx: ctx, Spend: func(bytes int) error {
		if left -= bytes; left < 0 {
			return errOutdated
		}
		return nil
	}}
}

// startsAnew reports whether too many nodes of the graph belong to dead or changed entities; `gone`
// is their number. The next build must then make a new graph without them.
func (limits VectorLimits) startsAnew(g *vectorindex.Graph, gone int) bool {
	return gone > limits.Later && gone > g.Nodes()/gonePart
}

// sharedSegments returns the number of rows at the start of both tables that lie in the same stored
// segments.
func sharedSegments(t, o *Rows) (n uint32) {
	for i, s := range t.Segs {
		if i == len(o.Segs) || s.Name == "" || s.Name != o.Segs[i].Name || s.N != o.Segs[i].N {
			break
		}
		n = s.Start + s.N
	}
	return n
}
