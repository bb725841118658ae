package main

import (
	"context"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// callForProposal calls a tool that answers with a proposal, on the local graph.
func (l *local) callForProposal(ctx context.Context, name string, call tool.Call) (*client.ProposalAnswer, error) {
	a := &client.ProposalAnswer{}
	if err := l.call(ctx, name, call, a); err != nil {
		return nil, err
	}
	return a, nil
}

// Proposals requests page after page until it has all proposals.
func (l *local) Proposals(ctx context.Context, q client.ProposalQuery) ([]client.ProposalSummary, error) {
	all := []client.ProposalSummary{}
	for {
		page := client.ProposalList{}
		if err := l.call(ctx, "list_proposals", operations.ListProposals(q), &page); err != nil {
			return nil, err
		}
		all = append(all, page.Proposals...)
		if q.PageToken = page.NextPageToken; q.PageToken == "" {
			return all, nil
		}
	}
}

// ProposalChanges requests page after page until it has all changes.
func (l *local) ProposalChanges(ctx context.Context, id string, q client.ChangeQuery) (*client.ProposalChanges, error) {
	r := engine.ChangeRange{Entities: q.Kinds, Types: q.Types}
	for _, op := range q.Ops {
		kind, _ := operations.ParseOp(op) // the command has rejected unknown names
		r.Kinds = append(r.Kinds, kind)
	}
	all, token := &client.ProposalChanges{}, ""
	for {
		page := &client.ProposalChanges{}
		if err := l.call(ctx, "list_proposal_changes", operations.ListProposalChanges(id, r, token), page); err != nil {
			return nil, err
		}
		page.Changes = append(all.Changes, page.Changes...)
		all = page
		if all.NextPageToken == nil {
			return all, nil
		}
		token = *all.NextPageToken
	}
}

// OpenProposal implements [source].
func (l *local) OpenProposal(ctx context.Context, b client.ProposalBody) (*client.ProposalAnswer, error) {
	return l.callForProposal(ctx, "open_proposal", operations.OpenProposal(b))
}

// Proposal implements [source]. It hides the method of the engine.
func (l *local) Proposal(ctx context.Context, id string) (*client.ProposalAnswer, error) {
	return l.callForProposal(ctx, "get_proposal", operations.GetProposal(id))
}

// ChangeProposal implements [source].
func (l *local) ChangeProposal(ctx context.Context, id string, b client.ProposalChangeBody) (*client.ProposalAnswer, error) {
	return l.callForProposal(ctx, "change_proposal", operations.ChangeProposal(id, b))
}

// ReviewProposal implements [source].
func (l *local) ReviewProposal(ctx context.Context, id string, b client.ProposalReviewBody) (*client.ProposalAnswer, error) {
	return l.callForProposal(ctx, "review_proposal", operations.ReviewProposal(id, b))
}

// CloseProposal implements [source].
func (l *local) CloseProposal(ctx context.Context, id string, b client.ProposalCloseBody) (*client.ProposalAnswer, error) {
	return l.callForProposal(ctx, "close_proposal", operations.CloseProposal(id, b))
}

// Proposals implements [source].
func (r *remote) Proposals(ctx context.Context, q client.ProposalQuery) ([]client.ProposalSummary, error) {
	return answered(collectPages(r.graph.AllProposals(ctx, q)))
}

// ProposalChanges implements [source].
func (r *remote) ProposalChanges(ctx context.Context, id string, q client.ChangeQuery) (*client.ProposalChanges, error) {
	all := &client.ProposalChanges{}
	for {
		page, err := answered(r.graph.ProposalChanges(ctx, id, q))
		if err != nil {
			return nil, err
		}
		page.Changes = append(all.Changes, page.Changes...)
		all = page
		if all.NextPageToken == nil {
			return all, nil
		}
		if *all.NextPageToken == q.PageToken {
			return nil, client.ErrNoProgress
		}
		q.PageToken = *all.NextPageToken
	}
}

// OpenProposal implements [source].
func (r *remote) OpenProposal(ctx context.Context, b client.ProposalBody) (*client.ProposalAnswer, error) {
	return answered(r.graph.OpenProposal(ctx, b))
}

// Proposal implements [source].
func (r *remote) Proposal(ctx context.Context, id string) (*client.ProposalAnswer, error) {
	return answered(r.graph.Proposal(ctx, id))
}

// ChangeProposal implements [source].
func (r *remote) ChangeProposal(ctx context.Context, id string, b client.ProposalChangeBody) (*client.ProposalAnswer, error) {
	return answered(r.graph.ChangeProposal(ctx, id, b))
}

// ReviewProposal implements [source].
func (r *remote) ReviewProposal(ctx context.Context, id string, b client.ProposalReviewBody) (*client.ProposalAnswer, error) {
	return answered(r.graph.ReviewProposal(ctx, id, b))
}

// MergeProposal implements [source].
func (r *remote) MergeProposal(ctx context.Context, id string, b client.ProposalMergeBody) (*client.ProposalAnswer, error) {
	a, err := answered(r.graph.MergeProposal(ctx, id, b))
	return a, mergeError(err)
}

// CloseProposal implements [source].
func (r *remote) CloseProposal(ctx context.Context, id string, b client.ProposalCloseBody) (*client.ProposalAnswer, error) {
	return answered(r.graph.CloseProposal(ctx, id, b))
}
