package server_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/server/auth"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
)

// chains are the agents with a token in the proposal world, each with those for whom it acts, the nearest first.
var chains = [][]string{{"bot"}, {"bot", "act-ada"}, {"bot", "act-bo"}, {"aide", "act-ada"}, {"aide", "act-bo"}, {"eve", "act-ada"}, {"bot", "eve", "act-ada"}}

// addChains adds the tokens of the agents. The token of bot for act-ada is the-token-of-act-ada-via-bot.
func addChains(t *testing.T, tokens *auth.Tokens) {
	t.Helper()
	var text strings.Builder
	for _, chain := range chains {
		last := len(chain) - 1
		actor, name := chain[last], chain[last]
		for _, agent := range slices.Backward(chain[:last]) {
			actor = "{ actor: " + agent + ", on_behalf_of: " + actor + " }"
		}
		for _, agent := range chain[:last] {
			name += "-via-" + agent
		}
		fmt.Fprintf(&text, "%x: %s\n", sha256.Sum256([]byte("the-token-of-"+name)), actor)
	}
	fmt.Fprintf(&text, "%x: { actor: act-bo, groups: [ada, zoe] }\n", sha256.Sum256([]byte("the-token-of-act-bo-with-groups")))
	file := filepath.Join(t.TempDir(), "tokens.yaml")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := tokens.ReadFile(file); err != nil {
		t.Fatal(err)
	}
}

// chainPolicy lets two people do everything. Two agents may do all but merge for them, and nothing for themselves.
const chainPolicy = `version: 1
groups: { people: [act-ada, act-bo, act-one], bots: [bot, aide] }
protected_branches:
  - { name: main, approvals: 1, from: { group: people } }
rules:
  - id: people-work
    allow: { actors: { group: people }, actions: [read, change, branch_create, proposal_review, branch_merge, policy_read] }
  - id: bots-help
    allow: { actors: { group: bots }, actions: [read, change, branch_create, proposal_review, branch_merge], as: agent }
  - id: bots-may-not-merge
    deny: { actors: { group: people }, actions: [branch_merge], through: { group: bots } }
`

// newChainWorld serves the graph people under chainPolicy.
func newChainWorld(t *testing.T) *proposalWorld {
	return newProposalWorldWith(t, chainPolicy, servedtest.Catalog(t))
}

// denied reports whether an error is the refusal of the policy.
func denied(err error) bool {
	var e *client.Error
	return errors.As(err, &e) && e.Status == 403
}

