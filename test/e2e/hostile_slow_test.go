package e2e

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/clock"
)

// make test-hostile sets these flags for the full runs. Full runs take minutes, or use most of the
// files that a process may open.
var (
	connections = flag.Int("connections", 1000, "how many idle connections TestIdleConnections holds")
	slow        = flag.Bool("slow", false, "wait until the server ends a request whose body comes a byte a second")
)

// The limits of the server, and the delay that a busy machine may add.
const (
	headerLimit = 10 * time.Second
	bodyLimit   = 2 * time.Minute

	// refusedLimit is a time limit. The server must refuse a request within this time if it does
	// not need to read the body.
	refusedLimit = 5 * time.Second
	lateness     = 10 * time.Second
)

// drip sends one byte a second until the server ends the connection. It returns the time until then
// and the server's answer.
func (b *besieged) drip(head, body string) (time.Duration, reply, error) {
	conn, err := net.Dial("tcp", b.addr)
	if err != nil {
		return 0, reply{}, err
	}
	start := clock.Now()
	if err := conn.SetDeadline(start.Add(bodyLimit + 2*lateness)); err != nil {
		return 0, reply{}, err
	}
	var writer sync.WaitGroup
	stop := make(chan struct{})
	writer.Go(func() {
		if _, err := io.WriteString(conn, head); err != nil {
			return
		}
		for i := range body {
			select {
			case <-stop:
				return
			case <-time.After(time.Second):
			}
			if _, err := io.WriteString(conn, body[i:i+1]); err != nil {
				return
			}
		}
	})
	r, err := readReply(bufio.NewReader(conn), "POST")
	took := clock.Since(start)
	close(stop)
	conn.Close()
	writer.Wait()
	return took, r, err
}

// TestSlowHeaders opens connections whose requests never finish their headers, or never begin. The
// server must end them.
func TestSlowHeaders(t *testing.T) {
	b := besiege(t)
	var clients sync.WaitGroup
	for i := range 50 {
		clients.Go(func() {
			head := ""
			if i%2 == 0 {
				head = "GET /healthz HTTP/1.1\r\nHost: " + b.addr + "\r\n"
			}
			body := ""
			if i%4 < 2 {
				body = strings.Repeat("a", 120)
			}
			took, r, err := b.drip(head, body)
			if err != nil || took > headerLimit+lateness {
				t.Errorf("head %q and %d more bytes: ended after %v with %d, %v; expected an end within %v", head, len(body), took, r.status, err, headerLimit)
			}
		})
	}
	clients.Wait()
}

