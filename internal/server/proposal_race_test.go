package server_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
)

// atOnce calls f for the numbers below n, all at the same time, and waits for the calls.
func atOnce(n int, f func(i int)) {
	var group sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		group.Go(func() {
			<-start
			f(i)
		})
	}
	close(start)
	group.Wait()
}

// TestConcurrentMerges merges approved proposals at the same time: different ones, and one several times. Each
// merge succeeds, and all merges of one proposal give the same commit. The sources are branches or drafts,
// which a merge ends.
func TestConcurrentMerges(t *testing.T) {
	const different, same = 12, 6
	for _, c := range []struct{ name, policy string }{{"branches", proposalPolicy}, {"drafts", draftPolicy}} {
		t.Run(c.name, func(t *testing.T) {
			w := newProposalWorldWith(t, c.policy, servedtest.Catalog(t))
			ctx, one, ada := t.Context(), w.agent("act-one"), w.person("act-ada")
			proposed := func(name string) string {
				t.Helper()
				source := "draft/" + name
				if c.name == "branches" {
					source = name
					if said := one(nil, "branch_create", map[string]any{"name": source}); said != "" {
						t.Fatal(said)
					}
				}
				write := fmt.Sprintf("query m() { insert Person { name: %q } }", name)
				if said := one(nil, "graph_mutate", map[string]any{"branch": source, "query": write}); said != "" {
					t.Fatal(said)
				}
				var p client.ProposalAnswer
				if said := one(&p, "proposal_submit", map[string]any{"source": source, "title": name}); said != "" {
					t.Fatal(said)
				}
				if _, err := ada.ReviewProposal(ctx, p.ID, client.ProposalReviewBody{Decision: client.DecisionApprove, Digest: p.Digest}); err != nil {
					t.Fatal(err)
				}
				return p.ID
			}
			merge := func(id string) string {
				p, err := ada.MergeProposal(ctx, id, client.ProposalMergeBody{})
				if err != nil || p.State != "merged" || p.MergeCommitID == nil {
					t.Errorf("a merge of proposal %s: %+v, %v", id, p, err)
					return ""
				}
				return *p.MergeCommitID
			}
			n := different
			if c.name == "drafts" {
				n = 4 // an actor may have five
			}
			ids := make([]string, n)
			for i := range ids {
				ids[i] = proposed(fmt.Sprintf("p%d", i))
			}
			commits := make([]string, n)
			atOnce(n, func(i int) { commits[i] = merge(ids[i]) })
			made := map[string]bool{}
			for _, commit := range commits {
				made[commit] = true
			}
			if len(made) != n {
				t.Errorf("%d proposals were merged with the commits %v", n, commits)
			}
			for round := range 4 {
				id := proposed(fmt.Sprintf("same%d", round))
				var commits [same]string
				atOnce(same, func(i int) { commits[i] = merge(id) })
				for _, commit := range commits {
					if commit != commits[0] {
						t.Errorf("one proposal was merged with the commits %v", commits)
					}
				}
			}
		})
	}
}

// TestConcurrentReviews adds comments and approvals to a proposal at the same time. The proposal has all of them.
func TestConcurrentReviews(t *testing.T) {
	w := newProposalWorld(t)
	ctx, one, people := t.Context(), w.agent("act-one"), []*client.Graph{w.person("act-ada"), w.person("act-bo")}
	for _, step := range []struct {
		tool string
		args map[string]any
	}{
		{"branch_create", map[string]any{"name": "side"}},
		{"graph_mutate", map[string]any{"branch": "side", "query": aged("ada", 40)}},
	} {
		if said := one(nil, step.tool, step.args); said != "" {
			t.Fatal(said)
		}
	}
	var p client.ProposalAnswer
	if said := one(&p, "proposal_submit", map[string]any{"source": "side", "title": "Ada is 40"}); said != "" {
		t.Fatal(said)
	}
	const each = 5
	atOnce(2*each, func(i int) {
		b := client.ProposalReviewBody{Decision: client.DecisionComment, Comment: fmt.Sprint("comment ", i)}
		if i < 2 {
			b = client.ProposalReviewBody{Decision: client.DecisionApprove, Digest: p.Digest}
		}
		if _, err := people[i%2].ReviewProposal(ctx, p.ID, b); err != nil {
			t.Error(err)
		}
	})
	got, err := people[0].Proposal(ctx, p.ID)
	if err != nil || len(got.ApprovedBy) != 2 || len(got.Events) != 1+2*each {
		t.Errorf("after %d reviews at the same time: %+v, %v", 2*each, got, err)
	}
}
