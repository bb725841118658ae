package version

import (
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
)

// Finder finds the entity with an id in two steps, Likely and Found. Between the steps the
// caller can prefetch the memory that it will most likely read.
type Finder struct {
	t       *Table
	id      string
	guess   uint32 // the entity in whose row a serial id would be; see type serial
	guessed bool   // whether there is such an entity
	c       index.Cursor
	// onCandidate says whether c has a current candidate. While guessed is set, c is not in use.
	onCandidate bool
}

// ReadAheadIndex loads the memory that the search for an id in the index will read first into the
// processor's caches. The result has no meaning.
func (x *Indexes) ReadAheadIndex(id string) uint32 { return x.keys.ReadAhead(index.String(id)) }

// Guess returns the live entity that has the id if the ids of the first segment are serial. It compares no ids.
func (t *Rows) Guess(id string) (ord uint32, ok bool) {
	ord, ok = t.guess(id)
	return ord, ok && t.Alive(ord)
}

// guess returns the entity that has the id if the ids of the first segment are serial.
func (t *Rows) guess(id string) (ord uint32, ok bool) {
	if len(t.Segs) == 0 {
		return 0, false
	}
	r := t.Segs[0].ByRow()
	if r == nil {
		return 0, false
	}
	// The rows of the first segment mostly have the same numbers as their entities.
	return r.IDs.Row(id)
}

// Find starts a search for the entity with an id.
func (t *Table) Find(id string) Finder {
	f := Finder{t: t, id: id}
	if f.guess, f.guessed = t.guess(id); !f.guessed {
		f.search()
	}
	return f
}

// search starts the search in the index.
func (f *Finder) search() {
	f.c = f.t.keys.Find(index.String(f.id))
	f.onCandidate = f.c.Next()
}

// Guessed reports whether Likely would return what [Rows.Guess] returns.
func (f *Finder) Guessed() bool { return f.guessed }

// Likely returns the entity that most likely has the id. It compares no ids.
func (f *Finder) Likely() (ord uint32, ok bool) {
	if f.guessed {
		return f.guess, f.t.Alive(f.guess)
	}
	return f.c.Ord, f.onCandidate && f.t.Alive(f.c.Ord)
}

// Found returns the entity that has the id. ok is false if the table has none.
func (f *Finder) Found() (ord uint32, ok bool) {
	if f.guessed {
		if f.t.has(f.guess, f.id) {
			return f.guess, true
		}
		f.guessed = false
		f.search()
	}
	for ; f.onCandidate; f.onCandidate = f.c.Next() {
		if f.t.has(f.c.Ord, f.id) {
			return f.c.Ord, true
		}
	}
	return 0, false
}

// has reports whether the entity with an ordinal exists and has the id. The ordinal may come from a
// stored index.
func (t *Rows) has(ord uint32, id string) bool {
	if ord >= t.next {
		return false
	}
	row := ord
	if !t.atHome(ord) {
		row = t.rows.Get(ord)
	}
	return row != index.Dead && t.idAt(row) == id
}

// Copied returns the copies of the rows among which that of a live entity is, and the position of
// its copy. It returns nil if the rows are not copied.
func (t *Rows) Copied(ord uint32) (of *column.RowCopies, row uint32) {
	if row = ord; !t.atHome(ord) {
		row = t.rows.Get(ord)
	}
	if row >= t.base {
		return nil, 0
	}
	s := t.segment(row)
	if r := s.ByRow(); r != nil {
		return r.RowCopies, row - s.Start
	}
	return nil, 0
}

// ReadAhead loads properties of a live entity into the processor's caches, all at once
// instead of one after another as they are read. The result has no meaning: it only keeps
// the compiler from removing the reads.
func (t *Rows) ReadAhead(ord uint32, props []int) (sum uint32) {
	row := ord
	if !t.atHome(ord) {
		row = t.rows.Get(ord)
	}
	if row >= t.base {
		return 0
	}
	s := t.segment(row)
	if r := s.ByRow(); r != nil {
		return r.ReadAhead(row-s.Start, r.Lines(props))
	}
	s.CountLookup(t.Type)
	for _, p := range props {
		sum += s.Props[p].ReadAhead(row - s.Start)
	}
	return sum
}

// ReadAheadAll is [Rows.ReadAhead] for several entities.
func (t *Rows) ReadAheadAll(ords []uint32, props []int) (sum uint32) {
	if t.plain() {
		if r := t.Segs[0].ByRow(); r != nil {
			lines := r.Lines(props)
			for _, ord := range ords {
				sum += r.ReadAhead(ord, lines)
			}
			return sum
		}
	}
	for _, ord := range ords {
		sum += t.ReadAhead(ord, props)
	}
	return sum
}
