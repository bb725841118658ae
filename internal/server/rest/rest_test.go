package rest_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/builtin"
	"github.com/omnigraph-go/omnigraph/internal/server/rest"
	"github.com/omnigraph-go/omnigraph/internal/server/rest/resttest"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
)

func TestRoutes(t *testing.T) {
	writer, reader, bot := servedtest.Writer, servedtest.Reader, servedtest.Bot
	c := servedtest.Config(t, builtin.All("1")...)
	c.Limits.LoadBytes = 1000
	h := resttest.Wrap(t, rest.Handler(map[string]*servedgraph.Graph{"people": servedtest.Graph(t, c)}, rest.Options{
		MaxBody: 1000, MaxLoad: 1000, Server: servedtest.Policy{}, Version: "v9.9.9", SourceVersion: "0a1b2c",
	}))
	for _, q := range []request{
		{name: "health", method: "GET", path: "//healthz", status: 200, want: `{"status":"ok","version":"v9.9.9","source_version":"0a1b2c","graphs":1,"internal_schema_version":1}`},
		{name: "no path", method: "GET", path: "//nope", status: 404, want: `"code":"not_found"`},
		{name: "graphs", actor: writer, method: "GET", path: "//graphs", status: 200, want: `{"graphs":[{"graph_id":"people","uri":"omnigraph://people"}]}`},
		{name: "no graphs", actor: servedtest.Nobody, method: "GET", path: "//graphs", status: 403, want: `{"error":"the policy does not allow graph_list","code":"forbidden"}`},
		{name: "graphs to nobody", method: "GET", path: "//graphs", status: 403, want: `"code":"forbidden"`},
		{name: "no graph", actor: reader, method: "GET", path: "//graphs/zzz/schema", status: 404, want: `{"error":"graph \"zzz\" not found","code":"not_found"}`},
		{name: "dots", actor: reader, method: "POST", path: "//graphs/../graphs/people/query", status: 404, want: `path \"/graphs/../graphs/people/query\" not found`},
		{name: "two slashes", actor: reader, method: "GET", path: "///graphs", status: 404, want: `path \"//graphs\" not found`},
		{name: "escaped slash", actor: reader, method: "GET", path: "//graphs/people%2fschema", status: 404, want: `not found`},
		{name: "escaped dots", actor: reader, method: "GET", path: "//graphs/%2e%2e/schema", status: 404, want: `not found`},
		{name: "name with a line feed", actor: reader, method: "POST", path: "/queries/a%0d%0aX-Evil:%201", status: 404, want: `stored query \"a\\r\\nX-Evil: 1\" not found`},
		{name: "schema", actor: reader, method: "GET", path: "/schema", status: 200, want: `{"schema_source":"node Person {`},
		{name: "schema denied", actor: bot, method: "GET", path: "/schema", status: 403, want: `{"error":"the policy does not allow read on branch main","code":"forbidden"}`},
		{name: "schema of nobody", method: "GET", path: "/schema", status: 403, want: `"code":"forbidden"`},
		{name: "method", actor: reader, method: "POST", path: "/schema", status: 405, want: `"code":"method_not_allowed"`, header: "Allow: GET, HEAD"},
		{name: "queries", actor: reader, method: "GET", path: "/queries", status: 200,
			want: `{"queries":[{"name":"find_person","tool_name":"lookup_person","description":"Finds a person by name.","mutation":false,"params":[{"name":"name","kind":"string","nullable":false,"description":"The name."},{"name":"min","kind":"int","nullable":true}]},{"name":"everyone"`},
		{name: "invoke", actor: bot, method: "POST", path: "/queries/find_person", body: `{"params":{"name":"bob"}}`, status: 200,
			want:   `{"query_name":"find_person","target":{"branch":"main","snapshot":null},"columns":["p.name","p.age"],"rows":[{"p.name":"bob","p.age":41}],"row_count":1,"graph_commit_id":"COMMIT"}`,
			header: `ETag: "COMMIT"`},
		{name: "wide integers", actor: reader, method: "POST", path: "/queries/everyone", status: 200, want: `"p.big":9007199254740993,`},
		{name: "hidden", actor: reader, method: "POST", path: "/queries/secret", status: 200, want: `"row_count":3`},
		{name: "unknown member", actor: bot, method: "POST", path: "/queries/find_person", body: `{"parms":{"name":"bob"}}`, status: 400, want: `parms: unknown member; did you mean params?`},
		{name: "charset", actor: bot, method: "POST", path: "/queries/find_person", media: "application/json; charset=utf-8", body: `{"params":{"name":"bob"}}`, status: 200},
		{name: "media type", actor: bot, method: "POST", path: "/queries/find_person", media: "text/plain", body: `{"params":{"name":"bob"}}`, status: 415, want: `expected application/json`},
		{name: "bad JSON", actor: bot, method: "POST", path: "/queries/find_person", body: `{"params":`, status: 400, want: `not valid JSON`},
		{name: "too large", actor: bot, method: "POST", path: "/queries/find_person", body: `{"params":{"name":"` + strings.Repeat("b", 1000) + `"}}`, status: 413, want: `larger than the limit of 1000 bytes`},
		{name: "query", actor: reader, method: "POST", path: "/query", body: `{"query":"query q($n: String) { match { $p: Person { name: $n } } return { $p.age as age } }","params":{"n":"ada"}}`, status: 200,
			want: `"columns":["age"],"rows":[{"age":36}],"row_count":1,"graph_commit_id":"COMMIT"}`, header: `ETag: "COMMIT"`},
		{name: "query cut on request", actor: reader, method: "POST", path: "/query", body: `{"query":"query q() { match { $p: Person } return { $p.name } }","max_rows":1}`, status: 200,
			want: `"row_count":1,"graph_commit_id":"COMMIT","truncated":true,"truncated_by":"rows","next_page_token":"`},
		{name: "query with a note", actor: reader, method: "POST", path: "/query", body: `{"query":"query q() { match { $p: Person { name: \"Bob\" } } return { $p.age } }"}`, status: 200,
			want: `"rows":[],"row_count":0,"graph_commit_id":"COMMIT","notes":["no Person has name \"Bob\"; near it: \"bob\""]}`},
		{name: "query with a finding", actor: reader, method: "POST", path: "/query", body: `{"query":"query other() { match { $p: Person } return { $p.name } } query q() { match { $p: Person $r: Person } return { count($p) as n } }","name":"q"}`, status: 200,
			want: `"rows":[{"n":9}],"row_count":1,"graph_commit_id":"COMMIT","notes":["L103: `},
		{name: "finding on another query", actor: reader, method: "POST", path: "/query", body: `{"query":"query other() { match { $p: Person } return { $p.name } } query q() { match { $p: Person $r: Person } return { count($p) as n } }","name":"other"}`, status: 200,
			want: `"row_count":3,"graph_commit_id":"COMMIT"}`},
		{name: "mutation without effect", actor: writer, method: "POST", path: "/mutate", body: `{"query":"query m() { delete Person where name = \"Bob\" }"}`, status: 200,
			want: `"affected_nodes":0,"affected_edges":0,"actor_id":"act-writer","commit":null,"node_changes":{"inserted":0,"updated":0,"deleted":0},"edge_changes":{"inserted":0,"updated":0,"deleted":0},"notes":["no Person has name \"Bob\"; near it: \"bob\""]}`},
		{name: "no note for an actor without read via adhoc", actor: bot, method: "POST", path: "/queries/find_person", body: `{"params":{"name":"Bob"}}`, status: 200,
			want: `"rows":[],"row_count":0,"graph_commit_id":"COMMIT"}`},
		{name: "cut by the limit of the query", actor: reader, method: "POST", path: "/query", body: `{"query":"query q() { match { $p: Person } return { $p.name } limit 2 }","max_rows":2}`, status: 200,
			want: `"row_count":2,"graph_commit_id":"COMMIT","truncated":true,"truncated_by":"limit"}`},
		{name: "cut by the limit of the query, without max_rows", actor: reader, method: "POST", path: "/query", body: `{"query":"query q() { match { $p: Person } return { $p.name } limit 2 }"}`, status: 200,
			want: `"row_count":2,"graph_commit_id":"COMMIT"}`},
		{name: "not cut by the limit of the query", actor: reader, method: "POST", path: "/query", body: `{"query":"query q() { match { $p: Person } return { $p.name } limit 3 }","max_rows":3}`, status: 200,
			want: `"row_count":3,"graph_commit_id":"COMMIT"}`},
		{name: "query of a snapshot", actor: reader, method: "POST", path: "/query", body: `{"query":"query q() { match { $p: Person } return { $p.name } }","snapshot":"COMMIT"}`, status: 200,
			want: `"target":{"branch":null,"snapshot":"COMMIT"},"columns":["p.name"],"rows":[{"p.name":"ada"},{"p.name":"bob"},{"p.name":"cyd"}],"row_count":3,"graph_commit_id":"COMMIT"}`, header: `ETag: "COMMIT"`},
		{name: "snapshot and branch", actor: reader, method: "POST", path: "/query", body: `{"query":"query q() { match { $p: Person } return { $p.name } }","snapshot":"COMMIT","branch":"main"}`, status: 400,
			want: `snapshot: found together with branch, expected only one of them`},
		{name: "page token", actor: reader, method: "POST", path: "/query", body: `{"query":"query q() { match { $p: Person } return { $p.name } }","max_rows":1,"page_token":"x"}`, status: 400, want: `page_token: it is damaged`},
		{name: "invoke a snapshot", actor: reader, method: "POST", path: "/queries/everyone", body: `{"snapshot":"COMMIT"}`, status: 200, want: `"row_count":3,"graph_commit_id":"COMMIT"}`},
		{name: "invoke a snapshot and a branch", actor: reader, method: "POST", path: "/queries/everyone", body: `{"snapshot":"COMMIT","branch":"main"}`, status: 400, want: `snapshot: found together with branch`},
		{name: "mutate a snapshot", actor: writer, method: "POST", path: "/queries/add_person", body: `{"params":{"name":"dan"},"snapshot":"COMMIT"}`, status: 400, want: `snapshot: does not apply to a mutation`},
		{name: "no such snapshot", actor: reader, method: "POST", path: "/queries/everyone", body: `{"snapshot":"zzz"}`, status: 404, want: `commit \"zzz\" not found`},
		{name: "max_rows", actor: reader, method: "POST", path: "/query", body: `{"query":"query q() { match { $p: Person } return { $p.name } }","max_rows":0}`, status: 400, want: `max_rows: the number must be at least 1`},
		{name: "query of a mutation", actor: writer, method: "POST", path: "/query", body: `{"query":"query m() { insert Person { name: \"zoe\" } }"}`, status: 400, want: `query: m is a mutation, expected a read; send it to POST …/mutate"`},
		{name: "query denied", actor: bot, method: "POST", path: "/query", body: `{"query":"nonsense"}`, status: 403, want: `"code":"forbidden"`},
		{name: "rejected", actor: reader, method: "POST", path: "/query", body: `{"query":"query q() { match { $p: Persn } return { $p.name } }"}`, status: 400,
			want: `"diagnostics":[{"code":"T1","severity":"error","span":{"file":"query","start":{"offset":24,"line":1,"column":25}`},
		{name: "mutate", actor: writer, method: "POST", path: "/mutate", body: `{"query_source":"query m() { insert Person { name: \"zoe\" } } query n() { delete Person where name = \"zoe\" }","query_name":"m"}`, status: 200,
			want: `"affected_nodes":1,"affected_edges":0,"actor_id":"act-writer","commit":{"graph_commit_id":"COMMIT","graph_branch":"main","graph_manifest_version":`},
		{name: "unmutate", actor: writer, method: "POST", path: "/mutate", body: `{"query":"query n() { delete Person where name = \"zoe\" }"}`, status: 200, want: `"affected_nodes":1,`},
		{name: "mutate denied", actor: reader, method: "POST", path: "/mutate", body: `{"query":"query n() { delete Person where name = \"ada\" }"}`, status: 403, want: `change on branch main`},
		{name: "two names", actor: writer, method: "POST", path: "/mutate", body: `{"query":"query n() { delete Person where name = \"ada\" }","query_source":"query m() { delete Person where name = \"bob\" }"}`, status: 400, want: `query_source: found together with query, expected only one of them`},
		{name: "mutate without text", actor: writer, method: "POST", path: "/mutate", body: `{}`, status: 400, want: `query: missing, expected a string`},
		{name: "mutation", actor: writer, method: "POST", path: "/queries/add_person", body: `{"params":{"name":"dan"},"expect_mutation":true}`, status: 200,
			want: `{"branch":"main","query_name":"add_person","affected_nodes":1,"affected_edges":0,"actor_id":"act-writer","commit":{"graph_commit_id":"COMMIT","graph_branch":"main","graph_manifest_version":`, header: "ETag: "},
		{name: "inner denied", actor: reader, method: "POST", path: "/queries/add_person", body: `{"params":{"name":"dan"}}`, status: 403, want: `change on branch main`},
		{name: "load", actor: writer, method: "POST", path: "/load/ndjson?mode=merge", media: "application/x-ndjson", body: `{"type":"Person","data":{"name":"eve"}}`, status: 200,
			want: `"total_entities":1,"node_changes":{"inserted":1,"updated":0,"deleted":0},"edge_changes":{"inserted":0,"updated":0,"deleted":0},"commit":{"graph_commit_id":"COMMIT",`},
		{name: "load conflict", actor: writer, method: "POST", path: "/load/ndjson?mode=append", media: "application/x-ndjson", body: `{"type":"Person","data":{"name":"eve"}}`, status: 409, want: `"key_conflict":`},
		{name: "load denied", actor: reader, method: "POST", path: "/load/ndjson?mode=merge", media: "application/x-ndjson", status: 403, want: `"code":"forbidden"`},
		{name: "load mode", actor: writer, method: "POST", path: "/load/ndjson?mode=upsert", media: "application/x-ndjson", status: 400, want: `expected one of merge, patch, append, overwrite`},
		{name: "load parameter", actor: writer, method: "POST", path: "/load/ndjson?mode=merge&form=x", media: "application/x-ndjson", status: 400, want: `form: unknown query parameter`},
		{name: "load escape", actor: writer, method: "POST", path: "/load/ndjson?mode=merge&branch=dra%25zzft&x;y", media: "application/x-ndjson", status: 400, want: `the query part of the url is malformed`},
		{name: "load branch twice", actor: writer, method: "POST", path: "/load/ndjson?mode=merge&branch=trial&branch=main", media: "application/x-ndjson", status: 400, want: `branch: found several times`},
		{name: "branch in the url", actor: writer, method: "POST", path: "/mutate?branch=trial", body: `{"query":"query m() { insert Person { name: \"zoe\" } }"}`, status: 400, want: `branch: unknown query parameter; this route has no query parameters`},
		{name: "schema of a branch", actor: reader, method: "GET", path: "/schema?branch=trial", status: 404, want: `branch \"trial\" not found`},
		{name: "compressed", actor: reader, method: "POST", path: "/query", encoding: "gzip", body: "\x1f\x8b", status: 415, want: `found content encoding \"gzip\", expected none`},
		{name: "compressed load", actor: writer, method: "POST", path: "/load/ndjson?mode=merge", media: "application/x-ndjson", encoding: "gzip", status: 415, want: `content encoding`},
		{name: "load media type", actor: writer, method: "POST", path: "/load/ndjson?mode=merge", status: 415, want: `expected application/x-ndjson`},
		{name: "load too large", actor: writer, method: "POST", path: "/load/ndjson?mode=merge", media: "application/x-ndjson",
			body: strings.Repeat(`{"type":"Person","data":{"name":"eve"}}`+"\n", 100), status: 413, want: `larger than the limit of 1000 bytes`},
	} {
		t.Run(q.name, func(t *testing.T) { q.run(t, c, h) })
	}
}

