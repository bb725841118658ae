package eval

import "github.com/omnigraph-go/omnigraph/engine"

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

// Budget counts the bytes that a run uses, and keeps them below the limit of the run and the
// limit of all runs.
type Budget struct {
	Limit    int64   // of the run; 0 for none
	Spent    int64   // bytes that the run uses
	held     int64   // bytes that the pooled memory keeps from run to run; charged to each run
	Shared   *Memory // limit for all runs; nil for no limit, and between runs
	reserved int64   // bytes reserved from shared, plus unreserved
}

// Begin starts to count for a new run. `limit` is the run's limit in bytes; `shared` is the limit
// of all runs.
func (b *Budget) Begin(limit int64, shared *Memory) {
	b.Limit, b.Spent, b.Shared, b.reserved = limit, b.held, shared, unreserved
}

// Hold charges the run for bytes that its pooled memory keeps for later runs. It returns the error
// of the method spend.
func (b *Budget) Hold(bytes int) error {
	b.held += int64(bytes)
	return b.Spend(bytes)
}

// Spend charges the run for a number of bytes; a negative number returns bytes. The error is a
// *engine.TooLarge or a *engine.Busy.
func (b *Budget) Spend(bytes int) error {
	b.Spent += int64(bytes)
	if b.Limit > 0 && b.Spent > b.Limit {
		return &engine.TooLarge{Resource: "bytes of memory for one query", Limit: b.Limit, Actual: b.Spent}
	}
	if b.Spent > b.reserved && b.Shared != nil {
		return b.reserve()
	}
	return nil
}

// reserve reserves the bytes that the run has spent beyond its reservation. The error is a
// *engine.Busy.
func (b *Budget) reserve() error {
	more := (b.Spent - b.reserved + memoryStep - 1) / memoryStep * memoryStep
	if !b.Shared.Take(more) {
		return &engine.Busy{Resource: "bytes of memory for all queries at once", Limit: b.Shared.Limit()}
	}
	b.reserved += more
	return nil
}

// Release returns the run's reservation.
func (b *Budget) Release() {
	if b.Shared != nil {
		b.Shared.Give(b.reserved - unreserved)
		b.Shared = nil
	}
}
