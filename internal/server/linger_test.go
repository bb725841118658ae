package server

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/server/observe"
)

// TestLinger stops a server whose socket outlives it while a client keeps an idle connection. If the
// client sends one more request, the server must answer it, ask the client to connect again, and
// stop without a further wait. If the client sends nothing, the server must close the connection
// after the linger time.
func TestLinger(t *testing.T) {
	for _, tt := range []struct {
		name   string
		linger time.Duration
		again  bool // the client sends another request
	}{
		{"another request", time.Minute, true},
		{"idle", 50 * time.Millisecond, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, stop := context.WithCancel(context.Background())
			defer stop()
			s := &Server{
				log: slog.New(slog.DiscardHandler), metrics: observe.New("test"), conns: newConnections(DefaultMaxConnections),
				stop: func() {}, drainTimeout: 10 * time.Second, cutTimeout: time.Second, lingerTimeout: tt.linger,
				handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "whole") }),
			}
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
			answers := bufio.NewReader(conn)
			ask := func() *http.Response {
				t.Helper()
				fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
				res, err := http.ReadResponse(answers, nil)
				if err != nil {
					t.Fatal(err)
				}
				if body, err := io.ReadAll(res.Body); err != nil || string(body) != "whole" {
					t.Fatalf("the answer is %q, %v", body, err)
				}
				return res
			}
			if ask().Close {
				t.Error("a server that is not stopping closes the connection")
			}
			start := clock.Now()
			stop()
			for !s.Draining() {
				time.Sleep(time.Millisecond)
			}
			if tt.again && !ask().Close {
				t.Error("a server that is stopping keeps the connection")
			}
			if err := <-served; err != nil {
				t.Error(err)
			}
			if took := clock.Since(start); took > 30*time.Second || !tt.again && took < tt.linger {
				t.Errorf("the stop took %v", took)
			}
			if _, err := answers.ReadByte(); err != io.EOF {
				t.Errorf("the connection is still open: %v", err)
			}
		})
	}
}
