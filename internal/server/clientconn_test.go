package server

import (
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"testing"
	"time"
)

// countedConn counts the changes of its deadlines.
type countedConn struct {
	net.Conn
	moves atomic.Int64
}

func (c *countedConn) SetReadDeadline(t time.Time) error {
	c.moves.Add(1)
	return c.Conn.SetReadDeadline(t)
}

func (c *countedConn) SetWriteDeadline(t time.Time) error {
	c.moves.Add(1)
	return c.Conn.SetWriteDeadline(t)
}

// clientPipe returns a clientConn, the connection below, and the side of the client.
func clientPipe(t *testing.T) (*clientConn, *countedConn, net.Conn) {
	here, there := net.Pipe()
	t.Cleanup(func() { here.Close(); there.Close() })
	below := &countedConn{Conn: here}
	return newClientConn(below), below, there
}

// The offsets of deadlines in tests.
const (
	never   = time.Duration(0)      // no deadline
	aborts  = time.Duration(-1)     // the deadline with which net/http ends a read
	soon    = 20 * time.Millisecond // a deadline that is over in a moment
	distant = time.Minute           // a deadline that no test reaches
)

// deadlineIn returns the deadline with an offset.
func deadlineIn(d time.Duration) time.Time {
	switch d {
	case never:
		return time.Time{}
	case aborts:
		return time.Unix(1, 0)
	}
	return time.Now().Add(d)
}

func TestReadDeadline(t *testing.T) {
	for _, tt := range []struct {
		name     string
		before   time.Duration   // the deadline when the read begins
		during   []time.Duration // further deadlines while it waits
		timesOut bool            // instead of waiting for the client, which sends a byte after 60 ms
	}{
		{name: "none"},
		{name: "over before the read", before: aborts, timesOut: true},
		{name: "over during the read", before: soon, timesOut: true},
		{name: "far", before: distant},
		{name: "moved to a later time", before: soon, during: []time.Duration{distant}},
		{name: "removed", before: soon, during: []time.Duration{never}},
		{name: "moved to an earlier time", before: distant, during: []time.Duration{soon}, timesOut: true},
		{name: "aborted", during: []time.Duration{aborts}, timesOut: true},
		{name: "moved to and fro", before: soon, during: []time.Duration{distant, soon, never}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, _, client := clientPipe(t)
			if err := c.SetReadDeadline(deadlineIn(tt.before)); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() {
				_, err := c.Read(make([]byte, 1))
				ended <- err
			}()
			for _, d := range tt.during {
				time.Sleep(2 * time.Millisecond)
				if err := c.SetReadDeadline(deadlineIn(d)); err != nil {
					t.Fatal(err)
				}
			}
			if tt.timesOut {
				if err := <-ended; !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Fatalf("%v, want the error of a deadline", err)
				}
			} else {
				time.Sleep(60 * time.Millisecond)
				if _, err := client.Write([]byte("x")); err != nil {
					t.Fatal(err)
				}
				if err := <-ended; err != nil {
					t.Fatal(err)
				}
			}
			// The connection stays usable.
			if err := c.SetReadDeadline(time.Time{}); err != nil {
				t.Fatal(err)
			}
			go client.Write([]byte("y"))
			if n, err := c.Read(make([]byte, 8)); n != 1 || err != nil {
				t.Errorf("the next read: %d bytes, %v", n, err)
			}
		})
	}
}

// TestWriteDeadline lets a deadline of the connection below pass during a write that may take longer.
func TestWriteDeadline(t *testing.T) {
	c, _, client := clientPipe(t)
	if err := c.SetWriteDeadline(deadlineIn(soon)); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		n, err := c.Write(make([]byte, 1000))
		if n != 1000 && err == nil {
			err = io.ErrShortWrite
		}
		ended <- err
	}()
	half := make([]byte, 500)
	if _, err := io.ReadFull(client, half); err != nil {
		t.Fatal(err)
	}
	if err := c.SetWriteDeadline(deadlineIn(distant)); err != nil {
		t.Fatal(err)
	}
	time.Sleep(60 * time.Millisecond)
	if _, err := io.ReadFull(client, half); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if err := c.SetWriteDeadline(deadlineIn(soon)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write(half); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a write to a client that does not read: %v", err)
	}
}

// TestDeadlinesCost checks that the deadlines of a request with net/http's pattern do not reach the connection
// below, once it has one.
func TestDeadlinesCost(t *testing.T) {
	c, below, client := clientPipe(t)
	request := func() {
		for _, d := range []time.Duration{idleTimeout, headerTimeout, requestTimeout} {
			if err := c.SetReadDeadline(time.Now().Add(d)); err != nil {
				t.Fatal(err)
			}
		}
		go client.Write([]byte("x"))
		if _, err := c.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		if err := c.SetWriteDeadline(time.Now().Add(answerTimeout)); err != nil {
			t.Fatal(err)
		}
		go io.ReadFull(client, make([]byte, 1))
		if _, err := c.Write([]byte("y")); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(c.SetReadDeadline(time.Unix(1, 0)), c.SetDeadline(time.Time{})); err != nil {
			t.Fatal(err)
		}
	}
	request()
	first := below.moves.Load()
	for range 10 {
		request()
	}
	if n := below.moves.Load(); n != first {
		t.Errorf("ten requests moved the deadlines below %d times, want none", n-first)
	}
}
