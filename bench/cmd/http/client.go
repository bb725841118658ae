package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/clock"
)

// conn is a connection to a server. Its methods use as little processor time as possible, because
// the client and the servers share the processors.
type conn struct {
	net.Conn
	r      *bufio.Reader
	answer []byte // body of the last answer; post reuses its memory
}

// dial opens n connections to a server.
func dial(addr string, n int) (conns []*conn, err error) {
	for range n {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			hangUp(conns)
			return nil, err
		}
		conns = append(conns, &conn{Conn: c, r: bufio.NewReaderSize(c, 64<<10)})
	}
	return conns, nil
}

// hangUp closes connections.
func hangUp(conns []*conn) {
	for _, c := range conns {
		c.Close()
	}
}

// post sends a body after a head that ends in "Content-Length: ", and returns the body of the
// answer, which is valid until the next call. A status other than 200 is an error.
func (c *conn) post(head, body string) ([]byte, error) {
	if _, err := io.WriteString(c, head+strconv.Itoa(len(body))+"\r\n\r\n"+body); err != nil {
		return nil, err
	}
	length := -1
	for first := true; ; first = false {
		line, err := c.r.ReadSlice('\n')
		switch {
		case err != nil:
			return nil, err
		case first && !bytes.HasPrefix(line, []byte("HTTP/1.1 200 ")):
			return nil, fmt.Errorf("answered %s", line)
		case bytes.HasPrefix(line, []byte("Content-Length: ")):
			if length, err = strconv.Atoi(string(bytes.TrimSpace(line[len("Content-Length: "):]))); err != nil {
				return nil, err
			}
		}
		if len(line) == 2 {
			break
		}
	}
	if length < 0 {
		return nil, fmt.Errorf("the answer has no Content-Length")
	}
	c.answer = slices.Grow(c.answer[:0], length)[:length]
	_, err := io.ReadFull(c.r, c.answer)
	return c.answer, err
}

// hammer makes calls over all connections for one round and returns the time of each call. The
// function `request` returns the head and body of the n-th call of a connection.
func hammer(conns []*conn, round time.Duration, request func(conn, n int) (head, body string)) ([]time.Duration, error) {
	took, _, err := repeat(len(conns), round, func(conn, n int) error {
		head, body := request(conn, n)
		_, err := conns[conn].post(head, body)
		return err
	})
	return took, err
}

// repeat makes calls from several clients for one round. It returns the time of each call, and the number of calls
// per second. The function `call` makes the n-th call of a client.
func repeat(clients int, round time.Duration, call func(client, n int) error) (all []time.Duration, rate float64, err error) {
	took := make([][]time.Duration, clients)
	errs := make([]error, clients)
	var wg sync.WaitGroup
	begin := clock.Now()
	for i := range clients {
		wg.Go(func() {
			for n := 0; clock.Since(begin) < round; n++ {
				start := clock.Now()
				if err := call(i, n); err != nil {
					errs[i] = err
					return
				}
				took[i] = append(took[i], clock.Since(start))
			}
		})
	}
	wg.Wait()
	elapsed := clock.Since(begin)
	for _, err := range errs {
		if err != nil {
			return nil, 0, err
		}
	}
	all = slices.Concat(took...)
	return all, float64(len(all)) / elapsed.Seconds(), nil
}
