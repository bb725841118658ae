package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/mcp"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// wait is how long a test waits for a notification that must come.
const wait = 30 * time.Second

// changing is a policy that can change while a server runs, as it does when a token has other groups.
type changing struct {
	servedtest.Policy
	writes *atomic.Bool // the reader may also change branches
	blind  *atomic.Bool // the reader may read nothing
}

func (p changing) Allowed(a *access.Actor, g tool.Grant) bool {
	if a.ID == servedtest.Reader.ID {
		if p.blind.Load() {
			return false
		}
		if p.writes.Load() && g.Action == tool.Change {
			return true
		}
	}
	return p.Policy.Allowed(a, g)
}

// load writes a person to a branch.
func load(t testing.TB, g engine.Graph, branch, name string) {
	t.Helper()
	_, err := g.Load(context.Background(), strings.NewReader(`{"type":"Person","data":{"name":"`+name+`"}}`), engine.LoadOptions{WriteOptions: engine.WriteOptions{Branch: branch}})
	if err != nil {
		t.Fatal(err)
	}
}

// TestListenClient subscribes with the official client.
func TestListenClient(t *testing.T) {
	c := config(t)
	p := changing{writes: new(atomic.Bool), blind: new(atomic.Bool)}
	c.Authorizer = p
	if _, err := c.Graph.CreateBranch(t.Context(), "review/june", engine.Target{}); err != nil {
		t.Fatal(err)
	}
	url := serve(t, c, mcp.Options{})
	told, tools := make(chan string, 10), make(chan struct{}, 10)
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "0"}, &sdk.ClientOptions{
		ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) { told <- r.Params.URI },
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { tools <- struct{}{} },
	})
	s, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{
		Endpoint: url, HTTPClient: &http.Client{Transport: as{servedtest.Reader}}, DisableStandaloneSSE: true,
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	})
	capabilities := s.InitializeResult().Capabilities
	if !capabilities.Tools.ListChanged || !capabilities.Resources.Subscribe || capabilities.Resources.ListChanged || capabilities.Prompts.ListChanged {
		t.Errorf("capabilities: %+v", capabilities)
	}
	hears := func(want string) {
		t.Helper()
		select {
		case got := <-told:
			if got != want {
				t.Errorf("told of %s, expected %s", got, want)
			}
		case <-time.After(wait):
			t.Fatalf("not told of %s", want)
		}
	}
	const main, june, proposals = "omnigraph://branches/main", "omnigraph://branches/review/june", "omnigraph://proposals"
	for _, uri := range []string{june, proposals} {
		if err := s.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}); err != nil {
			t.Fatal(err)
		}
	}
	load(t, c.Graph, "main", "gil") // nobody subscribed to main
	load(t, c.Graph, "review/june", "fay")
	hears(june)
	res, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: june})
	if head := heads(t, c.Graph); err != nil || !strings.Contains(res.Contents[0].Text, `"name":"review/june"`) || !strings.Contains(head, strings.Split(res.Contents[0].Text, `"`)[3]) {
		t.Errorf("found %+v, %v, the heads are %s", res, err, head)
	}
	if _, err := c.Graph.PutProposal(t.Context(), engine.Proposal{Source: "review/june", Target: "main", Title: "June", Author: "act-writer"}); err != nil {
		t.Fatal(err)
	}
	hears(proposals)
	if res, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: proposals}); err != nil || !strings.Contains(res.Contents[0].Text, `"title":"June"`) {
		t.Errorf("found %+v, %v", res, err)
	}
	if err := s.Unsubscribe(t.Context(), &sdk.UnsubscribeParams{URI: june}); err != nil {
		t.Fatal(err)
	}
	if err := s.Subscribe(t.Context(), &sdk.SubscribeParams{URI: main}); err != nil {
		t.Fatal(err)
	}
	load(t, c.Graph, "review/june", "ivy")
	load(t, c.Graph, "main", "hal")
	hears(main)

	p.writes.Store(true)
	select {
	case <-tools:
	case <-time.After(wait):
		t.Fatal("not told of the new tools")
	}
	list, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, listed := range list.Tools {
		found = found || listed.Name == "graph_mutate"
	}
	if !found {
		t.Error("the list lacks graph_mutate")
	}
}

