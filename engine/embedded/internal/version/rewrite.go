package version

import (
	"context"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/segment"
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

// Rewriter rewrites the sparse tables of several snapshots, and flushes the other tables. Tables that
// the snapshots share stay shared. The memory that it needs for a table does not depend on the size of
// the table, apart from the row numbers of a table that keeps its ordinals.
type Rewriter struct {
	Floor   uint32 // number of holes that a table may have without a rewrite
	Segment int64  // bytes of rows at which a new segment of a table begins
	// Keep stores a new segment and sets its name. The rows that it has stored should use no memory.
	Keep func(t *schema.Type, s *segment.Segment) error
	// Files makes temporary files for large tables, and stores their indexes. Without it, everything
	// is in memory.
	Files *IndexFiles
	// Flushes holds the flushes of the tables that are not rewritten. Its Files may be set, too.
	Flushes Checkpoint

	numbers   map[*Table]*numbers   // of renumbered node tables
	rewritten map[rewriteKey]*Table // by old table: its new form
}

// rewriteKey is a table. For an edge table, it also contains each of the two node tables that was
// renumbered.
type rewriteKey struct{ table, from, to *Table }

// Add rewrites the tables of a snapshot, except those that earlier calls rewrote. Add fails if the
// context ends, if a function of the Rewriter fails, or with a *engine.TooLarge.
func (w *Rewriter) Add(ctx context.Context, s *Snapshot) error {
	if w.rewritten == nil {
		w.numbers, w.rewritten = map[*Table]*numbers{}, map[rewriteKey]*Table{}
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
			if err == nil && ok {
				err = w.Keep(t.Type, f.Segment)
			}
			if err != nil {
				return err
			}
			continue
		}
		x := &tableRewrite{Rewriter: w, ctx: ctx, original: t, how: how, from: w.numbers[key.from], to: w.numbers[key.to]}
		n, err := x.run()
		if err != nil {
			return err
		}
		w.rewritten[key] = n
	}
	return nil
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

// rewriteTick is the number of rows between two checks of the context.
const rewriteTick = 1024

// tableRewrite is the rewrite of one table.
type tableRewrite struct {
	*Rewriter
	ctx      context.Context
	original *Table   // the old table
	t        *Table   // the old table with all its rows in segments
	how      layout   // the new layout
	from, to *numbers // the new ordinals of the nodes at the ends of edges

	n    *Table     // the new table
	c    *collector // the rows of the next segment
	last string     // the greatest id, if the new layout has the order of the ids
}

// run returns the new table.
func (x *tableRewrite) run() (*Table, error) {
	frozen := *x.original
	frozen.freeze()
	x.t, x.n = &frozen, newTable(frozen.Type)
	x.c = x.t.collector(0)
	total := int64(0)
	for _, s := range x.t.Segs {
		total += s.StoredBytes()
	}
	files := x.Files
	if total <= x.Segment {
		files = nil
	}
	if err := x.addRows(files); err != nil {
		return nil, err
	}
	n := x.n
	if x.how == renumberEntities {
		n.next, n.last = n.live, x.last
	} else {
		n.next, n.sorted, n.last = x.t.next, x.t.sorted, x.t.last
		owner, row := new(index.Owner), uint32(0)
		for ord := range x.t.next {
			if !x.t.Alive(ord) {
				n.rows.Set(owner, ord, index.Dead)
				continue
			}
			n.rows.Set(owner, ord, row)
			row++
		}
	}
	if name, err := x.Files.reindex(n); name == "" || err != nil {
		return n, err
	}
	return n, x.Files.refresh(n)
}

// addRows puts the live rows into segments. If the table is a node table whose ordinals change, it
// enters the new ordinals in w.numbers. Without files, the order of the rows is computed in memory.
func (x *tableRewrite) addRows(files *IndexFiles) error {
	t := x.t
	renumber := x.how == renumberEntities
	byID := renumber && !t.sorted
	each := func(f func(ord uint32, r *segment.Reader, i uint32) error) error {
		r := &segment.Reader{}
		for _, ord := range inOrder(&t.Rows, byID) {
			row := t.rows.Get(ord)
			r.Segment = t.segment(row)
			if err := f(ord, r, row-r.Start); err != nil {
				return err
			}
		}
		return nil
	}
	if files != nil {
		m, err := mergeRows(x.ctx, &t.Rows, files, byID, x.Segment/4)
		if err != nil {
			return err
		}
		each = m.each
	}
	put := func(ord, number uint32) error { return nil }
	add := func() error {
		var r *segment.Reader
		var i uint32
		err := each(func(ord uint32, from *segment.Reader, at uint32) error {
			number := x.n.live
			r, i = from, at
			if err := x.add(r, i); err != nil {
				return err
			}
			return put(ord, number)
		})
		if err == nil && r != nil && renumber {
			x.last = strings.Clone(t.ids(r.Segment).Str(i))
		}
		if err != nil {
			return err
		}
		return x.cut()
	}
	if !renumber || t.Type.Entity == plan.Edge {
		return add()
	}
	of, err := collectNumbers(t.next, files, func(f func(ord, number uint32) error) error {
		put = f
		return add()
	})
	x.numbers[x.original] = of
	return err
}

// InOrder lists the ordinals of the live entities, in ascending order or in the order of the ids.
func inOrder(t *Rows, byID bool) []uint32 {
	ords := make([]uint32, 0, t.live)
	for ord := range t.next {
		if t.Alive(ord) {
			ords = append(ords, ord)
		}
	}
	if byID {
		slices.SortFunc(ords, func(a, b uint32) int { return strings.Compare(t.ID(a), t.ID(b)) })
	}
	return ords
}

// add adds row i of an old segment to the new table.
func (x *tableRewrite) add(r *segment.Reader, i uint32) error {
	if x.n.live%rewriteTick == 0 {
		if err := x.ctx.Err(); err != nil {
			return err
		}
	}
	if x.n.live%cutTick == 0 && x.c.bytes() > x.Segment {
		if err := x.cut(); err != nil {
			return err
		}
	}
	var from, to uint32
	if x.t.Type.Entity == plan.Edge {
		from, to = r.EndsOf(i)
		from, to = x.from.at(from), x.to.at(to)
	}
	x.n.live++
	return x.c.addFrom(r, i, from, to)
}

// cutTick is the number of rows between two comparisons of the size of a segment with its limit.
const cutTick = 16

// cut stores the collected rows as a segment.
func (x *tableRewrite) cut() error {
	if x.c.s.N == 0 {
		return nil
	}
	s := x.c.finish()
	if err := x.Keep(x.t.Type, s); err != nil {
		return err
	}
	x.n.base += s.N
	x.n.Segs = append(x.n.Segs, s)
	x.c = x.t.collector(x.n.base)
	return nil
}
