package server

import (
	"container/list"
	"net"
	"net/http"
	"sync"
)

// DefaultMaxConnections is how many clients may be connected at a time.
const DefaultMaxConnections = 16_384

// maxConnections returns how many connections a server takes: what was asked for, or as
// many of the default as leave a quarter of the file descriptors to the graphs.
func maxConnections(asked int) int {
	if asked > 0 {
		return asked
	}
	if files := descriptors(); files > 0 {
		return min(DefaultMaxConnections, files/4*3)
	}
	return DefaultMaxConnections
}

// connections closes the connection that has been quiet for longest when there is one
// too many. To stop accepting instead would let whoever connects and says nothing shut
// everybody else out.
type connections struct {
	max int

	mu    sync.Mutex
	open  map[net.Conn]*list.Element // nil while a request is under way
	quiet *list.List                 // of net.Conn, quiet for longest first
}

func newConnections(most int) *connections {
	return &connections{max: most, open: map[net.Conn]*list.Element{}, quiet: list.New()}
}

// state is the ConnState hook of a server.
func (c *connections) state(conn net.Conn, state http.ConnState) {
	if over := c.enter(conn, state); over != nil {
		_ = over.Close() // its own goroutine notices, and tells of it as closed
	}
}

// enter notes a connection's state and returns the one to close, if any.
func (c *connections) enter(conn net.Conn, state http.ConnState) (over net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if place := c.open[conn]; place != nil {
		c.quiet.Remove(place)
	}
	switch state {
	case http.StateNew:
		if len(c.open) >= c.max {
			over = conn // when all others are busy
			if oldest := c.quiet.Front(); oldest != nil {
				over = oldest.Value.(net.Conn)
				c.quiet.Remove(oldest)
				c.open[over] = nil
			}
		}
		c.open[conn] = c.quiet.PushBack(conn)
	case http.StateIdle:
		c.open[conn] = c.quiet.PushBack(conn)
	case http.StateActive:
		c.open[conn] = nil
	case http.StateHijacked, http.StateClosed:
		delete(c.open, conn)
	}
	return over
}
