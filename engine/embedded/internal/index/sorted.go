package index

import (
	"slices"
	"sort"
)

// Sorted lists the entities of a table in the order of a property's values. It consists of levels
// and of a list of the entities that were added or changed after the last level. An entry of a level
// is valid only if the entity still has the row of the entry. A Sorted is immutable, and shares its
// levels with the earlier states from which it was made.
//
// Sorted does not contain the values. The caller passes a function `compare`, which compares the
// values of any two rows of this or an earlier state.
type Sorted struct {
	levels    []*SortedLevel // the oldest first
	laterOrds []uint32       // ordinals added or changed since the last level, in the same order
	rows      Rows           // the rows in this state
	next      uint32         // number of ordinals that the state has assigned
	invalid   int            // number of invalid entries in the levels
	stored    bool           // this is the state of the last level, which is stored; `rows` is not set
}

// NewSorted returns an index with one level: the ordinals of all live entities of a state, in order.
// The parameter `next` is the number of ordinals that the state has assigned.
func NewSorted(ords []uint32, rows Rows, next uint32) *Sorted {
	l := &SortedLevel{ords: ords, rows: rows, next: next, end: rows.end(next)}
	return &Sorted{levels: []*SortedLevel{l}, rows: rows, next: next}
}

// entries returns the number of entries of each level.
func (s *Sorted) entries() []int {
	all := make([]int, len(s.levels))
	for i, l := range s.levels {
		all[i] = l.Len()
	}
	return all
}

// Levels returns the levels of the index, the oldest first. Indexes of other states may share them.
func (s *Sorted) Levels() []*SortedLevel { return s.levels }

// Update returns the index for a later state of the same table, in which rows have kept
// their numbers. Its time is proportional to the changes since s and the changes since the last
// level. If there are more than LevelEntries changes since the last level, Update makes a new level,
// which takes over the levels that [MergeFrom] names. If too many entries of the levels are invalid,
// Update makes one level of all entities.
func (s *Sorted) Update(next uint32, rows Rows, compare func(a, b uint32) int) *Sorted {
	u := &Sorted{levels: s.levels, rows: rows, next: next, invalid: s.invalid}
	var changed []uint32
	if s.stored {
		changed, u.invalid = s.sinceStored(next, &rows)
	} else {
		rows.Changes(&s.rows, s.next, next, func(ord, was, is uint32) {
			if was != Dead {
				u.invalid++ // the entry is in a level, or in laterOrds and not counted again below
			}
			if is != Dead {
				changed = append(changed, ord)
			}
		})
	}
	byValue := func(a, b uint32) int { return compare(rows.Get(a), rows.Get(b)) }
	slices.SortStableFunc(changed, byValue)
	kept := make([]uint32, 0, len(s.laterOrds)+len(changed))
	for _, ord := range s.laterOrds {
		if rows.Get(ord) != s.rows.Get(ord) {
			u.invalid--
			continue
		}
		for len(changed) > 0 && byValue(changed[0], ord) < 0 {
			kept = append(kept, changed[0])
			changed = changed[1:]
		}
		kept = append(kept, ord)
	}
	u.laterOrds = append(kept, changed...)
	switch all := u.All().Len(); {
	case u.invalid > LevelEntries && u.invalid > all/LevelGrowth:
		return u.merge(0, compare)
	case len(u.laterOrds) > LevelEntries:
		return u.merge(MergeFrom(u.entries(), len(u.laterOrds)), compare)
	}
	return u
}

// sinceStored compares a later state with the state of the last level, which is stored. It returns
// the ordinals that were added or changed since, and the number of invalid entries. It throws a
// fault if a level has more ordinals than `next`, the number of ordinals of the later state.
func (s *Sorted) sinceStored(next uint32, rows *Rows) (changed []uint32, invalid int) {
	for _, l := range s.levels {
		l.open()
		if l.next > next {
			l.place.Fail("the index covers %d ordinals, but the table has only %d", l.next, next)
		}
	}
	last := s.levels[len(s.levels)-1]
	valid := int(last.next)
	for first, page := range rows.All {
		for i, row := range page {
			if ord := first + uint32(i); ord < last.next && row >= last.end {
				valid--
				if row != Dead {
					changed = append(changed, ord)
				}
			}
		}
	}
	for ord := last.next; ord < next; ord++ {
		if rows.Get(ord) != Dead {
			changed = append(changed, ord)
		}
	}
	return changed, s.All().Len() - valid
}

// merge makes one level of the levels from number `from` on and of the later entities.
func (s *Sorted) merge(from int, compare func(a, b uint32) int) *Sorted {
	part := &Sorted{levels: s.levels[from:], laterOrds: s.laterOrds, rows: s.rows, next: s.next, invalid: s.invalid}
	all := part.All()
	ords, rows := make([]uint32, 0, all.Len()), make([]uint32, 0, all.Len())
	for _, l := range part.levels {
		l.Load()
	}
	end := uint32(0)
	walk := part.Walk(all, false, compare)
	for ord, row, ok := walk.Next(); ok; ord, row, ok = walk.Next() {
		ords, rows = append(ords, ord), append(rows, row)
		end = max(end, row+1)
	}
	if from == 0 {
		return NewSorted(ords, s.rows, s.next)
	}
	l := &SortedLevel{ords: ords, rowOf: rows, next: s.next, end: max(end, s.levels[len(s.levels)-1].end), number: from}
	return &Sorted{levels: append(s.levels[:from:from], l), rows: s.rows, next: s.next, invalid: s.invalid - (all.Len() - len(ords))}
}

// valid reports whether an entry of a level is valid.
func (s *Sorted) valid(ord, row uint32) bool {
	return s.invalid == 0 || row != Dead && s.rows.Get(ord) == row
}

