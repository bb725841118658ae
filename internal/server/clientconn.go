package server

import (
	"errors"
	"net"
	"os"
	"sync"
	"time"
)

// clientListener wraps each connection that a listener accepts in a clientConn.
type clientListener struct{ net.Listener }

// Accept implements [net.Listener].
func (l clientListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return newClientConn(conn), nil
}

// clientConn is the connection of a client. For each request, net/http moves the deadlines of its
// connection eight times, which costs the runtime a lock and often a timer each time. clientConn only
// records a deadline. It sets the deadline of the connection below when an operation needs an earlier
// one. If an operation then ends too early, clientConn sets the recorded deadline and continues.
type clientConn struct {
	net.Conn
	read, write deadline
}

// deadline is the deadline of the reads, or of the writes, of a connection.
type deadline struct {
	set func(time.Time) error // sets the deadline of the connection below

	mu      sync.Mutex
	wanted  time.Time // when the operations must end; zero for never
	current time.Time // the deadline of the connection below; zero for none
	running int       // number of operations on the connection below
}

// move records a deadline. It sets the deadline of the connection below at once if an operation runs that must
// end earlier than it would.
func (d *deadline) move(t time.Time) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.wanted = t
	if d.running > 0 && d.late() {
		return d.setLocked()
	}
	return nil
}

// late reports whether the connection below has a later deadline than the recorded one.
// REQUIRES: d.mu is held.
func (d *deadline) late() bool {
	return !d.wanted.IsZero() && (d.current.IsZero() || d.wanted.Before(d.current))
}

// setLocked sets the deadline of the connection below to the recorded one. REQUIRES: d.mu is held.
func (d *deadline) setLocked() error {
	d.current = d.wanted
	return d.set(d.wanted)
}

// begin begins an operation on the connection below. The caller calls `end` after the operation, unless begin
// returns an error.
func (d *deadline) begin() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.late():
		if !d.wanted.After(time.Now()) {
			return os.ErrDeadlineExceeded
		}
	case d.current != aborted:
		d.running++
		return nil
	}
	if err := d.setLocked(); err != nil {
		return err
	}
	d.running++
	return nil
}

// aborted is the deadline with which net/http ends a read that is in progress.
var aborted = time.Unix(1, 0)

// end ends an operation that returned the error err. It reports whether the operation ended before the
// recorded deadline; the caller must then continue it.
func (d *deadline) end(err error) (early bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.running--
	if err == nil || !errors.Is(err, os.ErrDeadlineExceeded) || !d.wanted.IsZero() && !d.wanted.After(time.Now()) {
		return false
	}
	return d.setLocked() == nil
}

func newClientConn(below net.Conn) *clientConn {
	c := &clientConn{Conn: below}
	c.read.set, c.write.set = below.SetReadDeadline, below.SetWriteDeadline
	return c
}

// SetReadDeadline implements [net.Conn].
func (c *clientConn) SetReadDeadline(t time.Time) error { return c.read.move(t) }

// SetWriteDeadline implements [net.Conn].
func (c *clientConn) SetWriteDeadline(t time.Time) error { return c.write.move(t) }

// SetDeadline implements [net.Conn].
func (c *clientConn) SetDeadline(t time.Time) error {
	return errors.Join(c.read.move(t), c.write.move(t))
}

// Read implements [net.Conn].
func (c *clientConn) Read(p []byte) (int, error) {
	for {
		if err := c.read.begin(); err != nil {
			return 0, c.failed("read", err)
		}
		n, err := c.Conn.Read(p)
		if !c.read.end(err) || n > 0 {
			return n, err
		}
	}
}

// Write implements [net.Conn].
func (c *clientConn) Write(p []byte) (written int, err error) {
	for {
		if err := c.write.begin(); err != nil {
			return written, c.failed("write", err)
		}
		n, err := c.Conn.Write(p[written:])
		written += n
		if !c.write.end(err) {
			return written, err
		}
	}
}

// failed returns an error in the form that connections return.
func (c *clientConn) failed(op string, err error) error {
	return &net.OpError{Op: op, Net: c.LocalAddr().Network(), Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: err}
}

// CloseWrite ends the stream to the client. net/http calls it before it closes a connection of which it has
// not read everything, so that the client can still read the answer.
func (c *clientConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
