package rest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/golden"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/webhook"
	"github.com/omnigraph-go/omnigraph/internal/server/rest"
	"github.com/omnigraph-go/omnigraph/internal/server/rest/resttest"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
)

// varying are the parts that differ from run to run: ids, times and digests.
var varying = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`01[0-9A-HJKMNP-TV-Z]{24}`), "ULID"},
	{regexp.MustCompile(`"(created_at|authored_at|updated_at|called_at)":\d+`), `"$1":INSTANT`},
	{regexp.MustCompile(`"cursor":"[0-9A-Za-z_-]{59}"`), `"cursor":"CURSOR"`},
	{regexp.MustCompile(`whsec_[0-9A-Za-z+/=]+`), "SECRET"},
	{regexp.MustCompile(`sha256:[0-9a-f]{64}`), "DIGEST"},
	{regexp.MustCompile(`\(id [0-9a-z]{26}\)`), "(id ID)"},
	{regexp.MustCompile(`Content-Length: \d+\n`), ""},
	{regexp.MustCompile(`"next_page_token":"[^"]+"`), `"next_page_token":"TOKEN"`},
	{regexp.MustCompile(`"rk_[A-Z2-7]+_[A-Z2-7]+","expires_at":\d+`), `"KEY","expires_at":INSTANT`},
}

// failing is a graph with a different fault for each branch that is named after a fault.
type failing struct{ engine.Graph }

