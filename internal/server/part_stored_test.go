package server_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// ask sends a request about the graph people as an actor, and returns the answer.
func (w *proposalWorld) ask(actor, method, path, body string) (status int, text string) {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), method, w.url+"/graphs/people"+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer the-token-of-"+actor)
	r.Header.Set("Content-Type", "application/json")
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer a.Body.Close()
	b, err := io.ReadAll(a.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return a.StatusCode, string(b)
}

// TestStoredReadsMore tests that a stored query which may read more than its caller's own queries shows the caller its columns and its
// counts, and nothing else: no note with a stored key, no image and no estimate. An actor that may read everything gets them.
func TestStoredReadsMore(t *testing.T) {
	const head = `version: 1
filters: { young: { type: Person, where: "$it.age < 40" } }
rules:
  - id: invoke
    allow: { actors: any, actions: [invoke_query] }
  - id: all
    allow: { actors: { ids: [act-ada] }, actions: [read, change] }
`
	queries := servedtest.Queries(t, `
query look($name: String) { match { $p: Person { name: $name } } return { $p.age } }
query mark($name: String) { update Person set { score: 1.0 } where name = $name }
query sums() { match { $p: Person } return { sum($p.big) as n } }
`)
	calls := []struct{ method, path, body, hidden string }{
		{"POST", "/queries/look", `{"params":{"name":"bobb"}}`, `"notes"`}, // a note says what is stored
		{"POST", "/queries/mark", `{"params":{"name":"bobb"}}`, `"notes"`},
		{"POST", "/queries/mark", `{"params":{"name":"bob"},"dry_run":true}`, `"before"`}, // the image of a person whom act-bo may not see
		{"GET", "/queries/sums", "", "estimate 3"},                                        // there are three persons
	}
	for name, rules := range map[string]string{
		"wider": head + `
  - id: the-young
    allow: { actors: { ids: [act-bo] }, actions: [read, change], rows: young }
  - id: more-through-queries
    allow: { actors: { ids: [act-bo] }, actions: [read, change], via: stored, queries: [look, mark, sums] }
`,
		"without a rule about its reads": head + `
  - id: the-young
    allow: { actors: { ids: [act-bo] }, actions: [read], via: adhoc, rows: young }
  - id: changes-through-queries
    allow: { actors: { ids: [act-bo] }, actions: [change], via: stored }
`,
	} {
		t.Run(name, func(t *testing.T) {
			w := newProposalWorldWith(t, rules, &tool.Catalog{Graph: "people", SchemaDigest: "sha256:test", Queries: queries})
			for _, c := range calls {
				if _, all := w.ask("act-ada", c.method, c.path, c.body); !strings.Contains(all, c.hidden) {
					t.Errorf("%s does not show %s to anybody: %s", c.path, c.hidden, all)
				}
				if status, part := w.ask("act-bo", c.method, c.path, c.body); strings.Contains(part, c.hidden) || status != 200 && status != 403 {
					t.Errorf("%s %s: %d %s", c.path, c.body, status, part)
				}
			}
		})
	}
}

// TestCopiesOfParts tests that nobody sees more of a branch through a copy of it, whatever call makes the copy and whatever later call
// shows it.
func TestCopiesOfParts(t *testing.T) {
	const head = `version: 1
filters: { young: { type: Person, where: "$it.age < 40" } }
protected_branches: [release]
rules:
  - id: work
    allow: { actors: any, actions: [invoke_query, change, branch_create] }
`
	queries := servedtest.Queries(t, `query add($name: String) { insert Person { name: $name, age: 20 } }`)
	for name, c := range map[string]struct{ rules, path, body string }{
		"a draft of a stored query": {`
  - id: the-young
    allow: { actors: { ids: [act-bo] }, actions: [read], via: adhoc, rows: young }
  - id: all-of-drafts
    allow: { actors: { ids: [act-bo] }, actions: [read], branch_scope: draft }
  - id: all-through-queries
    allow: { actors: { ids: [act-bo] }, actions: [read], via: stored }
`, "/queries/add", `{"params":{"name":"eve"},"branch":"draft"}`},
		"an export": {`
  - id: the-young
    allow: { actors: { ids: [act-bo] }, actions: [read, export], rows: young }
  - id: all-of-other-branches
    allow: { actors: { ids: [act-bo] }, actions: [export], branch_scope: unprotected }
`, "/branches", `{"name":"free","from":"release"}`},
		"a load": {`
  - id: the-young
    allow: { actors: { ids: [act-bo] }, actions: [read], rows: young }
  - id: all-of-other-branches
    allow: { actors: { ids: [act-bo] }, actions: [read], branch_scope: unprotected }
`, "/ingest", `{"data":"{\"type\":\"Person\",\"data\":{\"name\":\"eve\",\"age\":20}}","branch":"free","from":"release"}`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newProposalWorldWith(t, head+c.rules, &tool.Catalog{Graph: "people", SchemaDigest: "sha256:test", Queries: queries})
			if status, text := w.ask("act-bo", "POST", c.path, c.body); status != http.StatusForbidden || !strings.Contains(text, "other parts") {
				t.Errorf("%d %s", status, text)
			}
			if status, text := w.ask("act-bo", "GET", "/branches", ""); status != http.StatusOK || strings.Contains(text, "free") || strings.Contains(text, "draft") {
				t.Errorf("the branches are %d %s", status, text)
			}
		})
	}
}

