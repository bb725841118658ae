package version

import (
	"context"
	"slices"
)

// windowIDs is the number of ids that the pages of a [Difference] keep in memory. To find the ids of the
// next window, a page reads the ids of all candidates of the type.
const windowIDs = 1 << 16

// position is a position among the candidates of a type.
type position struct {
	typ   int    // the index of the type in Difference.types
	after bool   // the position is behind `id`; otherwise it is before the first candidate
	id    string // empty if `after` is false
}

// candidates are the ids of entities of one type that may differ: those behind a position, up to some
// number.
type candidates struct {
	from position
	ids  []string // ascending; they may alias memory of the two states
	last bool     // no candidate follows
}

// behind returns the candidates behind the position p, if w has the first of them. Otherwise ok is false.
func (w *candidates) behind(p position) (ids []string, ok bool) {
	if w == nil || w.from.typ != p.typ || w.from.after && (!p.after || p.id < w.from.id) {
		return nil, false
	}
	ids = w.ids
	if p.after {
		i, found := slices.BinarySearch(ids, p.id)
		if found {
			i++
		}
		ids = ids[i:]
	}
	return ids, len(ids) > 0 || w.last
}

// Found returns the number of ids in memory.
func (d *Difference) Found() int {
	if w := d.recent.Load(); w != nil {
		return len(w.ids)
	}
	return 0
}

// each calls `yield` with the id of each candidate behind a position, in order, until `yield` returns
// false. It keeps at most `window` ids in memory. The only possible error is that of the context.
func (d *Difference) each(ctx context.Context, p position, window int, yield func(id string) bool) error {
	for {
		w := d.recent.Load()
		ids, ok := w.behind(p)
		if !ok {
			var err error
			if w, err = d.find(ctx, p, window); err != nil {
				return err
			}
			d.recent.Store(w)
			ids = w.ids
		}
		for i, id := range ids {
			if i%1024 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if !yield(id) {
				return nil
			}
		}
		if w.last {
			return nil
		}
		p = position{p.typ, true, ids[len(ids)-1]}
	}
}

// find finds the first `window` candidates behind a position.
func (d *Difference) find(ctx context.Context, p position, window int) (*candidates, error) {
	w := &candidates{from: p, last: true}
	var end string // while w.last is false: the greatest id that w needs
	cut := func() {
		slices.Sort(w.ids)
		w.ids = slices.Compact(w.ids)
		if len(w.ids) > window {
			clear(w.ids[window:])
			w.ids, w.last = w.ids[:window], false
			end = w.ids[window-1]
		}
	}
	err := d.eachCandidate(ctx, d.types[p.typ], func(t *Table, _, row uint32) {
		id := t.idAt(row)
		if p.after && id <= p.id || !w.last && id > end {
			return
		}
		if w.ids = append(w.ids, id); len(w.ids) >= 2*window {
			cut()
		}
	})
	if err != nil {
		return nil, err
	}
	cut()
	return w, nil
}

// eachCandidate calls `yield` with the rows of the entities that may differ, in either state. The order
// is not that of the ids. It yields a row of an entity in one state at most once. The only possible
// error is that of the context.
func (d *Difference) eachCandidate(ctx context.Context, t typeDifference, yield func(t *Table, ord, row uint32)) error {
	if t.was != nil && t.was == t.is {
		return eachChanged(ctx, d.was.Table(t.is.Entity, t.is.Index), d.is.Table(t.is.Entity, t.is.Index), yield)
	}
	all := func(s *Snapshot, typ *Type) error {
		if typ == nil {
			return nil
		}
		table := s.Table(typ.Entity, typ.Index)
		for ord := range table.next {
			if ord%1024 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if table.Alive(ord) {
				yield(table, ord, table.rows.Get(ord))
			}
		}
		return nil
	}
	if err := all(d.was, t.was); err != nil {
		return err
	}
	return all(d.is, t.is)
}
