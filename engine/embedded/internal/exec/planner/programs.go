package planner

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// maxPrograms is the maximum number of bound programs that are kept. A large program counts once
// more for every partsCounted parts. When the maximum is reached, all programs are dropped, because
// binding a plan again takes some microseconds.
const (
	maxPrograms  = 1024 // see above
	partsCounted = 256  // see above
)

// Programs caches the bound programs of plans.
type Programs struct {
	of    sync.Map     // *exec.Program by *plan.Query: the program that the plan ran last
	count atomic.Int64 // number of programs, as maxPrograms counts them

	// others is for plans that read branches with different schemas. It has the programs of a plan
	// for all schemas except the one that the plan ran on last.
	mu     sync.Mutex
	others map[programKey]*exec.Program // by plan and schema
}

// programKey is a plan and the schema that its program is bound to.
type programKey struct {
	q *plan.Query
	s *schema.Schema
}

// Get returns the program of a plan for a state. It binds the plan if no cached program fits.
func (p *Programs) Get(ctx context.Context, q *plan.Query, snap *version.Snapshot) (*exec.Program, error) {
	if prog, ok := p.of.Load(q); ok && prog.(*exec.Program).Fits(snap) {
		return prog.(*exec.Program), nil
	}
	key := programKey{q, snap.Schema}
	p.mu.Lock()
	found := p.others[key]
	p.mu.Unlock()
	if found == nil || !found.Fits(snap) {
		var err error
		if found, err = Bind(ctx, q, snap); err != nil {
			return nil, err
		}
	}
	if p.count.Load() >= maxPrograms {
		p.of.Clear()
		p.count.Store(0)
	}
	last, had := p.of.Swap(q, found)
	if !had {
		p.count.Add(1 + int64(found.Parts()/partsCounted))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.others, key)
	if had && last.(*exec.Program).Schema != snap.Schema {
		if p.others == nil || len(p.others) >= maxPrograms {
			p.others = map[programKey]*exec.Program{}
		}
		p.others[programKey{q, last.(*exec.Program).Schema}] = last.(*exec.Program)
	}
	return found, nil
}
