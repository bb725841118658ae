package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/clock"
)

// fleet is a group of servers that share a storage.
type fleet struct {
	t       *testing.T
	dirs    []string // folder with the cluster.yaml of each server
	graph   string   // that the servers serve
	args    []string // more arguments of each server
	ports   []int
	peers   []string      // the addresses of the servers
	limit   time.Duration // of a request
	strict  *strict       // checks the answers that clients get; nil accepts all
	mu      sync.Mutex
	running []*process // the process of each server; nil if the server is not running
}

// newPorts makes a fleet of n servers that are not configured yet.
func newPorts(t *testing.T, n int) *fleet {
	t.Helper()
	f := &fleet{t: t, graph: "code", limit: 20 * time.Second, running: make([]*process, n)}
	for range n {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer ln.Close() // each port stays in use until all ports are chosen
		f.ports = append(f.ports, ln.Addr().(*net.TCPAddr).Port)
		f.peers = append(f.peers, fmt.Sprintf("http://127.0.0.1:%d", ln.Addr().(*net.TCPAddr).Port))
	}
	return f
}

// newFleet makes the folders of n servers that share the storage at a URL, and applies the cluster.
func newFleet(t *testing.T, n int, storage string) *fleet {
	t.Helper()
	f := newPorts(t, n)
	config, err := os.ReadFile("../../cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(config), "storage: ./data\n", fmt.Sprintf(
		"storage: { url: \"%s\", cache: ./cache, cache_bytes: 1MiB, lease: %v, max_staleness: 10s, retention: 5s }\npeers: [%s]\n", storage, *sharedLease, strings.Join(f.peers, ", ")), 1)
	text = strings.Replace(text, "  studio: true\n", "  studio: true\n  limits: { per_actor_inflight: 64 }\n", 1) // all clients of a crowd are one actor
	for range n {
		dir := t.TempDir()
		if err := os.CopyFS(filepath.Join(dir, "queries"), os.DirFS("../../queries")); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, "cluster.yaml"), text)
		f.dirs = append(f.dirs, dir)
	}
	omnigraph(t, "cluster", "apply", "--cluster", f.dirs[0])
	omnigraph(t, "load", "--store", storage, "--graph", "code", "--data", graphFile(t), "--mode", "overwrite")
	return f
}

// start runs server i and sends it a read, which opens the graph.
func (f *fleet) start(i int) {
	f.t.Helper()
	at := fmt.Sprintf("127.0.0.1:%d", f.ports[i])
	args := append([]string{"--cluster", f.dirs[i], "--bind", at, "--node", fmt.Sprint("og-", i), "--advertise", "http://" + at}, f.args...)
	cmd := exec.Command(filepath.Join(bin, "omnigraph-server"), args...)
	cmd.Env = append(os.Environ(), "OMNIGRAPH_TOKEN_ACT_DEV="+sharedToken, "OMNIGRAPH_TOKEN_ACT_ADA="+readerToken)
	p := startCommand(f.t, cmd, "OMNIGRAPH_LISTEN_ADDR=")
	p.token = sharedToken
	f.mu.Lock()
	f.running[i] = p
	f.mu.Unlock()
	a, err := f.ask(i, http.MethodGet, "/graphs/"+f.graph+"/snapshot", "")
	for deadline := clock.Now().Add(patient); err == nil && a.status == http.StatusTooManyRequests && clock.Now().Before(deadline); {
		time.Sleep(20 * time.Millisecond) // clients of a crowd have sent as many requests as one actor may
		a, err = f.ask(i, http.MethodGet, "/graphs/"+f.graph+"/snapshot", "")
	}
	if err != nil || a.status != http.StatusOK {
		f.t.Errorf("the first read on server %d: %v %d %s", i, err, a.status, a.body)
	}
}

// The tokens of act-dev and of act-ada, who may only read main, on all servers.
const (
	sharedToken = "the-token-of-all-servers"
	readerToken = "the-token-of-a-reader"
)

