package e2e

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/clock"
	slowtest "github.com/omnigraph-go/omnigraph/internal/slow"
)

// The size of TestSharedApply. `make test-online` runs its long form.
var (
	applies      = flag.Int("shared.applies", 20, "the applies of TestSharedApply")
	applyKills   = flag.Int("shared.apply-kills", 2, "during how many of these applies TestSharedApply kills the writer")
	applyClients = flag.Int("shared.apply-clients", 8, "the clients of TestSharedApply")
	// A short retention also makes the readers load each checkpoint, which takes them away from the log.
	applyRetention = flag.Duration("shared.apply-retention", 5*time.Second, "the retention of the storage of TestSharedApply")
)

// revised is a cluster that is applied again and again while clients use its servers. Its revision n states n in the text and in the
// description of each query, and allows the query `even` or `odd`.
type revised struct {
	*fleet
	kills []kill // guarded by mu; the latest is the last

	begun  atomic.Int64 // the latest revision whose apply has begun
	served atomic.Int64 // the latest revision that all running servers have served
	calls  atomic.Int64

	marks   map[string]int // value of each acknowledged thing, by its key; guarded by mu
	excused map[string]int // refusals that a kill explains, by kind; guarded by mu
}

// kill is a time in which a server was killed.
type kill struct {
	server   int
	from, to time.Time // to is zero while the server is down
	written  time.Time // the first acknowledged write that began after the kill; zero before
}

// newRevised makes three servers of a graph `box` and applies revision 1.
func newRevised(t *testing.T, storage string) *revised {
	t.Helper()
	r := &revised{fleet: newPorts(t, 3), marks: map[string]int{}, excused: map[string]int{}}
	r.graph, r.args = "box", []string{"--applied-policy"}
	for range r.ports {
		r.dirs = append(r.dirs, t.TempDir())
	}
	for _, dir := range r.dirs {
		r.set(dir, storage, 1)
	}
	r.begun.Store(1)
	r.served.Store(1)
	omnigraph(t, "cluster", "apply", "--cluster", r.dirs[0])
	return r
}

// set writes the files of revision n. From one revision to the next, the queries change, and in turn the schema gets another
// property, the policy allows more, a property of the queries is renamed, and a limit changes.
func (r *revised) set(dir, storage string, n int) {
	r.t.Helper()
	renames := n / 4
	schema, was := "node Thing {\n  slug: String @key\n", ""
	if n%4 == 0 {
		was = fmt.Sprintf(" @rename_from(%q)", fmt.Sprint("mark", renames-1))
	}
	schema += fmt.Sprintf("  mark%d: I64?%s\n", renames, was)
	for i := range (n + 2) / 4 {
		schema += fmt.Sprintf("  more%d: String?\n", i)
	}
	write(r.t, filepath.Join(dir, "box.pg"), schema+"}\n")
	if err := os.MkdirAll(filepath.Join(dir, "queries"), 0o755); err != nil {
		r.t.Fatal(err)
	}
	write(r.t, filepath.Join(dir, "queries", "box.gq"), strings.NewReplacer("N", fmt.Sprint(n), "MARK", fmt.Sprint("mark", renames)).Replace(`
query state() @description("State N.") { match { $t: Thing } return { $t.slug as slug, N as n, $t.MARK as mark } order { slug } limit 30 }

query even() @description("State N.") { match { $t: Thing } return { $t.slug as slug, N as n } order { slug } limit 1 }

query odd() @description("State N.") { match { $t: Thing } return { $t.slug as slug, N as n } order { slug } limit 1 }

query add($slug: String, $mark: I64) @description("State N.") { insert new Thing { slug: $slug, MARK: $mark } }
`))
	more := ""
	for i := range (n + 1) / 4 {
		more += fmt.Sprintf(", act-%d", i)
	}
	write(r.t, filepath.Join(dir, "policy.yaml"), fmt.Sprintf(`version: 1
rules:
  - id: use
    allow: { actors: { ids: [act-dev%s] }, actions: [read, change] }
  - id: named
    allow: { actors: { ids: [act-dev] }, actions: [invoke_query], queries: [state, add, %s] }
`, more, parity(n)))
	write(r.t, filepath.Join(dir, "server.policy.yaml"), "version: 1\nrules:\n  - id: ready\n    allow: { actors: { ids: [act-dev] }, actions: [graph_list] }\n")
	write(r.t, filepath.Join(dir, "cluster.yaml"), fmt.Sprintf(`version: 1
storage: { url: %q, cache: ./cache, cache_bytes: 1MiB, lease: %v, max_staleness: 10s, retention: %v }
peers: [%s]
graphs:
  box: { schema: box.pg, queries: queries/, mcp: { max_rows: %d } }
policies:
  base: { file: policy.yaml, applies_to: [box] }
  server: { file: server.policy.yaml, applies_to: [cluster] }
server: { limits: { per_actor_inflight: %d } }
`, storage, *sharedLease, *applyRetention, strings.Join(r.peers, ", "), rowsAt(n), 64+n/4))
}