// streamed is a message of a stream.
type streamed struct {
	ID     any
	Method string
	Params struct {
		URI           string
		Notifications *sdk.NotificationSubscriptions
		Meta          streamedMeta `json:"_meta"`
	}
	Result *struct {
		ResultType string
		Meta       streamedMeta `json:"_meta"`
	}
	Error *struct {
		Code    int
		Message string
	}
}

type streamedMeta struct {
	ID     any               `json:"io.modelcontextprotocol/subscriptionId"`
	After  map[string]string `json:"omnigraph/after"`
	Reason string            `json:"omnigraph/reason"`
}

// recorded is an open stream, with requests as they were recorded.
type recorded struct {
	*testing.T
	body  io.ReadCloser
	lines *bufio.Scanner
}

// listen sends subscriptions/listen with the given members of params and of _meta.
func listen(t *testing.T, url string, actor *access.Actor, params, meta string) *recorded {
	t.Helper()
	body := message(newest, "subscriptions/listen", params)
	if meta != "" {
		body = strings.Replace(body, `"_meta":{`, `"_meta":{`+meta+`,`, 1)
	}
	r, err := http.NewRequestWithContext(t.Context(), "POST", url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{
		"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "X-Actor": {actor.ID},
		"Mcp-Protocol-Version": {newest}, "Mcp-Method": {"subscriptions/listen"},
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		resp.Body.Close()
		http.DefaultClient.CloseIdleConnections()
	})
	if got := resp.Header.Get("Content-Type"); resp.StatusCode != 200 || got != "text/event-stream" || resp.Header.Get("Cache-Control") != "no-store" {
		text, _ := io.ReadAll(resp.Body)
		t.Fatalf("found %d %s: %s", resp.StatusCode, got, text)
	}
	return &recorded{t, resp.Body, bufio.NewScanner(resp.Body)}
}

// next returns the next message; ok is false at the end of the stream.
func (s *recorded) next() (m streamed, ok bool) {
	s.Helper()
	for s.lines.Scan() {
		if data, ok := strings.CutPrefix(s.lines.Text(), "data: "); ok {
			if err := json.Unmarshal([]byte(data), &m); err != nil {
				s.Fatalf("%v: %s", err, data)
			}
			return m, true
		}
	}
	return m, false
}

// ended checks that the stream ends with the answer to its request, and returns the meta of the answer.
func (s *recorded) ended(reason string) streamedMeta {
	s.Helper()
	m, ok := s.next()
	if !ok || m.Result == nil || m.Result.ResultType != "complete" || m.ID != 1.0 || m.Result.Meta.ID != 1.0 || m.Result.Meta.Reason != reason {
		s.Fatalf("found %+v, %t, expected the end with the reason %q", m, ok, reason)
	}
	if m, ok := s.next(); ok {
		s.Errorf("after its end the stream has %+v", m)
	}
	return m.Result.Meta
}

const ask = `"notifications":{"resourceSubscriptions":["omnigraph://branches/main"`

