package server_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/auth"
	"github.com/omnigraph-go/omnigraph/internal/server/builtin"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/uploads"
	"github.com/omnigraph-go/omnigraph/internal/server/mcp"
	"github.com/omnigraph-go/omnigraph/internal/server/policy"
	"github.com/omnigraph-go/omnigraph/internal/server/rest"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// This file tests that no route, tool, resource or prompt shows an actor what the policy hides from it. Everything hidden in the graph
// has a name, an id and values with the word canary: persons of 60 years or more, a property of each person, a node type and an edge
// type, the stored queries that name them, and the message of the commit that loaded them.

const canary = "canary"

// partSchema is the schema of the matrix with hidden parts.
var partSchema = strings.Replace(servedtest.Source, "tags: [String]?", "tags: [String]?\n  canary_pay: I64?\n  canary_note: String?", 1) + photos + `
node CanaryBox { name: String @key  word: String? }
edge Holds: Person -> CanaryBox
edge CanaryLink: Person -> Person
`

const partData = `{"type":"Person","data":{"name":"ada","age":36,"canary_pay":1,"canary_note":"canary of ada"}}
{"type":"Person","data":{"name":"bob","age":41,"canary_note":"canary of bob"}}
{"type":"Person","data":{"name":"canary-old","age":66,"tags":["canary"]}}
{"type":"Person","data":{"name":"canary-ageless","canary_note":"canary"}}
{"type":"Photo","data":{"name":"p","image":"base64:AAEC"}}
{"type":"CanaryBox","data":{"name":"canary-box","word":"canary"}}
{"edge":"Knows","from":"ada","to":"bob"}
{"edge":"Knows","from":"ada","to":"canary-old","data":{"id":"canary-edge"}}
{"edge":"Holds","from":"ada","to":"canary-box","data":{"id":"canary-holds"}}
{"edge":"CanaryLink","from":"ada","to":"bob","data":{"id":"canary-link"}}
`

const partQueries = `
query find_person($name: String) { match { $p: Person { name: $name } } return { $p.name, $p.age } }
query everyone() { match { $p: Person } return { $p } }
query add_person($name: String) { insert Person { name: $name, age: 20 } }
query known() { match { $p: Person $p knows $q } return { $p.name, collect($q) as friends, count($q) as n } }
query nested() { match { $p: Person } return { $p.name, collect { $p knows $q return { $q } limit 5 } as friends } }
query canary_pay() { match { $p: Person } return { $p.canary_pay } }
query canary_sorted() { match { $p: Person } return { $p } order { $p.canary_pay } }
query canary_boxes($canary: String) { match { $b: CanaryBox { word: $canary } } return { $b.name } }
query canary_write($name: String) { update Person set { canary_note: "x" } where name = $name }
query nobody_is_old() @must_be_empty("Nobody is old.") { match { $p: Person $p.age > 60 } return { $p } }
query nobody_is_young() @must_be_empty("Nobody is young.") { match { $p: Person $p.age < 60 } return { $p } }
query canary_check() @must_be_empty("No box.") { match { $b: CanaryBox } return { $b.word } }
`

// clerk may read and change a part of the graph, and trainee a part of that, without photos; act-admin all of it.
const clerk, trainee = "act-reader", "act-bot"

// partly is a policy that allows clerk a part of the graph.
type partly struct {
	*policy.Policy
	rights, trainees *engine.Rights
	free             bool // the branch called free, and the drafts of clerk, are not restricted
	frozen           bool // nobody may change main
}

func (p *partly) Restricts() bool { return true }

func (p *partly) Allowed(a *access.Actor, g tool.Grant) bool {
	return p.Policy.Allowed(a, g) && !(p.frozen && g.Action == tool.Change && g.Branch.IsMain()) && (a.ID == "act-admin" || g.Action != tool.PolicyRead)
}

