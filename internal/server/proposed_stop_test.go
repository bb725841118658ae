package server_test

import (
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/internal/server"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster/reconcile"
)

// TestProposedQueryStop stops the server between the two steps of a merge: the query is in the revision, and its proposal is still open.
// The next merge does the second step alone. Before and after, the owner of the proposer may not merge, and --compiled-only
// leaves the query out.
func TestProposedQueryStop(t *testing.T) {
	p := newPublishers(t, newFleet(t, "box"))
	p.apply()
	url, stop := p.serve()
	a, err := p.as(url, "bo").ProposeQuery(t.Context(), client.QueryProposalBody{Name: "big_things", Query: bigThings, Description: "d", Why: "w"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.as(url, "ada").ReviewProposal(t.Context(), a.ID, client.ProposalReviewBody{Decision: client.DecisionApprove, Digest: a.Digest}); err != nil {
		t.Fatal(err)
	}
	owned := func(when string) {
		t.Helper()
		if _, err := p.as(url, "deputy").MergeProposal(t.Context(), a.ID, client.ProposalMergeBody{}); err == nil || !strings.Contains(err.Error(), "proposed the query") {
			t.Errorf("%s, the owner of the proposer merges: %v", when, err)
		}
	}
	owned("before the stop")
	shown, err := p.as(url, "ada").Proposal(t.Context(), a.ID)
	if err != nil {
		t.Fatal(err)
	}
	stop()
	publish := func() uint64 { // the first step of a merge
		t.Helper()
		c, done, err := server.CommandStorage(t.Context(), p.config(), embedded.Engine{})
		if err != nil {
			t.Fatal(err)
		}
		defer done()
		if err := c.Publish(t.Context(), "box", reconcile.ProposedQuery{Name: "big_things", Text: shown.Query.Text, Proposal: a.ID}, nil, "act-ada"); err != nil {
			t.Fatal(err)
		}
		r, err := c.Revision(t.Context())
		if err != nil || len(r.Graph("box").ProposedQueries()) != 1 {
			t.Fatalf("the revision %+v, %v", r, err)
		}
		return r.Number
	}
	before := publish()
	url, stop = p.serve()
	called := func(when string, want int) {
		t.Helper()
		if code, answer := p.call(url, "ada", "big_things", `{"params":{"least":1}}`); code != want {
			t.Errorf("%s: %d %s, want %d", when, code, answer, want)
		}
	}
	called("after the stop", 200)
	if again, err := p.as(url, "ada").Proposal(t.Context(), a.ID); err != nil || again.State != "open" {
		t.Errorf("after the stop the proposal is %+v, %v", again, err)
	}
	owned("after the stop")
	merged, err := p.as(url, "ada").MergeProposal(t.Context(), a.ID, client.ProposalMergeBody{Digest: a.Digest})
	if err != nil || merged.State != "merged" {
		t.Errorf("the merge after the stop: %+v, %v", merged, err)
	}
	called("after the merge", 200)
	stop()
	if after := publish(); after != before {
		t.Errorf("revision %d was recorded for a query that revision %d has", after, before)
	}
	p.mustOpen(func(o *server.Options) { o.Tokens, o.Now, o.CompiledOnly = p.tokens, nil, true })
	if code, answer := ask(p.opened.Handler(), "POST", "/graphs/box/queries/big_things", "ada", `{"params":{"least":1}}`); code != 404 {
		t.Errorf("with --compiled-only: %d %s", code, answer)
	}
}
