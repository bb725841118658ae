package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/mcp"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
)

// conversation is a client of a graph over lines, either in the process or through the proxy.
type conversation struct {
	t    *testing.T
	in   *io.PipeWriter
	out  *bufio.Reader
	done chan error
}

func converse(t *testing.T, c servedgraph.Config, actor *access.Actor, proxied bool) *conversation {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	s := &conversation{t: t, in: inW, out: bufio.NewReader(outR), done: make(chan error, 1)}
	serveIt := func() error {
		return mcp.ServeStdio(access.WithActor(t.Context(), actor), servedtest.Graph(t, c), mcp.Options{MaxBody: 5000}, inR, outW)
	}
	if proxied {
		url := serve(t, c, mcp.Options{})
		serveIt = func() error {
			return mcp.ProxyStdio(t.Context(), mcp.Remote{URL: url, Client: &http.Client{Transport: as{actor}}}, inR, outW)
		}
		t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	}
	go func() {
		err := serveIt()
		outW.CloseWithError(io.EOF)
		s.done <- err
	}()
	t.Cleanup(func() { inW.Close(); outR.Close() })
	return s
}

func (s *conversation) send(lines ...string) {
	s.t.Helper()
	if _, err := io.WriteString(s.in, strings.Join(lines, "\n")+"\n"); err != nil {
		s.t.Fatal(err)
	}
}

func (s *conversation) receive() string {
	s.t.Helper()
	l, err := s.out.ReadString('\n')
	if err != nil || !json.Valid([]byte(l)) {
		s.t.Fatalf("%q: %v", l, err)
	}
	return l
}

func both(t *testing.T, f func(t *testing.T, proxied bool)) {
	for name, proxied := range map[string]bool{"in process": false, "proxied": true} {
		t.Run(name, func(t *testing.T) { f(t, proxied) })
	}
}

