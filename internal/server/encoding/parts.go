package encoding

import (
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
)

// Memory is a memory budget that answers share with other users. Implementations must be
// safe for concurrent use.
type Memory interface {
	// Take takes the given bytes from the budget and reports whether they were free.
	Take(bytes int64) bool
	Give(bytes int64)
	Limit() int64 // in bytes
}

// partSize is the approximate size in bytes of one part of an answer. The last part is not
// counted against the budget, because most answers have only one part and then need no
// shared memory.
const partSize = 1 << 20

// parts holds the beginning of a long answer, in several parts. A single buffer would be copied
// each time it grows, and during the copy both buffers would take memory.
type parts struct {
	full     [][]byte // the finished parts
	size     int64    // the number of bytes in the field full
	taken    int64    // bytes taken from the budget in memory
	memory   Memory   // the budget; nil for none
	maxBytes int64    // maximum bytes of an answer; unused if memory is nil
}

// part ends the current part and begins the next one, if the writer makes parts and the current one
// has nearly partSize bytes. Otherwise it does nothing. The error is a *wireerror.Oversize, or an
// *engine.Busy if other users have the memory.
func (e *Writer) part() error {
	if !e.enc.Parts || len(e.buf) < partSize-partSize/16 {
		return nil
	}
	e.full, e.size = append(e.full, e.buf), e.size+int64(len(e.buf))
	if e.memory != nil {
		more := int64(cap(e.buf))
		if e.taken+more > e.maxBytes { // this limit does not depend on other users
			return &wireerror.Oversize{Rows: e.rows, Bytes: e.taken + more, MaxBytes: int(e.maxBytes)}
		}
		if !e.memory.Take(more) {
			return &engine.Busy{Resource: "bytes of memory for answers and queries at once", Limit: e.memory.Limit()}
		}
		e.taken += more
	}
	e.buf = make([]byte, 0, partSize)
	return nil
}

// written returns the number of bytes of the answer so far.
func (e *Writer) written() int { return int(e.size) + len(e.buf) }

// release discards the parts and returns their memory to the budget.
func (p *parts) release() {
	if p.taken > 0 {
		p.memory.Give(p.taken)
	}
	p.full, p.size, p.taken = nil, 0, 0
}
