package server_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
)

// TestDrafts follows drafts over REST and MCP under a policy that confines agents to drafts.
func TestDrafts(t *testing.T) {
	w := newProposalWorldWith(t, draftPolicy, servedtest.Catalog(t))
	ctx := t.Context()
	one, two, ada := w.person("act-one"), w.person("act-two"), w.person("act-ada")
	const ages = `query q() { match { $p: Person } return { $p.name as name, $p.age as age } order { $p.name } }`
	read := func(g *client.Graph, branch string) (*client.ReadAnswer, error) {
		return g.Query(ctx, client.QueryBody{Query: ages, Branch: branch})
	}
	target := func(g *client.Graph, branch string) client.ReadTarget {
		t.Helper()
		a, err := read(g, branch)
		if err != nil {
			t.Fatal(err)
		}
		return a.Target
	}

	// While there is no draft, the alias reads main, and nothing that fails or only tries opens a draft.
	if got := target(one, "draft"); *got.Branch != "main" || got.MainAhead != nil {
		t.Errorf("without a draft, the alias reads %+v", got)
	}
	if _, err := one.Mutate(ctx, client.MutateBody{Query: "query m() { insert Person { nam: \"x\" } }"}); err == nil {
		t.Error("a wrong mutation is accepted")
	}
	if a, err := one.Mutate(ctx, client.MutateBody{Query: aged("ada", 41), DryRun: true}); err != nil || a.Branch != "main" {
		t.Errorf("a dry run answers %+v, %v", a, err)
	}
	if got := target(one, "draft"); *got.Branch != "main" {
		t.Errorf("a draft is open: %s", *got.Branch)
	}
	var status *client.Error
	if _, err := one.Mutate(ctx, client.MutateBody{Query: aged("ada", 41)}, client.IfCommit("01ARZ3NDEKTSV4RRFFQ69G5FAV")); !errors.As(err, &status) || status.Status != 412 {
		t.Errorf("a write with an unknown if_commit: %v", err)
	}

	// The first write opens the draft, and its repetition finds it by the key.
	first, err := one.Mutate(ctx, client.MutateBody{Query: aged("ada", 41)}, client.IdempotencyKey("k"))
	if err != nil || first.Target == nil || first.Target.Branch != first.Branch || !strings.HasPrefix(first.Branch, "draft/") {
		t.Fatalf("the first write answers %+v, %v", first, err)
	}
	if got := target(one, "draft"); *got.Branch != first.Branch || got.GraphCommitID != first.Commit.GraphCommitID || got.MainAhead == nil || *got.MainAhead != 0 {
		t.Errorf("the alias reads %+v", got)
	}
	if a, err := one.Mutate(ctx, client.MutateBody{Query: aged("bob", 1), Branch: "draft/second"}); err != nil || a.Branch == first.Branch {
		t.Errorf("a write to a second draft answers %+v, %v", a, err)
	}
	if a, err := one.Mutate(ctx, client.MutateBody{Query: aged("bob", 2), Branch: "draft"}); err != nil || a.Branch != first.Branch {
		t.Errorf("a later write answers %+v, %v", a, err)
	}

	// Another agent may not write to it, and an unknown draft looks the same.
	denied := func(branch string) string {
		t.Helper()
		_, err := two.Mutate(ctx, client.MutateBody{Query: aged("ada", 50), Branch: branch})
		if !errors.As(err, &status) || status.Status != 403 {
			t.Errorf("a write to %s: %v", branch, err)
			return ""
		}
		return strings.ReplaceAll(status.Message, branch, "DRAFT")
	}
	if known, unknown := denied(first.Branch), denied("draft/01ARZ3NDEKTSV4RRFFQ69G5FAV"); known != unknown {
		t.Errorf("a denied draft answers %q, an unknown one %q", known, unknown)
	}
	if said := w.agent("act-one")(nil, "branch_create", map[string]any{"name": "draft/x"}); said == "" {
		t.Error("an agent creates a branch with a reserved name")
	}

	// A page token pins the draft. After the end of the draft, no call with it reads main.
	page, err := one.Query(ctx, client.QueryBody{Query: ages, Branch: "draft", MaxRows: 1})
	if err != nil || page.NextPageToken == "" {
		t.Fatalf("a page of the draft: %+v, %v", page, err)
	}
	if _, err := one.DeleteBranch(ctx, first.Branch); err != nil {
		t.Fatal(err)
	}
	for what, call := range map[string]func() error{
		"the next page": func() error {
			_, err := one.Query(ctx, client.QueryBody{Query: ages, Branch: "draft", MaxRows: 1, PageToken: page.NextPageToken})
			return err
		},
		"a read": func() error { _, err := read(one, first.Branch); return err },
		"a write": func() error {
			_, err := one.Mutate(ctx, client.MutateBody{Query: aged("ada", 1), Branch: first.Branch})
			return err
		},
	} {
		err := call()
		if !errors.As(err, &status) || status.Status != 409 || status.DraftClosed == nil || status.DraftClosed.Outcome != "deleted" || status.DraftClosed.By != "act-one" {
			t.Errorf("%s after the end: %v", what, err)
		}
	}
	again, err := one.Mutate(ctx, client.MutateBody{Query: aged("ada", 41)}, client.IdempotencyKey("k"))
	if err != nil || again.Commit.GraphCommitID != first.Commit.GraphCommitID {
		t.Errorf("the repeated write answers %+v, %v", again, err)
	}
	if got := target(ada, "main"); *got.Branch != "main" {
		t.Errorf("main reads %+v", got)
	}
}

