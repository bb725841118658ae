package server_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
)

// protectedMatrixPolicy protects the branches main and stable. act-out has no rights.
const protectedMatrixPolicy = `version: 1
groups: { authors: [act-one, act-two], reviewers: [act-ada, act-bo] }
protected_branches:
  - { name: main, approvals: 1, checks: true, owner_approves: false }
  - { name: stable, approvals: 2, from: { group: reviewers } }
rules:
  - id: insiders-read
    allow: { actors: { ids: [act-one, act-two, act-ada, act-bo, act-root] }, actions: [read, invoke_query] }
  - id: authors-write
    allow: { actors: { group: authors }, actions: [change, branch_create] }
  - id: reviewers-decide
    allow: { actors: { group: reviewers }, actions: [change, schema_apply, branch_merge, branch_delete, proposal_review] }
  - id: root
    allow: { actors: { ids: [act-root] }, actions: [change, schema_apply, branch_create, branch_merge, branch_delete, protection_bypass, policy_read] }
`

// TestProtectionMatrix asks for every way to change a branch, as actors with different rights, on
// protected branches and on a free one, over REST and MCP. In a cell, o means that the server did it, p
// that the protection forbids it, f that the policy does, and c that it is refused with a conflict: the
// schemas of a cluster come from its configuration.
func TestProtectionMatrix(t *testing.T) {
	w := newProposalWorldWith(t, protectedMatrixPolicy, servedtest.Catalog(t))
	ctx := t.Context()
	root := w.person("act-root")
	if _, err := root.CreateBranch(ctx, client.BranchBody{Name: "stable"}); err != nil {
		t.Fatal(err)
	}
	line := `{"type":"Person","data":{"name":"eve"}}`
	type way struct {
		action string // the action that the way needs on the branch
		via    string // how it is requested, if rules can tell
		rest   func(g *client.Graph, branch string) error
		tool   string // the MCP tool; "" for none
		args   func(branch string) map[string]any
	}
	ways := map[string]way{
		"mutate": {"change", "adhoc", func(g *client.Graph, branch string) error {
			_, err := g.Mutate(ctx, client.MutateBody{Query: aged("ada", 1), Branch: branch})
			return err
		}, "graph_mutate", func(branch string) map[string]any {
			return map[string]any{"query": aged("ada", 1), "branch": branch}
		}},
		"stored": {"change", "stored", func(g *client.Graph, branch string) error {
			_, err := g.Invoke(ctx, "add_person", client.InvokeBody{Params: map[string]any{"name": "eve"}, Branch: branch})
			return err
		}, "add_person", func(branch string) map[string]any {
			return map[string]any{"params": map[string]any{"name": "eve"}, "branch": branch}
		}},
		"load": {"change", "adhoc", func(g *client.Graph, branch string) error {
			_, err := g.LoadText(ctx, client.LoadBody{Data: line, Branch: branch, Mode: "merge"})
			return err
		}, "graph_load", func(branch string) map[string]any {
			return map[string]any{"data": line, "branch": branch, "mode": "merge"}
		}},
		"schema": {"schema_apply", "", func(g *client.Graph, branch string) error {
			_, err := g.ApplySchema(ctx, client.SchemaBody{SchemaSource: servedtest.Source, Branch: branch})
			return err
		}, "", nil},
		"merge": {"branch_merge", "adhoc", func(g *client.Graph, branch string) error {
			_, err := g.MergeBranches(ctx, client.MergeBody{Source: "feature", Target: branch})
			return err
		}, "branch_merge", func(branch string) map[string]any {
			return map[string]any{"source": "feature", "target": branch}
		}},
		"delete": {"branch_delete", "", func(g *client.Graph, branch string) error {
			_, err := g.DeleteBranch(ctx, branch)
			return err
		}, "branch_delete", func(branch string) map[string]any {
			return map[string]any{"name": branch}
		}},
	}
	// The cells are in the order of the ways: mutate, stored, load, schema, merge, delete.
	order := []string{"mutate", "stored", "load", "schema", "merge", "delete"}
	for actor, cells := range map[string]struct{ protected, free string }{
		"act-one":  {"pppfff", "ooofff"}, // an author, who may change branches
		"act-ada":  {"pppppp", "ooocoo"}, // a reviewer
		"act-out":  {"ffffff", "ffffff"}, // a stranger
		"act-root": {"ooocoo", "ooocoo"}, // may bypass the protection
	} {
		listed := w.tools(actor)
		for i, name := range order {
			way := ways[name]
			for _, transport := range []string{"rest", "mcp"} {
				if transport == "mcp" && way.tool == "" {
					continue
				}
				for _, kind := range []string{"main", "stable", "free"} {
					want := cells.protected[i]
					branch := kind
					if kind == "free" {
						want = cells.free[i]
						branch = fmt.Sprintf("free/%s-%s-%s", actor, name, transport)
						if _, err := root.CreateBranch(ctx, client.BranchBody{Name: branch}); err != nil {
							t.Fatal(err)
						}
					}
					if name == "delete" && (kind == "main" || want == 'o' && kind == "stable") {
						continue // main is never deleted, and the other cells need stable
					}
					if got := explained(t, root, actor, branch, way.action, way.via); got != want && !(got == 'o' && want == 'c') {
						t.Errorf("%s %s on %s: the access answer says %c, want %c", actor, name, branch, got, want)
					}
					said := ""
					if transport == "rest" {
						if err := way.rest(w.person(actor), branch); err != nil {
							said = err.Error()
						}
					} else {
						said = w.agent(actor)(nil, way.tool, way.args(branch))
						unknown := strings.Contains(said, "unknown tool")
						if unknown == listed[way.tool] {
							t.Errorf("%s: %s is listed: %t, and a call says %q", actor, way.tool, listed[way.tool], said)
						}
					}
					if got := cellOf(said); got != want {
						t.Errorf("%s %s on %s over %s: %c, want %c: %s", actor, name, branch, transport, got, want, said)
					}
				}
			}
		}
	}
}

