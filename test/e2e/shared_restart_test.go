package e2e

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/clock"
)

var sharedRestarts = flag.Int("shared.restarts", 1, "how often TestRestartUnderLoad restarts each server")

// strict checks that clients of a fleet see nothing but answers and refused connections.
type strict struct {
	transport *http.Transport

	mu      sync.Mutex
	asked   int
	refused int
	faults  map[string]int    // by kind
	example map[string]string // one for each kind
}

// newStrict returns a strict whose clients keep idle connections for less than the time that a stopping server
// leaves them open. HTTP has no means against a request that meets the close of its connection.
func newStrict() *strict {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.IdleConnTimeout = 250 * time.Millisecond
	return &strict{transport: t, faults: map[string]int{}, example: map[string]string{}}
}

// check records the outcome of a request. A client goes to the next server if the connection is refused; every
// other failure is a fault of the servers.
func (s *strict) check(path string, a answer, err error) {
	if s == nil || path == "/readyz" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	kind := ""
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		s.refused++
	case err != nil:
		kind = "transport"
		for _, known := range []error{syscall.ECONNRESET, syscall.EPIPE} {
			if errors.Is(err, known) {
				kind = known.Error()
			}
		}
	case a.status == http.StatusTooManyRequests || a.status >= 500:
		kind = fmt.Sprint("status ", a.status)
	case strings.HasSuffix(path, "/mcp") && (strings.Contains(string(a.body), `\"code\":\"internal\"`) || strings.Contains(string(a.body), `"error":{`)):
		kind = "fault over MCP"
	}
	if kind == "" {
		return
	}
	if s.faults[kind]++; s.faults[kind] == 1 {
		s.example[kind] = fmt.Sprintf("%s on server %d at %s: %v %.300s", path, a.server, a.at.UTC().Format(time.RFC3339Nano), err, a.body)
	}
}

// report fails the test if there were faults.
func (s *strict) report(t *testing.T) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	t.Logf("%d requests, %d refused connections", s.asked, s.refused)
	for _, kind := range slices.Sorted(maps.Keys(s.faults)) {
		t.Errorf("%s: %d times, first %s", kind, s.faults[kind], s.example[kind])
	}
}

// TestRestartUnderLoad restarts three servers one after the other, while clients write and read. Clients go to
// another server if a connection is refused, and no other error is allowed.
func TestRestartUnderLoad(t *testing.T) {
	s := newStorage(t, *sharedOn)
	f := newFleet(t, 3, s.url)
	for i := range f.ports {
		f.start(i)
	}
	w := f.writer()
	for i := range f.ports {
		if i != w {
			f.untilReader(i)
		}
	}
	f.strict = newStrict()
	crowd := startCrowd(f, *sharedWorkers)
	var handovers []time.Duration
	for range *sharedRestarts {
		for range f.ports {
			time.Sleep(time.Second)
			w := f.writer()
			p := f.end(w)
			first, began := crowd.firstWrite(), clock.Now()
			p.stop()
			handovers = append(handovers, f.next(first))
			t.Logf("server %d, the writer, stopped within %v", w, clock.Since(began).Round(10*time.Millisecond))
			f.start(w)
			f.untilReader(w)
		}
	}
	crowd.stop()
	f.strict.report(t)
	f.strict = nil
	t.Logf("after each signal to stop, a later write was acknowledged within %v; load of the machine: %s", handovers, loadAverage())
	crowd.checkHistory()
	for i := range f.ports {
		p := f.end(i)
		p.stop()
		if log := p.stderr.String(); strings.Contains(log, "panic") || strings.Contains(log, "corrupt") {
			t.Errorf("server %d wrote:\n%s", i, log)
		}
	}
	crowd.checkContent(s.url)
}
