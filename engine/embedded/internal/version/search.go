package version

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index/textindex"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
)

// searches holds the text indexes and sorted indexes of one state of a table. The first
// reader that needs an index builds it, without the writer's lock; a checkpoint builds the text
// indexes that the schema declares (see [Table.BuildTexts]). Tables that hold the
// same rows under the same row numbers share one value of type searches; a table with new row numbers
// starts with an empty one.
type searches struct {
	typ     *schema.Type            // the table's type; maps below are keyed by property position
	mu      sync.Mutex              // guards built, planned, earlier and damaged
	built   map[int]*search         // by property: its index, built or being built
	planned map[int]*search         // by property: the index that a checkpoint builds for this state or an earlier one
	earlier map[int]*textindex.View // indexes of an earlier state, by property
	damaged map[int]bool            // by property: whether a checkpoint found a text that cannot be read

	orders orders // the sorted indexes
	nearby nearby // the approximate vector indexes

	// stored holds, by property, the text indexes that the next manifest lists. Only the goroutine
	// that writes manifests may use it.
	stored map[int]storedTexts
}

// search is the text index of one property.
type search struct {
	buildLock chan struct{}                  // a mutex (capacity 1), held during the build
	view      atomic.Pointer[textindex.View] // nil until the index is built
}

// Text returns the inverted index of String property p; see [Table.TextWithin].
func (t *Table) Text(p int) *textindex.View {
	v, err := t.TextWithin(index.Work{Ctx: context.Background()}, p)
	if err != nil {
		panic("version: " + err.Error()) // cannot fail without a limit
	}
	return v
}

// TextWithin returns the inverted index of String property p. The first call builds it,
// from the index of an earlier state if there is one. Concurrent calls wait; if the build
// fails, one of them tries again. A table in a transaction has no index of its own, so call
// TextWithin on the tables of snapshots. The only possible errors are those of the context and of
// w.Spend.
func (t *Table) TextWithin(w index.Work, p int) (*textindex.View, error) {
	return t.textWith(w, p, func(past *textindex.View) (*textindex.View, error) {
		if past != nil {
			return textindex.Update(w, past, t.next, t.rows, t.textSource(p))
		}
		return textindex.Build(w, t.next, t.rows, t.textSource(p))
	})
}

// textWith does the work of TextWithin. The parameter `build` is the function that builds the
// index; its argument `past` is the index of an earlier state, or nil.
func (t *Table) textWith(w index.Work, p int, build func(past *textindex.View) (*textindex.View, error)) (*textindex.View, error) {
	s, past := t.texts.of(p)
	if v := s.view.Load(); v != nil {
		return v, nil
	}
	select {
	case s.buildLock <- struct{}{}:
	case <-w.Ctx.Done():
		return nil, w.Ctx.Err()
	}
	defer func() { <-s.buildLock }()
	if v := s.view.Load(); v != nil {
		return v, nil
	}
	v, err := build(past)
	if err != nil {
		return nil, err
	}
	s.view.Store(v)
	t.texts.drop(p)
	return v, nil
}

// textSource returns the function that reads the text of property p in a given row.
func (t *Rows) textSource(p int) textindex.Source {
	return func(row uint32) (string, bool) { return t.textAt(row, p) }
}

// textAt returns the text of a row and whether it has one. The text aliases the table.
func (t *Rows) textAt(row uint32, p int) (string, bool) {
	if row >= t.base {
		v := t.tailRow(row).Vals[p]
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

// of returns the index of property p, built or not, and the index of an earlier state, if any.
func (s *searches) of(p int) (*search, *textindex.View) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.built[p]
	if m == nil {
		if s.built == nil {
			s.built = map[int]*search{}
		}
		m = &search{buildLock: make(chan struct{}, 1)}
		s.built[p] = m
	}
	return m, s.earlierLocked(p)
}

// plan makes later states inherit the index of property p, which a checkpoint is going to build.
func (s *searches) plan(p int) {
	m, _ := s.of(p)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.planned == nil {
		s.planned = map[int]*search{}
	}
	s.planned[p] = m
}

// earlierLocked returns the index that an earlier state has for property p, or nil. REQUIRES: s.mu
// is locked.
func (s *searches) earlierLocked(p int) *textindex.View {
	if m := s.planned[p]; m != nil {
		if v := m.view.Load(); v != nil {
			if s.earlier == nil {
				s.earlier = map[int]*textindex.View{}
			}
			s.earlier[p] = v
			delete(s.planned, p)
		}
	}
	return s.earlier[p]
}

// drop forgets the earlier index of a property after the current index has been built.
func (s *searches) drop(p int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.earlier, p)
	delete(s.planned, p)
	delete(s.damaged, p)
}

// next returns the searches of the next state of the table. Its indexes will be derived from the latest ones that were
// built, or from those that a checkpoint is building.
func (s *searches) next() *searches {
	n := &searches{typ: s.typ}
	n.orders.follow(&s.orders)
	n.nearby.clone(&s.nearby)
	s.mu.Lock()
	defer s.mu.Unlock()
	n.damaged = maps.Clone(s.damaged)
	for p := range s.planned {
		s.earlierLocked(p)
	}
	n.planned = maps.Clone(s.planned)
	if len(s.earlier) > 0 {
		n.earlier = maps.Clone(s.earlier)
	}
	for p, m := range s.built {
		if v := m.view.Load(); v != nil {
			if n.earlier == nil {
				n.earlier = map[int]*textindex.View{}
			}
			n.earlier[p] = v
		}
	}
	return n
}
