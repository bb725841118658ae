package server_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/internal/golden"
	"github.com/omnigraph-go/omnigraph/internal/server"
	"github.com/omnigraph-go/omnigraph/internal/server/auth"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
	"github.com/omnigraph-go/omnigraph/internal/server/rest"
	"github.com/omnigraph-go/omnigraph/internal/server/rest/resttest"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// restRow is a route with its expected answers. They follow from the specification and the policy
// of the matrix. The path, the body and the header contain placeholders: {B} is the branch, {H} is
// the head of the branch, {A} is a name that no other exchange uses, and {R} is the id of a new
// proposal from a branch {A} to {B}.
type restRow struct {
	route  string // the method and the pattern, as in [rest.Routes]
	path   string // after /graphs/people, or a whole path if it begins with two slashes
	body   string
	header string // a header line, "Name: value"

	// The initials of the actors that the server serves on main and on feature. All other actors
	// get 403. The actors of feature are served on the draft of act-confined too.
	main, feature string
	unseen        string // the initials of the other actors that get 404
	unseenFeature string // like `unseen`, for the branch feature, if it differs there
	own           bool   // whether act-confined is served on its draft, but not on main and feature
	served        int    // the status for actors that are served; 0 means 200

	open     bool // whether the route needs no token
	checked  bool // whether a token must be valid if one is sent
	branched bool // whether the request names a branch, so that it can name an unknown one
	unknown  int  // the status for an unknown branch; 0 means 404
	quick    bool // whether the route never calls the engine, and so ends before any deadline
	ready    func(m *restMatrix, branch, name string)
}

const (
	everyone = "agrwbinc"

	// The actors that may use ad-hoc reads, and the actors that may use ad-hoc writes, by their
	// initials.
	readsMain, readsFeature   = "arwc", "agrwc"
	writesMain, writesFeature = "a", "agwi"
)

// The texts that the requests of the matrix send.
const (
	readText  = `query q() { match { $p: Person } return { $p.name } limit 1 }`
	writeText = `query m() { insert Person { name: \"zoe\" } }`
	loadLine  = `{\"type\":\"Person\",\"data\":{\"name\":\"eve\"}}`
)

