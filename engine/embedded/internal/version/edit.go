package version

import (
	"cmp"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// edit is a table that the transaction changes. The new snapshot keeps the table, so edit holds
// only a pointer to it. A snapshot that kept the whole edit would also keep the field `before`, and
// through it every state since the last checkpoint.
type edit struct {
	*Table
	owner   *index.Owner    // that of the transaction
	before  *Table          // the table before the transaction
	touched map[uint32]bool // ordinals whose entity was put or deleted
	reset   bool            // the table started anew: every ordinal is touched
	deletes bool            // the transaction deleted an entity of the table
}

// add adds an entity, and returns its ordinal.
func (e *edit) add(r Row) uint32 {
	ord := e.assignOrdinal(r.ID)
	row := e.base + uint32(len(e.tail))
	e.tail = append(e.tail, r)
	e.rows.Set(e.owner, ord, row)
	e.touched[ord] = true
	e.live++
	e.enter(e.Type, e.owner, ord, &r, true)
	return ord
}

// replace gives an entity another row, with the same id and the same ends.
func (e *edit) replace(ord uint32, r Row) {
	e.touched[ord] = true
	old := e.rows.Get(ord)
	row := e.base + uint32(len(e.tail))
	e.tail = append(e.tail, r)
	for i, tuple := range e.Type.Tuples {
		before, had := tupleHash(tuple, func(p int) value.Value { return e.ValueAt(old, p) }, r.Src, r.Dst)
		after, has := tupleHash(tuple, func(p int) value.Value { return r.Vals[p] }, r.Src, r.Dst)
		if had == has && before == after {
			continue
		}
		if had {
			e.idx[i].Remove(e.owner, before, ord)
		}
		if has {
			e.idx[i].Add(e.owner, after, ord)
		}
	}
	e.rows.Set(e.owner, ord, row)
}

// skip consumes an ordinal without giving it to an entity.
func (e *edit) skip() {
	ord := e.next
	e.next++
	e.rows.Set(e.owner, ord, index.Dead)
	e.touched[ord] = true
}

// delete removes a live entity from its table and the table's indexes.
func (e *edit) delete(ord uint32) {
	e.touched[ord], e.deletes = true, true
	e.remove(e.owner, &e.Rows, ord)
	e.rows.Set(e.owner, ord, index.Dead)
	e.live--
}

// putSegment inserts or replaces the entities of a part. It does not enter the new entities into the
// indexes.
func (e *edit) putSegment(p Part) {
	s := p.Segment
	e.append(s)
	ids := e.ids(s)
	var kept engine.Bitmap
	if p.Replace {
		kept = engine.NewBitmap(int(e.next))
	}
	first := e.next
	from, to := s.Ends()
	for i := range s.N {
		id := ids.Str(i)
		ord, ok := e.Lookup(id)
		if ok && p.Type.Entity == plan.Edge {
			if src, dst := e.Ends(ord); src != from[i] || dst != to[i] {
				e.delete(ord)
				ok = false
			}
		}
		if ok && ord < first && kept != nil {
			kept.Set(int(ord))
		}
		if !ok {
			ord = e.assignOrdinal(strings.Clone(id))
			e.live++
		}
		e.touched[ord] = true
		e.rows.Set(e.owner, ord, s.Start+i)
	}
	for ord := range first {
		if kept != nil && e.Alive(ord) && !kept.Get(int(ord)) {
			e.delete(ord)
		}
	}
}

// changed reports whether the entity of an ordinal differs from before.
func (e *edit) changed(ord uint32) bool {
	was, is := e.before.Alive(ord), e.Alive(ord)
	if was != is {
		return true
	}
	if !is {
		return false
	}
	if e.before.Claims(ord) != e.Claims(ord) {
		return true
	}
	a, b := e.before.rows.Get(ord), e.rows.Get(ord)
	for p := range e.Type.Props {
		if !value.Equal(e.before.ValueAt(a, p), e.ValueAt(b, p)) {
			return true
		}
	}
	return false
}

// assignOrdinal assigns the next ordinal to the entity with an id.
func (t *Entities) assignOrdinal(id string) uint32 {
	if t.sorted {
		if t.next == 0 || id > t.last {
			t.last = id
		} else {
			t.sorted = false
		}
	}
	t.next++
	return t.next - 1
}

// sortedTouched lists the ordinals that eachTouched yields.
func (e *edit) sortedTouched() []uint32 { return slices.Collect(e.eachTouched) }

// eachTouched yields the ordinals that were put or deleted, in order. After a reset these are all
// ordinals.
func (e *edit) eachTouched(yield func(ord uint32) bool) {
	if !e.reset {
		slices.Values(sortedKeys(e.touched))(yield)
		return
	}
	for ord := range max(e.next, e.before.next) {
		if !yield(ord) {
			return
		}
	}
}

// sortedKeys returns the keys of a map in ascending order.
func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
