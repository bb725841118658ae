package server_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/clock/clocktest"
	"github.com/omnigraph-go/omnigraph/internal/server"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/logsample"
	"github.com/omnigraph-go/omnigraph/internal/server/observe"
)

// reply is the answer to a request.
type reply struct {
	status int
	header http.Header
	body   string
}

// ask sends a request to a path of the server. It uses the token of act-dev unless headers are
// given.
func (ts *testServer) ask(t *testing.T, method, path, body string, headers ...string) reply {
	t.Helper()
	if !strings.HasPrefix(path, "http") {
		path = strings.TrimSuffix(ts.url, "/graphs/code") + path
	}
	r, err := http.NewRequest(method, path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+devToken)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{res.StatusCode, res.Header, string(b)}
}

func toolCall(name, args string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, name, args)
}

// mayList allows act-dev to list the graphs.
func mayList(t *testing.T) func(*server.Options) {
	file := filepath.Join(t.TempDir(), "server.policy.yaml")
	text := "version: 1\nrules:\n  - { id: list, allow: { actors: { ids: [act-dev] }, actions: [graph_list] } }\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return func(o *server.Options) { o.Cluster.ServerPolicy = file }
}

// metrics reads the metrics as Prometheus does, and returns the values by name and labels.
func (ts *testServer) metrics(t *testing.T) map[string]float64 {
	t.Helper()
	a := ts.ask(t, "GET", "/metrics", "")
	if a.status != http.StatusOK {
		t.Fatalf("/metrics answers %d %s", a.status, a.body)
	}
	p := expfmt.NewTextParser(model.UTF8Validation)
	families, err := p.TextToMetricFamilies(strings.NewReader(a.body))
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for name, f := range families {
		for _, m := range f.Metric {
			var labels []string
			for _, l := range m.Label {
				labels = append(labels, l.GetName()+"="+l.GetValue())
			}
			key := name + "{" + strings.Join(labels, ",") + "}"
			switch {
			case m.Counter != nil:
				values[key] = m.Counter.GetValue()
			case m.Gauge != nil:
				values[key] = m.Gauge.GetValue()
			case m.Histogram != nil:
				values[key] = float64(m.Histogram.GetSampleCount())
			}
		}
	}
	return values
}