func (p *partly) Rights(a *access.Actor, g tool.Grant, _ *engine.Schema) *engine.Rights {
	switch {
	case a.ID == "act-admin", g.Via == tool.Stored && g.Query == "find_person", p.free && (g.OwnDraft || g.Branch.Name() == "free"):
		return nil
	case a.ID == trainee:
		return p.trainees
	}
	return p.rights
}

// clerksRights hide everything with a canary.
func clerksRights(t *testing.T) *engine.Rights {
	t.Helper()
	queries, faults := gq.CompileQueries(servedtest.SchemaOf(t, partSchema), gq.Source{Name: "filters.gq", Text: `
query all() { match { $it: Person $it.age < 60 } return { $it.id as id } }
query among($among: [String]) { match { $it: Person $it.age < 60 $it.id in $among } return { $it.id as id } }`})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	f := &engine.RowFilter{Name: "not_old", Entities: queries[0].Plan, Among: queries[1].Plan}
	return &engine.Rights{
		Digest: "the rights of clerk",
		Nodes:  map[string]*engine.TypeRights{"Person": {Properties: []string{"canary_note", "canary_pay"}, Any: [][]*engine.RowFilter{{f}}}, "CanaryBox": {None: true}},
		Edges:  map[string]*engine.TypeRights{"CanaryLink": {None: true}},
	}
}

// partWorld serves the graph people over REST and MCP.
type partWorld struct {
	*restMatrix
	whole  *comparedGraph
	graph  *servedgraph.Graph
	policy *partly
}

// comparedGraph counts comparisons, and fails them if err is set.
type comparedGraph struct {
	engine.Graph
	compared atomic.Int64
	err      error
}

func (g *comparedGraph) Compare(ctx context.Context, source, target engine.Target, opts engine.CompareOptions) (*engine.Comparison, error) {
	if g.compared.Add(1); g.err != nil {
		return nil, g.err
	}
	return g.Graph.Compare(ctx, source, target, opts)
}

