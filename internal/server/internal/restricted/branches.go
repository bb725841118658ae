package restricted

import (
	"context"
	"errors"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Branches implements [engine.Graph].
func (g *Graph) Branches(ctx context.Context) ([]engine.Branch, error) {
	all, err := g.Config.Whole.Branches(ctx)
	for i := range all {
		all[i].Head = g.withoutHiddenMessage(all[i].Head)
	}
	return all, err
}

// CreateBranch implements [engine.Graph]. The caller must not see more on the new branch than at its start.
func (g *Graph) CreateBranch(ctx context.Context, name string, from engine.Target) (engine.Branch, error) {
	branch, err := g.branchOf(ctx, from)
	if err == nil {
		err = g.CheckCopy("starting a branch", branch, tool.BranchNamed(name))
	}
	if err != nil {
		return engine.Branch{}, err
	}
	made, err := g.Config.Whole.CreateBranch(ctx, name, from)
	made.Head = g.withoutHiddenMessage(made.Head)
	return made, err
}

// DeleteBranch implements [engine.Graph].
func (g *Graph) DeleteBranch(ctx context.Context, name string) error {
	return g.Config.Whole.DeleteBranch(ctx, name)
}

// DeleteBranchAt implements [engine.Graph].
func (g *Graph) DeleteBranchAt(ctx context.Context, name, head string) error {
	return g.Config.Whole.DeleteBranchAt(ctx, name, head)
}

// Merge implements [engine.Graph]. It is whole or refused.
func (g *Graph) Merge(ctx context.Context, source, target string, opts engine.MergeOptions) (*engine.MergeResult, error) {
	if err := g.mayWrite(tool.BranchNamed(source), tool.BranchNamed(target)); err != nil {
		return nil, err
	}
	from, err := g.named(ctx, tool.BranchNamed(source))
	if err != nil && opts.IdempotencyKey == "" { // with a key, the call may repeat a merge after which the source was deleted
		return nil, err
	}
	to := engine.WriteOptions{Branch: target}
	g.confine(ctx, &to)
	opts.ReadsSource, opts.ReadsTarget, opts.Writes = from.Rights, to.Reads, to.Writes
	res, err := g.Config.Whole.Merge(ctx, source, target, opts)
	return res, withoutNames(err, to.Reads)
}

// mayWrite returns an *engine.NotAllowed if the caller has rights to a part, and may change nothing of the target of a merge.
// The merge must not make changes that a caller with the right to change a part of the target could not make.
func (g *Graph) mayWrite(source, target tool.Branch) error {
	narrowed := g.rights(tool.Read, source) != nil || g.rights(tool.Read, target) != nil || g.rights(tool.Change, source) != nil
	if !narrowed || g.MayChange(target) {
		return nil
	}
	return &engine.NotAllowed{Reason: "you may read or change only a part of the branches and may not change branch " + target.Name() + ", so somebody else has to merge into it"}
}

// named returns the head of a branch with the rights of the caller.
func (g *Graph) named(ctx context.Context, branch tool.Branch) (engine.Target, error) {
	return g.on(ctx, branch, branch.At())
}

// on returns a target on a branch with the rights of the caller.
func (g *Graph) on(ctx context.Context, branch tool.Branch, at engine.Target) (engine.Target, error) {
	at.Rights = g.rights(tool.Read, branch)
	if at.Rights == nil {
		return at, nil
	}
	s, err := g.Config.Whole.Schema(ctx, at)
	if err != nil {
		return at, err
	}
	at.Rights = g.Cache.rights(at.Rights, g.Main, s)
	return at, nil
}

// compared returns two targets with the rights of the caller.
func (g *Graph) compared(ctx context.Context, source, target engine.Target) (engine.Target, engine.Target, error) {
	source, _, err := g.under(ctx, source)
	if err != nil {
		return source, target, err
	}
	target, _, err = g.under(ctx, target)
	return source, target, err
}

// compare compares two targets with rights, and remembers on which branches their commits were read.
func (g *Graph) compare(ctx context.Context, source, target engine.Target, from, to tool.Branch, opts engine.CompareOptions) (*engine.Comparison, error) {
	c, err := g.Config.Whole.Compare(ctx, source, target, opts)
	if err == nil {
		g.of[c.Source.ID], g.of[c.Target.ID] = from, to
	}
	return c, err
}

// Compare implements [engine.Graph]. It is whole or refused.
func (g *Graph) Compare(ctx context.Context, source, target engine.Target, opts engine.CompareOptions) (*engine.Comparison, error) {
	from, err := g.branchOf(ctx, source)
	if err != nil {
		return nil, err
	}
	to, err := g.branchOf(ctx, target)
	if err != nil {
		return nil, err
	}
	if source, target, err = g.compared(ctx, source, target); err != nil {
		return nil, err
	}
	return g.compare(ctx, source, target, from, to, opts)
}

// Preview implements [engine.Graph]. It is whole or refused.
func (g *Graph) Preview(ctx context.Context, source, target engine.Target, resolutions []engine.Resolution) (engine.Preview, error) {
	source, target, err := g.compared(ctx, source, target)
	if err != nil {
		return nil, err
	}
	return g.Config.Whole.Preview(ctx, source, target, resolutions)
}

// wholeProposal returns an *engine.NotAllowed if the caller may not see all of a proposal: its changes, its resolutions and
// the entities that comments are about. The error is a *engine.BadArgument if a new comment is about an entity that the caller does not see.
//
// A caller with rights to a part sees, of the proposals of queries, those that it opened: their texts name nothing that is hidden from it.
func (g *Graph) wholeProposal(ctx context.Context, p *engine.Proposal) error {
	if p.Query() != "" {
		if p.Author == g.Actor || g.rights(tool.Read, tool.Branch{}) == nil {
			return nil
		}
		return &engine.NotFound{What: "proposal", Name: p.ID}
	}
	from, to := tool.BranchNamed(p.Source), tool.BranchNamed(p.Target)
	if g.rights(tool.Read, from) == nil && g.rights(tool.Read, to) == nil {
		return nil
	}
	source, target := engine.Target{Commit: p.Head}, engine.Target{Commit: p.TargetHead}
	if p.State == engine.ProposalOpen || p.Head == "" { // which the engine sets when it stores the proposal
		source, target = from.At(), to.At()
	}
	places := slices.Clone(p.Resolutions)
	var shown []engine.ChangePosition
	for _, e := range p.Events {
		switch {
		case e.On == engine.ChangePosition{}:
		case e.Time.IsZero(): // the caller adds it, and must not find out by trying what is hidden
			shown = append(shown, e.On)
		default:
			places = append(places, engine.Resolution{ConflictPlace: engine.ConflictPlace{Entity: e.On.Entity, Type: e.On.Type, ID: e.On.ID}})
		}
	}
	source, err := g.on(ctx, from, source)
	if err != nil {
		return err
	}
	if target, err = g.on(ctx, to, target); err != nil {
		return err
	}
	if p.Merge != "" {
		g.of[p.Merge] = to
	}
	_, err = g.compare(ctx, source, target, from, to, engine.CompareOptions{ListOnly: true, Resolutions: places, Shown: shown})
	return err
}

// Shows reports whether the caller may see all of a stored proposal. That takes a comparison of two states, once in a call, if the caller
// has rights to a part. So a list asks about the proposals of the graph without rights that it needs, and about no others.
func Shows(ctx context.Context, g engine.Graph, p *engine.Proposal) (bool, error) {
	r, ok := g.(*Graph)
	if !ok {
		return true, nil
	}
	if seen, known := r.shown[p.ID]; known {
		return seen, nil
	}
	err := r.wholeProposal(ctx, p)
	if err != nil && !errors.As(err, new(*engine.NotAllowed)) && !errors.As(err, new(*engine.NotFound)) {
		return false, err
	}
	r.shown[p.ID] = err == nil
	return err == nil, nil
}

// Proposals implements [engine.Graph]. It leaves out the proposals that the caller may not see whole.
func (g *Graph) Proposals(ctx context.Context, r engine.ProposalRange) ([]engine.Proposal, error) {
	all, err := g.Config.Whole.Proposals(ctx, r)
	if err != nil {
		return nil, err
	}
	var seen []engine.Proposal
	for i := range all {
		shown, err := Shows(ctx, g, &all[i])
		if err != nil {
			return nil, err
		}
		if shown {
			seen = append(seen, all[i])
		}
	}
	return seen, nil
}

// Proposal implements [engine.Graph].
func (g *Graph) Proposal(ctx context.Context, id string) (*engine.Proposal, error) {
	p, err := g.Config.Whole.Proposal(ctx, id)
	if err != nil {
		return nil, err
	}
	err = g.wholeProposal(ctx, p)
	if missing := (*engine.NotFound)(nil); errors.As(err, &missing) && missing.Reclaimed {
		return nil, &engine.NotAllowed{Reason: "a cleanup has removed the states that the proposal compares, so that nobody can tell what you may see of it; somebody who may read all of its branches has to do it"}
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// PutProposal implements [engine.Graph].
func (g *Graph) PutProposal(ctx context.Context, p engine.Proposal) (*engine.Proposal, error) {
	if err := g.wholeProposal(ctx, &p); err != nil {
		return nil, err
	}
	return g.Config.Whole.PutProposal(ctx, p)
}

// ProposalEvents implements [engine.Graph]. A page without the hidden events would not say where the next one starts, so the whole
// range must be visible; see [Shows].
func (g *Graph) ProposalEvents(ctx context.Context, r engine.EventRange) (*engine.EventPage, error) {
	page, err := g.Config.Whole.ProposalEvents(ctx, r)
	if err != nil {
		return nil, err
	}
	for i := range page.List {
		if err := g.wholeProposal(ctx, &page.List[i].Proposal); err != nil {
			return nil, err
		}
	}
	return page, nil
}

// Drafts implements [engine.Graph].
func (g *Graph) Drafts(ctx context.Context, r engine.DraftRange) ([]engine.Draft, error) {
	return g.Config.Whole.Drafts(ctx, r)
}

// Watches implements [engine.Graph].
func (g *Graph) Watches(ctx context.Context, r engine.WatchRange) ([]engine.Watch, error) {
	return g.Config.Whole.Watches(ctx, r)
}

// CreateWatch implements [engine.Graph].
func (g *Graph) CreateWatch(ctx context.Context, w engine.Watch, most int) (*engine.Watch, error) {
	return g.Config.Whole.CreateWatch(ctx, w, most)
}

// ChangeWatch implements [engine.Graph].
func (g *Graph) ChangeWatch(ctx context.Context, id string, change func([]byte) ([]byte, error)) error {
	return g.Config.Whole.ChangeWatch(ctx, id, change)
}

// DeleteWatch implements [engine.Graph].
func (g *Graph) DeleteWatch(ctx context.Context, id string) error {
	return g.Config.Whole.DeleteWatch(ctx, id)
}

// Draft implements [engine.Graph].
func (g *Graph) Draft(ctx context.Context, id string) (*engine.Draft, error) {
	return g.Config.Whole.Draft(ctx, id)
}

// OpenDraft implements [engine.Graph].
func (g *Graph) OpenDraft(ctx context.Context, n engine.NewDraft) (d *engine.Draft, made bool, err error) {
	return g.Config.Whole.OpenDraft(ctx, n)
}

// EndDraft implements [engine.Graph].
func (g *Graph) EndDraft(ctx context.Context, id string, end engine.DraftEnd) error {
	return g.Config.Whole.EndDraft(ctx, id, end)
}

// Verify implements [engine.Graph].
func (g *Graph) Verify(ctx context.Context) error {
	if err := g.whole("a verification, which names faulty entities,", tool.Read, tool.Branch{}); err != nil {
		return err
	}
	return g.Config.Whole.Verify(ctx)
}

// Stats implements [engine.Graph].
func (g *Graph) Stats() engine.Stats { return g.Config.Whole.Stats() }

// Failure implements [engine.Graph].
func (g *Graph) Failure() error { return g.Config.Whole.Failure() }

// MustReopen implements [engine.Graph].
func (g *Graph) MustReopen() bool { return g.Config.Whole.MustReopen() }

// Close implements [engine.Graph].
func (g *Graph) Close() error { return g.Config.Whole.Close() }
