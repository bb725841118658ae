package rest_test

import (
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/rest"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

func TestDeprecated(t *testing.T) {
	writer, reader := servedtest.Writer, servedtest.Reader
	const names = "query q() { match { $p: Person } return { $p.name } }"
	steps(t, servedtest.Config(t), rest.Options{}, []request{
		{name: "read", actor: reader, method: "POST", path: "/read", body: `{"query_source":"` + names + ` query r() { match { $p: Person } return { $p.age } }","query_name":"q","branch":"main"}`, status: 200,
			want:   `{"query_name":"q","target":{"branch":"main","snapshot":null},"columns":["p.name"],"rows":[{"p.name":"ada"},{"p.name":"bob"},{"p.name":"cyd"}],"row_count":3}`,
			header: `Link: </graphs/people/query>; rel="successor-version"`, lacks: "graph_commit_id"},
		{name: "read a snapshot", actor: reader, method: "POST", path: "/read", body: `{"query":"` + names + `","snapshot":"COMMIT"}`, status: 200, want: `"snapshot":"COMMIT"`, lacks: "graph_commit_id"},
		{name: "read nothing", actor: reader, method: "POST", path: "/read", body: `{}`, status: 400, want: `query: missing`, header: "Deprecation: true"},
		{name: "read a mutation", actor: reader, method: "POST", path: "/read", body: `{"query_source":"query m() { insert Person { name: \"zoe\" } }"}`, status: 400, want: `is a mutation`},
		{name: "change", actor: writer, method: "POST", path: "/change", body: `{"query_source":"query m() { insert Person { name: \"zoe\" } }"}`, status: 200,
			want: `"commit":{"graph_commit_id":"COMMIT",`, header: `Link: </graphs/people/mutate>; rel="successor-version"`},
		{name: "change denied", actor: reader, method: "POST", path: "/change", body: `{"query_source":"x"}`, status: 403, header: "Deprecation: true"},
		{name: "ingest", actor: writer, method: "POST", path: "/ingest", body: `{"data":"{\"type\":\"Person\",\"data\":{\"name\":\"eve\"}}","branch":"trial"}`, status: 200,
			want:   `{"branch":"trial","base_branch":"main","branch_created":true,"mode":"merge","nodes":[{"name":"Person","entities_loaded":1}],"edges":[],"total_entities":1,"node_changes":{"inserted":1,"updated":0,"deleted":0},"edge_changes":{"inserted":0,"updated":0,"deleted":0},"commit":{"graph_commit_id":"`,
			header: `Link: </graphs/people/load>; rel="successor-version"`},
		{name: "ingest into what exists", actor: writer, method: "POST", path: "/ingest", body: `{"data":"{\"type\":\"Person\",\"data\":{\"name\":\"eve\"}}","branch":"trial","mode":"append"}`, status: 409, want: `"key_conflict":{"entity_kind":"node","type_name":"Person","id":"eve"}`},
		{name: "ingest into main", actor: writer, method: "POST", path: "/ingest", body: `{"data":"{\"type\":\"Person\",\"data\":{\"name\":\"eve\"}}"}`, status: 200, want: `"branch":"main","base_branch":null,"branch_created":false`},
		{name: "ingest denied", actor: reader, method: "POST", path: "/ingest", body: `{"data":"","branch":"nope"}`, status: 403, want: `change on branch nope`},
		{name: "unknown graph", actor: writer, method: "POST", path: "//graphs/a%3Eb/read", status: 404, header: `Link: </graphs/a%3Eb/query>; rel="successor-version"`},
	})
}

func TestConditions(t *testing.T) {
	writer, reader, bot := servedtest.Writer, servedtest.Reader, servedtest.Bot
	const add = `{"query":"query m() { insert Person { name: \"zoe\" } }"}`
	const gone = "Omnigraph-If-Graph-Commit: 01J00000000000000000000000"
	steps(t, servedtest.Config(t), rest.Options{}, []request{
		{name: "required", actor: writer, method: "POST", path: "/mutate/if-graph-commit", body: add, status: 400, want: `header Omnigraph-If-Graph-Commit: missing`},
		{name: "empty", actor: writer, method: "POST", path: "/mutate", send: `Omnigraph-If-Graph-Commit: ""`, body: add, status: 400, want: `header Omnigraph-If-Graph-Commit: found an empty text`},
		{name: "elsewhere", actor: writer, method: "POST", path: "/mutate/if-graph-commit", send: gone, body: add, status: 412,
			want: `{"error":"the branch is at commit COMMIT, not at 01J00000000000000000000000; read it again","precondition_failure":{"expected":"01J00000000000000000000000","actual":"COMMIT"}}`},
		{name: "elsewhere, by the plain route", actor: writer, method: "POST", path: "/mutate", send: gone, body: add, status: 412},
		{name: "elsewhere, a load", actor: writer, method: "POST", path: "/load/ndjson", media: ndjson, send: gone, body: `{"type":"Person","data":{"name":"eve"}}`, status: 412},
		{name: "elsewhere, a stored mutation", actor: writer, method: "POST", path: "/queries/add_person", send: gone, body: `{"params":{"name":"dan"}}`, status: 412},
		{name: "there", actor: writer, method: "POST", path: "/mutate/if-graph-commit", send: `Omnigraph-If-Graph-Commit: COMMIT`, body: add, status: 200, want: `"commit":{"graph_commit_id":"COMMIT",`},
		{name: "stored, required", actor: writer, method: "POST", path: "/queries/add_person/if-graph-commit", body: `{"params":{"name":"dan"}}`, status: 400, want: `missing`},
		{name: "stored, elsewhere", actor: writer, method: "POST", path: "/queries/add_person/if-graph-commit", send: gone, body: `{"params":{"name":"dan"}}`, status: 412, want: `"precondition_failure"`},
		{name: "stored, there", actor: writer, method: "POST", path: "/queries/add_person/if-graph-commit", send: `Omnigraph-If-Graph-Commit: "COMMIT"`, body: `{"params":{"name":"dan"},"expect_mutation":true}`, status: 200, want: `"commit":{"graph_commit_id":"COMMIT",`},
		{name: "stored, a read", actor: reader, method: "POST", path: "/queries/everyone/if-graph-commit", send: gone, status: 400, want: `if_commit: does not apply to a read`},
		{name: "stored, unknown", actor: bot, method: "POST", path: "/queries/everyone/if-graph-commit", send: gone, status: 404, want: `stored query \"everyone\" not found`},
		{name: "a try", actor: writer, method: "POST", path: "/mutate", body: `{"query":"query m() { insert Person { name: \"kay\" } }","dry_run":true}`, status: 200, want: `"affected_nodes":1,"affected_edges":0,"actor_id":"act-writer","commit":null,"dry_run":true,"node_changes":{"inserted":1,"updated":0,"deleted":0},"edge_changes":{"inserted":0,"updated":0,"deleted":0}}`},
		{name: "a stored try", actor: writer, method: "POST", path: "/queries/add_person", body: `{"params":{"name":"kay"},"dry_run":true}`, status: 200, want: `"commit":null,"dry_run":true,"node_changes":{"inserted":1,"updated":0,"deleted":0},"edge_changes":{"inserted":0,"updated":0,"deleted":0}}`},
		{name: "a try to load", actor: writer, method: "POST", path: "/load/ndjson?dry_run=true", media: ndjson, body: `{"type":"Person","data":{"name":"kay"}}`, status: 200, want: `"commit":null,"actor_id":"act-writer","dry_run":true}`},
		{name: "nothing of it", actor: reader, method: "POST", path: "/query", body: `{"query":"query q() { match { $p: Person { name: \"kay\" } } return { $p.name } }"}`, status: 200, want: `"row_count":0`},
		{name: "once", actor: writer, method: "POST", path: "/load/ndjson?mode=append", media: ndjson, send: "Idempotency-Key: k", body: `{"type":"Person","data":{"name":"lee"}}`, status: 200, want: `"commit":{"graph_commit_id":"COMMIT",`},
		{name: "twice", actor: writer, method: "POST", path: "/load/ndjson?mode=append", media: ndjson, send: "Idempotency-Key: k", body: `{"type":"Person","data":{"name":"lee"}}`, status: 200, want: `"commit":{"graph_commit_id":"COMMIT",`},
		{name: "another under the key", actor: writer, method: "POST", path: "/mutate", send: "Idempotency-Key: k", body: add, status: 409, want: `"code":"conflict"`},
		{name: "a key on a read", actor: reader, method: "POST", path: "/queries/everyone", send: "Idempotency-Key: k", status: 200, want: `"row_count":`},
		{name: "a long key", actor: writer, method: "POST", path: "/mutate", send: "Idempotency-Key: " + strings.Repeat("k", 256), body: add, status: 400, want: `header Idempotency-Key: found a text of 256 bytes, expected at most 255`},
		{name: "with a message", actor: writer, method: "POST", path: "/mutate", send: "Omnigraph-Message: why%0An%C3%B6t", body: `{"query":"query m() { insert Person { name: \"mia\" } }"}`, status: 200, want: `"message":"why\nnöt"`},
		{name: "a load with a message", actor: writer, method: "POST", path: "/load/ndjson", media: ndjson, send: "Omnigraph-Message: 100%25 sure", body: `{"type":"Person","data":{"name":"ned"}}`, status: 200, want: `"message":"100% sure"`},
		{name: "a message of the tool", actor: writer, method: "POST", path: "/queries/add_person", body: `{"params":{"name":"ora"}}`, status: 200, want: `"message":"add_person by act-writer"`},
		{name: "its origin", actor: reader, method: "POST", path: "/query", body: `{"query":"query q() { match { $p: Person { name: \"ora\" } } return { origin($p).actor as by, origin($p).tool as tool, origin($p).made_by as made } }"}`, status: 200,
			want: `{"by":"act-writer","tool":"add_person","made":"act-writer"}`},
		{name: "a message that is not encoded", actor: writer, method: "POST", path: "/mutate", send: "Omnigraph-Message: 100%", body: add, status: 400, want: `header Omnigraph-Message: invalid URL escape`},
		{name: "a message with a control character", actor: writer, method: "POST", path: "/mutate", send: "Omnigraph-Message: a%09", body: add, status: 400, want: `control character U+0009 at byte 2`},
		{name: "a long message", actor: writer, method: "POST", path: "/mutate", send: "Omnigraph-Message: " + strings.Repeat("m", 1025), body: add, status: 400, want: `has 1025 bytes, expected at most 1024`},
		{name: "a message on a route that takes none", actor: reader, method: "GET", path: "/snapshot", send: "Omnigraph-Message: m", status: 400, want: `header Omnigraph-Message: does not apply to this route`},
		{name: "a message of a read", actor: reader, method: "POST", path: "/queries/everyone", send: "Omnigraph-Message: m", status: 400, want: `message: does not apply to a read`},
		{name: "in the history", actor: reader, method: "GET", path: "/commits?limit=1&grep=n%C3%B6t", status: 200, want: `"message":"why\nnöt"}],"next_before":`, lacks: "100%"},
		{name: "not in the history", actor: reader, method: "GET", path: "/commits?grep=nowhere", status: 200, want: `{"commits":[],"next_before":null}`},
		{name: "cut on request", actor: reader, method: "POST", path: "/queries/everyone", body: `{"max_rows":1}`, status: 200, want: `"truncated":true,"truncated_by":"rows"`},
	})
}

func TestLoads(t *testing.T) {
	writer, reader, drafter := servedtest.Writer, servedtest.Reader, servedtest.Drafter
	const eve = `{\"type\":\"Person\",\"data\":{\"name\":\"eve\"}}`
	steps(t, servedtest.Config(t), rest.Options{MaxBody: 100, MaxLoad: 1000}, []request{
		{name: "from", actor: writer, method: "POST", path: "/load/ndjson?branch=a%2Fb&from=main&mode=append", media: ndjson, body: `{"type":"Person","data":{"name":"eve"}}`, status: 200,
			want: `{"branch":"a/b","base_branch":"main","branch_created":true,"mode":"append"`},
		{name: "from without a branch", actor: writer, method: "POST", path: "/load/ndjson?from=main", media: ndjson, status: 400, want: `set branch to the name of the branch to create`},
		{name: "from nothing", actor: writer, method: "POST", path: "/load/ndjson?branch=x&from=nope", media: ndjson, status: 404, want: `branch \"nope\" not found`},
		{name: "from what may not be read", actor: drafter, method: "POST", path: "/load/ndjson?branch=x&from=main", media: ndjson, status: 403, want: `read on branch main`},
		{name: "from what may not be read, into a branch that is there", actor: drafter, method: "POST", path: "/load/ndjson?branch=a%2Fb&from=main", media: ndjson, body: `{"type":"Person","data":{"name":"eve"}}`, status: 200, want: `"base_branch":null,"branch_created":false`},
		{name: "a bad line leaves no branch", actor: writer, method: "POST", path: "/load/ndjson?branch=x&from=main", media: ndjson, body: `{"type":"Persn","data":{"name":"eve"}}`, status: 400, want: `line 1`},
		{name: "none is left", actor: writer, method: "GET", path: "/branches", status: 200, want: `"branches":["a/b","main"]`},
		{name: "text", actor: writer, method: "POST", path: "/load", body: `{"data":"` + eve + `\n` + eve + `"}`, status: 409, want: `"key_conflict":`},
		{name: "text above the limit of other bodies", actor: writer, method: "POST", path: "/load", body: `{"data":"` + eve + `","mode":"merge","branch":"main"}` + "                                     ", status: 200,
			want: `"mode":"merge","nodes":[{"name":"Person","entities_loaded":1}],"edges":[],"total_entities":1,"node_changes":{"inserted":1,"updated":0,"deleted":0},"edge_changes":{"inserted":0,"updated":0,"deleted":0},"commit":{"graph_commit_id":"COMMIT","graph_branch":"main",`},
		{name: "text from", actor: writer, method: "POST", path: "/load", body: `{"data":"` + eve + `","branch":"y","from":"main"}`, status: 200, want: `"branch_created":true`},
		{name: "text from without a branch", actor: writer, method: "POST", path: "/load", body: `{"data":"","from":"main"}`, status: 400, want: `set branch to the name of the branch to create`},
		{name: "bad mode", actor: writer, method: "POST", path: "/load", body: `{"data":"","mode":"upsert"}`, status: 400, want: `mode: found`},
		{name: "no data", actor: writer, method: "POST", path: "/load", body: `{}`, status: 400, want: `data: missing`},
		{name: "denied", actor: reader, method: "POST", path: "/load", body: `{"data":""}`, status: 403, want: `does not allow change on branch main`},
		{name: "denied unread", actor: reader, method: "POST", path: "/load", body: `{"data":"` + string(make([]byte, 1000)) + `"}`, status: 403, want: `does not allow change"`},
		{name: "on some branch", actor: drafter, method: "POST", path: "/load", body: `{"data":"` + eve + `","branch":"y"}`, status: 200, want: `"branch":"y"`},
		{name: "too large", actor: writer, method: "POST", path: "/load", body: `{"data":"` + string(make([]byte, 1000)) + `"}`, status: 413, want: `larger than the limit of 1000 bytes`},
		{name: "twice the member", actor: writer, method: "POST", path: "/load", body: `{"data":"","data":""}`, status: 400, want: `the member /data occurs twice`},
		{name: "twice inside", actor: writer, method: "POST", path: "/queries/everyone", body: `{"params":{"a":{"b":1,"b":2}}}`, status: 400, want: `occurs twice`},
	})
}

// TestLoadByPattern sends loads of an actor who may load only into branches that match a pattern.
// The actor may load into a new branch that matches, although no such branch exists yet. Only the
// body names the branch.
func TestLoadByPattern(t *testing.T) {
	c := servedtest.Config(t)
	c.Authorizer = allow(func(_ *access.Actor, g tool.Grant) bool {
		return g.Action == tool.Read || strings.HasPrefix(g.Branch.Name(), "feature/")
	})
	line := `{\"type\":\"Person\",\"data\":{\"name\":\"eve\"}}`
	long := line + strings.Repeat(`\n`, 1000)
	writer := servedtest.Writer
	steps(t, c, rest.Options{MaxBody: 1000}, []request{
		{name: "elsewhere", actor: writer, method: "POST", path: "/load", body: `{"data":"` + line + `"}`, status: 403, want: `change on branch main`},
		{name: "more elsewhere", actor: writer, method: "POST", path: "/load", body: `{"data":"` + long + `"}`, status: 403, want: `does not allow change"`},
		{name: "ingest", actor: writer, method: "POST", path: "/ingest", body: `{"data":"` + line + `","branch":"feature/a"}`, status: 200, want: `"branch_created":true`},
		{name: "load", actor: writer, method: "POST", path: "/load", body: `{"data":"` + long + `","branch":"feature/a"}`, status: 200, want: `"branch_created":false`},
		{name: "load into another", actor: writer, method: "POST", path: "/load", body: `{"data":"` + line + `","branch":"feature/b","from":"main"}`, status: 200, want: `"branch_created":true`},
	})
}
