package server_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/client"
)

// shownChanges returns the changes of all pages of a proposal, one per text, and what they compare.
func shownChanges(t *testing.T, g *client.Graph, id string, limit int) (list []string, compares string) {
	t.Helper()
	q := client.ChangeQuery{Limit: limit}
	for {
		page, err := g.ProposalChanges(t.Context(), id, q)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range page.Changes {
			age := func(i *client.EntityImage) string {
				if i == nil {
					return "nothing"
				}
				return string(i.Properties["age"])
			}
			list = append(list, fmt.Sprintf("%s %s %s: %s to %s", c.Effect, c.Op, c.ID, age(c.Before), age(c.After)))
		}
		compares = page.Compares
		if page.NextPageToken == nil {
			return list, compares
		}
		q.PageToken = *page.NextPageToken
	}
}

// expectCounts checks that the counts of a proposal are those of the listed changes of the target.
func expectCounts(t *testing.T, g *client.Graph, id, what string, list []string) {
	t.Helper()
	var counts client.ChangeCounts
	for _, c := range list {
		switch fields := strings.Fields(c); {
		case fields[0] != client.EffectChanges:
		case fields[1] == client.OpInsert:
			counts.Inserted++
		case fields[1] == client.OpUpdate:
			counts.Updated++
		default:
			counts.Deleted++
		}
	}
	if a, err := g.Proposal(t.Context(), id); err != nil || a.Nodes != counts || a.Edges != (client.ChangeCounts{}) {
		t.Errorf("%s: the proposal counts %+v, %v; its changes are %+v nodes", what, a, err, counts)
	}
}

