package version

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// nearby holds the approximate indexes of one state of a table. Readers never build a graph: a
// build in the background makes it, and later states take it over with the rows that they share.
type nearby struct {
	mu sync.Mutex
	// views holds, by property, the index of this state or of an earlier one.
	views map[int]nearbyView
	// builds holds, by property, the latest build that began on this state or on an earlier one.
	builds map[int]*VectorBuild

	// listed holds, by property, the indexes that the next manifest lists. Only the goroutine that
	// writes manifests may use it.
	listed map[int]listed
}

// nearbyView is an approximate index. The field `current` says that the index belongs to this
// state. If the index is nil, it must be made from the graph in the field `stored`.
type nearbyView struct {
	*index.VectorView
	current bool
	stored  *storedVectors
}

// VectorBuild is a build of a graph for one property, from one state of a table.
type VectorBuild struct {
	t    *Table // nil once the build is finished; only Run reads it
	p    int
	done atomic.Pointer[index.VectorView] // nil until the build is finished
}

const (
	// approximateFrom is the least number of entities for which a graph is built. Below, the
	// exact scan takes less than a millisecond.
	approximateFrom = 4096
	// approximateLater is the least number of vectors outside the graph that are worth a build.
	approximateLater = 1024
	// laterPart bounds the same number relative to the nodes: a build also needs at least one such
	// vector for every laterPart nodes.
	laterPart = 32
	// gonePart bounds the nodes of dead or changed entities: if more than one node in gonePart is
	// such a node, the next build makes a new graph.
	gonePart = 4
)

// Approximate reports whether nearest may use an approximate index of property p.
func (t *Type) Approximate(p int) bool {
	prop := t.Props[p]
	return t.Entity == plan.Node && prop.Approximate && prop.Type.Kind == value.Vector && !prop.Type.List && prop.Type.Dim <= index.MaxVectorDim
}

// Vectors returns the approximate index of property p, or nil if none was built yet.
func (t *Table) Vectors(p int) *index.VectorView {
	if t.texts == nil || t.texts.typ != t.Type || !t.Type.Approximate(p) {
		return nil
	}
	n := &t.texts.nearby
	n.mu.Lock()
	defer n.mu.Unlock()
	view := n.views[p]
	if b := n.builds[p]; b != nil {
		if built := b.done.Load(); built != nil {
			view = nearbyView{VectorView: built}
			delete(n.builds, p)
		}
	}
	switch {
	case view.VectorView == nil && view.stored == nil:
		return nil
	case !view.current:
		if source := t.vectorSource(p); view.VectorView != nil {
			view = nearbyView{VectorView: view.Update(t.next, t.rows, source), current: true}
		} else {
			g := view.stored.open(t.Type.Props[p].Type.Dim)
			view = nearbyView{VectorView: index.NewVectorView(g, t.next, t.rows, source), current: true}
		}
		if n.views == nil {
			n.views = map[int]nearbyView{}
		}
		n.views[p] = view
	}
	return view.VectorView
}

// vectorSource returns the function that reads the vectors of property p by row.
func (t *Table) vectorSource(p int) index.Vectors {
	return func(row uint32) ([]float32, bool) {
		v := t.valueAt(row, p)
		if v.IsNull() {
			return nil, false
		}
		return v.Vector(), true
	}
}

// PlanVectors returns the builds that the table needs. A property needs a build if its graph is
// missing or lacks many vectors. From then on, later states wait for these builds, so the caller
// must prevent that a later state begins during the call. The parameter `donor` is a table of
// another branch, or nil. A table without a graph first takes over the graph of `donor`, if both
// tables share the rows of that graph.
func (t *Table) PlanVectors(donor *Table) (builds []*VectorBuild) {
	if t.live < approximateFrom || t.texts == nil || t.texts.typ != t.Type {
		return nil
	}
	for p := range t.Type.Props {
		if !t.Type.Approximate(p) {
			continue
		}
		t.takeVectors(donor, p)
		if s := t.texts.nearby.unread(p); s != nil {
			// This is an upper bound of the number of vectors outside the graph. An exact count
			// would read the graph.
			if rows := t.base + uint32(len(t.tail)); rows-s.covered < max(approximateLater, s.covered/laterPart) {
				continue
			}
		}
		if v := t.Vectors(p); v != nil && !outdated(v) && !startsAnew(v) {
			continue
		}
		b := &VectorBuild{t: t, p: p}
		n := &t.texts.nearby
		n.mu.Lock()
		if n.builds == nil {
			n.builds = map[int]*VectorBuild{}
		}
		n.builds[p] = b
		n.mu.Unlock()
		builds = append(builds, b)
	}
	return builds
}