// TestPartOfProposal tests that an actor that may read a part of one branch of a proposal, and nothing of the other one, does not learn
// that the proposal exists.
func TestPartOfProposal(t *testing.T) {
	w := newProposalWorldWith(t, `version: 1
filters: { young: { type: Person, where: "$it.age < 40" } }
protected_branches: [main]
rules:
  - id: all
    allow: { actors: { ids: [act-ada] }, actions: [read, change, protection_bypass] }
  - id: the-young
    allow: { actors: { ids: [act-bo] }, actions: [read], rows: young, branch_scope: unprotected }
`, servedtest.Catalog(t))
	status, text := w.ask("act-ada", "POST", "/proposals", `{"source":"feature","target":"main","title":"a title"}`)
	if status != http.StatusOK {
		t.Fatal(status, text)
	}
	id := proposalID(text)
	none := strings.Repeat("0", len(id))
	_, hidden := w.ask("act-bo", "GET", "/proposals/"+id, "")
	if status, text := w.ask("act-bo", "GET", "/proposals/"+none, ""); status != http.StatusNotFound || strings.ReplaceAll(text, none, id) != hidden {
		t.Errorf("a proposal answers %s, and none %d %s", hidden, status, text)
	}
}

// TestPartProposalsState tests that the state of the proposals changes only with those that the actor may see.
func TestPartProposalsState(t *testing.T) {
	w := newPartWorld(t)
	states := func() (all [2]string) {
		for i, id := range []string{clerk, "act-admin"} {
			var err error
			if all[i], err = w.graph.ProposalsState(t.Context(), &access.Actor{ID: id}); err != nil {
				t.Fatal(err)
			}
		}
		return all
	}
	before := states()
	w.must("act-admin", "POST", "/branches", `{"name":"proposed","from":"main"}`)
	w.must("act-admin", "POST", "/mutate", `{"query":"query m() { insert Person { name: \"canary-new\" } }","branch":"proposed"}`)
	w.must("act-admin", "POST", "/proposals", `{"source":"proposed","target":"main","title":"a title"}`)
	if after := states(); after[0] != before[0] || after[1] == before[1] {
		t.Errorf("the states are %v, and were %v", after, before)
	}
}

// TestPartPinsDraft tests that the page token of an actor that may see a part of its draft pins the draft like that of any other actor.
func TestPartPinsDraft(t *testing.T) {
	w := newProposalWorldWith(t, `version: 1
filters: { young: { type: Person, where: "$it.age < 60" } }
rules:
  - id: the-young
    allow: { actors: { ids: [act-bo] }, actions: [read, change], rows: young }
  - id: ends-drafts
    allow: { actors: { ids: [act-bo] }, actions: [branch_delete], target_branch_scope: draft }
`, servedtest.Catalog(t))
	must := func(method, path, body string) string {
		t.Helper()
		status, text := w.ask("act-bo", method, path, body)
		if status != http.StatusOK {
			t.Fatal(method, path, status, text)
		}
		return text
	}
	_, after, _ := strings.Cut(must("POST", "/mutate", `{"query":"query m() { update Person set { score: 1.0 } where name = \"ada\" }","branch":"draft"}`), `"branch":"`)
	branch, _, _ := strings.Cut(after, `"`)
	const read = `{"query":"query q() { match { $p: Person } return { $p.name } order { $p.name } }","branch":"draft","max_rows":1`
	_, after, ok := strings.Cut(must("POST", "/query", read+"}"), `"next_page_token":"`)
	token, _, _ := strings.Cut(after, `"`)
	if next := must("POST", "/query", read+`,"page_token":"`+token+`"}`); !ok || !strings.Contains(next, `"bob"`) {
		t.Errorf("the next page is %s", next)
	}
	must("DELETE", "/branches/"+strings.ReplaceAll(branch, "/", "%2F"), "")
	if status, text := w.ask("act-bo", "POST", "/query", read+`,"page_token":"`+token+`"}`); status != http.StatusBadRequest || !strings.Contains(text, "was cleaned up") {
		t.Errorf("the next page after the end: %d %s", status, text)
	}
}
