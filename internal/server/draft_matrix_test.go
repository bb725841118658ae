package server_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
)

// draftMatrixPolicy confines agents to main and their own drafts. act-root may write everywhere, but
// decides nothing. act-bo may only read. act-out has no rights.
const draftMatrixPolicy = `version: 1
groups: { agents: [act-one, act-two], reviewers: [act-ada] }
protected_branches:
  - { name: main, approvals: 1, from: { group: reviewers } }
rules:
  - id: insiders-invoke
    allow: { actors: { ids: [act-one, act-two, act-root, act-ada, act-bo] }, actions: [invoke_query] }
  - id: agents-read-main
    allow: { actors: { group: agents }, actions: [read], branch_scope: protected }
  - id: agents-use-drafts
    allow: { actors: { group: agents }, actions: [read, change], branch_scope: draft }
  - id: agents-manage-drafts
    allow: { actors: { group: agents }, actions: [schema_apply, branch_merge, branch_delete], target_branch_scope: draft }
  - id: others-read
    allow: { actors: { ids: [act-root, act-ada, act-bo] }, actions: [read] }
  - id: committers-write
    allow: { actors: { ids: [act-root] }, actions: [change] }
  - id: reviewers-decide
    allow: { actors: { group: reviewers }, actions: [change, schema_apply, branch_merge, branch_delete, proposal_review] }
`

// unknownDraft is the branch of a draft that does not exist.
const unknownDraft = "draft/01ARZ3NDEKTSV4RRFFQ69G5FAV"

// draftWay is an operation of the matrix of drafts.
type draftWay struct {
	name string
	rest func(ctx context.Context, g *client.Graph, branch string) error
	tool string // the MCP tool; "" for none
	args func(branch string) map[string]any
}

// draftWays lists the operations in the order of the cells.
var draftWays = []draftWay{
	{"read", func(ctx context.Context, g *client.Graph, branch string) error {
		_, err := g.Query(ctx, client.QueryBody{Query: personNames, Branch: branch})
		return err
	}, "graph_query", func(branch string) map[string]any { return map[string]any{"query": personNames, "branch": branch} }},
	{"mutate", func(ctx context.Context, g *client.Graph, branch string) error {
		_, err := g.Mutate(ctx, client.MutateBody{Query: aged("ada", 1), Branch: branch})
		return err
	}, "graph_mutate", func(branch string) map[string]any { return map[string]any{"query": aged("ada", 1), "branch": branch} }},
	{"stored", func(ctx context.Context, g *client.Graph, branch string) error {
		_, err := g.Invoke(ctx, "add_person", client.InvokeBody{Params: map[string]any{"name": "eve"}, Branch: branch})
		return err
	}, "add_person", func(branch string) map[string]any {
		return map[string]any{"params": map[string]any{"name": "eve"}, "branch": branch}
	}},
	{"load", func(ctx context.Context, g *client.Graph, branch string) error {
		_, err := g.LoadText(ctx, client.LoadBody{Data: onePerson, Branch: branch, Mode: "merge"})
		return err
	}, "graph_load", func(branch string) map[string]any {
		return map[string]any{"data": onePerson, "branch": branch, "mode": "merge"}
	}},
	{"load from main", func(ctx context.Context, g *client.Graph, branch string) error {
		_, err := g.LoadText(ctx, client.LoadBody{Data: onePerson, Branch: branch, From: "main", Mode: "merge"})
		return err
	}, "graph_load", func(branch string) map[string]any {
		return map[string]any{"data": onePerson, "branch": branch, "from": "main", "mode": "merge"}
	}},
	{"schema", func(ctx context.Context, g *client.Graph, branch string) error {
		_, err := g.ApplySchema(ctx, client.SchemaBody{SchemaSource: servedtest.Source, Branch: branch})
		return err
	}, "", nil},
	{"merge main into it", func(ctx context.Context, g *client.Graph, branch string) error {
		_, err := g.MergeBranches(ctx, client.MergeBody{Source: "main", Target: branch})
		return err
	}, "branch_merge", func(branch string) map[string]any { return map[string]any{"source": "main", "target": branch} }},
	{"merge it into main", func(ctx context.Context, g *client.Graph, branch string) error {
		_, err := g.MergeBranches(ctx, client.MergeBody{Source: branch})
		return err
	}, "branch_merge", func(branch string) map[string]any { return map[string]any{"source": branch, "target": "main"} }},
	{"delete", func(ctx context.Context, g *client.Graph, branch string) error {
		_, err := g.DeleteBranch(ctx, branch)
		return err
	}, "branch_delete", func(branch string) map[string]any { return map[string]any{"name": branch} }},
}