// takeVectors takes over the graph of property p from the table `donor`, unless the table already
// has one.
func (t *Table) takeVectors(donor *Table, p int) {
	if donor == nil || donor == t || donor.Type != t.Type || slices.Contains(t.texts.nearby.known(), p) {
		return
	}
	v := donor.Vectors(p)
	if v == nil || v.Graph().Covered() > t.sharedRows(donor) {
		return
	}
	view := index.NewVectorView(v.Graph(), t.next, t.rows, t.vectorSource(p))
	if outdated(view) {
		// Take nothing: builds would extend the graph again and again, because a build adds only
		// the rows after those of `donor`.
		return
	}
	n := &t.texts.nearby
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.views == nil {
		n.views = map[int]nearbyView{}
	}
	n.views[p] = nearbyView{VectorView: view, current: true}
}

// outdated reports whether so many vectors are not in the graph that a build must add them.
func outdated(v *index.VectorView) bool {
	return v.Later() >= max(approximateLater, v.Graph().Nodes()/laterPart)
}

// sharedRows returns the number of rows at the start of both tables that lie in the same stored
// segments.
func (t *Table) sharedRows(o *Table) (n uint32) {
	for i, s := range t.Segs {
		if i == len(o.Segs) || s.Name == "" || s.Name != o.Segs[i].Name || s.N != o.Segs[i].N {
			break
		}
		n = s.Start + s.N
	}
	return n
}

// startsAnew reports whether too many nodes of the graph belong to dead or changed entities. The
// next build must then make a new graph without them.
func startsAnew(v *index.VectorView) bool {
	return v.Gone() > approximateLater && v.Gone() > v.Graph().Nodes()/gonePart
}

// Run builds the graph; `workers` is the maximum number of goroutines. Run throws faults of the
// stored rows; see package corruption. The only possible error is that of the context.
func (b *VectorBuild) Run(ctx context.Context, workers int) error {
	t, from := b.t, uint32(0)
	var earlier *index.VectorGraph
	if v := t.Vectors(b.p); v != nil && !startsAnew(v) {
		earlier, from = v.Graph(), v.Graph().Covered()
	}
	ordAt := map[uint32]uint32{} // by row: its ordinal; only rows whose number differs from the ordinal
	rows := t.base + uint32(len(t.tail))
	alive := make([]bool, rows-from)
	for ord := range t.next {
		if row := t.rows.Get(ord); row != index.Dead && row >= from {
			alive[row-from] = true
			if row != ord {
				ordAt[row] = ord
			}
		}
	}
	dim := t.Type.Props[b.p].Type.Dim
	source, codes := t.vectorSource(b.p), column.NewCodes(dim)
	for i, ok := range alive {
		if i%vectorTick == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		if !ok {
			continue
		}
		if v, ok := source(from + uint32(i)); ok {
			codes.Add(from+uint32(i), v)
		}
	}
	g, err := index.BuildVectors(ctx, earlier, dim, codes, func(row uint32) uint32 {
		if ord, ok := ordAt[row]; ok {
			return ord
		}
		return row
	}, rows, workers)
	if err != nil {
		return err
	}
	b.done.Store(index.NewVectorView(g, t.next, t.rows, source))
	b.t = nil // later states hold b, and must not keep this table in memory
	return nil
}

// vectorTick is the number of rows between two checks of the context.
const vectorTick = 1 << 10

// follow takes over the indexes and builds of the previous state, for a table of type `typ`. The
// slice `at` contains, for each property, its previous position; a negative number means none.
func (n *nearby) follow(before *nearby, typ *Type, at []int) {
	before.mu.Lock()
	defer before.mu.Unlock()
	if len(before.views)+len(before.builds) == 0 {
		return
	}
	n.views, n.builds = map[int]nearbyView{}, map[int]*VectorBuild{}
	for p, q := range at {
		if !typ.Approximate(p) {
			continue
		}
		if v, ok := before.views[q]; ok {
			n.views[p] = nearbyView{VectorView: v.VectorView, stored: v.stored}
		}
		if b := before.builds[q]; b != nil {
			n.builds[p] = b
		}
	}
}

// clone takes over the indexes and builds of the previous state of the same table.
func (n *nearby) clone(before *nearby) {
	before.mu.Lock()
	defer before.mu.Unlock()
	if len(before.views)+len(before.builds) == 0 {
		return
	}
	n.views, n.builds = make(map[int]nearbyView, len(before.views)), maps.Clone(before.builds)
	if n.builds == nil {
		n.builds = map[int]*VectorBuild{}
	}
	for p, v := range before.views {
		n.views[p] = nearbyView{VectorView: v.VectorView, stored: v.stored}
	}
}
