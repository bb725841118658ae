package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/server"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
)

// subscribe opens a stream of the change feed of the graph code.
func (ts *testServer) subscribe(t *testing.T, token string) *http.Response {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, "GET", ts.url+"/changes?start=latest", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Accept", "text/event-stream")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// TestSubscriptionLimits opens as many streams as the limits allow. They must not count as requests in
// flight, further streams must be refused, and a closed stream must make room for another one.
func TestSubscriptionLimits(t *testing.T) {
	ts := newServer(t, mayList(t), func(o *server.Options) {
		o.Cluster.Server.Limits = cluster.Limits{PerActorInflight: 1, TotalInflight: 2, PerActorSubscriptions: 2, TotalSubscriptions: 3, RequestTimeout: time.Minute}
	})
	const ada = "the-token-of-act-ada"
	refused := func(resp *http.Response, limit int64, resource string) {
		t.Helper()
		var e client.Envelope
		if err := json.NewDecoder(resp.Body).Decode(&e); err != nil || resp.StatusCode != 429 || e.ResourceLimit == nil || *e.ResourceLimit != (client.Limit{Resource: resource, Limit: limit, Actual: limit + 1}) || resp.Header.Get("Retry-After") == "" {
			t.Errorf("got %d %+v, %v, want the limit of %s", resp.StatusCode, e, err, resource)
		}
	}
	open := []*http.Response{ts.subscribe(t, devToken), ts.subscribe(t, devToken)}
	refused(ts.subscribe(t, devToken), 2, "open subscriptions of one actor")
	open = append(open, ts.subscribe(t, ada))
	refused(ts.subscribe(t, ada), 3, "open subscriptions of all actors")
	for _, resp := range open {
		if resp.StatusCode != 200 {
			t.Errorf("a stream within the limits got %d", resp.StatusCode)
		}
		if line, err := bufio.NewReader(resp.Body).ReadString('\n'); err != nil || line != "retry: 1000\n" {
			t.Errorf("a stream begins with %q, %v", line, err)
		}
	}
	if a := ts.ask(t, "GET", "/graphs/code/schema", ""); a.status != 200 {
		t.Errorf("beside its streams the actor got %d %s", a.status, a.body)
	}
	if n := ts.metrics(t)["omnigraph_admission_refused_total{reason=subscriptions}"]; n != 2 {
		t.Errorf("the metrics count %v refused streams, want 2", n)
	}
	open[0].Body.Close()
	for deadline := clock.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		resp := ts.subscribe(t, devToken)
		if resp.StatusCode == 200 {
			break
		}
		resp.Body.Close()
		if clock.Now().After(deadline) {
			t.Fatal("a closed stream makes no room for another one")
		}
	}
}

// TestStopEndsSubscriptions stops the server while streams are open. The stop must not wait for them.
func TestStopEndsSubscriptions(t *testing.T) {
	ts := newServer(t)
	resp := ts.subscribe(t, devToken)
	began := clock.Now()
	stopped := make(chan error, 1)
	go func() { stopped <- ts.stop() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(b), "event: end\ndata: {\"reason\":\"stopping\",\"cursor\":\"") {
		t.Errorf("the stream ended with %q, %v", b, err)
	}
	if err := <-stopped; err != nil || clock.Since(began) > 5*time.Second {
		t.Errorf("the stop took %v and returned %v", clock.Since(began), err)
	}
}

// listen opens a stream of notifications about main over MCP.
func (ts *testServer) listen(t *testing.T, token string) *http.Response {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	const body = `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":["omnigraph://branches/main"]},` +
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"0"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
	r, err := http.NewRequestWithContext(ctx, "POST", ts.url+"/mcp", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{
		"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
		"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"subscriptions/listen"},
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// TestListenLimits opens streams over MCP. They count with the streams of the change feed, and not as
// requests in flight.
func TestListenLimits(t *testing.T) {
	ts := newServer(t, mayList(t), func(o *server.Options) {
		o.Cluster.Server.Limits = cluster.Limits{PerActorInflight: 1, TotalInflight: 2, PerActorSubscriptions: 3, TotalSubscriptions: 4, RequestTimeout: time.Minute}
	})
	for _, resp := range []*http.Response{ts.listen(t, devToken), ts.listen(t, devToken), ts.subscribe(t, devToken)} {
		if resp.StatusCode != 200 {
			t.Errorf("a stream within the limits got %d", resp.StatusCode)
		}
		if line, err := bufio.NewReader(resp.Body).ReadString('\n'); err != nil || line != "event: message\n" && line != "retry: 1000\n" {
			t.Errorf("a stream begins with %q, %v", line, err)
		}
	}
	resp := ts.listen(t, devToken)
	var e client.Envelope
	if err := json.NewDecoder(resp.Body).Decode(&e); err != nil || resp.StatusCode != 429 || e.ResourceLimit == nil || e.ResourceLimit.Resource != "open subscriptions of one actor" {
		t.Errorf("found %d %+v, %v", resp.StatusCode, e, err)
	}
	if a := ts.ask(t, "GET", "/graphs/code/schema", ""); a.status != 200 {
		t.Errorf("beside its streams the actor got %d %s", a.status, a.body)
	}
}

// TestStopEndsListening stops the server while a client listens. The stop must not wait for the client,
// and the client must learn where to continue.
func TestStopEndsListening(t *testing.T) {
	ts := newServer(t)
	resp := ts.listen(t, devToken)
	began := clock.Now()
	stopped := make(chan error, 1)
	go func() { stopped <- ts.stop() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(b), `"id":1,"result":{`) || !strings.Contains(string(b), `"omnigraph/reason":"stopping"`) || !strings.Contains(string(b), `"omnigraph/after":{"omnigraph://branches/main":"0`) {
		t.Errorf("the stream ended with %q, %v", b, err)
	}
	if err := <-stopped; err != nil || clock.Since(began) > 5*time.Second {
		t.Errorf("the stop took %v and returned %v", clock.Since(began), err)
	}
}