const (
	personNames = `query q() { match { $p: Person } return { $p.name } }`
	onePerson   = `{"type":"Person","data":{"name":"eve"}}`
)

// draftCell is like cellOf, but n means that the branch is not found, and k that an open proposal needs it.
func draftCell(said string) byte {
	switch {
	case strings.Contains(said, "merge or close the proposal first"):
		return 'k'
	case strings.Contains(said, `" not found`) && !strings.Contains(said, "query "):
		return 'n'
	}
	return cellOf(said)
}

// TestDraftMatrix asks for every way to use and change a branch as the owner of a draft, another agent
// that is confined to drafts, a committer, a reviewer, a former reviewer and a stranger, over REST and MCP.
// The branches are main, a draft of the actor, a draft of act-one, and such a draft under an open
// proposal. A refusal because of the policy must be the same as for a draft that does not exist.
func TestDraftMatrix(t *testing.T) {
	w := newProposalWorldWith(t, draftMatrixPolicy, servedtest.Catalog(t))
	ctx := t.Context()
	one, ada := w.person("act-one"), w.person("act-ada")
	// The cells are in the order of draftWays: read, mutate, stored, load, load from main, schema, merge
	// main into it, merge it into main, delete.
	rows := []struct{ actor, own, draft, proposed, main string }{
		{"act-one", "ooooocofo", "ooooocofo", "ooooocofk", "offffffff"},  // the author
		{"act-two", "ooooocofo", "fffffffff", "fffffffff", "offffffff"},  // another agent
		{"act-root", "oooooffff", "oooooffff", "oooooffff", "oppppffff"}, // a committer
		{"act-ada", "ooooocopo", "ooooocopo", "ooooocopk", "opppppppp"},  // a reviewer
		{"act-bo", "offffffff", "offffffff", "offffffff", "offffffff"},   // a former reviewer
		{"act-out", "fffffffff", "fffffffff", "fffffffff", "fffffffff"},  // a stranger
	}
	for _, row := range rows {
		person, agent, listed := w.person(row.actor), w.agent(row.actor), w.tools(row.actor)
		ask := func(way *draftWay, transport, branch string) string {
			if transport == "mcp" {
				said := agent(nil, way.tool, way.args(branch))
				if strings.Contains(said, "unknown tool") == listed[way.tool] {
					t.Errorf("%s: %s is listed: %t, and a call says %q", row.actor, way.tool, listed[way.tool], said)
				}
				return said
			}
			if err := way.rest(ctx, person, branch); err != nil {
				return err.Error()
			}
			return ""
		}
		for i := range draftWays {
			way := &draftWays[i]
			for _, transport := range []string{"rest", "mcp"} {
				if transport == "mcp" && way.tool == "" {
					continue
				}
				for kind, cells := range map[string]string{"own": row.own, "draft": row.draft, "proposed": row.proposed, "main": row.main} {
					branch, done := w.draftFor(kind, row.actor)
					said := ask(way, transport, branch)
					if got := draftCell(said); got != cells[i] {
						t.Errorf("%s %s on %s (%s) over %s: %c, want %c: %s", row.actor, way.name, kind, branch, transport, got, cells[i], said)
					}
					if kind == "draft" && cells[i] == 'f' && row.draft[0] == 'f' {
						if unknown := ask(way, transport, unknownDraft); strings.ReplaceAll(unknown, unknownDraft, branch) != said {
							t.Errorf("%s %s over %s: a draft answers %q, an unknown one %q", row.actor, way.name, transport, said, unknown)
						}
					}
					done()
				}
			}
		}
	}

	// The lists show the drafts that the actor may read, and no others.
	branch, done := w.draftFor("draft", "act-one")
	defer done()
	for _, row := range rows {
		listed := map[string]bool{}
		for b, err := range w.person(row.actor).AllBranches(ctx) {
			if err != nil {
				if row.main[0] == 'o' {
					t.Errorf("%s lists no branches: %v", row.actor, err)
				}
				break
			}
			listed[b.Name] = true
			if b.Name == branch && (b.Draft == nil || b.Draft.Owner != "act-one" || b.Draft.State != client.DraftIsOpen || b.Draft.ExpiresAt == 0) {
				t.Errorf("%s sees the draft as %+v", row.actor, b.Draft)
			}
		}
		var answer struct{ Heads []struct{ Name string } }
		w.agent(row.actor)(&answer, "branch_list", nil)
		for _, b := range answer.Heads {
			if !listed[b.Name] {
				t.Errorf("%s sees the branch %s over MCP alone", row.actor, b.Name)
			}
		}
		if may := row.draft[0] == 'o'; listed[branch] != may || len(answer.Heads) != len(listed) {
			t.Errorf("%s may read the draft: %t; the lists have %v and %v", row.actor, may, listed, answer.Heads)
		}
	}

	// After the end of the draft, only actors that may read it learn how it ended.
	if _, err := ada.DeleteBranch(ctx, branch); err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		_, err := w.person(row.actor).Query(ctx, client.QueryBody{Query: personNames, Branch: branch})
		var status *client.Error
		if !errors.As(err, &status) || (status.DraftClosed != nil) != (row.draft[0] == 'o') {
			t.Errorf("%s reads the draft after its end: %v", row.actor, err)
		}
	}
	if p, err := one.Query(ctx, client.QueryBody{Query: `query q() { match { $p: Person { name: "ada" } } return { $p.age as age } }`}); err != nil || string(p.Rows[0]) != `{"age":36}` {
		t.Errorf("after all attempts, main has %+v, %v", p, err)
	}
}

