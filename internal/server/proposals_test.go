package server_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/server"
	"github.com/omnigraph-go/omnigraph/internal/server/auth"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// proposalPolicy allows two agents to write to branches other than main. Only reviewers may review
// and merge proposals. The branch main changes only by merging proposals.
const proposalPolicy = `version: 1
groups: { agents: [act-one, act-two], reviewers: [act-ada, act-bo] }
protected_branches:
  - { name: main, approvals: 1, from: { group: reviewers } }
rules:
  - id: all-read
    allow: { actors: any, actions: [read, invoke_query] }
  - id: agents-write
    allow: { actors: { group: agents }, actions: [change] }
  - id: agents-make-branches
    allow: { actors: { group: agents }, actions: [branch_create] }
  - id: reviewers-decide
    allow: { actors: { group: reviewers }, actions: [change, proposal_review, branch_merge, branch_delete, schema_apply] }
  - id: an-outsider-reviews
    allow: { actors: { ids: [act-out] }, actions: [proposal_review] }
  - id: root
    allow: { actors: { ids: [act-root] }, actions: [change, branch_merge, branch_delete, branch_create, protection_bypass] }
`

// draftPolicy is like proposalPolicy, but confines the agents to drafts.
var draftPolicy = strings.NewReplacer("actions: [change] }", "actions: [change], branch_scope: draft }",
	"actions: [branch_create] }", "actions: [branch_delete], target_branch_scope: draft }").Replace(proposalPolicy)

// proposalWorld is a server that serves the graph people under proposalPolicy.
type proposalWorld struct {
	t    *testing.T
	url  string // of the graph
	log  *lockedBuffer
	stop func() // stops the server and closes the graph; the end of the test calls it too
}

func newProposalWorld(t *testing.T) *proposalWorld {
	t.Helper()
	return newProposalWorldWith(t, proposalPolicy, servedtest.Catalog(t))
}

// newProposalWorldWith returns a world with another policy and other stored queries.
func newProposalWorldWith(t *testing.T, policy string, catalog *tool.Catalog) *proposalWorld {
	t.Helper()
	return startProposalWorld(t, openPeople(t, t.TempDir(), ""), policy, catalog)
}

