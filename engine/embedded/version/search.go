package version

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"

	"github.com/omnigraph-go/omnigraph/engine/embedded/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/index"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// searches holds the text indexes of one state of a table, built when they are first
// asked for, outside of any writer's turn. Tables that hold the same rows under the same
// row numbers share it; a table whose rows are numbered anew begins with an empty one.
type searches struct {
	typ  *Type // of the table: properties are told by their places in it
	mu   sync.Mutex
	made map[int]*search         // by property
	past map[int]*index.TextView // of an earlier state, by property

	orders orders

	// stored is what the next manifest says, by property; it is for the one who makes
	// manifests.
	stored map[int]storedTexts
}

// search is the index of one property.
type search struct {
	turn chan struct{} // holds one while it is built
	view atomic.Pointer[index.TextView]
}

// Text returns the inverted index of String property p; see [Table.TextWithin].
func (t *Table) Text(p int) *index.TextView {
	v, err := t.TextWithin(index.Work{Ctx: context.Background()}, p)
	if err != nil {
		panic("version: " + err.Error()) // without a limit nothing fails
	}
	return v
}

// TextWithin returns the inverted index of String property p. The first call builds it,
// from that of an earlier state if there is one; calls meanwhile wait for it, and when it
// fails the next of them tries. A table under change has no index of its own: TextWithin
// is for tables of snapshots. The error is the context's, or that of w.Spend.
func (t *Table) TextWithin(w index.Work, p int) (*index.TextView, error) {
	source := func(row uint32) (string, bool) { return t.textAt(row, p) }
	if t.texts == nil || t.texts.typ != t.Type {
		return w.View(t.next, t.rows, source)
	}
	s, past := t.texts.of(p)
	if v := s.view.Load(); v != nil {
		return v, nil
	}
	select {
	case s.turn <- struct{}{}:
	case <-w.Ctx.Done():
		return nil, w.Ctx.Err()
	}
	defer func() { <-s.turn }()
	if v := s.view.Load(); v != nil {
		return v, nil
	}
	var v *index.TextView
	var err error
	if past != nil {
		v, err = w.Update(past, t.next, t.rows, source)
	} else {
		v, err = w.View(t.next, t.rows, source)
	}
	if err != nil {
		return nil, err
	}
	s.view.Store(v)
	t.texts.drop(p)
	return v, nil
}

// textAt returns the text of a row, which aliases the table, and whether it has one.
func (t *Table) textAt(row uint32, p int) (string, bool) {
	if row >= t.base {
		v := t.late(row).Vals[p]
		if v.IsNull() {
			return "", false
		}
		return v.Str(), true
	}
	s := t.segment(row)
	c, i := s.Props[p], row-s.Start
	if c.IsNull(i) {
		return "", false
	}
	return c.Str(i), true
}

// EachColumn cuts a list of ordinals of entities that are alive into runs whose rows lie
// in one column, and rows that lie in none, whose values of property p it hands out one
// by one. at is the place in ords.
func (t *Table) EachColumn(p int, ords []uint32, scratch *[]uint32, run func(at int, c *column.Column, rows []uint32), one func(at int, v value.Value)) {
	t.eachRun(ords, scratch, func(at int, s *Segment, rows []uint32) { run(at, s.Props[p], rows) },
		func(at int, r *Row) { one(at, r.Vals[p]) })
}

func (s *searches) of(p int) (*search, *index.TextView) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.made[p]
	if m == nil {
		if s.made == nil {
			s.made = map[int]*search{}
		}
		m = &search{turn: make(chan struct{}, 1)}
		s.made[p] = m
	}
	return m, s.past[p]
}

// drop forgets the earlier index of a property that has a later one.
func (s *searches) drop(p int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.past, p)
}

// next returns the searches of the state after, whose tables have a type: they are
// derived from the latest that have been built for it.
func (s *searches) next(typ *Type) *searches {
	n := &searches{typ: typ}
	if s == nil || s.typ != typ {
		return n
	}
	n.orders.follow(&s.orders)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.past) > 0 {
		n.past = maps.Clone(s.past)
	}
	for p, m := range s.made {
		if v := m.view.Load(); v != nil {
			if n.past == nil {
				n.past = map[int]*index.TextView{}
			}
			n.past[p] = v
		}
	}
	return n
}
