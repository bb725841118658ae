package rest

import (
	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// proposal returns the id of the proposal from the path of the request.
func (x *exchange) proposal() string { return x.r.PathValue("proposal") }

// put reads the request body into the struct to which `into` points. Then it runs the call that the
// function `call` returns.
func (x *exchange) put(into any, call func() tool.Call) error {
	o, err := x.body(into)
	if err != nil {
		return err
	}
	if o.Has("digest") {
		o.Guard("digest")
	}
	if err := o.Done(); err != nil {
		return err
	}
	return x.answer(call(), encoding.Options{})
}

// listProposals lists the proposals that the caller may read.
func (x *exchange) listProposals() error {
	q := client.ProposalQuery{State: x.query.Get("state"), Source: x.query.Get("source"), Target: x.query.Get("target"), Author: x.query.Get("author"),
		Reviewer: x.query.Get("reviewer"), Limit: x.number("limit", 0), PageToken: x.query.Get("page_token")}
	return x.answer(operations.ListProposals(q), encoding.Options{})
}

// openProposal opens a proposal.
func (x *exchange) openProposal() error {
	var b client.ProposalBody
	o, err := x.body(&b)
	if err != nil {
		return err
	}
	wantName(o, "source", b.Source)
	if err := o.Done(); err != nil {
		return err
	}
	return x.answer(operations.OpenProposal(b), encoding.Options{})
}

// getProposal describes a proposal.
func (x *exchange) getProposal() error {
	return x.answer(operations.GetProposal(x.proposal()), encoding.Options{})
}

// proposalChanges lists the changes of a proposal.
func (x *exchange) proposalChanges() error {
	r := engine.ChangeRange{Limit: x.number("limit", defaultChanges), Entities: x.query["kind"], Types: x.query["type"]}
	for _, op := range x.query["op"] {
		kind, _ := operations.ParseOp(op) // check has already refused names that do not exist
		r.Kinds = append(r.Kinds, kind)
	}
	return x.answer(operations.ListProposalChanges(x.proposal(), r, x.query.Get("page_token")), encoding.Options{})
}

// runChecks runs the checks of the graph on a branch.
func (x *exchange) runChecks() error {
	return x.answer(operations.RunChecks(x.query.Get("branch")), encoding.Options{})
}

// changeProposal changes the title, the description or the resolutions of a proposal.
func (x *exchange) changeProposal() error {
	var b client.ProposalChangeBody
	return x.put(&b, func() tool.Call { return operations.ChangeProposal(x.proposal(), b) })
}

// reviewProposal adds the decision or the comment of a reviewer to a proposal.
func (x *exchange) reviewProposal() error {
	var b client.ProposalReviewBody
	return x.put(&b, func() tool.Call { return operations.ReviewProposal(x.proposal(), b) })
}

// mergeProposal merges a proposal.
func (x *exchange) mergeProposal() error {
	var b client.ProposalMergeBody
	return x.put(&b, func() tool.Call { return operations.MergeProposal(x.proposal(), b) })
}

// closeProposal closes a proposal without a merge.
func (x *exchange) closeProposal() error {
	var b client.ProposalCloseBody
	return x.put(&b, func() tool.Call { return operations.CloseProposal(x.proposal(), b) })
}
