package server_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

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
