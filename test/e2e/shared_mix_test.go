package e2e

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/clock"
)

const (
	patient   = 2 * time.Minute // after this time without an acknowledgement, a write has failed
	numCommon = 8               // notes that all workers write to
	maxOwn    = 30              // notes of a worker; it then deletes the oldest
)

// crowd is a set of workers that use all servers of a fleet. They send what the clients of bench/cmd/soak
// send. Each write has an idempotency key and is repeated on another server until one acknowledges it. So
// at the end the outcome of every write is known.
type crowd struct {
	f       *fleet
	run     uint32
	done    atomic.Bool
	group   sync.WaitGroup
	workers []*worker
	ticks   []atomic.Int64 // acknowledged number in the counting note of each worker

	mu      sync.Mutex
	commits map[string]string // what each acknowledged commit did, by its id
	onMain  map[string]bool   // those commits that changed main directly
	common  map[string][]commonWrite
	counts  map[string]int // acknowledged calls, by operation
	since   time.Time      // see firstWrite
	first   chan time.Duration
}

// commonWrite is a write to a note that several workers write to.
type commonWrite struct{ commit, text string }

// worker makes one call at a time.
type worker struct {
	*crowd
	n      int
	serial int
	notes  map[string]string // text of each note that only this worker writes to
	order  []string          // its slugs, the oldest first
	kept   map[string]bool   // branches that must exist
	unsure map[string]bool   // branches that an attempt without an answer may make at any time
	seen   string            // the newest commit of main that this worker saw
	known  []int64           // the number that this worker saw last in the counting note of each worker
}

// startCrowd makes the notes that all workers use and starts the workers.
func startCrowd(f *fleet, workers int) *crowd {
	f.t.Helper()
	c := &crowd{f: f, run: rand.Uint32(), ticks: make([]atomic.Int64, workers), commits: map[string]string{}, onMain: map[string]bool{}, common: map[string][]commonWrite{}, counts: map[string]int{}}
	for n := range workers {
		c.workers = append(c.workers, &worker{crowd: c, n: n, notes: map[string]string{}, kept: map[string]bool{}, unsure: map[string]bool{}, known: make([]int64, workers)})
	}
	for i := range numCommon {
		w := c.workers[0]
		w.shared(w.write("insert", "/queries/add_note", map[string]any{"params": map[string]any{"slug": c.commonSlug(i), "symbol": "example.com/p.F1", "text": "first"}}), c.commonSlug(i), "first")
	}
	for _, w := range c.workers {
		w.write("insert", "/queries/add_note", map[string]any{"params": map[string]any{"slug": c.tickSlug(w.n), "symbol": "example.com/p.F2", "text": "0"}})
		w.notes[c.tickSlug(w.n)] = "0"
	}
	for _, w := range c.workers {
		c.group.Go(w.work)
	}
	return c
}

// stop stops the workers and waits for them.
func (c *crowd) stop() {
	c.done.Store(true)
	c.group.Wait()
}

// firstWrite returns a channel that receives the time from now to the first acknowledgement of a write that
// a worker sends from now on.
func (c *crowd) firstWrite() <-chan time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.since, c.first = clock.Now(), make(chan time.Duration, 1)
	return c.first
}

// acknowledged records an acknowledged call that began at the given time.
func (c *crowd) acknowledged(operation string, began time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts[operation]++
	if c.first != nil && began.After(c.since) {
		c.first <- clock.Now().Sub(c.since)
		c.first = nil
	}
}

func (c *crowd) commonSlug(i int) string { return fmt.Sprintf("common-%d-%d", c.run, i%numCommon) }
func (c *crowd) tickSlug(n int) string   { return fmt.Sprintf("ticks-%d-%d", c.run, n) }

// name returns a text that no other call of name returns.
func (w *worker) name(what string) string {
	w.serial++
	return fmt.Sprintf("%s-%d-%d-%d", what, w.run, w.n, w.serial)
}