func newPartWorld(t *testing.T) *partWorld {
	t.Helper()
	schema := servedtest.SchemaOf(t, partSchema)
	g, err := embedded.Create(t.Context(), fs.OS(), filepath.Join(t.TempDir(), "people"), partSchema, schema, embedded.Options{Now: testClock})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	if _, err := g.Load(t.Context(), strings.NewReader(partData), engine.LoadOptions{Mode: engine.Append, WriteOptions: engine.WriteOptions{Message: "the canary sang"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := g.CreateBranch(t.Context(), "release", engine.Target{}); err != nil {
		t.Fatal(err)
	}
	queries := servedtest.QueriesOf(t, schema, partQueries)
	policies := &partly{Policy: policy.Unrestricted("people"), rights: clerksRights(t), trainees: clerksRights(t)}
	policies.trainees.Digest = "the rights of trainee"
	policies.trainees.Nodes["Photo"] = &engine.TypeRights{None: true}
	whole := &comparedGraph{Graph: g}
	served, err := servedgraph.NewGraph(t.Context(), servedgraph.Config{
		ID: "people", Graph: whole, Catalog: &tool.Catalog{Queries: queries}, Builtins: builtin.All("test"), OutputSchemas: true,
		Authorizer: policies, Version: "test", Now: testClock, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	received, err := uploads.New(uploads.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/", rest.Handler(map[string]*servedgraph.Graph{"people": served}, rest.Options{Server: policy.Unrestricted(""), Uploads: map[string]*uploads.Store{"people": received}}))
	mux.Handle("/graphs/people/mcp", mcp.Handler(served, mcp.Options{}))
	gate := &auth.Authenticator{Log: slog.New(slog.DiscardHandler), Verifiers: []auth.Verifier{matrixTokens(t)}}
	return &partWorld{serveMatrix(t, gate.Require(mux)), whole, served, policies}
}

// meets says how clerk meets something.
type meets string

const (
	filtered  meets = "filtered"  // it answers from the part of the graph that clerk may see
	refused   meets = "refused"   // 403
	own       meets = "own"       // it says only what clerk sent, or what the log says of commits and branches
	whole     meets = "whole"     // what is about hidden changes is refused; see TestPartMerges
	elsewhere meets = "elsewhere" // it says nothing of the data of a graph
)

// partRoutes says how clerk meets each row of restRows, by its route, or by the name of the row if the rows of a route differ.
var partRoutes = map[string]meets{
	"GET /healthz": elsewhere, "GET /readyz": elsewhere, "GET /metrics": elsewhere, "GET /openapi.json": elsewhere, "GET /actor": elsewhere, "GET /graphs": elsewhere,
	"GET /.well-known/oauth-protected-resource": elsewhere, "GET /.well-known/oauth-protected-resource/graphs/{id}": elsewhere,
	"GET /.well-known/oauth-protected-resource/graphs/{id}/mcp": elsewhere,

	"GET /graphs/{id}/snapshot": filtered, "GET /graphs/{id}/growth": filtered, "POST /graphs/{id}/query": filtered, "POST /graphs/{id}/read": filtered,
	"GET /graphs/{id}/queries": filtered, "GET /graphs/{id}/queries/{name}": filtered, "GET /graphs/{id}/openapi.json": filtered,
	"POST /graphs/{id}/queries/{name}": filtered, "GET /graphs/{id}/schema/types": filtered, "POST /graphs/{id}/export": filtered,
	"POST /graphs/{id}/explain": filtered, "POST /graphs/{id}/assist": filtered, "GET /graphs/{id}/blob": filtered, "POST /graphs/{id}/changes/baseline": filtered, "GET /graphs/{id}/node/history": filtered,
	"GET /graphs/{id}/checks": filtered, "GET /graphs/{id}/proposals": filtered, "GET /graphs/{id}/proposals/events": filtered,
	"POST /graphs/{id}/queries/{name}/if-graph-commit": filtered,

	// The rows insert persons without an age, whom clerk may not see.
	"POST /graphs/{id}/mutate": refused, "POST /graphs/{id}/mutate/if-graph-commit": refused, "POST /graphs/{id}/change": refused,
	"POST /graphs/{id}/load/ndjson": refused, "POST /graphs/{id}/load": refused, "POST /graphs/{id}/ingest": refused,

	"GET /graphs/{id}/schema": refused, "POST /graphs/{id}/schema/apply": refused, "POST /graphs/{id}/branches/merge": whole,
	"GET /graphs/{id}/commits/{commit}/changes": whole, "GET /graphs/{id}/changes": refused,
	"POST /graphs/{id}/proposals": whole, "GET /graphs/{id}/proposals/{proposal}": whole, "GET /graphs/{id}/proposals/{proposal}/changes": whole,
	"GET /graphs/{id}/compare":               whole,
	"POST /graphs/{id}/proposals/{proposal}": whole, "POST /graphs/{id}/proposals/{proposal}/review": whole,
	"POST /graphs/{id}/proposals/{proposal}/close": whole, "POST /graphs/{id}/proposals/{proposal}/merge": whole,
	"POST /graphs/{id}/verify": refused,
	"GET /graphs/{id}/access":  refused,  // by the policy: it tells the names of all tools
	"GET /access?branch":       filtered, // about the caller itself

	"POST /graphs/{id}/uploads": own, "PATCH /graphs/{id}/uploads/{upload}": own, "GET /graphs/{id}/uploads/{upload}": own, "DELETE /graphs/{id}/uploads/{upload}": own,
	"POST /graphs/{id}/uploads/{upload}/infer": own, "POST /graphs/{id}/uploads/{upload}/import": own, // of no upload; TestImportParts
	"POST /graphs/{id}/review-keys": own, "DELETE /graphs/{id}/review-keys": own, "POST /graphs/{id}/proposed-queries": own, "GET /graphs/{id}/proposed-queries": filtered,
	"GET /graphs/{id}/audit":         own, // here without a trail; where there is one, the policy says who may read all of it
	"GET /graphs/{id}/audit/summary": own,
	"GET /graphs/{id}/branches":      own, "POST /graphs/{id}/branches": own, "DELETE /graphs/{id}/branches/{branch}": own,
	"GET /graphs/{id}/watches": own, "POST /graphs/{id}/watches": own, "DELETE /graphs/{id}/watches/{watch}": own, "POST /graphs/{id}/watches/{watch}/redeliver": own, "POST /graphs/{id}/watches/{watch}/dismiss": own, "GET /graphs/{id}/webhooks": own, "DELETE /graphs/{id}/webhooks/{watch}": own, "GET /graphs/{id}/watches/{watch}/events": own, // of no watch; TestWatchParts
	"GET /graphs/{id}/commits": own, "GET /graphs/{id}/commits/{commit}": own, "POST /graphs/{id}/cleanup": own,
}

// shows has the routes whose answer to act-admin contains a canary, which proves that the requests would find one.
var shows = []string{
	"GET /graphs/{id}/snapshot", "POST /graphs/{id}/assist", "GET /graphs/{id}/queries", "GET /graphs/{id}/openapi.json", "GET /graphs/{id}/schema", "GET /graphs/{id}/schema/types",
	"POST /graphs/{id}/export", "POST /graphs/{id}/changes/baseline", "GET /graphs/{id}/commits/{commit}/changes", "GET /graphs/{id}/changes", "GET /graphs/{id}/checks",
}

func TestPartOverREST(t *testing.T) {
	w := newPartWorld(t)
	known := map[string]bool{}
	for i := range restRows {
		row := &restRows[i]
		known[row.route] = true
		how, ok := partRoutes[row.name()]
		if !ok {
			how, ok = partRoutes[row.route]
		}
		if !ok {
			t.Errorf("%s: say in partRoutes how an actor with rights to a part of the graph meets it", row.route)
			continue
		}
		if routeOf(row.route).Elsewhere || strings.HasPrefix(row.path, "//") {
			if how != elsewhere {
				t.Errorf("%s: %s is not a route of a graph", row.route, how)
			}
			continue
		}
		x := w.of(row, "main")
		a := w.send("the-token-of-"+clerk, x)
		text := strings.ToLower(fmt.Sprint(a.body, a.header))
		switch served := max(row.served, http.StatusOK); {
		case strings.Contains(text, canary):
			t.Errorf("%s shows a canary: %s", row.name(), a.body)
		case how == refused && a.status != http.StatusForbidden, how == filtered && a.status != served:
			t.Errorf("%s, which is %s, answers %d %s", row.name(), how, a.status, a.body)
		}
		if slices.Contains(shows, row.route) {
			if whole := w.send("the-token-of-act-admin", x); !strings.Contains(strings.ToLower(whole.body), canary) {
				t.Errorf("%s shows no canary to anybody: %d %s", row.name(), whole.status, whole.body)
			}
		}
	}
	for _, r := range rest.Routes() {
		if name := r.Method + " " + r.Path; !known[name] {
			t.Errorf("%s is not in restRows", name)
		}
	}
}

// partProbes are requests of clerk that restRows lacks. The texts of the answers are from those of act-admin without what is hidden.
var partProbes = []struct {
	method, path, body string
	status             int
	wants              string // a part of the answer
}{
	{"POST", "/query", `{"query":"query q() { match { $p: Person } return { $p } }"}`, 200, `"row_count":2`},
	{"POST", "/query", `{"query":"query q() { match { $p: Person } return { count($p) as n } }"}`, 200, `"n":2`},
	{"POST", "/query", `{"query":"query q() { match { $p: Person $p knows $q } return { $p.name, $q.name } }"}`, 200, `"row_count":1`},
	{"POST", "/query", `{"query":"query q() { match { $p: Person $p $e:knows $q } return { $e.id } }"}`, 200, `"row_count":1`},
	{"POST", "/query", `{"query":"query q() { match { $p: Person $p.age < 1000 } return { max($p.age) as oldest } }"}`, 200, `"oldest":41`},
	{"POST", "/query", `{"query":"query q() { match { $p: Person { name: \"canari\" } } return { $p.age } }"}`, 200, `"row_count":0`}, // the note has no similar key
	{"POST", "/queries/everyone", `{}`, 200, `"row_count":2`},
	{"POST", "/queries/known", `{}`, 200, `"n":1`},
	{"POST", "/queries/nested", `{}`, 200, `"row_count":2`},
	{"POST", "/queries/everyone", `{"branch":"release"}`, 200, `"row_count":2`},
	{"POST", "/mutate", `{"query":"query m() { insert Person { name: \"cyd\", age: 20 } }","dry_run":true}`, 200, `cyd`},
	{"POST", "/mutate", `{"query":"query m() { update Person set { age: 30 } where age >= 0 }","dry_run":true}`, 200, `"affected_nodes":2`},
	{"POST", "/mutate", `{"query":"query m() { update Person set { age: 99 } where name = \"ada\" }"}`, 403, `forbidden`},
	{"POST", "/mutate", `{"query":"query m() { delete Person where name = \"ada\" }"}`, 403, `forbidden`},
	{"POST", "/load", `{"data":"{\"type\":\"Person\",\"data\":{\"name\":\"cyd\",\"age\":20}}","mode":"overwrite"}`, 403, "part of it"},
	{"POST", "/load", `{"data":"{\"type\":\"Person\",\"data\":{\"name\":\"ada\",\"age\":20}}","mode":"merge"}`, 200, `"updated":1`}, // what one may not see stays
	{"POST", "/load", `{"data":"{\"type\":\"Person\",\"data\":{\"name\":\"ada\",\"age\":21}}","mode":"patch","dry_run":true}`, 200, `"updated":1`},
	{"POST", "/load", `{"data":"{\"type\":\"Person\",\"data\":{\"name\":\"x\",\"hue\":20}}","mode":"merge"}`, 400, "its properties are name, age, big, score, born, seen, tags\""},
	{"POST", "/load", `{"data":"{\"type\":\"Persona\",\"data\":{\"name\":\"x\"}}","mode":"merge"}`, 400, "did you mean Person?"},
	{"POST", "/mutate", `{"query":"query m() { delete Knows where from = \"ada\" }","dry_run":true}`, 200, `"affected_edges":1`},
	{"GET", "/schema/types", "", 200, `"Photo"`},
	{"GET", "/changes?start=latest", "", 200, `"cursor"`},
	{"GET", "/queries/canary_pay", "", 404, ""},
	{"GET", "/node/history?type=Person&id=ada", "", 200, `"op":"insert"`},
	{"GET", "/checks", "", 200, `"Nobody is old."`},
	{"GET", "/commits", "", 200, `"graph_manifest_version":2`},
	{"GET", "/schema", "", 403, "all of branch main"},
	{"POST", "/branches/merge", `{"source":"release","target":"main"}`, 200, `"already_up_to_date"`},
}

func TestPartProbes(t *testing.T) {
	w := newPartWorld(t)
	for _, p := range partProbes {
		x := exchange{p.method, "/graphs/people" + p.path, p.body, http.Header{"Content-Type": {"application/json"}}}
		a := w.send("the-token-of-"+clerk, x)
		asked := strings.Contains(p.path, canary)
		if a.status != p.status || !strings.Contains(a.body, p.wants) || !asked && strings.Contains(strings.ToLower(a.body), canary) {
			t.Errorf("%s %s %s: %d %s", p.method, p.path, p.body, a.status, a.body)
		}
	}
	if whole := w.send("the-token-of-act-admin", exchange{"GET", "/graphs/people/commits?grep=canary", "", nil}); !strings.Contains(whole.body, "the canary sang") {
		t.Errorf("the message of the first commit is not shown to anybody: %d %s", whole.status, whole.body)
	}
}

// TestImportParts imports as an actor who may see a part of the schema: what it may not see is unknown, and is not proposed.
func TestImportParts(t *testing.T) {
	w := newPartWorld(t)
	asJSON := http.Header{"Content-Type": {"application/json"}}
	const table = "name,age,note,pay,holds\nzoe,20,x,1,canari\n"
	ask := func(method, path, body string, header http.Header) answer {
		t.Helper()
		return w.send("the-token-of-"+clerk, exchange{method, path, body, header})
	}
	opened := ask("POST", "/graphs/people/uploads", "", http.Header{"Upload-Length": {strconv.Itoa(len(table))}})
	up := opened.header.Get("Location")
	if a := ask("PATCH", up, table, http.Header{"Upload-Offset": {"0"}, "Content-Type": {"application/offset+octet-stream"}}); a.status != http.StatusNoContent {
		t.Fatal(opened.status, a.status, a.body)
	}
	if a := ask("POST", up+"/infer", `{"file_name":"people.csv"}`, asJSON); a.status != 200 || !strings.Contains(a.body, `\"node\":\"Person\"`) || strings.Contains(strings.ToLower(a.body), "canary") {
		t.Error(a.status, a.body)
	}
	guess := func(set string) string {
		return ask("POST", up+"/import", `{"file_name":"people.csv","map":"{\"sources\":{\"people.csv\":{\"node\":\"Person\",\"set\":{\"name\":\"name\",`+set+`}}}}","dry_run":true}`, asJSON).body
	}
	hidden, none := guess(`\"canary_pay\":\"pay\"`), guess(`\"cabary_pay\":\"pay\"`)
	if strings.ReplaceAll(hidden, "canary", "cabary") != none || !strings.Contains(none, "cabary_pay") {
		t.Errorf("a hidden property: %s\nnone: %s", hidden, none)
	}
	if got := guess(`\"age\":\"age\"`); !strings.Contains(got, `"inserted":1`) {
		t.Error(got)
	}
	if got := guess(`\"age\":{\"value\":\"99\"}`); !strings.Contains(got, "forbidden") { // the filter of clerk hides the old
		t.Error(got)
	}
}

// partGuesses are requests with a name {N} of something hidden, and with another name that nothing has. The answers must be the same.
var partGuesses = []struct{ method, path, body, hidden, none string }{
	{"POST", "/query", `{"query":"query q() { match { $b: {N} } return { $b.id } }"}`, "CanaryBox", "CabaryBox"},
	{"POST", "/query", `{"query":"query q() { match { $p: Person } return { $p.{N} } }"}`, "canary_pay", "cabary_pay"},
	{"POST", "/query", `{"query":"query q() { match { $p: Person $p {N} $q } return { $q.name } }"}`, "canaryLink", "cabaryLink"},
	{"POST", "/query", `{"query":"query q() { match { $p: Person { name: \"{N}\" } } return { $p.age } }"}`, "canary-old", "cabary-old"},
	{"POST", "/mutate", `{"query":"query m() { insert Knows { from: \"ada\", to: \"{N}\" } }"}`, "canary-old", "cabary-old"},
	{"POST", "/mutate", `{"query":"query m() { delete Person where name = \"{N}\" }"}`, "canary-old", "cabary-old"},
	{"POST", "/mutate", `{"query":"query m() { insert {N} { name: \"x\" } }"}`, "CanaryBox", "CabaryBox"},
	{"POST", "/load", `{"data":"{\"type\":\"{N}\",\"data\":{\"name\":\"x\"}}","mode":"append"}`, "CanaryBox", "CabaryBox"},
	{"POST", "/load", `{"data":"{\"edge\":\"{N}\",\"from\":\"ada\",\"to\":\"bob\"}","mode":"append"}`, "CanaryLink", "CabaryLink"},
	{"POST", "/load", `{"data":"{\"type\":\"Person\",\"data\":{\"name\":\"x\",\"age\":3,\"{N}\":3}}","mode":"append"}`, "canary_pay", "cabary_pay"},
	{"POST", "/load", `{"data":"{\"edge\":\"Knows\",\"from\":\"ada\",\"to\":\"{N}\"}","mode":"append"}`, "canary-old", "cabary-old"},
	{"POST", "/queries/{N}", `{}`, "canary_pay", "cabary_pay"},
	{"POST", "/queries/{N}", `{"params":{"canary":1}}`, "canary_boxes", "cabary_boxes"},
	{"POST", "/queries/{N}", `{"expect_mutation":true}`, "canary_boxes", "cabary_boxes"},
	{"GET", "/queries/{N}", "", "canary_write", "cabary_write"},
	{"POST", "/export", `{"type_names":["{N}"]}`, "CanaryBox", "CabaryBox"},
	{"GET", "/commits?grep={N}", "", "canary", "cabary"},
	{"GET", "/node/history?type={N}&id=x", "", "CanaryBox", "CabaryBox"},
	{"GET", "/node/history?type=Person&id={N}", "", "canary-old", "cabary-old"},
	{"GET", "/blob?entity=node&type={N}&id=x&property=y", "", "CanaryBox", "CabaryBox"},
	{"GET", "/blob?entity=node&type=Person&id=ada&property={N}", "", "canary_note", "cabary_note"},
	{"POST", "/changes/baseline", `{"type":["{N}"]}`, "CanaryBox", "CabaryBox"},
	{"POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"{N}","arguments":{}}}`, "canary_pay", "cabary_pay"},
	{"POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"type_describe","arguments":{"name":"{N}"}}}`, "CanaryBox", "CabaryBox"},
	{"POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"type_path","arguments":{"from":"Person","to":"{N}"}}}`, "CanaryBox", "CabaryBox"},
	{"POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"query_validate","arguments":{"query":"query q() { match { $b: {N} } return { $b.id } }"}}}`, "CanaryBox", "CabaryBox"},
	{"POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"write_filter","arguments":{"type":"{N}"}}}`, "CanaryBox", "CabaryBox"},
}

func TestPartGuesses(t *testing.T) {
	w := newPartWorld(t)
	for _, g := range partGuesses {
		ask := func(name string) string {
			fill := func(text string) string { return strings.ReplaceAll(text, "{N}", name) }
			header := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
			a := w.send("the-token-of-"+clerk, exchange{g.method, "/graphs/people" + fill(g.path), fill(g.body), header})
			return fmt.Sprint(a.status, " ", a.header.Get("ETag"), " ", a.body)
		}
		hidden, none := ask(g.hidden), ask(g.none)
		if strings.ReplaceAll(none, g.none, g.hidden) != hidden {
			t.Errorf("%s %s %s:\n%s\n%s", g.method, g.path, g.body, hidden, none)
		}
	}
}

// TestPartTags tests that an answer under other rights has another entity tag, and that the page token of one actor's rights is no
// other's.
func TestPartTags(t *testing.T) {
	w := newPartWorld(t)
	get := func(actor, tag string) answer {
		return w.send("the-token-of-"+actor, exchange{"GET", "/graphs/people/snapshot", "", http.Header{"If-None-Match": {tag}}})
	}
	whole, part := get("act-admin", "").header.Get("ETag"), get(clerk, "").header.Get("ETag")
	if whole == part || whole == "" || !strings.HasPrefix(part, strings.TrimSuffix(whole, `"`)+"~") {
		t.Errorf("the tags are %s and %s", whole, part)
	}
	for _, c := range []struct {
		actor, tag string
		status     int
	}{{"act-admin", whole, 304}, {clerk, part, 304}, {clerk, whole, 200}, {"act-admin", part, 200}} {
		if a := get(c.actor, c.tag); a.status != c.status {
			t.Errorf("%s with the tag %s: %d", c.actor, c.tag, a.status)
		}
	}
	if a := w.send("the-token-of-"+clerk, exchange{"POST", "/graphs/people/mutate", `{"query":"query m() { insert Person { name: \"eve\", age: 3 } }"}`,
		http.Header{"Content-Type": {"application/json"}, "Omnigraph-If-Graph-Commit": {part}}}); a.status != http.StatusOK {
		t.Errorf("a write with the tag as its condition: %d %s", a.status, a.body)
	}
}

// TestPartPages tests that a page belongs to the rights of the page before.
func TestPartPages(t *testing.T) {
	w := newPartWorld(t)
	header := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	page := func(token string) string {
		arguments := `{"limit":1}`
		if token != "" {
			arguments = `{"limit":1,"page_token":"` + token + `"}`
		}
		return w.send("the-token-of-"+clerk, exchange{"POST", "/graphs/people/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"commit_list","arguments":` + arguments + `}}`, header}).body
	}
	w.must(clerk, "POST", "/mutate", `{"query":"query m() { insert Person { name: \"eve\", age: 3 } }"}`)
	_, rest, ok := strings.Cut(page(""), `"next_page_token":"`)
	token, _, _ := strings.Cut(rest, `"`)
	if answer := page(token); !ok || strings.Contains(answer, `"isError":true`) {
		t.Fatal(answer)
	}
	w.policy.rights = w.policy.trainees
	if answer := page(token); !strings.Contains(answer, `"isError":true`) {
		t.Errorf("under other rights: %s", answer)
	}
}

// TestPartCopies tests that nobody sees more of a state by starting a branch or a draft with it.
func TestPartCopies(t *testing.T) {
	w := newPartWorld(t)
	w.policy.free = true
	const line = `{\"type\":\"Person\",\"data\":{\"name\":\"eve\",\"age\":3}}`
	head := w.head("main")
	for _, c := range []struct {
		path, body string
		status     int
	}{
		{"/branches", `{"name":"free","from":"main"}`, 403},
		{"/branches", `{"name":"free","from_commit":"` + head + `"}`, 403},
		{"/branches", `{"name":"free","from":"release","from_commit":"` + head + `"}`, 403},
		{"/ingest", `{"data":"` + line + `","branch":"free","from":"main"}`, 403},
		{"/mutate", `{"query":"query m() { insert Person { name: \"eve\", age: 3 } }","branch":"draft"}`, 403},
		{"/branches", `{"name":"bound","from":"main"}`, 200},
		{"/mutate", `{"query":"query m() { insert Person { name: \"eve\", age: 3 } }","branch":"bound"}`, 200},
	} {
		a := w.send("the-token-of-"+clerk, exchange{"POST", "/graphs/people" + c.path, c.body, http.Header{"Content-Type": {"application/json"}}})
		if a.status != c.status || c.status == 403 && !strings.Contains(a.body, "other parts") {
			t.Errorf("%s %s: %d %s", c.path, c.body, a.status, a.body)
		}
	}
	if list := w.must("act-admin", "GET", "/branches", "").body; strings.Contains(list, `"free"`) || strings.Contains(list, "draft") {
		t.Errorf("the branches are %s", list)
	}
	w.policy.free = false
	draft := w.must(clerk, "POST", "/mutate", `{"query":"query m() { insert Person { name: \"eve\", age: 3 } }","branch":"draft"}`).body
	if !strings.Contains(draft, `"affected_nodes":1`) {
		t.Error(draft)
	}
	if rows := w.must(clerk, "POST", "/query", `{"query":"query q() { match { $p: Person } return { $p } }","branch":"draft"}`).body; !strings.Contains(rows, `"row_count":3`) || strings.Contains(rows, canary) {
		t.Error(rows)
	}
}

// TestPartGuide tests that the guide has each tool that refuses an actor with rights to a part of the graph.
func TestPartGuide(t *testing.T) {
	text, err := os.ReadFile("../../docs/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "## What a filtered actor meets\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for name, row := range partTools {
		if row.how == refused && name != "graph_mutate" && name != "graph_load" && !strings.Contains(section, "`"+name+"`") {
			t.Errorf("the guide does not say that %s is refused", name)
		}
	}
}