// TestStdio checks that every line gets an answer, even a malformed line, and that no line ends the
// session.
func TestStdio(t *testing.T) {
	both(t, func(t *testing.T, proxied bool) {
		s := converse(t, config(t), servedtest.Reader, proxied)
		for _, tt := range []struct{ line, want string }{
			{`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`, `"protocolVersion":"2024-11-05"`},
			{`{"jsonrpc":"2.0","id":"y","method":"tools/list"}`, `"tools":[`},
			{`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"lookup_person","arguments":"{\"params\":\"{\\\"name\\\":\\\"ada\\\"}\"}"}}`, `"rows\":[[\"ada\",36]]`},
			{"\ufeff" + `{"jsonrpc":"2.0","id":"y","method":"ping"}`, `"result":{}`},
			{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`, `"protocolVersion":"2025-03-26"`},
			{`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n\n" + `{"jsonrpc":"2.0","id":"x","method":"ping"}`, `{"jsonrpc":"2.0","id":"x","result":{}}`},
			{`{"jsonrpc":`, `"code":-32700`},
			{`[]`, `"code":-32600`},
			{`{"jsonrpc":"2.0","id":2}`, `"id":2,"error":{"code":-32600`},
			{`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"lookup_person","arguments":{"params":{"name":"ada"}}}}`, `"rows\":[[\"ada\",36]]`},
			{`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"graph_mutate"}}`, `unknown tool: graph_mutate`},
			{`{"jsonrpc":"2.0","id":4,"method":"nosuch"}`, `"code":-32601`},
			{`[{"jsonrpc":"2.0","id":5,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/initialized"},{"jsonrpc":"2.0","id":6,"method":"ping"}]`, `[{"jsonrpc":"2.0","id":5,"result":{}},{"jsonrpc":"2.0","id":6,"result":{}}]`},
			{message(newest, "tools/list", ""), `"resultType":"complete"`},
			{message(newest, "tools/call", `"name":"everyone"`), `"row_count":3`},
			{message(newest, "server/discover", ""), `"supportedVersions":["2026-07-28"`},
			{strings.ReplaceAll(message(newest, "tools/list", ""), newest, "2099-01-01"), `"code":-32022`},
			{strings.Replace(message(newest, "tools/list", ""), "clientCapabilities\":{}", "clientCapabilities\":1", 1), `"code":-32602`},
			{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`, `"protocolVersion":"2025-11-25"`},
			{`[{"jsonrpc":"2.0","id":5,"method":"ping"}]`, `does not allow`},
			{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"extensions":{"io.modelcontextprotocol/ui":{}}},"clientInfo":{"name":"t","version":"0"}}}`, `"protocolVersion":"2025-11-25"`},
			{`{"jsonrpc":"2.0","id":7,"method":"tools/list"}`, `"resourceUri":"ui://omnigraph/review"`},
		} {
			s.send(tt.line)
			if got := s.receive(); !strings.Contains(got, tt.want) {
				t.Errorf("%s: %s, want %s", tt.line, got, tt.want)
			}
		}
		s.in.Close()
		if err := <-s.done; err != nil {
			t.Error(err)
		}
	})
}

func TestStdioLineTooLong(t *testing.T) {
	s := converse(t, config(t), servedtest.Reader, false)
	s.send(strings.Repeat("x", 1<<20), `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	if got := s.receive(); !strings.Contains(got, "larger than 5000 bytes") {
		t.Error(got)
	}
	if got := s.receive(); !strings.Contains(got, `"result":{}`) {
		t.Error(got)
	}
}

// TestStdioEnd ends the input while calls are in flight. The calls must still be answered,
// including a call in a last line without a line end.
func TestStdioEnd(t *testing.T) {
	both(t, func(t *testing.T, proxied bool) {
		s := converse(t, config(t), servedtest.Reader, proxied)
		var lines []string
		for i := range 20 {
			lines = append(lines, strings.Replace(message("2025-11-25", "tools/call", `"name":"everyone"`), `"id":1`, fmt.Sprintf(`"id":"%d"`, i), 1))
		}
		go func() {
			_, _ = io.WriteString(s.in, strings.Join(lines, "\n"))
			s.in.Close()
		}()
		got := map[string]bool{}
		for range lines {
			var answer struct {
				ID     string
				Result json.RawMessage
			}
			if err := json.Unmarshal([]byte(s.receive()), &answer); err != nil || answer.Result == nil {
				t.Fatal(err)
			}
			got[answer.ID] = true
		}
		if err := <-s.done; err != nil || len(got) != len(lines) {
			t.Errorf("%d answers, %v", len(got), err)
		}
	})
}

// TestStdioCancel cancels calls. A cancelled call must stop in the engine and get no answer. The
// end of the context must end the session.
func TestStdioCancel(t *testing.T) {
	both(t, func(t *testing.T, proxied bool) {
		c := config(t)
		h := &hung{Graph: c.Graph, started: make(chan struct{}), stopped: make(chan error, 1)}
		c.Graph = h
		s := converse(t, c, servedtest.Reader, proxied)
		s.send(`{"jsonrpc":"2.0","id":"slow","method":"tools/call","params":{"name":"graph_snapshot"}}`)
		<-h.started
		s.send(`{"jsonrpc":"2.0","id":"slow","method":"ping"}`)
		if got := s.receive(); !strings.Contains(got, "in flight") {
			t.Error(got)
		}
		s.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"slow"}}`)
		select {
		case err := <-h.stopped:
			if !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("the call goes on after it was cancelled")
		}
		s.send(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
		if got := s.receive(); !strings.Contains(got, `"id":2`) {
			t.Errorf("after the cancelled call: %s", got)
		}
		s.in.Close()
		if err := <-s.done; err != nil {
			t.Error(err)
		}
	})
}

// hungAt is a graph with snapshots that block until the context ends. If the channel `release` is
// set, they also end when it is closed.
type hungAt struct {
	engine.Graph
	started chan struct{} // receives an element for each call
	stopped chan error
	release chan struct{}
}

func (h *hungAt) Snapshot(ctx context.Context, _ engine.Target) (*engine.Snapshot, error) {
	h.started <- struct{}{}
	<-ctx.Done()
	if h.release != nil {
		<-h.release
	}
	h.stopped <- ctx.Err()
	return nil, ctx.Err()
}

// TestStdioManyHung checks that the session still reads cancellations when the maximum number of
// running calls hang and more calls wait. A cancelled call that waits must not run.
func TestStdioManyHung(t *testing.T) {
	both(t, func(t *testing.T, proxied bool) {
		const running, waiting = 64, 36
		c := config(t)
		h := &hungAt{Graph: c.Graph, started: make(chan struct{}, running+waiting), stopped: make(chan error, running+waiting)}
		c.Graph = h
		s := converse(t, c, servedtest.Reader, proxied)
		cancel := func(id int) string {
			return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, id)
		}
		for id := range running {
			s.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"graph_snapshot"}}`, id))
		}
		for range running {
			<-h.started
		}
		for id := range waiting {
			s.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"graph_snapshot"}}`, running+id))
		}
		for id := range waiting {
			s.send(cancel(running + id))
		}
		for id := range running {
			s.send(cancel(id))
		}
		for range running {
			select {
			case <-h.stopped:
			case <-time.After(10 * time.Second):
				t.Fatal("a call goes on after it was cancelled")
			}
		}
		s.send(`{"jsonrpc":"2.0","id":0,"method":"ping"}`)
		if got := s.receive(); !strings.Contains(got, `"id":0,"result":{}`) {
			t.Errorf("after the cancelled calls: %s", got)
		}
		s.in.Close()
		if err := <-s.done; err != nil {
			t.Error(err)
		}
		if n := len(h.started); n != 0 {
			t.Errorf("%d calls ran after they were cancelled", n)
		}
	})
}

