package exec

import (
	"sync/atomic"

	"github.com/omnigraph-go/omnigraph/engine"
)

// Memory limits the total memory of concurrent runs. Several graphs may share one Memory.
// It is safe for concurrent use.
type Memory struct {
	limit int64
	taken atomic.Int64
}

// NewMemory returns a Memory with a limit in bytes.
func NewMemory(limit int64) *Memory { return &Memory{limit: limit} }

// Taken returns the number of bytes that the current runs have reserved. It does not count
// the first MiB of each run.
func (m *Memory) Taken() int64 { return m.taken.Load() }

// Take reserves bytes for something other than a run, for example a response that is built
// from the rows of runs. It reports false, and reserves nothing, if fewer bytes are free.
// The caller must return the bytes with Give.
func (m *Memory) Take(bytes int64) bool { return m.take(bytes) }

// Limit returns the limit in bytes.
func (m *Memory) Limit() int64 { return m.limit }

// Give returns bytes that were reserved with Take.
func (m *Memory) Give(bytes int64) { m.taken.Add(-bytes) }

const (
	// unasked is the number of bytes that each run may use without a reservation. Most runs
	// need no more, and so do not contend for the shared counter.
	unasked = 1 << 20

	// memoryStep is the size of a reservation in bytes. It is large, so that runs rarely
	// reserve.
	memoryStep = 1 << 20
)

func (m *Memory) take(bytes int64) bool {
	if m.taken.Add(bytes) <= m.limit {
		return true
	}
	m.taken.Add(-bytes)
	return false
}

// reserve reserves the bytes that the run has spent beyond its reservation. The error is a
// *engine.Busy.
func (st *state) reserve() error {
	more := (st.spent - st.reserved + memoryStep - 1) / memoryStep * memoryStep
	if !st.shared.take(more) {
		return &engine.Busy{Resource: "bytes of memory for all queries at once", Limit: st.shared.limit}
	}
	st.reserved += more
	return nil
}

// release returns the run's reservation.
func (st *state) release() {
	if st.shared != nil {
		st.shared.taken.Add(unasked - st.reserved)
		st.shared = nil
	}
}
