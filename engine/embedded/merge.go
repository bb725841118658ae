package embedded

import (
	"context"
	"errors"
	"fmt"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/corruption"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/receipts"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
)

// Merge applies the changes of the source branch to the target as one commit. While it compares
// the two, it blocks writers on the target and other merges. The error is a
// *engine.MergeConflicts if both changed the same data, and a *engine.SchemasDiverge if neither
// schema descends from the other.
//
// If the source is a draft that gets another commit meanwhile, the merge must not end the draft: it
// starts again with the new commit, unless opts.IfSource forbids that.
func (g *Graph) Merge(ctx context.Context, source, target string, opts engine.MergeOptions) (*engine.MergeResult, error) {
	for {
		out, err := g.mergeOnce(ctx, source, target, opts)
		var moved *sourceMoved
		switch {
		case !errors.As(err, &moved):
			return out, err
		case opts.IfSource != "":
			return nil, moved.PreconditionFailed
		}
	}
}

// sourceMoved is the error of a merge whose source, a draft, got another commit meanwhile.
type sourceMoved struct{ *engine.PreconditionFailed }

// mergeOnce does the work of Merge.
func (g *Graph) mergeOnce(ctx context.Context, source, target string, opts engine.MergeOptions) (_ *engine.MergeResult, err error) {
	defer corruption.Catch(corruption.Watch(), &err)
	if err := g.enter(ctx); err != nil {
		return nil, err
	}
	defer g.calls.Leave()
	from, missing := g.branches.find(source)
	if missing != nil && opts.IdempotencyKey == "" {
		return nil, missing
	}
	to, err := g.branches.findToWrite(target, opts.IdempotencyKey)
	if err != nil {
		return nil, err
	}
	if from == to {
		return nil, &engine.BadArgument{Param: "source", Detail: fmt.Sprintf("branch %s is both the source and the target; name another source", from.name)}
	}
	merging, err := g.writer.newProposalMerge(opts.Proposal, source, to.name)
	if err != nil {
		return nil, err
	}
	w, err := newWrite(engine.WriteOptions{Actor: opts.Actor, Message: opts.Message, Tool: opts.Tool, IfCommit: opts.IfCommit, IdempotencyKey: opts.IdempotencyKey, DryRun: opts.DryRun})
	if err != nil {
		return nil, err
	}
	w.merging, w.approved = merging, opts.Approvers
	if w.receipt != nil {
		name := source
		if missing == nil {
			name = from.name
		}
		w.receipt.Body = receipts.OfMerge(name)
	}
	if missing == nil {
		if err := g.prepareMerge(ctx, from, to, &opts); err != nil {
			return nil, err
		}
	}
	g.layout.RLock()
	g.layout.Merging.Lock()
	w.staged = func() {
		g.layout.Merging.Unlock()
		g.layout.RUnlock()
	}
	out := &engine.MergeResult{}
	first, made, head, err := g.writer.write(ctx, to, w, func(tx *version.Txn) ([]version.Part, error) {
		// The idempotency key may belong to an earlier merge, after which the source was deleted.
		// So a missing source is an error only if there is no receipt.
		if missing != nil {
			return nil, missing
		}
		err := g.writer.merge(ctx, from, to, tx, w, &opts, out)
		if denied := g.checkMerge(ctx, tx, w.source, to.tip.snap, &opts, err); denied != nil {
			return nil, denied
		}
		return nil, err
	})
	switch {
	case err != nil:
		return nil, err
	case first != nil:
		c := first.Commit
		return &engine.MergeResult{Outcome: first.Receipt.Outcome, Commit: &c, Head: c, Nodes: first.Receipt.Nodes, Edges: first.Receipt.Edges}, nil
	}
	out.Commit, out.Head = made, head
	return out, nil
}