// end removes server i from the list of running servers and returns its process, which the caller
// must end.
func (f *fleet) end(i int) *process {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := f.running[i]
	f.running[i] = nil
	return p
}

// answer is the answer of a server to a request.
type answer struct {
	server int
	at     time.Time
	status int
	header http.Header
	body   []byte
	unsure bool // an earlier attempt may have arrived, and may still arrive
}

// ask sends a request to server i. It returns an error only if the connection fails.
func (f *fleet) ask(i int, method, path, body string, header ...string) (answer, error) {
	req, err := http.NewRequest(method, fmt.Sprintf("http://127.0.0.1:%d%s", f.ports[i], path), strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	req.Header.Set("Authorization", "Bearer "+sharedToken)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for k := 0; k < len(header); k += 2 {
		req.Header.Set(header[k], header[k+1])
	}
	c := http.Client{Timeout: f.limit}
	if f.strict != nil {
		c.Transport = f.strict.transport
	}
	res, err := c.Do(req)
	if err != nil {
		f.strict.check(path, answer{server: i, at: clock.Now()}, err)
		return answer{}, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	a := answer{server: i, at: clock.Now(), status: res.StatusCode, header: res.Header, body: text}
	f.strict.check(path, a, err)
	return a, err
}

// writer waits until one server reports that it is the writer of the graph, and returns the number
// of that server.
func (f *fleet) writer() int {
	f.t.Helper()
	for deadline := clock.Now().Add(30 * time.Second); clock.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		best, epoch := -1, uint64(0)
		for i := range f.ports {
			a, err := f.ask(i, http.MethodGet, "/readyz", "")
			var ready client.Readiness
			if err != nil || json.Unmarshal(a.body, &ready) != nil || ready.Detail == nil {
				continue
			}
			for _, g := range ready.Detail.Graphs {
				if g.Role == "writer" && g.Epoch > epoch {
					best, epoch = i, g.Epoch
				}
			}
		}
		if best >= 0 {
			return best
		}
	}
	f.t.Fatal("for 30 seconds no server was the writer")
	return 0
}

// untilReader waits until a server knows that it only reads the graph.
func (f *fleet) untilReader(server int) {
	f.t.Helper()
	for deadline := clock.Now().Add(30 * time.Second); clock.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		a, err := f.ask(server, http.MethodGet, "/readyz", "")
		var ready client.Readiness
		if err != nil || json.Unmarshal(a.body, &ready) != nil || ready.Detail == nil {
			continue
		}
		if slices.ContainsFunc(ready.Detail.Graphs, func(g client.GraphReadiness) bool { return g.Role == "reader" }) {
			return
		}
	}
	f.t.Fatalf("for 30 seconds server %d was no reader", server)
}

// addNote writes a note with an idempotency key. It tries the servers in turn until one of them
// acknowledges the write, and returns the id of the commit.
func (f *fleet) addNote(slug string) (string, error) {
	body := fmt.Sprintf(`{"params":{"slug":%q,"symbol":"example.com/p.F1","text":"t"}}`, slug)
	var last string
	at := rand.IntN(len(f.ports))
	for deadline := clock.Now().Add(60 * time.Second); clock.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		at = (at + 1) % len(f.ports)
		a, err := f.ask(at, http.MethodPost, "/graphs/code/queries/add_note", body, "Idempotency-Key", slug)
		switch {
		case err != nil: // the connection was refused, or the server was killed or stopped for long
			last = err.Error()
			continue
		case a.status == http.StatusServiceUnavailable:
			last = string(a.body)
			continue
		case a.status == http.StatusInternalServerError && strings.Contains(string(a.body), "the outcome of the write is unknown"):
			last = string(a.body)
			continue
		case a.status != http.StatusOK:
			return "", fmt.Errorf("server %d answered %d: %s", at, a.status, a.body)
		}
		var m client.MutationAnswer
		if err := json.Unmarshal(a.body, &m); err != nil {
			return "", err
		}
		if m.Commit == nil {
			return "", errors.New("the answer names no commit")
		}
		return m.Commit.GraphCommitID, nil
	}
	return "", errors.New("the write was not acknowledged within a minute: " + last)
}