// TestMetrics sends requests of every kind. Each must be counted once, under labels that no
// client can choose.
func TestMetrics(t *testing.T) {
	ts := newServer(t, mayList(t))
	for range 3 {
		ts.ask(t, "POST", "/graphs/code/mcp", toolCall("find_symbols", `{"params":{"words":"shelf"}}`))
	}
	ts.ask(t, "POST", "/graphs/code/mcp", toolCall("find_symbols", `{"params":{"wards":"shelf"}}`))
	ts.ask(t, "POST", "/graphs/code/mcp", toolCall("no_such_tool_7f3", `{}`))
	ts.ask(t, "POST", "/graphs/code/queries/no_such_query_7f3", `{}`)
	ts.ask(t, "POST", "/graphs/code/queries/get_package", `{"params":{"path":"example.com/shop/stock"}}`)
	ts.ask(t, "POST", "/graphs/code/query", `{"query":"query q_7f3() { match { $n: Nothing_7f3 } return { $n.id } }"}`)
	ts.ask(t, "POST", "/graphs/code/mutate", `{"query":"query m() { insert Note { slug: \"x\", text: \"t\" } }"}`, "Authorization", "Bearer the-token-of-act-ada")
	ts.ask(t, "GET", "/graphs/code/schema", "", "Authorization", "Bearer wrong_7f3")
	ts.ask(t, "GET", "/nowhere_7f3", "")
	ts.ask(t, "GET", "/graphs/other_7f3/schema", "")
	ts.ask(t, "BREW7F3", "/graphs", "")
	// The studio asks with the tag that it has. An answer that says so is no fault.
	for range 2 {
		if a := ts.ask(t, "GET", "/graphs/code/snapshot", "", "If-None-Match", "*"); a.status != http.StatusNotModified {
			t.Errorf("an answer that the client has: %d %s", a.status, a.body)
		}
	}

	got := ts.metrics(t)
	want := map[string]float64{
		"omnigraph_calls_total{graph=code,outcome=ok,tool=find_symbols}":                         3,
		"omnigraph_calls_total{graph=code,outcome=bad_request,tool=find_symbols}":                1,
		"omnigraph_calls_total{graph=code,outcome=ok,tool=get_snapshot}":                         2,
		"omnigraph_calls_total{graph=code,outcome=ok,tool=get_package}":                          1,
		"omnigraph_calls_total{graph=code,outcome=bad_request,tool=query}":                       1,
		"omnigraph_calls_total{graph=code,outcome=forbidden,tool=mutate}":                        1,
		"omnigraph_calls_total{graph=code,outcome=not_found,tool=unknown}":                       2,
		"omnigraph_actor_calls_total{actor=act-ada,graph=code,outcome=forbidden,tool=mutate}":    1,
		"omnigraph_policy_denials_total{action=change,graph=code}":                               1,
		"omnigraph_call_seconds{graph=code,tool=find_symbols}":                                   4,
		"omnigraph_call_rows_total{graph=code,tool=get_package}":                                 1,
		"omnigraph_http_requests_total{class=2xx,method=POST,route=/graphs/{id}/mcp}":            5,
		"omnigraph_http_request_seconds{route=/graphs/{id}/mcp}":                                 5,
		"omnigraph_http_requests_total{class=4xx,method=POST,route=/graphs/{id}/queries/{name}}": 1,
		"omnigraph_http_requests_total{class=2xx,method=POST,route=/graphs/{id}/queries/{name}}": 1,
		"omnigraph_http_requests_total{class=4xx,method=GET,route=none}":                         1,
		"omnigraph_http_requests_total{class=4xx,method=GET,route=other}":                        1,
		"omnigraph_http_requests_total{class=4xx,method=other,route=/graphs}":                    1,
		"omnigraph_auth_failures_total{}":                                                        1,
		"omnigraph_guard_refusals_total{}":                                                       0,
		"omnigraph_draining{}":                                                                   0,
		"omnigraph_http_requests_in_flight{}":                                                    1, // the request for the metrics itself
		"omnigraph_admission_requests{}":                                                         0,
		"omnigraph_graph_branches{graph=code}":                                                   1,
		"omnigraph_graph_commits{graph=code}":                                                    2,
		"omnigraph_graph_checkpoint_failures_total{graph=code}":                                  0,
	}
	for key, v := range want {
		if have, ok := got[key]; !ok || have != v {
			t.Errorf("%s is %v, want %v", key, have, v)
		}
	}
	for key := range got {
		if strings.Contains(key, "outcome=internal") {
			t.Errorf("a fault of the server is counted: %s", key)
		}
		if strings.Contains(strings.ToLower(key), "7f3") || strings.Contains(key, "act-") && !strings.HasPrefix(key, "omnigraph_actor_calls_total") {
			t.Errorf("a label has what a client chose, or an actor: %s", key)
		}
	}
	// The graph is too small for a checkpoint, so its data is in the log.
	if got["omnigraph_graph_log_bytes{graph=code}"] <= 0 || got["go_goroutines{}"] <= 0 {
		t.Error("figures of the engine or of the runtime are missing")
	}

	// The table must list all metrics.
	known := map[string]bool{}
	for _, m := range observe.Metrics {
		known[m.Name] = true
	}
	for key := range got {
		name, _, _ := strings.Cut(key, "{")
		if strings.HasPrefix(name, "omnigraph_") && !known[name] {
			t.Errorf("%s is not in the table", name)
		}
	}
}

