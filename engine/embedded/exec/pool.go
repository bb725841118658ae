package exec

import (
	"sync/atomic"

	"github.com/omnigraph-go/omnigraph/engine"
)

// Pool bounds the memory in which all queries that share it collect rows. It is safe for
// concurrent use. A nil Pool has no bound.
type Pool struct {
	limit int64
	taken atomic.Int64
}

// NewPool returns a pool of so many bytes.
func NewPool(limit int64) *Pool { return &Pool{limit: limit} }

// share is how many bytes a run takes from the pool at a time. The first of them are
// free, so that short queries do not meet at the counter.
const share = 1 << 20

// take takes bytes. The error is a *engine.Busy.
func (p *Pool) take(bytes int64) error {
	if p == nil {
		return nil
	}
	if actual := p.taken.Add(bytes); actual > p.limit {
		p.taken.Add(-bytes)
		return &engine.Busy{Resource: "bytes of memory for the queries under way", Limit: p.limit, Actual: actual}
	}
	return nil
}

func (p *Pool) give(bytes int64) {
	if p != nil {
		p.taken.Add(-bytes)
	}
}