var restRows = []restRow{
	{route: "GET /healthz", path: "//healthz", main: everyone, feature: everyone, open: true, quick: true},
	{route: "GET /readyz", path: "//readyz", main: everyone, feature: everyone, open: true, checked: true},
	{route: "GET /metrics", path: "//metrics", main: "ar", feature: "ar"},
	{route: "GET /.well-known/oauth-protected-resource", path: "//.well-known/oauth-protected-resource", main: everyone, feature: everyone, open: true},
	{route: "GET /.well-known/oauth-protected-resource/graphs/{id}", path: "//.well-known/oauth-protected-resource/graphs/people", main: everyone, feature: everyone, open: true},
	{route: "GET /.well-known/oauth-protected-resource/graphs/{id}/mcp", path: "//.well-known/oauth-protected-resource/graphs/people/mcp", main: everyone, feature: everyone, open: true},
	{route: "GET /openapi.json", path: "//openapi.json", main: everyone, feature: everyone, quick: true},
	{route: "GET /actor", path: "//actor", main: everyone, feature: everyone, quick: true},
	{route: "GET /graphs", path: "//graphs", main: "ar", feature: "ar", quick: true},
	{route: "GET /graphs/{id}/snapshot", path: "/snapshot?branch={B}", main: readsMain, feature: readsFeature, branched: true},
	{route: "POST /graphs/{id}/query", path: "/query", body: `{"query":"` + readText + `","branch":"{B}"}`,
		main: readsMain, feature: readsFeature, branched: true},
	{route: "POST /graphs/{id}/explain", path: "/explain", body: `{"query":"` + readText + `","branch":"{B}","analyze":true}`, main: readsMain, feature: readsFeature, branched: true},
	{route: "POST /graphs/{id}/assist", path: "/assist", body: `{"text":"query q() { match { $p: Person } return { $p. } }","ask":"completion","position":45,"branch":"{B}"}`,
		main: readsMain, feature: readsFeature, branched: true},
	{route: "POST /graphs/{id}/read", path: "/read", body: `{"query_source":"` + readText + `","branch":"{B}"}`,
		main: readsMain, feature: readsFeature, branched: true},
	{route: "POST /graphs/{id}/mutate", path: "/mutate", body: `{"query":"` + writeText + `","branch":"{B}"}`,
		main: writesMain, feature: writesFeature, own: true, branched: true},
	{route: "POST /graphs/{id}/mutate/if-graph-commit", path: "/mutate/if-graph-commit", body: `{"query":"` + writeText + `","branch":"{B}"}`,
		header: "Omnigraph-If-Graph-Commit: {H}", main: writesMain, feature: writesFeature, own: true, branched: true},
	{route: "POST /graphs/{id}/change", path: "/change", body: `{"query_source":"` + writeText + `","branch":"{B}"}`,
		main: writesMain, feature: writesFeature, own: true, branched: true},
	// Routes that name no branch concern main.
	{route: "GET /graphs/{id}/queries", path: "/queries", main: readsMain, feature: readsMain, quick: true},
	{route: "GET /graphs/{id}/queries/{name}", path: "/queries/find_person", main: "agrwbc", feature: "agrwbc", unseen: "in"},
	// The document contains the queries that the caller may invoke. For a caller that may invoke
	// none, the document has no queries.
	{route: "GET /graphs/{id}/openapi.json", path: "/openapi.json", main: everyone, feature: everyone, quick: true},
	{route: "POST /graphs/{id}/queries/{name}", path: "/queries/find_person", body: `{"params":{"name":"bob"},"branch":"{B}"}`, main: "arwbc", feature: "agrwbc", unseen: "in", branched: true},
	{route: "POST /graphs/{id}/queries/{name}", path: "/queries/everyone", body: `{"branch":"{B}"}`,
		main: "arwc", feature: "agrwc", unseen: "bin", branched: true},
	{route: "POST /graphs/{id}/queries/{name}", path: "/queries/add_person", body: `{"params":{"name":"dan"},"branch":"{B}"}`,
		main: "aw", feature: "agw", unseen: "in", own: true, branched: true},
	{route: "POST /graphs/{id}/queries/{name}/if-graph-commit", path: "/queries/add_person/if-graph-commit", body: `{"params":{"name":"dan"},"branch":"{B}"}`,
		header: "Omnigraph-If-Graph-Commit: {H}", main: "aw", feature: "agw", unseen: "in", own: true, branched: true},
	{route: "GET /graphs/{id}/schema", path: "/schema?branch={B}", main: readsMain, feature: readsFeature, branched: true},
	{route: "GET /graphs/{id}/schema/types", path: "/schema/types?branch={B}", main: readsMain, feature: readsFeature, branched: true},
	// The schemas of a cluster come from its configuration.
	{route: "POST /graphs/{id}/schema/apply", path: "/schema/apply", body: `{"schema_source":"node Person { name: String @key }","branch":"{B}"}`,
		main: "ag", feature: "ag", served: 409, branched: true, unknown: 409},
	{route: "POST /graphs/{id}/load/ndjson", path: "/load/ndjson?branch={B}&mode=merge", body: `{"type":"Person","data":{"name":"eve"}}`,
		main: writesMain, feature: writesFeature, own: true, branched: true},
	{route: "POST /graphs/{id}/load/ndjson", path: "/load/ndjson?branch={B}&mode=sync&source=crm", body: `{"type":"Person","data":{"name":"eve"}}`,
		main: "a", feature: "aw", branched: true},
	{route: "POST /graphs/{id}/load/ndjson", path: "/load/ndjson?branch={B}&mode=sync&source=erp", body: `{"type":"Person","data":{"name":"eve"}}`,
		main: "a", feature: "a", branched: true},
	// To create the branch, the actor needs another right.
	{route: "POST /graphs/{id}/load/ndjson", path: "/load/ndjson?branch={A}&from={B}", body: `{"type":"Person","data":{"name":"eve"}}`,
		main: "a", feature: "a", branched: true},
	{route: "POST /graphs/{id}/uploads", path: "/uploads?branch={B}", header: "Upload-Length: 1",
		main: writesMain, feature: writesFeature, own: true, served: 201, branched: true, unknown: 201, quick: true},
	// Nobody has the upload of the path.
	{route: "PATCH /graphs/{id}/uploads/{upload}", path: "/uploads/0123456789abcdef0123456789abcdef", body: "x", header: "Upload-Offset: 0",
		main: everyone, feature: everyone, served: 404, quick: true},
	{route: "GET /graphs/{id}/uploads/{upload}", path: "/uploads/0123456789abcdef0123456789abcdef", main: everyone, feature: everyone, served: 404, quick: true},
	{route: "DELETE /graphs/{id}/uploads/{upload}", path: "/uploads/0123456789abcdef0123456789abcdef", main: everyone, feature: everyone, served: 404, quick: true},
	{route: "POST /graphs/{id}/uploads/{upload}/infer", path: "/uploads/0123456789abcdef0123456789abcdef/infer", body: `{"file_name":"people.csv"}`,
		main: everyone, feature: everyone, served: 404, quick: true},
	{route: "POST /graphs/{id}/uploads/{upload}/import", path: "/uploads/0123456789abcdef0123456789abcdef/import", body: `{"file_name":"people.csv","map":"{}"}`,
		main: everyone, feature: everyone, served: 404, quick: true},
	{route: "POST /graphs/{id}/load", path: "/load", body: `{"data":"` + loadLine + `","branch":"{B}"}`,
		main: writesMain, feature: writesFeature, own: true, branched: true},
	{route: "POST /graphs/{id}/ingest", path: "/ingest", body: `{"data":"` + loadLine + `","branch":"{B}"}`,
		main: writesMain, feature: writesFeature, own: true, branched: true, unknown: 200},
	{route: "POST /graphs/{id}/export", path: "/export", body: `{"branch":"{B}"}`, main: "ag", feature: "ag", branched: true},
	{route: "GET /graphs/{id}/blob", path: "/blob?entity=node&type=Photo&id=p&property=image&branch={B}",
		main: readsMain, feature: readsFeature, branched: true},
	{route: "GET /graphs/{id}/branches", path: "/branches", main: readsMain, feature: readsMain},
	{route: "POST /graphs/{id}/branches", path: "/branches", body: `{"name":"{A}","from":"{B}"}`, main: "a", feature: "a", branched: true},
	{route: "DELETE /graphs/{id}/branches/{branch}", path: "/branches/{A}", main: "a", feature: "a", branched: true,
		ready: func(m *restMatrix, branch, name string) {
			m.must("act-admin", "POST", "/branches", fmt.Sprintf(`{"name":%q,"from":%q}`, name, branch))
		}},
	{route: "POST /graphs/{id}/branches/merge", path: "/branches/merge", body: `{"source":"release","target":"{B}"}`, main: "a", feature: "a", branched: true},
	{route: "GET /graphs/{id}/commits", path: "/commits?branch={B}&limit=1", main: readsMain, feature: readsFeature, branched: true},
	{route: "GET /graphs/{id}/commits/{commit}", path: "/commits/{H}?branch={B}", main: readsMain, feature: readsFeature, branched: true},
	// If the request contains no branch, an actor can see the commit only with the right to read
	// the branch where it was made.
	{route: "GET /graphs/{id}/commits/{commit}", path: "/commits/{H}", main: readsMain, feature: readsFeature},
	{route: "GET /graphs/{id}/commits/{commit}/changes", path: "/commits/{H}/changes", main: readsMain, feature: readsFeature},
	{route: "GET /graphs/{id}/changes", path: "/changes?branch={B}", main: readsMain, feature: readsFeature, branched: true},
	{route: "POST /graphs/{id}/changes/baseline", path: "/changes/baseline", body: `{"branch":"{B}"}`, main: "ag", feature: "ag", branched: true},
	{route: "GET /graphs/{id}/node/history", path: "/node/history?type=Person&id=bob&branch={B}", main: readsMain, feature: readsFeature, branched: true},
	{route: "GET /graphs/{id}/access", path: "/access?actor=act-bot&branch={B}", main: "a", feature: "a", quick: true},
	{route: "GET /graphs/{id}/access", path: "/access?branch={B}", main: everyone, feature: everyone, quick: true}, // each about itself
	{route: "GET /graphs/{id}/audit", path: "/audit?tool=nothing", main: "a", feature: "a", quick: true},
	{route: "GET /graphs/{id}/audit/summary", path: "/audit/summary", main: "a", feature: "a", quick: true},
	{route: "GET /graphs/{id}/growth", path: "/growth?branch={B}", main: readsMain, feature: readsFeature, branched: true},
	{route: "GET /graphs/{id}/compare", path: "/compare?source=main&target={B}", main: readsMain, feature: readsMain, branched: true},
	{route: "GET /graphs/{id}/compare", path: "/compare?source_commit={H}&target_commit={H}", main: readsMain, feature: readsFeature},
	{route: "GET /graphs/{id}/checks", path: "/checks?branch={B}", main: readsMain, feature: readsFeature, branched: true},
	{route: "GET /graphs/{id}/proposals", path: "/proposals", main: readsMain, feature: readsMain},
	{route: "GET /graphs/{id}/proposals/events", path: "/proposals/events", main: readsMain, feature: readsMain},
	{route: "POST /graphs/{id}/proposals", path: "/proposals", body: `{"source":"{A}","target":"{B}","title":"a title"}`, main: "aw", feature: "agw", branched: true,
		ready: func(m *restMatrix, branch, name string) {
			m.must("act-admin", "POST", "/branches", fmt.Sprintf(`{"name":%q,"from":%q}`, name, branch))
		}},
	// This server publishes no queries.
	{route: "POST /graphs/{id}/proposed-queries", path: "/proposed-queries", body: `{"name":"q","query":"query q() { match { $p: Person } return { $p.name } }","description":"d","why":"w"}`, main: "a", feature: "a", quick: true, served: 409},
	{route: "GET /graphs/{id}/proposed-queries", path: "/proposed-queries", main: readsMain, feature: readsMain, quick: true},
	// If the actor may not read one of the branches, the server answers as if the proposal did not
	// exist.
	{route: "GET /graphs/{id}/proposals/{proposal}", path: "/proposals/{R}", main: readsMain, feature: readsFeature, unseen: everyone},
	{route: "GET /graphs/{id}/proposals/{proposal}/changes", path: "/proposals/{R}/changes", main: readsMain, feature: readsFeature, unseen: everyone},
	{route: "POST /graphs/{id}/proposals/{proposal}", path: "/proposals/{R}", body: `{"title":"another"}`, main: "aw", feature: "agw", unseen: "gbin"},
	{route: "POST /graphs/{id}/review-keys", path: "/review-keys", main: everyone, feature: everyone, quick: true},
	{route: "DELETE /graphs/{id}/review-keys", path: "/review-keys", main: everyone, feature: everyone, quick: true},
	{route: "POST /graphs/{id}/proposals/{proposal}/review", path: "/proposals/{R}/review", body: `{"decision":"comment","comment":"hm"}`, main: "aw", feature: "agw", unseen: "gbin"},
	{route: "POST /graphs/{id}/proposals/{proposal}/close", path: "/proposals/{R}/close", body: `{}`, main: "aw", feature: "agw", unseen: "gbin"},
	// The branch of the proposal has no changes.
	{route: "POST /graphs/{id}/proposals/{proposal}/merge", path: "/proposals/{R}/merge", body: `{}`, main: "a", feature: "a", unseen: "gbin", unseenFeature: "bin", served: 409},
	// No rule names the action watch, so the rights to the query decide. Nobody has the watch of the path.
	{route: "GET /graphs/{id}/watches", path: "/watches", main: everyone, feature: everyone},
	{route: "POST /graphs/{id}/watches", path: "/watches", body: `{"query":"find_person","params":{"name":"bob"},"branch":"{B}"}`,
		main: "arwbc", feature: "agrwbc", unseen: "in", branched: true},
	{route: "DELETE /graphs/{id}/watches/{watch}", path: "/watches/" + rest.ExampleWatch, main: everyone, feature: everyone, served: 404}, {route: "POST /graphs/{id}/watches/{watch}/redeliver", path: "/watches/" + rest.ExampleWatch + "/redeliver", main: everyone, feature: everyone, served: 404},
	{route: "POST /graphs/{id}/watches/{watch}/dismiss", path: "/watches/" + rest.ExampleWatch + "/dismiss", main: everyone, feature: everyone, served: 404},
	{route: "GET /graphs/{id}/webhooks", path: "/webhooks", main: "ag", feature: "ag"},
	{route: "DELETE /graphs/{id}/webhooks/{watch}", path: "/webhooks/" + rest.ExampleWatch, main: "ag", feature: "ag", served: 404},
	{route: "GET /graphs/{id}/watches/{watch}/events", path: "/watches/" + rest.ExampleWatch + "/events", main: everyone, feature: everyone, served: 404},
	{route: "POST /graphs/{id}/verify", path: "/verify", body: `{}`, main: "ag", feature: "ag"},
	{route: "POST /graphs/{id}/cleanup", path: "/cleanup", body: `{"keep_commits":1000,"dry_run":true}`, main: "ag", feature: "ag"},
}