func TestListenStream(t *testing.T) {
	c := config(t)
	if _, err := c.Graph.CreateBranch(t.Context(), "draft", engine.Target{}); err != nil {
		t.Fatal(err)
	}
	var now atomic.Int64
	now.Store(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).UnixNano())
	c.Now = func() time.Time { return time.Unix(0, now.Load()) }
	p := changing{writes: new(atomic.Bool), blind: new(atomic.Bool)}
	c.Authorizer = p
	stopping, stop := context.WithCancel(t.Context())
	url := serve(t, c, mcp.Options{Stopping: stopping})

	// What the policy hides, and what no subscription exists for, is left out of the first message.
	s := listen(t, url, servedtest.Drafter, ask+`,"omnigraph://branches/draft","omnigraph://schema","omnigraph://proposals","omnigraph://branches/draft"],"promptsListChanged":true}`, "")
	m, _ := s.next()
	want := &sdk.NotificationSubscriptions{ResourceSubscriptions: []string{"omnigraph://branches/draft"}}
	if diff := cmp.Diff(want, m.Params.Notifications); diff != "" || m.Method != "notifications/subscriptions/acknowledged" || m.Params.Meta.ID != 1.0 {
		t.Errorf("%+v (-want +got):\n%s", m, diff)
	}
	s.body.Close()
	s = listen(t, url, servedtest.Nobody, ask+`],"resourcesListChanged":true}`, "")
	if m, _ := s.next(); m.Params.Notifications == nil || len(m.Params.Notifications.ResourceSubscriptions) > 0 || m.Params.Notifications.ResourcesListChanged {
		t.Errorf("found %+v", m)
	}
	s.ended("")

	// A client that got lost names what it knows, and hears of what it missed.
	s = listen(t, url, servedtest.Reader, ask+`]}`, "")
	m, _ = s.next()
	after := m.Params.Meta.After
	s.body.Close()
	load(t, c.Graph, "main", "fay")
	known, err := json.Marshal(after)
	if err != nil {
		t.Fatal(err)
	}
	s = listen(t, url, servedtest.Reader, ask+`]}`, `"omnigraph/after":`+string(known))
	s.next()
	if m, ok := s.next(); !ok || m.Method != "notifications/resources/updated" || m.Params.URI != "omnigraph://branches/main" ||
		!strings.Contains(heads(t, c.Graph), "main "+m.Params.Meta.After["omnigraph://branches/main"]) {
		t.Errorf("found %+v after %v", m, after)
	}

	// The policy decides about each notification.
	p.blind.Store(true)
	load(t, c.Graph, "main", "gil")
	time.Sleep(time.Second) // a wrong notification would come within this time
	load(t, c.Graph, "main", "hal")
	p.blind.Store(false)
	if m, ok := s.next(); !ok || !strings.Contains(heads(t, c.Graph), "main "+m.Params.Meta.After["omnigraph://branches/main"]) {
		t.Errorf("found %+v", m)
	}

	// The token expires.
	expiring := *servedtest.Reader
	expiring.Expires = c.Now().Add(time.Minute)
	s2 := listen(t, serveAs(t, mcp.Handler(servedtest.Graph(t, c), mcp.Options{}), &expiring), &expiring, ask+`]}`, "")
	s2.next()
	now.Add(int64(2 * time.Minute))
	s2.ended("token_expired")

	// The server stops, and says where to continue.
	stop()
	if end := s.ended("stopping"); !strings.Contains(heads(t, c.Graph), "main "+end.After["omnigraph://branches/main"]) {
		t.Errorf("it ends with %v", end)
	}
}

// TestListenReloaded ends a stream because another handler serves the graph from then on. A client that listens for the list
// of tools hears first that the list changed.
func TestListenReloaded(t *testing.T) {
	c := config(t)
	stopping, stop := context.WithCancelCause(t.Context())
	url := serve(t, c, mcp.Options{Stopping: stopping})
	tools := listen(t, url, servedtest.Reader, `"notifications":{"toolsListChanged":true}`, "")
	heads := listen(t, url, servedtest.Reader, ask+`]}`, "")
	tools.next()
	heads.next()
	stop(mcp.ErrReloaded)
	if m, ok := tools.next(); !ok || m.Method != "notifications/tools/list_changed" {
		t.Errorf("found %+v", m)
	}
	tools.ended("stopping")
	heads.ended("stopping")
}

