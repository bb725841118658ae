package embedded

import (
	"context"

	"go.opentelemetry.io/otel/trace"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/corruption"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/mutate"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Bind checks that a plan fits the schema at the target. It fails with a *engine.Unsupported if
// the plan needs vectors of texts and the graph has no Embedder.
func (g *Graph) Bind(ctx context.Context, q *plan.Query, at engine.Target) (err error) {
	defer corruption.Catch(corruption.Watch(), &err)
	snap, done, err := g.read(ctx, at, q)
	if err != nil {
		return err
	}
	defer done()
	if q.Mutation != nil {
		if err := mutate.Bind(q, snap.Schema); err != nil {
			return err
		}
		return mutate.BindBlocks(ctx, q, snap)
	}
	prog, err := g.programs.Get(ctx, q, snap)
	if err == nil && prog.Embeds() && g.opts.Embedder == nil {
		return &engine.Unsupported{Construct: "nearest with a text", NoEmbedder: true}
	}
	return err
}

// Query runs a read on the target. The caller must close the result.
func (g *Graph) Query(ctx context.Context, q *plan.Query, args engine.Args, at engine.Target) (_ engine.Result, err error) {
	defer corruption.Catch(corruption.Watch(), &err)
	if err := g.enter(ctx); err != nil {
		return nil, err
	}
	defer g.calls.Leave()
	at, err = g.pinned(ctx, at, q, args)
	if err != nil {
		return nil, err
	}
	snap, err := g.visible(ctx, at, q)
	if err != nil {
		return nil, err
	}
	return g.runOn(ctx, snap, q, args, at)
}

// runOn runs a read on a state. Of the target `at`, it uses the instant of now() and the rights, and shows the rest in
// traces. The state is what the rights allow. REQUIRES: the caller has entered the graph, and catches faults of stored data.
func (g *Graph) runOn(ctx context.Context, snap *version.Snapshot, q *plan.Query, args engine.Args, at engine.Target) (engine.Result, error) {
	snap, at, err := g.validPart(ctx, snap, q, args, at)
	if err != nil {
		return nil, err
	}
	prog, err := g.programs.Get(ctx, q, snap)
	if err != nil {
		return nil, err
	}
	prog.ReadAhead(snap, args)
	if args, err = ir.CheckArgs(q.Params, args); err != nil {
		return nil, err
	}
	if span := trace.SpanFromContext(ctx); span.IsRecording() {
		return g.tracedRun(ctx, span, prog, q, snap, args, at)
	}
	if r := prog.RunDirect(ctx, snap, args); r != nil {
		return r, nil
	}
	r, err := prog.Run(ctx, snap, args, g.runOptions(prog, at, false))
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Explain describes how a query would run at the target. If the argument `analyze` is true, Explain
// runs the query and describes the actual run. A mutation cannot be analyzed; the error is then a
// *engine.BadArgument.
func (g *Graph) Explain(ctx context.Context, q *plan.Query, args engine.Args, at engine.Target, analyze bool) (_ *engine.Explanation, err error) {
	defer corruption.Catch(corruption.Watch(), &err)
	if err := g.enter(ctx); err != nil {
		return nil, err
	}
	defer g.calls.Leave()
	if analyze {
		if at, err = g.pinned(ctx, at, q, args); err != nil {
			return nil, err
		}
	}
	snap, err := g.visible(ctx, at, q)
	if err != nil {
		return nil, err
	}
	out := &engine.Explanation{Commit: snap.Commit.ID, Analyzed: analyze}
	if q.Mutation != nil {
		if analyze {
			return nil, &engine.BadArgument{Param: "analyze", Detail: "a mutation cannot be analyzed, because that would run it; name a read"}
		}
		if err := mutate.Bind(q, snap.Schema); err != nil {
			return nil, err
		}
		out.Plan, err = mutate.Explain(ctx, q, snap)
		return out, err
	}
	if analyze {
		if snap, at, err = g.validPart(ctx, snap, q, args, at); err != nil {
			return nil, err
		}
	}
	prog, err := g.programs.Get(ctx, q, snap)
	if err != nil {
		return nil, err
	}
	if !analyze {
		op, err := prog.Explain(ctx, q)
		if err != nil {
			return nil, err
		}
		out.Plan = []*engine.Operator{op}
		return out, nil
	}
	if args, err = ir.CheckArgs(q.Params, args); err != nil {
		return nil, err
	}
	r, err := prog.Run(ctx, snap, args, g.runOptions(prog, at, true))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	for rows := int64(0); ; {
		batch, err := r.Next(ctx)
		if err != nil {
			return nil, err
		}
		if batch == nil {
			op, err := r.Explain(ctx, q, rows)
			if err != nil {
				return nil, err
			}
			out.Plan = []*engine.Operator{op}
			return out, nil
		}
		rows += int64(batch.Len)
	}
}

// runOptions returns the options for a run of the program at `at`; `analyze` asks for measurements.
func (g *Graph) runOptions(prog *exec.Program, at engine.Target, analyze bool) eval.Options {
	opts := eval.Options{Origins: &g.history, Memory: max(0, g.opts.QueryMemory), Shared: g.opts.SharedMemory, Embedder: g.opts.Embedder, Analyze: analyze, Visits: g.opts.visits, Walked: g.opts.walked, Examined: g.opts.examined, SplitAll: g.opts.splitAll}
	switch {
	case !prog.UsesNow:
	case at.Now.IsZero():
		opts.Now = g.opts.now()
	default:
		opts.Now = value.OfDateTime(value.DateTimeOf(at.Now))
	}
	return opts
}