// restMatrix serves the graph `people`, whose schema also has a Blob property, under matrixPolicy
// and a server policy that says which actors may list graphs.
type restMatrix struct {
	t      *testing.T
	url    string
	served http.Handler              // checks every exchange against the OpenAPI document
	names  int                       // the number of names given out so far
	token  func(actor string) string // nil for the static tokens
	server *server.Server            // nil for a matrix over a handler
}

const photos = "node Photo {\n  name: String @key\n  image: Blob?\n}\n"

func newRESTMatrix(t *testing.T, with ...func(*server.Options)) *restMatrix {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"schema.pg": servedtest.Source + photos, "policy.yaml": matrixPolicy,
		"server.yaml": "version: 1\nrules:\n  - id: lists\n    allow: { actors: { ids: [act-admin, act-reader] }, actions: [graph_list] }\n",
		"cluster.yaml": "version: 1\nstorage: ./data\ngraphs:\n  people: { schema: schema.pg }\npolicies:\n  base: { file: policy.yaml, applies_to: [people] }\n  server: { file: server.yaml, applies_to: [cluster] }\n" +
			// No request of the test fetches the issuer's keys.
			"server:\n  limits: { load_bytes: 33554432 }\n  oidc: { issuer: \"http://127.0.0.1:1\", audience: people, actor_claim: sub }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	config, err := cluster.Read(filepath.Join(dir, "cluster.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	makePeople(t, filepath.Join(config.Storage, "people"))
	o := server.Options{
		Cluster: config, Catalogs: []*tool.Catalog{servedtest.Catalog(t)}, Bind: "127.0.0.1:0", Tokens: matrixTokens(t), Version: "test", Now: testClock, Log: slog.New(slog.DiscardHandler),
	}
	for _, f := range with {
		f(&o)
	}
	s, err := server.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	m := serveMatrix(t, s.Handler())
	m.server = s
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	// The head of feature must be a commit that was made on feature.
	m.must("act-admin", "POST", "/mutate", `{"query":"query m() { insert Person { name: \"fay\" } }","branch":"feature"}`)
	return m
}

