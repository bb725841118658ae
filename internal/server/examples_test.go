package server_test

import (
	"bytes"
	"cmp"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/internal/server"
	"github.com/omnigraph-go/omnigraph/internal/server/auth"
	"github.com/omnigraph-go/omnigraph/internal/server/rest"
	"github.com/omnigraph-go/omnigraph/internal/source/gocode"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// TestExamples sends the example request of every route to the graph of the examples. The requests
// are the ones that the reference and the OpenAPI document show.
func TestExamples(t *testing.T) {
	storage := t.TempDir()
	makeExampleStore(t, filepath.Join(storage, "code"))
	ts := serve(t, storage, func(o *server.Options) {
		o.Tokens = &auth.Tokens{}
		if err := o.Tokens.Add("the-token-of-act-admin", "act-fuzz"); err != nil {
			t.Fatal(err)
		}
		o.Cluster.Graphs[0].Policy = "testdata/schemathesis/policy.yaml"
		o.Cluster.ServerPolicy = "testdata/schemathesis/server.policy.yaml"
	})
	m := serveMatrix(t, ts.handler)
	routes := rest.Routes()
	// Create the branch of the examples first and delete it last.
	order := func(r rest.Route) int {
		switch r.Operation {
		case "create_branch":
			return 0
		case "delete_branch":
			return 2
		}
		return 1
	}
	slices.SortStableFunc(routes, func(a, b rest.Route) int { return order(a) - order(b) })
	for _, r := range routes {
		path, header, body := r.Example()
		head := m.send("the-token-of-act-admin", exchange{"GET", "/graphs/code/snapshot", "", http.Header{}}).header.Get("ETag")
		path = strings.ReplaceAll(path, rest.ExampleCommit, strings.Trim(head, `"`))
		if strings.Contains(path, rest.ExampleProposal) {
			path = strings.ReplaceAll(path, rest.ExampleProposal, m.propose("code", r.Operation))
		}
		for name, values := range header {
			header.Set(name, strings.ReplaceAll(values[0], rest.ExampleCommit, strings.Trim(head, `"`)))
		}
		want := cmp.Or(r.Success, http.StatusOK)
		switch r.Operation {
		case "get_blob":
			want = http.StatusPartialContent
		case "append_upload", "get_upload", "delete_upload", "infer_import", "import_upload": // the server makes the ids of uploads
			want = http.StatusNotFound
		case "delete_watch", "get_watch_event", "redeliver_watch", "dismiss_undelivered", "end_webhook": // the engine makes the ids of watches
			want = http.StatusNotFound
		case "merge_proposal": // the branch of the proposal has no changes
			want = http.StatusConflict
		case "query_propose": // the policy grants it to nobody
			want = http.StatusForbidden
		case "apply_schema": // the schemas of a cluster are fixed
			want = http.StatusConflict
		}
		if strings.HasPrefix(path, "/.well-known/") { // this server has no issuer
			want = http.StatusNotFound
		}
		a := m.send("the-token-of-act-admin", exchange{r.Method, path, body, header})
		if a.status != want || a.body == "" && r.Success == 0 {
			t.Errorf("%s: %s %s answers %d %s, want %d", r.Operation, r.Method, path, a.status, a.body, want)
		}
		if r.Operation == "open_proposal" { // the branch of an open proposal cannot be deleted
			m.send("the-token-of-act-admin", exchange{"POST", "/graphs/code/proposals/" + proposalID(a.body) + "/close", "{}", http.Header{"Content-Type": {"application/json"}}})
		}
		if r.Body == nil && r.BodyMedia == "" && body != "" || (r.Body != nil || r.BodyMedia != "") && body == "" {
			t.Errorf("%s: the body of the example is %q", r.Operation, body)
		}
	}
}

// propose makes a new branch without changes, opens a proposal to merge the branch into main, and
// returns the id of the proposal.
func (m *restMatrix) propose(graph, branch string) string {
	m.t.Helper()
	id := ""
	for _, x := range []exchange{{"POST", "/branches", `{"name":"` + branch + `"}`, nil}, {"POST", "/proposals", `{"source":"` + branch + `","title":"a title"}`, nil}} {
		x.path, x.header = "/graphs/"+graph+x.path, http.Header{"Content-Type": {"application/json"}}
		a := m.send("the-token-of-act-admin", x)
		if a.status != http.StatusOK {
			m.t.Fatalf("%s: %d %s", x.path, a.status, a.body)
		}
		id = proposalID(a.body)
	}
	return id
}

// proposalID returns the proposal's id from the answer about the proposal.
func proposalID(body string) string {
	_, after, _ := strings.Cut(body, `"id":"`)
	id, _, _ := strings.Cut(after, `"`)
	return id
}

// makeExampleStore makes the graph of the examples.
func makeExampleStore(t *testing.T, store string) {
	t.Helper()
	text, err := os.ReadFile("../../queries/code/schema.pg")
	if err != nil {
		t.Fatal(err)
	}
	source := string(text) + "\nnode Attachment {\n  name: String @key\n  content: Blob?\n}\n"
	schema, faults := gq.CompileSchema(gq.Source{Name: "schema.pg", Text: source})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	g, err := embedded.Create(t.Context(), fs.OS(), store, source, schema, embedded.Options{Now: testClock})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	code, err := gocode.Read(t.Context(), gocode.Options{Dir: "../source/gocode/testdata/shop", Env: append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod", "GOPROXY=off")})
	if err != nil {
		t.Fatal(err)
	}
	var data bytes.Buffer
	if _, err := code.WriteNDJSON(&data); err != nil {
		t.Fatal(err)
	}
	data.WriteString(`{"type":"Attachment","data":{"name":"a","content":"base64:b21uaWdyYXBo"}}` + "\n")
	if _, err := g.Load(t.Context(), &data, engine.LoadOptions{Mode: engine.Append}); err != nil {
		t.Fatal(err)
	}
}
