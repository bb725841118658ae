package forward

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/clock"
)

// silent starts a listener that accepts connections and reads what arrives, but never answers. It returns the
// address of the listener.
func silent(t *testing.T) string {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(io.Discard, conn) }()
		}
	}()
	return ln.Addr().String()
}

// TestSilentWriter checks that a request ends about a lease after the last sign of life of the writer, and
// what the client learns about the outcome.
func TestSilentWriter(t *testing.T) {
	reads := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		<-r.Context().Done() // neither a write nor a health check gets an answer
	}))
	defer reads.Close()
	sick := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/healthz" {
			w.WriteHeader(http.StatusBadGateway) // of a proxy whose server is silent
			return
		}
		_, _ = io.ReadAll(r.Body)
		<-r.Context().Done()
	}))
	defer sick.Close()
	for _, c := range []struct {
		name, peer string
		body       []byte
		status     int
		message    string
	}{
		{"a listener that never answers", "http://" + silent(t), nil, http.StatusInternalServerError, "send the write again with the same idempotency key"},
		{"a listener that never answers a call over MCP", "http://" + silent(t), []byte("a call"), http.StatusInternalServerError, "the outcome of the write is unknown"},
		{"no end of the TLS handshake", "https://" + silent(t), nil, http.StatusServiceUnavailable, "the graph is unavailable; try again later"},
		{"a server that reads the request", reads.URL, nil, http.StatusInternalServerError, "the outcome of the write is unknown"},
		{"a proxy that answers health checks with an error", sick.URL, nil, http.StatusInternalServerError, "the outcome of the write is unknown"},
	} {
		t.Run(c.name, func(t *testing.T) {
			began := clock.Now()
			w, sent := through(forwarder(t, c.peer), request(), c.peer, c.body)
			took := clock.Since(began)
			if !sent || w.Code != c.status || !strings.Contains(w.Body.String(), c.message) {
				t.Errorf("sent %t, status %d, %s\nwant %d and %q", sent, w.Code, w.Body, c.status, c.message)
			}
			if took < lease || took > lease+2*time.Second {
				t.Errorf("the answer came after %v, want a lease of %v", took, lease)
			}
		})
	}
}

// TestSlowWriter checks that a request may take longer than a lease while the writer answers health checks, and
// that the request ends when the writer stops answering them.
func TestSlowWriter(t *testing.T) {
	var checks atomic.Int64
	var limit atomic.Int64 // how many health checks the writer answers
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/healthz" {
			if checks.Add(1) > limit.Load() {
				<-r.Context().Done()
			}
			return
		}
		_, _ = io.ReadAll(r.Body)
		select {
		case <-time.After(3 * lease):
			_, _ = fmt.Fprint(w, "done")
		case <-r.Context().Done():
		}
	}))
	defer s.Close()
	limit.Store(1000)
	if w, sent := through(forwarder(t, s.URL), request(), s.URL, nil); !sent || w.Code != http.StatusOK || w.Body.String() != "done" {
		t.Errorf("a slow writer: sent %t, status %d, %s", sent, w.Code, w.Body)
	}
	if n := checks.Load(); n < 2 {
		t.Errorf("the writer was asked %d times for a sign of life in three leases, want at least 2", n)
	}
	checks.Store(0)
	limit.Store(1)
	if w, sent := through(forwarder(t, s.URL), request(), s.URL, nil); !sent || w.Code != http.StatusInternalServerError {
		t.Errorf("a writer that stops: sent %t, status %d, %s", sent, w.Code, w.Body)
	}
}

// TestSilentWithinAnswer checks that a client does not wait for the rest of an answer whose writer has stopped.
func TestSilentWithinAnswer(t *testing.T) {
	begun := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/healthz" {
			_, _ = io.ReadAll(r.Body)
			_, _ = fmt.Fprint(w, "the first half")
			_ = http.NewResponseController(w).Flush()
		}
		<-r.Context().Done()
	}))
	defer begun.Close()
	f := forwarder(t, begun.URL)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { f.Send(w, r, begun.URL, nil) }))
	defer front.Close()
	began := clock.Now()
	answer, err := http.Post(front.URL, "text/plain", strings.NewReader("the body"))
	if err == nil {
		_, err = io.ReadAll(answer.Body)
		_ = answer.Body.Close()
	}
	if took := clock.Since(began); err == nil || took > lease+2*time.Second {
		t.Errorf("the connection ended after %v with %v, want an error after a lease of %v", took, err, lease)
	}
}
