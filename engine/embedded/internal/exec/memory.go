package exec

import (
	"github.com/omnigraph-go/omnigraph/engine"
)

// Memory bounds the memory of concurrent runs. It does not count the first MiB of each run.
type Memory = engine.Memory

const (
	// unreserved is the number of bytes that each run may use without a reservation. Most runs
	// need no more, and so do not contend for the shared counter.
	unreserved = 1 << 20

	// memoryStep is the size of a reservation in bytes. It is large, so that runs rarely
	// reserve.
	memoryStep = 1 << 20
)

// budget counts the bytes that a run uses, and keeps them below the limit of the run and the
// limit of all runs.
type budget struct {
	limit    int64   // of the run; 0 for none
	spent    int64   // bytes that the run uses
	held     int64   // bytes that the pooled memory keeps from run to run; charged to each run
	shared   *Memory // limit for all runs; nil for no limit, and between runs
	reserved int64   // bytes reserved from shared, plus unreserved
}

// begin starts to count for a new run. `limit` is the run's limit in bytes; `shared` is the limit
// of all runs.
func (b *budget) begin(limit int64, shared *Memory) {
	b.limit, b.spent, b.shared, b.reserved = limit, b.held, shared, unreserved
}

// hold charges the run for bytes that its pooled memory keeps for later runs. It returns the error
// of the method spend.
func (b *budget) hold(bytes int) error {
	b.held += int64(bytes)
	return b.spend(bytes)
}

// spend charges the run for a number of bytes; a negative number returns bytes. The error is a
// *engine.TooLarge or a *engine.Busy.
func (b *budget) spend(bytes int) error {
	b.spent += int64(bytes)
	if b.limit > 0 && b.spent > b.limit {
		return &engine.TooLarge{Resource: "bytes of memory for one query", Limit: b.limit, Actual: b.spent}
	}
	if b.spent > b.reserved && b.shared != nil {
		return b.reserve()
	}
	return nil
}

// reserve reserves the bytes that the run has spent beyond its reservation. The error is a
// *engine.Busy.
func (b *budget) reserve() error {
	more := (b.spent - b.reserved + memoryStep - 1) / memoryStep * memoryStep
	if !b.shared.Take(more) {
		return &engine.Busy{Resource: "bytes of memory for all queries at once", Limit: b.shared.Limit()}
	}
	b.reserved += more
	return nil
}

// release returns the run's reservation.
func (b *budget) release() {
	if b.shared != nil {
		b.shared.Give(b.reserved - unreserved)
		b.shared = nil
	}
}
