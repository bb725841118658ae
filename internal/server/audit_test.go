package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/server"
)

// auditPolicy lets one actor do everything, and another read.
const auditPolicy = `version: 1
groups: {}
rules:
  - id: all
    allow: { actors: { ids: [act-dev] }, actions: [read, export, change, branch_create, invoke_query, watch_webhook, audit_read] }
  - id: reads
    allow: { actors: { ids: [act-ada] }, actions: [read] }
  - id: ada-changes-nothing
    deny: { actors: { ids: [act-ada] }, actions: [change] }
`

// audited is a server with an audit trail.
type audited struct {
	*testServer
	t *testing.T
}

// newAudited starts a server with auditPolicy.
func newAudited(t *testing.T, storage string, with ...func(*server.Options)) *audited {
	t.Helper()
	file := filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(file, []byte(auditPolicy), 0o600); err != nil {
		t.Fatal(err)
	}
	with = append(with, func(o *server.Options) { o.Cluster.Graphs[0].Policy = file })
	return &audited{serve(t, storage, with...), t}
}

// call sends a request and returns the status and the body.
func (a *audited) call(token, method, path, body string) (int, string) {
	a.t.Helper()
	req, err := http.NewRequest(method, strings.TrimSuffix(a.url, "/mcp")+path, strings.NewReader(body))
	if err != nil {
		a.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		a.t.Fatal(err)
	}
	defer res.Body.Close()
	var b strings.Builder
	buf := make([]byte, 1<<16)
	for {
		n, err := res.Body.Read(buf)
		b.Write(buf[:n])
		if err != nil {
			return res.StatusCode, b.String()
		}
	}
}

// records asks for the trail.
func (a *audited) records(query string) []client.AuditRecord {
	a.t.Helper()
	status, body := a.call(devToken, "GET", "/audit?"+query, "")
	var answer client.AuditAnswer
	if err := json.Unmarshal([]byte(body), &answer); err != nil || status != http.StatusOK {
		a.t.Fatalf("the trail: %d %s, %v", status, body, err)
	}
	return answer.Records
}

