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

	"github.com/omnigraph-go/omnigraph/internal/server/observe"
)

// TestStopWithWaitingConnections stops a server while clients that have connected and sent a request wait until it
// accepts their connections. All of them must get an answer, and later clients must be refused. The linger time
// gives the server time to read the requests.
func TestStopWithWaitingConnections(t *testing.T) {
	s := &Server{
		log: slog.New(slog.DiscardHandler), metrics: observe.New("test"), conns: newConnections(DefaultMaxConnections),
		stop: func() {}, drainTimeout: 10 * time.Second, cutTimeout: time.Second, lingerTimeout: time.Minute,
		handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "whole") }),
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var clients []net.Conn
	for range 100 {
		conn, err := net.Dial("tcp", ln.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
		clients = append(clients, conn)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, ln) }()
	for i, conn := range clients {
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatalf("client %d: %v", i, err)
		}
		if body, err := io.ReadAll(res.Body); err != nil || string(body) != "whole" {
			t.Errorf("client %d: the answer is %q, %v", i, body, err)
		}
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
	if conn, err := net.Dial("tcp", ln.Addr().String()); err == nil {
		conn.Close()
		t.Error("a server that has stopped accepts a connection")
	}
}