// prepareMerge finds out what a merge with rights must know of the heads of its branches. The graph remembers it, so that the merge holds its
// locks only while it follows the latest commits. Whether the merge is allowed is for checkMerge to say.
func (g *Graph) prepareMerge(ctx context.Context, from, to *branch, opts *engine.MergeOptions) error {
	if opts.ReadsSource == nil && opts.ReadsTarget == nil && opts.Writes == nil {
		return nil
	}
	if err := g.prepare(ctx, to, &engine.WriteOptions{Writes: opts.Writes}); err != nil {
		return err
	}
	source, target := from.head.Load().snap, to.head.Load().snap
	base, err := g.restorer.mergeBase(ctx, source, target)
	if err != nil {
		return err
	}
	seen, err := g.mergeSides(ctx, base, source, target, opts.ReadsSource, opts.ReadsTarget)
	if err == nil {
		err = g.checkSeen(ctx, seen, nil)
	}
	if errors.As(err, new(*engine.NotAllowed)) {
		return nil
	}
	return err
}

// checkMerge returns the error of a merge as the caller may see it. It is an *engine.NotAllowed unless the caller may see all changes of the
// merge and its conflicts, which are in the error `merged`, and may make the changes. REQUIRES: the merge has found the source, or failed before.
func (g *Graph) checkMerge(ctx context.Context, tx *version.Txn, source, target *version.Snapshot, opts *engine.MergeOptions, merged error) error {
	if source == nil || opts.ReadsSource == nil && opts.ReadsTarget == nil && opts.Writes == nil {
		return nil
	}
	base, err := g.restorer.mergeBase(ctx, source, target)
	if err != nil {
		return err
	}
	if opts.Writes != nil && (base.Schema.Digest != source.Schema.Digest || base.Schema.Digest != target.Schema.Digest) {
		return &engine.NotAllowed{Reason: "the branches have different schemas, and you may change a part of the target only"}
	}
	seen, err := g.mergeSides(ctx, base, source, target, opts.ReadsSource, opts.ReadsTarget)
	if err == nil {
		err = g.checkSeen(ctx, seen, opts.Resolutions)
	}
	if err != nil {
		return err
	}
	if merged != nil {
		return seenConflicts(seen, merged)
	}
	if opts.Writes == nil || fault.On(fault.MergeUnwritten) {
		return nil
	}
	states, err := g.statesOf(ctx, target)
	if err != nil {
		return err
	}
	return seen.Withheld(g.parts.CheckWrite(ctx, states, tx, opts.Writes))
}

// merge applies the changes of the source to a transaction on the target. REQUIRES: to.writing and
// layout.merging are held.
func (r *writer) merge(ctx context.Context, from, to *branch, tx *version.Txn, w *write, opts *engine.MergeOptions, out *engine.MergeResult) error {
	tip, err := r.branches.source(from, to)
	if err == nil {
		err = tip.waitDurable(ctx)
	}
	if err != nil {
		return err
	}
	if head := tip.snap.Commit.ID; opts.IfSource != "" && opts.IfSource != head {
		return &engine.PreconditionFailed{Expected: opts.IfSource, Actual: head}
	}
	base, err := r.restorer.mergeBase(ctx, tip.snap, to.tip.snap)
	if err != nil {
		return err
	}
	w.from, w.source, w.base = from, tip.snap, base.Commit.ID
	out.Outcome = engine.Merged
	if base.Commit.ID != tip.snap.Commit.ID {
		merged, err := mergeInto(ctx, tx, from.name, to.name, base, tip.snap, version.MergeOptions{Resolutions: opts.Resolutions})
		if err != nil {
			return err
		}
		if merged.ConflictCount > 0 {
			return &engine.MergeConflicts{Conflicts: merged.Conflicts}
		}
		out.Nodes, out.Edges = merged.Nodes, merged.Edges
	}
	// The commit checks the proposal again. This check is for a merge without a commit.
	if err := r.branches.checkMerging(w.merging); err != nil {
		return err
	}
	switch {
	case !tx.Changed():
		out.Outcome = engine.AlreadyUpToDate
	case base.Commit.ID == to.tip.snap.Commit.ID:
		out.Outcome = engine.FastForward
	}
	if w.receipt != nil {
		w.receipt.Outcome, w.receipt.Nodes, w.receipt.Edges = out.Outcome, out.Nodes, out.Edges
	}
	return nil
}
