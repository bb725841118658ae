package embedded

import (
	"context"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/corruption"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/logrecord"
)

// CreateBranch makes a branch that begins at the target's commit. The commit may be any ancestor of
// a live branch's head. CreateBranch writes one log record. For a commit of the past, it must also
// restore the state of the commit, which takes time. The error is a *engine.Conflict if the name is
// in use, a *engine.TooLarge above [Options.MaxBranches], and a *engine.NotFound if the target
// cannot be reached.
func (g *Graph) CreateBranch(ctx context.Context, name string, from engine.Target) (_ engine.Branch, err error) {
	defer corruption.Catch(corruption.Watch(), &err)
	if err := engine.CheckBranchName(name); err != nil {
		return engine.Branch{}, err
	}
	if err := g.enter(ctx); err != nil {
		return engine.Branch{}, err
	}
	defer g.calls.Leave()
	snap, err := g.snapshot(ctx, from)
	if err != nil {
		return engine.Branch{}, err
	}
	if !from.AsOf.IsZero() {
		from = engine.Target{Commit: snap.Commit.ID}
	}
	return g.writer.createBranch(ctx, name, from)
}

// DeleteBranch removes the named branch. It fails with a *engine.Conflict for main, and with a
// *engine.NotFound for a branch that does not exist.
func (g *Graph) DeleteBranch(ctx context.Context, name string) error {
	return g.DeleteBranchAt(ctx, name, "")
}

// DeleteBranchAt removes the named branch if its tip is the commit with id `head`; an empty id
// matches any tip. It returns a *engine.PreconditionFailed if the tip is another commit. For other
// errors see [Graph.DeleteBranch].
func (g *Graph) DeleteBranchAt(ctx context.Context, name, head string) error {
	if name == engine.MainBranch || name == "" {
		return &engine.Conflict{Reason: "branch main cannot be deleted"}
	}
	if err := g.enter(ctx); err != nil {
		return err
	}
	defer g.calls.Leave()
	return g.writer.deleteBranch(ctx, name, head)
}

// Branches lists the live branches, sorted by name.
func (g *Graph) Branches(ctx context.Context) ([]engine.Branch, error) {
	if err := g.enter(ctx); err != nil {
		return nil, err
	}
	defer g.calls.Leave()
	return g.branches.list(), nil
}

// createBranch makes a branch and returns once its record is durable.
func (r *writer) createBranch(ctx context.Context, name string, from engine.Target) (engine.Branch, error) {
	made, err := r.fork(ctx, origin{name: name, at: from})
	if err := r.finishBranch(made, err); err != nil {
		return engine.Branch{}, err
	}
	return engine.Branch{Name: name, Head: made.branch.head.Load().snap.Commit}, nil
}

// finishBranch takes the results of fork, and returns once the record of the branch is durable. Then readers
// and writers see the branch.
func (r *writer) finishBranch(made created, err error) error {
	if err == errStaleRetention {
		r.checkpoints.request()
	}
	if err != nil {
		return r.refused(err)
	}
	r.checkpoints.countLogged(made.bytes)
	made.out.err = r.store.Wait(made.ticket)
	if made.out.err == nil {
		made.branch.live.Store(true)
	}
	close(made.out.done)
	return made.out.err
}

// fork makes a branch and assigns its record a place in the log. It holds the layout for reading,
// so no checkpoint can run between restoring a state of the past and enqueuing the branch that
// begins there. Such a checkpoint could remove files that only that state needs.
func (r *writer) fork(ctx context.Context, o origin) (created, error) {
	r.layout.RLock()
	defer r.layout.RUnlock()
	made, err := r.branches.create(o, nil, r.opts.time(), r.opts.MaxBranches)
	if err != errNeedsState {
		return made, err
	}
	// A merge, or another branch from the past, could add merge bases meanwhile.
	r.layout.Merging.Lock()
	defer r.layout.Merging.Unlock()
	state, err := r.restorer.state(ctx, o.at.Commit)
	if err == nil {
		err = r.restorer.readableWith(o.at.Commit)
	}
	if err != nil {
		return created{}, err
	}
	return r.branches.create(o, state, r.opts.time(), r.opts.MaxBranches)
}

// deleteBranch deletes a branch and returns once the record of the deletion is durable. It ends the
// draft that owns the branch.
func (r *writer) deleteBranch(ctx context.Context, name, head string) error {
	b, err := r.branches.find(name)
	if err != nil {
		return err
	}
	if d, err := r.branches.draftOf(name); err == nil {
		return r.endDraft(ctx, d.ID, engine.DraftEnd{State: engine.DraftDeleted, IfHead: head})
	}
	return r.removeBranch(ctx, b, head)
}

// removeBranch deletes a branch and returns once the record of the deletion is durable.
func (r *writer) removeBranch(ctx context.Context, b *branch, head string) error {
	r.layout.RLock()
	defer r.layout.RUnlock()
	r.layout.Merging.Lock()
	defer r.layout.Merging.Unlock()
	name := b.name
	if err := b.lock(ctx); err != nil {
		return err
	}
	defer b.unlock()
	if tip := b.tip.snap.Commit.ID; head != "" && head != tip {
		return &engine.PreconditionFailed{Expected: head, Actual: tip}
	}
	record := logrecord.Branching{Delete: true, Name: name, Time: r.opts.time()}
	payload := record.Append(nil)
	ticket, out, err := r.branches.delete(b, payload)
	if err != nil {
		return err
	}
	out.err = r.store.Wait(ticket)
	if out.err == nil {
		r.branches.remove(b)
		r.restorer.forget(true)
		b.err = &engine.NotFound{What: "branch", Name: name}
	} else {
		b.err = errLogFailed
	}
	close(out.done)
	r.checkpoints.countLogged(len(payload))
	return out.err
}
