package server_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/generated/code"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/server"
	"github.com/omnigraph-go/omnigraph/internal/server/auth"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster/reconcile"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

const (
	thing      = "node Thing {\n  slug: String @key\n}\n"
	thingMore  = "node Thing {\n  slug: String @key\n  label: String?\n}\n"
	everything = "version: 1\nrules:\n  - id: all\n    allow: { actors: { ids: [act-ada] }, actions: [read, change] }\n"
	listing    = "version: 1\nrules:\n  - id: list\n    allow: { actors: { ids: [act-ada] }, actions: [graph_list] }\n"
)

// fleet is a folder with a cluster.yaml.
type fleet struct {
	t      *testing.T
	dir    string
	opened *server.Server // by open
}

// newFleet makes a cluster. All of its graphs have the schema thing, and its policies allow act-ada
// everything and act-bo nothing.
func newFleet(t *testing.T, ids ...string) *fleet {
	f := &fleet{t: t, dir: t.TempDir()}
	f.write("thing.pg", thing)
	f.write("policy.yaml", everything)
	f.write("server.policy.yaml", listing)
	f.name(ids...)
	return f
}

func (f *fleet) write(name, text string) {
	f.t.Helper()
	if err := os.WriteFile(filepath.Join(f.dir, name), []byte(text), 0o644); err != nil {
		f.t.Fatal(err)
	}
}

// name writes a cluster.yaml that lists the given graphs.
func (f *fleet) name(ids ...string) {
	f.t.Helper()
	graphs := ""
	for _, id := range ids {
		graphs += "  " + id + ": { schema: thing.pg }\n"
	}
	f.write("cluster.yaml", "version: 1\nstorage: ./data\ngraphs:\n"+graphs+
		"policies:\n  base: { file: policy.yaml, applies_to: ["+strings.Join(ids, ", ")+"] }\n  server: { file: server.policy.yaml, applies_to: [cluster] }\n")
}

func (f *fleet) store(id string) string { return filepath.Join(f.dir, "data", id) }

// create makes a graph without recording a revision.
func (f *fleet) create(id, schema string) {
	f.t.Helper()
	s, faults := gq.CompileSchema(gq.Source{Name: "schema", Text: schema})
	if err := faults.Err(); err != nil {
		f.t.Fatal(err)
	}
	g, err := embedded.Create(f.t.Context(), fs.OS(), f.store(id), schema, s, embedded.Options{Now: testClock})
	if err != nil {
		f.t.Fatal(err)
	}
	if err := g.Close(); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fleet) config() *cluster.Config {
	f.t.Helper()
	config, err := cluster.Read(filepath.Join(f.dir, "cluster.yaml"))
	if err != nil {
		f.t.Fatal(err)
	}
	return config
}

// apply runs omnigraph cluster apply.
func (f *fleet) apply() {
	f.t.Helper()
	omnigraph(f.t, nil, "cluster", "apply", "--cluster", f.dir)
}

// open opens the server, with tokens for act-ada and act-bo.
func (f *fleet) open(with ...func(*server.Options)) (h http.Handler, log *bytes.Buffer, err error) {
	f.t.Helper()
	tokens := &auth.Tokens{}
	for _, name := range []string{"ada", "bo"} {
		if err := tokens.Add("the-token-of-"+name, "act-"+name); err != nil {
			f.t.Fatal(err)
		}
	}
	log = &bytes.Buffer{}
	o := server.Options{Cluster: f.config(), Bind: "127.0.0.1:0", Tokens: tokens, Version: "test", Now: testClock, Log: slog.New(slog.NewTextHandler(log, nil))}
	for _, w := range with {
		w(&o)
	}
	s, err := server.Open(f.t.Context(), o)
	if err != nil {
		return nil, log, err
	}
	f.opened = s
	f.t.Cleanup(func() {
		if err := s.Close(); err != nil {
			f.t.Error(err)
		}
	})
	return s.Handler(), log, nil
}

func (f *fleet) mustOpen(with ...func(*server.Options)) (http.Handler, *bytes.Buffer) {
	f.t.Helper()
	h, log, err := f.open(with...)
	if err != nil {
		f.t.Fatal(err)
	}
	return h, log
}