// TestTwoContentTypes sends two Content-Type lines. The server must refuse the request and not
// choose one of them.
func TestTwoContentTypes(t *testing.T) {
	h := resttest.Wrap(t, rest.Handler(map[string]*servedgraph.Graph{"people": servedtest.Graph(t, servedtest.Config(t))}, rest.Options{}))
	for _, types := range [][]string{{"application/json", "text/plain"}, {"application/json", "application/json"}} {
		r := httptest.NewRequest("POST", "/graphs/people/queries/everyone", strings.NewReader("{}"))
		r = r.WithContext(access.WithActor(r.Context(), servedtest.Reader))
		r.Header["Content-Type"] = types
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if want := `found content type \"` + strings.Join(types, ", "); w.Code != http.StatusUnsupportedMediaType || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%q: %d %s, want 415 with %s", types, w.Code, w.Body, want)
		}
	}
}

// slow is a graph. Its method Schema blocks until the context ends.
type slow struct{ engine.Graph }

func (slow) Schema(ctx context.Context, _ engine.Target) (*engine.Schema, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestTimeout(t *testing.T) {
	c := servedtest.Config(t)
	c.Graph = slow{c.Graph}
	h := resttest.Wrap(t, rest.Handler(map[string]*servedgraph.Graph{"people": servedtest.Graph(t, c)}, rest.Options{}))
	for header, want := range map[string]int{"1": 503, "0": 400, "soon": 400} {
		r := httptest.NewRequest("GET", "/graphs/people/schema", nil)
		r.Header.Set("X-Timeout-Ms", header)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r.WithContext(access.WithActor(r.Context(), servedtest.Reader)))
		if w.Code != want {
			t.Errorf("%s: %d %s, want %d", header, w.Code, w.Body, want)
		}
	}
}