// TestMetricsAreGranted checks that an actor that may not list the graphs sees no metrics.
func TestMetricsAreGranted(t *testing.T) {
	ts := newServer(t, mayList(t))
	for token, want := range map[string]int{devToken: 200, "the-token-of-act-ada": 403, "wrong": 401} {
		a := ts.ask(t, "GET", "/metrics", "", "Authorization", "Bearer "+token)
		if a.status != want {
			t.Errorf("%s got %d %s, want %d", token, a.status, a.body, want)
		}
	}
	if a := ts.ask(t, "POST", "/metrics", ""); a.status != http.StatusMethodNotAllowed || a.header.Get("Allow") != "GET" {
		t.Errorf("a POST got %d %v %s", a.status, a.header, a.body)
	}
}

// logged is a log that tests may read while the server writes to it.
type logged struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logged) lines(t *testing.T, msg string) (lines []map[string]any) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.b.String()) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		if msg == "" || m["msg"] == msg {
			lines = append(lines, m)
		}
	}
	return lines
}

func logTo(t *testing.T, level string) (*logged, func(*server.Options)) {
	to := &logged{}
	log, err := observe.NewLogger(to, "json", level)
	if err != nil {
		t.Fatal(err)
	}
	return to, func(o *server.Options) { o.Log, o.LogRequests = log, true }
}

// TestLog checks what the log lines of a read and a write contain, and what they must not.
func TestLog(t *testing.T) {
	log, with := logTo(t, "debug")
	ts := newServer(t, with)
	const secret = "hush-7f3"
	a := ts.ask(t, "POST", "/graphs/code/mcp", toolCall("find_symbols", `{"params":{"words":"`+secret+`"}}`), "X-Request-Id", "read-1")
	if got := a.header.Get("X-Request-Id"); got != "read-1" {
		t.Errorf("the answer's id is %q", got)
	}
	write := `{"params":{"slug":"` + secret + `","symbol":"example.com/shop/stock.Shelf","text":"` + secret + `"}}`
	ts.ask(t, "POST", "/graphs/code/queries/add_note", write, "X-Request-Id", "write-1")
	a = ts.ask(t, "POST", "/graphs/code/mutate", `{"query":"query m() { insert Note { slug: \"`+secret+`\", text: \"t\" } }"}`,
		"Authorization", "Bearer the-token-of-act-ada", "X-Request-Id", "bad id")
	made := a.header.Get("X-Request-Id")
	if len(made) != 26 || strings.Contains(made, " ") {
		t.Errorf("in place of a malformed id there is %q", made)
	}
	ts.ask(t, "GET", "/"+secret, "", "Authorization", "Bearer "+secret)
	if err := ts.stop(); err != nil {
		t.Fatal(err)
	}

	requests := log.lines(t, "request")
	if len(requests) != 4 {
		t.Fatalf("%d lines of requests: %v", len(requests), requests)
	}
	for i, want := range []map[string]any{
		{"request": "read-1", "method": "POST", "route": "/graphs/{id}/mcp", "status": 200.0, "actor": "act-dev", "graph": "code", "tool": "find_symbols", "branch": "main"},
		{"request": "write-1", "route": "/graphs/{id}/queries/{name}", "status": 200.0, "actor": "act-dev", "tool": "add_note", "branch": "main"},
		{"request": made, "route": "/graphs/{id}/mutate", "status": 403.0, "actor": "act-ada", "tool": "mutate"},
		{"route": "none", "status": 401.0, "actor": ""},
	} {
		for key, v := range want {
			if requests[i][key] != v {
				t.Errorf("line %d: %s is %v, want %v", i, key, requests[i][key], v)
			}
		}
		if requests[i]["duration"].(float64) <= 0 || requests[i]["bytes"].(float64) <= 0 {
			t.Errorf("line %d has no duration or no bytes: %v", i, requests[i])
		}
	}
	if c, _ := requests[0]["commit"].(string); len(c) != 26 {
		t.Errorf("the line of the read has the commit %q", c)
	}
	writes, refused := log.lines(t, "write"), log.lines(t, "write refused")
	if len(writes) != 1 || writes[0]["request"] != "write-1" || writes[0]["actor"] != "act-dev" || writes[0]["commit"] == "" {
		t.Errorf("the writes are %v", writes)
	}
	if len(refused) != 1 || refused[0]["request"] != made || refused[0]["actor"] != "act-ada" || refused[0]["outcome"] != "forbidden" {
		t.Errorf("the refused writes are %v", refused)
	}
	digests := map[string]bool{}
	for _, c := range log.lines(t, "call") {
		for _, key := range []string{"args", "result"} {
			if d, ok := c[key].(string); ok {
				if !regexp.MustCompile(`^[0-9a-f]{16}$`).MatchString(d) {
					t.Errorf("a digest is %q", d)
				}
				digests[d] = true
			}
		}
	}
	if len(digests) != 5 { // digests of the arguments of three calls and of two results
		t.Errorf("the digests are %v", digests)
	}
	for _, line := range log.lines(t, "") {
		if b, _ := json.Marshal(line); strings.Contains(string(b), secret) || strings.Contains(string(b), devToken) {
			t.Errorf("the log tells what was sent: %s", b)
		}
	}
}

