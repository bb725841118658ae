package version

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/codec"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index/vectorindex"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/segment"
)

// storedVectors is a graph that a manifest lists. The first search reads it.
type storedVectors struct {
	name    string        // name of the segment
	covered uint32        // rows
	src     column.Source // the blocks of the segment

	mu    sync.Mutex         // guards graph
	graph *vectorindex.Graph // nil until it is read
}

// open reads the graph, for vectors with dim components. It throws faults; see package corruption.
func (s *storedVectors) open(dim int) *vectorindex.Graph {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.graph == nil {
		s.graph = vectorindex.OpenGraph(s.name, s.src, dim, s.covered)
	}
	return s.graph
}

// listed is the entry of a manifest for an approximate index.
type listed struct {
	graph   *vectorindex.Graph // nil if the graph is not read yet
	name    string             // only without a graph
	covered uint32             // the graph was made from the rows with lower numbers
}

// segment returns the name of the segment with the graph; empty if the graph is not stored.
func (l listed) segment() string {
	if l.graph != nil {
		return l.graph.Name()
	}
	return l.name
}

// unstoredVectors prepares the entries of the next manifest, and lists the graphs that are not
// stored.
func (s *searches) unstoredVectors() (parts []Unstored) {
	n := &s.nearby
	n.listed = map[int]listed{}
	for _, p := range n.known() {
		if x := n.unread(p); x != nil {
			n.listed[p] = listed{name: x.name, covered: x.covered}
			continue
		}
		// The manifest needs only the graph. To bring the index up to date would read rows, which may
		// be damaged.
		v, _ := n.latest(p)
		g := v.graph(s.typ.Props[p].Type.Dim)
		n.listed[p] = listed{graph: g, covered: g.Covered()}
		if g.Name() == "" {
			parts = append(parts, g)
		}
	}
	return parts
}

// vectorsToStore reports whether there is a vector index (a neighbour graph) that is not
// stored yet.
func (s *searches) vectorsToStore() bool {
	n := &s.nearby
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, b := range n.builds {
		if v := b.done.Load(); v != nil && v.Graph().Name() == "" {
			return true
		}
	}
	for p, v := range n.views {
		if b := n.builds[p]; b != nil && b.done.Load() != nil {
			continue // the build replaces this graph
		}
		if v.View != nil && v.Graph().Name() == "" || v.taken != nil && v.taken.Name() == "" {
			return true
		}
	}
	return false
}

// disownVectors is Disown for the approximate indexes. It drops a graph if the graph is not read
// yet and its segment is deleted.
func (s *searches) disownVectors(there func(name string) bool) {
	n := &s.nearby
	n.mu.Lock()
	defer n.mu.Unlock()
	for p, v := range n.views {
		switch {
		case v.View != nil || v.taken != nil:
			if g := v.graph(0); g.Name() != "" && !there(g.Name()) {
				g.Named("")
			}
		case v.stored != nil && !there(v.stored.name):
			delete(n.views, p)
		}
	}
	// An entry prepared for a manifest that failed may name deleted segments too.
	maps.DeleteFunc(n.listed, func(_ int, l listed) bool { return !there(l.segment()) })
}

// MapVectors makes the table use, for each approximate index that is stored, the graph that was
// read from its segment. Only the goroutine that writes manifests may call it.
func (t *Table) MapVectors() {
	n := &t.texts.nearby
	n.mu.Lock()
	defer n.mu.Unlock()
	for p, v := range n.views {
		n.views[p] = v.mapped()
	}
	for _, b := range n.builds {
		if v := b.done.Load(); v != nil {
			b.done.Store(v.Mapped())
		}
	}
	for p, l := range n.listed {
		if l.graph != nil {
			l.graph = l.graph.Mapped()
			n.listed[p] = l
		}
	}
}

// storedVectors yields the entries for the manifest that name a segment, in order of properties.
func (s *searches) storedVectors(yield func(p int, l listed) bool) {
	n := &s.nearby
	for _, p := range slices.Sorted(maps.Keys(n.listed)) {
		if l := n.listed[p]; l.segment() != "" && !yield(p, l) {
			return
		}
	}
}

// appendVectors appends the manifest's entries for the approximate indexes.
func (s *searches) appendVectors(dst []byte) []byte {
	for p, l := range s.storedVectors {
		dst = binary.AppendUvarint(dst, uint64(p))
		dst = binary.AppendUvarint(dst, uint64(l.covered))
		dst = binary.AppendUvarint(dst, 1)
		dst = codec.AppendText(dst, l.segment())
	}
	return dst
}

// readVectors reads the rest of a manifest's entry for the approximate index of property p of a table
// that has so many rows in segments.
func (s *searches) readVectors(r *codec.Reader, open segment.Opener, p int, covered, rows uint32) error {
	parts := r.Count()
	name := r.Text()
	if r.Err != nil {
		return r.Err
	}
	if parts != 1 || covered > rows {
		r.Fail(fmt.Sprintf("%s %s: the vector index of %s is in %d segments, expected 1, or covers %d rows, expected at most %d", s.typ.Entity, s.typ.Name, s.typ.Props[p].Name, parts, covered, rows))
		return r.Err
	}
	src, err := open.Source(name)
	if err != nil {
		return err
	}
	n := &s.nearby
	if n.views == nil {
		n.views = map[int]nearbyView{}
	}
	n.views[p] = nearbyView{stored: &storedVectors{name: name, covered: covered, src: src}}
	return nil
}

// verifyVectors compares the existing approximate indexes with the vectors of the rows.
func verifyVectors(t *Table) error {
	for _, p := range t.texts.nearby.known() {
		view, err := t.Vectors(index.Work{Ctx: context.Background()}, p)
		if err != nil {
			return err
		}
		if view == nil {
			continue
		}
		if part, err := view.Verify(t.vectorSource(p)); err != nil {
			object := t.object()
			if part != "" {
				object = "segment " + part
			}
			return &engine.Corrupt{Object: object, Detail: fmt.Sprintf("%s %s: the vector index of %s: %v", t.Type.Entity, t.Type.Name, t.Type.Props[p].Name, err)}
		}
	}
	return nil
}

// known lists the properties that have an approximate index, read or not.
func (n *nearby) known() []int {
	n.mu.Lock()
	defer n.mu.Unlock()
	props := slices.Collect(maps.Keys(n.views))
	for p, b := range n.builds {
		if _, ok := n.views[p]; !ok && b.done.Load() != nil {
			props = append(props, p)
		}
	}
	slices.Sort(props)
	return props
}

// unread returns the stored graph of a property if it is not read yet and no build replaces it.
func (n *nearby) unread(p int) *storedVectors {
	n.mu.Lock()
	defer n.mu.Unlock()
	if b := n.builds[p]; b != nil && b.done.Load() != nil {
		return nil
	}
	if v := n.views[p]; v.View == nil && v.taken == nil {
		return v.stored
	}
	return nil
}
