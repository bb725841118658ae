package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/clock"
)

// auditedCall is a call that a server acknowledged.
type auditedCall struct {
	server int
	write  bool
	at     time.Time
}

// lived returns how long the server that records a call lived on after it, as far as the kills tell.
func (c *auditedCrowd) lived(call auditedCall) time.Duration {
	lived := time.Hour
	for server, killed := range c.kills {
		if after := killed.Sub(call.at); after > 0 && (call.write || server == call.server) {
			lived = min(lived, after)
		}
	}
	return lived
}

// auditedCrowd calls the servers of a fleet, and remembers what each acknowledged.
type auditedCrowd struct {
	f     *fleet
	mu    sync.Mutex
	calls map[string]auditedCall // by id of the request
	kills []time.Time            // by server
}

// call sends reads, and a write for each tenth, to a server until the channel is closed.
func (c *auditedCrowd) call(server, client int, stop <-chan struct{}) {
	for n := 0; ; n++ {
		select {
		case <-stop:
			return
		default:
		}
		id := fmt.Sprintf("call-%d-%d-%d", server, client, n)
		path, body := "/graphs/code/query", `{"query":"query q() { match { $s: Symbol } return { $s.id } limit 5 }"}`
		if n%10 == 9 {
			path, body = "/graphs/code/queries/add_note", fmt.Sprintf(`{"params":{"slug":%q,"symbol":"example.com/p.F1","text":"t"}}`, id)
		}
		a, err := c.f.ask(server, http.MethodPost, path, body, "X-Request-Id", id)
		if err != nil {
			time.Sleep(20 * time.Millisecond) // the server was killed
			continue
		}
		if a.status == http.StatusOK {
			c.mu.Lock()
			c.calls[id] = auditedCall{server, n%10 == 9, a.at}
			c.mu.Unlock()
		}
	}
}

// TestAuditOfServers kills each of three servers of one storage under load. Each call that a server acknowledged longer before
// the kill of the server that records it than the bound must be in the trail once, and each chain must be whole. The writer alone
// records a write, which another server may have passed on to it.
func TestAuditOfServers(t *testing.T) {
	const bound = 2 * time.Second // as for one server
	storage := "file://" + t.TempDir()
	f := newFleet(t, 3, storage)
	c := &auditedCrowd{f: f, calls: map[string]auditedCall{}, kills: make([]time.Time, len(f.ports))}
	for i := range f.ports {
		f.start(i)
	}
	stop := make(chan struct{})
	var clients sync.WaitGroup
	for i := range f.ports {
		for k := range 2 {
			clients.Go(func() { c.call(i, k, stop) })
		}
	}
	for range f.ports {
		time.Sleep(bound + time.Second) // so that calls of each life are older than the bound
		w := f.writer()
		if !c.kills[w].IsZero() { // the writer was killed before
			w = slices.IndexFunc(c.kills, time.Time.IsZero)
		}
		p := f.end(w)
		p.kill()
		c.kills[w] = clock.Now() // it answers nothing after this
		f.start(w)
	}
	close(stop)
	clients.Wait()
	for i := range f.ports {
		f.end(i).stop()
	}

	verifiedChains(t, storage) // the gaps follow when a server takes the chains, a minute after the kills
	recorded := recordedCalls(t, storage)
	safe, late, lost := 0, 0, 0
	for id, call := range c.calls {
		switch n := recorded[id]; {
		case c.lived(call) > bound && n != 1:
			t.Errorf("%s is recorded %d times, and was acknowledged %v before a kill", id, n, c.lived(call))
		case c.lived(call) > bound:
			safe++
		case n > 1:
			t.Errorf("%s is recorded %d times", id, n)
		default:
			late++
			lost += 1 - n
		}
	}
	t.Logf("%d calls acknowledged more than the bound before a kill are recorded once; of %d later ones %d are lost", safe, late, lost)
	if safe == 0 {
		t.Error("no call was acknowledged long enough before a kill")
	}
}

// verifiedChain is a chain in the answer of omnigraph audit verify.
type verifiedChain struct {
	Gaps []struct{ Since time.Time }
}

// verifiedChains verifies the audit trail at a storage.
func verifiedChains(t *testing.T, storage string) []verifiedChain {
	t.Helper()
	out, err := exec.Command(filepath.Join(bin, "omnigraph"), "audit", "verify", storage).Output()
	if err != nil {
		t.Fatalf("audit verify: %v\n%s", err, out)
	}
	var verified struct{ Chains []verifiedChain }
	if err := json.Unmarshal(out, &verified); err != nil {
		t.Fatal(err)
	}
	return verified.Chains
}

// recordedCalls counts the records of the audit trail at a storage by the id of the request.
func recordedCalls(t *testing.T, storage string) map[string]int {
	t.Helper()
	out, err := exec.Command(filepath.Join(bin, "omnigraph"), "audit", "list", "--trail", storage, "--graph", "code", "--limit", "1000000", "--format", "json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		Records []struct {
			Request string `json:"request_id"`
		}
	}
	if err := json.Unmarshal(out, &list); err != nil {
		t.Fatal(err)
	}
	recorded := map[string]int{}
	for _, r := range list.Records {
		recorded[r.Request]++
	}
	return recorded
}
