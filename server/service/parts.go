package service

import (
	"github.com/omnigraph-go/omnigraph/engine"
)

// Memory bounds what answers take together, and with them what else takes of it.
// Implementations are safe for concurrent use.
type Memory interface {
	// Take reports whether there were so many bytes, which then are taken.
	Take(bytes int64) bool
	Give(bytes int64)
	Limit() int64 // in bytes
}

// partSize is about how many bytes a part of an answer has. The last part is not counted:
// most answers have no other, and then share nothing.
const partSize = 1 << 20

// parts are the beginning of an answer that is too long to be one piece: one that grows
// would be copied over and over, and held twice each time.
type parts struct {
	full   [][]byte
	size   int64 // of full
	taken  int64 // from memory
	memory Memory
	most   int64 // that an answer may have, with memory
}

// part makes a part of what is written so far, if it is long enough. The error is a
// *Oversize, or a *engine.Busy when others have the memory.
func (e *encoder) part() error {
	if !e.enc.Parts || len(e.buf) < partSize-partSize/16 {
		return nil
	}
	e.full, e.size = append(e.full, e.buf), e.size+int64(len(e.buf))
	if e.memory != nil {
		more := int64(cap(e.buf))
		if e.taken+more > e.most { // whatever others take
			return &Oversize{Rows: e.rows, Bytes: e.taken + more, MaxBytes: int(e.most)}
		}
		if !e.memory.Take(more) {
			return &engine.Busy{Resource: "bytes of memory for answers and queries at once", Limit: e.memory.Limit()}
		}
		e.taken += more
	}
	e.buf = make([]byte, 0, partSize)
	return nil
}

// written is how many bytes the answer has so far.
func (e *encoder) written() int { return int(e.size) + len(e.buf) }

// drop forgets the parts.
func (p *parts) drop() {
	if p.taken > 0 {
		p.memory.Give(p.taken)
	}
	p.full, p.size, p.taken = nil, 0, 0
}