// TestStdioIDAgain cancels a call and uses its id for another call before the first has stopped.
// The end of the first call must not answer the second, or cancel it.
func TestStdioIDAgain(t *testing.T) {
	c := config(t)
	h := &hungAt{Graph: c.Graph, started: make(chan struct{}, 2), stopped: make(chan error, 2), release: make(chan struct{})}
	c.Graph = h
	s := converse(t, c, servedtest.Reader, false)
	const slow = `{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"graph_snapshot"}}`
	const cancel = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"x"}}`
	s.send(slow)
	<-h.started
	s.send(cancel, slow)
	<-h.started
	close(h.release)
	<-h.stopped // wait for the end of the first call
	select {
	case <-h.stopped:
		t.Error("the end of the first call cancelled the second")
	case <-time.After(100 * time.Millisecond):
	}
	s.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`, slow)
	got := s.receive() + s.receive()
	if !strings.Contains(got, `"id":1,"result":{}`) || !strings.Contains(got, "in flight") {
		t.Errorf("with the second call in flight: %s", got)
	}
	s.send(cancel)
	<-h.stopped
	s.in.Close()
	if err := <-s.done; err != nil {
		t.Error(err)
	}
}

func TestStdioContext(t *testing.T) {
	in, inW := io.Pipe()
	defer inW.Close()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- mcp.ServeStdio(ctx, servedtest.Graph(t, config(t)), mcp.Options{}, in, io.Discard) }()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestStdioSDKClient runs a session over lines with the SDK's own client.
func TestStdioSDKClient(t *testing.T) {
	both(t, func(t *testing.T, proxied bool) {
		s := converse(t, config(t), servedtest.Reader, proxied)
		client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "0"}, nil)
		session, err := client.Connect(t.Context(), &sdk.IOTransport{Reader: io.NopCloser(s.out), Writer: s.in}, nil)
		if err != nil {
			t.Fatal(err)
		}
		list, err := session.ListTools(t.Context(), nil)
		if err != nil || len(list.Tools) != readerTools {
			t.Errorf("%+v, %v", list, err)
		}
		res, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "everyone"})
		if err != nil || res.IsError {
			t.Errorf("%+v, %v", res, err)
		}
		if _, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "nosuch"}); err == nil || !strings.Contains(err.Error(), "unknown tool: nosuch") {
			t.Error(err)
		}
		if err := session.Close(); err != nil {
			t.Error(err)
		}
		if err := <-s.done; err != nil {
			t.Error(err)
		}
	})
}

// TestProxyRefused checks that the client receives the reason if the server refuses a call.
func TestProxyRefused(t *testing.T) {
	for _, tt := range []struct {
		status     int
		body, want string
	}{
		{401, `{"error":"the bearer token is not known","code":"unauthorized"}`, `the server answered 401 Unauthorized: the bearer token is not known; set OMNIGRAPH_TOKEN`},
		{404, `{"error":"graph \"x\" not found","code":"not_found"}`, `404 Not Found: graph \"x\" not found`},
		{502, `<html>bad gateway`, `502 Bad Gateway: <html>bad gateway`},
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(tt.status)
			_, _ = io.WriteString(w, tt.body)
		}))
		var out strings.Builder
		in := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
		if err := mcp.ProxyStdio(t.Context(), mcp.Remote{URL: srv.URL, Client: srv.Client()}, in, &out); err != nil {
			t.Error(err)
		}
		srv.Close()
		if !strings.Contains(out.String(), tt.want) || !strings.Contains(out.String(), `"id":1,"error"`) {
			t.Errorf("%d: %s", tt.status, out.String())
		}
	}
	var out strings.Builder
	if err := mcp.ProxyStdio(t.Context(), mcp.Remote{URL: "http://127.0.0.1:1/"}, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`), &out); err != nil || !strings.Contains(out.String(), "the server cannot be reached") {
		t.Errorf("%v %s", err, out.String())
	}
}
