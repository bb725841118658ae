package audittrail

import (
	"encoding/binary"
	"sync"
)

// MaxIDs is the number of entities of an answer of which a record has the ids. It has hashes of the ids of the others.
const MaxIDs = 100

// maxHashes is the number of hashes of a record. The answer to a call with more may have had each entity.
const maxHashes = 100_000

// Entities is a set of ids of entities, in the order in which they were added. The zero value is empty. Only one goroutine may use it.
type Entities struct {
	ids    []byte   // the first MaxIDs of them, each with its length
	n      int      // the number of ids in the field ids
	hashes []uint64 // of the others
	table  []uint64 // the hashes of all; a hash is at its place or after it, and 0 is a free place
}

// pool has the sets that are not in use.
var pool = sync.Pool{New: func() any { return new(Entities) }}

// NewEntities returns an empty set. Its caller releases it.
func NewEntities() *Entities { return pool.Get().(*Entities) }

// maxPooled is the number of places in the table of a set that is kept for reuse.
const maxPooled = 1 << 12

// Release makes the set available to others.
func (e *Entities) Release() {
	if len(e.table) > maxPooled {
		return
	}
	e.Reset()
	pool.Put(e)
}

// Reset removes all ids.
func (e *Entities) Reset() {
	if e.n > 0 {
		clear(e.table)
	}
	e.ids, e.n, e.hashes = e.ids[:0], 0, e.hashes[:0]
}

// Len returns the number of ids.
func (e *Entities) Len() int { return e.n + len(e.hashes) }

// Add adds an id, unless the set has it.
func (e *Entities) Add(id string) {
	if e.full() {
		return
	}
	h := HashOf(id)
	if 2*(e.Len()+1) > len(e.table) {
		e.grow()
	}
	if !place(e.table, max(h, 1)) {
		return
	}
	if e.n == MaxIDs {
		e.hashes = append(e.hashes, h)
		return
	}
	e.n++
	e.ids = appendText(e.ids, id)
}

// full reports whether ids may be missing, because there are too many.
func (e *Entities) full() bool { return e != nil && len(e.hashes) >= maxHashes }

// grow doubles the table.
func (e *Entities) grow() {
	old := e.table
	e.table = make([]uint64, max(32, 2*len(old)))
	for _, h := range old {
		if h != 0 {
			place(e.table, h)
		}
	}
}

// place puts a hash into a table with free places, and reports whether the table did not have it.
func place(table []uint64, h uint64) bool {
	for i := h; ; i++ {
		switch p := &table[i&uint64(len(table)-1)]; *p {
		case 0:
			*p = h
			return true
		case h:
			return false
		}
	}
}

// append appends the bytes of the set in a record. The set may be nil.
func (e *Entities) append(b []byte) []byte {
	if e == nil {
		return append(b, 0, 0)
	}
	b = append(binary.AppendUvarint(b, uint64(e.n)), e.ids...)
	b = binary.AppendUvarint(b, uint64(len(e.hashes)))
	for _, h := range e.hashes {
		b = binary.LittleEndian.AppendUint64(b, h)
	}
	return b
}
