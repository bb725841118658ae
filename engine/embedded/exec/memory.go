package exec

import (
	"github.com/omnigraph-go/omnigraph/engine"
)

// Memory bounds the memory of concurrent runs. It does not count the first MiB of each run.
type Memory = engine.Memory

const (
	// unasked is the number of bytes that each run may use without a reservation. Most runs
	// need no more, and so do not contend for the shared counter.
	unasked = 1 << 20

	// memoryStep is the size of a reservation in bytes. It is large, so that runs rarely
	// reserve.
	memoryStep = 1 << 20
)

// reserve reserves the bytes that the run has spent beyond its reservation. The error is a
// *engine.Busy.
func (st *state) reserve() error {
	more := (st.spent - st.reserved + memoryStep - 1) / memoryStep * memoryStep
	if !st.shared.Take(more) {
		return &engine.Busy{Resource: "bytes of memory for all queries at once", Limit: st.shared.Limit()}
	}
	st.reserved += more
	return nil
}

// release returns the run's reservation.
func (st *state) release() {
	if st.shared != nil {
		st.shared.Give(st.reserved - unasked)
		st.shared = nil
	}
}