// serveMatrix serves a handler on loopback until the test ends.
func serveMatrix(t *testing.T, h http.Handler) *restMatrix {
	m := &restMatrix{t: t, served: resttest.Wrap(t, h)}
	ts := httptest.NewServer(m.served)
	t.Cleanup(func() {
		ts.Close()
		http.DefaultClient.CloseIdleConnections()
	})
	m.url = ts.URL
	return m
}

func makePeople(t *testing.T, store string) {
	t.Helper()
	source := servedtest.Source + photos
	g, err := embedded.Create(t.Context(), fs.OS(), store, source, servedtest.SchemaOf(t, source), embedded.Options{Now: testClock})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	data := servedtest.Seed + `{"type":"Photo","data":{"name":"p","image":"base64:AAEC"}}` + "\n"
	if _, err := g.Load(t.Context(), strings.NewReader(data), engine.LoadOptions{Mode: engine.Append}); err != nil {
		t.Fatal(err)
	}
	for _, b := range []string{"release", "feature"} {
		if _, err := g.CreateBranch(t.Context(), b, engine.Target{}); err != nil {
			t.Fatal(err)
		}
	}
}

func matrixTokens(t *testing.T) *auth.Tokens {
	t.Helper()
	tokens := &auth.Tokens{}
	for _, a := range restActors {
		if err := tokens.Add("the-token-of-"+a, a); err != nil {
			t.Fatal(err)
		}
	}
	return tokens
}