// deeds lists what a worker does, with the relative frequencies of bench/cmd/soak.
var deeds = []struct {
	weight int
	do     func(*worker)
}{
	{12, (*worker).readOwn}, {6, (*worker).readTicks}, {4, (*worker).readLatest}, {4, (*worker).readOverMCP}, {3, (*worker).lists},
	{10, (*worker).insert}, {8, (*worker).update}, {6, (*worker).updateOverMCP}, {6, (*worker).remove}, {6, (*worker).tick},
	{8, (*worker).updateCommon}, {3, (*worker).updateIfUnchanged}, {2, (*worker).load}, {2, (*worker).loadOverMCP}, {1, (*worker).loadTwice},
	{2, (*worker).mergeBranch}, {1, (*worker).mergeCommon}, {1, (*worker).dropBranch}, {1, (*worker).mistakes},
}

// work does one deed after another.
func (w *worker) work() {
	total := 0
	for _, d := range deeds {
		total += d.weight
	}
	for !w.done.Load() && !w.f.t.Failed() {
		n := rand.IntN(total)
		for _, d := range deeds {
			if n -= d.weight; n < 0 {
				d.do(w)
				break
			}
		}
	}
}

// call sends a request until a server gives a conclusive answer, each time to another server. The request
// may have arrived several times. A refusal because of the load, a server that is down, and an unknown
// outcome are not conclusive.
func (w *worker) call(operation, method, path, media, body string, header ...string) answer {
	at, last, unsure := rand.IntN(len(w.f.ports)), "", false
	if media != "" {
		header = append([]string{"Content-Type", media}, header...)
	}
	for deadline := clock.Now().Add(patient); clock.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		at = (at + 1) % len(w.f.ports)
		began := clock.Now()
		a, err := w.f.ask(at, method, "/graphs/code"+path, body, header...)
		switch {
		case err != nil:
			last, unsure = err.Error(), true
		case a.status == http.StatusServiceUnavailable, a.status == http.StatusTooManyRequests:
			last = string(a.body)
		case a.status == http.StatusInternalServerError && strings.Contains(string(a.body), "the outcome of the write is unknown"):
			last, unsure = string(a.body), true
		default:
			if a.status == http.StatusOK && path != "/mcp" {
				w.acknowledged(operation, began)
			}
			a.unsure = unsure
			return a
		}
	}
	w.f.t.Errorf("%s: no conclusive answer within %v: %s", operation, patient, last)
	return answer{}
}

// post sends a body as JSON.
func (w *worker) post(operation, path string, body any, header ...string) answer {
	text, err := json.Marshal(body)
	if err != nil {
		panic(err) // cannot happen: the body has maps, texts and numbers
	}
	return w.call(operation, http.MethodPost, path, "application/json", string(text), header...)
}

// expect reports whether an answer has one of some statuses. Any other status is a failure.
func (w *worker) expect(operation string, a answer, statuses ...int) bool {
	if !slices.Contains(statuses, a.status) && a.status != 0 {
		w.f.t.Errorf("%s: server %d answered %d at %s, want %v: %.500s", operation, a.server, a.status, a.at.UTC().Format(time.RFC3339Nano), statuses, a.body)
		return false
	}
	return a.status != 0
}

// write makes a write to main, and returns the id of its commit; an empty one after a failure. Sometimes it
// repeats the acknowledged write, which must return the same commit.
func (w *worker) write(operation, path string, body any) string {
	text, err := json.Marshal(body)
	if err != nil {
		panic(err) // as in post
	}
	return w.writeText(operation, path, "application/json", string(text), "")
}

// writeText is write with a body of any media type, for main or a branch.
func (w *worker) writeText(operation, path, media, body, branch string) string {
	key := w.name("key")
	a := w.call(operation, http.MethodPost, path, media, body, "Idempotency-Key", key)
	if !w.expect(operation, a, http.StatusOK) {
		return ""
	}
	commit := commitOf(a.body)
	if commit == "" {
		w.f.t.Errorf("%s: the answer names no commit: %.500s", operation, a.body)
		return ""
	}
	w.committed(operation+" "+key, commit, branch)
	if rand.IntN(5) == 0 {
		if again := w.call(operation+" again", http.MethodPost, path, media, body, "Idempotency-Key", key); w.expect(operation, again, http.StatusOK) && commitOf(again.body) != commit {
			w.f.t.Errorf("%s under the key %s made commit %s, and the repeated write %s", operation, key, commit, commitOf(again.body))
		}
	}
	return commit
}