// explained returns the cell that the explanation of a policy gives for an action; see TestProtectionMatrix.
func explained(t *testing.T, reader *client.Graph, actor, branch, action, via string) byte {
	t.Helper()
	answer, err := reader.Access(t.Context(), client.AccessQuery{Actor: actor, Branch: branch})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range answer.Decisions {
		switch {
		case d.Action != action || d.Via != via:
		case strings.Contains(d.Reason, "changes only by merging proposals"):
			return 'p'
		case !d.Allowed:
			return 'f'
		default:
			return 'o'
		}
	}
	t.Fatalf("no decision about %s via %q in %+v", action, via, answer.Decisions)
	return 0
}

// cellOf says what an answer means; see TestProtectionMatrix.
func cellOf(said string) byte {
	switch {
	case said == "":
		return 'o'
	case strings.Contains(said, "is protected and changes only by merging proposals"):
		return 'p'
	case strings.Contains(said, "unknown tool"), strings.Contains(said, "does not allow"), strings.Contains(said, `query "add_person" not found`):
		return 'f'
	case strings.Contains(said, "cluster"):
		return 'c'
	}
	return '?'
}

// tools returns the names of the tools that an actor sees.
func (w *proposalWorld) tools(actor string) map[string]bool {
	w.t.Helper()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "0"}, nil).Connect(w.t.Context(), &mcp.StreamableClientTransport{
		Endpoint: w.url + "/graphs/people/mcp", HTTPClient: &http.Client{Transport: bearer("the-token-of-" + actor)}, DisableStandaloneSSE: true,
	}, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	defer session.Close()
	seen := map[string]bool{}
	for t, err := range session.Tools(w.t.Context(), nil) {
		if err != nil {
			w.t.Fatal(err)
		}
		seen[t.Name] = true
	}
	return seen
}

