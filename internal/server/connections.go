package server

import (
	"container/list"
	"net"
	"net/http"
	"sync"
	"time"
)

// DefaultMaxConnections is the default limit of simultaneous client connections.
const DefaultMaxConnections = 16_384

// maxConnections returns the connection limit of a server: the configured number if it is
// positive. Otherwise it returns DefaultMaxConnections, or three quarters of the file
// descriptor limit if that is less; the graphs need the other quarter.
func maxConnections(asked int) int {
	if asked > 0 {
		return asked
	}
	if files := descriptors(); files > 0 {
		return min(DefaultMaxConnections, files/4*3)
	}
	return DefaultMaxConnections
}

// connections enforces the connection limit. When a new connection exceeds the limit, it closes the
// connection that has been idle for longest. If all other connections are busy, it closes the new
// one. A connection that has not sent a request yet counts as idle. If the server stopped accepting
// instead, clients that connect and send nothing could lock out all others.
type connections struct {
	max int // the connection limit

	mu   sync.Mutex
	open map[net.Conn]*list.Element // nil while a request is in flight
	idle *list.List                 // of net.Conn, longest idle first
}

// newConnections returns a limit of `most` connections.
func newConnections(most int) *connections {
	return &connections{max: most, open: map[net.Conn]*list.Element{}, idle: list.New()}
}

// linger waits until no connection is open, but no longer than d.
func (c *connections) linger(d time.Duration) {
	timeout := time.After(d)
	poll := time.NewTicker(5 * time.Millisecond)
	defer poll.Stop()
	for c.count() > 0 {
		select {
		case <-poll.C:
		case <-timeout:
			return
		}
	}
}

// count returns the number of open connections.
func (c *connections) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open)
}

// state is the ConnState hook of a server.
func (c *connections) state(conn net.Conn, state http.ConnState) {
	if over := c.enter(conn, state); over != nil {
		_ = over.Close() // the connection's own goroutine then reports the close
	}
}

// enter records the state of a connection and returns the connection to close, or nil.
func (c *connections) enter(conn net.Conn, state http.ConnState) (over net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if place := c.open[conn]; place != nil {
		c.idle.Remove(place)
	}
	switch state {
	case http.StateNew:
		if len(c.open) >= c.max {
			over = conn // close the new connection, unless another one is idle
			if oldest := c.idle.Front(); oldest != nil {
				over = oldest.Value.(net.Conn)
				c.idle.Remove(oldest)
				c.open[over] = nil
			}
		}
		c.open[conn] = c.idle.PushBack(conn)
	case http.StateIdle:
		c.open[conn] = c.idle.PushBack(conn)
	case http.StateActive:
		c.open[conn] = nil
	case http.StateHijacked, http.StateClosed:
		delete(c.open, conn)
	}
	return over
}
