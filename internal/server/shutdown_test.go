package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/server/observe"
)

// TestShutdown stops a server while a call is in flight. A call that ends in time must be answered
// as usual. The context of a slower call must be cancelled. A call that waits for its client must
// lose its connection. Serve must not return while a handler runs.
func TestShutdown(t *testing.T) {
	tests := []struct {
		name    string
		handler func(w http.ResponseWriter, r *http.Request, stopping <-chan struct{})
		status  int // 0 for a closed connection
		takes   time.Duration
	}{
		{"in time", func(w http.ResponseWriter, r *http.Request, stopping <-chan struct{}) {
			<-stopping
			time.Sleep(20 * time.Millisecond)
			if r.Context().Err() != nil {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
			_, _ = io.WriteString(w, "whole")
		}, http.StatusOK, 0},
		{"too long", func(w http.ResponseWriter, r *http.Request, _ <-chan struct{}) {
			<-r.Context().Done()
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, "whole")
		}, http.StatusServiceUnavailable, 200 * time.Millisecond},
		{"slow client", func(w http.ResponseWriter, r *http.Request, _ <-chan struct{}) {
			_, _ = io.Copy(io.Discard, r.Body)
		}, 0, 300 * time.Millisecond},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ctx, stop := context.WithCancel(context.Background())
			inside := make(chan struct{})
			var running atomic.Bool
			s := &Server{log: slog.New(slog.DiscardHandler), metrics: observe.New("test"), conns: newConnections(DefaultMaxConnections), stop: func() {}, drainTimeout: 200 * time.Millisecond, cutTimeout: 100 * time.Millisecond}
			s.handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				running.Store(true)
				defer running.Store(false)
				close(inside)
				tt.handler(w, r, ctx.Done())
			})
			ln, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			served := make(chan error, 1)
			go func() { served <- s.Serve(ctx, ln) }()
			conn, err := net.Dial("tcp", ln.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\n%s", strings.Repeat("x", 50))
			if tt.name != "slow client" {
				fmt.Fprint(conn, strings.Repeat("x", 50))
			}
			<-inside
			if s.Draining() {
				t.Error("it is said to be stopping before it is")
			}
			start := clock.Now()
			stop()
			res, err := http.ReadResponse(bufio.NewReader(conn), nil)
			switch {
			case tt.status == 0:
				if err == nil {
					t.Errorf("the connection answered %d", res.StatusCode)
				}
			case err != nil:
				t.Error(err)
			default:
				body, err := io.ReadAll(res.Body)
				if err != nil || string(body) != "whole" || res.StatusCode != tt.status || !res.Close {
					t.Errorf("got %d %q, connection closes %v, %v", res.StatusCode, body, res.Close, err)
				}
			}
			if err := <-served; err != nil {
				t.Errorf("Serve returned %v", err)
			}
			if running.Load() || !s.Draining() {
				t.Errorf("a handler runs: %v; stopping: %v", running.Load(), s.Draining())
			}
			if took := clock.Since(start); took < tt.takes || took > tt.takes+5*time.Second {
				t.Errorf("it took %v", took)
			}
			if conn, err := net.Dial("tcp", ln.Addr().String()); err == nil {
				conn.Close()
				t.Error("a connection was taken after the stop")
			}
		})
	}
}

// broken is a listener that fails once the channel `fails` is closed.
type broken struct {
	net.Listener
	fails chan struct{}
	first atomic.Bool
}

func (l *broken) Accept() (net.Conn, error) {
	if l.first.CompareAndSwap(false, true) {
		return l.Listener.Accept()
	}
	<-l.fails
	return nil, net.ErrClosed
}

// TestListenerFails makes the listener fail. Serve must not return while a call is in flight,
// because the caller closes the graphs when Serve returns.
func TestListenerFails(t *testing.T) {
	s := &Server{log: slog.New(slog.DiscardHandler), metrics: observe.New("test"), conns: newConnections(DefaultMaxConnections), stop: func() {}, drainTimeout: 10 * time.Second, cutTimeout: time.Second}
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln := &broken{Listener: inner, fails: make(chan struct{})}
	var running atomic.Bool
	s.handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		running.Store(true)
		close(ln.fails)
		time.Sleep(100 * time.Millisecond)
		running.Store(false)
		_, _ = io.WriteString(w, "whole")
	})
	served := make(chan error, 1)
	var early bool
	go func() {
		err := s.Serve(t.Context(), ln)
		early = running.Load()
		served <- err
	}()
	res, err := http.Get("http://" + inner.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if err := <-served; !errors.Is(err, net.ErrClosed) {
		t.Errorf("served until %v", err)
	}
	if early {
		t.Error("the server returned while a call was under way")
	}
	if b, err := io.ReadAll(res.Body); string(b) != "whole" || err != nil {
		t.Errorf("answered %q, %v", b, err)
	}
}
