package server

import (
	"net"
	"net/http"
	"testing"
)

// TestConnections takes connections through their states and checks which one is closed.
func TestConnections(t *testing.T) {
	c := newConnections(3)
	conns := map[string]net.Conn{}
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		conn, other := net.Pipe()
		defer conn.Close()
		defer other.Close()
		conns[name] = conn
	}
	for i, step := range []struct {
		conn  string
		state http.ConnState
		over  string
	}{
		{"a", http.StateNew, ""},
		{"b", http.StateNew, ""},
		{"c", http.StateNew, ""},
		{"a", http.StateActive, ""},
		{"d", http.StateNew, "b"}, // a is busy
		{"b", http.StateClosed, ""},
		{"a", http.StateIdle, ""},
		{"e", http.StateNew, "c"}, // a was used more recently
		{"c", http.StateClosed, ""},
		{"a", http.StateActive, ""},
		{"d", http.StateActive, ""},
		{"e", http.StateActive, ""},
		{"f", http.StateNew, "f"}, // all are busy
		{"f", http.StateClosed, ""},
		{"e", http.StateHijacked, ""},
		{"f", http.StateNew, ""},
	} {
		over := c.enter(conns[step.conn], step.state)
		if over != conns[step.over] {
			t.Fatalf("step %d: closed is not %q", i, step.over)
		}
	}
	idle := 0
	for o := c.idle.next; o != &c.idle; o = o.next {
		idle++
	}
	if len(c.open) != 3 || idle != 1 {
		t.Errorf("%d are open and %d of them idle, expected 3 and 1", len(c.open), idle)
	}
}

func TestMaxConnections(t *testing.T) {
	if got := maxConnections(7); got != 7 {
		t.Errorf("asked for 7, took %d", got)
	}
	if got, files := maxConnections(0), descriptors(); got < 1 || got > DefaultMaxConnections || files > 0 && got >= files {
		t.Errorf("took %d of %d files", got, files)
	}
}