// TestMasking runs a query that the caller may not invoke, with every kind of body. The answer must
// be the same, byte for byte, as for an unknown query.
func TestMasking(t *testing.T) {
	c := servedtest.Config(t)
	h := resttest.Wrap(t, rest.Handler(map[string]*servedgraph.Graph{"people": servedtest.Graph(t, c)}, rest.Options{}))
	for _, body := range []string{``, `{}`, `{"nope":1}`, `{"expect_mutation":true}`, `[`} {
		answer := func(name string) string {
			r := httptest.NewRequest("POST", "/graphs/people/queries/"+name, strings.NewReader(body))
			r.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r.WithContext(access.WithActor(r.Context(), servedtest.Bot)))
			var b strings.Builder
			if err := w.Header().Write(&b); err != nil {
				t.Fatal(err)
			}
			return http.StatusText(w.Code) + b.String() + strings.ReplaceAll(w.Body.String(), name, "X")
		}
		want := answer("nosuchquery")
		for _, name := range []string{"everyone", "secret", "add_person", "misfit"} {
			if got := answer(name); got != want {
				t.Errorf("%s with %s: got\n%s\nwant\n%s", name, body, got, want)
			}
		}
		if !strings.HasPrefix(want, "Not Found") {
			t.Errorf("%s: %s", body, want)
		}
	}
}