// exchange is a request of the matrix.
type exchange struct {
	method, path, body string
	header             http.Header
}

// of returns the request that a row describes, for a branch of the graph people.
func (m *restMatrix) of(row *restRow, branch string) exchange {
	method, _, _ := strings.Cut(row.route, " ")
	x := exchange{method: method, path: "/graphs/people" + row.path, body: row.body, header: http.Header{}}
	if strings.HasPrefix(row.path, "//") {
		x.path = row.path[1:]
	}
	if media := routeOf(row.route).BodyMedia; media != "" {
		x.header.Set("Content-Type", media)
	}
	m.names++
	name := fmt.Sprintf("made-%d", m.names)
	if row.ready != nil && !strings.HasPrefix(branch, "unknown") {
		row.ready(m, branch, name)
	}
	var head string
	if strings.Contains(row.path+row.header, "{H}") {
		from := branch
		if strings.HasPrefix(branch, "unknown") {
			from = "main"
		}
		head = m.head(from)
	}
	proposal := ""
	if strings.Contains(row.path, "{R}") {
		m.must("act-admin", "POST", "/branches", fmt.Sprintf(`{"name":%q,"from":%q}`, name, branch))
		proposal = proposalID(m.must("act-admin", "POST", "/proposals", fmt.Sprintf(`{"source":%q,"target":%q,"title":"a title"}`, name, branch)).body)
	}
	fill := strings.NewReplacer("{B}", branch, "{A}", name, "{H}", head, "{R}", proposal).Replace
	x.path, x.body = fill(x.path), fill(x.body)
	if name, value, ok := strings.Cut(row.header, ": "); ok {
		x.header.Set(name, fill(value))
	}
	return x
}

