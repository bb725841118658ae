package version

import (
	"context"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// DefaultSparse is the number of holes (dead rows or dead ordinals) that a table of any size may
// have without a rewrite.
const DefaultSparse = 4096

// layout says how a rewrite treats a table.
type layout uint8

const (
	keepOrdinals     layout = iota // rows stay in place
	compactRows                    // drops dead rows, keeps ordinals
	renumberEntities               // drops dead rows and ordinals; sorts the rest by id
)

// layout chooses the layout by the share of holes: more than 30 percent are too many.
func (t *Table) layout(floor uint32) layout {
	sparse := func(holes, all uint32) bool { return holes > floor && uint64(holes)*10 > uint64(all)*3 }
	rows := t.base + uint32(len(t.tail))
	switch {
	case sparse(t.next-t.live, t.next):
		return renumberEntities
	case sparse(rows-t.live, rows):
		return compactRows
	}
	return keepOrdinals
}

// Sparse reports whether a rewrite is worthwhile: whether some table has more than `floor` holes
// and these are more than 30 percent of its rows or ordinals.
func (s *Snapshot) Sparse(floor uint32) bool {
	return slices.ContainsFunc(s.Tables(), func(t *Table) bool { return t.layout(floor) != keepOrdinals })
}

// Fresh is a segment in memory that a rewrite made, for the caller to store and name.
type Fresh struct {
	Type    *Type    // type of the rows
	Segment *Segment // the new segment
}

// Rewrite returns a snapshot with the same entities, in which the sparse tables are
// rewritten and all rows lie in segments, stored or fresh. The only possible errors are that of the
// context and a *engine.TooLarge.
func (s *Snapshot) Rewrite(ctx context.Context, floor uint32) (*Snapshot, []Fresh, error) {
	w := Rewriter{Floor: floor}
	fresh, err := w.Add(ctx, s)
	if err != nil {
		return nil, nil, err
	}
	return w.Snapshot(s), fresh, nil
}

// Rewriter rewrites the sparse tables of several snapshots. Tables that the snapshots share
// stay shared.
type Rewriter struct {
	Floor uint32 // number of holes that a table may have without a rewrite
	// Flushes holds the flushes of the tables that are not rewritten.
	Flushes Checkpoint

	numbers   map[*Table][]uint32   // of renumbered node tables: the new ordinals, by old ordinal
	rewritten map[rewriteKey]*Table // by old table: its new form
}

// rewriteKey is a table. For an edge table, it also contains each of the two node tables that was
// renumbered.
type rewriteKey struct{ table, from, to *Table }

// Add rewrites the tables of a snapshot. It returns the new segments that earlier calls did not
// return. The caller stores these segments and sets their names.
func (w *Rewriter) Add(ctx context.Context, s *Snapshot) (fresh []Fresh, err error) {
	if w.rewritten == nil {
		w.numbers, w.rewritten = map[*Table][]uint32{}, map[rewriteKey]*Table{}
	}
	for _, t := range s.Tables() {
		key := w.key(s, t)
		how := t.layout(w.Floor)
		if t.Type.Entity == plan.Edge && (how == compactRows || key.from != nil || key.to != nil) {
			how = renumberEntities // nothing outside the table refers to an edge's ordinal
		}
		if w.rewritten[key] != nil {
			continue
		}
		if how == keepOrdinals {
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
		if t.Type.Entity == plan.Node && how == renumberEntities {
			of := make([]uint32, t.next)
			for i, ord := range ords {
				of[ord] = uint32(i)
			}
			w.numbers[t] = of
		}
		n, err := t.rewriteRows(ctx, ords, how, w.numbers[key.from], w.numbers[key.to])
		if err != nil {
			return nil, err
		}
		w.rewritten[key] = n
		for _, seg := range n.Segs {
			fresh = append(fresh, Fresh{t.Type, seg})
		}
	}
	return fresh, nil
}

// Snapshot returns the rewritten form of a snapshot that was passed to Add.
func (w *Rewriter) Snapshot(s *Snapshot) *Snapshot {
	out := w.Flushes.Snapshot(s)
	for _, t := range s.Tables() {
		if n := w.rewritten[w.key(s, t)]; n != nil {
			out.set(n)
			// Tails of the previous lineage belong to tables with other ordinals.
			out.line = new(line)
		}
	}
	return out
}

// key returns the key of a table and of its renumbered node tables.
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

// inOrder lists the ordinals of the live entities in the order of the new layout.
func (t *Table) inOrder(how layout) []uint32 {
	ords := make([]uint32, 0, t.live)
	for ord := range t.next {
		if t.Alive(ord) {
			ords = append(ords, ord)
		}
	}
	if how == renumberEntities && !t.sorted {
		slices.SortFunc(ords, func(a, b uint32) int { return strings.Compare(t.ID(a), t.ID(b)) })
	}
	return ords
}

// rewriteRows returns a table with the listed entities. The parameters src and dst map the ordinals
// of the source and target nodes of edges to new ordinals. If a map is nil, the ordinals do not
// change.
func (t *Table) rewriteRows(ctx context.Context, ords []uint32, how layout, src, dst []uint32) (*Table, error) {
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
	if how == renumberEntities {
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
