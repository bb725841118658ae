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
	// others are the programs for schemas that a plan ran on before the last one, as of
	// plans that are read on branches with different schemas.
	others map[programKey]*exec.Program
}

type programKey struct {
	q *plan.Query
	s *version.Schema
}

func (p *programs) get(q *plan.Query, snap *version.Snapshot) (*exec.Program, error) {
	p.mu.RLock()
	prog := p.of[q]
	p.mu.RUnlock()
	if prog != nil && prog.Fits(snap) {
		return prog, nil
	}
	key := programKey{q, snap.Schema}
	p.mu.RLock()
	found := p.others[key]
	p.mu.RUnlock()
	if found == nil || !found.Fits(snap) {
		var err error
		if found, err = exec.Bind(q, snap); err != nil {
			return nil, err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.of == nil || len(p.of) >= maxPrograms || len(p.others) >= maxPrograms {
		p.of, p.others = make(map[*plan.Query]*exec.Program), make(map[programKey]*exec.Program)
	}
	if last := p.of[q]; last != nil && last.Schema() != snap.Schema {
		p.others[programKey{q, last.Schema()}] = last
	}
	delete(p.others, key)
	p.of[q] = found
	return found, nil
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

// Query runs a read on the head of the target.
func (g *Graph) Query(ctx context.Context, q *plan.Query, args engine.Args, at engine.Target) (engine.Result, error) {
	if err := g.enter(ctx); err != nil {
		return nil, err
	}
	defer g.calls.RUnlock()
	snap, err := g.snapshot(at)
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
