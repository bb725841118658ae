package server_test

import (
	"errors"
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
