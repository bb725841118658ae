package version

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index/vectorindex"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
)

// nearby holds the approximate indexes of one state of a table. Readers never build a graph. A
// build in the background makes the graph, and later states that share its rows take it over. The
// first reader of a state brings the index up to date, without the writer's lock.
type nearby struct {
	mu sync.Mutex // guards views, updating and builds; never held while rows or files are read
	// views holds, by property, the index of this state or of an earlier one.
	views map[int]nearbyView
	// updating holds, by property, a mutex (a channel of capacity 1). The reader that brings the index
	// up to date holds it.
	updating map[int]chan struct{}
	// builds holds, by property, the latest build that began on this state or on an earlier one.
	builds map[int]*VectorBuild

	// listed holds, by property, the indexes that the next manifest lists. Only the goroutine that
	// writes manifests may use it.
	listed map[int]listed
}

// nearbyView is an approximate index. The field `current` says that the index belongs to this
// state. If the index is nil, it must be made from a graph: the one in the field `taken`, or else the
// one in the field `stored`.
type nearbyView struct {
	*vectorindex.View
	current bool               // see above
	taken   *vectorindex.Graph // the graph of another branch
	stored  *storedVectors     // a graph that is not read yet
}

// VectorBuild is a build of a graph for one property, from one state of a table.
type VectorBuild struct {
	p    int
	done atomic.Pointer[vectorindex.View] // nil until the build has succeeded

	// Only Run uses these fields. Run sets them to nil when it ends: later states refer to the
	// build, and the build must not keep this state in memory.
	t       *Table
	earlier *vectorindex.Graph // the graph to extend; nil for a new graph
}

// Vectors returns the approximate index of property p, or nil if none was built yet. The first call
// brings the index up to date with the state; concurrent calls wait for it. Vectors fails only if
// the context w.Ctx ends or if w.Spend fails.
func (t *Table) Vectors(w index.Work, p int) (*vectorindex.View, error) {
	if !t.Type.Approximate(p) {
		return nil, nil
	}
	n := &t.texts.nearby
	view, updating := n.latest(p)
	if view.current || !view.exists() {
		return view.View, nil
	}
	select {
	case updating <- struct{}{}:
		defer func() { <-updating }()
	case <-w.Ctx.Done():
		return nil, w.Ctx.Err()
	}
	if view, _ = n.latest(p); view.current || !view.exists() {
		return view.View, nil
	}
	var made *vectorindex.View
	var err error
	if view.View != nil {
		made, err = vectorindex.Update(w, view.View, t.next, t.rows, t.vectorSource(p))
	} else {
		made, err = vectorindex.NewView(w, view.graph(t.Type.Props[p].Type.Dim), t.next, t.rows, t.vectorSource(p))
	}
	if err != nil {
		return nil, err
	}
	n.replace(p, view, nearbyView{View: made, current: true})
	return made, nil
}

// latest returns the latest index of property p, and the mutex for its update.
func (n *nearby) latest(p int) (nearbyView, chan struct{}) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.updating[p] == nil {
		if n.updating == nil {
			n.updating = map[int]chan struct{}{}
		}
		n.updating[p] = make(chan struct{}, 1)
	}
	if b := n.builds[p]; b != nil {
		if built := b.done.Load(); built != nil {
			n.putLocked(p, nearbyView{View: built})
			delete(n.builds, p)
		}
	}
	return n.views[p], n.updating[p]
}

// replace sets the index of property p to `now` if it is still `before`. If it is not, a build may
// have made a better index meanwhile, and replace does nothing.
func (n *nearby) replace(p int, before, now nearbyView) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.views[p] == before {
		n.putLocked(p, now)
	}
}

// put sets the index of property p.
func (n *nearby) put(p int, v nearbyView) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.putLocked(p, v)
}

// putLocked does the work of put. REQUIRES: n.mu is locked.
func (n *nearby) putLocked(p int, v nearbyView) {
	if n.views == nil {
		n.views = map[int]nearbyView{}
	}
	n.views[p] = v
}

// exists reports whether there is an index, or a graph to make one from.
func (v nearbyView) exists() bool { return v.View != nil || v.taken != nil || v.stored != nil }

// graph returns the graph of an index. The index must exist, and its vectors have dim components.
// If the graph is stored and not open yet, graph opens it and throws the faults of the stored
// graph; see package corruption.
func (v nearbyView) graph(dim int) *vectorindex.Graph {
	switch {
	case v.View != nil:
		return v.Graph()
	case v.taken != nil:
		return v.taken
	}
	return v.stored.open(dim)
}

// mapped returns the index with its graph in the form that [vectorindex.Graph.Mapped] returns.
func (v nearbyView) mapped() nearbyView {
	if v.View != nil {
		v.View = v.Mapped()
	}
	if v.taken != nil {
		v.taken = v.taken.Mapped()
	}
	return v
}

// later returns the index for the next state, which must bring it up to date.
func (v nearbyView) later() nearbyView {
	v.current = false
	return v.mapped()
}

// vectorSource returns the function that reads the vectors of property p by row.
func (t *Rows) vectorSource(p int) vectorindex.Vectors {
	return func(row uint32) ([]float32, bool) {
		v := t.ValueAt(row, p)
		if v.IsNull() {
			return nil, false
		}
		return v.Vector(), true
	}
}

// Run builds the graph; `workers` is the maximum number of goroutines. Run throws faults of the
// stored rows; see package corruption. The only possible error is that of the context.
func (b *VectorBuild) Run(ctx context.Context, workers int) error {
	t, earlier, from := b.t, b.earlier, uint32(0)
	b.t, b.earlier = nil, nil
	if earlier != nil {
		from = earlier.Covered()
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
	codes, err := codesOf(ctx, &t.Rows, b.p, from, alive)
	if err != nil {
		return err
	}
	g, err := vectorindex.Build(ctx, earlier, dim, codes, func(row uint32) uint32 {
		if ord, ok := ordAt[row]; ok {
			return ord
		}
		return row
	}, rows, workers)
	if err != nil {
		return err
	}
	view, err := vectorindex.NewView(index.Work{Ctx: ctx}, g, t.next, t.rows, t.vectorSource(b.p))
	if err != nil {
		return err
	}
	b.done.Store(view)
	return nil
}

// codesOf returns the codes of the vectors of property p in the rows from+i for which alive[i] is
// true. The only possible error is that of the context.
func codesOf(ctx context.Context, t *Rows, p int, from uint32, alive []bool) (*column.Codes, error) {
	source, codes := t.vectorSource(p), column.NewCodes(t.Type.Props[p].Type.Dim)
	// The codes of a large graph fill much of the memory. So the vectors are counted first, and the
	// codes are never moved to a larger array.
	n := 0
	for i, ok := range alive {
		if ok {
			if _, ok := source(from + uint32(i)); ok {
				n++
			}
		}
	}
	codes.Grow(n)
	for i, ok := range alive {
		if i%vectorTick == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		if !ok {
			continue
		}
		if v, ok := source(from + uint32(i)); ok {
			codes.Add(from+uint32(i), v)
		}
	}
	return codes, nil
}

// vectorTick is the number of rows between two checks of the context.
const vectorTick = 1 << 10

// follow takes over the indexes and builds of the previous state, for a table of type `typ`. The
// slice `at` contains, for each property, its previous position; a negative number means none.
func (n *nearby) follow(before *nearby, typ *schema.Type, at []int) {
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
			n.views[p] = v.later()
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
		n.views[p] = v.later()
	}
}