// committed records an acknowledged commit. No other write may have made it.
func (w *worker) committed(what, commit, branch string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if other, found := w.commits[commit]; found {
		w.f.t.Errorf("commit %s was acknowledged for %s and for %s", commit, other, what)
	}
	w.commits[commit] = what
	if branch == "" {
		w.onMain[commit], w.seen = true, commit
	}
}

// shared records a write to a note that several workers write to.
func (w *worker) shared(commit, slug, text string) {
	if commit == "" {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.common[slug] = append(w.common[slug], commonWrite{commit, text})
}

// tool calls a tool over MCP until an answer is conclusive. It returns the text of the result, and the code
// of the error if the result is one.
func (w *worker) tool(operation, name string, arguments map[string]any) (text, code string) {
	call, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": name, "arguments": arguments}})
	if err != nil {
		panic(err) // as in post
	}
	for deadline := clock.Now().Add(patient); clock.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		began := clock.Now()
		a := w.call(operation, http.MethodPost, "/mcp", "application/json", string(call), "Accept", "application/json, text/event-stream", "Mcp-Protocol-Version", "2025-11-25")
		if !w.expect(operation, a, http.StatusOK) {
			return "", "lost"
		}
		var reply struct {
			Result *struct {
				IsError bool
				Content []struct{ Text string }
			}
			Error *struct{ Message string }
		}
		if err := json.Unmarshal(a.body, &reply); err != nil || reply.Result == nil && reply.Error == nil {
			w.f.t.Errorf("%s: %v: %.500s", operation, err, a.body)
			return "", "lost"
		}
		if reply.Error != nil {
			continue // an operational fault; a repeated write has the same idempotency key
		}
		for _, content := range reply.Result.Content {
			text += content.Text
		}
		if !reply.Result.IsError {
			if arguments["idempotency_key"] != nil {
				w.acknowledged(operation, began)
			}
			return text, ""
		}
		var fault struct {
			Code         string
			Precondition json.RawMessage `json:"precondition_failure"`
		}
		switch err := json.Unmarshal([]byte(text), &fault); {
		case err != nil:
			w.f.t.Errorf("%s: %v: %.500s", operation, err, text)
			return "", "lost"
		case fault.Precondition != nil:
			return text, "precondition"
		case fault.Code != "internal" && fault.Code != "too_many_requests":
			return text, fault.Code
		}
		text = ""
	}
	w.f.t.Errorf("%s: no conclusive answer within %v", operation, patient)
	return "", "lost"
}

// writeTool makes a write over MCP and returns the id of its commit. It returns an empty one if the
// precondition of the write does not hold.
func (w *worker) writeTool(operation, name string, arguments map[string]any) string {
	arguments["idempotency_key"] = w.name("key")
	text, code := w.tool(operation, name, arguments)
	commit := commitOf([]byte(text))
	if code == "lost" || code == "precondition" && arguments["if_commit"] != nil {
		return ""
	}
	if code != "" || commit == "" {
		w.f.t.Errorf("%s: code %q: %.500s", operation, code, text)
		return ""
	}
	w.committed(fmt.Sprint(operation, " ", arguments["idempotency_key"]), commit, "")
	return commit
}

// commitOf returns the id of the commit in the answer to a write: over REST in the object commit, over MCP and for a
// merge in the answer itself.
func commitOf(body []byte) string {
	var all struct {
		Commit struct {
			ID string `json:"graph_commit_id"`
		}
		ID string `json:"graph_commit_id"`
	}
	_ = json.Unmarshal(body, &all) // leaves the ids empty
	return cmp.Or(all.ID, all.Commit.ID)
}

