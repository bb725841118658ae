package server_test

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
)

// logMember matches a member of a log line.
var logMember = regexp.MustCompile(`(\w+)=("(?:[^"\\]|\\.)*"|\S*)`)

// auditLines returns the lines about proposals that the log got since the last call.
func (w *proposalWorld) auditLines(from *int) (lines []map[string]string) {
	text := string(w.log.Bytes())
	for line := range strings.Lines(text[*from:]) {
		members := map[string]string{}
		for _, m := range logMember.FindAllStringSubmatch(line, -1) {
			members[m[1]] = strings.Trim(m[2], `"`)
		}
		if members["step"] != "" {
			lines = append(lines, members)
		}
	}
	*from = len(text)
	return lines
}

// TestProposalAudit takes each step of a proposal over REST and MCP. The audit line of each has the id of the
// proposal and the kind of the step.
func TestProposalAudit(t *testing.T) {
	w := newProposalWorldWith(t, draftPolicy, servedtest.Catalog(t))
	ctx, agent, ada, bo := t.Context(), w.agent("act-one"), w.person("act-ada"), w.person("act-bo")
	w.write("", "ada", 41)
	var p struct{ ID, Digest string }
	mcp := func(name string, args map[string]any) func() error {
		return func() error {
			if said := agent(&p, name, args); said != "" {
				t.Fatal(said)
			}
			return nil
		}
	}
	review := func(g *client.Graph, decision string) func() error {
		return func() error {
			now, err := g.Proposal(ctx, p.ID)
			if err == nil {
				_, err = g.ReviewProposal(ctx, p.ID, client.ProposalReviewBody{Decision: decision, Digest: now.Digest, Comment: "a comment"})
			}
			return err
		}
	}
	at := len(string(w.log.Bytes()))
	step := func(want, actor string, refused bool, do func() error) {
		t.Helper()
		if err := do(); (err != nil) != refused {
			t.Fatalf("%s: %v", want, err)
		}
		lines := w.auditLines(&at)
		if len(lines) != 1 {
			t.Errorf("%s: the log has the lines %v", want, lines)
			return
		}
		line := lines[0]
		if line["step"] != want || line["proposal"] != p.ID || line["actor"] != actor || (line["msg"] == "write refused") != refused || !refused && line["branch"] != "main" {
			t.Errorf("%s of %s: the log has %v", want, p.ID, line)
		}
		if (line["commit"] != "") != (want == "merge" && !refused) {
			t.Errorf("%s: the commit is %q", want, line["commit"])
		}
		if !refused {
			sameMembers(t, line)
		}
	}
	step("submit", "act-one", false, mcp("proposal_submit", map[string]any{"source": "draft", "title": "Ada"}))
	step("change", "act-one", false, func() error { return mcp("proposal_submit", map[string]any{"proposal": p.ID, "title": "Ada is 41"})() })
	step("comment", "act-ada", false, review(ada, client.DecisionComment))
	step("request_changes", "act-ada", false, review(ada, client.DecisionRequest))
	step("approve", "act-bo", false, review(bo, client.DecisionApprove))
	step("merge", "act-one", true, func() error {
		_, err := w.person("act-one").MergeProposal(ctx, p.ID, client.ProposalMergeBody{})
		return err
	})
	if _, err := w.person("act-root").Mutate(ctx, client.MutateBody{Query: aged("ada", 50)}); err != nil {
		t.Fatal(err)
	}
	step("resolve", "act-one", false, func() error {
		return mcp("proposal_resolve", map[string]any{"proposal": p.ID, "resolutions": []any{map[string]any{
			"entity_kind": "node", "type_name": "Person", "id": "ada", "property": "age", "take": "theirs"}}})()
	})
	step("approve", "act-bo", false, review(bo, client.DecisionApprove))
	step("merge", "act-ada", false, func() error { _, err := ada.MergeProposal(ctx, p.ID, client.ProposalMergeBody{}); return err })

	w.write("draft", "bob", 1)
	step("submit", "act-one", false, mcp("proposal_submit", map[string]any{"source": "draft", "title": "Bob"}))
	step("close", "act-one", false, func() error { return mcp("proposal_submit", map[string]any{"proposal": p.ID, "close": true})() })

	// The log does not contain what a client made up.
	p.ID = ""
	step("close", "act-ada", true, func() error {
		_, err := ada.CloseProposal(ctx, "made-up", client.ProposalCloseBody{})
		return err
	})
	if strings.Contains(string(w.log.Bytes()), "made-up") || strings.Contains(string(w.log.Bytes()), "a comment") {
		t.Error("the log has a text of a client")
	}
}

// sameMembers checks that the line of docs/operations.md about a proposal has the members of a line.
func sameMembers(t *testing.T, line map[string]string) {
	t.Helper()
	b, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	var shown map[string]any
	if err := json.Unmarshal(regexp.MustCompile(`(?m)^\{"time".*"proposal".*$`).Find(b), &shown); err != nil {
		t.Fatalf("the guide shows no line about a proposal: %v", err)
	}
	if a, b := slices.Sorted(maps.Keys(shown)), slices.Sorted(maps.Keys(line)); !slices.Equal(a, b) {
		t.Errorf("a line has %v, the guide's %v", b, a)
	}
}
