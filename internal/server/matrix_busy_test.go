package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/server"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// onMCP returns a call of a tool over MCP.
func onMCP(graph, name, args string) exchange {
	return exchange{"POST", "/graphs/" + graph + "/mcp", toolCall(name, args), http.Header{
		"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Mcp-Protocol-Version": {versions[0]},
	}}
}

// TestRESTMatrixAtLimit sends every request of the matrix, and one request over MCP, as an actor
// that already has the maximum number of requests in flight.
func TestRESTMatrixAtLimit(t *testing.T) {
	begun, let := make(chan struct{}), make(chan struct{})
	m := newRESTMatrix(t, func(o *server.Options) {
		o.Cluster.Server.Limits.PerActorInflight = 1
		o.Catalogs = []*tool.Catalog{withHeld(o.Catalogs[0], "everyone", begun, let)}
	})
	var requests []exchange
	for i := range restRows { // build the requests while the server still serves the actor
		requests = append(requests, m.of(&restRows[i], "main"))
	}
	var held sync.WaitGroup
	held.Go(func() { m.must("act-admin", "POST", "/queries/everyone", `{}`) })
	<-begun
	var seen envelopes
	check := func(what string, x exchange) {
		t.Helper()
		a := m.send("the-token-of-act-admin", x)
		seen.check(t, what, "at its limit", a, http.StatusTooManyRequests)
		var e client.Envelope
		if err := json.Unmarshal([]byte(a.body), &e); err != nil || a.header.Get("Retry-After") == "" || e.ResourceLimit == nil || e.ResourceLimit.Limit != 1 {
			t.Errorf("%s: %v %s, %v", what, a.header, a.body, err)
		}
	}
	for i := range restRows {
		row := &restRows[i]
		if r := routeOf(row.route); r.Elsewhere || r.Operation == "health" {
			seen.check(t, row.name(), "at its limit", m.send("the-token-of-act-admin", requests[i]), http.StatusOK)
			continue
		}
		check(row.name(), requests[i])
	}
	check("MCP", onMCP("people", "graph_schema", `{}`))
	seen.check(t, "another actor", "beside one at its limit", m.send("the-token-of-act-reader", exchange{"GET", "/graphs/people/schema", "", http.Header{}}), http.StatusOK)
	close(let)
	held.Wait()
}

// TestRESTMatrixOfQuarantine sends every request of the matrix to a quarantined graph.
func TestRESTMatrixOfQuarantine(t *testing.T) {
	m := newRESTMatrix(t, func(o *server.Options) {
		lost := o.Cluster.Graphs[0]
		lost.ID = "lost"
		o.Cluster.Graphs = append(o.Cluster.Graphs, lost)
	})
	var seen envelopes
	for i := range restRows {
		row := &restRows[i]
		if r := routeOf(row.route); !r.OnGraph() {
			continue
		}
		x := m.of(row, "main")
		x.path = strings.Replace(x.path, "/graphs/people", "/graphs/lost", 1)
		seen.check(t, row.name(), "no token", m.send("", x), http.StatusUnauthorized)
		for _, actor := range matrixActors {
			seen.check(t, row.name(), actor+" on a graph in quarantine", m.send("the-token-of-"+actor, x), http.StatusServiceUnavailable)
		}
	}
	seen.check(t, "MCP", "a graph in quarantine", m.send("the-token-of-act-admin", onMCP("lost", "graph_schema", `{}`)), http.StatusServiceUnavailable)
	a := m.send("", exchange{"GET", "/readyz", "", http.Header{}})
	var r client.Readiness
	if err := json.Unmarshal([]byte(a.body), &r); err != nil || a.status != http.StatusServiceUnavailable || r.Status != client.StatusNotReady || r.Quarantined != 1 || r.Detail != nil {
		t.Errorf("/readyz answers %d %s", a.status, a.body)
	}
	for i := range seen.lines {
		if strings.Contains(seen.lines[i], "lost") {
			t.Errorf("the answer tells of the graph: %s", seen.lines[i])
		}
	}
}