// send sends a request with a token, or without one if token is empty.
func (m *restMatrix) send(token string, x exchange) answer {
	m.t.Helper()
	r, err := http.NewRequest(x.method, m.url+x.path, strings.NewReader(x.body))
	if err != nil {
		m.t.Fatal(err)
	}
	maps.Copy(r.Header, x.header)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		m.t.Fatalf("%s %s: %v", x.method, x.path, err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		m.t.Fatalf("%s %s: %v", x.method, x.path, err)
	}
	return answer{resp.StatusCode, resp.Header, string(b)}
}

func (m *restMatrix) tokenOf(actor string) string {
	if m.token != nil {
		return m.token(actor)
	}
	return "the-token-of-" + actor
}

// writes returns the rows of the routes that write.
func (m *restMatrix) writes() (rows []*restRow) {
	for i := range restRows {
		if routeOf(restRows[i].route).Writes {
			rows = append(rows, &restRows[i])
		}
	}
	return rows
}

// routeOf returns the route with the given method and pattern.
func routeOf(name string) (found rest.Route) {
	for _, r := range rest.Routes() {
		if r.Method+" "+r.Path == name {
			found = r
		}
	}
	return found
}

// must sends a JSON request to the graph and fails the test unless the status is 200.
func (m *restMatrix) must(actor, method, path, body string) answer {
	m.t.Helper()
	a := m.send(m.tokenOf(actor), exchange{method, "/graphs/people" + path, body, http.Header{"Content-Type": {"application/json"}}})
	if a.status != http.StatusOK {
		m.t.Fatalf("%s %s: %d %s", method, path, a.status, a.body)
	}
	return a
}