// read returns the text of a note as one server shows it, and the commit that the server read. It returns
// false if the server is down or not ready: such a server shows no old data.
func (w *worker) read(slug, atLeast string) (text, commit string, ok bool) {
	body, err := json.Marshal(map[string]any{"query": "query q($slug: String) { match { $n: Note { slug: $slug } } return { $n.text as text } }", "params": map[string]any{"slug": slug}})
	if err != nil {
		panic(err) // as in post
	}
	var header []string
	if atLeast != "" {
		header = []string{"Omnigraph-At-Least", atLeast}
	}
	a, err := w.f.ask(rand.IntN(len(w.f.ports)), http.MethodPost, "/graphs/code/query", string(body), header...)
	if err != nil || a.status == http.StatusServiceUnavailable || a.status == http.StatusTooManyRequests || !w.expect("read", a, http.StatusOK) {
		return "", "", false
	}
	var rows struct {
		Rows   []struct{ Text string }
		Commit string `json:"graph_commit_id"`
	}
	if err := json.Unmarshal(a.body, &rows); err != nil || len(rows.Rows) > 1 {
		w.f.t.Errorf("read %s: %v: %.500s", slug, err, a.body)
		return "", "", false
	}
	if len(rows.Rows) == 1 {
		text = rows.Rows[0].Text
	}
	return text, rows.Commit, true
}

// some returns a note of this worker, or false if it has none.
func (w *worker) some() (slug string, ok bool) {
	if len(w.order) == 0 {
		return "", false
	}
	return w.order[rand.IntN(len(w.order))], true
}

// lines returns the NDJSON of a load of notes with new texts.
func (w *worker) lines(slugs []string) (data string, texts map[string]string) {
	var b strings.Builder
	texts = map[string]string{}
	for _, slug := range slugs {
		texts[slug] = w.name("text")
		fmt.Fprintf(&b, `{"type":"Note","data":{"slug":%q,"text":%q,"created":"2026-01-01T00:00:00Z"}}`+"\n", slug, texts[slug])
	}
	return b.String(), texts
}

// readTicks reads the counting note of another worker at the commit that this worker saw last. The number
// may never fall.
func (w *worker) readTicks() {
	n := rand.IntN(len(w.known))
	text, commit, ok := w.read(w.tickSlug(n), w.seen)
	if !ok {
		return
	}
	got, err := strconv.ParseInt(text, 10, 64)
	if err != nil || got < w.known[n] {
		w.f.t.Errorf("a client that stated commit %s reads %q in %s, and had read %d before", w.seen, text, w.tickSlug(n), w.known[n])
	}
	w.known[n], w.seen = got, commit
}

// readLatest reads the latest number of a worker. It may not be smaller than one that was acknowledged
// before.
func (w *worker) readLatest() {
	n := rand.IntN(len(w.ticks))
	before := w.ticks[n].Load()
	text, _, ok := w.read(w.tickSlug(n), "latest")
	if got, err := strconv.ParseInt(text, 10, 64); ok && (err != nil || got < before) {
		w.f.t.Errorf("the latest state has %q in %s, and %d was acknowledged before", text, w.tickSlug(n), before)
	}
}

// lists lists branches or commits, or describes the state of main.
func (w *worker) lists() {
	path := []string{"/branches", "/commits?limit=20", "/snapshot"}[rand.IntN(3)]
	a, err := w.f.ask(rand.IntN(len(w.f.ports)), http.MethodGet, "/graphs/code"+path, "")
	if err == nil && a.status != http.StatusServiceUnavailable {
		w.expect("list", a, http.StatusOK, http.StatusTooManyRequests)
	}
}

// mistakes sends requests that must fail, and writes that the policy denies.
func (w *worker) mistakes() {
	w.expect("bad query", w.post("read, bad query", "/query", map[string]any{"query": "query q() { match { $n: Nothing } return { $n.slug } }"}), http.StatusBadRequest)
	w.expect("unknown query", w.post("read, unknown query", "/queries/nothing", map[string]any{}), http.StatusNotFound)
	slug := w.name("never")
	w.expect("denied", w.post("denied", "/mutate", map[string]any{"query": `query m($s: String) { insert Note { slug: $s, text: "denied", created: now() } }`, "params": map[string]any{"s": slug}},
		"Authorization", "Bearer "+readerToken), http.StatusForbidden)
}

// branchPath returns the path of a branch.
func branchPath(branch string) string { return "/branches/" + url.PathEscape(branch) }

// texts returns all notes that must exist, without the notes of several workers.
func (c *crowd) texts() map[string]string {
	all := map[string]string{}
	for _, w := range c.workers {
		maps.Copy(all, w.notes)
	}
	return all
}
