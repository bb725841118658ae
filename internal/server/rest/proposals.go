package rest

import (
	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
)

// proposal returns the id of the proposal from the path of the request.
func (x *exchange) proposal() string { return x.r.PathValue("proposal") }

// put reads the request body into the struct to which `into` points. Then it runs the call that the
// function `call` returns. The argument `guards` names the members that are conditions of the step: an empty
// one is refused, and the answer has a note about a null one.
func (x *exchange) put(into any, call func() *operations.Proposal, guards ...string) error {
	o, err := x.body(into)
	if err != nil {
		return err
	}
	for _, name := range guards {
		o.Guard(name)
	}
	if err := o.Done(); err != nil {
		return err
	}
	c := call()
	c.Notes = o.Unguarded(guards...)
	return x.answer(c, encoding.Options{})
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
	return x.answer(operations.RunChecks(x.branch()), encoding.Options{})
}

// changeProposal changes the title, the description or the resolutions of a proposal.
func (x *exchange) changeProposal() error {
	var b client.ProposalChangeBody
	return x.put(&b, func() *operations.Proposal { return operations.ChangeProposal(x.proposal(), b) }, "digest")
}

// reviewProposal adds the decision or the comment of a reviewer to a proposal.
func (x *exchange) reviewProposal() error {
	var b client.ProposalReviewBody
	return x.put(&b, func() *operations.Proposal { return operations.ReviewProposal(x.proposal(), b) }, "digest")
}

// mergeProposal merges a proposal.
func (x *exchange) mergeProposal() error {
	var b client.ProposalMergeBody
	return x.put(&b, func() *operations.Proposal { return operations.MergeProposal(x.proposal(), b) }, "digest")
}

// closeProposal closes a proposal without a merge.
func (x *exchange) closeProposal() error {
	var b client.ProposalCloseBody
	return x.put(&b, func() *operations.Proposal { return operations.CloseProposal(x.proposal(), b) })
}
