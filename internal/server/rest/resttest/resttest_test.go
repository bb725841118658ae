package resttest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestCheck checks that the check detects exchanges that the document does not allow.
func TestCheck(t *testing.T) {
	const read = `{"query_name":"q","target":{"branch":"main","snapshot":null},"columns":["a"],"rows":[{"a":{"b":[1]}}],"row_count":1,"graph_commit_id":"c"}`
	tagged := http.Header{"Content-Type": {"application/json"}, "Etag": {`"c"`}}
	plain := http.Header{"Content-Type": {"application/json"}}
	for _, tt := range []struct {
		name, method, path, body string
		status                   int
		header                   http.Header
		answer, want             string // part of the fault, empty for none
	}{
		{"good", "POST", "/graphs/g/query", `{"query":"x","params":{"n":1},"max_rows":3,"branch":null}`, 200, tagged, read, ""},
		{"head", "HEAD", "/graphs/g/schema", ``, 200, tagged, ``, ""},
		{"a fault", "POST", "/graphs/g/query", `{`, 400, plain, `{"error":"e","code":"bad_request"}`, ""},
		{"a fault without a code", "POST", "/graphs/g/mutate", `{}`, 412, plain, `{"error":"e","precondition_failure":{"expected":"a","actual":"b"}}`, ""},
		{"nowhere", "GET", "/none", ``, 404, plain, `{"error":"e","code":"not_found"}`, ""},
		{"body member", "POST", "/graphs/g/query", `{"query":"x","nonsense":1}`, 200, tagged, read, "does not allow this request"},
		{"body type", "POST", "/graphs/g/query", `{"query":1}`, 200, tagged, read, "does not allow this request"},
		{"both names", "POST", "/graphs/g/mutate", `{"query":"x","query_source":"y"}`, 200, plain, `{"branch":"main","query_name":"q","affected_nodes":1,"affected_edges":0,"actor_id":null,"commit":null}`, "does not allow this request"},
		{"query parameter", "POST", "/graphs/g/load/ndjson?mode=nonsense", "", 200, plain, `{"branch":"main","base_branch":null,"branch_created":false,"mode":"merge","nodes":[],"edges":[],"total_entities":0,"commit":null,"actor_id":null}`, "does not allow this request"},
		{"no tag", "POST", "/graphs/g/query", `{"query":"x"}`, 200, plain, read, "ETag"},
		{"media type", "POST", "/graphs/g/query", `{"query":"x"}`, 200, http.Header{"Content-Type": {"text/html"}, "Etag": {`"c"`}}, read, "does not have this answer"},
		{"answer member", "POST", "/graphs/g/query", `{"query":"x"}`, 200, tagged, strings.Replace(read, `{"query_name"`, `{"nonsense":1,"query_name"`, 1), "does not have this answer"},
		{"answer lacks a member", "POST", "/graphs/g/query", `{"query":"x"}`, 200, tagged, strings.Replace(read, `"row_count":1,`, ``, 1), "does not have this answer"},
		{"answer type", "POST", "/graphs/g/query", `{"query":"x"}`, 200, tagged, strings.Replace(read, `"row_count":1`, `"row_count":null`, 1), "does not have this answer"},
		{"status", "POST", "/graphs/g/query", `{"query":"x"}`, 418, plain, `{"error":"e","code":"bad_request"}`, "status is not supported"},
		{"code", "POST", "/graphs/g/query", `{"query":"x"}`, 400, plain, `{"error":"e","code":"nonsense"}`, "does not have this answer"},
		{"no challenge", "POST", "/graphs/g/query", `{"query":"x"}`, 401, plain, `{"error":"e","code":"unauthorized"}`, "WWW-Authenticate"},
		{"served from nowhere", "GET", "/none", ``, 200, plain, `{}`, "does not have this operation"},
		{"nowhere without the envelope", "GET", "/none", ``, 404, plain, `{}`, "error"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequest(tt.method, tt.path, nil)
			r.Header.Set("Content-Type", "application/json")
			if strings.Contains(tt.path, "ndjson") {
				r.Header.Set("Content-Type", "application/x-ndjson")
			}
			x := exchange{doc: Document(t), requests: true, r: r, sent: &recordedBody{}, status: tt.status, header: tt.header, answer: &recordedBody{}}
			fmt.Fprint(x.sent, tt.body)
			fmt.Fprint(x.answer, tt.answer)
			err := x.check()
			switch {
			case tt.want == "" && err != nil:
				t.Error(err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}
