package server_test

import (
	"cmp"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// checkedQueries are two checks. The first passes on both branches of a proposal and can fail on the
// result of their merge.
const checkedQueries = `
query elders() @must_be_empty("At most one person is older than 50.") {
  match { $a: Person $b: Person $a.age > 50 $b.age > 50 $a.name < $b.name }
  return { $a.name as first, $b.name as second }
  limit 10
}
query ages_of_ada() @must_be_empty("Ada is not 7 years old.") @mcp(expose: false) {
  match { $p: Person { name: "ada", age: 7 } }
  return { $p.name as name }
}
`

// checkedPolicy demands that all checks pass before a merge into main. The actor act-out may not invoke
// the check elders.
var checkedPolicy = strings.NewReplacer(
	"{ name: main, approvals: 1, from: { group: reviewers } }", "{ name: main, approvals: 0, checks: true }",
	"allow: { actors: any, actions: [read, invoke_query] }", "allow: { actors: any, actions: [read] }\n"+
		"  - id: most-invoke\n    allow: { actors: { ids: [act-one, act-two, act-ada, act-bo, act-root] }, actions: [invoke_query] }\n"+
		"  - id: one-check\n    allow: { actors: { ids: [act-out] }, actions: [invoke_query], queries: [ages_of_ada] }",
).Replace(proposalPolicy)

// newCheckedWorld returns a world with checkedQueries and checkedPolicy.
func newCheckedWorld(t *testing.T) *proposalWorld {
	t.Helper()
	return newProposalWorldWith(t, checkedPolicy, &tool.Catalog{Graph: "people", SchemaDigest: "sha256:test", Queries: servedtest.Queries(t, checkedQueries)})
}

// outcomesText describes outcomes of checks on one line.
func outcomesText(all []client.CheckResult) string {
	var text []string
	for _, c := range all {
		line := cmp.Or(c.Query, "-") + " " + c.Outcome
		if c.Reason != nil {
			line += " (" + *c.Reason + ")"
		}
		for _, r := range c.Rows {
			line += " " + string(r)
		}
		text = append(text, line)
	}
	return strings.Join(text, "; ")
}

// TestChecksOnMerge checks that the checks of a proposal run on the result of its merge, and that
// `checks: true` lets only that result in which all checks pass be merged.
func TestChecksOnMerge(t *testing.T) {
	w := newCheckedWorld(t)
	ctx := t.Context()
	one, two, ada, root := w.agent("act-one"), w.person("act-two"), w.person("act-ada"), w.person("act-root")
	if said := one(nil, "branch_create", map[string]any{"name": "try"}); said != "" {
		t.Fatal(said)
	}
	if said := one(nil, "graph_mutate", map[string]any{"query": aged("ada", 60), "branch": "try"}); said != "" {
		t.Fatal(said)
	}
	if _, err := root.Mutate(ctx, client.MutateBody{Query: aged("bob", 61)}); err != nil {
		t.Fatal(err)
	}
	for _, branch := range []string{"", "try"} {
		a, err := ada.Checks(ctx, branch)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := outcomesText(a.Checks), "elders passed; ages_of_ada passed"; got != want {
			t.Errorf("branch %q: %s, want %s", branch, got, want)
		}
	}

	// Each branch passes, and the result of the merge does not.
	var status struct {
		ID           string
		FailedChecks []string `json:"failed_checks"`
		Blockers     []string
	}
	if said := one(&status, "proposal_submit", map[string]any{"source": "try", "title": "Ada is 60"}); said != "" {
		t.Fatal(said)
	}
	const title = "At most one person is older than 50."
	if len(status.FailedChecks) != 1 || status.FailedChecks[0] != title || len(status.Blockers) != 1 || !strings.Contains(status.Blockers[0], title) {
		t.Errorf("the answer to the submission is %+v", status)
	}
	var got struct{ Proposal client.ProposalAnswer }
	if said := one(&got, "proposal_get", map[string]any{"proposal": status.ID}); said != "" {
		t.Fatal(said)
	}
	const failed = `elders failed {"first":"ada","second":"bob"}; ages_of_ada passed`
	hidden := strings.Replace(failed, "ages_of_ada", "-", 1) // it has expose: false
	if text := outcomesText(got.Proposal.Checks); text != hidden {
		t.Errorf("over MCP: %s, want %s", text, hidden)
	}
	seen := func(g *client.Graph) string {
		t.Helper()
		p, err := g.Proposal(ctx, status.ID)
		if err != nil {
			t.Fatal(err)
		}
		return outcomesText(p.Checks)
	}
	if text := seen(two); text != failed {
		t.Errorf("over REST: %s, want %s", text, failed)
	}
	if text, want := seen(w.person("act-out")), "- failed; ages_of_ada passed"; text != want {
		t.Errorf("an actor who may not invoke the query sees %s, want %s", text, want)
	}
	if _, err := ada.MergeProposal(ctx, status.ID, client.ProposalMergeBody{}); err == nil || !strings.Contains(err.Error(), title) {
		t.Errorf("a merge whose result fails a check: %v", err)
	}

	// The target changes, so the result of the merge passes.
	if _, err := root.Mutate(ctx, client.MutateBody{Query: aged("bob", 41)}); err != nil {
		t.Fatal(err)
	}
	if text, want := seen(two), "elders passed; ages_of_ada passed"; text != want {
		t.Errorf("after a change of the target: %s, want %s", text, want)
	}

	// With a conflict, there is no result to check. A resolution belongs to the result.
	if _, err := root.Mutate(ctx, client.MutateBody{Query: aged("ada", 40)}); err != nil {
		t.Fatal(err)
	}
	const reason = "the merge has conflicts; resolve them first"
	if text, want := seen(two), "elders unfinished ("+reason+"); ages_of_ada unfinished ("+reason+")"; text != want {
		t.Errorf("with a conflict: %s, want %s", text, want)
	}
	resolve := func(age, want string) {
		t.Helper()
		p, err := two.ChangeProposal(ctx, status.ID, client.ProposalChangeBody{Resolutions: []client.ConflictResolution{
			{EntityKind: "node", TypeName: "Person", ID: "ada", Property: "age", Take: "value", Value: []byte(age)}}})
		if err != nil {
			t.Fatal(err)
		}
		if text := outcomesText(p.Checks); text != want {
			t.Errorf("resolved to %s: %s, want %s", age, text, want)
		}
	}
	resolve("7", `elders passed; ages_of_ada failed {"name":"ada"}`)
	if _, err := ada.MergeProposal(ctx, status.ID, client.ProposalMergeBody{}); err == nil || !strings.Contains(err.Error(), "Ada is not 7 years old.") {
		t.Errorf("a merge whose resolution fails a check: %v", err)
	}
	resolve("8", "elders passed; ages_of_ada passed")
	merged, err := ada.MergeProposal(ctx, status.ID, client.ProposalMergeBody{})
	if err != nil || merged.State != "merged" || len(merged.Checks) != 0 {
		t.Errorf("merge: %+v, %v", merged, err)
	}
}

// TestCheckOutOfTheSchema checks that a check which does not fit the schema blocks a merge: it is left
// out as a stored query, but it is not forgotten.
func TestCheckOutOfTheSchema(t *testing.T) {
	other := servedtest.SchemaOf(t, strings.Replace(servedtest.Source, "age: I32?", "age: I32? height: I32?", 1))
	w := newProposalWorldWith(t, strings.Replace(checkedPolicy, "ages_of_ada", "tall", 1), &tool.Catalog{Graph: "people", SchemaDigest: "sha256:test",
		Queries: servedtest.QueriesOf(t, other, `query tall() @must_be_empty("Nobody is tall.") { match { $p: Person $p.height > 200 } return { $p.name } }`)})
	ctx := t.Context()
	_, p := w.proposeAge()
	if text := outcomesText(p.Checks); !strings.HasPrefix(text, "tall unfinished (the query of the check failed: ") || !strings.Contains(text, "height") {
		t.Errorf("the outcome is %s", text)
	}
	if _, err := w.person("act-ada").MergeProposal(ctx, p.ID, client.ProposalMergeBody{}); err == nil || !strings.Contains(err.Error(), `"Nobody is tall." is unfinished`) {
		t.Errorf("merge: %v", err)
	}
}

// TestOwnerApproves checks that an owner cannot approve the changes of its bot if the protection says so,
// whether the bot opened the proposal or committed to it.
func TestOwnerApproves(t *testing.T) {
	text := strings.Replace(proposalPolicy, "from: { group: reviewers } }", "from: { group: reviewers }, owner_approves: false }", 1)
	w := newProposalWorldWith(t, strings.Replace(text, "rules:\n", "owners: { act-one: [act-ada] }\nrules:\n", 1), servedtest.Catalog(t))
	ctx := t.Context()
	one, two, ada, bo := w.person("act-one"), w.person("act-two"), w.person("act-ada"), w.person("act-bo")
	open := func(branch string, author, committer *client.Graph, age int) *client.ProposalAnswer {
		t.Helper()
		if said := w.agent("act-one")(nil, "branch_create", map[string]any{"name": branch}); said != "" {
			t.Fatal(said)
		}
		if _, err := committer.Mutate(ctx, client.MutateBody{Query: aged("ada", age), Branch: branch}); err != nil {
			t.Fatal(err)
		}
		p, err := author.OpenProposal(ctx, client.ProposalBody{Source: branch, Title: "Ada is older"})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	approve := func(g *client.Graph, p *client.ProposalAnswer) (*client.ProposalAnswer, error) {
		return g.ReviewProposal(ctx, p.ID, client.ProposalReviewBody{Decision: client.DecisionApprove, Digest: p.Digest})
	}
	for branch, by := range map[string][2]*client.Graph{"opened": {one, two}, "committed": {two, one}} {
		p := open(branch, by[0], by[1], 40)
		if _, err := approve(ada, p); err == nil || !strings.Contains(err.Error(), "act-ada owns act-one") || !strings.Contains(err.Error(), "owner_approves: false") {
			t.Errorf("%s: the owner approves: %v", branch, err)
		}
		if a, err := approve(bo, p); err != nil || len(a.ApprovedBy) != 1 || len(a.Blockers) != 0 {
			t.Errorf("%s: another reviewer approves: %+v, %v", branch, a, err)
		}
	}
	// act-two has no owner.
	p := open("free", two, two, 41)
	if a, err := approve(ada, p); err != nil || len(a.ApprovedBy) != 1 {
		t.Errorf("a reviewer who owns nobody there: %+v, %v", a, err)
	}
}

// TestFormerReviewer checks that an approval no longer counts once its actor may not review any more, and
// that it counts again if the policy allows that again.
func TestFormerReviewer(t *testing.T) {
	config := openPeople(t, t.TempDir(), "")
	ctx := t.Context()
	w := startProposalWorld(t, config, proposalPolicy, servedtest.Catalog(t))
	_, p := w.proposeAge()
	if _, err := w.person("act-bo").ReviewProposal(ctx, p.ID, client.ProposalReviewBody{Decision: client.DecisionApprove, Digest: p.Digest}); err != nil {
		t.Fatal(err)
	}
	w.stop()

	w = startProposalWorld(t, config, strings.Replace(proposalPolicy, "reviewers: [act-ada, act-bo]", "reviewers: [act-ada]", 1), servedtest.Catalog(t))
	if _, err := w.person("act-ada").MergeProposal(ctx, p.ID, client.ProposalMergeBody{}); err == nil || !strings.Contains(err.Error(), "branch main needs 1 approval") {
		t.Errorf("a merge with the approval of a former reviewer: %v", err)
	}
	if now, err := w.person("act-ada").Proposal(ctx, p.ID); err != nil || len(now.ApprovedBy) != 0 {
		t.Errorf("the approval of a former reviewer counts: %+v, %v", now, err)
	}
	w.stop()

	w = startProposalWorld(t, config, proposalPolicy, servedtest.Catalog(t))
	if merged, err := w.person("act-ada").MergeProposal(ctx, p.ID, client.ProposalMergeBody{}); err != nil || merged.State != "merged" {
		t.Errorf("merge: %+v, %v", merged, err)
	}
}

// proposeAge changes the age of ada on the branch try and proposes the change. It returns the author
// and the proposal.
func (w *proposalWorld) proposeAge() (author *client.Graph, p *client.ProposalAnswer) {
	w.t.Helper()
	if said := w.agent("act-one")(nil, "branch_create", map[string]any{"name": "try"}); said != "" {
		w.t.Fatal(said)
	}
	author = w.person("act-one")
	if _, err := author.Mutate(w.t.Context(), client.MutateBody{Query: aged("ada", 37), Branch: "try"}); err != nil {
		w.t.Fatal(err)
	}
	p, err := author.OpenProposal(w.t.Context(), client.ProposalBody{Source: "try", Title: "Ada is 37"})
	if err != nil {
		w.t.Fatal(err)
	}
	return author, p
}

// TestCheckRowsKeepDigits reads integers in the rows of a failed check: over MCP those beyond 2^53 are strings, and over REST
// all of 64 bits for a client that asks for strings.
func TestCheckRowsKeepDigits(t *testing.T) {
	w := newProposalWorldWith(t, proposalPolicy, &tool.Catalog{Graph: "people", SchemaDigest: "sha256:test", Queries: servedtest.Queries(t,
		`query sums() @must_be_empty("Nobody is named ada.") { match { $p: Person { name: "ada" } } return { 9007199254740993 as large, $p.name as name, count($p) as small } }`)})
	_, p := w.proposeAge()
	if got, want := outcomesText(p.Checks), `sums failed {"large":"9007199254740993","name":"ada","small":"1"}`; got != want {
		t.Errorf("over REST: %s, want %s", got, want)
	}
	var got struct{ Proposal client.ProposalAnswer }
	if said := w.agent("act-one")(&got, "proposal_get", map[string]any{"proposal": p.ID}); said != "" {
		t.Fatal(said)
	}
	if got, want := outcomesText(got.Proposal.Checks), `sums failed {"large":"9007199254740993","name":"ada","small":1}`; got != want {
		t.Errorf("over MCP: %s, want %s", got, want)
	}
}