// sees checks that server i shows a note. The request states the commit that wrote the note, so the
// server must know that commit before it answers.
func (f *fleet) sees(i int, slug, commit string) error {
	query := fmt.Sprintf(`{"query":"query q() { match { $n: Note { slug: %s } } return { $n.slug as slug } }"}`, strings.ReplaceAll(fmt.Sprintf("%q", slug), `"`, `\"`))
	a, err := f.ask(i, http.MethodPost, "/graphs/code/query", query, "Omnigraph-At-Least", commit)
	if err != nil || a.status == http.StatusServiceUnavailable {
		return nil // a server that is down or not ready shows no old data
	}
	if a.status != http.StatusOK || !strings.Contains(string(a.body), `"slug":"`+slug+`"`) {
		return fmt.Errorf("server %d, which must have commit %s, does not show note %s: %d %s", i, commit, slug, a.status, a.body)
	}
	return nil
}

// version returns the number of commits on main that server i knows.
func (f *fleet) version(i int) uint64 {
	f.t.Helper()
	a, err := f.ask(i, http.MethodGet, "/graphs/"+f.graph+"/snapshot", "", "Omnigraph-At-Least", "latest")
	var s client.SnapshotAnswer
	if err != nil || a.status != http.StatusOK || json.Unmarshal(a.body, &s) != nil {
		f.t.Fatalf("the snapshot of server %d: %v %d %s", i, err, a.status, a.body)
	}
	return s.GraphManifestVersion
}

// writing starts clients that add notes and read them, and returns the function `stop`. That
// function stops the clients and returns the number of acknowledged writes.
func (f *fleet) writing(clients int) (stop func() int) {
	var done atomic.Bool
	var acknowledged atomic.Int64
	var wg sync.WaitGroup
	run := rand.Uint32()
	for c := range clients {
		wg.Go(func() {
			for i := 0; !done.Load(); i++ {
				slug := fmt.Sprintf("n%d-%d-%d", run, c, i)
				commit, err := f.addNote(slug)
				if err != nil {
					f.t.Errorf("note %s: %v", slug, err)
					return
				}
				acknowledged.Add(1)
				if err := f.sees(rand.IntN(len(f.ports)), slug, commit); err != nil {
					f.t.Error(err)
				}
				if i%5 == 0 { // a repeated write must get the first answer
					if again, err := f.addNote(slug); err != nil || again != commit {
						f.t.Errorf("note %s was written as commit %s, and again as %s, %v", slug, commit, again, err)
					}
				}
			}
		})
	}
	return func() int {
		done.Store(true)
		wg.Wait()
		return int(acknowledged.Load())
	}
}

// TestUnsafeStorage starts a server on an unsafe S3 server. That S3 server first checks whether an
// object exists, and creates the object later. So several clients that create the same object at
// the same time all succeed. The server must refuse to start and report the reason.
func TestUnsafeStorage(t *testing.T) {
	var exists sync.Map
	lying := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if _, found := exists.Load(r.URL.Path); found && r.Method == http.MethodPut {
			w.WriteHeader(http.StatusPreconditionFailed)
			return
		}
		time.Sleep(20 * time.Millisecond)
		exists.Store(r.URL.Path, true)
	}))
	defer lying.Close()
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "queries"), os.DirFS("../../queries")); err != nil {
		t.Fatal(err)
	}
	config, err := os.ReadFile("../../cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	start := func(storage string) string {
		write(t, filepath.Join(dir, "cluster.yaml"), strings.Replace(string(config), "storage: ./data\n", storage, 1))
		cmd := exec.Command(filepath.Join(bin, "omnigraph-server"), "--cluster", dir, "--bind", "127.0.0.1:0")
		cmd.Env = append(os.Environ(), "OMNIGRAPH_TOKEN_ACT_DEV="+sharedToken, "AWS_ACCESS_KEY_ID=id", "AWS_SECRET_ACCESS_KEY=key")
		out, err := cmd.CombinedOutput()
		if err == nil {
			t.Errorf("with %s the server starts", storage)
		}
		return string(out)
	}
	s3 := "storage: { url: \"s3://graphs/prod?endpoint=" + lying.URL + "\", cache: ./cache }\n"
	if out := start(s3); !strings.Contains(out, "the storage failed the probe") || !strings.Contains(out, "use storage with atomic conditional creation") {
		t.Errorf("on a storage that lies the server says:\n%s", out)
	}
	folder := "storage: { url: \"file://" + t.TempDir() + "\", cache: ./cache }\n"
	if out := start(folder + "peers: [\"https://og-1.internal\"]\n"); !strings.Contains(out, "--advertise is missing; name the address of this server, one of https://og-1.internal") {
		t.Errorf("with peers and without --advertise the server says:\n%s", out)
	}
	if out := start(folder); !strings.Contains(out, "create it with: omnigraph cluster apply") {
		t.Errorf("on an empty storage the server says:\n%s", out)
	}
}

