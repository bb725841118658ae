package version

import "github.com/omnigraph-go/omnigraph/engine/embedded/index"

// Likely returns the entity that most likely has an id, if one has: nothing is compared.
func (t *Table) Likely(id string) (ord uint32, ok bool) {
	c := t.keys.Find(index.String(id))
	ok = c.Next()
	return c.Ord, ok && t.Alive(c.Ord)
}

// ReadAhead brings properties of an entity that is alive to the processor's caches, all
// at once instead of one after another as they are asked for. What it returns means
// nothing: it is there for the compiler not to leave the reading out.
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