// serveAs serves a handler for one actor.
func serveAs(t *testing.T, h http.Handler, actor *access.Actor) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r.WithContext(access.WithActor(r.Context(), actor)))
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// TestListenOverStdio opens streams in a session over lines. They end with the session, and with the answer
// if they are in this process.
func TestListenOverStdio(t *testing.T) {
	both(t, func(t *testing.T, proxied bool) {
		c := config(t)
		s := converse(t, c, servedtest.Reader, proxied)
		request := func(id string) string {
			return strings.Replace(message(newest, "subscriptions/listen", ask+`]}`), `"id":1`, `"id":`+id, 1)
		}
		receive := func() (m streamed) {
			t.Helper()
			if err := json.Unmarshal([]byte(s.receive()), &m); err != nil {
				t.Fatal(err)
			}
			return m
		}
		const streams = 8
		for id := range streams {
			s.send(request(`"s` + string(rune('0'+id)) + `"`))
			if m := receive(); m.Method != "notifications/subscriptions/acknowledged" || m.Params.Meta.ID != "s"+string(rune('0'+id)) {
				t.Fatalf("found %+v", m)
			}
		}
		s.send(request(`"more"`))
		if m := receive(); m.ID != "more" || m.Error == nil || !strings.Contains(m.Error.Message, "8 streams are open") {
			t.Fatalf("found %+v", m)
		}
		// Calls are still answered, and a cancelled stream makes room for another one.
		s.send(strings.Replace(message(newest, "server/discover", ""), `"id":1`, `"id":"call"`, 1))
		if m := receive(); m.ID != "call" {
			t.Fatalf("found %+v", m)
		}
		for id := 1; id < streams; id++ {
			s.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"s` + string(rune('0'+id)) + `"}}`)
		}
		load(t, c.Graph, "main", "fay")
		for m := receive(); m.Params.Meta.ID != "s0"; m = receive() {
			if m.Method != "notifications/resources/updated" { // one that was on its way when its stream was cancelled
				t.Fatalf("found %+v", m)
			}
		}
		s.in.Close()
		ended := false
		for {
			line, err := s.out.ReadString('\n')
			if err != nil {
				break
			}
			ended = ended || strings.Contains(line, `"id":"s0","result"`) && strings.Contains(line, `"omnigraph/reason":"stopping"`)
		}
		if err := <-s.done; err != nil || !proxied && !ended {
			t.Errorf("the session ended with %v, and the stream with its answer: %t", err, ended)
		}
	})
}

// TestRelay reads streams of a server that does not keep to the protocol.
func TestRelay(t *testing.T) {
	listen, call := message(newest, "subscriptions/listen", ask+`]}`), message(newest, "tools/list", "")
	long := "\"" + strings.Repeat("x", 2<<20) + "\""
	for _, tt := range []struct{ message, body, want string }{
		{listen, "data: {\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n\n", `"id":1,"error"`},
		{listen, "data: nonsense\n\n", `an event that is not a JSON-RPC message`},
		{listen, "data: {\"a\":" + long + "}\n\n", `the server's stream ended early`},
		{listen, "", `the server's stream ended early; listen again to go on`},
		{listen, ": beat\nevent: message\ndata:{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n", `{"jsonrpc":"2.0","id":1,"result":{}}`},
		{call, "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":" + long + "}\n\n", `"id":1,"result":` + long + `}`},
		{call, "", `the server's stream ended early; the call may have been carried out`},
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
			_, _ = io.WriteString(w, tt.body)
		}))
		in, write := io.Pipe()
		out, answers := io.Pipe()
		done := make(chan error, 1)
		go func() {
			done <- mcp.ProxyStdio(t.Context(), mcp.Remote{URL: srv.URL, Client: srv.Client()}, in, answers)
		}()
		if _, err := io.WriteString(write, tt.message+"\n"); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(out)
		line, err := lines.ReadString('\n')
		if strings.Contains(line, `"method":"x"`) { // passed on
			line, err = lines.ReadString('\n')
		}
		if err != nil || !strings.Contains(line, tt.want) {
			t.Errorf("%.40q: found %.200q, %v, expected %.200s", tt.body, line, err, tt.want)
		}
		write.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
		srv.Close()
	}
}

// TestListenRefused sends requests that open no stream.
func TestListenRefused(t *testing.T) {
	url := serve(t, config(t), mcp.Options{})
	many := `"notifications":{"resourceSubscriptions":[` + strings.Repeat(`"x",`, 100) + `"x"]}`
	for _, tt := range []struct {
		version, params string
		status          int
		want            string
	}{
		{newest, ``, 400, "params.notifications: missing"},
		{newest, `"notifications":7`, 400, "the params of subscriptions/listen"},
		{newest, many, 400, "found 101 resources, expected at most 100"},
		{newest, `"notifications":{},"x":"` + strings.Repeat("x", 65<<10) + `"`, 413, "larger than 65536 bytes"},
		{"2025-11-25", `"notifications":{}`, 200, "method not found"},
	} {
		path := url + "/graphs/people/mcp"
		if resp, body := post(t, path, tt.version, servedtest.Reader, message(tt.version, "subscriptions/listen", tt.params)); resp.StatusCode != tt.status || !strings.Contains(body, tt.want) {
			t.Errorf("%s %.60s: %d %s", tt.version, tt.params, resp.StatusCode, body)
		}
	}
}

