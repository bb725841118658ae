package embedded

import (
	"context"
	"sync"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/exec"
	"github.com/omnigraph-go/omnigraph/engine/embedded/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// maxPrograms is how many bound programs are kept. Past it all are dropped: a plan is
// bound again in some microseconds.
const maxPrograms = 1024

// programs keeps the programs of plans.
type programs struct {
	mu sync.RWMutex
	of map[*plan.Query]*exec.Program
}

func (p *programs) get(q *plan.Query, snap *version.Snapshot) (*exec.Program, error) {
	p.mu.RLock()
	prog := p.of[q]
	p.mu.RUnlock()
	if prog != nil && prog.Fits(snap) {
		return prog, nil
	}
	prog, err := exec.Bind(q, snap)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.of == nil || len(p.of) >= maxPrograms {
		p.of = make(map[*plan.Query]*exec.Program)
	}
	p.of[q] = prog
	return prog, nil
}

// Bind checks that a plan fits the schema at the target.
func (g *Graph) Bind(ctx context.Context, q *plan.Query, at engine.Target) error {
	snap, done, err := g.read(ctx, at)
	if err != nil {
		return err
	}
	defer done()
	if q.Mutation != nil {
		return exec.BindMutation(q, snap.Schema)
	}
	prog, err := g.programs.get(q, snap)
	if err == nil && prog.Embeds() && g.opts.Embedder == nil {
		return &engine.Unsupported{Construct: "nearest to a text, without an embedding provider,"}
	}
	return err
}

// Query runs a read on the target.
func (g *Graph) Query(ctx context.Context, q *plan.Query, args engine.Args, at engine.Target) (engine.Result, error) {
	if err := g.enter(ctx); err != nil {
		return nil, err
	}
	defer g.calls.RUnlock()
	snap, err := g.snapshot(ctx, at)
	if err != nil {
		return nil, err
	}
	prog, err := g.programs.get(q, snap)
	if err != nil {
		return nil, err
	}
	if err := exec.CheckArgs(q.Params, args); err != nil {
		return nil, err
	}
	r, err := prog.Run(ctx, snap, args, exec.Options{Now: g.now(), Memory: max(0, g.opts.QueryMemory), Embedder: g.opts.Embedder})
	if err != nil {
		return nil, err
	}
	return r, nil
}
