package server_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/server"
	"github.com/omnigraph-go/omnigraph/internal/server/auth"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// sourcePolicy gives two feeds a source each. act-admin may load in the name of every source but one.
const sourcePolicy = `version: 1
groups: { feeds: [act-crm, act-erp, act-db] }
rules:
  - id: feeds-change
    allow: { actors: { group: feeds }, actions: [read, change] }
  - id: crm-is-its-own
    allow: { actors: { ids: [act-crm] }, actions: [load_source], sources: [crm] }
  - id: erp-is-its-own
    allow: { actors: { ids: [act-erp] }, actions: [load_source], sources: [erp] }
  - id: db-is-its-own
    allow: { actors: { ids: [act-db] }, actions: [load_source], sources: [slot.7] }
  - id: admin
    allow: { actors: { ids: [act-admin] }, actions: [read, change, load_source, policy_read] }
  - id: but-not-hr
    deny: { actors: any, actions: [load_source], sources: [hr] }
`

// unsourcedPolicy names load_source in no rule.
const unsourcedPolicy = `version: 1
rules:
  - id: feeds-change
    allow: { actors: { ids: [act-crm] }, actions: [read, change] }
`

// newSources serves the graph people under a policy.
func newSources(t *testing.T, policy string) *matrix {
	t.Helper()
	dir := t.TempDir()
	config := openPeople(t, dir, "")
	if err := os.WriteFile(filepath.Join(dir, "policy.yaml"), []byte(policy), 0o600); err != nil {
		t.Fatal(err)
	}
	tokens := &auth.Tokens{}
	for _, a := range []string{"act-crm", "act-erp", "act-db", "act-admin"} {
		if err := tokens.Add("the-token-of-"+a, a); err != nil {
			t.Fatal(err)
		}
	}
	s, err := server.Open(t.Context(), server.Options{
		Cluster: config, Catalogs: []*tool.Catalog{servedtest.Catalog(t)}, Bind: "127.0.0.1:0", Tokens: tokens, Version: "test", Now: testClock, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	ts := httptest.NewServer(s.Handler())
	t.Cleanup(func() {
		ts.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return &matrix{t: t, url: ts.URL + "/graphs/people"}
}

// sourceDoor loads a line as an actor and returns the status, and what the answer says.
type sourceDoor func(m *matrix, actor, source, line string) (status int, body string)

// sourceDoors are the ways to load in the name of a source.
var sourceDoors = map[string]sourceDoor{
	"NDJSON": func(m *matrix, actor, source, line string) (int, string) {
		a := m.send(actor, "POST", "/load/ndjson?mode=sync&source="+source, line, http.Header{"Content-Type": {"application/x-ndjson"}})
		return a.status, a.body
	},
	"JSON": func(m *matrix, actor, source, line string) (int, string) {
		a := m.send(actor, "POST", "/load", fmt.Sprintf(`{"data":%q,"mode":"sync","source":%q}`, line, source), http.Header{})
		return a.status, a.body
	},
	"ingest": func(m *matrix, actor, source, line string) (int, string) {
		a := m.send(actor, "POST", "/ingest", fmt.Sprintf(`{"data":%q,"mode":"sync","source":%q,"branch":"main"}`, line, source), http.Header{})
		return a.status, a.body
	},
	"upload": func(m *matrix, actor, source, line string) (int, string) {
		made := m.send(actor, "POST", "/uploads", "", http.Header{"Tus-Resumable": {"1.0.0"}, "Upload-Length": {fmt.Sprint(len(line))},
			"Upload-Metadata": {"filename " + base64.StdEncoding.EncodeToString([]byte("f"))}})
		at := made.header.Get("Location")
		id := at[strings.LastIndex(at, "/")+1:]
		sent := m.send(actor, "PATCH", "/uploads/"+id, line, http.Header{"Tus-Resumable": {"1.0.0"}, "Upload-Offset": {"0"}, "Content-Type": {"application/offset+octet-stream"}})
		if made.status != http.StatusCreated || sent.status != http.StatusNoContent {
			m.t.Fatalf("the upload answers %d and %d %s", made.status, sent.status, sent.body)
		}
		a := m.send(actor, "POST", "/load/ndjson?mode=sync&source="+source+"&upload="+id, "", http.Header{"Content-Type": {"application/x-ndjson"}})
		return a.status, a.body
	},
	"dry run": func(m *matrix, actor, source, line string) (int, string) {
		a := m.send(actor, "POST", "/load/ndjson?dry_run=true&mode=sync&source="+source, line, http.Header{"Content-Type": {"application/x-ndjson"}})
		return a.status, a.body
	},
	"tool": func(m *matrix, actor, source, line string) (int, string) {
		a := m.rpc(actor, versions[1], "tools/call", "graph_load", fmt.Sprintf(`"name":"graph_load","arguments":{"data":%q,"mode":"sync","source":%q}`, line, source))
		switch {
		case strings.Contains(a.body, `"isError":true`) && strings.Contains(a.body, "does not allow"):
			return http.StatusForbidden, a.body
		case strings.Contains(a.body, `"isError":true`):
			return http.StatusBadRequest, a.body
		}
		return a.status, a.body
	},
	"followed": func(m *matrix, actor, source, line string) (int, string) {
		a := m.send(actor, "POST", "/load/ndjson?mode=patch&source="+source+"&followed="+source+"&position="+fmt.Sprint(len(line)), line, http.Header{"Content-Type": {"application/x-ndjson"}})
		return a.status, a.body
	},
	"member sources": func(m *matrix, actor, source, line string) (int, string) {
		line = strings.TrimSuffix(line, "}") + `,"sources":"+` + source + `:age"}`
		a := m.send(actor, "POST", "/load/ndjson?mode=merge", line, http.Header{"Content-Type": {"application/x-ndjson"}})
		return a.status, a.body
	},
	"member sources, slowly": func(m *matrix, actor, source, line string) (int, string) {
		line = `{"sources":"+` + source + `:age",` + strings.TrimPrefix(line, "{")
		a := m.send(actor, "POST", "/load/ndjson?mode=merge", line, http.Header{"Content-Type": {"application/x-ndjson"}})
		return a.status, a.body
	},
}

// TestLoadSource loads in the name of sources through every door. A feed that may load one source is refused for another, and the
// refused load changes nothing.
func TestLoadSource(t *testing.T) {
	m, unsourced := newSources(t, sourcePolicy), newSources(t, unsourcedPolicy)
	head := func(m *matrix) string {
		var list struct {
			Commits []struct {
				ID string `json:"graph_commit_id"`
			}
		}
		if a := m.send("act-crm", "GET", "/commits?limit=1", "", http.Header{}); json.Unmarshal([]byte(a.body), &list) != nil || len(list.Commits) != 1 || list.Commits[0].ID == "" {
			t.Fatalf("GET /commits: %d %s", a.status, a.body)
		}
		return list.Commits[0].ID
	}
	n := 0
	for name, door := range sourceDoors {
		for _, tt := range []struct {
			actor, source string
			refused       bool
		}{
			{"act-crm", "crm", false}, {"act-crm", "erp", true}, {"act-erp", "erp", false}, {"act-erp", "crm", true},
			{"act-admin", "crm2", false}, {"act-admin", "hr", true}, {"act-db", "slot", true},
		} {
			n++
			line := fmt.Sprintf(`{"type":"Person","data":{"name":"p%d","age":%d}}`, n, n)
			before := head(m)
			status, body := door(m, tt.actor, tt.source, line)
			switch after := head(m); {
			case tt.refused && (status != http.StatusForbidden || !strings.Contains(body, "the policy does not allow load_source for the source "+tt.source)):
				t.Errorf("%s: %s loads %s: %d %s", name, tt.actor, tt.source, status, body)
			case tt.refused && after != before:
				t.Errorf("%s: %s loads %s, is refused, and changes the graph", name, tt.actor, tt.source)
			case !tt.refused && status != http.StatusOK:
				t.Errorf("%s: %s loads %s: %d %s", name, tt.actor, tt.source, status, body)
			case !tt.refused && name != "dry run" && after == before:
				t.Errorf("%s: %s loads %s, and nothing changes: %s", name, tt.actor, tt.source, body)
			}
		}
		n++
		if status, body := door(unsourced, "act-crm", "erp", fmt.Sprintf(`{"type":"Person","data":{"name":"p%d","age":%d}}`, n, n)); status != http.StatusOK {
			t.Errorf("%s: without a rule that names the action: %d %s", name, status, body)
		}
	}
}

// TestDroppedSource loads lines whose member sources leaves out the source of an entity. They take its claim away, so they need the right to it.
func TestDroppedSource(t *testing.T) {
	m := newSources(t, sourcePolicy)
	if status, body := sourceDoors["NDJSON"](m, "act-crm", "crm", `{"type":"Person","data":{"name":"p","age":1}}`); status != http.StatusOK {
		t.Fatal(status, body)
	}
	n := 1
	for _, tt := range []struct {
		actor, mode, sources string
		refused              bool
	}{
		{"act-erp", "merge", "+", true}, {"act-erp", "merge", "+erp:age", true}, {"act-erp", "patch", "erp:age", true},
		{"act-crm", "merge", "+crm:age", false}, {"act-crm", "merge", "+", false}, {"act-erp", "merge", "+erp:age", false}, {"act-admin", "merge", "+crm:age", false},
	} {
		n++
		a := m.send(tt.actor, "POST", "/load/ndjson?mode="+tt.mode, fmt.Sprintf(`{"type":"Person","sources":%q,"data":{"name":"p","age":%d}}`, tt.sources, n), http.Header{"Content-Type": {"application/x-ndjson"}})
		if want := map[bool]int{true: http.StatusForbidden, false: http.StatusOK}[tt.refused]; a.status != want {
			t.Errorf("%s loads with the sources %s in the mode %s: %d %s", tt.actor, tt.sources, tt.mode, a.status, a.body)
		}
	}
}

// TestFollowedPosition moves the position of a database. It belongs to the source that claims its entities by default.
func TestFollowedPosition(t *testing.T) {
	m := newSources(t, sourcePolicy)
	load := func(actor, query string) (int, string) {
		a := m.send(actor, "POST", "/load/ndjson?"+query, `{"type":"Person","data":{"name":"ada"}}`, http.Header{"Content-Type": {"application/x-ndjson"}})
		return a.status, a.body
	}
	for _, tt := range []struct {
		actor, query string
		want         string // the source that is refused
	}{
		{"act-db", "mode=patch&source=slot.7&followed=postgres/7/slot&position=a", ""},
		{"act-db", "mode=patch&followed=postgres/7/slot&after=a&position=b", ""},
		{"act-crm", "mode=patch&source=crm&followed=postgres/7/slot&after=b&position=c", "slot.7"},
		{"act-crm", "mode=merge&followed=postgres/7/slot&after=b&position=c", "slot.7"},
		{"act-db", "mode=sync&source=crm&followed=postgres/7/slot&after=b&position=c", "crm"},
		{"act-admin", "mode=patch&source=crm&followed=postgres/7/slot&after=b&position=c", ""},
	} {
		status, body := load(tt.actor, tt.query)
		if tt.want == "" && status != http.StatusOK || tt.want != "" && (status != http.StatusForbidden || !strings.Contains(body, "for the source "+tt.want)) {
			t.Errorf("%s %s: %d %s", tt.actor, tt.query, status, body)
		}
	}
}

// TestSourcesExplained asks which sources an actor may load.
func TestSourcesExplained(t *testing.T) {
	m := newSources(t, sourcePolicy)
	a := m.send("act-admin", "GET", "/access?actor=act-crm", "", http.Header{}).body
	for _, want := range []string{
		`{"action":"load_source","source":"crm","allowed":true,"rules":[{"id":"crm-is-its-own"`,
		`{"action":"load_source","source":"erp","allowed":false,"rules":[]`,
		`{"action":"load_source","source":"hr","allowed":false,"rules":[{"id":"but-not-hr"`,
		`{"action":"load_source","allowed":false,"rules":[]`,
	} {
		if !strings.Contains(a, want) {
			t.Errorf("GET /access lacks %s:\n%s", want, a)
		}
	}
}