// head returns the id of the last commit of a branch.
func (m *restMatrix) head(branch string) string {
	m.t.Helper()
	return strings.Trim(m.must("act-admin", "GET", "/snapshot?branch="+branch, "").header.Get("ETag"), `"`)
}

var paramValue = regexp.MustCompile(`=[^&]*`)

// name returns a name that is unique among the rows.
func (r *restRow) name() string {
	method, _, _ := strings.Cut(r.route, " ")
	return method + " " + paramValue.ReplaceAllString(r.path, "")
}

// wants returns the expected status for an actor.
func (r *restRow) wants(actor, branch string) int {
	initial, may, unseen := strings.TrimPrefix(actor, "act-")[:1], r.main, r.unseen
	if branch != "main" {
		may, unseen = r.feature, cmp.Or(r.unseenFeature, r.unseen)
	}
	switch {
	case strings.Contains(may, initial) && r.served != 0:
		return r.served
	case strings.Contains(may, initial), r.own && actor == "act-confined" && branch == "draft":
		return cmp.Or(r.served, http.StatusOK)
	case strings.Contains(unseen, initial):
		return http.StatusNotFound
	}
	return http.StatusForbidden
}

// restActors are the actors of the matrix. The policy confines act-confined to its drafts.
var restActors = append(slices.Clone(matrixActors), "act-confined")

// TestRESTMatrix sends every route with every actor, and with every fault that a request to it
// can have. The branch draft is a draft of act-confined.
func TestRESTMatrix(t *testing.T) {
	m := newRESTMatrix(t)
	var made client.MutationAnswer
	if err := json.Unmarshal([]byte(m.must("act-confined", "POST", "/mutate", `{"query":"`+writeText+`"}`).body), &made); err != nil {
		t.Fatal(err)
	}
	draft := made.Branch
	known := map[string]bool{}
	var seen envelopes
	for i := range restRows {
		row := &restRows[i]
		known[row.route] = true
		name := row.name()
		for _, token := range []string{"", "the-token-of-nobody"} {
			want, what := http.StatusUnauthorized, "a token that is nobody's"
			if row.open && (token == "" || !row.checked) {
				want = http.StatusOK
			}
			if token == "" {
				what = "no token"
			}
			seen.check(t, name, what, m.send(token, m.of(row, "main")), want)
		}
		for _, actor := range restActors {
			for _, branch := range []string{"main", "feature", "draft"} {
				named := branch
				if branch == "draft" {
					if named = draft; !strings.Contains(row.path+row.body, "{") {
						continue // the request is about no branch
					}
				}
				seen.check(t, name, actor+" on "+branch, m.send("the-token-of-"+actor, m.of(row, named)), row.wants(actor, branch))
			}
		}
		m.faults(row, &seen)
	}
	m.deadlines(&seen)
	m.detail()
	for _, r := range rest.Routes() {
		if !known[r.Method+" "+r.Path] {
			t.Errorf("%s %s is in no row of the matrix; add one to restRows", r.Method, r.Path)
		}
		delete(known, r.Method+" "+r.Path)
	}
	for route := range known {
		if !slices.ContainsFunc(rest.Routes(), func(r rest.Route) bool { return r.Method+" "+r.Path == route }) {
			t.Errorf("%s is no route", route)
		}
	}
	golden.Check(t, "testdata/matrix_rest.tsv", []byte(strings.Join(seen.lines, "\n")+"\n"))
}