// TestQuietLog checks that by default the log has no lines for fast requests without faults.
func TestQuietLog(t *testing.T) {
	log, with := logTo(t, "info")
	ts := newServer(t, with, func(o *server.Options) { o.LogRequests = false })
	ts.ask(t, "POST", "/graphs/code/mcp", toolCall("find_symbols", `{"params":{"words":"shelf"}}`))
	ts.ask(t, "GET", "/healthz", "")
	ts.ask(t, "GET", "/nowhere", "")
	if err := ts.stop(); err != nil {
		t.Fatal(err)
	}
	if lines := log.lines(t, "request"); len(lines) != 1 || lines[0]["status"] != 404.0 {
		t.Errorf("the lines of requests are %v", lines)
	}
	if lines := log.lines(t, "call"); len(lines) != 0 {
		t.Errorf("the lines of calls are %v", lines)
	}
}

// TestTimeouts checks that a client can shorten the time limit of a call but not lengthen it. Loads
// must be exempt from the server's limit.
func TestTimeouts(t *testing.T) {
	const query = `{"query":"query q() { match { $s: Symbol } return { $s.path } }"}`
	short := newServer(t, func(o *server.Options) { o.Cluster.Server.Limits.RequestTimeout = time.Nanosecond })
	if a := short.ask(t, "POST", "/graphs/code/query", query, "X-Timeout-Ms", "60000"); a.status != http.StatusServiceUnavailable {
		t.Errorf("with a longer timeout of its own a client got %d %s", a.status, a.body)
	}
	line := `{"type":"Package","data":{"path":"example.com/late","name":"late","files":1,"lines":1}}`
	if a := short.ask(t, "POST", "/graphs/code/load/ndjson?mode=merge", line, "Content-Type", "application/x-ndjson"); a.status != http.StatusOK {
		t.Errorf("a load got %d %s", a.status, a.body)
	}
	long := newServer(t)
	began := clock.Now()
	product := `{"query":"query q() { match { $a: Symbol $b: Symbol $c: Symbol $d: Symbol $e: Symbol $f: Symbol $g: Symbol } return { count($a) as n } }"}`
	if a := long.ask(t, "POST", "/graphs/code/query", product, "X-Timeout-Ms", "20"); a.status != http.StatusServiceUnavailable {
		t.Errorf("with a shorter timeout of its own a client got %d %s", a.status, a.body)
	}
	if took := clock.Since(began); took > 5*time.Second {
		t.Errorf("a timeout of 20 ms took %v", took)
	}
}