// draftFor returns a branch of a kind of the matrix, with a function that removes the branch. A draft
// of act-one has its id as its name; the actor's own draft has the name that the actor uses.
func (w *proposalWorld) draftFor(kind, actor string) (branch string, done func()) {
	w.t.Helper()
	ctx := w.t.Context()
	owner := w.person("act-one")
	switch kind {
	case "main":
		return "main", func() {}
	case "own":
		owner = w.person(actor)
	}
	made, err := owner.Mutate(ctx, client.MutateBody{Query: `query m() { insert Person { name: "zoe" } }`, Branch: "draft/cell"})
	if err != nil {
		if kind != "own" {
			w.t.Fatal(err)
		}
		return "draft/cell", func() {} // the actor has no drafts
	}
	proposal := ""
	if kind == "proposed" {
		p, err := owner.OpenProposal(ctx, client.ProposalBody{Source: made.Branch, Title: "Add zoe"})
		if err != nil {
			w.t.Fatal(err)
		}
		proposal = p.ID
	}
	if branch = made.Branch; kind == "own" {
		branch = "draft/cell"
	}
	return branch, func() {
		if proposal != "" {
			if _, err := owner.CloseProposal(ctx, proposal, client.ProposalCloseBody{}); err != nil {
				w.t.Error(err)
			}
		}
		var status *client.Error
		if _, err := w.person("act-ada").DeleteBranch(ctx, made.Branch); err != nil && (!errors.As(err, &status) || status.DraftClosed == nil) {
			w.t.Error(err)
		}
	}
}