// parity returns the query that the policy of revision n allows.
func parity(n int) string { return []string{"even", "odd"}[n%2] }

// rowsAt returns the limit of the rows of an answer over MCP in revision n.
func rowsAt(n int) int { return 4 + (n+3)/4%7 }

// call is an answer with what a client knew before.
type sent struct {
	answer
	err         error
	began       time.Time
	least, most int // the revisions that the answer may be of
}

// send sends a request to a random server.
func (r *revised) send(method, path, body string, header ...string) sent {
	s := sent{began: clock.Now(), least: int(r.served.Load())}
	at := rand.IntN(len(r.ports))
	s.answer, s.err = r.ask(at, method, "/graphs/box"+path, body, header...)
	s.server, s.most = at, int(r.begun.Load())
	if s.err != nil {
		s.at = clock.Now()
	}
	r.calls.Add(1)
	return s
}

// failed reports whether a call has failed. It is a fault of the test unless a kill of the server, or of the one to which it forwards,
// explains the failure.
func (r *revised) failed(what string, writes bool, s sent) bool {
	if s.err == nil && s.status == http.StatusOK && !strings.Contains(string(s.body), `"isError":true`) {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, k := range r.kills {
		switch {
		case s.err != nil && s.server == k.server && s.at.After(k.from) && (k.to.IsZero() || s.began.Before(k.to)):
			r.excused[what+" on the killed server"]++
			return true
		case s.err == nil && writes && s.at.After(k.from) && (k.written.IsZero() || s.began.Before(k.written)) &&
			(s.status == http.StatusServiceUnavailable || strings.Contains(string(s.body), "the outcome of the write is unknown")):
			r.excused[what+" for the killed server"]++
			return true
		}
	}
	r.t.Errorf("%s on server %d, sent at %s in revision %d to %d: %v %d %.400s", what, s.server, s.began.UTC().Format(time.RFC3339Nano), s.least, s.most, s.err, s.status, s.body)
	return true
}

// of checks that an answer is of a revision that was in force during the call.
func (s sent) of(t *testing.T, what string, n int) {
	t.Helper()
	if n < s.least || n > s.most {
		t.Errorf("%s on server %d is of revision %d, and those in force were %d to %d", what, s.server, n, s.least, s.most)
	}
}

var mcpHeader = []string{"Accept", "application/json, text/event-stream", "Mcp-Protocol-Version", "2025-11-25"}

// read reads things over REST and checks that all is of one revision.
func (r *revised) read() {
	s := r.send(http.MethodPost, "/queries/state", `{}`)
	if r.failed("a read", false, s) {
		return
	}
	var a struct {
		Rows []struct {
			Slug string
			N    int
			Mark *int
		}
	}
	if err := json.Unmarshal(s.body, &a); err != nil || len(a.Rows) == 0 {
		r.t.Errorf("a read: %v %.300s", err, s.body)
		return
	}
	s.of(r.t, "a read", a.Rows[0].N)
	for _, row := range a.Rows {
		if row.N != a.Rows[0].N || row.Mark == nil {
			r.t.Errorf("a read on server %d: %.1000s", s.server, s.body)
		}
	}
}

// readTool reads things over MCP and checks that the query and the limit are of one revision.
func (r *revised) readTool() {
	s := r.send(http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"state","arguments":{}}}`, mcpHeader...)
	if r.failed("a read over MCP", false, s) {
		return
	}
	var a struct {
		Result struct {
			StructuredContent struct {
				Rows [][]any
			}
		}
	}
	err := json.Unmarshal(s.body, &a)
	rows := a.Result.StructuredContent.Rows
	if err != nil || len(rows) == 0 || len(rows[0]) != 3 {
		r.t.Errorf("a read over MCP: %v %.300s", err, s.body)
		return
	}
	n := int(rows[0][1].(float64))
	s.of(r.t, "a read over MCP", n)
	if len(rows) != rowsAt(n) {
		r.t.Errorf("a read over MCP on server %d has the query of revision %d and %d rows, want %d", s.server, n, len(rows), rowsAt(n))
	}
}

// list lists the tools, and checks that the queries and the policy are of one revision.
func (r *revised) list() {
	s := r.send(http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, mcpHeader...)
	if r.failed("a list", false, s) {
		return
	}
	var a struct {
		Result struct {
			Tools []struct{ Name, Description string }
		}
	}
	if err := json.Unmarshal(s.body, &a); err != nil {
		r.t.Errorf("a list: %v %.300s", err, s.body)
		return
	}
	states := map[string]int{}
	for _, tool := range a.Result.Tools {
		var n int
		if _, err := fmt.Sscanf(tool.Description, "State %d.", &n); err == nil {
			states[tool.Name] = n
		}
	}
	n := states["state"]
	s.of(r.t, "a list", n)
	if want := map[string]int{"state": n, "add": n, parity(n): n}; !maps.Equal(states, want) {
		r.t.Errorf("a list on server %d has the tools %v, want %v", s.server, states, want)
	}
}

// add writes a thing, until a server acknowledges it.
func (r *revised) add(slug string, mark int) {
	body := fmt.Sprintf(`{"params":{"slug":%q,"mark":%d}}`, slug, mark)
	for deadline := clock.Now().Add(patient); clock.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		s := r.send(http.MethodPost, "/queries/add", body, "Idempotency-Key", slug)
		if r.failed("a write", true, s) {
			continue
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.marks[slug] = mark
		if k := len(r.kills) - 1; k >= 0 && r.kills[k].written.IsZero() && s.began.After(r.kills[k].from) {
			r.kills[k].written = s.at
		}
		return
	}
	r.t.Errorf("the write of %s was not acknowledged within %v", slug, patient)
}

// work starts clients, and returns a function that stops them.
func (r *revised) work(clients int) (stop func()) {
	var done atomic.Bool
	var group sync.WaitGroup
	for c := range clients {
		group.Go(func() {
			for i := 0; !done.Load(); i++ {
				switch (c + i) % 4 {
				case 0:
					r.add(fmt.Sprintf("thing-%d-%d", c, i), i)
				case 1:
					r.read()
				case 2:
					r.list()
				case 3:
					r.readTool()
				}
				time.Sleep(time.Duration(rand.IntN(4)) * time.Millisecond)
			}
		})
	}
	return func() {
		done.Store(true)
		group.Wait()
	}
}

// apply applies revision n, and returns when it was recorded. If a server is killed meanwhile, the command may fail, and is run again.
func (r *revised) apply(n int, killed bool) time.Time {
	r.t.Helper()
	for deadline := clock.Now().Add(patient); ; time.Sleep(50 * time.Millisecond) {
		cmd := exec.Command(filepath.Join(bin, "omnigraph"), "cluster", "apply", "--cluster", r.dirs[0])
		var says strings.Builder
		cmd.Stderr = &says
		out, err := cmd.Output()
		var a struct {
			Revision struct {
				Revision  int64
				AppliedAt int64 `json:"applied_at"`
			}
		}
		if err == nil {
			if err := json.Unmarshal(out, &a); err != nil || a.Revision.Revision != int64(n) {
				r.t.Fatalf("apply %d: %v\n%s", n, err, out)
			}
			return time.UnixMicro(a.Revision.AppliedAt)
		}
		if !killed || clock.Now().After(deadline) {
			r.t.Fatalf("apply %d: %v\n%s", n, err, says.String())
		}
		r.t.Logf("apply %d, while the writer is killed: %s", n, says.String())
	}
}

// await waits until all running servers list and run the queries of revision n. A server that has not read the schema of the revision
// in the log of the graph yet runs those of the one before.
func (r *revised) await(n int) {
	r.t.Helper()
	asked := []struct{ path, body, want string }{
		{"/graphs/box/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, fmt.Sprintf(`State %d.`, n)},
		{"/graphs/box/queries/" + parity(n), `{}`, fmt.Sprintf(`"n":%d`, n)},
	}
	for i := range r.ports {
		for deadline := clock.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
			r.mu.Lock()
			down := r.running[i] == nil
			r.mu.Unlock()
			if down {
				break
			}
			serves := true
			for _, q := range asked {
				a, err := r.ask(i, http.MethodPost, q.path, q.body, mcpHeader...)
				serves = serves && err == nil && strings.Contains(string(a.body), q.want)
				if clock.Now().After(deadline) {
					r.t.Fatalf("after a minute server %d does not serve revision %d: %v %d %.300s", i, n, err, a.status, a.body)
				}
			}
			if serves {
				break
			}
		}
	}
}

// kill kills a server.
func (r *revised) kill(w int) {
	p := r.end(w)
	r.mu.Lock()
	r.kills = append(r.kills, kill{server: w, from: clock.Now()})
	r.mu.Unlock()
	if err := p.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		r.t.Error(err)
	}
	p.kill()
}

// TestSharedApply applies other queries, policies, limits and schemas to three servers on a shared storage, while clients read, write
// and list tools, and kills the writer during some applies. No call may fail that both revisions allow, no answer may be of two
// revisions, and no acknowledged write may be lost.
func TestSharedApply(t *testing.T) {
	slowtest.Test(t)
	s := newStorage(t, *sharedOn)
	r := newRevised(t, s.url)
	for i := range r.ports {
		r.start(i)
	}
	for i := range 12 { // before the clients read
		r.add(fmt.Sprintf("first-%d", i), i)
	}
	for i := range r.ports {
		r.version(i)
	}
	stop := r.work(*applyClients)
	defer stop()
	killAt := map[int]bool{}
	for _, i := range rand.Perm(*applies)[:*applyKills] {
		killAt[i+2] = true
	}
	var took, tookKilled []time.Duration
	for n := 2; n < *applies+2 && !t.Failed(); n++ {
		r.set(r.dirs[0], s.url, n)
		r.begun.Store(int64(n))
		killed := make(chan int, 1)
		if killAt[n] {
			w := r.writer()
			go func() {
				time.Sleep(time.Duration(rand.IntN(400)) * time.Millisecond)
				r.kill(w)
				killed <- w
			}()
		}
		recorded := r.apply(n, killAt[n])
		if killAt[n] {
			w := <-killed
			r.await(n)
			tookKilled = append(tookKilled, clock.Now().Sub(recorded))
			r.served.Store(int64(n))
			r.add(fmt.Sprintf("after-kill-%d", n), n)
			r.start(w)
			r.mu.Lock()
			r.kills[len(r.kills)-1].to = clock.Now()
			r.mu.Unlock()
			r.await(n)
			continue
		}
		r.await(n)
		took = append(took, clock.Now().Sub(recorded))
		r.served.Store(int64(n))
	}
	stop()
	for name, times := range map[string][]time.Duration{"without a kill": took, "with a kill": tookKilled} {
		if slices.Sort(times); len(times) > 0 {
			t.Logf("%s: from the apply to the last server %v at p50, %v at p99 of %d; load of the machine: %s", name, times[len(times)/2].Round(time.Millisecond), times[(len(times)*99-1)/100].Round(time.Millisecond), len(times), loadAverage())
		}
	}
	r.mu.Lock()
	t.Logf("%d calls, %d acknowledged writes; refused because of kills: %v", r.calls.Load(), len(r.marks), r.excused)
	r.mu.Unlock()
	for i := range r.ports {
		r.end(i).stop()
	}
	r.checkThings(s.url)
}

// checkThings compares the stored things with the acknowledged ones. Every write was repeated until a server acknowledged it.
func (r *revised) checkThings(storage string) {
	r.t.Helper()
	omnigraph(r.t, "verify", "--store", storage, "--graph", "box")
	out, err := exec.Command(filepath.Join(bin, "omnigraph"), "export", "--store", storage, "--graph", "box").Output()
	if err != nil {
		r.t.Fatal(err)
	}
	found := map[string]int{}
	for line := range strings.Lines(string(out)) {
		var l struct{ Data map[string]any }
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			r.t.Fatalf("%v: %s", err, line)
		}
		slug := l.Data["slug"].(string)
		if _, twice := found[slug]; twice {
			r.t.Errorf("the thing %s is stored twice", slug)
		}
		for name, value := range l.Data {
			if n, ok := value.(float64); ok && strings.HasPrefix(name, "mark") {
				found[slug] = int(n)
			}
		}
	}
	if !maps.Equal(found, r.marks) {
		r.t.Errorf("%d things are stored, and %d were acknowledged:\n%v\n%v", len(found), len(r.marks), found, r.marks)
	}
}
