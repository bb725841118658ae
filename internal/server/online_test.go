package server_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/server"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster/reconcile"
	"github.com/omnigraph-go/omnigraph/internal/slow"
)

var onlineApplies = flag.Int("online.applies", 24, "the applies of TestOnline")

// online is a server that runs while its cluster is applied.
type online struct {
	*fleet
	url    string
	client *http.Client
	stop   func() // ends the server, once
}

// serve starts a server over the fleet, on a port of its own.
func (f *fleet) serve() *online {
	f.t.Helper()
	_, log, err := f.open(func(o *server.Options) { o.Now = nil })
	if err != nil {
		f.t.Fatalf("%v\n%s", err, log)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		f.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- f.opened.Serve(ctx, ln) }()
	for deadline := clock.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) { // applies find the server from then on
		if _, err := os.Stat(filepath.Join(f.dir, "data", "cluster.server")); err == nil {
			break
		}
		if clock.Now().After(deadline) {
			f.t.Fatal("the server does not announce itself")
		}
	}
	o := &online{fleet: f, url: "http://" + ln.Addr().String(), client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 20}}}
	s := f.opened
	o.stop = sync.OnceFunc(func() {
		o.client.CloseIdleConnections()
		stop()
		if err := <-served; err != nil {
			f.t.Error(err)
		}
		if left, err := filepath.Glob(filepath.Join(f.dir, "data", "cluster.server*")); err != nil || left != nil {
			f.t.Errorf("the server left %v: %v", left, err)
		}
		if err := s.Close(); err != nil {
			f.t.Error(err)
		}
	})
	f.t.Cleanup(o.stop)
	return o
}

