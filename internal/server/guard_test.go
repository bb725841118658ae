package server_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/client"
)

// TestGuards sends conditions of writes that are null or empty. A null one does not count, and the answer says
// so. An empty one is refused, and nothing is written.
func TestGuards(t *testing.T) {
	w := newProposalWorld(t)
	root, agent := w.person("act-root"), w.agent("act-root")
	if _, err := root.CreateBranch(t.Context(), client.BranchBody{Name: "side"}); err != nil {
		t.Fatal(err)
	}
	insert := "query m() { insert Person { name: \"guarded\" } }"
	for _, c := range []struct {
		tool string
		args map[string]any
	}{
		{"graph_mutate", map[string]any{"query": insert, "branch": "side"}},
		{"graph_load", map[string]any{"data": `{"type":"Person","data":{"name":"guarded"}}`, "mode": "merge", "branch": "side"}},
		{"branch_merge", map[string]any{"source": "side", "target": "main"}},
		{"add_person", map[string]any{"params": map[string]any{"name": "guarded"}, "branch": "side"}},
	} {
		for _, guard := range []string{"if_commit", "idempotency_key"} {
			for _, empty := range []string{"", " "} {
				c.args[guard] = empty
				if said := agent(nil, c.tool, c.args); !strings.Contains(said, guard+": found an empty text") {
					t.Errorf("%s with an empty %s says %q", c.tool, guard, said)
				}
			}
			c.args[guard] = nil
			var got struct{ Notes []string }
			if said := agent(&got, c.tool, c.args); said != "" || !slices.Contains(got.Notes, guard+" is null, so the call ran without this condition") {
				t.Errorf("%s with %s null says %q and has the notes %q", c.tool, guard, said, got.Notes)
			}
			delete(c.args, guard)
		}
	}
	for header := range map[string]bool{"Omnigraph-If-Graph-Commit": true, "Idempotency-Key": true} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url+"/graphs/people/mutate", strings.NewReader(`{"query": "query m() { insert Person { name: \"guarded2\" } }"}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer the-token-of-act-root")
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set(header, "")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != http.StatusBadRequest {
			t.Errorf("an empty header %s has status %d", header, res.StatusCode)
		}
	}
}
