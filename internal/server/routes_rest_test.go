package server_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestRoutesWhole sends requests that change a store through the complete server.
func TestRoutesWhole(t *testing.T) {
	m := newMatrix(t, "")
	for _, q := range []struct {
		actor, method, path, body string
		status                    int
		want                      string
	}{
		{"act-admin", "POST", "/schema/apply", `{"schema_source":"node A { a: String @key }"}`, 409, `run omnigraph cluster apply","code":"conflict"`},
		{"act-reader", "POST", "/schema/apply", `{"schema_source":"node A { a: String @key }"}`, 403, `"code":"forbidden"`},
		{"act-admin", "POST", "/branches", `{"name":"a/b"}`, 200, `"name":"a/b"`},
		{"act-admin", "POST", "/ingest", `{"data":"{\"type\":\"Person\",\"data\":{\"name\":\"eve\"}}","branch":"a/b"}`, 200, `"branch_created":false`},
		{"act-admin", "POST", "/branches/merge", `{"source":"a/b","delete_branch":true}`, 200, `"branch_deleted":true`},
		{"act-admin", "DELETE", "/branches/a%2Fb", "", 404, `branch \"a/b\" not found`},
		{"act-admin", "GET", "/snapshot", "", 200, `"entity_count":4`},
		{"act-admin", "POST", "/export", `{"type_names":["Knows"]}`, 200, `{"edge":"Knows","from":"ada","to":"bob",`},
		{"act-reader", "POST", "/export", "", 403, `"code":"forbidden"`},
		{"act-guarded", "GET", "/snapshot", "", 403, `read on branch main`},
		{"act-guarded", "GET", "/snapshot?branch=feature", "", 200, `"graph_branch":"feature"`},
		{"act-guarded", "GET", "/branches", "", 403, `read on branch main`},
		{"act-admin", "POST", "/verify", "", 200, `{"faults":[]}`},
		{"act-admin", "POST", "/cleanup", `{"keep_commits":1}`, 200, `"dry_run":false`},
		{"act-writer", "POST", "/cleanup", `{"keep_commits":1}`, 403, `admin`},
		{"act-indexer", "POST", "/load/ndjson?branch=feature&from=main", "", 200, `"branch_created":false`},
		{"act-indexer", "POST", "/load/ndjson?branch=another&from=main", "", 403, `branch_create on branch another`},
	} {
		r, err := http.NewRequestWithContext(t.Context(), q.method, m.url+q.path, strings.NewReader(q.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer the-token-of-"+q.actor)
		r.Header.Set("Content-Type", "application/json")
		if strings.Contains(q.path, "ndjson") {
			r.Header.Set("Content-Type", "application/x-ndjson")
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != q.status || !strings.Contains(string(b), q.want) {
			t.Errorf("%s: %s %s: %d %s, want %d %s", q.actor, q.method, q.path, resp.StatusCode, b, q.status, q.want)
		}
	}
}