// ask sends a request as act-ada or act-bo.
func (o *online) ask(method, path, who, body string) (status int, answer string, err error) {
	r, err := http.NewRequest(method, o.url+path, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Authorization", "Bearer the-token-of-"+who)
	res, err := o.client.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	return res.StatusCode, string(text), err
}

// applyHere does what omnigraph cluster apply does, in this process.
func (f *fleet) applyHere(ctx context.Context) (_ *reconcile.Outcome, err error) {
	return f.applyAs(ctx, "act-ada")
}

// applyAs is like applyHere, as another actor.
func (f *fleet) applyAs(ctx context.Context, actor string) (_ *reconcile.Outcome, err error) {
	sources, found, err := reconcile.Compile(f.config())
	if err := errors.Join(err, found.Err()); err != nil {
		return nil, err
	}
	c, done, err := server.CommandStorage(ctx, f.config(), embedded.Engine{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	return c.Apply(ctx, sources, reconcile.Options{Actor: actor})
}

// state is what a fleet has at an apply.
type state struct {
	properties int    // of Thing, besides its key
	text       string // in the description of the query things
	bo         bool   // act-bo may read
	rows       int    // limit of the rows of a result over MCP
}

// set writes the files of a state.
func (f *fleet) set(s state) {
	f.t.Helper()
	schema := "node Thing {\n  slug: String @key\n"
	for i := range s.properties {
		schema += fmt.Sprintf("  p%d: I64?\n", i)
	}
	f.write("thing.pg", schema+"}\n")
	f.write("queries/a.gq", fmt.Sprintf("query things() @description(%q) { match { $t: Thing } return { $t.slug as slug } limit 1 }\n\n"+
		"query add($slug: String) @description(\"Add.\") { insert new Thing { slug: $slug } }\n", s.text))
	who := "act-ada"
	if s.bo {
		who += ", act-bo"
	}
	f.write("policy.yaml", "version: 1\nrules:\n  - id: all\n    allow: { actors: { ids: ["+who+"] }, actions: [read, change, invoke_query] }\n")
	f.write("cluster.yaml", fmt.Sprintf("version: 1\nstorage: ./data\ngraphs:\n  box: { schema: thing.pg, queries: queries/, mcp: { max_rows: %d } }\n"+
		"server: { limits: { per_actor_inflight: 32 } }\npolicies:\n  base: { file: policy.yaml, applies_to: [box] }\n  server: { file: server.policy.yaml, applies_to: [cluster] }\n", s.rows))
}

const listTools = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`

// TestNotServed records a revision that the running server cannot serve: the only policy is gone. The server goes on, says
// why, and serves the next revision.
func TestNotServed(t *testing.T) {
	f := newFleet(t, "box")
	if err := os.Mkdir(filepath.Join(f.dir, "queries"), 0o755); err != nil {
		t.Fatal(err)
	}
	now := state{text: "state 0", rows: 10}
	f.set(now)
	f.apply()
	o := f.serve()
	f.write("cluster.yaml", "version: 1\nstorage: ./data\ngraphs:\n  box: { schema: thing.pg, queries: queries/ }\n")
	if out, err := f.applyHere(t.Context()); err == nil || !strings.Contains(err.Error(), "still serves the one before") || !out.Recorded || out.Served {
		t.Errorf("applied: %+v, %v", out, err)
	}
	if status, answer, err := o.ask("GET", "/readyz", "ada", ""); err != nil || status != 200 || !strings.Contains(answer, "takes effect at the next start") {
		t.Errorf("readyz: %d %s, %v", status, answer, err)
	}
	if status, _, err := o.ask("GET", "/graphs/box/snapshot", "ada", ""); err != nil || status != 200 {
		t.Errorf("a call: %d, %v", status, err)
	}
	now.bo = true
	f.set(now)
	if out, err := f.applyHere(t.Context()); err != nil || !out.Served {
		t.Errorf("applied again: %+v, %v", out, err)
	}
	if status, answer, err := o.ask("GET", "/readyz", "ada", ""); err != nil || status != 200 || strings.Contains(answer, "next start") {
		t.Errorf("readyz: %d %s, %v", status, answer, err)
	}
}

// TestMayApply applies as several actors while a server runs whose policy names the action cluster_apply. The policy in force decides.
func TestMayApply(t *testing.T) {
	f := newFleet(t, "a")
	may := func(actor string) string {
		return "version: 1\nrules:\n  - id: ops\n    allow: { actors: { ids: [" + actor + "] }, actions: [cluster_apply] }\n"
	}
	f.write("server.policy.yaml", may("act-ada"))
	f.apply()
	f.serve()
	f.write("server.policy.yaml", may("act-bo"))
	for _, actor := range []string{"act-bo", "local", "", "act-ada via bot"} {
		if out, err := f.applyAs(t.Context(), actor); err == nil || !strings.HasSuffix(err.Error(), "nothing was applied") || out != nil {
			t.Errorf("%q: %+v, %v", actor, out, err)
		}
	}
	if out, err := f.applyAs(t.Context(), "act-ada"); err != nil || !out.Served {
		t.Fatalf("act-ada: %+v, %v", out, err)
	}
	f.write("server.policy.yaml", may("act-ada"))
	if out, err := f.applyAs(t.Context(), "act-ada"); err == nil || out != nil {
		t.Errorf("act-ada, who may no longer apply: %+v, %v", out, err)
	}
	if out, err := f.applyAs(t.Context(), "act-bo"); err != nil || !out.Served {
		t.Errorf("act-bo: %+v, %v", out, err)
	}
}

// TestGraphsComeAndGo adds a graph to a running server and removes it again. The server then lets go of its folder.
func TestGraphsComeAndGo(t *testing.T) {
	f := newFleet(t, "a")
	f.apply()
	o := f.serve()
	status := func(graph string) int {
		t.Helper()
		code, _, err := o.ask("GET", "/graphs/"+graph+"/snapshot", "ada", "")
		if err != nil {
			t.Fatal(err)
		}
		return code
	}
	for range 2 {
		f.name("a", "b")
		if out, err := f.applyHere(t.Context()); err != nil || !out.Served || status("a") != 200 || status("b") != 200 {
			t.Fatalf("with b: %+v, %v: %d and %d", out, err, status("a"), status("b"))
		}
		f.name("a")
		if out, err := f.applyHere(t.Context()); err != nil || !out.Served || status("a") != 200 || status("b") != 404 {
			t.Fatalf("without b: %+v, %v: %d and %d", out, err, status("a"), status("b"))
		}
		for deadline := clock.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
			g, err := embedded.OpenDir(t.Context(), f.store("b"))
			if err == nil {
				if err := g.Close(); err != nil {
					t.Error(err)
				}
				break
			}
			if clock.Now().After(deadline) {
				t.Fatalf("the server keeps the folder: %v", err)
			}
		}
	}
}

// TestOnline applies other schemas, queries, policies and limits to a running server, while clients read, write and list
// tools. No call fails, no acknowledged write is lost, and the server serves each revision when the apply returns.
func TestOnline(t *testing.T) {
	slow.Test(t)
	f := newFleet(t, "box")
	if err := os.Mkdir(filepath.Join(f.dir, "queries"), 0o755); err != nil {
		t.Fatal(err)
	}
	now := state{text: "state 0", rows: 10}
	f.set(now)
	f.apply()
	o := f.serve()

	var calls, written atomic.Int64
	stop := make(chan struct{})
	var clients sync.WaitGroup
	for c := range 16 {
		clients.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				method, path, body := "POST", "/graphs/box/queries/things", `{}`
				switch (c + n) % 4 {
				case 0:
					path, body = "/graphs/box/queries/add", fmt.Sprintf(`{"params":{"slug":"%d-%d"}}`, c, n)
				case 1:
					path, body = "/graphs/box/mcp", listTools
				case 2:
					path, body = "/graphs/box/mutate", fmt.Sprintf(`{"query":"query m() { insert new Thing { slug: \"m%d-%d\" } }"}`, c, n)
				}
				status, answer, err := o.ask(method, path, "ada", body)
				if err != nil || status != 200 || strings.Contains(answer, `"error"`) {
					t.Errorf("%s: %d %v %s", path, status, err, answer)
					return
				}
				calls.Add(1)
				if strings.Contains(body, "slug") && path != "/graphs/box/mcp" {
					written.Add(1)
				}
			}
		})
	}
	var took []time.Duration
	for i := range *onlineApplies {
		switch i % 4 {
		case 0:
			now.text = fmt.Sprintf("state %d", i+1)
		case 1:
			now.properties++
		case 2:
			now.bo = !now.bo
		case 3:
			now.rows++
		}
		f.set(now)
		begin := clock.Now()
		out, err := f.applyHere(t.Context())
		took = append(took, clock.Now().Sub(begin))
		if err != nil || !out.Recorded || !out.Served {
			t.Fatalf("apply %d: %+v, %v", i, out, err)
		}
		if _, answer, err := o.ask("POST", "/graphs/box/mcp", "ada", listTools); err != nil || !strings.Contains(answer, now.text) {
			t.Errorf("after apply %d the tools lack %q: %v %s", i, now.text, err, answer)
		}
		if status, _, err := o.ask("GET", "/graphs/box/snapshot", "bo", ""); err != nil || (status == 200) != now.bo {
			t.Errorf("after apply %d act-bo gets %d, %v", i, status, err)
		}
		if _, answer, err := o.ask("GET", "/graphs/box/schema", "ada", ""); err != nil || strings.Count(answer, "I64?") != now.properties {
			t.Errorf("after apply %d the schema is %s, %v", i, answer, err)
		}
	}
	close(stop)
	clients.Wait()
	_, answer, err := o.ask("POST", "/graphs/box/query", "ada", `{"query":"query q() { match { $t: Thing } return { count($t) as n } }"}`)
	if want := fmt.Sprintf(`"rows":[{"n":%d}]`, written.Load()); err != nil || !strings.Contains(answer, want) {
		t.Errorf("%d things were written, and the graph answers %s, %v", written.Load(), answer, err)
	}
	slices.Sort(took)
	t.Logf("%d calls; an apply took %s, at most %s", calls.Load(), took[len(took)/2], took[len(took)-1])
}
