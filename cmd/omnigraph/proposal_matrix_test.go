package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnigraph-go/omnigraph/client"
)

// proposalMatrixPolicy confines the agents to their drafts, which they and the reviewers may read. FORMER is the
// list of those who were reviewers before.
const proposalMatrixPolicy = `version: 1
groups: { agents: [act-one, act-two], reviewers: [act-adaFORMER], insiders: [act-ada, act-old, act-root] }
protected_branches:
  - { name: main, approvals: 1, from: { group: reviewers } }
rules:
  - id: insiders-read
    allow: { actors: { group: insiders }, actions: [read] }
  - id: agents-read-main
    allow: { actors: { group: agents }, actions: [read], branch_scope: protected }
  - id: agents-use-drafts
    allow: { actors: { group: agents }, actions: [read, change], branch_scope: draft }
  - id: reviewers-decide
    allow: { actors: { group: reviewers }, actions: [proposal_review, branch_merge] }
  - id: root
    allow: { actors: { ids: [act-root] }, actions: [change, protection_bypass] }
`

// matrixStep is a step of a proposal, as a call of a tool and as a command. In both, P stands for the id of the
// proposal, and B for its source.
type matrixStep struct {
	name    string
	tool    string // empty if no tool takes the step
	args    string
	command string
	// cells has a letter for each of matrixActors: o means that the server took the step, f that the policy
	// forbids it, n that the proposal is not found, and c that the rules of proposals refuse it.
	cells string
}

// matrixActors are the author of the proposals, a reviewer, a former reviewer, another agent and a stranger.
var matrixActors = []string{"act-one", "act-ada", "act-old", "act-two", "act-out"}

var matrixSteps = []matrixStep{
	{"read", "proposal_get", `{"proposal":"P"}`, "show P", "ooonn"},
	{"changes", "proposal_get", `{"proposal":"P","changes":true}`, "diff P", "ooonn"},
	{"submit", "proposal_submit", `{"source":"B","title":"x"}`, "submit B --title x", "offff"},
	{"edit", "proposal_submit", `{"proposal":"P","title":"x"}`, "edit P --title x", "offnn"},
	{"resolve", "proposal_resolve", `{"proposal":"P","resolutions":[{"entity_kind":"node","type_name":"Item","id":"a1","property":"price","take":"ours"}]}`,
		"resolve P --type Item --id a1 --property price --take ours", "offnn"},
	{"close", "proposal_submit", `{"proposal":"P","close":true}`, "close P", "oofnn"},
	{"comment", "", "", "review P --comment hm", "oofnn"},
	{"approve", "", "", "review P --approve", "fofnn"},
	{"request changes", "", "", "review P --request-changes", "fofnn"},
	{"merge without an approval", "", "", "merge P", "fcfnn"},
}

// matrixCell returns the letter for what an answer says. It is u for a tool that the caller may not see.
func matrixCell(said string) byte {
	for text, cell := range map[string]byte{"unknown tool": 'u', "does not allow": 'f', "proposal \"P\" not found": 'n', "cannot be merged yet": 'c'} {
		if strings.Contains(said, text) {
			return cell
		}
	}
	if said == "" {
		return 'o'
	}
	return '?'
}

