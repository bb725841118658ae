package server_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/generated/code"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/server"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// newSharedFleet makes and applies a cluster with graphs in shared storage, and returns its storage too.
func newSharedFleet(t *testing.T, ids ...string) (f *fleet, bucket string) {
	t.Helper()
	f = newFleet(t, ids...)
	bucket = filepath.Join(t.TempDir(), "bucket")
	config, err := os.ReadFile(filepath.Join(f.dir, "cluster.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	f.write("cluster.yaml", strings.Replace(string(config), "storage: ./data\n", "storage: { url: \"file://"+bucket+"\", cache: ./cache, lease: 1s, idle: 1s }\n", 1))
	f.apply()
	return f, bucket
}

// graphsOf returns the readiness of each graph, by id.
func graphsOf(t *testing.T, h http.Handler, want int) map[string]client.GraphReadiness {
	t.Helper()
	all := map[string]client.GraphReadiness{}
	for _, g := range readiness(t, h, "ada", want).Detail.Graphs {
		all[g.GraphID] = g
	}
	return all
}

// untilGraph waits until the readiness of a graph meets a condition.
func untilGraph(t *testing.T, h http.Handler, id, what string, want int, holds func(client.GraphReadiness) bool) {
	t.Helper()
	for deadline := clock.Now().Add(20 * time.Second); !holds(graphsOf(t, h, want)[id]); time.Sleep(20 * time.Millisecond) {
		if clock.Now().After(deadline) {
			t.Fatalf("20 seconds later the graph %s is not %s: %+v", id, what, graphsOf(t, h, want)[id])
		}
	}
}

// TestOpenOnUse serves graphs in shared storage. The start must open none of them, but check the stored
// queries. A call must open its own graph, which is closed again when it has not been used for a while.
func TestOpenOnUse(t *testing.T) {
	f, bucket := newSharedFleet(t, "code", "things", "spare")
	f.write("more.pg", thingMore)
	omnigraph(t, nil, "schema", "apply", "--store", "file://"+bucket, "--graph", "things", "--schema", filepath.Join(f.dir, "more.pg"))
	h, log := f.mustOpen(func(o *server.Options) { o.Catalogs, o.Node = []*tool.Catalog{code.Catalog()}, "og-1" })
	for id, g := range graphsOf(t, h, http.StatusOK) {
		if g.Role != "idle" || g.Status != client.StatusServing || g.Drift {
			t.Errorf("after the start the graph %s is %+v", id, g)
		}
		if leftOut := len(g.LeftOut) > 0; leftOut != (id == "code") {
			t.Errorf("the graph %s leaves out %v", id, g.LeftOut)
		}
	}
	if status, answer := ask(h, "POST", "/graphs/spare/query", "bo", anyThing); status != http.StatusForbidden {
		t.Errorf("a call that the policy forbids: %d %s", status, answer)
	}
	if status, answer := ask(h, "GET", "/graphs", "ada", ""); status != http.StatusOK {
		t.Errorf("the list of graphs: %d %s", status, answer)
	}
	if status, answer := ask(h, "POST", "/graphs/things/query", "ada", anyThing); status != http.StatusOK {
		t.Errorf("the first call: %d %s", status, answer)
	}
	untilGraph(t, h, "things", "known to differ from the revision", http.StatusOK, func(g client.GraphReadiness) bool { return g.Drift })
	for id, g := range graphsOf(t, h, http.StatusOK) {
		if used := id == "things"; (g.Role == "idle") == used {
			t.Errorf("after a call on things the graph %s is %+v", id, g)
		}
	}
	if !strings.Contains(log.String(), "differs from the applied schema") {
		t.Errorf("the log does not report the other schema:\n%s", log)
	}
	untilGraph(t, h, "things", "idle", http.StatusOK, func(g client.GraphReadiness) bool { return g.Role == "idle" })
	if status, answer := ask(h, "POST", "/graphs/things/query", "ada", anyThing); status != http.StatusOK {
		t.Errorf("a call on a graph that was idle: %d %s", status, answer)
	}
}

// TestRefusedFirstWrite sends a write to a graph that has no writer at the moment. The server must refuse it with its own
// fault: it has become the writer before it judges the write.
func TestRefusedFirstWrite(t *testing.T) {
	f, _ := newSharedFleet(t, "things")
	h, _ := f.mustOpen(func(o *server.Options) { o.Node = "og-1" })
	for range 2 { // the first time the graph has not been opened yet, the second time it was closed
		if status, answer := ask(h, "POST", "/graphs/things/mutate", "ada", `{"query":"query m() { delete Thing where slug = \"x\" }","branch":"none"}`); status != http.StatusNotFound {
			t.Errorf("a write to a branch that does not exist: %d %s", status, answer)
		}
		untilGraph(t, h, "things", "idle", http.StatusOK, func(g client.GraphReadiness) bool { return g.Role == "idle" })
	}
}

// TestFailedFirstUse removes a graph from shared storage. Its first use must fail as unavailable and make
// the server not ready. A server that must open all graphs must not start.
func TestFailedFirstUse(t *testing.T) {
	f, bucket := newSharedFleet(t, "good", "lost")
	object := filepath.Join(bucket, "incarnation+lost") // see object.Folder
	content, err := os.ReadFile(object)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(object); err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.open(func(o *server.Options) { o.RequireAll, o.Node = true, "og-1" }); err == nil || !strings.Contains(err.Error(), "graph lost") {
		t.Errorf("a server that must open all graphs: %v", err)
	}
	h, _ := f.mustOpen(func(o *server.Options) { o.Node = "og-1" })
	if g := graphsOf(t, h, http.StatusOK)["lost"]; g.Role != "idle" {
		t.Errorf("before its first use the graph is %+v", g)
	}
	if status, answer := ask(h, "POST", "/graphs/lost/query", "ada", anyThing); status != http.StatusServiceUnavailable || !strings.Contains(answer, "unavailable") {
		t.Errorf("the first use: %d %s", status, answer)
	}
	if g := graphsOf(t, h, http.StatusServiceUnavailable)["lost"]; g.Status != client.StatusFailing || g.Role != "absent" || !strings.Contains(g.Reason, "omnigraph cluster apply") {
		t.Errorf("after its first use the graph is %+v", g)
	}
	if status, answer := ask(h, "POST", "/graphs/good/query", "ada", anyThing); status != http.StatusOK {
		t.Errorf("a call on the other graph: %d %s", status, answer)
	}
	if err := os.WriteFile(object, content, 0o600); err != nil {
		t.Fatal(err)
	}
	for deadline := clock.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if status, _ := ask(h, "GET", "/readyz", "ada", ""); status == http.StatusOK {
			break
		}
		if clock.Now().After(deadline) {
			t.Fatal("20 seconds after the graph is back the server is not ready")
		}
	}
}

// TestSubscriberHoldsGraph opens a stream of the change feed. The graph must stay open until the stream
// ends, and then be closed.
func TestSubscriberHoldsGraph(t *testing.T) {
	f, _ := newSharedFleet(t, "things")
	h, _ := f.mustOpen(func(o *server.Options) { o.Node = "og-1" })
	site := httptest.NewServer(h)
	defer site.Close()
	r, err := http.NewRequestWithContext(t.Context(), "GET", site.URL+"/graphs/things/changes?start=latest", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer the-token-of-ada")
	r.Header.Set("Accept", "text/event-stream")
	stream, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	if stream.StatusCode != http.StatusOK {
		t.Fatalf("the stream has the status %d", stream.StatusCode)
	}
	for end := clock.Now().Add(3 * time.Second); clock.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if g := graphsOf(t, h, http.StatusOK)["things"]; g.Role != "writer" {
			t.Fatalf("with a subscriber the graph is %+v", g)
		}
	}
	stream.Body.Close()
	untilGraph(t, h, "things", "idle", http.StatusOK, func(g client.GraphReadiness) bool { return g.Role == "idle" })
}
