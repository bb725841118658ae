package index

import (
	"slices"
	"sort"
)

// Sorted lists the entities of a table in the order of a property's values. It consists of a base,
// built at once for one state, and of a list of the entities that were added or changed since. An
// entry of the base is valid only if the entity still has the same row as in that state. A Sorted
// is immutable, and shares its base with the earlier states from which it was made.
//
// Sorted does not contain the values. The caller passes a function `compare`, which compares the
// values of any two rows of this or an earlier state.
type Sorted struct {
	base      *SortedBase // nil for none
	laterOrds []uint32    // ordinals added or changed since the base, in the same order
	rows      Rows        // the rows in this state
	next      uint32      // number of ordinals that the state has assigned
	dead      int         // an upper bound of the number of invalid entries in the base
	baseValid bool        // all entries of the base are valid
	stored    bool        // this is the state of a stored base; `rows` and `next` are read from the base
}

// NewSorted returns an index with ords as its base: the ordinals of all live entities of a state,
// in order. The parameter `next` is the number of ordinals that the state has assigned.
func NewSorted(ords []uint32, rows Rows, next uint32) *Sorted {
	return &Sorted{base: &SortedBase{ords: ords, rows: rows, next: next}, rows: rows, next: next, baseValid: true}
}

// Len returns an upper bound of the number of entities.
func (s *Sorted) Len() int { return s.base.Len() + len(s.laterOrds) }

// Base returns the base of the index, or nil if it has none. Indexes of other states may share the
// base.
func (s *Sorted) Base() *SortedBase { return s.base }

// opened returns an index with an open base. It throws a fault if the base has more ordinals than
// `next`, the number of ordinals of a later state.
func (s *Sorted) opened(next uint32) *Sorted {
	if !s.stored {
		return s
	}
	b := s.base
	b.open()
	if b.next > next {
		b.place.fail("the index covers %d ordinals, but the table has only %d", b.next, next)
	}
	return &Sorted{base: b, rows: b.rows, next: b.next, baseValid: true}
}

// Update returns the index for a later state of the same table, in which rows have kept
// their numbers. Its time is proportional to the changes since s and the changes between
// the base and s. It rebuilds the base when these become many.
func (s *Sorted) Update(next uint32, rows Rows, compare func(a, b uint32) int) *Sorted {
	s = s.opened(next)
	u := &Sorted{base: s.base, rows: rows, next: next, dead: s.dead, baseValid: s.baseValid}
	var changed []uint32
	rows.changes(&s.rows, s.next, next, func(ord, was, is uint32) {
		if was != Dead {
			u.dead++
		}
		u.baseValid = false
		if is != Dead {
			changed = append(changed, ord)
		}
	})
	byValue := func(a, b uint32) int { return compare(rows.Get(a), rows.Get(b)) }
	slices.SortStableFunc(changed, byValue)
	kept := make([]uint32, 0, len(s.laterOrds)+len(changed))
	for _, ord := range s.laterOrds {
		if rows.Get(ord) != s.rows.Get(ord) {
			continue
		}
		for len(changed) > 0 && byValue(changed[0], ord) < 0 {
			kept = append(kept, changed[0])
			changed = changed[1:]
		}
		kept = append(kept, ord)
	}
	u.laterOrds = append(kept, changed...)
	if n := len(u.laterOrds) + u.dead; n > 1024 && n > u.base.Len()/8 {
		return u.rebase(compare)
	}
	return u
}

// rebase merges the base and the later entities into a new base.
func (s *Sorted) rebase(compare func(a, b uint32) int) *Sorted {
	s.base.Load()
	base := make([]uint32, 0, s.Len())
	rest, rows := s.base.ords, &s.base.rows
	keep := func(ords []uint32) {
		for _, ord := range ords {
			if s.counts(ord) {
				base = append(base, ord)
			}
		}
	}
	for _, ord := range s.laterOrds {
		row := s.rows.Get(ord)
		n := sort.Search(len(rest), func(i int) bool { return compare(rows.Get(rest[i]), row) > 0 })
		keep(rest[:n])
		rest, base = rest[n:], append(base, ord)
	}
	keep(rest)
	return NewSorted(base, s.rows, s.next)
}

// counts reports whether an entry of the base is valid.
func (s *Sorted) counts(ord uint32) bool {
	if s.baseValid {
		return true
	}
	row := s.base.rows.Get(ord)
	return row != Dead && s.rows.Get(ord) == row
}

// Span is a range of an index.
type Span struct{ from, upto, laterFrom, laterUpto int }

// Len returns an upper bound of the number of entities in a span.
func (s Span) Len() int { return max(0, s.upto-s.from) + max(0, s.laterUpto-s.laterFrom) }

// All returns the span of all entities.
func (s *Sorted) All() Span { return Span{0, s.base.Len(), 0, len(s.laterOrds)} }

// Between returns the span of the rows for which the functions `below` and `beyond` both return
// false. In the order of the index, the rows for which `below` returns true must come first, and
// those for which `beyond` returns true must come last.
func (s *Sorted) Between(below, beyond func(row uint32) bool) Span {
	findBase := func(f func(row uint32) bool) int {
		return sort.Search(s.base.Len(), func(i int) bool { return f(s.base.rows.Get(s.base.at(i))) })
	}
	findLater := func(f func(row uint32) bool) int {
		return sort.Search(len(s.laterOrds), func(i int) bool { return f(s.rows.Get(s.laterOrds[i])) })
	}
	not := func(row uint32) bool { return !below(row) }
	span := Span{from: findBase(not), laterFrom: findLater(not)}
	span.upto = max(span.from, findBase(beyond))
	span.laterUpto = max(span.laterFrom, findLater(beyond))
	return span
}

// Walk iterates over a span in ascending or descending order.
type Walk struct {
	s       *Sorted
	left    Span                  // the part of the span that is not visited yet
	desc    bool                  // in descending order
	compare func(a, b uint32) int // compares the values in two rows
}

// Walk returns a walk before the first entity of a span.
func (s *Sorted) Walk(span Span, desc bool, compare func(a, b uint32) int) Walk {
	return Walk{s, span, desc, compare}
}

// Next returns the next entity and its row; ok is false at the end.
func (w *Walk) Next() (ord, row uint32, ok bool) {
	s, left := w.s, &w.left
	for left.from < left.upto {
		at := left.from
		if w.desc {
			at = left.upto - 1
		}
		ord = s.base.at(at)
		if !s.counts(ord) {
			w.step(at, &left.from, &left.upto)
			continue
		}
		row = s.base.rows.Get(ord)
		if left.laterFrom < left.laterUpto {
			if c := w.compare(s.rows.Get(s.laterOrds[w.laterAt()]), row); c != 0 && (c < 0) != w.desc {
				break
			}
		}
		w.step(at, &left.from, &left.upto)
		return ord, row, true
	}
	if left.laterFrom >= left.laterUpto {
		return 0, 0, false
	}
	at := w.laterAt()
	w.step(at, &left.laterFrom, &left.laterUpto)
	return s.laterOrds[at], s.rows.Get(s.laterOrds[at]), true
}

// laterAt returns the position of the next ordinal of laterOrds.
func (w *Walk) laterAt() int {
	if w.desc {
		return w.left.laterUpto - 1
	}
	return w.left.laterFrom
}

// step removes the visited position `at` from the range [*from, *upto).
func (w *Walk) step(at int, from, upto *int) {
	if w.desc {
		*upto = at
	} else {
		*from = at + 1
	}
}
