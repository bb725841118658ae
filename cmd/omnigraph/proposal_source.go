package main

import (
	"context"

	"github.com/omnigraph-go/omnigraph/client"
)

// Proposals lists all proposals that a query selects.
func (src *source) Proposals(ctx context.Context, q client.ProposalQuery) ([]client.ProposalSummary, error) {
	return collectPages(src.graph.AllProposals(ctx, q))
}

// ProposalChanges lists all changes of a proposal.
func (src *source) ProposalChanges(ctx context.Context, id string, q client.ChangeQuery) (*client.ProposalChanges, error) {
	all := &client.ProposalChanges{}
	for {
		page, err := src.graph.ProposalChanges(ctx, id, q)
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

// MergeProposal merges a proposal. If there are conflicts, the error is a *conflicted.
func (src *source) MergeProposal(ctx context.Context, id string, b client.ProposalMergeBody) (*client.ProposalAnswer, error) {
	a, err := src.graph.MergeProposal(ctx, id, b)
	return a, mergeError(err)
}
