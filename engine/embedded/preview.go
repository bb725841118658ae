package embedded

import (
	"context"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/corruption"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/rights"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// preview is the state that a merge would commit.
type preview struct {
	graph *Graph
	state *version.Snapshot
	diff  *version.Difference // from the target to the state
}

// keptPreview is a preview that the graph keeps for the next page of its changes.
type keptPreview struct {
	key string // from mergeKey
	*preview
}

// Preview implements [engine.Graph]. It merges into a fork of the target's state, so it takes no lock
// of a branch.
func (g *Graph) Preview(ctx context.Context, source, target engine.Target, resolutions []engine.Resolution) (_ engine.Preview, err error) {
	defer corruption.Catch(corruption.Watch(), &err)
	if err := g.enter(ctx); err != nil {
		return nil, err
	}
	defer g.calls.Leave()
	base, theirs, ours, err := g.mergedStates(ctx, source, target)
	if err != nil {
		return nil, err
	}
	seen, err := g.mergeSides(ctx, base, theirs, ours, source.Rights, target.Rights)
	if err == nil {
		err = g.checkSeen(ctx, seen, resolutions)
	}
	if err != nil {
		return nil, err
	}
	p, err := g.previewOf(ctx, source, target, base, theirs, ours, resolutions)
	switch {
	case err != nil:
		return nil, seenConflicts(seen, err)
	case seen.Whole():
		return p, nil
	}
	return &seenPreview{p, seen, target.Rights}, nil
}

// previewOf returns the preview of the merge of two states.
func (g *Graph) previewOf(ctx context.Context, source, target engine.Target, base, theirs, ours *version.Snapshot, resolutions []engine.Resolution) (*keptPreview, error) {
	key := mergeKey(base, theirs, ours, resolutions)
	if p := g.previewed.Load(); p != nil && p.key == key {
		return p, nil
	}
	of := func(state *version.Snapshot) *keptPreview {
		return &keptPreview{key, &preview{g, state, version.Compare(ours, state)}}
	}
	if fastForwards(base, theirs, ours) {
		if err := checkResolutions(theirs.Schema, resolutions); err != nil {
			return nil, err
		}
		return of(theirs.As(ours.Commit)), nil
	}
	opts := version.MergeOptions{Resolutions: resolutions}
	if tx, merged, err := mergeReversed(ctx, base, theirs, ours, opts); err != nil {
		return nil, err
	} else if merged != nil && merged.ConflictCount == 0 {
		return of(tx.Commit(ours.Commit)), nil
	}
	tx := version.Begin(ours.Fork())
	if base.Commit.ID != theirs.Commit.ID {
		merged, err := mergeInto(ctx, tx, branchNameOf(source, theirs), branchNameOf(target, ours), base, theirs, opts)
		if err != nil {
			return nil, err
		}
		if merged.ConflictCount > 0 {
			return nil, &engine.MergeConflicts{Conflicts: merged.Conflicts}
		}
	}
	return of(tx.Commit(ours.Commit)), nil
}

// seenPreview is a preview as a caller with rights sees it.
type seenPreview struct {
	*keptPreview
	seen   rights.Sides
	rights *engine.Rights // what the caller may read of the target
}

// Query implements [engine.Preview].
func (p *seenPreview) Query(ctx context.Context, q *plan.Query, args engine.Args, now time.Time) (_ engine.Result, err error) {
	defer corruption.Catch(corruption.Watch(), &err)
	if err := p.graph.enter(ctx); err != nil {
		return nil, err
	}
	defer p.graph.calls.Leave()
	if q.AsOf != nil {
		return nil, errNoPast
	}
	state := p.state
	if p.rights != nil {
		part, err := p.part(ctx)
		if err == nil {
			err = part.CheckPlan(q)
		}
		if err != nil {
			return nil, err
		}
		state = part.Snapshot
	}
	return p.graph.runOn(ctx, state, q, args, engine.Target{Now: now, Rights: p.rights})
}

// part returns the part of the state that the rights allow. What the target hides stays hidden, although changes of the source may let
// it pass a filter.
func (p *seenPreview) part(ctx context.Context) (*rights.Part, error) {
	target := p.seen[2].State
	states, err := p.graph.statesOf(ctx, target)
	if err != nil {
		return nil, err
	}
	states.Of, states.Others = p.state, append(states.Others, target)
	return p.graph.parts.Of(ctx, states, p.rights)
}

// Changes implements [engine.Preview].
func (p *seenPreview) Changes(ctx context.Context, r engine.ChangeRange) (list []engine.EntityChange, more bool, err error) {
	list, more, err = p.keptPreview.Changes(ctx, r)
	p.seen.Show(list)
	return list, more, err
}

// Entity implements [engine.Preview]. An entity that the target hides is not in the state.
func (p *seenPreview) Entity(ctx context.Context, at engine.ChangePosition) (image *engine.Image, same bool, err error) {
	if p.seen.Hides(at) {
		return nil, true, nil
	}
	image, same, err = p.keptPreview.Entity(ctx, at)
	return p.seen.Image(at.Entity, at.Type, image), same, err
}

// Query implements [engine.Preview].
func (p *preview) Query(ctx context.Context, q *plan.Query, args engine.Args, now time.Time) (_ engine.Result, err error) {
	defer corruption.Catch(corruption.Watch(), &err)
	if err := p.graph.enter(ctx); err != nil {
		return nil, err
	}
	defer p.graph.calls.Leave()
	if q.AsOf != nil {
		return nil, errNoPast
	}
	return p.graph.runOn(ctx, p.state, q, args, engine.Target{Now: now})
}

// Changes implements [engine.Preview]. If more changes follow, the graph keeps the preview for the next page.
func (p *keptPreview) Changes(ctx context.Context, r engine.ChangeRange) (list []engine.EntityChange, more bool, err error) {
	defer corruption.Catch(corruption.Watch(), &err)
	if err := p.graph.enter(ctx); err != nil {
		return nil, false, err
	}
	defer p.graph.calls.Leave()
	list, more, err = p.diff.Page(ctx, &r)
	if err == nil && more && p.graph.previewed.Swap(p) != p {
		time.AfterFunc(partReadTime, func() { p.graph.previewed.CompareAndSwap(p, nil) })
	}
	return list, more, err
}

// Entity implements [engine.Preview].
func (p *preview) Entity(ctx context.Context, at engine.ChangePosition) (image *engine.Image, same bool, err error) {
	defer corruption.Catch(corruption.Watch(), &err)
	if err := p.graph.enter(ctx); err != nil {
		return nil, false, err
	}
	defer p.graph.calls.Leave()
	image, same = p.diff.Entity(at)
	return image, same, nil
}
