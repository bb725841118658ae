package forward

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// writer starts a server that plays the writer. It answers with the parts of the request that it
// received.
func writer(t *testing.T) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Request-Id", "of the writer")
		w.Header().Set("X-From", "writer")
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, strings.Join([]string{r.Method, r.URL.RequestURI(), r.Header.Get("Authorization"), r.Header.Get("Idempotency-Key"), r.Header.Get("Origin"), r.Header.Get(Header), string(body)}, "|"))
	}))
	t.Cleanup(s.Close)
	return s
}

// lease is how long the forwarders of these tests wait for a writer that shows no sign of life.
const lease = 300 * time.Millisecond

// forwarder returns a Forwarder whose only peer, besides its own server, is `peer`.
func forwarder(t *testing.T, peer string) *Forwarder {
	f := New(Options{Node: "og-1", Own: "http://127.0.0.1:1", Peers: []string{peer, "http://127.0.0.1:1"}, Lease: lease, Log: slog.New(slog.DiscardHandler)})
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// request returns a request that writes to a graph, with the token of the caller.
func request() *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/graphs/a%2Fb/mutate?x=1", strings.NewReader("the body"))
	r.Header.Set("Authorization", "Bearer of-the-caller")
	r.Header.Set("Idempotency-Key", "k")
	r.Header.Set("Origin", "https://page.example")
	return r
}

// through handles a request as a server does: the handler that forwards the request does not see
// the Authorization header. It reports whether the request was forwarded or could not reach the writer, and then
// answers it.
func through(f *Forwarder, r *http.Request, to string, body []byte) (*httptest.ResponseRecorder, bool) {
	w := httptest.NewRecorder()
	w.Header().Set("X-Request-Id", "of the reader")
	sent := false
	f.Keep(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del("Authorization")
		switch f.Send(w, r, to, body) {
		case Answered:
			sent = true
		case Unreached:
			sent = true
			f.Unreachable(w, r, to)
		}
	})).ServeHTTP(w, r)
	return w, sent
}

// TestSend checks what the writer receives and what the caller gets.
func TestSend(t *testing.T) {
	peer := writer(t).URL
	f := forwarder(t, peer)
	for name, body := range map[string][]byte{"the body": nil, "another body": []byte("another body")} {
		w, sent := through(f, request(), peer, body)
		want := "POST|/graphs/a%2Fb/mutate?x=1|Bearer of-the-caller|k||og-1|" + name
		if got := w.Body.String(); !sent || w.Code != http.StatusTeapot || got != want {
			t.Errorf("sent %t, status %d, the writer received\n%s\nwant\n%s", sent, w.Code, got, want)
		}
		if got := w.Header().Values("X-Request-Id"); len(got) != 1 || got[0] != "of the reader" || w.Header().Get("X-From") != "writer" {
			t.Errorf("the header of the answer is %v", w.Header())
		}
	}
}

// TestRefused checks which requests are not forwarded.
func TestRefused(t *testing.T) {
	peer := writer(t).URL
	f := forwarder(t, peer)
	again := request()
	again.Header.Set(Header, "og-2")
	for name, c := range map[string]struct {
		r  *http.Request
		to string
	}{
		"forwarded before": {again, peer},
		"no peer":          {request(), writer(t).URL},
		"no address":       {request(), ""},
		"this server":      {request(), "http://127.0.0.1:1"},
	} {
		if w, sent := through(f, c.r, c.to, nil); sent || w.Body.Len() > 0 {
			t.Errorf("%s: the request was forwarded and answered with %s", name, w.Body)
		}
	}
}

// TestUnreachable checks the answer to a request if the writer cannot be reached, and if the writer
// closes the connection after it has received the request.
func TestUnreachable(t *testing.T) {
	gone := writer(t)
	gone.Close()
	if w, sent := through(forwarder(t, gone.URL), request(), gone.URL, nil); !sent || w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") != "1" {
		t.Errorf("a writer that is gone: sent %t, status %d, %v", sent, w.Code, w.Header())
	}
	killed := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		panic(http.ErrAbortHandler)
	}))
	defer killed.Close()
	if w, sent := through(forwarder(t, killed.URL), request(), killed.URL, nil); !sent || w.Code != http.StatusInternalServerError || !strings.Contains(w.Body.String(), "outcome of the write is unknown") {
		t.Errorf("a writer that is killed during the request: sent %t, status %d, %s", sent, w.Code, w.Body)
	}
}

// TestNotWriter forwards requests to a server that refuses them, because it does not write the graph any more. A
// request whose body this server has can be sent again, and so must not be answered. The client gets the
// answer to another request, without the mark for servers.
func TestNotWriter(t *testing.T) {
	peer := httptest.NewServer(nil)
	t.Cleanup(peer.Close)
	f := forwarder(t, peer.URL)
	var log bytes.Buffer
	f.opts.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	received := 0
	peer.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/healthz" {
			return
		}
		received++
		if !Forwarded(r) {
			t.Error("the request is not marked as forwarded")
		}
		f.Refuse(w)
	})
	for name, c := range map[string]struct {
		r       *http.Request
		body    []byte
		outcome Outcome
	}{
		"a body that was read":     {request(), []byte("the body"), Unreached},
		"no body":                  {httptest.NewRequest(http.MethodDelete, "/graphs/a/branches/b", nil), nil, Unreached},
		"a body that is forwarded": {request(), nil, Answered},
	} {
		w := httptest.NewRecorder()
		before := received
		log.Reset()
		if got := f.Send(w, c.r, peer.URL, c.body); got != c.outcome || received != before+1 {
			t.Errorf("%s: outcome %d after %d requests, want %d", name, got, received-before, c.outcome)
		}
		answered := w.Code == http.StatusServiceUnavailable && w.Header().Get("Retry-After") == "1" && w.Body.Len() > 0
		if answered != (c.outcome == Answered) || w.Header().Get(notWriter) != "" {
			t.Errorf("%s: the client got %d %v %q", name, w.Code, w.Header(), w.Body)
		}
		if logged := log.String(); strings.Contains(logged, "does not write the graph any more") != (c.outcome == Unreached) || strings.Contains(logged, "cannot be reached") {
			t.Errorf("%s: the log is %q", name, logged)
		}
	}
}

// TestBodyAgain sends a request again after no connection to the first address could be made. The second server
// must receive the whole body.
func TestBodyAgain(t *testing.T) {
	gone, peer := writer(t), writer(t)
	gone.Close()
	f := New(Options{Node: "og-1", Peers: []string{gone.URL, peer.URL}, Lease: lease, Log: slog.New(slog.DiscardHandler)})
	t.Cleanup(func() { _ = f.Close() })
	w, r := httptest.NewRecorder(), request()
	if got := f.Send(w, r, gone.URL, nil); got != Unreached || w.Body.Len() > 0 {
		t.Errorf("a server that is gone: outcome %d, %s", got, w.Body)
	}
	if got := f.Send(w, r, peer.URL, nil); got != Answered || !strings.HasSuffix(w.Body.String(), "|the body") {
		t.Errorf("the next server: outcome %d, %s", got, w.Body)
	}
}