// TestProposalMatrixElsewhere asks for every step of a proposal over MCP and with the command on a server, as the
// draft-confined agent who opened it, a reviewer, a former reviewer, another agent and a stranger. An actor who may
// not read the draft gets the answer about a proposal that does not exist. A tool that is not listed is unknown, and
// the list of proposals has exactly the ones that can be read.
func TestProposalMatrixElsewhere(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "schema.pg", "node Item {\n  id: String @key\n  price: I32\n}\n")
	write(t, "items.ndjson", `{"type":"Item","data":{"id":"a1","price":0}}`+"\n")
	write(t, "cluster.yaml", "version: 1\nstorage: ./data\ngraphs:\n  shop: { schema: schema.pg, drafts: { max: 1000 } }\npolicies:\n  base: { file: policy.yaml, applies_to: [shop] }\n")
	write(t, "policy.yaml", strings.Replace(proposalMatrixPolicy, "FORMER", ", act-old", 1))
	g := newHourGuide(t)
	for _, line := range []string{"omnigraph cluster apply", "omnigraph load --store data/shop --data items.ndjson"} {
		g.command("", line)
	}

	// Before the rights change, act-old approves a proposal.
	g.serve(append(matrixActors, "act-root")...)
	person := func(actor string) *client.Graph {
		t.Helper()
		c, err := client.New(g.url, client.WithToken(tokenOf(actor)))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		return c.Graph("shop")
	}
	price := 0
	change := func(actor, branch string) string {
		t.Helper()
		price++
		a, err := person(actor).Mutate(t.Context(), client.MutateBody{Query: fmt.Sprintf(`query m() { update Item set { price: %d } where id = "a1" }`, price), Branch: branch})
		if err != nil {
			t.Fatal(err)
		}
		return a.Branch
	}
	open := func(branch string) *client.ProposalAnswer {
		t.Helper()
		p, err := person("act-one").OpenProposal(t.Context(), client.ProposalBody{Source: branch, Title: "A price"})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	old := open(change("act-one", "draft/old"))
	if _, err := person("act-old").ReviewProposal(t.Context(), old.ID, client.ProposalReviewBody{Decision: client.DecisionApprove, Digest: old.Digest}); err != nil {
		t.Fatal(err)
	}
	g.stop()
	write(t, "policy.yaml", strings.Replace(proposalMatrixPolicy, "FORMER", "", 1))
	g.command("", "omnigraph cluster apply")
	g.serve(append(matrixActors, "act-root")...)

	// The approval of the former reviewer counts no more.
	if _, err := person("act-ada").MergeProposal(t.Context(), old.ID, client.ProposalMergeBody{}); err == nil || !strings.Contains(err.Error(), "branch main needs 1 approval from group reviewers") {
		t.Errorf("a merge with the approval of a former reviewer: %v", err)
	}

	const unknownProposal = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
	made := 0
	for _, s := range matrixSteps {
		for i, actor := range matrixActors {
			for _, door := range []string{"mcp", "command"} {
				if door == "mcp" && s.tool == "" {
					continue
				}
				made++
				branch := change("act-one", fmt.Sprintf("draft/s%d", made))
				id := ""
				if s.name != "submit" {
					id = open(branch).ID
				}
				if s.name == "resolve" {
					change("act-root", "main")
				}
				// ask takes the step on a proposal and a source, and returns what the answer says about them.
				ask := func(id, branch string) string {
					names := strings.NewReplacer(`"P"`, `"`+id+`"`, " P", " "+id, `"B"`, `"`+branch+`"`, " B", " "+branch)
					said := ""
					if door == "mcp" {
						said = g.refusal(actor, s.tool, names.Replace(s.args))
					} else if code, _, stderr := omnigraph(t, "", append([]string{"proposal"}, g.onServer(actor, names.Replace(s.command))...)...); code != 0 {
						said = stderr
					}
					said = strings.ReplaceAll(strings.ReplaceAll(said, `\"`, `"`), branch, "B")
					if id != "" {
						said = strings.ReplaceAll(said, id, "P")
					}
					return said
				}
				said := ask(id, branch)
				want, got := s.cells[i], matrixCell(said)
				if door == "mcp" && !slices.Contains(g.tools(actor), s.tool) {
					want = 'u' // the list equals the call
				}
				if got != want {
					t.Errorf("%s as %s with %s: %c, want %c: %s", s.name, actor, door, got, want, said)
				}
				if want == 'n' || s.name == "submit" && want == 'f' {
					if unknown := ask(unknownProposal, unknownDraft); unknown != said {
						t.Errorf("%s as %s with %s: denied is %q, unknown is %q", s.name, actor, door, said, unknown)
					}
				}
				if id == "" {
					continue
				}
				if listed, readable := g.lists(actor, door, id), matrixSteps[0].cells[i] == 'o'; listed != readable {
					t.Errorf("%s with %s: the list has the proposal: %t, it is readable: %t", actor, door, listed, readable)
				}
			}
		}
	}
}

// onServer returns the arguments of a command on the server, and makes the actor the caller.
func (g *hourGuide) onServer(actor, command string) []string {
	g.Helper()
	g.Setenv(tokenVar, tokenOf(actor))
	return append(strings.Fields(command), "--server", g.url, "--graph", "shop")
}

// refusal calls a tool, and returns the error as text, or "".
func (g *hourGuide) refusal(actor, name, args string) string {
	g.Helper()
	res, err := g.session(actor).CallTool(g.Context(), &mcp.CallToolParams{Name: name, Arguments: json.RawMessage(args)})
	switch {
	case err != nil:
		return err.Error()
	case res.IsError:
		return res.Content[0].(*mcp.TextContent).Text
	}
	return ""
}

// tools returns the names of the tools that an actor sees.
func (g *hourGuide) tools(actor string) (names []string) {
	g.Helper()
	list, err := g.session(actor).ListTools(g.Context(), nil)
	if err != nil {
		g.Fatal(err)
	}
	for _, t := range list.Tools {
		names = append(names, t.Name)
	}
	return names
}

// lists reports whether an actor's list of proposals has a proposal.
func (g *hourGuide) lists(actor, door, id string) bool {
	g.Helper()
	if door == "mcp" {
		res, err := g.session(actor).CallTool(g.Context(), &mcp.CallToolParams{Name: "proposal_get", Arguments: json.RawMessage(`{"limit":500}`)})
		return err == nil && !res.IsError && strings.Contains(res.Content[0].(*mcp.TextContent).Text, id)
	}
	_, stdout, _ := omnigraph(g.T, "", append([]string{"proposal"}, g.onServer(actor, "list")...)...)
	return strings.Contains(stdout, id)
}
