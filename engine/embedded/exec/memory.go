package exec

import (
	"sync/atomic"

	"github.com/omnigraph-go/omnigraph/engine"
)

// Memory bounds what runs take together, of several graphs if they share it. It is safe
// for concurrent use.
type Memory struct {
	limit int64
	taken atomic.Int64
}

// NewMemory returns a bound of so many bytes.
func NewMemory(limit int64) *Memory { return &Memory{limit: limit} }

// Taken is how many bytes the runs under way have taken, the first MiB of each left out.
func (m *Memory) Taken() int64 { return m.taken.Load() }

// Take takes so many bytes for something that is not a run, such as an answer that is
// made of what runs have yielded, unless that is more than there are. Whoever took them
// gives them back.
func (m *Memory) Take(bytes int64) bool { return m.take(bytes) }

// Limit is how many bytes there are in all.
func (m *Memory) Limit() int64 { return m.limit }

// Give gives back what was taken.
func (m *Memory) Give(bytes int64) { m.taken.Add(-bytes) }

const (
	// Each run has this much without asking: most need no more, and then share nothing.
	unasked = 1 << 20

	// memoryStep is what is asked for at once, so that runs seldom do.
	memoryStep = 1 << 20
)

func (m *Memory) take(bytes int64) bool {
	if m.taken.Add(bytes) <= m.limit {
		return true
	}
	m.taken.Add(-bytes)
	return false
}

// reserve takes what the run needs beyond what it has. The error is a *engine.Busy.
func (st *state) reserve() error {
	more := (st.spent - st.reserved + memoryStep - 1) / memoryStep * memoryStep
	if !st.shared.take(more) {
		return &engine.Busy{Resource: "bytes of memory for all queries at once", Limit: st.shared.limit}
	}
	st.reserved += more
	return nil
}

// release gives back what the run has taken.
func (st *state) release() {
	if st.shared != nil {
		st.shared.taken.Add(unasked - st.reserved)
		st.shared = nil
	}
}
