package server

import (
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
	open map[net.Conn]*openConn // guarded by mu, as is idle
	idle openConn               // ends of the list of idle connections: `next` is idle for longest, `prev` for the shortest time
}

// openConn is an open connection. Its links are nil while a request is in flight.
type openConn struct {
	conn       net.Conn
	prev, next *openConn // neighbours in connections.idle
}

// leave takes the connection out of the list of idle ones, if it is there.
func (o *openConn) leave() {
	if o.next != nil {
		o.prev.next, o.next.prev = o.next, o.prev
		o.prev, o.next = nil, nil
	}
}

// join puts the connection at the end of the list of idle ones.
func (o *openConn) join(idle *openConn) {
	o.prev, o.next = idle.prev, idle
	o.prev.next, idle.prev = o, o
}

// newConnections returns a limit of `most` connections.
func newConnections(most int) *connections {
	c := &connections{max: most, open: map[net.Conn]*openConn{}}
	c.idle.prev, c.idle.next = &c.idle, &c.idle
	return c
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
	o := c.open[conn]
	if o != nil {
		o.leave()
	}
	switch state {
	case http.StateNew:
		if len(c.open) >= c.max {
			over = conn // close the new connection, unless another one is idle
			if oldest := c.idle.next; oldest != &c.idle {
				over = oldest.conn
				oldest.leave()
			}
		}
		o = &openConn{conn: conn}
		c.open[conn] = o
		o.join(&c.idle)
	case http.StateIdle:
		if o != nil {
			o.join(&c.idle)
		}
	case http.StateActive:
	case http.StateHijacked, http.StateClosed:
		delete(c.open, conn)
	}
	return over
}
