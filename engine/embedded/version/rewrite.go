package version

import (
	"context"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine/embedded/index"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// DefaultSparse is the number of holes that a table may have without a rewrite, however
// small it is.
const DefaultSparse = 4096

// layout is what a rewrite does with a table.
type layout uint8

const (
	keep     layout = iota // its rows stay where they are
	compact                // dead rows go, ordinals stay
	renumber               // dead rows and dead ordinals go; the rest is in id order
)

// layout chooses by the share of holes: 30 in a hundred are too many.
func (t *Table) layout(floor uint32) layout {
	sparse := func(holes, all uint32) bool { return holes > floor && uint64(holes)*10 > uint64(all)*3 }
	rows := t.base + uint32(len(t.tail))
	switch {
	case sparse(t.next-t.live, t.next):
		return renumber
	case sparse(rows-t.live, rows):
		return compact
	}
	return keep
}

// Sparse reports whether a rewrite is worth its while: a table has more than floor holes,
// and more than three for seven entities.
func (s *Snapshot) Sparse(floor uint32) bool {
	return slices.ContainsFunc(s.Tables(), func(t *Table) bool { return t.layout(floor) != keep })
}

// Fresh is a segment of a rewrite, in memory, for the caller to store and name.
type Fresh struct {
	Type    *Type
	Segment *Segment
}

// Rewrite returns a snapshot of the same entities in which the sparse tables have been
// laid out anew, and all rows lie in segments: those that are stored, and the fresh ones.
// The error is the context's or a *engine.TooLarge.
func (s *Snapshot) Rewrite(ctx context.Context, floor uint32) (*Snapshot, []Fresh, error) {
	w := Rewriter{Floor: floor}
	fresh, err := w.Add(ctx, s)
	if err != nil {
		return nil, nil, err
	}
	return w.Snapshot(s), fresh, nil
}

// Rewriter lays out anew the sparse tables of snapshots. Tables that they share still
// are shared.
type Rewriter struct {
	Floor uint32 // of holes that are not worth it
	// Flushes has the tables that stay as they are.
	Flushes Checkpoint

	numbers map[*Table][]uint32 // of nodes that are numbered anew, by old ordinal
	anew    map[rewriteKey]*Table
}

// rewriteKey is a table and, of edges, the tables of its ends if they are numbered anew.
type rewriteKey struct{ table, from, to *Table }

// Add lays out a snapshot's tables, and returns the segments that hold rows which no
// stored one holds, those of earlier calls excepted. The caller stores and names them.
func (w *Rewriter) Add(ctx context.Context, s *Snapshot) (fresh []Fresh, err error) {
	if w.anew == nil {
		w.numbers, w.anew = map[*Table][]uint32{}, map[rewriteKey]*Table{}
	}
	for _, t := range s.Tables() {
		key := w.key(s, t)
		how := t.layout(w.Floor)
		if t.Type.Entity == plan.Edge && (how == compact || key.from != nil || key.to != nil) {
			how = renumber // nothing outside refers to an edge by its number
		}
		if w.anew[key] != nil {
			continue
		}
		if how == keep {
			f, ok, err := w.Flushes.Flush(t)
			if err != nil {
				return nil, err
			}
			if ok {
				fresh = append(fresh, Fresh{t.Type, f.Segment})
			}
			continue
		}
		ords := t.inOrder(how)
		if t.Type.Entity == plan.Node && how == renumber {
			of := make([]uint32, t.next)
			for i, ord := range ords {
				of[ord] = uint32(i)
			}
			w.numbers[t] = of
		}
		n, err := t.laidOut(ctx, ords, how, w.numbers[key.from], w.numbers[key.to])
		if err != nil {
			return nil, err
		}
		w.anew[key] = n
		for _, seg := range n.Segs {
			fresh = append(fresh, Fresh{t.Type, seg})
		}
	}
	return fresh, nil
}

// Snapshot returns the form of a snapshot that was added.
func (w *Rewriter) Snapshot(s *Snapshot) *Snapshot {
	out := w.Flushes.Snapshot(s)
	for _, t := range s.Tables() {
		if n := w.anew[w.key(s, t)]; n != nil {
			out.set(n)
			// Tails of the line before are of tables that were numbered otherwise.
			out.line = new(line)
		}
	}
	return out
}

func (w *Rewriter) key(s *Snapshot, t *Table) rewriteKey {
	key := rewriteKey{table: t}
	if t.Type.Entity == plan.Edge {
		if from := s.nodes[t.Type.From]; w.numbers[from] != nil {
			key.from = from
		}
		if to := s.nodes[t.Type.To]; w.numbers[to] != nil {
			key.to = to
		}
	}
	return key
}

// inOrder lists the entities alive in the order in which a layout has them.
func (t *Table) inOrder(how layout) []uint32 {
	ords := make([]uint32, 0, t.live)
	for ord := range t.next {
		if t.Alive(ord) {
			ords = append(ords, ord)
		}
	}
	if how == renumber && !t.sorted {
		slices.SortFunc(ords, func(a, b uint32) int { return strings.Compare(t.ID(a), t.ID(b)) })
	}
	return ords
}

// laidOut returns a table of the entities listed. src and dst give the new numbers of the
// nodes at the ends of edges; nil for none.
func (t *Table) laidOut(ctx context.Context, ords []uint32, how layout, src, dst []uint32) (*Table, error) {
	n := newTable(t.Type)
	c := t.collector(0)
	cut := func() {
		if c.s.N > 0 {
			n.base += c.s.N
			n.Segs = append(n.Segs, c.finish())
			c = t.collector(n.base)
		}
	}
	for i, ord := range ords {
		if i%1024 == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if c.bytes() > segmentBytes {
				cut()
			}
		}
		row := t.rows.Get(ord)
		var from, to uint32
		if t.Type.Entity == plan.Edge {
			from, to = t.endsAt(row)
			if src != nil {
				from = src[from]
			}
			if dst != nil {
				to = dst[to]
			}
		}
		if err := c.add(row, from, to); err != nil {
			return nil, err
		}
	}
	cut()
	n.live = uint32(len(ords))
	if how == renumber {
		n.next = n.live
		if n.live > 0 {
			n.last = strings.Clone(t.ID(ords[n.live-1]))
		}
	} else {
		n.next, n.sorted, n.last = t.next, t.sorted, t.last
		owner, row := new(index.Owner), uint32(0)
		for ord := range t.next {
			if !t.Alive(ord) {
				n.rows.Set(owner, ord, index.Dead)
				continue
			}
			n.rows.Set(owner, ord, row)
			row++
		}
	}
	n.reindex()
	return n, nil
}
