package server_test

import (
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
)

// protectedCreatePolicy protects branches that do not exist yet. Authors may create every branch.
const protectedCreatePolicy = `version: 1
groups: { authors: [act-one], reviewers: [act-ada, act-bo] }
protected_branches:
  - { name: main, approvals: 1, from: { group: reviewers } }
  - { name: v1, approvals: 2, from: { group: reviewers } }
  - { name: stable, approvals: 1 }
  - { name: checked, approvals: 0, checks: true }
  - { name: checked2, approvals: 0 }
  - named
rules:
  - id: all-read
    allow: { actors: any, actions: [read, invoke_query] }
  - id: authors-write
    allow: { actors: { group: authors }, actions: [change, branch_create] }
  - id: reviewers-decide
    allow: { actors: { group: reviewers }, actions: [proposal_review, branch_merge] }
  - id: root
    allow: { actors: { ids: [act-root] }, actions: [change, branch_create, branch_merge, branch_delete, protection_bypass] }
`

// TestProtectedBranchCreate creates branches that a policy protects, from states that were reviewed and from
// others, over every transport.
func TestProtectedBranchCreate(t *testing.T) {
	w := newProposalWorldWith(t, protectedCreatePolicy, servedtest.Catalog(t))
	ctx := t.Context()
	one, root, agent := w.person("act-one"), w.person("act-root"), w.agent("act-one")
	commits, err := one.Commits(ctx, client.CommitQuery{})
	if err != nil {
		t.Fatal(err)
	}
	first := commits.Commits[0].GraphCommitID
	wrote, err := root.Mutate(ctx, client.MutateBody{Query: aged("ada", 40)})
	if err != nil || wrote.Commit == nil {
		t.Fatal(wrote, err)
	}
	for _, name := range []string{"same", "other"} {
		if _, err := one.CreateBranch(ctx, client.BranchBody{Name: name}); err != nil {
			t.Fatal(err)
		}
	}
	planted, err := one.Mutate(ctx, client.MutateBody{Query: aged("ada", 41), Branch: "other"})
	if err != nil {
		t.Fatal(err)
	}
	side := planted.Commit.GraphCommitID
	if _, err := one.CreateBranch(ctx, client.BranchBody{Name: "stable"}); err != nil {
		t.Fatal(err)
	}
	if _, err := root.CreateBranch(ctx, client.BranchBody{Name: "checked", From: "other"}); err != nil {
		t.Fatalf("a creation by an actor with protection_bypass: %v", err)
	}
	if log := string(w.log.Bytes()); !strings.Contains(log, "bypassed_protection=checked") {
		t.Errorf("the audit log does not show the bypass:\n%s", log)
	}
	line := `{"type":"Person","data":{"name":"eve"}}`
	const refused = "is protected, so it can be created only from"
	for _, c := range []struct{ name, from, at, want string }{
		{"v1", "other", "", refused},
		{"v1", "other", side, refused},
		{"v1", "same", side, "not found"},
		{"v1", "checked", "", refused}, // no approvals
		{"checked2", "other", "", refused},
		{"v1", "main", "", ""},
		{"v1", "stable", "", ""},
		{"v1", "", "", ""},
		{"v1", "same", "", ""}, // its head is that of main
		{"v1", "", first, ""},  // an earlier head of main
		{"v1", "main", first, ""},
		{"checked2", "checked", "", ""},
		{"checked2", "main", "", ""},
		{"named", "other", "", ""}, // only named, and so not protected
		{"free", "other", "", ""},
	} {
		for _, transport := range []string{"REST", "MCP"} {
			said := ""
			if transport == "REST" {
				if _, err := one.CreateBranch(ctx, client.BranchBody{Name: c.name, From: c.from, FromCommit: c.at}); err != nil {
					said = err.Error()
				}
			} else {
				args := map[string]any{"name": c.name}
				if c.from != "" {
					args["from"] = c.from
				}
				if c.at != "" {
					args["from_commit"] = c.at
				}
				said = agent(nil, "branch_create", args)
			}
			if c.want == "" && said != "" || !strings.Contains(said, c.want) {
				t.Errorf("%s: %s from %q at %q says %q, want %q", transport, c.name, c.from, c.at, said, c.want)
			}
			if c.want == refused && !strings.Contains(said, "create it from branch main") {
				t.Errorf("%s: the refusal does not say what to do: %s", transport, said)
			}
			if said == "" {
				if _, err := root.DeleteBranch(ctx, c.name); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	for name, load := range map[string]func() error{
		"load": func() error {
			_, err := one.LoadText(ctx, client.LoadBody{Data: line, Branch: "v1", From: "other", Mode: "merge"})
			return err
		},
		"dry run": func() error {
			_, err := one.LoadText(ctx, client.LoadBody{Data: line, Branch: "v1", From: "other", Mode: "merge", DryRun: true})
			return err
		},
	} {
		if err := load(); err == nil || !strings.Contains(err.Error(), "branch v1 is protected") {
			t.Errorf("%s that creates the branch: %v", name, err)
		}
	}
}