// TestDraftMerge merges a proposal from a draft. The approval of a former reviewer does not count, and the
// merge ends the draft.
func TestDraftMerge(t *testing.T) {
	config := openPeople(t, t.TempDir(), "")
	ctx := t.Context()
	w := startProposalWorld(t, config, strings.Replace(draftMatrixPolicy, "reviewers: [act-ada]", "reviewers: [act-ada, act-bo]", 1), servedtest.Catalog(t))
	made, err := w.person("act-one").Mutate(ctx, client.MutateBody{Query: aged("ada", 41)})
	if err != nil {
		t.Fatal(err)
	}
	p, err := w.person("act-one").OpenProposal(ctx, client.ProposalBody{Source: "draft", Title: "Ada is 41"})
	if err != nil {
		t.Fatal(err)
	}
	approve := client.ProposalReviewBody{Decision: client.DecisionApprove, Digest: p.Digest}
	if _, err := w.person("act-bo").ReviewProposal(ctx, p.ID, approve); err != nil {
		t.Fatal(err)
	}
	w.stop()

	w = startProposalWorld(t, config, draftMatrixPolicy, servedtest.Catalog(t))
	ada := w.person("act-ada")
	// In a cell, o means that the server did it, f that the policy forbids it, n that the proposal is not
	// found, and c that the rules of proposals refuse it. The cells are: read, approve, merge, and edit.
	for actor, cells := range map[string]string{"act-two": "nnnn", "act-root": "offo", "act-bo": "offf", "act-out": "nnnn", "act-one": "offo", "act-ada": "o?co"} {
		g := w.person(actor)
		for i, step := range []func() error{
			func() error { _, err := g.Proposal(ctx, p.ID); return err },
			func() error { _, err := g.ReviewProposal(ctx, p.ID, approve); return err },
			func() error { _, err := g.MergeProposal(ctx, p.ID, client.ProposalMergeBody{}); return err },
			func() error {
				_, err := g.ChangeProposal(ctx, p.ID, client.ProposalChangeBody{Title: new("x")})
				return err
			},
		} {
			if cells[i] == '?' {
				continue // later
			}
			err := step()
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
			if got != cells[i] {
				t.Errorf("step %d as %s: %c, want %c: %v", i, actor, got, cells[i], err)
			}
		}
	}
	for b, err := range ada.AllBranches(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		if b.Name == made.Branch && (b.Draft == nil || b.Draft.State != client.DraftIsProposed || b.Draft.ExpiresAt != 0) {
			t.Errorf("the draft under a proposal is listed as %+v", b.Draft)
		}
	}
	if _, err := ada.ReviewProposal(ctx, p.ID, approve); err != nil {
		t.Fatal(err)
	}
	merged, err := ada.MergeProposal(ctx, p.ID, client.ProposalMergeBody{})
	if err != nil || merged.State != "merged" {
		t.Fatalf("merge: %+v, %v", merged, err)
	}
	var status *client.Error
	if _, err := w.person("act-one").Mutate(ctx, client.MutateBody{Query: aged("ada", 42), Branch: made.Branch}); !errors.As(err, &status) || status.DraftClosed == nil || status.DraftClosed.MergeCommitID != *merged.MergeCommitID {
		t.Errorf("a write to the merged draft: %v", err)
	}
}

// TestLargeLoadOfDraft loads more bytes than a request may have that is not a load, as an actor that may
// write to its drafts alone and has none yet.
func TestLargeLoadOfDraft(t *testing.T) {
	w := newProposalWorldWith(t, draftMatrixPolicy, servedtest.Catalog(t))
	body := client.LoadBody{Data: onePerson + strings.Repeat("\n", 1<<20), Mode: "merge"}
	loaded, err := w.person("act-one").LoadText(t.Context(), body)
	if err != nil || !strings.HasPrefix(loaded.Branch, "draft/") {
		t.Errorf("a large load: %+v, %v", loaded, err)
	}
	if _, err := w.person("act-bo").LoadText(t.Context(), body); !errors.Is(err, client.ErrForbidden) {
		t.Errorf("a large load by an actor without the right: %v", err)
	}
}

// ownDraftPolicy confines act-one by a permission for its own drafts, and act-two by a prohibition on all
// other branches.
const ownDraftPolicy = `@id("reads")
permit (principal, action in [Action::"read", Action::"invoke_query"], resource)
when { [Actor::"act-one", Actor::"act-two"].contains(principal) };

@id("only-own-reads")
forbid (principal, action == Action::"read", resource)
unless { context.branch == "main" || context.own_draft };

@id("own")
permit (principal == Actor::"act-one", action in [Action::"change", Action::"branch_delete"], resource)
when { context.own_draft };

@id("all")
permit (principal == Actor::"act-two", action in [Action::"change", Action::"branch_delete"], resource);

@id("explains")
permit (principal == Actor::"act-ada", action == Action::"policy_read", resource);

@id("but-only-own")
forbid (principal, action in [Action::"change", Action::"branch_delete"], resource)
unless { context.own_draft };
`