// TestAudit makes calls of each kind, and looks for their records.
func TestAudit(t *testing.T) {
	const ada = "the-token-of-act-ada"
	ts := newAudited(t, newStore(t))
	ask := func(text string) string { return fmt.Sprintf(`{"query":%q}`, text) }
	var first struct {
		Rows []struct{ ID string }
	}
	_, body := ts.call(ada, "POST", "/query", ask(`query q() { match { $p: Package } return { $p.id as id } }`))
	if err := json.Unmarshal([]byte(body), &first); err != nil || len(first.Rows) == 0 {
		t.Fatalf("%s, %v", body, err)
	}
	id := first.Rows[0].ID
	for _, tt := range []struct {
		name, token, method, path, body string
		check                           func(client.AuditRecord) bool
	}{
		{"ids of nodes", ada, "POST", "/query", ask(`query q() { match { $p: Package } return { $p.id } }`), func(r client.AuditRecord) bool {
			return r.Rows == len(first.Rows) && len(r.Entities) == r.Rows && slices.Contains(r.Entities, id) && r.GraphCommitID != nil && r.Branch == "main" && slices.Contains(r.Types, "Package") && slices.Equal(r.Rules, []string{"reads"})
		}},
		{"whole nodes", ada, "POST", "/query", ask(`query q() { match { $p: Package } return { $p } }`), func(r client.AuditRecord) bool { return slices.Contains(r.Entities, id) }},
		{"nodes in a block", ada, "POST", "/query", ask(`query q() { match { $p: Package } return { $p.name, collect { $p holds $s return { $s.id } limit 3 } as inside } }`), func(r client.AuditRecord) bool {
			return r.Outcome == "ok" && len(r.Entities) > 0 || r.Outcome == "bad_request"
		}},
		{"collected nodes", ada, "POST", "/query", ask(`query q() { match { $p: Package } return { collect($p) as all } }`), func(r client.AuditRecord) bool { return r.Rows == 1 && slices.Contains(r.Entities, id) }},
		{"an aggregate", ada, "POST", "/query", ask(`query q() { match { $p: Package } return { count($p) as n } }`), func(r client.AuditRecord) bool { return r.Rows == 1 && r.Entities == nil }},
		{"properties alone", ada, "POST", "/query", ask(`query q() { match { $p: Package } return { $p.name } }`), func(r client.AuditRecord) bool { return r.Rows > 0 && r.Entities == nil }},
		{"a fault of the text", ada, "POST", "/query", ask(`query q() {`), func(r client.AuditRecord) bool {
			return r.Outcome == "bad_request" && r.Decision == "allowed" && r.Digest != ""
		}},
		{"denied by a rule", ada, "POST", "/mutate", ask(`query m() { insert Note { slug: "n", text: "t", created: now() } }`), func(r client.AuditRecord) bool {
			return r.Outcome == "forbidden" && r.Decision == "denied" && r.DeniedAction == "change" && slices.Equal(r.Rules, []string{"ada-changes-nothing"})
		}},
		{"denied by no rule", ada, "POST", "/export", `{}`, func(r client.AuditRecord) bool {
			return r.Decision == "denied" && r.DeniedAction == "export" && r.Rules == nil && !r.Whole
		}},
		{"an export", devToken, "POST", "/export", `{}`, func(r client.AuditRecord) bool { return r.Outcome == "ok" && r.Whole }},
		{"a write", devToken, "POST", "/mutate", ask(`query m() { insert Note { slug: "n", text: "t", created: now() } }`), func(r client.AuditRecord) bool {
			return r.Outcome == "ok" && r.GraphCommitID != nil && r.Branch == "main" && slices.Equal(r.Rules, []string{"all"})
		}},
		{"the history of a node", devToken, "GET", "/node/history?type=Package&id=" + url.QueryEscape(id), "", func(r client.AuditRecord) bool { return slices.Equal(r.Entities, []string{id}) }},
		{"the trail itself", devToken, "GET", "/audit?tool=nothing", "", func(r client.AuditRecord) bool { return r.Tool == "read_audit" && r.Digest != "" }},
		{"the trail, denied", ada, "GET", "/audit", "", func(r client.AuditRecord) bool { return r.Tool == "read_audit" && r.DeniedAction == "audit_read" }},
	} {
		ts.call(tt.token, tt.method, tt.path, tt.body)
		actor := map[string]string{ada: "act-ada", devToken: "act-dev"}[tt.token]
		list := ts.records("limit=1&actor=" + actor)
		if len(list) != 1 || *list[0].ActorID != actor || list[0].RequestID == "" || !tt.check(list[0]) {
			t.Errorf("%s: the last record of %s is %+v", tt.name, actor, list)
		}
	}
	readers := map[string]bool{}
	for _, r := range ts.records("entity=" + url.QueryEscape(id)) {
		if readers[r.Tool] = true; r.Possibly != r.Whole {
			t.Errorf("%+v", r)
		}
	}
	for _, name := range []string{"query", "export", "get_node_history"} {
		if !readers[name] {
			t.Errorf("the readers of %s are %v, without %s", id, readers, name)
		}
	}
	for _, r := range ts.records("outcome=failed") {
		if r.Outcome == "ok" {
			t.Errorf("outcome=failed lists %+v", r)
		}
	}
	if last := ts.records("limit=1"); len(last) != 1 || last[0].Tool != "read_audit" {
		t.Errorf("the last call is %+v, want the list before", last)
	}
	if others := ts.records("limit=1000&except=read_audit"); len(others) == 0 || slices.ContainsFunc(others, func(r client.AuditRecord) bool { return r.Tool == "read_audit" }) {
		t.Errorf("except=read_audit lists %+v", others)
	}
	if denied := ts.records("outcome=forbidden&actor=act-ada"); len(denied) != 3 {
		t.Errorf("ada was refused %d times, want 3", len(denied))
	}
	_, body = ts.call(devToken, "GET", "/audit/summary", "")
	var sum client.AuditSummary
	if err := json.Unmarshal([]byte(body), &sum); err != nil {
		t.Fatal(err)
	}
	all, inHours := ts.records("limit=1000"), 0
	for _, h := range sum.Hours {
		inHours += h.Calls
	}
	if want := len(all) - 1; !sum.Complete || sum.All.Calls != want || inHours != want { // the list has the summary itself
		t.Errorf("the summary has %d calls, by hour %d, want %d", sum.All.Calls, inHours, want)
	}
	for _, a := range sum.Actors {
		if *a.ActorID == "act-ada" && (a.Denied != 3 || a.Failed < 4 || a.P99Micros <= 0) {
			t.Errorf("the calls of ada: %+v", a)
		}
	}
	if status, _ := ts.call(ada, "GET", "/audit/summary", ""); status != http.StatusForbidden {
		t.Errorf("ada may count the calls: %d", status)
	}
	if status, body := ts.call(devToken, "GET", "/audit?from=yesterday", ""); status != http.StatusBadRequest || !strings.Contains(body, "2026-06-01") {
		t.Errorf("%d %s", status, body)
	}
}

// TestAuditSettings starts servers without a trail and with values, and one whose trail is full.
func TestAuditSettings(t *testing.T) {
	storage := newStore(t)
	query := `{"query":"query q($name: String) { match { $p: Package { name: $name } } return { $p.id } }","params":{"name":"stock"}}`
	off := newAudited(t, storage, func(o *server.Options) { o.Cluster.Server.Audit.Off = true })
	if status, _ := off.call(devToken, "GET", "/audit", ""); status != http.StatusNotFound {
		t.Errorf("without a trail: %d, want 404", status)
	}
	if _, err := os.Stat(filepath.Join(storage, ".audit")); err == nil {
		t.Error("a server without a trail made its folder")
	}
	if err := off.stop(); err != nil {
		t.Fatal(err)
	}
	values := newAudited(t, newStore(t), func(o *server.Options) { o.Cluster.Server.Audit.Values = true })
	values.call(devToken, "POST", "/query", query)
	if r := values.records("limit=1"); !strings.Contains(string(r[0].Arguments), "stock") {
		t.Errorf("the arguments are %s", r[0].Arguments)
	}
	full := newAudited(t, newStore(t), func(o *server.Options) {
		o.Cluster.Server.Audit.Keep, o.Cluster.Server.Audit.Quota, o.Cluster.Server.Audit.Refuse = 1<<50, 100, true
	})
	full.records("") // stores the first records, which are more than the quota
	if status, body := full.call(devToken, "POST", "/query", query); status != http.StatusServiceUnavailable || !strings.Contains(full.log.String(), "the audit trail has no room") {
		t.Errorf("a call of a server whose trail is full: %d %s", status, body)
	}
	full.records("")
}
