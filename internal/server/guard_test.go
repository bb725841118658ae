package server_test

import (
	"io"
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
	if _, err := root.CreateBranch(t.Context(), client.BranchBody{Name: "next"}); err != nil {
		t.Fatal(err)
	}
	if _, err := root.Mutate(t.Context(), client.MutateBody{Query: "query m() { insert Person { name: \"proposed\" } }", Branch: "side"}); err != nil {
		t.Fatal(err)
	}
	proposal, err := root.OpenProposal(t.Context(), client.ProposalBody{Source: "side", Target: "next", Title: "Guarded"})
	if err != nil {
		t.Fatal(err)
	}
	post := func(path, body string, header http.Header) (status int, answer string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url+"/graphs/people/"+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header = header
		req.Header.Set("Authorization", "Bearer the-token-of-act-root")
		req.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(b)
	}
	for _, c := range []struct{ path, members string }{
		{"", `"title": "Guarded again"`}, {"/review", `"decision": "comment", "comment": "hm"`}, {"/merge", `"comment": "now"`},
	} {
		for _, digest := range [][2]string{{`""`, "digest: found an empty text"}, {`null`, "digest is null, so the call ran without this condition"}} {
			if _, got := post("proposals/"+proposal.ID+c.path, `{"digest": `+digest[0]+`, `+c.members+`}`, http.Header{}); !strings.Contains(got, digest[1]) {
				t.Errorf("%s with the digest %s answers %s", c.path, digest[0], got)
			}
		}
	}
	if status, got := post("proposals/"+proposal.ID+"/close", `{"digest": "d"}`, http.Header{}); status != http.StatusBadRequest {
		t.Errorf("a close with a digest, which it does not check, answers %s", got)
	}
	for _, header := range []string{"Omnigraph-If-Graph-Commit", "Idempotency-Key"} {
		status, _ := post("mutate", `{"query": "query m() { insert Person { name: \"guarded2\" } }"}`, http.Header{header: {""}})
		if status != http.StatusBadRequest {
			t.Errorf("an empty header %s has status %d", header, status)
		}
	}
}
