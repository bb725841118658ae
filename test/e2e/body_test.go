package e2e

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/clock"
	slowtest "github.com/omnigraph-go/omnigraph/internal/slow"
)

// bodyMB is the size of the bodies that TestLargeLoad and TestBrokenLoad send. make verify sends 200 MB.
var bodyMB = flag.Int64("body", 10, "how many MB TestLargeLoad and TestBrokenLoad send in one load")

// symbolLines is the NDJSON of symbols, each of which a package holds. It makes the lines while it is read.
type symbolLines struct {
	size int64 // the number of bytes after which no symbol follows
	name string
	sent int64
	rows int
	next bytes.Buffer
}

// Read implements [io.Reader].
func (s *symbolLines) Read(p []byte) (int, error) {
	for s.next.Len() < len(p) && s.sent < s.size {
		before := s.next.Len()
		// A key of a multiplied number, so that the keys do not ascend, and a text that differs from row to row.
		i := uint64(s.rows) * 0x9e3779b97f4a7c15
		fmt.Fprintf(&s.next, `{"type":"Symbol","data":{"path":"example.com/%s.S%016x","name":"S%d","kind":"func","exported":true,"line":%d,"signature":"func(a int, b string) (%x, error)","words":"s %x %d"}}`+"\n",
			s.name, i, s.rows, s.rows%5000+1, i^0xffff, i>>40, s.rows)
		fmt.Fprintf(&s.next, `{"edge":"Holds","from":"example.com/p","to":"example.com/%s.S%016x"}`+"\n", s.name, i)
		s.rows++
		s.sent += int64(s.next.Len() - before)
	}
	return s.next.Read(p)
}