// TestRollingRestart restarts one of two servers after the other in an orderly way, while clients send
// requests. Clients may see refused connections, but no other error.
func TestRollingRestart(t *testing.T) {
	f := newFleet(t, 2, storageURL(t, "folder"))
	for i := range f.ports {
		f.start(i)
	}
	before := f.version(f.writer())
	f.untilReader(1 - f.writer())
	f.strict = newStrict()
	stop := f.writing(4)
	var handovers []time.Duration
	for range 2 {
		w := f.writer()
		p := f.end(w)
		stopped := clock.Now()
		p.stop()
		if next := f.writer(); next == w {
			t.Errorf("server %d writes after it has stopped", w)
		}
		handovers = append(handovers, clock.Now().Sub(stopped).Round(10*time.Millisecond))
		f.start(w)
	}
	written := stop()
	f.strict.report(t)
	f.strict = nil
	t.Logf("%d writes; after each signal to stop another server wrote within %v", written, handovers)
	for i := range f.ports {
		if got, want := f.version(i), before+uint64(written); got != want || written == 0 {
			t.Errorf("server %d has %d commits, want %d: %d before and %d acknowledged", i, got, want, before, written)
		}
	}
	t.Run("move", func(t *testing.T) {
		w := f.writer()
		omnigraph(t, "cluster", "move", "--cluster", f.dirs[0], "code", fmt.Sprint("og-", 1-w))
		if got := f.writer(); got != 1-w {
			t.Errorf("server %d writes the graph after it was moved to %d", got, 1-w)
		}
		out, err := exec.Command(filepath.Join(bin, "omnigraph"), "cluster", "status", "--cluster", f.dirs[0], "--format", "json").Output()
		var status struct{ Servers []struct{ Node string } }
		if err != nil || json.Unmarshal(out, &status) != nil || len(status.Servers) != 2 {
			t.Errorf("cluster status: %v\n%s", err, out)
		}
		if out, err := exec.Command(filepath.Join(bin, "omnigraph"), "cluster", "move", "--cluster", f.dirs[0], "code", "nowhere").CombinedOutput(); err == nil || !strings.Contains(string(out), "og-0, og-1") {
			t.Errorf("moving to a server that does not exist: %v\n%s", err, out)
		}
	})
	t.Run("forwarding", func(t *testing.T) {
		reader := 1 - f.writer()
		f.untilReader(reader) // until it knows of the move, it answers writes with 503
		call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add_note","arguments":{"params":{"slug":"over-mcp","symbol":"example.com/p.F2","text":"t"}}}}`
		a, err := f.ask(reader, http.MethodPost, "/graphs/code/mcp", call, "Accept", "application/json, text/event-stream", "Mcp-Protocol-Version", "2025-11-25")
		if err != nil || a.status != http.StatusOK || strings.Contains(string(a.body), "isError") {
			t.Fatalf("a write over MCP on a reader: %v %d %s", err, a.status, a.body)
		}
		call = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"notes_about","arguments":{"params":{"symbol":"example.com/p.F2"}},"_meta":{"omnigraph/atLeast":"latest"}}}`
		a, err = f.ask(reader, http.MethodPost, "/graphs/code/mcp", call, "Accept", "application/json, text/event-stream", "Mcp-Protocol-Version", "2025-11-25")
		if err != nil || !strings.Contains(string(a.body), "over-mcp") || a.header.Get("Omnigraph-Data-Age") == "" {
			t.Errorf("a read of the latest state over MCP on a reader: %v %d %v %s", err, a.status, a.header, a.body)
		}
		// A request that was forwarded once is not forwarded again.
		a, err = f.ask(reader, http.MethodPost, "/graphs/code/queries/add_note", `{"params":{"slug":"s","symbol":"example.com/p.F2","text":"t"}}`, "Omnigraph-Forwarded-By", "og-9")
		if err != nil || a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") != "1" {
			t.Errorf("a forwarded write on a reader: %v %d %v %s", err, a.status, a.header, a.body)
		}
		a, err = f.ask(reader, http.MethodGet, "/graphs/code/snapshot", "", "Omnigraph-At-Least", "01ARZ3NDEKTSV4RRFFQ69G5FAV")
		if err != nil || a.status != http.StatusNotFound {
			t.Errorf("a read that requires a commit that does not exist: %v %d %s", err, a.status, a.body)
		}
	})
	for i := range f.ports {
		f.end(i).stop()
	}
}

// TestSharedCommands makes, loads, reads and plans a graph in shared storage without a server.
func TestSharedCommands(t *testing.T) {
	store := "file://" + filepath.Join(t.TempDir(), "bucket")
	schema := filepath.Join(t.TempDir(), "schema.pg")
	write(t, schema, "node Person {\n  name: String @key\n}\n")
	data := filepath.Join(t.TempDir(), "people.ndjson")
	write(t, data, `{"type":"Person","data":{"name":"ada"}}`+"\n")
	query := filepath.Join(t.TempDir(), "q.gq")
	write(t, query, "query q() {\n  match { $p: Person }\n  return { $p.name as name }\n}\n")
	run := func(want string, args ...string) {
		t.Helper()
		out, err := exec.Command(filepath.Join(bin, "omnigraph"), args...).CombinedOutput()
		if !strings.Contains(string(out), want) {
			t.Errorf("omnigraph %s: %v\n%s\nwant %s", strings.Join(args, " "), err, out, want)
		}
	}
	run("--graph is missing", "init", "--schema", schema, "--store", store)
	run(`"node_types":1`, "init", "--schema", schema, "--store", store, "--graph", "people", "--format", "json")
	run("already holds a graph people", "init", "--schema", schema, "--store", store, "--graph", "people")
	run("--graph is missing", "load", "--store", store, "--data", data)
	run("create it with: omnigraph init", "load", "--store", store, "--graph", "nobody", "--data", data)
	run("", "load", "--store", store, "--graph", "people", "--data", data, "--mode", "append")
	run(`"ada"`, "query", "--store", store, "--graph", "people", "--query", query, "--format", "json")
	run("", "verify", "--store", store, "--graph", "people")
	dir := t.TempDir()
	write(t, filepath.Join(dir, "schema.pg"), "node Person {\n  name: String @key\n  age: I32?\n}\n")
	write(t, filepath.Join(dir, "cluster.yaml"), "version: 1\nstorage: { url: \""+store+"\", cache: ./cache }\ngraphs: { people: { schema: schema.pg } }\n")
	run("age", "cluster", "plan", "--cluster", dir)
	run(`"change":"changed"`, "cluster", "apply", "--cluster", dir, "--format", "json")
	run("no server is running", "cluster", "status", "--cluster", dir, "--format", "table")
	run("no server with the name og-1 is running", "cluster", "move", "--cluster", dir, "people", "og-1")
}