func (g failing) Commits(ctx context.Context, branch string, r engine.CommitRange) ([]engine.Commit, error) {
	switch branch {
	case "unavailable":
		return nil, &engine.Unavailable{Reason: "closing"}
	case "broken":
		return nil, &engine.Corrupt{Object: "seg/7", Detail: "bad sum"}
	case "panic":
		panic("secret")
	case "large":
		return nil, &engine.TooLarge{Resource: "hops", Limit: 10, Actual: 11}
	case "slow":
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return g.Graph.Commits(ctx, branch, r)
}

func (g failing) Load(ctx context.Context, r io.Reader, opts engine.LoadOptions) (*engine.LoadResult, error) {
	if opts.Branch == "unsure" {
		return nil, &engine.Indeterminate{Err: errors.New("disk on fire")}
	}
	return g.Graph.Load(ctx, r, opts)
}

// TestEnvelopes compares the answers of every route, and errors of every status, with a golden
// file.
func TestEnvelopes(t *testing.T) {
	c := servedtest.Config(t)
	c.Graph, c.Webhooks = failing{c.Graph}, webhook.Settings{Hosts: []string{"hooks.example.com"}}
	h := resttest.Wrap(t, rest.Handler(map[string]*servedgraph.Graph{"people": servedtest.Graph(t, c)}, rest.Options{Server: servedtest.Policy{}, MaxBody: 2000}))
	writer, reader, bot := servedtest.Writer, servedtest.Reader, servedtest.Bot
	wider := schemaOf(t, strings.Replace(servedtest.Source, "age: I32?", "age: I32? height: F64?", 1), "")
	const q = `{"query":"query q() { match { $p: Person } return { $p.name } }"`
	var got strings.Builder
	seen := map[string]bool{}
	for _, x := range []struct {
		actor        *access.Actor
		method, path string
		send, body   string
	}{
		{nil, "GET", "//healthz", "", ""},
		{writer, "GET", "//actor", "", ""},
		{writer, "GET", "//graphs", "", ""},
		{writer, "GET", "/snapshot", "", ""},
		{writer, "POST", "/query", "", q + `,"max_rows":1}`},
		{writer, "POST", "/mutate", "", `{"query":"query m() { insert Person { name: \"zoe\" } }"}`},
		{writer, "POST", "/mutate/if-graph-commit", "Omnigraph-If-Graph-Commit: COMMIT", `{"query":"query m() { insert Person { name: \"yan\" } }"}`},
		{writer, "POST", "/read", "", `{"query_source":"query q() { match { $p: Person { name: \"ada\" } } return { $p.age } }"}`},
		{writer, "POST", "/change", "", `{"query_source":"query m() { delete Person where name = \"yan\" }"}`},
		{writer, "GET", "/queries", "", ""},
		{writer, "GET", "/queries/find_person", "", ""},
		{writer, "POST", "/queries/find_person", "", `{"params":{"name":"bob"}}`},
		{writer, "POST", "/queries/add_person", "", `{"params":{"name":"dan"}}`},
		{writer, "POST", "/queries/add_person/if-graph-commit", "Omnigraph-If-Graph-Commit: COMMIT", `{"params":{"name":"dee"},"dry_run":true}`},
		{writer, "GET", "/schema", "", ""},
		{writer, "GET", "/schema/types", "", ""},
		{writer, "POST", "/schema/apply", "", wider},
		{writer, "POST", "/load/ndjson?mode=append", "Content-Type: application/x-ndjson", `{"type":"Person","data":{"name":"eve"}}`},
		{writer, "POST", "/load", "", `{"data":"","dry_run":true}`},
		{writer, "POST", "/ingest", "", `{"data":"{\"type\":\"Person\",\"data\":{\"name\":\"fay\"}}","branch":"trial"}`},
		{writer, "POST", "/export", "", `{"type_names":["Knows"]}`},
		{writer, "GET", "/branches", "", ""},
		{writer, "POST", "/branches", "", `{"name":"other"}`},
		{writer, "GET", "/checks?branch=trial", "", ""},
		{writer, "POST", "/proposals", "", `{"source":"trial","title":"Add persons","description":"They were missing."}`},
		{writer, "GET", "/proposals?state=open", "", ""},
		{writer, "GET", "/proposals/events?limit=1", "", ""},
		{writer, "GET", "/proposals/PROPOSAL", "", ""},
		{writer, "GET", "/proposals/PROPOSAL/changes?limit=1", "", ""},
		{writer, "POST", "/ingest", "", `{"data":"{\"type\":\"Person\",\"data\":{\"name\":\"fay\",\"age\":31}}"}`},
		{writer, "POST", "/proposals/PROPOSAL", "", `{"title":"Add a person","resolutions":[{"entity_kind":"node","type_name":"Person","id":"fay","property":"age","take":"value","value":30}]}`},
		{reader, "POST", "/review-keys", "", ""}, {reader, "DELETE", "/review-keys", "", ""},
		{writer, "POST", "/proposals/PROPOSAL/review", "", `{"decision":"comment","comment":"Who is fay?"}`},
		{writer, "POST", "/proposals/PROPOSAL/merge", "", `{}`},
		{writer, "POST", "/proposals/PROPOSAL/close", "", `{}`},
		{writer, "POST", "/proposals", "", `{"source":"other","title":"Nothing"}`},
		{writer, "POST", "/proposals/PROPOSAL/close", "", `{"comment":"It has no changes."}`},
		{writer, "DELETE", "/branches/other", "", ""},
		{writer, "POST", "/branches/merge", "", `{"source":"trial","delete_branch":true}`},
		{writer, "POST", "/watches", "", `{"query":"find_person","params":{"name":"ada"},"debounce_ms":200,"webhook":"https://hooks.example.com/in"}`},
		{writer, "GET", "/watches", "", ""},
		{writer, "GET", "/watches/WATCH/events", "", ""},
		{writer, "POST", "/watches/WATCH/redeliver", "", ""}, {writer, "POST", "/watches/WATCH/dismiss", "", ""},
		{writer, "GET", "/webhooks", "", ""}, {writer, "DELETE", "/webhooks/WATCH", "", ""},
		{writer, "POST", "/watches", "", `{"query":"find_person","params":{"name":"bob"}}`}, {writer, "DELETE", "/watches/WATCH", "", ""},
		{writer, "POST", "/watches", "", `{"query":"find_person","params":{"name":"ada"},"webhook":"https://other.example.com/"}`},
		{writer, "POST", "/watches", "", `{"query":"add_person","params":{"name":"x"}}`},
		{writer, "GET", "/commits?limit=1", "", ""},
		{writer, "GET", "/commits/COMMIT", "", ""},
		{writer, "GET", "/commits/COMMIT/changes", "", ""},
		{writer, "GET", "/changes?cursor=COMMIT", "", ""},
		{writer, "GET", "/changes?limit=1", "", ""},
		{writer, "POST", "/changes/baseline", "", `{"type":["Knows"]}`},
		{writer, "GET", "/node/history?type=Person&id=dan", "", ""},
		{writer, "POST", "/explain", "", `{"query":"query q() { match { $p: Person } return { $p.name } }"}`},
		{writer, "POST", "/assist", "", `{"text":"query q() { match { $p: Person } return { $p.nam, $p.name = \"a\" as same } }"}`},
		{writer, "GET", "/access?actor=act-reader", "", ""},
		{writer, "GET", "/access", "", ""},
		{writer, "GET", "/growth", "", ""},
		{writer, "GET", "/compare?target=main", "", ""},
		{writer, "POST", "/cleanup", "", `{"keep_commits":100}`},
		// Answered with 304.
		{writer, "GET", "/schema", `If-None-Match: "COMMIT"`, ""},
		// Answered with 400.
		{writer, "POST", "/query", "", `{"query":`},
		{writer, "POST", "/query", "", `{"query":7,"nam":"x","max_rows":"many"}`},
		{writer, "POST", "/query", "", `{"query":"a","query":"b"}`},
		{writer, "POST", "/query", "", `{"query":"query q() { match { $p: Persn } return { $p.name } }"}`},
		{writer, "POST", "/queries/find_person", "", `{"params":{"name":1}}`},
		{writer, "POST", "/load/ndjson", "Content-Type: application/x-ndjson", "{\"type\":\"Person\",\"data\":{\"name\":\"ada\",\"age\":\"old\"}}\n{\n"},
		{writer, "GET", "/schema?branch=main&branch=trial", "", ""},
		{writer, "GET", "/schema", "X-Timeout-Ms: soon", ""},
		{writer, "POST", "/verify", "", ""},
		// Answered with 403.
		{bot, "GET", "/schema", "", ""},
		{nil, "GET", "/schema", "", ""},
		{bot, "GET", "//graphs", "", ""},
		{bot, "GET", "/access?actor=act-reader", "", ""},
		{bot, "GET", "/audit", "", ""},
		{writer, "GET", "/audit", "", ""},
		{writer, "GET", "/audit/summary", "", ""},
		// Answered with 404.
		{writer, "GET", "//nope", "", ""},
		{writer, "GET", "//graphs/nope/schema", "", ""},
		{writer, "GET", "/schema?branch=nope", "", ""},
		{writer, "GET", "/commits/nope", "", ""},
		{writer, "GET", "/node/history?type=Nope&id=dan", "", ""},
		{bot, "GET", "/queries/everyone", "", ""},
		{bot, "POST", "/queries/everyone", "", `{}`},
		{bot, "POST", "/queries/nope", "", `{}`},
		// Answered with 405.
		{writer, "PUT", "/query", "", ""},
		// Answered with 409.
		{writer, "POST", "/branches", "", `{"name":"main"}`},
		{writer, "POST", "/load/ndjson?mode=append", "Content-Type: application/x-ndjson", `{"type":"Person","data":{"name":"ada"}}`},
		{writer, "POST", "/schema/apply", "", schemaOf(t, servedtest.Source, "")},
		// Answered with 412.
		{writer, "POST", "/mutate", "Omnigraph-If-Graph-Commit: 01J00000000000000000000000", `{"query":"query m() { insert Person { name: \"zoe\" } }"}`},
		// Answered with 413.
		{writer, "POST", "/query", "", q + strings.Repeat(" ", 2000) + "}"},
		{writer, "GET", "/schema?branch=large", "", ""},
		// Answered with 415.
		{writer, "POST", "/query", "Content-Type: text/plain", q + "}"},
		{writer, "POST", "/query", "Content-Encoding: gzip", q + "}"},
		// Answered with 500 and 503.
		{reader, "GET", "/schema?branch=broken", "", ""},
		{reader, "GET", "/schema?branch=panic", "", ""},
		{reader, "GET", "/schema?branch=unavailable", "", ""},
		{reader, "GET", "/schema?branch=slow", "X-Timeout-Ms: 1", ""},
		{writer, "POST", "/load/ndjson?branch=unsure", "Content-Type: application/x-ndjson", ""},
	} {
		head := headOf(t, c.Graph)
		path := "/graphs/people" + x.path
		if strings.HasPrefix(x.path, "//") {
			path = x.path[1:]
		}
		if newest, err := c.Graph.Proposals(t.Context(), engine.ProposalRange{Limit: 1}); err == nil && len(newest) > 0 {
			path = strings.ReplaceAll(path, "PROPOSAL", newest[0].ID)
		}
		if list, err := c.Graph.Watches(t.Context(), engine.WatchRange{}); err == nil && len(list) > 0 {
			path = strings.ReplaceAll(path, "WATCH", list[0].ID)
		}
		r := httptest.NewRequest(x.method, strings.ReplaceAll(path, "COMMIT", head), strings.NewReader(x.body))
		r.Header.Set("Content-Type", "application/json")
		actor := "nobody"
		if x.actor != nil {
			actor = x.actor.ID
			r = r.WithContext(access.WithActor(r.Context(), x.actor))
		}
		if name, v, ok := strings.Cut(x.send, ": "); ok {
			r.Header.Set(name, strings.ReplaceAll(v, "COMMIT", head))
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if route, ok := routeOf(r); ok && w.Code == http.StatusOK {
			seen[route.Operation] = true
		}
		fmt.Fprintf(&got, "%s: %s %s\n", actor, x.method, x.path)
		if x.send != "" {
			fmt.Fprintf(&got, "%s\n", x.send)
		}
		if x.body != "" {
			fmt.Fprintf(&got, "%s\n", strings.Join(strings.Fields(x.body), " "))
		}
		fmt.Fprintf(&got, "%d\n", w.Code)
		_ = w.Result().Header.Write(&got) // sorted by name; a Builder accepts everything
		fmt.Fprintf(&got, "%s\n\n", strings.TrimSpace(w.Body.String()))
	}
	for _, r := range own() {
		if !seen[r.Operation] && !strings.HasSuffix(r.Operation, "_upload") && r.Operation != "infer_import" && r.Operation != "get_blob" && r.Operation != "read_audit" && r.Operation != "audit_summary" && r.Operation != "verify" && r.Operation != "query_propose" && r.Operation != "list_proposed_queries" && r.Operation != "get_openapi" && r.Operation != "get_graph_openapi" { // other tests cover these
			t.Errorf("no success of %s is shown; add a request to the table of this test", r.Operation)
		}
	}
	text := strings.ReplaceAll(got.String(), "\r\n", "\n")
	for _, v := range varying {
		text = v.pattern.ReplaceAllString(text, v.instead)
	}
	golden.Check(t, "testdata/envelopes.golden", []byte(text))
}