// TestBranchListOfDrafts checks that branch_list describes drafts like GET …/branches.
func TestBranchListOfDrafts(t *testing.T) {
	w := newProposalWorldWith(t, draftPolicy, servedtest.Catalog(t))
	one := w.agent("act-one")
	var wrote struct{ Target client.WriteTarget }
	for _, branch := range []string{"draft/ages", "draft"} {
		if said := one(&wrote, "graph_mutate", map[string]any{"query": aged("ada", 41), "branch": branch}); said != "" {
			t.Fatal(said)
		}
	}
	if said := one(nil, "proposal_submit", map[string]any{"source": "draft", "title": "Ages"}); said != "" {
		t.Fatal(said)
	}
	drafts := map[string]*client.BranchDraft{}
	for b, err := range w.person("act-one").AllBranches(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		drafts[b.Name] = b.Draft
	}
	if d := drafts[wrote.Target.Branch]; len(drafts) != 5 || d == nil || d.Owner != "act-one" || d.State != client.DraftIsProposed {
		t.Fatalf("REST lists %+v", drafts)
	}
	var list struct {
		Heads []struct {
			Name  string
			Draft *client.BranchDraft
		}
	}
	if said := one(&list, "branch_list", nil); said != "" {
		t.Fatal(said)
	}
	listed := map[string]*client.BranchDraft{}
	for _, b := range list.Heads {
		listed[b.Name] = b.Draft
	}
	if !reflect.DeepEqual(listed, drafts) {
		t.Errorf("branch_list has %+v, REST %+v", listed, drafts)
	}
}

// TestRefusedOutsideDrafts checks that a refusal tells an actor whom the policy confines to drafts where it may
// write, and tells that no other actor.
func TestRefusedOutsideDrafts(t *testing.T) {
	w := newProposalWorldWith(t, draftPolicy, servedtest.Catalog(t))
	const advice = "pass draft as the branch, and open a proposal from it later"
	for _, tt := range []struct {
		actor, branch string
		advised       bool
	}{
		{"act-one", "main", true},
		{"act-one", "feature", true},
		{"act-out", "main", false},
		{"act-out", "draft", false},
		{"act-out", "draft/01M871ZHW23FHDYH0JZTZX48A1", false},
	} {
		_, err := w.person(tt.actor).Mutate(t.Context(), client.MutateBody{Query: aged("ada", 1), Branch: tt.branch})
		if err == nil || !strings.Contains(err.Error(), "does not allow change on branch "+tt.branch) || strings.Contains(err.Error(), advice) != tt.advised {
			t.Errorf("%s on %s: found %v, want advice: %t", tt.actor, tt.branch, err, tt.advised)
		}
	}
}

// TestExplainedBranch checks that query_explain names the branch that draft stands for.
func TestExplainedBranch(t *testing.T) {
	w := newProposalWorldWith(t, draftPolicy, servedtest.Catalog(t))
	one := w.agent("act-one")
	explained := func() string {
		t.Helper()
		var answer struct{ Branch string }
		if said := one(&answer, "query_explain", map[string]any{"query": "query q() { match { $p: Person } return { $p.name } }", "branch": "draft"}); said != "" {
			t.Fatal(said)
		}
		return answer.Branch
	}
	if got := explained(); got != "main" {
		t.Errorf("without a draft, the branch is %q, want main", got)
	}
	var wrote struct{ Target client.WriteTarget }
	if said := one(&wrote, "graph_mutate", map[string]any{"query": aged("ada", 41)}); said != "" {
		t.Fatal(said)
	}
	if got := explained(); got != wrote.Target.Branch {
		t.Errorf("with a draft, the branch is %q, want %q", got, wrote.Target.Branch)
	}
}

// TestNoDraft checks that a refusal tells an actor whom the policy confines to drafts that it has no draft.
func TestNoDraft(t *testing.T) {
	w := newProposalWorldWith(t, draftPolicy, servedtest.Catalog(t))
	ctx := t.Context()
	const advice = "because you have no open draft with this name; write to it first"
	submit := func(actor string) error {
		_, err := w.person(actor).OpenProposal(ctx, client.ProposalBody{Source: "draft", Title: "Ages"})
		return err
	}
	if err := submit("act-one"); err == nil || !strings.Contains(err.Error(), advice) {
		t.Errorf("a proposal without a draft: found %v", err)
	}
	if _, err := w.person("act-one").DeleteBranch(ctx, "draft/ages"); err == nil || !strings.Contains(err.Error(), advice) {
		t.Errorf("the deletion of a draft that was never opened: found %v", err)
	}
	if err := submit("act-out"); err == nil || !strings.Contains(err.Error(), "does not allow change on branch draft") || strings.Contains(err.Error(), advice) {
		t.Errorf("a proposal of an actor who may write nowhere: found %v", err)
	}
	if _, err := w.person("act-one").Mutate(ctx, client.MutateBody{Query: aged("ada", 41)}); err != nil {
		t.Fatal(err)
	}
	if err := submit("act-one"); err != nil {
		t.Error(err)
	}
}