// TestFaultHasTheRequestsID checks that the id in an error also appears in the log.
func TestFaultHasTheRequestsID(t *testing.T) {
	log, with := logTo(t, "info")
	ts := newServer(t, with, func(o *server.Options) { o.Cluster.Server.Limits.RequestTimeout = time.Nanosecond })
	a := ts.ask(t, "POST", "/graphs/code/query", `{"query":"query q() { match { $s: Symbol } return { $s.path } }"}`, "X-Request-Id", "slow-1")
	var e client.Envelope
	if err := json.Unmarshal([]byte(a.body), &e); err != nil || a.status != http.StatusServiceUnavailable || !strings.Contains(e.Message, "(id slow-1)") {
		t.Errorf("got %d %s, %v", a.status, a.body, err)
	}
	if err := ts.stop(); err != nil {
		t.Fatal(err)
	}
	lines := log.lines(t, "a call took too long")
	if len(lines) != 1 || lines[0]["id"] != "slow-1" || lines[0]["request"] != "slow-1" || lines[0]["level"] != "WARN" || lines[0]["outcome"] != "timed_out" {
		t.Errorf("the lines are %v", lines)
	}
	if lines := log.lines(t, "operational fault"); len(lines) != 0 {
		t.Errorf("a limit is a fault: %v", lines)
	}
}

// TestDeadlineOfAClient checks that a call that exceeds the client's own deadline causes no
// warning in the log.
func TestDeadlineOfAClient(t *testing.T) {
	log, with := logTo(t, "info")
	ts := newServer(t, with, mayList(t))
	product := `{"query":"query q() { match { $a: Symbol $b: Symbol $c: Symbol $d: Symbol $e: Symbol $f: Symbol $g: Symbol } return { count($a) as n } }"}`
	if a := ts.ask(t, "POST", "/graphs/code/query", product, "X-Timeout-Ms", "20"); a.status != http.StatusServiceUnavailable {
		t.Fatalf("got %d %s", a.status, a.body)
	}
	got := ts.metrics(t)
	if got["omnigraph_calls_total{graph=code,outcome=deadline,tool=query}"] != 1 || got["omnigraph_calls_total{graph=code,outcome=timed_out,tool=query}"] != 0 {
		t.Errorf("it is counted as %v", got)
	}
	if err := ts.stop(); err != nil {
		t.Fatal(err)
	}
	if lines := log.lines(t, "a call took too long"); len(lines) != 1 || lines[0]["level"] != "INFO" || lines[0]["outcome"] != "deadline" {
		t.Errorf("the lines are %v", lines)
	}
	for _, line := range log.lines(t, "") {
		if line["level"] == "ERROR" || line["level"] == "WARN" && line["msg"] != "a stored query does not fit the schema and is left out" {
			t.Errorf("an alarm: %v", line)
		}
	}
}

// TestRefusedOnce sends requests without a good token. One such request must write one log line.
// Many of them within an interval must write one line together.
func TestRefusedOnce(t *testing.T) {
	now := clocktest.New(clocktest.Start)
	log, with := logTo(t, "info")
	ts := newServer(t, with, mayList(t), func(o *server.Options) { o.LogRequests, o.Now = false, now.Now })
	ts.ask(t, "GET", "/graphs/code/schema", "", "Authorization", "Bearer wrong")
	if lines := append(log.lines(t, "request"), log.lines(t, "authentication refused")...); len(lines) != 1 || lines[0]["reason"] == nil {
		t.Errorf("one refusal makes %v", lines)
	}
	const flood = 300
	for range flood {
		ts.ask(t, "GET", "/graphs/code/schema", "", "Authorization", "Bearer wrong")
	}
	now.Pass(logsample.Interval)
	ts.ask(t, "GET", "/graphs/code/schema", "", "Authorization", "Bearer wrong")
	lines, told := log.lines(t, "authentication refused"), 0
	for _, line := range lines {
		others, _ := line["others"].(float64)
		told += 1 + int(others)
	}
	if len(lines) != 2 || told != flood+2 {
		t.Errorf("%d refusals are %d lines that count %d, want 2 lines", flood+2, len(lines), told)
	}
	if got := ts.metrics(t); got["omnigraph_auth_failures_total{}"] != flood+2 {
		t.Errorf("the metrics count %v", got["omnigraph_auth_failures_total{}"])
	}
}