// detail checks the answer of /readyz. Everyone must see the counts. Only actors that may list
// graphs must see the member detail.
func (m *restMatrix) detail() {
	m.t.Helper()
	for _, actor := range append(slices.Clone(restActors), "") {
		token := ""
		if actor != "" {
			token = m.tokenOf(actor)
		}
		a := m.send(token, exchange{"GET", "/readyz", "", http.Header{}})
		told := strings.Contains(a.body, `"detail"`) && strings.Contains(a.body, `"people"`)
		if may := actor == "act-admin" || actor == "act-reader"; told != may || !strings.Contains(a.body, `"graphs":1,"quarantined":0,"left_out":`) {
			m.t.Errorf("%q is told %s, want the detail: %t", actor, a.body, may)
		}
	}
}

// faults sends, as the admin, requests that fail for every actor.
func (m *restMatrix) faults(row *restRow, seen *envelopes) {
	name := row.name()
	check := func(what string, x exchange, want int) {
		m.t.Helper()
		seen.check(m.t, name, what, m.send("the-token-of-act-admin", x), want)
	}
	if strings.HasPrefix(row.path, "/") && !strings.HasPrefix(row.path, "//") {
		x := m.of(row, "main")
		x.path = strings.Replace(x.path, "/graphs/people", "/graphs/zzz", 1)
		check("unknown graph", x, http.StatusNotFound)
	}
	if row.branched {
		want, branch := row.unknown, "unknown"
		switch want {
		case 0:
			want = http.StatusNotFound
		case http.StatusOK:
			branch = "unknown-until-now"
		}
		check("unknown branch", m.of(row, branch), want)
	}
	x := m.of(row, "main")
	x.method = http.MethodPut
	check("another method", x, http.StatusMethodNotAllowed)
	if x := m.of(row, "main"); x.method == http.MethodGet {
		got := m.send("the-token-of-act-admin", x)
		x.method = http.MethodHead
		head := m.send("the-token-of-act-admin", x)
		if head.status != got.status || head.body != "" || head.header.Get("ETag") != got.header.Get("ETag") || head.header.Get("Content-Type") != got.header.Get("Content-Type") {
			m.t.Errorf("HEAD %s: %d %v %s, GET answers %d %v", x.path, head.status, head.header, head.body, got.status, got.header)
		}
	}
	if row.body == "" || row.served == http.StatusNotFound {
		return
	}
	largest := 1 << 20
	switch {
	case strings.Contains(row.path, "load"), strings.Contains(row.path, "ingest"):
		largest = 32 << 20
	case slices.ContainsFunc(strings.Split(row.path, "/"), func(s string) bool {
		return slices.Contains([]string{"query", "explain", "assist", "read", "mutate", "change", "apply"}, s)
	}):
		largest = 8 << 20
	}
	for _, fault := range []struct {
		what, body string
		want       int
	}{
		{"a body that breaks off", `{"`, http.StatusBadRequest},
		{"a body with another member", `{"nonsense":1}`, http.StatusBadRequest},
		{"a body that is none", `[]`, http.StatusBadRequest},
		{"a body that is too large", string(bytes.Repeat([]byte("\n"), largest+1)), http.StatusRequestEntityTooLarge},
	} {
		x := m.of(row, "main")
		x.body = fault.body
		check(fault.what, x, fault.want)
	}
	x = m.of(row, "main")
	x.header.Set("Content-Type", "text/plain")
	check("another media type", x, http.StatusUnsupportedMediaType)
}