// TestIsSubscription checks which requests count as streams. Other requests must not pass as one.
func TestIsSubscription(t *testing.T) {
	for _, tt := range []struct {
		http, path, method, version string
		want                        bool
	}{
		{"POST", "/graphs/code/mcp", "subscriptions/listen", newest, true},
		{"GET", "/graphs/code/mcp", "subscriptions/listen", newest, false},
		{"POST", "/graphs/code/query", "subscriptions/listen", newest, false},
		{"POST", "/graphs/code/mcp", "tools/call", newest, false},
		{"POST", "/graphs/code/mcp", "subscriptions/listen", "2025-11-25", false},
		{"POST", "/graphs/code/mcp", "", newest, false},
	} {
		r := httptest.NewRequest(tt.http, tt.path, nil)
		r.Header.Set("Mcp-Method", tt.method)
		r.Header.Set("Mcp-Protocol-Version", tt.version)
		if got := mcp.IsSubscription(r); got != tt.want {
			t.Errorf("%+v: found %t", tt, got)
		}
	}
	url := serve(t, config(t), mcp.Options{}) + "/graphs/people/mcp"
	r, err := http.NewRequest("POST", url, strings.NewReader(message(newest, "tools/list", "")))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{
		"Content-Type": {"application/json"}, "Accept": {"*/*"}, "Mcp-Protocol-Version": {newest}, "Mcp-Method": {"subscriptions/listen"},
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusBadRequest {
		t.Errorf("a call of another method as a stream: %s", resp.Status)
	}
	http.DefaultClient.CloseIdleConnections()
}

// FuzzListen sends params of subscriptions/listen to a server that stops. Every message of the answer must
// be valid, and none may name a branch that the caller may not read.
func FuzzListen(f *testing.F) {
	f.Add(ask+`]}`, `{"omnigraph://branches/main":"x"}`)
	f.Add(ask+`,"omnigraph://branches/"],"toolsListChanged":true}`, `{"tools":7}`)
	f.Add(`"notifications":{"resourceSubscriptions":["omnigraph://branches/draft/../main"]}`, `[]`)
	stopping, stop := context.WithCancel(context.Background())
	stop()
	h := mcp.Handler(servedtest.Graph(f, config(f)), mcp.Options{Stopping: stopping})
	f.Fuzz(func(t *testing.T, params, after string) {
		body := strings.Replace(message(newest, "subscriptions/listen", params), `"_meta":{`, `"_meta":{"omnigraph/after":`+after+`,`, 1)
		var request struct{ Method string }
		if !json.Valid([]byte(body)) || json.Unmarshal([]byte(body), &request) != nil || request.Method != "subscriptions/listen" {
			t.Skip("the message is not JSON, or the params give it another method")
		}
		w := serveOne(h, newest, servedtest.Drafter, body)
		if w.Header().Get("Content-Type") != "text/event-stream" {
			if !json.Valid(w.Body.Bytes()) {
				t.Fatalf("found %d %s", w.Code, w.Body)
			}
			return
		}
		messages := 0
		for line := range strings.Lines(w.Body.String()) {
			data, ok := strings.CutPrefix(line, "data: ")
			if !ok {
				continue
			}
			messages++
			var m streamed
			if err := json.Unmarshal([]byte(data), &m); err != nil {
				t.Fatalf("%v: %s", err, data)
			}
			for uri := range m.Params.Meta.After {
				if uri == "omnigraph://branches/main" {
					t.Fatalf("the stream tells of main: %s", data)
				}
			}
		}
		if messages < 2 {
			t.Fatalf("found %s", w.Body)
		}
	})
}
