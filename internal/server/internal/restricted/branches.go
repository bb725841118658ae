package restricted

import (
	"context"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Branches implements [engine.Graph].
func (g *Graph) Branches(ctx context.Context) ([]engine.Branch, error) {
	return g.Config.Whole.Branches(ctx)
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
	return g.Config.Whole.CreateBranch(ctx, name, from)
}

// DeleteBranch implements [engine.Graph].
func (g *Graph) DeleteBranch(ctx context.Context, name string) error {
	return g.Config.Whole.DeleteBranch(ctx, name)
}

// DeleteBranchAt implements [engine.Graph].
func (g *Graph) DeleteBranchAt(ctx context.Context, name, head string) error {
	return g.Config.Whole.DeleteBranchAt(ctx, name, head)
}

// Merge implements [engine.Graph].
func (g *Graph) Merge(ctx context.Context, source, target string, opts engine.MergeOptions) (*engine.MergeResult, error) {
	const what = "a merge"
	if err := g.whole(what, tool.Read, tool.BranchNamed(source), tool.BranchNamed(target)); err != nil {
		return nil, err
	}
	if err := g.whole(what, tool.Change, tool.BranchNamed(target)); err != nil {
		return nil, err
	}
	return g.Config.Whole.Merge(ctx, source, target, opts)
}

// comparable returns a *wireerror.PartOnly unless the caller may read all of two targets.
func (g *Graph) comparable(ctx context.Context, source, target engine.Target) error {
	for _, at := range []engine.Target{source, target} {
		branch, err := g.branchOf(ctx, at)
		if err == nil {
			err = g.whole("comparing branches", tool.Read, branch)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Compare implements [engine.Graph].
func (g *Graph) Compare(ctx context.Context, source, target engine.Target, opts engine.CompareOptions) (*engine.Comparison, error) {
	if err := g.comparable(ctx, source, target); err != nil {
		return nil, err
	}
	return g.Config.Whole.Compare(ctx, source, target, opts)
}

// Preview implements [engine.Graph].
func (g *Graph) Preview(ctx context.Context, source, target engine.Target, resolutions []engine.Resolution) (engine.Preview, error) {
	if err := g.comparable(ctx, source, target); err != nil {
		return nil, err
	}
	return g.Config.Whole.Preview(ctx, source, target, resolutions)
}

// wholeProposal returns a *wireerror.PartOnly if the caller may read only a part of a branch of a proposal.
func (g *Graph) wholeProposal(p *engine.Proposal) error {
	return g.whole("a proposal", tool.Read, tool.BranchNamed(p.Source), tool.BranchNamed(p.Target))
}

// Proposals implements [engine.Graph]. It leaves out the proposals that the caller may not see whole.
func (g *Graph) Proposals(ctx context.Context, r engine.ProposalRange) ([]engine.Proposal, error) {
	all, err := g.Config.Whole.Proposals(ctx, r)
	if err != nil {
		return nil, err
	}
	var seen []engine.Proposal
	for i := range all {
		if g.wholeProposal(&all[i]) == nil {
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
	if err := g.wholeProposal(p); err != nil {
		return nil, err
	}
	return p, nil
}

// PutProposal implements [engine.Graph].
func (g *Graph) PutProposal(ctx context.Context, p engine.Proposal) (*engine.Proposal, error) {
	if err := g.wholeProposal(&p); err != nil {
		return nil, err
	}
	return g.Config.Whole.PutProposal(ctx, p)
}

// ProposalEvents implements [engine.Graph]. It leaves out the events of proposals that the caller may not see whole.
func (g *Graph) ProposalEvents(ctx context.Context, r engine.EventRange) (*engine.EventPage, error) {
	page, err := g.Config.Whole.ProposalEvents(ctx, r)
	if err != nil {
		return nil, err
	}
	seen := *page
	seen.List = slices.DeleteFunc(slices.Clone(page.List), func(e engine.StoredEvent) bool {
		return g.wholeProposal(&e.Proposal) != nil
	})
	return &seen, nil
}

// Drafts implements [engine.Graph].
func (g *Graph) Drafts(ctx context.Context, r engine.DraftRange) ([]engine.Draft, error) {
	return g.Config.Whole.Drafts(ctx, r)
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