// TestProposalMatrix asks for every step of a proposal as its author, a committer, two reviewers, another
// author and a stranger. In a cell, o means that the server did it, f that the policy forbids it, n that
// the proposal is not found, and c that the rules of proposals refuse it.
func TestProposalMatrix(t *testing.T) {
	w := newProposalWorldWith(t, protectedMatrixPolicy, servedtest.Catalog(t))
	ctx := t.Context()
	one, bo := w.person("act-one"), w.person("act-bo")
	steps := []struct {
		name string
		do   func(g *client.Graph, p *client.ProposalAnswer) error
		// cells by actor: one, who opened the proposal; bo, a reviewer who committed; ada, a reviewer;
		// two, another author; out, a stranger
		cells string
	}{
		{"read", func(g *client.Graph, p *client.ProposalAnswer) error { _, err := g.Proposal(ctx, p.ID); return err }, "oooon"},
		{"changes", func(g *client.Graph, p *client.ProposalAnswer) error {
			_, err := g.ProposalChanges(ctx, p.ID, client.ChangeQuery{})
			return err
		}, "oooon"},
		{"edit", func(g *client.Graph, p *client.ProposalAnswer) error {
			_, err := g.ChangeProposal(ctx, p.ID, client.ProposalChangeBody{Title: new("x")})
			return err
		}, "oooon"},
		{"comment", func(g *client.Graph, p *client.ProposalAnswer) error {
			_, err := g.ReviewProposal(ctx, p.ID, client.ProposalReviewBody{Decision: client.DecisionComment, Comment: "hm"})
			return err
		}, "oooon"},
		{"approve", func(g *client.Graph, p *client.ProposalAnswer) error {
			_, err := g.ReviewProposal(ctx, p.ID, client.ProposalReviewBody{Decision: client.DecisionApprove, Digest: p.Digest})
			return err
		}, "fcofn"},
		{"request changes", func(g *client.Graph, p *client.ProposalAnswer) error {
			_, err := g.ReviewProposal(ctx, p.ID, client.ProposalReviewBody{Decision: client.DecisionRequest, Digest: p.Digest})
			return err
		}, "foofn"},
		{"merge without an approval", func(g *client.Graph, p *client.ProposalAnswer) error {
			_, err := g.MergeProposal(ctx, p.ID, client.ProposalMergeBody{})
			return err
		}, "fccfn"},
		{"close", func(g *client.Graph, p *client.ProposalAnswer) error {
			_, err := g.CloseProposal(ctx, p.ID, client.ProposalCloseBody{})
			return err
		}, "oooon"},
	}
	for _, s := range steps {
		for i, actor := range []string{"act-one", "act-bo", "act-ada", "act-two", "act-out"} {
			branch := fmt.Sprintf("%s/%s", strings.ReplaceAll(s.name, " ", "-"), actor)
			if _, err := one.CreateBranch(ctx, client.BranchBody{Name: branch}); err != nil {
				t.Fatal(err)
			}
			if _, err := bo.Mutate(ctx, client.MutateBody{Query: aged("ada", 50), Branch: branch}); err != nil {
				t.Fatal(err)
			}
			p, err := one.OpenProposal(ctx, client.ProposalBody{Source: branch, Title: "Ada is 50"})
			if err != nil {
				t.Fatal(err)
			}
			err = s.do(w.person(actor), p)
			got := byte('?')
			switch {
			case err == nil:
				got = 'o'
			case errors.Is(err, client.ErrNotFound):
				got = 'n'
			case errors.Is(err, client.ErrForbidden):
				got = 'f'
			case errors.Is(err, client.ErrConflict):
				got = 'c'
			}
			if got != s.cells[i] {
				t.Errorf("%s as %s: %c, want %c: %v", s.name, actor, got, s.cells[i], err)
			}
		}
	}
	// A stranger sees no proposal in a list.
	for actor, want := range map[string]bool{"act-two": true, "act-out": false} {
		list, err := w.person(actor).Proposals(context.WithoutCancel(ctx), client.ProposalQuery{})
		if seen := err == nil && len(list.Proposals) > 0; seen != want {
			t.Errorf("%s sees proposals: %t, %v", actor, seen, err)
		}
	}
	if !slices.Contains(slices.Collect(maps.Keys(w.tools("act-one"))), "proposal_submit") || w.tools("act-out")["proposal_get"] {
		t.Error("an author does not see proposal_submit, or a stranger sees proposal_get")
	}
}