// anonymous samples the anonymous memory of a server until the function that it returns is called. That returns the peak
// in MiB.
func (p *process) anonymous() (peak func() int) {
	most, stop := 0, make(chan struct{})
	var sampling sync.WaitGroup
	sampling.Go(func() {
		for {
			most = max(most, p.memory("RssAnon"))
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	})
	return func() int {
		close(stop)
		sampling.Wait()
		return most
	}
}

// loadBody loads a body of the given size, and returns the number of its entities and the peak of anonymous memory. Another client
// calls a stored query meanwhile; its latencies go to `took`.
func (p *process) loadBody(other *process, size int64, took *[]time.Duration) (entities int64, peak int) {
	p.t.Helper()
	body := &symbolLines{size: size, name: fmt.Sprintf("of%d", size)}
	req, err := http.NewRequest(http.MethodPost, "http://"+p.addr+"/graphs/code/load/ndjson?mode=merge", io.MultiReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+p.token)
	req.Header.Set("Content-Type", "application/x-ndjson")
	stop := make(chan struct{})
	var reading sync.WaitGroup
	reading.Go(func() {
		client := &http.Client{Transport: &http.Transport{}}
		defer client.CloseIdleConnections()
		var answers map[int]int
		if *took, answers, _ = other.callEvery(client, stop, time.Millisecond, "/graphs/code/queries/notes_about", []string{stored}); answers[http.StatusOK] != len(*took) {
			p.t.Errorf("the other client was answered %v", answers)
		}
	})
	measured := p.anonymous()
	var answer struct {
		Error string `json:"error"`
		Total int64  `json:"total_entities"`
	}
	start := clock.Now()
	status, err := send(req, &answer)
	peak = measured()
	p.t.Logf("a load of %d MB with %d entities took %v; anonymous memory was at most %d MiB", size/1e6, answer.Total, clock.Since(start).Round(time.Millisecond), peak)
	close(stop)
	reading.Wait()
	if err != nil || status != http.StatusOK || answer.Total != int64(2*body.rows) {
		p.t.Fatalf("a load of %d bytes: status %d, %+v, %v; expected %d entities", size, status, answer, err, 2*body.rows)
	}
	return answer.Total, peak
}

// The memory of a load may exceed that of a load of a tenth of the size, or of 100 MB, by these.
const (
	memoryOfLoad   = 256 // MiB
	memoryOfEntity = 112 // bytes for each node or edge of the load: blocks that are read again, and the words of each row in a text index
)

// TestLargeLoad streams a body that is larger than what the server accepts elsewhere.
func TestLargeLoad(t *testing.T) {
	slowtest.Test(t)
	t.Setenv("OMNIGRAPH_TOKEN_ACT_ADA", goodToken)
	size := *bodyMB * 1e6
	var alone, beside latencies
	memory := func(size int64) (entities int64, peak int) {
		p := start(t, clusterDir(t))
		other := &process{t: t, addr: p.addr, token: goodToken}
		p.measureAlone(&alone, other)
		entities, peak = p.loadBody(other, size, &beside.took)
		p.stop()
		return entities, peak
	}
	_, small := memory(min(size/10, 100e6))
	entities, large := memory(size)
	if most := small + memoryOfLoad + int(entities*memoryOfEntity>>20); large > most {
		t.Errorf("a load of %d MB took %d MiB, expected at most %d", *bodyMB, large, most)
	}
	t.Logf("another client alone:           %v", &alone)
	t.Logf("another client during the load: %v", &beside)
	if most := 10*alone.p99() + time.Second; beside.p99() > most { // other tests may run on the machine
		t.Errorf("the p99 of another client is %v, expected at most %v", beside.p99(), most)
	}
}

// measureAlone adds the latencies of a client's calls while nobody else calls.
func (p *process) measureAlone(l *latencies, other *process) {
	stop := make(chan struct{})
	time.AfterFunc(2*time.Second, func() { close(stop) })
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	took, _, _ := other.callEvery(client, stop, time.Millisecond, "/graphs/code/queries/notes_about", []string{stored})
	l.took = append(l.took, took...)
}

// breaker passes connections on to a server, and breaks each after a number of bytes from the client, until it has broken as many as it may.
type breaker struct {
	net.Listener
	to     string
	after  int64
	left   atomic.Int64 // connections to break
	broken atomic.Int64
}

// serve passes connections on until the listener is closed.
func (b *breaker) serve() {
	for {
		client, err := b.Accept()
		if err != nil {
			return
		}
		go b.pass(client)
	}
}

// pass passes a connection on.
func (b *breaker) pass(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", b.to)
	if err != nil {
		return
	}
	defer server.Close()
	go func() {
		defer client.Close()
		_, _ = io.Copy(client, server) // the client sees how the connection ends
	}()
	if _, err := io.CopyN(server, client, b.after); err != nil {
		return
	}
	if b.left.Add(-1) >= 0 {
		b.broken.Add(1)
		return
	}
	_, _ = io.Copy(server, client)
}

// TestBrokenLoad breaks the connection of omnigraph load ten times. The command must go on where the server stopped to receive,
// and the graph must have each entity once.
func TestBrokenLoad(t *testing.T) {
	slowtest.Test(t)
	p := start(t, clusterDir(t))
	size := max(*bodyMB, 16) * 1e6
	lines := &symbolLines{size: size, name: "broken"}
	name := filepath.Join(t.TempDir(), "data.ndjson")
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(file, lines); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	const breaks = 10
	b := &breaker{Listener: ln, to: p.addr, after: size / (breaks + 4)}
	b.left.Store(breaks)
	go b.serve()
	load := exec.Command(filepath.Join(bin, "omnigraph"), "load", "--server", "http://"+ln.Addr().String(), "--graph", "code", "--data", name, "--mode", "append", "--format", "json")
	load.Env = append(os.Environ(), "OMNIGRAPH_TOKEN="+p.token)
	measured := p.anonymous()
	out, err := load.CombinedOutput()
	t.Logf("a load of %d MB that broke off %d times; anonymous memory of the server was at most %d MiB", size/1e6, b.broken.Load(), measured())
	if err != nil || !bytes.Contains(out, fmt.Appendf(nil, `"inserted": %d`, lines.rows)) && !bytes.Contains(out, fmt.Appendf(nil, `"inserted":%d`, lines.rows)) {
		t.Fatalf("the load: %v\n%s", err, out)
	}
	if n := b.broken.Load(); n != breaks {
		t.Errorf("%d connections broke, expected %d", n, breaks)
	}
	if left, err := filepath.Glob(filepath.Join(p.cmd.Args[2], "data", ".uploads", "code", "*")); err != nil || len(left) > 0 {
		t.Errorf("after the load there are still %v, %v", left, err)
	}
	p.stop()
}