// ask sends a request as the actor `who`, or without a token if `who` is "".
func ask(h http.Handler, method, path, who, body string) (status int, answer string) {
	r := httptest.NewRequest(method, "http://127.0.0.1"+path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	if who != "" {
		r.Header.Set("Authorization", "Bearer the-token-of-"+who)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

func readiness(t *testing.T, h http.Handler, who string, want int) (r client.Readiness) {
	t.Helper()
	status, answer := ask(h, "GET", "/readyz", who, "")
	if status != want {
		t.Errorf("/readyz as %q: status %d, want %d: %s", who, status, want, answer)
	}
	if err := json.Unmarshal([]byte(answer), &r); err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
	return r
}

const anyThing = `{"query":"query q() { match { $t: Thing } return { $t.slug } }"}`

// broken makes graphs with the ids good, lost, bad and held. The graph lost has no folder, and the
// graph bad has an invalid manifest. The graph held is open already, so that the server cannot lock
// it.
func broken(t *testing.T) *fleet {
	f := newFleet(t, "good", "lost", "bad", "held")
	for _, id := range []string{"good", "bad", "held"} {
		f.create(id, thing)
	}
	manifests, err := filepath.Glob(filepath.Join(f.store("bad"), "*.manifest"))
	if err != nil || len(manifests) == 0 {
		t.Fatal(manifests, err)
	}
	for _, m := range manifests {
		if err := os.WriteFile(m, []byte("nothing"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	held, err := embedded.Open(t.Context(), fs.OS(), f.store("held"), embedded.Options{Now: testClock})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { held.Close() })
	return f
}

// TestQuarantine checks that the server serves the other graphs if some cannot be opened. It also
// checks the answers to callers about the quarantined graphs.
func TestQuarantine(t *testing.T) {
	f := broken(t)
	h, log := f.mustOpen()
	if status, answer := ask(h, "POST", "/graphs/good/query", "ada", anyThing); status != http.StatusOK {
		t.Errorf("the good graph: %d %s", status, answer)
	}
	for _, path := range []string{
		"/graphs/lost/query", "/graphs/bad/query", "/graphs/held/query", "/graphs/bad/mcp", "/graphs/bad", "/graphs/bad/nothing", "/graphs/b%61d/query", "/graphs/b%61d/mcp", "/gr%61phs/bad/query",
	} {
		for who, want := range map[string]int{"ada": 503, "bo": 503, "": 401, "nobody": 401} {
			status, answer := ask(h, "POST", path, who, anyThing)
			if status != want {
				t.Errorf("%s as %q: %d %s, want %d", path, who, status, answer, want)
			}
			if status == 503 && answer != `{"error":"the graph is unavailable; try again later","code":"internal"}` {
				t.Errorf("%s as %q tells %s", path, who, answer)
			}
		}
	}
	if status, answer := ask(h, "POST", "/graphs/other/query", "ada", anyThing); status != http.StatusNotFound {
		t.Errorf("an unknown graph: %d %s", status, answer)
	}
	if status, answer := ask(h, "GET", "/healthz", "", ""); status != http.StatusOK || answer != `{"status":"ok","version":"test","source_version":null,"graphs":1,"internal_schema_version":1}` {
		t.Errorf("/healthz: %d %s", status, answer)
	}
	for _, who := range []string{"", "bo"} {
		if r := readiness(t, h, who, 503); r.Detail != nil || r.Status != "not_ready" || r.Graphs != 1 || r.Quarantined != 3 {
			t.Errorf("/readyz as %q: %+v", who, r)
		}
	}
	r := readiness(t, h, "ada", 503)
	var told []string
	for _, g := range r.Detail.Graphs {
		told = append(told, g.GraphID+":"+g.Status)
	}
	if got := strings.Join(told, " "); got != "good:serving lost:quarantined bad:quarantined held:quarantined" {
		t.Errorf("told %s", got)
	}
	for i, want := range []string{"", "omnigraph cluster apply", "corrupt", fmt.Sprint("locked by process ", os.Getpid())} {
		if reason := r.Detail.Graphs[i].Reason; !strings.Contains(reason, want) || (reason == "") != (want == "") {
			t.Errorf("%s: reason %q, want %q in it", r.Detail.Graphs[i].GraphID, reason, want)
		}
	}
	if status, answer := ask(h, "GET", "/readyz", "nobody", ""); status != http.StatusUnauthorized {
		t.Errorf("/readyz with a bad token: %d %s", status, answer)
	}
	if status, answer := ask(h, "POST", "/readyz", "", ""); status != http.StatusMethodNotAllowed {
		t.Errorf("POST /readyz: %d %s", status, answer)
	}
	if strings.Count(log.String(), "the graph is quarantined") != 3 || !strings.Contains(log.String(), "graph=bad") {
		t.Errorf("the log says %s", log)
	}
}

// TestStartIsPatient holds a lock briefly, as a previous server or cluster status does. The start
// must wait for the lock and then serve the graph.
func TestStartIsPatient(t *testing.T) {
	f := newFleet(t, "good", "held")
	f.create("good", thing)
	f.create("held", thing)
	for _, name := range []string{"a graph", "the storage folder"} {
		var held io.Closer
		var err error
		if name == "a graph" {
			held, err = embedded.Open(t.Context(), fs.OS(), f.store("held"), embedded.Options{Now: testClock})
		} else {
			held, err = reconcile.Lock(fs.OS(), filepath.Join(f.dir, "data"))
		}
		if err != nil {
			t.Fatal(err)
		}
		released := make(chan error, 1)
		time.AfterFunc(250*time.Millisecond, func() { released <- held.Close() })
		t.Run(name, func(t *testing.T) {
			f.t = t
			h, _ := f.mustOpen(func(o *server.Options) { o.Patience = time.Minute })
			if status, answer := ask(h, "POST", "/graphs/held/query", "ada", anyThing); status != http.StatusOK {
				t.Errorf("%d %s", status, answer)
			}
		})
		if err := <-released; err != nil {
			t.Error(err)
		}
	}
	f.t = t
}

// TestRefusesToStart checks the faults that must stop the start, and must not only quarantine a
// graph.
func TestRefusesToStart(t *testing.T) {
	f := broken(t)
	_, _, err := f.open(func(o *server.Options) { o.RequireAll = true })
	var missing *engine.NotFound
	if !errors.As(err, &missing) || !strings.Contains(err.Error(), "graph lost") {
		t.Errorf("with RequireAll: %v", err)
	}
	f.name("lost", "held")
	if _, _, err = f.open(); !errors.As(err, &missing) || !strings.Contains(err.Error(), "no graph to serve") || !strings.Contains(err.Error(), "graph held") {
		t.Errorf("with no graph that opens: %v", err)
	}
	f.name("good", "lost")
	f.write("policy.yaml", strings.Replace(everything, "actions", "axions", 1))
	var faults diag.List
	if _, _, err = f.open(); !errors.As(err, &faults) {
		t.Errorf("with a faulty policy: %v", err)
	}
	f.write("policy.yaml", everything)
	lock, err := reconcile.Lock(fs.OS(), filepath.Join(f.dir, "data"))
	if err != nil {
		t.Fatal(err)
	}
	var unavailable *engine.Unavailable
	if _, _, err = f.open(); !errors.As(err, &unavailable) || !strings.Contains(err.Error(), "cluster apply") {
		t.Errorf("beside an apply: %v", err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	f.write("data/"+reconcile.RevisionFile, "nonsense")
	var corrupt *engine.Corrupt
	if _, _, err = f.open(); !errors.As(err, &corrupt) {
		t.Errorf("with a bad revision: %v", err)
	}
	if err := os.Remove(filepath.Join(f.dir, "data", reconcile.RevisionFile)); err != nil {
		t.Fatal(err)
	}
	f.mustOpen()
}

// TestBootsFromTheRevision edits a cluster.yaml after it was applied. The server must serve the
// applied configuration and report the edits as pending.
func TestBootsFromTheRevision(t *testing.T) {
	f := newFleet(t, "a", "b")
	f.apply()
	openOnce := func() (client.Readiness, http.Handler, string) {
		t.Helper()
		h, log := f.mustOpen() // closed at the end of the subtest f.t
		return readiness(f.t, h, "ada", 200), h, log.String()
	}
	t.Run("applied", func(t *testing.T) {
		f.t = t
		r, _, log := openOnce()
		if r.Graphs != 2 || *r.Detail.Revision != 1 || len(r.Detail.Pending) != 0 || strings.Contains(log, "level=WARN") && strings.Contains(log, "not applied") {
			t.Errorf("%+v\n%s", r, log)
		}
	})
	t.Run("pending", func(t *testing.T) {
		f.t = t
		f.name("a", "fresh")
		f.create("fresh", thing) // this graph was created by hand, and is still not applied
		f.write("thing.pg", thingMore)
		r, h, log := openOnce()
		if r.Graphs != 1 || len(r.Detail.Pending) != 3 {
			t.Errorf("%+v", r)
		}
		for path, want := range map[string]int{"/graphs/a/query": 200, "/graphs/b/query": 404, "/graphs/fresh/query": 404} {
			if status, answer := ask(h, "POST", path, "ada", anyThing); status != want {
				t.Errorf("%s: %d %s, want %d", path, status, answer, want)
			}
		}
		if _, answer := ask(h, "GET", "/graphs/a/schema", "ada", ""); strings.Contains(answer, "label") {
			t.Errorf("served with %s", answer)
		}
		if strings.Count(log, "omnigraph cluster apply") != 3 {
			t.Errorf("the log says %s", log)
		}
	})
	t.Run("drift", func(t *testing.T) {
		f.t = t
		f.name("a", "b")
		f.write("thing.pg", thing)
		omnigraphIn(t, f.dir, "schema", "apply", "--store", "data/b", "--schema", f.more(t))
		r, h, log := openOnce()
		if r.Graphs != 2 || len(r.Detail.Pending) != 0 || r.Detail.Graphs[0].Drift || !r.Detail.Graphs[1].Drift || !strings.Contains(log, "omnigraph cluster plan") {
			t.Errorf("%+v\n%s", r, log)
		}
		if _, answer := ask(h, "GET", "/graphs/b/schema", "ada", ""); !strings.Contains(answer, "label") {
			t.Errorf("served with %s", answer)
		}
	})
	t.Run("nothing applied", func(t *testing.T) {
		f.t = t
		f.name("fresh")
		if _, _, err := f.open(); err == nil || !strings.Contains(err.Error(), "omnigraph cluster apply") {
			t.Errorf("opened: %v", err)
		}
	})
}

func (f *fleet) more(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "more.pg")
	if err := os.WriteFile(name, []byte(thingMore), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

// omnigraphIn runs omnigraph with a --store relative to a folder.
func omnigraphIn(t *testing.T, dir string, args ...string) {
	t.Helper()
	if i := slices.Index(args, "--store"); i >= 0 {
		args[i+1] = filepath.Join(dir, args[i+1])
	}
	omnigraph(t, nil, args...)
}

// TestLeftOutQueries serves a graph with a schema that most compiled queries do not fit. The server
// must be ready and list those queries. A policy may refer to them too.
func TestLeftOutQueries(t *testing.T) {
	f := newFleet(t, "code")
	f.create("code", thing)
	f.write("policy.yaml", "version: 1\nrules:\n  - id: some\n    allow: { actors: { ids: [act-ada] }, actions: [invoke_query], queries: [callers] }\n")
	h, log := f.mustOpen(func(o *server.Options) { o.Catalogs = []*tool.Catalog{code.Catalog()} })
	if r := readiness(t, h, "", 200); r.LeftOut == 0 || r.Status != "ready" {
		t.Errorf("%+v", r)
	}
	r := readiness(t, h, "ada", 200)
	left := r.Detail.Graphs[0].LeftOut
	if len(left) != r.LeftOut || len(left) != len(code.Catalog().Queries) {
		t.Errorf("left out %d of %d, counted %d", len(left), len(code.Catalog().Queries), r.LeftOut)
	}
	if i := slices.IndexFunc(left, func(q client.LeftOutQuery) bool { return q.Name == "callers" }); i < 0 || !strings.Contains(left[i].Reason, "does not fit the schema") {
		t.Errorf("left out: %+v", left)
	}
	if !strings.Contains(log.String(), "query=callers") {
		t.Errorf("the log says %s", log)
	}
	if status, answer := ask(h, "POST", "/graphs/code/queries/callers", "ada", `{}`); status != http.StatusNotFound {
		t.Errorf("a query that is left out: %d %s", status, answer)
	}
}

// TestReadyWithoutAuthentication checks that everyone sees the reasons on a server that allows
// everyone everything.
func TestReadyWithoutAuthentication(t *testing.T) {
	f := newFleet(t, "good", "lost")
	f.create("good", thing)
	f.write("cluster.yaml", "version: 1\nstorage: ./data\ngraphs:\n  good: { schema: thing.pg }\n  lost: { schema: thing.pg }\n")
	h, _ := f.mustOpen(func(o *server.Options) { o.Tokens, o.Unauthenticated = &auth.Tokens{}, true })
	if r := readiness(t, h, "", 503); r.Detail == nil || r.Detail.Revision != nil || len(r.Detail.Graphs) != 2 {
		t.Errorf("%+v", r)
	}
}
