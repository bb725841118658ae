package version

import (
	"context"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
)

// windowIDs is the number of candidates that the pages of a [Difference] keep in memory. To find those of the
// next window, a page reads the ids of all candidates of the type.
const windowIDs = 1 << 16

// position is a position among the candidates of a type.
type position struct {
	typ   int    // the index of the type in Difference.types
	after bool   // the position is behind `id`; otherwise it is before the first candidate
	id    string // empty if `after` is false
}

// candidates are the entities of one type that may differ: those behind a position, up to some number.
type candidates struct {
	from position
	list []candidate // by id
	last bool        // no candidate follows
}

// behind returns the candidates behind the position p, if w has the first of them. Otherwise ok is false.
func (w *candidates) behind(p position) (list []candidate, ok bool) {
	if w == nil || w.from.typ != p.typ || w.from.after && (!p.after || p.id < w.from.id) {
		return nil, false
	}
	list = w.list
	if p.after {
		i, found := slices.BinarySearchFunc(list, p.id, func(c candidate, id string) int { return strings.Compare(c.id, id) })
		if found {
			i++
		}
		list = list[i:]
	}
	return list, len(list) > 0 || w.last
}

// Found returns the number of candidates in memory.
func (d *Difference) Found() int {
	if w := d.recent.Load(); w != nil {
		return len(w.list)
	}
	return 0
}

// each calls `yield` with each candidate behind a position, in order, until `yield` returns false. It keeps at
// most `window` candidates in memory. The only possible error is that of the context.
func (d *Difference) each(ctx context.Context, p position, window int, yield func(c *candidate) bool) error {
	for {
		w := d.recent.Load()
		list, ok := w.behind(p)
		if !ok {
			var err error
			if w, err = d.find(ctx, p, window); err != nil {
				return err
			}
			d.recent.Store(w)
			list = w.list
		}
		for i := range list {
			if i%1024 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if !yield(&list[i]) {
				return nil
			}
		}
		if w.last {
			return nil
		}
		p = position{p.typ, true, list[len(list)-1].id}
	}
}

// find finds the first `window` candidates behind a position.
func (d *Difference) find(ctx context.Context, p position, window int) (*candidates, error) {
	w := &candidates{from: p, last: true}
	var end string // while w.last is false: the greatest id that w needs
	cut := func() {
		w.list = sorted(w.list)
		if len(w.list) > window {
			clear(w.list[window:])
			w.list, w.last = w.list[:window], false
			end = w.list[window-1].id
		}
	}
	err := d.eachCandidate(ctx, d.types[p.typ], func(c candidate) {
		if p.after && c.id <= p.id || !w.last && c.id > end {
			return
		}
		if w.list = append(w.list, c); len(w.list) >= 2*window {
			cut()
		}
	})
	if err != nil {
		return nil, err
	}
	cut()
	return w, nil
}

// eachCandidate calls `yield` with the entities of a type that may differ, in no order. It passes an entity whose
// ordinals differ twice, once for each state. The only possible error is that of the context.
func (d *Difference) eachCandidate(ctx context.Context, t typeDifference, yield func(c candidate)) error {
	if t.was != nil && t.was == t.is {
		return eachChanged(ctx, d.was.Table(t.is.Entity, t.is.Index), d.is.Table(t.is.Entity, t.is.Index), yield)
	}
	return d.eachEntity(ctx, t, func(of *Table, ord uint32) {
		c := candidate{of.ID(ord), NoOrd, ord}
		if t.is == nil || of != d.is.Table(t.is.Entity, t.is.Index) {
			c.was, c.is = ord, NoOrd
		}
		yield(c)
	})
}

// eachEntity calls `yield` with each live entity of a type, in both states.
func (d *Difference) eachEntity(ctx context.Context, t typeDifference, yield func(of *Table, ord uint32)) error {
	all := func(s *Snapshot, typ *schema.Type) error {
		if typ == nil {
			return nil
		}
		table := s.Table(typ.Entity, typ.Index)
		for ord := range table.next {
			if ord%1024 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if table.Alive(ord) {
				yield(table, ord)
			}
		}
		return nil
	}
	if err := all(d.was, t.was); err != nil {
		return err
	}
	return all(d.is, t.is)
}

// Size returns the number of rows that the candidates have, which is at least the number of changes. It reads no
// ids and no values. The only possible error is that of the context.
func (d *Difference) Size(ctx context.Context) (n int64, err error) {
	for _, t := range d.types {
		if t.was != nil && t.was == t.is {
			err = eachChangedRow(ctx, d.was.Table(t.is.Entity, t.is.Index), d.is.Table(t.is.Entity, t.is.Index), func(_, x, y uint32) {
				for _, row := range [...]uint32{x, y} {
					if row != index.Dead {
						n++
					}
				}
			})
		} else {
			err = d.eachEntity(ctx, t, func(*Table, uint32) { n++ })
		}
		if err != nil {
			return 0, err
		}
	}
	return n, nil
}
