package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/internal/clock/clocktest"
	"github.com/omnigraph-go/omnigraph/internal/server"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// testClock is the clock of the servers, graphs and issuers in the tests. Every run starts at
// the same date.
var testClock = clocktest.Running(clocktest.Start)

// TestServerClock moves the clock of the options. Tokens, idempotency keys, commits, reads,
// page tokens and log lines must follow it.
func TestServerClock(t *testing.T) {
	start := time.Date(2028, time.February, 28, 23, 0, 0, 0, time.UTC)
	c := clocktest.New(start)
	i := newIdentity(t, func(o *server.Options) {
		o.Now, o.LogRequests = c.Now, true
		o.Cluster.Graphs[0].MaxRows = 1
	})
	i.issuer.Now = c.Now
	token := i.token("act-writer")
	send := func(token, path, body string, want int, header ...string) answer {
		t.Helper()
		h := http.Header{}
		for n := 0; n+1 < len(header); n += 2 {
			h.Set(header[n], header[n+1])
		}
		a := i.as(token).send("", "POST", path, body, h)
		if a.status != want {
			t.Fatalf("at %v: %d %s, want %d", c.Now(), a.status, a.body, want)
		}
		return a
	}
	const read = `{"query":"query q() { match { $p: Person } return { $p.name, now() as at } order { $p.name } }"}`
	wantAt := func(a answer, at time.Time) {
		t.Helper()
		if want := at.Format(`"2006-01-02T15:04:05.000Z"`); !strings.Contains(a.body, want) {
			t.Errorf("a read at %v has %s, want %s", c.Now(), a.body, want)
		}
	}
	insert := func(name string) string {
		return fmt.Sprintf(`{"query":"query a() { insert Person { name: \"%s\" } }","branch":"feature"}`, name)
	}

	wantAt(send(token, "/query", read, 200), start)
	page := i.as(token).call("", versions[0], "graph_query", read)
	var first struct {
		Result struct {
			Structured struct {
				Next string `json:"next_page_token"`
			} `json:"structuredContent"`
		} `json:"result"`
	}
	if err := json.Unmarshal([]byte(page.body), &first); err != nil || first.Result.Structured.Next == "" {
		t.Fatalf("a page is %d %s, %v", page.status, page.body, err)
	}
	wantAt(page, start)
	keyed := send(token, "/mutate", insert("eve"), 200, "Idempotency-Key", "k")
	if got := i.as(token).send("", "GET", "/commits?branch=feature&limit=1", "", nil); !strings.Contains(got.body, fmt.Sprintf(`"created_at":%d}`, start.UnixMicro())) {
		t.Errorf("the commit is %s", got.body)
	}

	c.Pass(59 * time.Minute)
	if again := send(token, "/mutate", insert("eve"), 200, "Idempotency-Key", "k"); again.body != keyed.body {
		t.Errorf("repeated under the same key the answer is %s, want %s", again.body, keyed.body)
	}
	c.Pass(80 * time.Second) // now it is 29 February, and the token has expired within the leeway
	later := c.Now()
	wantAt(send(token, "/query", read, 200), later)
	wantAt(i.as(token).call("", versions[0], "graph_query", fmt.Sprintf(`%s,"page_token":%q}`, strings.TrimSuffix(read, "}"), first.Result.Structured.Next)), start)
	c.Pass(time.Minute)
	send(token, "/query", read, 401)

	c.Pass(24 * time.Hour) // the key has expired, so the insert runs again and changes nothing
	if again := send(i.token("act-writer"), "/mutate", insert("eve"), 200, "Idempotency-Key", "k"); !strings.Contains(again.body, `"commit":null`) {
		t.Errorf("under an expired key the answer is %s", again.body)
	}
	log := string(i.log.Bytes())
	for _, at := range []time.Time{start, later, c.Now()} {
		if line := at.Format("time=2006-01-02T15:04:05.000Z07:00 level=INFO msg=request "); !strings.Contains(log, line) {
			t.Errorf("the log has no line %q:\n%s", line, log)
		}
	}
}

// TestPatienceClock holds a graph open while a server starts, and moves the clock until the start
// stops waiting.
func TestPatienceClock(t *testing.T) {
	f := newFleet(t, "good", "held")
	f.create("good", thing)
	f.create("held", thing)
	held, err := embedded.Open(t.Context(), fs.OS(), filepath.Join(f.dir, "data", "held"), embedded.Options{Now: testClock})
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	c := clocktest.New(clocktest.Start)
	var asked atomic.Int64
	h, log := f.mustOpen(func(o *server.Options) {
		o.Patience = 24 * time.Hour
		o.Now = func() time.Time { // each reading is some hours later than the previous one
			asked.Add(1)
			c.Pass(5 * time.Hour)
			return c.Now()
		}
	})
	if status, answer := ask(h, "POST", "/graphs/held/query", "ada", anyThing); status != http.StatusServiceUnavailable {
		t.Errorf("%d %s", status, answer)
	}
	if !strings.Contains(log.String(), "waiting for another process to close the files of the graph") || asked.Load() < 5 {
		t.Errorf("the start looked at the clock %d times, and logged\n%s", asked.Load(), log)
	}
}