// TestMemoryIsTaken sends requests over both transports while all query memory is reserved.
func TestMemoryIsTaken(t *testing.T) {
	const all = 1 << 30
	m := newRESTMatrix(t, func(o *server.Options) {
		o.Cluster.Server.Limits.MemoryBytes = all
		o.Cluster.Server.Limits.RequestTimeout = time.Minute
	})
	if !m.server.TakeMemory(all) {
		t.Fatal("the memory was taken before")
	}
	const body = `{"query":"query q() { match { $a: Person $b: Person $c: Person $d: Person $e: Person $f: Person $g: Person $h: Person $i: Person $j: Person } return { $a.name as a, $b.name as b, $c.name as c } order { a, b, c } }"}`
	var seen envelopes
	a := m.send("the-token-of-act-admin", exchange{"POST", "/graphs/people/query", body, http.Header{"Content-Type": {"application/json"}}})
	seen.check(t, "POST /query", "memory is taken", a, http.StatusServiceUnavailable)
	if !strings.Contains(a.body, "all the memory that queries may use") || a.header.Get("Retry-After") != "1" {
		t.Errorf("it answers %s, %v", a.body, a.header)
	}
	// Over MCP, an operational fault is reported as a JSON-RPC error, not as a tool result.
	if a := m.send("the-token-of-act-admin", onMCP("people", "graph_query", body)); a.status != http.StatusOK || !strings.Contains(a.body, `"code":-32603`) || !strings.Contains(a.body, "all the memory that queries may use") {
		t.Errorf("over MCP it answers %d %s", a.status, a.body)
	}
}

// TestLongAnswers checks that answers over REST count towards the memory of all queries. They must
// release that memory whether they were sent or not.
func TestLongAnswers(t *testing.T) {
	m := newRESTMatrix(t, func(o *server.Options) { o.Cluster.Server.Limits.MemoryBytes = 32 * 6 << 20 })
	var lines strings.Builder
	for i := range 200 {
		fmt.Fprintf(&lines, `{"type":"Person","data":{"name":"p%03d","tags":[%q]}}`+"\n", i, strings.Repeat("x", 40<<10))
	}
	load := exchange{"POST", "/graphs/people/load/ndjson", lines.String(), http.Header{"Content-Type": {"application/x-ndjson"}}}
	if a := m.send("the-token-of-act-admin", load); a.status != http.StatusOK {
		t.Fatalf("the load answers %d %s", a.status, a.body)
	}
	ask := func(rows int) answer {
		body := fmt.Sprintf(`{"query":"query q() { match { $p: Person } return { $p.name as name, $p.tags as tags } }","max_rows":%d}`, rows)
		return m.send("the-token-of-act-admin", exchange{"POST", "/graphs/people/query", body, http.Header{"Content-Type": {"application/json"}}})
	}
	a := ask(100)
	var got struct {
		Rows []struct{ Name string }
	}
	if err := json.Unmarshal([]byte(a.body), &got); err != nil || a.status != http.StatusOK || len(got.Rows) != 100 || len(a.body) < 3<<20 {
		t.Errorf("an answer of %d bytes: %d, %v", len(a.body), a.status, err)
	}
	var seen envelopes
	a = ask(1000)
	seen.check(t, "POST /query", "an answer that is too long", a, http.StatusRequestEntityTooLarge)
	if !strings.Contains(a.body, `"resource":"bytes","limit":6291456`) {
		t.Errorf("it answers %s", a.body)
	}
	metrics := m.send("the-token-of-act-admin", exchange{"GET", "/metrics", "", http.Header{}})
	if !strings.Contains(metrics.body, "\nomnigraph_query_memory_bytes 0\n") {
		t.Errorf("memory stays taken: %s", metrics.body)
	}
}