// TestProposalShowsResult changes a branch and main, and reads what the proposal shows: the changes from main
// to the result of the merge, what is already there, and what resolutions keep.
func TestProposalShowsResult(t *testing.T) {
	w := newProposalWorld(t)
	ctx := t.Context()
	one, ada, root := w.person("act-one"), w.person("act-ada"), w.person("act-root")
	write := func(g *client.Graph, branch, query string) {
		t.Helper()
		if _, err := g.Mutate(ctx, client.MutateBody{Query: query, Branch: branch}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 6 {
		write(root, "", fmt.Sprintf(`query m() { insert Person { name: "p%d", age: %d } }`, i, i))
	}
	if _, err := one.CreateBranch(ctx, client.BranchBody{Name: "side"}); err != nil {
		t.Fatal(err)
	}
	for _, m := range []string{aged("p0", 10), aged("p1", 11), aged("p2", 12), `query m() { delete Person where name = "p4" }`, `query m() { delete Person where name = "p5" }`,
		`query m() { insert Person { name: "new", age: 1 } }`, `query m() { insert Person { name: "twin", age: 7 } }`} {
		write(one, "side", m)
	}
	p, err := one.OpenProposal(ctx, client.ProposalBody{Source: "side", Title: "changes"})
	if err != nil {
		t.Fatal(err)
	}
	expect := func(what, compares string, want ...string) {
		t.Helper()
		for _, limit := range []int{0, 1, 2, 3} {
			if got, of := shownChanges(t, ada, p.ID, limit); !slices.Equal(got, want) || of != compares {
				t.Errorf("%s, pages of %d: the proposal shows %s\n  %s\nwant %s\n  %s", what, limit, of, strings.Join(got, "\n  "), compares, strings.Join(want, "\n  "))
			}
		}
		expectCounts(t, ada, p.ID, what, want)
	}
	expect("main has not changed", client.TargetToResult, "changes insert new: nothing to 1", "changes delete p4: 4 to nothing", "changes delete p5: 5 to nothing",
		"changes insert twin: nothing to 7", "changes update p0: 0 to 10", "changes update p1: 1 to 11", "changes update p2: 2 to 12")

	// Main gets some of the same changes, and one other.
	for _, m := range []string{aged("p1", 11), aged("p3", 33), `query m() { delete Person where name = "p5" }`, `query m() { insert Person { name: "twin", age: 7 } }`} {
		write(root, "", m)
	}
	expect("main has the same changes", client.TargetToResult, "changes insert new: nothing to 1", "changes delete p4: 4 to nothing", "already_there delete p5: nothing to nothing",
		"already_there insert twin: 7 to 7", "changes update p0: 0 to 10", "already_there update p1: 11 to 11", "changes update p2: 2 to 12")

	// A conflict leaves no result, until it is resolved. The approval is about the changes and the resolutions.
	write(root, "", aged("p2", 22))
	if _, compares := shownChanges(t, ada, p.ID, 0); compares != client.BaseToSource {
		t.Errorf("a proposal with a conflict shows %s", compares)
	}
	if a, err := ada.Proposal(ctx, p.ID); err != nil || a.Nodes != (client.ChangeCounts{Inserted: 2, Updated: 3, Deleted: 2}) {
		t.Errorf("a proposal with a conflict counts %+v, %v; want the changes of the source", a, err)
	}
	for _, c := range []struct {
		r    client.ConflictResolution
		want string
	}{
		{client.ConflictResolution{Take: client.TakeValue, Value: json.RawMessage("99")}, "changes update p2: 22 to 99"},
		{client.ConflictResolution{Take: client.TakeTheirs}, "changes update p2: 22 to 12"},
		{client.ConflictResolution{Take: client.TakeOurs}, "kept update p2: 22 to 22"},
	} {
		r := c.r
		r.EntityKind, r.TypeName, r.ID, r.Property = client.KindNode, "Person", "p2", "age"
		first, err := ada.ProposalChanges(ctx, p.ID, client.ChangeQuery{Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		if p, err = one.ChangeProposal(ctx, p.ID, client.ProposalChangeBody{Resolutions: []client.ConflictResolution{r}}); err != nil {
			t.Fatal(err)
		}
		expect("resolved with "+r.Take, client.TargetToResult, "changes insert new: nothing to 1", "changes delete p4: 4 to nothing", "already_there delete p5: nothing to nothing",
			"already_there insert twin: 7 to 7", "changes update p0: 0 to 10", "already_there update p1: 11 to 11", c.want)
		if _, err := ada.ProposalChanges(ctx, p.ID, client.ChangeQuery{PageToken: *first.NextPageToken}); err == nil || !strings.Contains(err.Error(), "another resolution") {
			t.Errorf("a page token from before the resolution: %v", err)
		}
	}
	digest := p.Digest
	if _, err := ada.ReviewProposal(ctx, p.ID, client.ProposalReviewBody{Decision: client.DecisionApprove, Digest: digest}); err != nil {
		t.Fatal(err)
	}
	write(root, "", aged("p3", 34)) // the result is another one now, and the approval still counts
	var got struct {
		Changes  []client.ProposedChange
		Compares string
		Target   string `json:"target_commit_id"`
	}
	if said := w.agent("act-one")(&got, "proposal_get", map[string]any{"proposal": p.ID, "changes": true}); said != "" {
		t.Fatal(said)
	}
	if got.Compares != client.TargetToResult || len(got.Changes) != 7 || got.Changes[6].Effect != client.EffectKept || got.Target == "" {
		t.Errorf("proposal_get shows %+v", got)
	}
	merged, err := ada.MergeProposal(ctx, p.ID, client.ProposalMergeBody{Digest: digest})
	if err != nil || merged.State != "merged" {
		t.Fatalf("merge: %+v, %v", merged, err)
	}
	commit, err := ada.Changes(ctx, *merged.MergeCommitID, client.ChangeQuery{})
	if err != nil || len(commit.Changes) != 3 {
		t.Fatalf("the merge has the changes %+v, %v; want the 3 that the proposal showed", commit, err)
	}
	expect("merged", client.TargetToResult, "changes insert new: nothing to 1", "changes delete p4: 4 to nothing", "already_there delete p5: nothing to nothing",
		"already_there insert twin: 7 to 7", "changes update p0: 0 to 10", "already_there update p1: 11 to 11", "kept update p2: 22 to 22")
}
