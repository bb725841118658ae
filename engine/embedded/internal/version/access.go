package version

import "github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"

// Finder finds the entity with an id in two steps, Likely and Found. Between the steps the
// caller can prefetch the memory that it will most likely read.
type Finder struct {
	t           *Table
	id          string
	c           index.Cursor
	onCandidate bool // whether c has a current candidate
}

// Find starts a search for the entity with an id.
func (t *Table) Find(id string) Finder {
	f := Finder{t: t, id: id, c: t.keys.Find(index.String(id))}
	f.onCandidate = f.c.Next()
	return f
}

// Likely returns the entity that most likely has the id. It compares no ids.
func (f *Finder) Likely() (ord uint32, ok bool) { return f.c.Ord, f.onCandidate && f.t.Alive(f.c.Ord) }

// Found returns the entity that has the id. ok is false if the table has none.
func (f *Finder) Found() (ord uint32, ok bool) {
	for ; f.onCandidate; f.onCandidate = f.c.Next() {
		if row := f.t.rows.Get(f.c.Ord); row != index.Dead && f.t.idAt(row) == f.id {
			return f.c.Ord, true
		}
	}
	return 0, false
}

// ReadAhead loads properties of a live entity into the processor's caches, all at once
// instead of one after another as they are read. The result has no meaning: it only keeps
// the compiler from removing the reads.
func (t *Table) ReadAhead(ord uint32, props []int) (sum uint32) {
	row := t.rows.Get(ord)
	if row >= t.base {
		return 0
	}
	s := t.segment(row)
	for _, p := range props {
		sum += s.Props[p].ReadAhead(row - s.Start)
	}
	return sum
}