// TestCedarOwnDraft serves a graph under a .cedar policy that reads context.own_draft.
func TestCedarOwnDraft(t *testing.T) {
	dir := t.TempDir()
	openPeople(t, dir, "")
	if err := os.WriteFile(filepath.Join(dir, "policy.cedar"), []byte(ownDraftPolicy), 0o644); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "cluster.yaml")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), "policy.yaml", "policy.cedar", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	config, err := cluster.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	w := startProposalWorld(t, config, ownDraftPolicy, servedtest.Catalog(t))
	ctx := t.Context()
	drafts := map[string]string{} // by owner
	for _, actor := range []string{"act-one", "act-two"} {
		g := w.person(actor)
		first, err := g.Mutate(ctx, client.MutateBody{Query: aged("ada", 50)})
		if err != nil || !strings.HasPrefix(first.Branch, "draft/") {
			t.Fatalf("a write of %s without a branch: %+v, %v", actor, first, err)
		}
		drafts[actor] = first.Branch
		for branch, want := range map[string]string{"draft": first.Branch, first.Branch: first.Branch, "main": "", "feature": "", unknownDraft: ""} {
			a, err := g.Invoke(ctx, "add_person", client.InvokeBody{Params: map[string]any{"name": fmt.Sprint("p", len(branch))}, Branch: branch})
			got := ""
			if err == nil {
				got = a.Mutation.Branch
			}
			if got != want || (want == "") != errors.Is(err, client.ErrForbidden) {
				t.Errorf("%s writes to %s: %q, want %q, %v", actor, branch, got, want, err)
			}
		}
		if said := w.agent(actor)(nil, "graph_mutate", map[string]any{"query": aged("ada", 51)}); said != "" {
			t.Errorf("a write of %s over MCP: %s", actor, said)
		}
		if said := w.agent(actor)(nil, "graph_mutate", map[string]any{"query": aged("ada", 51), "branch": "main"}); !strings.Contains(said, "does not allow change on branch main") {
			t.Errorf("a write of %s to main over MCP: %s", actor, said)
		}
	}
	// The explanation of the access agrees with the calls.
	for branch, want := range map[string]bool{"draft": true, "draft/x": true, drafts["act-one"]: true, drafts["act-two"]: false, unknownDraft: false, "main": false} {
		about, err := w.person("act-ada").Access(ctx, client.AccessQuery{Actor: "act-one", Branch: branch})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range about.Decisions {
			if d.Action == "change" && d.Via == "adhoc" && d.Allowed != want {
				t.Errorf("act-one may change %s: %t, want %t", branch, d.Allowed, want)
			}
		}
	}
	for actor, own := range drafts {
		g := w.person(actor)
		var listed []string
		for b, err := range g.AllBranches(ctx) {
			if err != nil {
				t.Fatal(err)
			}
			listed = append(listed, b.Name)
		}
		if len(listed) != 2 || listed[0] != own || listed[1] != "main" {
			t.Errorf("%s sees the branches %v, want %s and main", actor, listed, own)
		}
		for owner, branch := range drafts {
			if owner == actor {
				continue
			}
			for what, err := range map[string]error{
				"reads":   draftWays[0].rest(ctx, g, branch),
				"changes": draftWays[1].rest(ctx, g, branch),
				"deletes": draftWays[len(draftWays)-1].rest(ctx, g, branch),
			} {
				if !errors.Is(err, client.ErrForbidden) {
					t.Errorf("%s %s the draft of %s: %v", actor, what, owner, err)
				}
			}
		}
	}
	for actor, own := range drafts {
		if _, err := w.person(actor).DeleteBranch(ctx, own); err != nil {
			t.Errorf("%s deletes its draft: %v", actor, err)
		}
	}
}