// run is a range of positions in a level or in laterOrds.
type run struct{ from, upto int }

// Span is a range of an index.
type Span struct {
	first run   // in level 0
	more  []run // in the other levels
	later run   // in laterOrds
}

// Len returns an upper bound of the number of entities in a span.
func (s Span) Len() int {
	n := s.first.upto - s.first.from + s.later.upto - s.later.from
	for _, r := range s.more {
		n += r.upto - r.from
	}
	return n
}

// All returns the span of all entities.
func (s *Sorted) All() Span {
	return s.span(func(l *SortedLevel) run { return run{0, l.Len()} }, run{0, len(s.laterOrds)})
}

// span returns the span with the ranges that the function `of` returns for the levels.
func (s *Sorted) span(of func(*SortedLevel) run, later run) (all Span) {
	all.later = later
	for i, l := range s.levels {
		if i == 0 {
			all.first = of(l)
			continue
		}
		all.more = append(all.more, of(l))
	}
	return all
}

// Between returns the span of the rows for which the functions `below` and `beyond` both return
// false. In the order of the index, the rows for which `below` returns true must come first, and
// those for which `beyond` returns true must come last.
func (s *Sorted) Between(below, beyond func(row uint32) bool) Span {
	find := func(n int, rowAt func(i int) uint32) run {
		from := sort.Search(n, func(i int) bool { return !below(rowAt(i)) })
		return run{from, max(from, sort.Search(n, func(i int) bool { return beyond(rowAt(i)) }))}
	}
	inLevel := func(l *SortedLevel) run {
		return find(l.Len(), func(i int) uint32 { _, row := l.at(i); return row })
	}
	return s.span(inLevel, find(len(s.laterOrds), func(i int) uint32 { return s.rows.Get(s.laterOrds[i]) }))
}

// Walk iterates over a span in ascending or descending order.
type Walk struct {
	s       *Sorted
	left    Span                  // the part of the span that is not visited yet
	desc    bool                  // in descending order
	compare func(a, b uint32) int // compares the values in two rows

	// The following fields serve an index with several levels.
	heads        []head // the next entry of each level and of laterOrds that has one left
	best, second int    // the heads that come first and second
}

// head is the next entry of a walk in one level or in laterOrds.
type head struct {
	level    *SortedLevel // nil for laterOrds
	left     run          // the entries after this one
	ord, row uint32
}

// Walk returns a walk before the first entity of a span.
func (s *Sorted) Walk(span Span, desc bool, compare func(a, b uint32) int) Walk {
	w := Walk{s: s, left: span, desc: desc, compare: compare}
	if len(span.more) == 0 {
		return w
	}
	add := func(l *SortedLevel, r run) {
		if h := (head{level: l, left: r}); w.advance(&h) {
			w.heads = append(w.heads, h)
		}
	}
	add(s.levels[0], span.first)
	for i, r := range span.more {
		add(s.levels[1+i], r)
	}
	add(nil, span.later)
	w.choose()
	return w
}

// Next returns the next entity and its row; ok is false at the end.
func (w *Walk) Next() (ord, row uint32, ok bool) {
	if len(w.left.more) > 0 {
		return w.nextOfSeveral()
	}
	s, left := w.s, &w.left
	for left.first.from < left.first.upto {
		at := w.place(left.first)
		ord, row := s.levels[0].at(at)
		if !s.valid(ord, row) {
			w.step(at, &left.first)
			continue
		}
		if left.later.from < left.later.upto {
			if c := w.compare(s.rows.Get(s.laterOrds[w.place(left.later)]), row); c != 0 && (c < 0) != w.desc {
				break
			}
		}
		w.step(at, &left.first)
		return ord, row, true
	}
	if left.later.from >= left.later.upto {
		return 0, 0, false
	}
	at := w.place(left.later)
	w.step(at, &left.later)
	return s.laterOrds[at], s.rows.Get(s.laterOrds[at]), true
}

// nextOfSeveral does the work of Next for an index with several levels.
func (w *Walk) nextOfSeveral() (ord, row uint32, ok bool) {
	if len(w.heads) == 0 {
		return 0, 0, false
	}
	h := &w.heads[w.best]
	ord, row = h.ord, h.row
	switch {
	case !w.advance(h):
		w.heads = slices.Delete(w.heads, w.best, w.best+1)
		w.choose()
	case len(w.heads) > 1 && w.before(w.second, w.best):
		w.choose()
	}
	return ord, row, true
}

// advance moves a head to the next valid entry and reports whether there is one.
func (w *Walk) advance(h *head) bool {
	for h.left.from < h.left.upto {
		at := w.place(h.left)
		w.step(at, &h.left)
		if h.level == nil {
			h.ord = w.s.laterOrds[at]
			h.row = w.s.rows.Get(h.ord)
			return true
		}
		if h.ord, h.row = h.level.at(at); w.s.valid(h.ord, h.row) {
			return true
		}
	}
	return false
}

// choose finds the heads that come first and second.
func (w *Walk) choose() {
	w.best, w.second = 0, 1
	for i := 1; i < len(w.heads); i++ {
		switch {
		case w.before(i, w.best):
			w.best, w.second = i, w.best
		case i > 1 && w.before(i, w.second):
			w.second = i
		}
	}
}

// before reports whether head i comes before head j.
func (w *Walk) before(i, j int) bool {
	c := w.compare(w.heads[i].row, w.heads[j].row)
	return c != 0 && (c < 0) != w.desc
}

// place returns the position of the next entry of a range.
func (w *Walk) place(r run) int {
	if w.desc {
		return r.upto - 1
	}
	return r.from
}

// step removes the visited position `at` from a range.
func (w *Walk) step(at int, r *run) {
	if w.desc {
		r.upto = at
	} else {
		r.from = at + 1
	}
}