// TestSlowBodies sends requests whose bodies arrive at one byte a second. If the server does not
// need the body for its answer, it must answer at once. It must end the requests that it accepts
// when the time of a request is over, and must soon refuse requests over an actor's limit.
func TestSlowBodies(t *testing.T) {
	b := besiege(t)
	head := func(path, token string) string {
		return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nAccept: */*\r\nContent-Length: 10000\r\n\r\n{", path, b.addr, token)
	}
	// A request without permission is answered at once, before its body arrives.
	foreign := strings.Replace(head(overREST, b.token), "Host: ", "Host: example.com", 1)
	for want, head := range map[int]string{http.StatusUnauthorized: head(overREST, "nobody"), http.StatusForbidden: foreign} {
		took, r, err := b.drip(head, strings.Repeat(" ", 60))
		if err != nil || r.status != want || took > patience {
			t.Errorf("a request without permission and with a slow body is answered %d after %v, %v; expected %d at once", r.status, took, err, want)
		}
	}
	if !*slow {
		t.Log("without -slow: the end of a request that does not come to its own is left out")
		return
	}
	var clients sync.WaitGroup
	for _, path := range []string{overREST, overMCP, "/graphs/code/mutate"} {
		for range 20 {
			clients.Go(func() {
				took, r, err := b.drip(head(path, b.token), strings.Repeat(" ", 200))
				limit := bodyLimit
				if r.status == http.StatusTooManyRequests {
					limit = refusedLimit
				}
				if err == nil {
					err = r.check(http.StatusBadRequest, http.StatusRequestTimeout, http.StatusTooManyRequests, closed)
				}
				if err != nil || took > limit+lateness {
					t.Errorf("%s: ended after %v: %v; expected an end within %v", path, took, err, limit)
				}
			})
		}
	}
	clients.Wait()
}

// TestSlowReaders requests large answers and does not read them. The server must serve other
// clients, and must free the memory of those answers when the slow clients leave.
func TestSlowReaders(t *testing.T) {
	b := besiege(t)
	// 10^5 rows, about 8 MB
	const answer = `{"query":"query q() { match { $a: Symbol $b: Symbol $c: Symbol $d: Symbol $e: Symbol } return { $a.path as a, $b.path as b, $c.path as c } }"}`
	r, err := b.exchange(b.request(overREST, asJSON, answer))
	if err != nil || r.status != http.StatusOK || len(r.body) < 5<<20 {
		t.Fatalf("the answer is not large: %d, %d bytes, %v", r.status, len(r.body), err)
	}
	before := b.memory("VmRSS")
	var conns []net.Conn
	for range 16 {
		conn, err := net.Dial("tcp", b.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if err := conn.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Write(b.request(overREST, asJSON, answer)); err != nil {
			t.Fatal(err)
		}
		conns = append(conns, conn)
	}
	time.Sleep(3 * time.Second)
	held := b.memory("VmRSS")
	for _, conn := range conns {
		conn.Close()
	}
	// Request more such answers: if the server had leaked memory, it would run out.
	for range 3 {
		for range 16 {
			if r, err := b.exchange(b.request(overREST, asJSON, answer)); err != nil || r.status != http.StatusOK {
				t.Errorf("after the slow readers: %d, %v", r.status, err)
			}
		}
	}
	t.Logf("%d MiB before, %d MiB with 16 readers that do not read, %d MiB after 48 that did", before, held, b.memory("VmRSS"))
}

// TestLargeBodies sends the largest accepted bodies, several at a time, over both transports. The
// server must read all of them and refuse them because of their content.
func TestLargeBodies(t *testing.T) {
	b := besiege(t)
	const size = 30 << 20
	line := `{"type":"Note","data":{"slug":"s","text":"` + strings.Repeat("x", 100) + `","created":1}}` + "\n"
	lines := strings.Repeat(line, size/len(line)) + "no JSON\n"
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"graph_load","arguments":{"mode":"merge","data":"` + strings.Repeat("x", size) + `"}}}`
	var clients sync.WaitGroup
	for i := range 8 {
		clients.Go(func() {
			request := b.request("/graphs/code/load/ndjson?mode=merge", "application/x-ndjson", lines)
			want := []int{http.StatusBadRequest, http.StatusTooManyRequests}
			if i%2 == 0 {
				request, want = b.request(overMCP, asJSON, call), []int{http.StatusOK, http.StatusTooManyRequests}
			}
			r, err := b.exchange(request)
			if err == nil {
				err = r.check(want...)
			}
			if err != nil || !r.refused() {
				t.Errorf("client %d: %d %.100s, %v", i, r.status, r.body, err)
			}
		})
	}
	clients.Wait()
}

// TestIdleConnections holds many idle connections. Half of them never sent a request; the other
// half sent one and stay open. The server must serve other clients, and the connections that stayed
// within its limit must still work.
func TestIdleConnections(t *testing.T) {
	b := besiege(t)
	before, started := b.memory("VmRSS"), clock.Now()
	ask := fmt.Sprintf("GET /graphs/code/queries HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", b.addr, b.token)
	var used []net.Conn
	for i := range *connections {
		conn, err := net.Dial("tcp", b.addr)
		if err != nil {
			t.Fatalf("connection %d: %v; see ulimit -n", i, err)
		}
		defer conn.Close()
		if i%2 == 0 {
			continue
		}
		if r, err := askOn(conn, ask); err != nil || r.status != http.StatusOK {
			t.Fatalf("connection %d: %d, %v", i, r.status, err)
		}
		used = append(used, conn)
	}
	opened := clock.Since(started)
	time.Sleep(5 * time.Second)
	held := b.memory("VmRSS")
	for i := 0; i < len(used); i += max(1, len(used)/100) {
		if r, err := askOn(used[i], ask); err != nil || r.status != http.StatusOK {
			t.Errorf("a request on an idle connection: %d, %v", r.status, err)
		}
	}
	b.once.Do(b.depart)
	took := slices.Sorted(slices.Values(b.took))
	t.Logf("%d connections in %v; %d MiB before and %d MiB with them; %d reads of another client, median %v, p99 %v, worst %v", *connections, opened.Round(time.Millisecond),
		before, held, len(took), took[len(took)/2], took[len(took)*99/100], took[len(took)-1])
	if p99 := took[len(took)*99/100]; p99 > patience/5 {
		t.Errorf("with %d idle connections the p99 of a read is %v, expected at most %v", *connections, p99, patience/5)
	}
}

// TestConnectionsGiveWay connects more clients than the server accepts. The server must close the
// connections that were idle longest, and must accept every new client.
func TestConnectionsGiveWay(t *testing.T) {
	b := besiege(t, "--max-connections", "50")
	ask := fmt.Sprintf("GET /graphs/code/queries HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", b.addr, b.token)
	var conns []net.Conn
	for i := range 200 {
		conn, err := net.Dial("tcp", b.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if r, err := askOn(conn, ask); err != nil || r.status != http.StatusOK {
			t.Fatalf("connection %d: %d, %v", i, r.status, err)
		}
		conns = append(conns, conn)
	}
	time.Sleep(100 * time.Millisecond)
	open := 0
	for _, conn := range conns {
		// There is nothing to read on an open connection, so the read times out.
		if err := conn.SetReadDeadline(time.Now().Add(10 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		var timeout net.Error
		if _, err := conn.Read(make([]byte, 1)); errors.As(err, &timeout) && timeout.Timeout() {
			open++
		}
	}
	if open == 0 || open > 50 {
		t.Errorf("%d of 200 connections are open, expected at most 50", open)
	}
}

// askOn sends one request on a connection that stays open.
func askOn(conn net.Conn, ask string) (reply, error) {
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		return reply{}, err
	}
	if _, err := io.WriteString(conn, ask); err != nil {
		return reply{}, err
	}
	return readReply(bufio.NewReader(conn), "GET")
}
