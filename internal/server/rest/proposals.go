package rest

import (
	"time"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// proposal returns the id of the proposal from the path of the request.
func (x *exchange) proposal() string { return x.r.PathValue("proposal") }

// onProposal returns the handler of an operation on the proposal of the path, without a body.
func onProposal(operation func(id string) *operations.Proposal) func(*exchange) error {
	return func(x *exchange) error { return x.answer(operation(x.proposal()), encoding.Options{}) }
}

// stepOf returns the handler of an operation that changes the proposal of the path, with a body B. The argument
// `guards` names the members that are conditions of the step: an empty one is refused, and the answer has a note
// about a null one.
func stepOf[B any](operation func(id string, b B) *operations.Proposal, guards ...string) func(*exchange) error {
	return func(x *exchange) error {
		var b B
		o, err := x.body(&b)
		if err != nil {
			return err
		}
		for _, name := range guards {
			o.Guard(name)
		}
		if err := o.Done(); err != nil {
			return err
		}
		c := operation(x.proposal(), b)
		c.Notes = o.Unguarded(guards...)
		return x.answer(c, encoding.Options{})
	}
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

// proposeQuery proposes a stored query.
func (x *exchange) proposeQuery() error {
	var b client.QueryProposalBody
	o, err := x.body(&b)
	if err != nil {
		return err
	}
	for name, text := range map[string]string{"name": b.Name, "query": b.Query} {
		wantName(o, name, text)
	}
	if err := o.Done(); err != nil {
		return err
	}
	return x.answer(operations.ProposeQuery(b), encoding.Options{})
}

// publishedQueries lists the proposed queries that were merged.
func (x *exchange) publishedQueries() error {
	return x.answer(operations.PublishedQueries{}, encoding.Options{})
}

// proposalChanges lists the changes of a proposal.
func (x *exchange) proposalChanges() error {
	return x.answer(operations.ListProposalChanges(x.proposal(), x.changeRange(), x.query.Get("page_token")), encoding.Options{})
}

// changeRange returns the range of changes that the query string selects.
func (x *exchange) changeRange() engine.ChangeRange {
	r := engine.ChangeRange{Limit: x.number("limit", defaultChanges), Entities: x.query["kind"], Types: x.query["type"]}
	for _, op := range x.query["op"] {
		kind, _ := operations.ParseOp(op) // check has already refused names that do not exist
		r.Kinds = append(r.Kinds, kind)
	}
	return r
}

// compare lists what a merge of one state into another would change.
func (x *exchange) compare() error {
	c := &operations.CompareStates{Range: x.changeRange(), Token: x.query.Get("page_token")}
	for name, state := range map[string]*operations.State{"source": &c.Source, "target": &c.Target} {
		state.Branch, state.Commit = tool.BranchName(x.query.Get(name)), x.query.Get(name+"_commit")
		if state.Branch != "" && state.Commit != "" {
			return &tool.ArgumentError{Path: name, Detail: "found together with " + name + "_commit, expected only one of them", Help: "name a branch or a commit"}
		}
	}
	return x.answer(c, encoding.Options{})
}

// runChecks runs the checks of the graph on a branch.
func (x *exchange) runChecks() error {
	return x.answer(operations.RunChecks(x.branch()), encoding.Options{})
}

// makeReviewKey makes a review key of the caller.
func (x *exchange) makeReviewKey() error {
	keys := x.g.ReviewKeys()
	return x.answer(&operations.MakeReviewKey{Make: func() (string, time.Time, error) { return keys.Make(x.actor()) }}, encoding.Options{})
}

// revokeReviewKeys revokes the review keys of the caller.
func (x *exchange) revokeReviewKeys() error {
	keys := x.g.ReviewKeys()
	return x.answer(&operations.RevokeReviewKeys{Revoke: func() (int, error) { return keys.Revoke(x.actor()) }}, encoding.Options{})
}
