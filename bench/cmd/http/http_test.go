package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/pgserver"
)

// TestBare starts the bare server and measures one round of it with the client of the benchmark.
func TestBare(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	out, in := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- serveBare(ctx, in) }()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	addr := strings.TrimPrefix(strings.TrimSpace(line), "OMNIGRAPH_LISTEN_ADDR=")
	head := "POST /943 HTTP/1.1\r\nHost: " + addr + "\r\nContent-Length: "
	if size, err := answerSize(addr, head, "{}"); err != nil || size != 943 {
		t.Errorf("an answer of %d bytes, %v; want the 943 that the path asks for", size, err)
	}
	conns, err := dial(addr, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer hangUp(conns)
	took, err := hammer(conns, 20*time.Millisecond, func(int, int) (string, string) { return head, "{}" })
	if err != nil || len(took) < 2 {
		t.Errorf("%d calls over two connections, %v", len(took), err)
	}
	if _, err := hammer(conns, time.Millisecond, func(int, int) (string, string) { return "POST /nan HTTP/1.1\r\nHost: x\r\nContent-Length: ", "" }); err == nil {
		t.Error("an answer with a status other than 200 is not an error")
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestPostgresWriter starts PostgreSQL and measures one round of writes to it.
func TestPostgresWriter(t *testing.T) {
	w, stop, err := postgresWriter(t.Context())
	if absent := (*pgserver.Absent)(nil); errors.As(err, &absent) {
		t.Skip(absent.Reason)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := w.measure(1, options{round: 20 * time.Millisecond}); err != nil || len(w.took) == 0 || w.perSecond() <= 0 {
		t.Errorf("%d writes, %v", len(w.took), err)
	}
	if err := w.write(0, "note-1-0-0", "example.com/made.F"); err == nil {
		t.Error("a key was written twice")
	}
	w.hangUp()
	if err := stop(); err != nil {
		t.Error(err)
	}
}
