package exec

import (
	"cmp"
	"context"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/sink"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
)

// run is the memory of one run. It is pooled by program. Its parts are the phases of a run,
// and each owns its memory: steps evaluate expressions and push rows to the collector, and
// the output reads the collected rows.
type run struct {
	program   *Program
	evaluator eval.Evaluator
	matcher   matcher        // runs the steps
	collector sink.Collector // collects the rows of the match
	output    sink.Output    // makes batches of the collected rows
}

// newRun returns the state for one run of a program.
func newRun(p *Program) *run {
	r := &run{program: p, evaluator: eval.NewEvaluator(&p.Query, p.SearchSteps)}
	r.collector = sink.NewCollector(&r.evaluator, p.CountsOnly)
	r.evaluator.Results = r.collector.Result
	r.matcher = newMatcher(p, &r.evaluator, &r.collector)
	r.evaluator.Blocks = &r.matcher
	r.collector.Runner = &r.matcher
	r.output = sink.NewOutput(&r.evaluator, &r.collector, p.First.singleVar())
	return r
}

// end clears references that a pooled run must not keep alive, and returns the run to the
// pool.
func (r *run) end() {
	// After a run of a single row it is not worth the time to clear the values.
	several := r.collector.Rows.N > 1
	r.evaluator.End(several)
	r.collector.ClearGroups()
	r.output.Clear(several)
	r.matcher.prof = nil
	clear(r.matcher.weighed)
	clear(r.matcher.edgeSets)
	for i := range r.matcher.subqueries {
		r.matcher.subqueries[i].end()
	}
	r.program.pool.Put(r)
}

// Run runs the program on a snapshot for which Fits is true. The caller must have checked
// the arguments. The error is that of the context, a *engine.TooLarge, a *engine.Busy, a
// *engine.BadArgument, or the error of a text that cannot be embedded.
func (p *Program) Run(ctx context.Context, snap *version.Snapshot, args engine.Args, opts eval.Options) (*Result, error) {
	if p.First.Direct && !opts.Analyze {
		return p.RunDirect(ctx, snap, args), nil
	}
	var prof *profile
	if opts.Analyze {
		prof = newProfile()
	}
	r := p.begin(ctx, snap, args, opts, prof)
	whole := false
	defer func() {
		if !whole { // the stored data is corrupt; drop the run
			r.evaluator.Release()
		}
	}()
	err := r.match()
	if err == nil {
		done := prof.phase(sorting)
		err = r.collector.Finish()
		done()
	}
	whole = true
	if err != nil {
		r.end()
		return nil, err
	}
	if prof != nil {
		prof.grouped, prof.passed = r.collector.Grouped, r.collector.Passed
	}
	r.evaluator.Ctx = nil
	return &Result{run: r, prog: p, id: snap.Commit.ID, more: r.collector.More}, nil
}

// begin takes a run from the pool and prepares it; prof is nil unless the run is analyzed.
func (p *Program) begin(ctx context.Context, snap *version.Snapshot, args engine.Args, opts eval.Options, prof *profile) *run {
	r := p.pool.Get().(*run)
	r.evaluator.Begin(ctx, snap, args, opts)
	r.matcher.begin(prof)
	r.collector.Start()
	return r
}

// match finds the rows of the match and collects them.
func (r *run) match() error {
	if err := r.evaluator.TextErr; err != nil {
		return err // see eval.Evaluator.Begin; the steps need all tables of an interface
	}
	if err := r.evaluator.BeginConstants(); err != nil {
		return err
	}
	if err := r.evaluator.BeginScores(); err != nil || r.evaluator.MaxRows == 0 {
		return err
	}
	if err := r.matcher.match(); err != nil {
		return err
	}
	err := r.collector.Fuse()
	return cmp.Or(r.evaluator.TextErr, err)
}

// Bound runs the match of a read whose only column is the id of an entity, and passes the ordinals of the entities to `yield`. They come
// in no order, and may repeat. The snapshot, the arguments and the errors are those of [Program.Run].
func (p *Program) Bound(ctx context.Context, snap *version.Snapshot, args engine.Args, opts eval.Options, yield func(ords []uint32)) error {
	r := p.begin(ctx, snap, args, opts, nil)
	whole := false
	defer func() {
		if !whole { // the stored data is corrupt; drop the run
			r.evaluator.Release()
		}
	}()
	err := r.match()
	whole = true
	if err == nil {
		yield(r.collector.Rows.Cols[p.Columns[0].Value.Var][:r.collector.Rows.N])
	}
	r.evaluator.Ctx = nil
	r.end()
	return err
}