// TestOnBehalfOf calls a server as two people, as an agent for each of them, and as the agent itself.
func TestOnBehalfOf(t *testing.T) {
	w := newChainWorld(t)
	ctx := t.Context()
	const read = `query q() { match { $p: Person } return { $p.name } order { $p.name asc } limit 1 }`
	for actor, want := range map[string]bool{
		"act-ada": true, "bot": false, "act-ada-via-bot": true, "act-ada-via-eve": false, "act-ada-via-bot-via-eve": true, // only the current agent is asked about
	} {
		if _, err := w.person(actor).Query(ctx, client.QueryBody{Query: read}); (err == nil) != want || err != nil && !denied(err) {
			t.Errorf("%s reads: %v", actor, err)
		}
	}
	c, err := client.New(w.url, client.WithToken("the-token-of-act-ada-via-bot-via-eve"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if me, err := c.Actor(ctx); err != nil || me.ActorID != "act-ada" || strings.Join(me.Agents, " ") != "bot eve" {
		t.Errorf("the caller is %+v, %v", me, err)
	}
	ada, bot, boBot := w.person("act-ada"), w.person("act-ada-via-bot"), w.person("act-bo-via-bot")
	if _, err := bot.CreateBranch(ctx, client.BranchBody{Name: "work"}); err != nil {
		t.Fatal(err)
	}

	// Each of them has idempotency keys of its own.
	made := map[string]bool{}
	for _, g := range []*client.Graph{bot, ada, boBot, bot, ada} {
		a, err := g.Mutate(ctx, client.MutateBody{Query: aged("ada", 40+len(made)), Branch: "work"}, client.IdempotencyKey("once"))
		if err != nil && len(made) == 3 && strings.Contains(err.Error(), "idempotency") {
			continue // the same key with another text
		}
		if err != nil {
			t.Fatal(err)
		}
		made[a.Commit.GraphCommitID] = true
	}
	if len(made) != 3 {
		t.Errorf("%d commits, want 3", len(made))
	}
	var authors []string
	for c, err := range ada.AllCommits(ctx, client.CommitQuery{Branch: "work"}) {
		if err != nil {
			t.Fatal(err)
		}
		if c.GraphBranch == "work" {
			authors = append(authors, *c.ActorID+" "+strings.Join(c.Agents, " "))
		}
	}
	if got := strings.Join(authors, ", "); got != "act-bo bot, act-ada , act-ada bot" {
		t.Errorf("the authors are %s", got)
	}
	var over struct {
		Commits []struct {
			ActorID string `json:"actor_id"`
			Agents  []string
		}
	}
	if said := w.agent("act-ada")(&over, "commit_list", map[string]any{"branch": "work", "limit": 1}); said != "" || over.Commits[0].ActorID != "act-bo" || strings.Join(over.Commits[0].Agents, " ") != "bot" {
		t.Errorf("over MCP: %+v %s", over, said)
	}

	for made := range made {
		if a, err := ada.Changes(ctx, made, client.ChangeQuery{}); err != nil || *a.Cause.ActorID == "act-bo" && strings.Join(a.Cause.Agents, " ") != "bot" {
			t.Errorf("the cause of the changes: %+v, %v", a, err)
		}
	}

	// A page token belongs to one of them.
	page, err := ada.Branches(ctx, client.BranchQuery{Limit: 1})
	if err != nil || page.NextPageToken == "" {
		t.Fatalf("%+v, %v", page, err)
	}
	for actor, want := range map[string]bool{"act-ada": true, "act-ada-via-bot": false, "act-ada-via-aide": false} {
		if _, err := w.person(actor).Branches(ctx, client.BranchQuery{Limit: 1, PageToken: page.NextPageToken}); (err == nil) != want || err != nil && !strings.Contains(err.Error(), "another actor") {
			t.Errorf("%s continues the list: %v", actor, err)
		}
	}

	// An upload belongs to one of them.
	id, err := bot.OpenUpload(ctx, "work", 10)
	if err != nil {
		t.Fatal(err)
	}
	for actor, want := range map[string]bool{"act-ada": false, "act-bo-via-bot": false, "act-ada-via-bot": true} {
		if _, err := w.person(actor).Upload(ctx, id); (err == nil) != want {
			t.Errorf("%s sees the upload: %v", actor, err)
		}
	}

	// A draft belongs to one of them.
	wrote, err := bot.Mutate(ctx, client.MutateBody{Query: aged("ada", 50), Branch: "draft"})
	if err != nil {
		t.Fatal(err)
	}
	other, err := ada.Mutate(ctx, client.MutateBody{Query: aged("ada", 51), Branch: "draft"})
	if err != nil || other.Target.Branch == wrote.Target.Branch {
		t.Errorf("act-ada writes to %+v, %v", other, err)
	}
	owners := map[string]string{}
	for b, err := range ada.AllBranches(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		if b.Draft != nil {
			owners[b.Name] = b.Draft.Owner + " " + strings.Join(b.Draft.Agents, " ")
		}
	}
	if owners[wrote.Target.Branch] != "act-ada bot" || owners[other.Target.Branch] != "act-ada " {
		t.Errorf("the drafts are of %v", owners)
	}

	// The explanation says who is refused.
	e, err := ada.Access(ctx, client.AccessQuery{Actor: "act-ada via eve"})
	if err != nil || e.Actor != "act-ada via eve" || !slices.ContainsFunc(e.Decisions, func(d client.AccessDecision) bool {
		return d.Action == "read" && !d.Allowed && d.Reason == "eve as an agent is not allowed to do it"
	}) {
		t.Errorf("the explanation: %+v, %v", e, err)
	}
	if log := string(w.log.Bytes()); !strings.Contains(log, "tool=mutate actor=act-ada agents=bot branch=work commit=") || !strings.Contains(log, `actor=act-ada agents=eve`) {
		t.Errorf("the log does not name the agents:\n%s", log)
	}
}

// TestDraftsOfAgents confines an actor and its agents to drafts. Each of them may write to its own drafts alone.
func TestDraftsOfAgents(t *testing.T) {
	w := newProposalWorldWith(t, `version: 1
groups: { people: [act-ada, act-bo], bots: [bot, aide] }
rules:
  - id: all-read
    allow: { actors: any, actions: [read] }
  - id: people-draft
    allow: { actors: { group: people }, actions: [change], branch_scope: draft }
  - id: bots-draft
    allow: { actors: { group: bots }, actions: [change], branch_scope: draft, as: agent }
`, servedtest.Catalog(t))
	ctx := t.Context()
	actors := []string{"act-ada", "act-ada-via-bot", "act-ada-via-aide", "act-bo-via-bot"}
	own := map[string]string{}
	for i, actor := range actors {
		a, err := w.person(actor).Mutate(ctx, client.MutateBody{Query: aged("ada", 40+i)}) // without a branch, to the draft
		if err != nil {
			t.Fatal(err)
		}
		own[actor] = a.Target.Branch
	}
	for _, actor := range append(actors, "bot") {
		for owner, branch := range own {
			_, err := w.person(actor).Mutate(ctx, client.MutateBody{Query: aged("ada", 50), Branch: branch})
			if (err == nil) != (actor == owner) || err != nil && !denied(err) {
				t.Errorf("%s writes to the draft of %s: %v", actor, owner, err)
			}
		}
	}
}

// TestApprovalsOfAgents lets an author write and open a proposal, and a reviewer approve it. Nobody who took part in the one, as the
// actor or as an agent, may take part in the other.
func TestApprovalsOfAgents(t *testing.T) {
	w := newChainWorld(t)
	ctx := t.Context()
	n := 0
	for _, tt := range []struct {
		author, reviewer string
		want             string // what the refusal says; "" if the approval counts
	}{
		{"act-ada", "act-bo", ""},
		{"act-ada", "act-ada", "act-ada opened"},
		{"act-ada", "act-ada-via-bot", "act-ada opened"},
		{"act-ada-via-bot", "act-ada", "act-ada opened"},
		{"act-ada-via-bot", "act-ada-via-bot", "act-ada opened"},
		{"act-ada-via-bot", "act-ada-via-aide", "act-ada opened"},
		{"act-ada-via-bot", "act-bo-via-bot", "bot opened"},
		{"act-ada-via-bot", "act-bo-via-aide", ""},
		{"act-ada-via-bot", "act-bo", ""},
		{"act-bo", "act-ada-via-bot", ""},
	} {
		author, reviewer := w.person(tt.author), w.person(tt.reviewer)
		// Once the author opens the proposal, and once another actor opens it.
		for _, opener := range []string{tt.author, "act-one"} {
			n++
			branch := fmt.Sprintf("work-%d", n)
			if _, err := author.CreateBranch(ctx, client.BranchBody{Name: branch}); err != nil {
				t.Fatal(err)
			}
			if _, err := author.Mutate(ctx, client.MutateBody{Query: aged("ada", 60+n), Branch: branch}); err != nil {
				t.Fatal(err)
			}
			p, err := w.person(opener).OpenProposal(ctx, client.ProposalBody{Source: branch, Title: "Ada is older"})
			if err != nil {
				t.Fatal(err)
			}
			if by := strings.Join(append([]string{*p.ActorID}, p.Agents...), "-via-"); by != opener {
				t.Errorf("%s opened the proposal, and the answer says %s", opener, by)
			}
			after, err := reviewer.ReviewProposal(ctx, p.ID, client.ProposalReviewBody{Decision: client.DecisionApprove, Digest: p.Digest})
			want := tt.want
			if opener != tt.author {
				want = strings.Replace(want, "opened", "committed to branch", 1)
			}
			switch {
			case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
				t.Errorf("%s approves what %s wrote and %s opened: %v, want %q", tt.reviewer, tt.author, opener, err, want)
			case want == "" && err != nil:
				t.Errorf("%s approves what %s wrote: %v", tt.reviewer, tt.author, err)
			case want == "" && (len(after.ApprovedBy) != 1 || after.ApprovedBy[0] != strings.Split(tt.reviewer, "-via-")[0] || len(after.Blockers) > 0):
				t.Errorf("%s approves what %s wrote: approved by %v, %v", tt.reviewer, tt.author, after.ApprovedBy, after.Blockers)
			}
		}
	}
}

// TestApprovalsPerSubject approves a proposal as an actor and through an agent of it. The two count as one approval, and the last decision
// of the actor counts.
func TestApprovalsPerSubject(t *testing.T) {
	w := newProposalWorldWith(t, strings.Replace(chainPolicy, "approvals: 1", "approvals: 2", 1), servedtest.Catalog(t))
	ctx := t.Context()
	author := w.person("act-one")
	if _, err := author.CreateBranch(ctx, client.BranchBody{Name: "work"}); err != nil {
		t.Fatal(err)
	}
	if _, err := author.Mutate(ctx, client.MutateBody{Query: aged("ada", 70), Branch: "work"}); err != nil {
		t.Fatal(err)
	}
	p, err := author.OpenProposal(ctx, client.ProposalBody{Source: "work", Title: "Ada is 70"})
	if err != nil {
		t.Fatal(err)
	}
	review := func(actor, decision string) *client.ProposalAnswer {
		t.Helper()
		a, err := w.person(actor).ReviewProposal(ctx, p.ID, client.ProposalReviewBody{Decision: decision, Digest: p.Digest})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	review("act-ada", client.DecisionApprove)
	if a := review("act-ada-via-bot", client.DecisionApprove); strings.Join(a.ApprovedBy, " ") != "act-ada" || len(a.Blockers) != 1 {
		t.Errorf("approved by %v, blockers %v", a.ApprovedBy, a.Blockers)
	}
	if a := review("act-ada-via-bot", client.DecisionRequest); len(a.ApprovedBy) != 0 || strings.Join(a.RequestedBy, " ") != "act-ada" {
		t.Errorf("approved by %v, changes requested by %v", a.ApprovedBy, a.RequestedBy)
	}
	review("act-ada", client.DecisionApprove)
	a := review("act-bo-via-bot", client.DecisionApprove)
	if strings.Join(a.ApprovedBy, " ") != "act-ada act-bo" || len(a.Blockers) != 0 {
		t.Errorf("approved by %v, blockers %v", a.ApprovedBy, a.Blockers)
	}
	if e := a.Events[len(a.Events)-1]; *e.ActorID != "act-bo" || strings.Join(e.Agents, " ") != "bot" {
		t.Errorf("the last event is %+v", e)
	}
	if list, err := author.Proposals(ctx, client.ProposalQuery{Reviewer: "act-bo"}); err != nil || len(list.Proposals) != 1 {
		t.Errorf("the proposals of the reviewer: %+v, %v", list, err)
	}
	if _, err := w.person("act-bo-via-bot").MergeProposal(ctx, p.ID, client.ProposalMergeBody{}); !denied(err) {
		t.Errorf("the agent merges: %v", err)
	}
	if _, err := w.person("act-bo").MergeProposal(ctx, p.ID, client.ProposalMergeBody{}); err != nil {
		t.Error(err)
	}
}

// TestActOfToken calls a server with tokens of an issuer. The agent's groups come from the token; a chain that is not well-formed must be
// refused; and pages belong to the scopes of the token too.
func TestActOfToken(t *testing.T) {
	i := newScoped(t)
	token := func(claims map[string]any) *matrix { return i.scoped("act-admin", claims) }
	const read = `{"query":"query q() { match { $p: Person } return { $p.name } }"}`
	bot := map[string]any{"sub": "bot"}
	const find = `{"params":{"name":"ada"}}`
	for _, tt := range []struct {
		name   string
		claims map[string]any
		status int
	}{
		{"the actor", nil, 200},
		{"an agent without rights", map[string]any{"act": bot}, 403},
		{"an agent with rights", map[string]any{"act": map[string]any{"sub": "act-reader"}}, 200},
		{"an agent that acted before", map[string]any{"act": map[string]any{"sub": "act-reader", "act": bot}}, 200},
		{"an agent with rights, without a scope", map[string]any{"act": map[string]any{"sub": "act-reader"}, "scope": "openid"}, 403},
		{"malformed", map[string]any{"act": "act-reader"}, 401},
		{"malformed further in", map[string]any{"act": map[string]any{"sub": "act-reader", "act": []string{"bot"}}}, 401},
	} {
		if a := token(tt.claims).send("", "POST", "/query", read, nil); a.status != tt.status {
			t.Errorf("%s: %d %s", tt.name, a.status, a.body)
		}
	}
	for groups, status := range map[string]int{"idp-bots": 200, "idp-cats": 404} {
		claims := map[string]any{"act": map[string]any{"sub": "bot", "groups": []string{groups}}}
		if a := token(claims).send("", "POST", "/queries/find_person", find, nil); a.status != status {
			t.Errorf("an agent in group %s: %d %s", groups, a.status, a.body)
		}
	}
	list := token(map[string]any{"scope": "graph.read"}).send("", "GET", "/branches?limit=1", "", nil)
	_, next, ok := strings.Cut(list.body, `"next_page_token":"`)
	next, _, ended := strings.Cut(next, `"`)
	if !ok || !ended {
		t.Fatalf("%d %s", list.status, list.body)
	}
	for _, tt := range []struct {
		claims map[string]any
		status int
	}{
		{map[string]any{"scope": "graph.read"}, 200},
		{map[string]any{"scope": "email graph.read"}, 200},
		{map[string]any{"scope": "graph.read graph.write"}, 400},
		{nil, 400},
		{map[string]any{"scope": "graph.read", "act": map[string]any{"sub": "act-reader"}}, 400},
	} {
		if a := token(tt.claims).send("", "GET", "/branches?limit=1&page_token="+next, "", nil); a.status != tt.status || a.status == 400 && !strings.Contains(a.body, "another actor") {
			t.Errorf("%v: %d %s", tt.claims, a.status, a.body)
		}
	}
}

// TestReviewKeyRights makes review keys as two people, as an agent for one of them, and as the agent itself, which then decides as itself.
func TestReviewKeyRights(t *testing.T) {
	w := newChainWorld(t)
	for actor, want := range map[string]bool{"act-ada": true, "act-bo": true, "act-ada-via-bot": false, "bot": true} {
		key, err := w.person(actor).MakeReviewKey(t.Context())
		if (err == nil) != want || err != nil && !denied(err) || err == nil && !strings.HasPrefix(key.ReviewKey, "rk_") {
			t.Errorf("%s: %+v, %v", actor, key, err)
		}
	}
	for _, tt := range []struct {
		actor string
		want  int // keys; -1 for a refusal
	}{{"act-ada-via-bot", -1}, {"act-ada", 1}, {"act-ada", 0}, {"act-bo", 1}} {
		done, err := w.person(tt.actor).RevokeReviewKeys(t.Context())
		if denied(err) != (tt.want < 0) || !denied(err) && (err != nil || done.Revoked != tt.want) {
			t.Errorf("%s: %+v, %v; want %d keys", tt.actor, done, err, tt.want)
		}
	}
}