// startProposalWorld serves the graph of a cluster under a policy.
func startProposalWorld(t *testing.T, config *cluster.Config, policy string, catalog *tool.Catalog) *proposalWorld {
	t.Helper()
	if err := os.WriteFile(config.Graph("people").Policy, []byte(policy), 0o644); err != nil {
		t.Fatal(err)
	}
	tokens := &auth.Tokens{}
	for _, a := range []string{"act-one", "act-two", "act-ada", "act-bo", "act-out", "act-root"} {
		if err := tokens.Add("the-token-of-"+a, a); err != nil {
			t.Fatal(err)
		}
	}
	addChains(t, tokens)
	w := &proposalWorld{t: t, log: &lockedBuffer{}}
	s, err := server.Open(t.Context(), server.Options{
		Cluster: config, Catalogs: []*tool.Catalog{catalog}, Bind: "127.0.0.1:0", Tokens: tokens, Version: "test", Now: testClock,
		Log: slog.New(slog.NewTextHandler(w.log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	ts := httptest.NewServer(s.Handler())
	w.stop = sync.OnceFunc(func() {
		ts.Close()
		http.DefaultClient.CloseIdleConnections()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(w.stop)
	w.url = ts.URL
	return w
}

// agent connects the official MCP client as an actor, and returns a function that calls a tool.
// That function decodes the answer of the tool into `into`. If the tool fails, the function returns
// the error as text.
func (w *proposalWorld) agent(actor string) func(into any, name string, args map[string]any) string {
	w.t.Helper()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "0"}, nil).Connect(w.t.Context(), &mcp.StreamableClientTransport{
		Endpoint: w.url + "/graphs/people/mcp", HTTPClient: &http.Client{Transport: bearer("the-token-of-" + actor)}, DisableStandaloneSSE: true,
	}, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { session.Close() })
	return func(into any, name string, args map[string]any) string {
		w.t.Helper()
		res, err := session.CallTool(w.t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
		if err != nil {
			return err.Error()
		}
		if res.IsError {
			return res.Content[0].(*mcp.TextContent).Text
		}
		b, err := json.Marshal(res.StructuredContent)
		if err == nil && into != nil {
			err = json.Unmarshal(named(w.t, b), into)
		}
		if err != nil {
			w.t.Fatal(err)
		}
		return ""
	}
}

// person returns a REST client for an actor.
func (w *proposalWorld) person(actor string) *client.Graph {
	w.t.Helper()
	c, err := client.New(w.url, client.WithToken("the-token-of-"+actor))
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(c.Close)
	return c.Graph("people")
}

// aged returns a mutation that sets the age of a person.
func aged(name string, age int) string {
	return fmt.Sprintf("query m() { update Person set { age: %d } where name = %q }", age, name)
}

// TestConflictingDrafts changes the same property in the drafts of two agents. The proposal of the first is merged.
// The second then has a conflict, and approvals of it end with each new resolution. The person asks for changes, the
// agent resolves the conflict again, and the proposal is merged.
func TestConflictingDrafts(t *testing.T) {
	w := newProposalWorldWith(t, draftPolicy, servedtest.Catalog(t))
	ctx := t.Context()
	one, two, ada := w.agent("act-one"), w.agent("act-two"), w.person("act-ada")
	var first, second client.ProposalAnswer
	ok := func(refusal string) {
		t.Helper()
		if refusal != "" {
			t.Fatal(refusal)
		}
	}
	if said := one(nil, "graph_mutate", map[string]any{"query": aged("ada", 40), "branch": "main"}); !strings.Contains(said, "does not allow change on branch main") {
		t.Errorf("a write to main says %q", said)
	}
	var drafts [2]client.WriteTarget
	for i, agent := range []func(any, string, map[string]any) string{one, two} {
		var wrote struct{ Target client.WriteTarget }
		ok(agent(&wrote, "graph_mutate", map[string]any{"query": aged("ada", 41+i)}))
		drafts[i] = wrote.Target
		var read struct{ Notes []string }
		ok(agent(&read, "graph_query", map[string]any{"query": `query q() { match { $p: Person { name: "ada" } } return { $p.age as age } }`}))
		if len(read.Notes) != 1 || !strings.Contains(read.Notes[0], `"branch": "draft"`) {
			t.Errorf("a read of main beside a draft has the notes %q", read.Notes)
		}
	}
	if drafts[0].Branch == drafts[1].Branch || !strings.HasPrefix(drafts[0].Branch, "draft/") || drafts[0].MainAhead != 0 || drafts[0].ExpiresAt == 0 {
		t.Errorf("the drafts are %+v", drafts)
	}
	ok(one(&first, "proposal_submit", map[string]any{"source": drafts[0].Branch, "title": "Ada is 41"}))
	ok(two(&second, "proposal_submit", map[string]any{"source": "draft", "title": "Ada is 42"}))
	if second.Source != drafts[1].Branch {
		t.Errorf("the second proposal is from %s, want %s", second.Source, drafts[1].Branch)
	}
	approve := func(p *client.ProposalAnswer) (*client.ProposalAnswer, error) {
		return ada.ReviewProposal(ctx, p.ID, client.ProposalReviewBody{Decision: client.DecisionApprove, Digest: p.Digest})
	}
	if _, err := ada.MergeProposal(ctx, first.ID, client.ProposalMergeBody{}); err == nil || !strings.Contains(err.Error(), "branch main needs 1 approval from group reviewers") {
		t.Errorf("a merge without an approval: %v", err)
	}
	if _, err := approve(&first); err != nil {
		t.Fatal(err)
	}
	merged, err := ada.MergeProposal(ctx, first.ID, client.ProposalMergeBody{})
	if err != nil || merged.State != "merged" || merged.MergeCommitID == nil {
		t.Fatalf("merge: %+v, %v", merged, err)
	}
	again, err := ada.MergeProposal(ctx, first.ID, client.ProposalMergeBody{})
	if err != nil || *again.MergeCommitID != *merged.MergeCommitID {
		t.Errorf("a repeated merge: %+v, %v", again, err)
	}

	if said := one(nil, "graph_query", map[string]any{"query": `query q() { match { $p: Person { name: "ada" } } return { $p.age as age } }`, "branch": drafts[0].Branch}); !strings.Contains(said, "was merged with commit "+*merged.MergeCommitID+" by act-ada") {
		t.Errorf("a read of the merged draft says %q", said)
	}

	// The second agent sees the conflict, and the person asks that agent for changes.
	var got struct{ Proposal client.ProposalAnswer }
	ok(two(&got, "proposal_get", map[string]any{"proposal": second.ID}))
	if n := len(got.Proposal.Conflicts); n != 1 {
		t.Fatalf("%d conflicts: %+v", n, got.Proposal)
	}
	c := got.Proposal.Conflicts[0]
	if base, ours, theirs := string(c.Base.Properties["age"]), string(c.Ours.Properties["age"]), string(c.Theirs.Properties["age"]); base != "36" || ours != "41" || theirs != "42" || !c.Resolvable {
		t.Errorf("the conflict has base %s, ours %s, theirs %s: %+v", base, ours, theirs, c)
	}
	if _, err := approve(&got.Proposal); err != nil {
		t.Fatal(err)
	}
	for property, want := range map[string]string{"agee": "which type Person does not have; did you mean age?", "zzz": "which type Person does not have"} {
		if said := two(nil, "proposal_resolve", map[string]any{"proposal": second.ID, "resolutions": []any{map[string]any{
			"entity_kind": c.EntityKind, "type_name": c.TypeName, "id": c.ID, "property": property, "take": "ours"}}}); !strings.Contains(said, want) {
			t.Errorf("a resolution of the property %s says %q", property, said)
		}
	}
	ok(two(&second, "proposal_resolve", map[string]any{"proposal": second.ID, "resolutions": []any{map[string]any{
		"entity_kind": c.EntityKind, "type_name": c.TypeName, "id": c.ID, "property": c.Property, "take": "value", "value": "43"}}}))
	if second.ConflictCount > 0 || len(second.ApprovedBy) > 0 || second.Digest == got.Proposal.Digest {
		t.Errorf("the resolution left conflicts, approvals or the digest: %+v", second)
	}
	sent, err := ada.ReviewProposal(ctx, second.ID, client.ProposalReviewBody{Decision: client.DecisionRequest, Digest: second.Digest, Comment: "Ada is 44."})
	if err != nil || len(sent.Blockers) != 2 {
		t.Fatalf("sent back: %+v, %v", sent, err)
	}
	ok(two(&got, "proposal_get", map[string]any{"proposal": second.ID}))
	if last := got.Proposal.Events[len(got.Proposal.Events)-1]; last.Comment != "Ada is 44." || last.Kind != "changes_requested" {
		t.Errorf("the last event is %+v", last)
	}
	// A resolution for a digest that another resolution has changed is refused, and stores nothing.
	stale := map[string]any{"proposal": second.ID, "digest": got.Proposal.Digest + "0", "resolutions": []any{map[string]any{
		"entity_kind": c.EntityKind, "type_name": c.TypeName, "id": c.ID, "property": c.Property, "take": "ours"}}}
	if fault := two(&second, "proposal_resolve", stale); !strings.Contains(fault, "now have the digest "+got.Proposal.Digest) {
		t.Errorf("a resolution of another digest: %s", fault)
	}
	seen := got.Proposal.Digest
	ok(two(&got, "proposal_get", map[string]any{"proposal": second.ID}))
	if got.Proposal.Digest != seen {
		t.Errorf("the refused resolution changed the digest from %s to %s", seen, got.Proposal.Digest)
	}
	ok(two(&second, "proposal_resolve", map[string]any{"proposal": second.ID, "comment": "mended", "digest": seen, "resolutions": []any{map[string]any{
		"entity_kind": c.EntityKind, "type_name": c.TypeName, "id": c.ID, "property": c.Property, "take": "value", "value": "44"}}}))
	if _, err := ada.ReviewProposal(ctx, second.ID, client.ProposalReviewBody{Decision: client.DecisionApprove, Digest: sent.Digest}); err == nil {
		t.Error("an approval of an earlier digest is accepted")
	}
	if _, err := approve(&second); err != nil {
		t.Fatal(err)
	}
	if merged, err = ada.MergeProposal(ctx, second.ID, client.ProposalMergeBody{}); err != nil || merged.State != "merged" {
		t.Fatalf("merge: %+v, %v", merged, err)
	}
	rows, err := ada.Query(ctx, client.QueryBody{Query: `query q() { match { $p: Person { name: "ada" } } return { $p.age as age } }`})
	if err != nil || len(rows.Rows) != 1 || string(rows.Rows[0]) != `{"age":44}` {
		t.Errorf("ada has %s, %v", rows.Rows, err)
	}
}

// TestProtectedBranch tries every forbidden way to change a protected branch, and approvals that
// must not count.
func TestProtectedBranch(t *testing.T) {
	w := newProposalWorld(t)
	ctx := t.Context()
	ada, bo, out, root := w.person("act-ada"), w.person("act-bo"), w.person("act-out"), w.person("act-root")
	agent := w.agent("act-one")
	for _, args := range []map[string]any{{"name": "try"}, {"name": "other"}} {
		if said := agent(nil, "branch_create", args); said != "" {
			t.Fatal(said)
		}
	}
	if said := agent(nil, "graph_mutate", map[string]any{"query": aged("ada", 50), "branch": "try"}); said != "" {
		t.Fatal(said)
	}
	for name, refused := range map[string]func() error{
		"mutate": func() error { _, err := ada.Mutate(ctx, client.MutateBody{Query: aged("ada", 1)}); return err },
		"load": func() error {
			_, err := ada.LoadText(ctx, client.LoadBody{Data: `{"type":"Person","data":{"name":"eve"}}`})
			return err
		},
		"stored": func() error {
			_, err := ada.Invoke(ctx, "add_person", client.InvokeBody{Params: map[string]any{"name": "eve"}})
			return err
		},
		"merge": func() error { _, err := ada.MergeBranches(ctx, client.MergeBody{Source: "try"}); return err },
		"dry run": func() error {
			_, err := ada.MergeBranches(ctx, client.MergeBody{Source: "try", DryRun: true})
			return err
		},
		"schema": func() error {
			_, err := ada.ApplySchema(ctx, client.SchemaBody{SchemaSource: servedtest.Source})
			return err
		},
	} {
		if err := refused(); err == nil || !strings.Contains(err.Error(), "branch main is protected and changes only by merging proposals") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if said := agent(nil, "graph_load", map[string]any{"data": `{"type":"Person","data":{"name":"eve"}}`, "mode": "merge"}); !strings.Contains(said, "branch main is protected") {
		t.Errorf("graph_load: %q", said)
	}
	p, err := ada.OpenProposal(ctx, client.ProposalBody{Source: "try", Title: "Ada is 50"})
	if err != nil {
		t.Fatal(err)
	}
	decide := func(g *client.Graph, decision string) error {
		now, err := g.Proposal(ctx, p.ID)
		if err == nil {
			_, err = g.ReviewProposal(ctx, p.ID, client.ProposalReviewBody{Decision: decision, Digest: now.Digest})
		}
		return err
	}
	if err := decide(ada, client.DecisionApprove); err == nil || !strings.Contains(err.Error(), "act-ada opened proposal") {
		t.Errorf("an approval by the author: %v", err)
	}
	if err := decide(w.person("act-one"), client.DecisionApprove); err == nil || !strings.Contains(err.Error(), "does not allow proposal_review") {
		t.Errorf("an approval by an agent: %v", err)
	}
	if err := decide(out, client.DecisionApprove); err != nil {
		t.Error(err)
	}
	const missing = "branch main needs 1 approval from group reviewers"
	if _, err := ada.MergeProposal(ctx, p.ID, client.ProposalMergeBody{}); err == nil || !strings.Contains(err.Error(), missing) {
		t.Errorf("a merge with an approval from outside of the group: %v", err)
	}
	if err := decide(bo, client.DecisionApprove); err != nil {
		t.Fatal(err)
	}
	// After another write, the approval no longer counts, even if the reviewer made the write. This
	// reviewer then cannot approve the proposal any more.
	if _, err := bo.Mutate(ctx, client.MutateBody{Query: aged("bob", 51), Branch: "try"}); err != nil {
		t.Fatal(err)
	}
	if _, err := ada.MergeProposal(ctx, p.ID, client.ProposalMergeBody{}); err == nil || !strings.Contains(err.Error(), missing) {
		t.Errorf("a merge after another write: %v", err)
	}
	if err := decide(bo, client.DecisionApprove); err == nil || !strings.Contains(err.Error(), "act-bo committed to branch try") {
		t.Errorf("an approval by an actor who committed: %v", err)
	}
	// An actor with protection_bypass changes the branch directly, and the log must show that.
	if _, err := root.Mutate(ctx, client.MutateBody{Query: aged("ada", 60)}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(w.log.Bytes()), "bypassed_protection=main") {
		t.Error("the log does not tell of the bypass")
	}
}

// TestProposalFromProtectedBranch proposes the changes of a protected branch for another branch. The
// proposal changes no branch, so the protection does not forbid it, and no bypass is logged.
func TestProposalFromProtectedBranch(t *testing.T) {
	w := newProposalWorld(t)
	ctx := t.Context()
	if said := w.agent("act-one")(nil, "branch_create", map[string]any{"name": "stable"}); said != "" {
		t.Fatal(said)
	}
	for _, actor := range []string{"act-ada", "act-root"} {
		g := w.person(actor)
		p, err := g.OpenProposal(ctx, client.ProposalBody{Source: "main", Target: "stable", Title: "Release"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := g.ChangeProposal(ctx, p.ID, client.ProposalChangeBody{Title: new("Release 2")}); err != nil {
			t.Error(err)
		}
		if _, err := g.CloseProposal(ctx, p.ID, client.ProposalCloseBody{}); err != nil {
			t.Error(err)
		}
	}
	if log := string(w.log.Bytes()); strings.Contains(log, "bypassed_protection") {
		t.Errorf("the log has a bypass:\n%s", log)
	}
	if _, err := w.person("act-out").OpenProposal(ctx, client.ProposalBody{Source: "main", Target: "stable", Title: "Release"}); err == nil {
		t.Error("an actor without change opens a proposal")
	}
}

// TestApproverCommits checks which commits keep an actor from approving: those that the proposal would
// merge, also from a branch that the source was made from, but none before the merge base.
func TestApproverCommits(t *testing.T) {
	w := newProposalWorld(t)
	ctx := t.Context()
	agent, ada, bo := w.agent("act-one"), w.person("act-ada"), w.person("act-bo")
	fork := func(name, from string) {
		t.Helper()
		if said := agent(nil, "branch_create", map[string]any{"name": name, "from": from}); said != "" {
			t.Fatal(said)
		}
	}
	write := func(g *client.Graph, branch string, age int) {
		t.Helper()
		if _, err := g.Mutate(ctx, client.MutateBody{Query: aged("ada", age), Branch: branch}); err != nil {
			t.Fatal(err)
		}
	}
	// review opens a proposal, lets a reviewer approve it, and merges it if that succeeds.
	review := func(source string, by *client.Graph) error {
		t.Helper()
		p, err := w.person("act-two").OpenProposal(ctx, client.ProposalBody{Source: source, Title: "Ada is older"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := by.ReviewProposal(ctx, p.ID, client.ProposalReviewBody{Decision: client.DecisionApprove, Digest: p.Digest}); err != nil {
			return err
		}
		_, err = ada.MergeProposal(ctx, p.ID, client.ProposalMergeBody{})
		return err
	}
	fork("staging", "main")
	write(bo, "staging", 41)
	fork("copy", "staging")
	if err := review("copy", bo); err == nil || !strings.Contains(err.Error(), "act-bo committed to branch staging") {
		t.Errorf("an approval of one's own commit on another branch: %v", err)
	}
	if err := review("staging", ada); err != nil {
		t.Fatal(err)
	}
	write(ada, "staging", 42)
	if err := review("staging", bo); err != nil {
		t.Errorf("an approval by an actor whose commit is merged already: %v", err)
	}
	// A merge of main into staging makes the head of main the merge base.
	if _, err := ada.MergeBranches(ctx, client.MergeBody{Source: "main", Target: "staging"}); err != nil {
		t.Fatal(err)
	}
	write(w.person("act-one"), "staging", 43)
	if err := review("staging", bo); err != nil {
		t.Errorf("an approval after main was merged into staging: %v", err)
	}
}

// TestApprovalOfLaterContributor checks that an approval no longer counts once its actor has committed to the source,
// even if the commits leave the digest as it was.
func TestApprovalOfLaterContributor(t *testing.T) {
	w := newProposalWorldWith(t, proposalPolicy, servedtest.Catalog(t))
	ctx := t.Context()
	if said := w.agent("act-one")(nil, "branch_create", map[string]any{"name": "try"}); said != "" {
		t.Fatal(said)
	}
	one, bo := w.person("act-one"), w.person("act-bo")
	write := func(g *client.Graph, age int) {
		t.Helper()
		if _, err := g.Mutate(ctx, client.MutateBody{Query: aged("ada", age), Branch: "try"}); err != nil {
			t.Fatal(err)
		}
	}
	write(one, 40)
	p, err := one.OpenProposal(ctx, client.ProposalBody{Source: "try", Title: "Ada is 40"})
	if err != nil {
		t.Fatal(err)
	}
	approved, err := bo.ReviewProposal(ctx, p.ID, client.ProposalReviewBody{Decision: client.DecisionApprove, Digest: p.Digest})
	if err != nil || len(approved.ApprovedBy) != 1 || len(approved.Blockers) != 0 {
		t.Fatalf("the approval: %+v, %v", approved, err)
	}
	// The commits of another actor leave the approval as it is, if they restore the digest.
	write(one, 41)
	write(one, 40)
	if now, err := one.Proposal(ctx, p.ID); err != nil || now.Digest != p.Digest || len(now.ApprovedBy) != 1 {
		t.Errorf("after commits of the author: %+v, %v", now, err)
	}
	write(bo, 41)
	write(bo, 40)
	now, err := one.Proposal(ctx, p.ID)
	if err != nil || now.Digest != p.Digest {
		t.Fatalf("digest %s, want %s, %v", now.Digest, p.Digest, err)
	}
	if len(now.ApprovedBy) != 0 || len(now.Blockers) != 1 {
		t.Errorf("after commits of the approver: approved by %v, blockers %v", now.ApprovedBy, now.Blockers)
	}
	if _, err := w.person("act-ada").MergeProposal(ctx, p.ID, client.ProposalMergeBody{}); err == nil || !strings.Contains(err.Error(), "needs 1 approval") {
		t.Errorf("merge: %v", err)
	}
}

// TestProposalFilters lists proposals over MCP and REST by state, author, reviewer and target, and by several of them.
func TestProposalFilters(t *testing.T) {
	w := newProposalWorld(t)
	ctx := t.Context()
	people := map[string]*client.Graph{"act-one": w.person("act-one"), "act-two": w.person("act-two"), "act-ada": w.person("act-ada"), "act-bo": w.person("act-bo")}
	ids := map[string]string{}
	for _, p := range []struct{ name, author, target, reviewer, state string }{
		{"a", "act-one", "main", "act-ada", "open"}, {"b", "act-one", "release", "act-bo", "closed"}, {"c", "act-two", "main", "", "open"}, {"d", "act-two", "release", "act-ada", "open"},
	} {
		author := people[p.author]
		if _, err := author.CreateBranch(ctx, client.BranchBody{Name: p.name}); err != nil {
			t.Fatal(err)
		}
		if _, err := author.Mutate(ctx, client.MutateBody{Query: aged("ada", 50), Branch: p.name}); err != nil {
			t.Fatal(err)
		}
		opened, err := author.OpenProposal(ctx, client.ProposalBody{Source: p.name, Target: p.target, Title: p.name})
		if err != nil {
			t.Fatal(err)
		}
		ids[opened.ID] = p.name
		if p.reviewer != "" {
			if _, err := people[p.reviewer].ReviewProposal(ctx, opened.ID, client.ProposalReviewBody{Decision: client.DecisionApprove, Digest: opened.Digest}); err != nil {
				t.Fatal(err)
			}
		}
		if p.state == "closed" {
			if _, err := author.CloseProposal(ctx, opened.ID, client.ProposalCloseBody{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	agent := w.agent("act-one")
	for _, tt := range []struct {
		q    client.ProposalQuery
		want string // the titles, newest first
	}{
		{client.ProposalQuery{}, "dcba"},
		{client.ProposalQuery{State: "open"}, "dca"},
		{client.ProposalQuery{Author: "act-one"}, "ba"},
		{client.ProposalQuery{Reviewer: "act-ada"}, "da"},
		{client.ProposalQuery{Target: "release"}, "db"},
		{client.ProposalQuery{Target: "release", Reviewer: "act-bo"}, "b"},
		{client.ProposalQuery{Target: "main", Reviewer: "act-ada", State: "open", Author: "act-one"}, "a"},
		{client.ProposalQuery{Reviewer: "act-two"}, ""},
	} {
		args := map[string]any{}
		for name, value := range map[string]string{"state": tt.q.State, "author": tt.q.Author, "reviewer": tt.q.Reviewer, "target": tt.q.Target} {
			if value != "" {
				args[name] = value
			}
		}
		var over struct{ Proposals []client.ProposalSummary }
		if said := agent(&over, "proposal_get", args); said != "" {
			t.Fatal(said)
		}
		list, err := people["act-one"].Proposals(ctx, tt.q)
		if err != nil {
			t.Fatal(err)
		}
		for door, found := range map[string][]client.ProposalSummary{"MCP": over.Proposals, "REST": list.Proposals} {
			got := ""
			for _, p := range found {
				got += ids[p.ID]
			}
			if got != tt.want {
				t.Errorf("%v over %s: found %q, want %q", args, door, got, tt.want)
			}
		}
	}
	for id := range ids {
		if said := agent(nil, "proposal_get", map[string]any{"proposal": id, "reviewer": "act-ada"}); !strings.Contains(said, "reviewer: found together with proposal") {
			t.Errorf("a filter with one proposal says %q", said)
		}
		break
	}
}
