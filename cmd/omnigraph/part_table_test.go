package main

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/slow"
)

// This file tests that no route, tool, resource, prompt or verb shows an actor what the policy hides from it: TestMoves and
// TestTransportsAgree have the asks. Everything hidden in the graph has a name, an id or values with the word canary: persons with a
// level, two properties of each person, a node type and two edge types, the stored queries that name them, and the messages of commits.

const canary = "canary"

// partGraph is the graph of the access tests with hidden parts.
var partGraph = accessGraph{
	schema: strings.Replace(accessSchema, "photo: Blob?", "photo: Blob?\n  canary_level: I32?\n  canary_note: String?", 1) + `
node CanaryBox { name: String @key  word: String? }
edge CanaryHolds: Mensch -> CanaryBox
edge CanaryLink: Mensch -> Mensch
`,
	queries: accessQueries + `
query whole_persons() { match { $m: Mensch } return { $m } }
query nobody_is_old() @must_be_empty("Nobody is old.") { match { $m: Mensch $m.age > 60 } return { $m } }
query canary_levels() { match { $m: Mensch } return { $m.canary_level } }
query canary_boxes($canary: String) { match { $b: CanaryBox { word: $canary } } return { $b.name } }
query canary_write($name: String) { update Mensch set { canary_note: "x" } where name = $name }
query canary_check() @must_be_empty("No box.") { match { $b: CanaryBox } return { $b.word } }
`,
	data: `{"type":"Mensch","data":{"name":"canary-{P}","age":70,"canary_level":1,"lefthand":"canary","mail":"canary@{P}.test"}}
{"type":"CanaryBox","data":{"name":"canary-box-of-{P}","word":"canary"}}
{"edge":"Zettel","from":"{P}","to":"canary-{P}","data":{"id":"canary-edge-{P}"}}
{"edge":"CanaryHolds","from":"{P}","to":"canary-box-of-{P}"}
{"edge":"CanaryLink","from":"{P}","to":"canary-{P}"}
`,
}

const partPolicy = `version: 1
filters:
  open: { type: Mensch, where: "$it.canary_level is null" }
rules:
  - id: all
    allow: { actors: { ids: [act-all] }, actions: [read, change, export, invoke_query, branch_create, branch_delete, branch_merge, schema_apply, proposal_review, admin, policy_read, audit_read] }
  - id: a-part
    allow: { actors: { ids: [act-clerk] }, actions: [read, change, export], rows: open }
  - id: an-edge-type
    allow: { actors: { ids: [act-clerk] }, actions: [read, change, export], types: [Zettel] }
  - id: and-more
    allow: { actors: { ids: [act-clerk] }, actions: [invoke_query, branch_create, branch_delete, branch_merge, schema_apply, proposal_review, admin, audit_read] }
  - id: two-properties
    deny: { actors: { ids: [act-clerk] }, actions: [read, change, export], properties: [Mensch.canary_level, Mensch.canary_note] }
`

// lockedLog is a log that several requests write.
type lockedLog struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedLog) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.b.Reset()
}

func (l *lockedLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// partWay says how act-clerk meets a route, tool, resource, prompt, method or verb, over all asks and transports.
type partWay string

const (
	filtered partWay = "filtered" // it answers without a canary, where the answer to act-all has one
	own      partWay = "own"      // it answers
	denies   partWay = "denies"   // each ask is refused
	varies   partWay = "varies"   // some asks are answered, and others are refused
	besides  partWay = "besides"  // there are no asks; silent and apart say why
)

// partMeets has the way of everything that the tables of routes, tools and verbs have.
var partMeets = map[partWay]string{
	filtered: `
GET /graphs/{id}/checks
GET /graphs/{id}/commits
GET /graphs/{id}/commits/{commit}
GET /graphs/{id}/node/history
GET /graphs/{id}/openapi.json
GET /graphs/{id}/queries
GET /graphs/{id}/schema/types
GET /graphs/{id}/snapshot
GET /graphs/{id}/watches/{watch}/events
POST /graphs/{id}/assist
POST /graphs/{id}/change
POST /graphs/{id}/changes/baseline
POST /graphs/{id}/export
POST /graphs/{id}/mutate
POST /graphs/{id}/proposals
POST /graphs/{id}/queries/{name}
POST /graphs/{id}/query
POST /graphs/{id}/read
method resources/list
method tools/list
omnigraph commit list
omnigraph commit show
omnigraph export
omnigraph mutate
omnigraph proposal submit
omnigraph queries list
omnigraph queries run
omnigraph query
omnigraph shell
omnigraph snapshot
prompt write_filter
prompt write_query
resource omnigraph://catalog
resource omnigraph://gq-reference
resource skill://people/SKILL.md
tool commit_get
tool commit_list
tool everyone
tool graph_query
tool graph_snapshot
tool payroll
tool query_validate
tool stored_query_list
tool stored_query_run
tool type_describe
tool type_path
`,
	own: `
GET /graphs/{id}/webhooks
DELETE /graphs/{id}/branches/{branch}
DELETE /graphs/{id}/uploads/{upload}
DELETE /graphs/{id}/watches/{watch}
GET /.well-known/oauth-protected-resource
GET /.well-known/oauth-protected-resource/graphs/{id}
GET /.well-known/oauth-protected-resource/graphs/{id}/mcp
GET /actor
GET /graphs
GET /graphs/{id}/audit
GET /graphs/{id}/audit/summary
GET /graphs/{id}/blob
GET /graphs/{id}/branches
GET /graphs/{id}/growth
GET /graphs/{id}/proposals
GET /graphs/{id}/proposals/events
GET /graphs/{id}/queries/{name}
GET /graphs/{id}/uploads/{upload}
GET /graphs/{id}/watches
GET /healthz
GET /metrics
GET /openapi.json
GET /readyz
PATCH /graphs/{id}/uploads/{upload}
POST /graphs/{id}/branches
POST /graphs/{id}/cleanup
POST /graphs/{id}/explain
POST /graphs/{id}/ingest
POST /graphs/{id}/load
POST /graphs/{id}/load/ndjson
POST /graphs/{id}/mutate/if-graph-commit
POST /graphs/{id}/uploads
POST /graphs/{id}/uploads/{upload}/import
POST /graphs/{id}/uploads/{upload}/infer
POST /graphs/{id}/watches
method ping
method prompts/list
method resources/templates/list
omnigraph branch create
omnigraph branch delete
omnigraph branch list
omnigraph cleanup
omnigraph load
omnigraph proposal list
omnigraph watch create
omnigraph watch list
resource omnigraph://branches
resource omnigraph://branches/{+name}
resource omnigraph://proposals
tool branch_create
tool branch_delete
tool branch_list
tool gq_reference
tool graph_health
tool graph_load
tool proposal_submit
tool query_explain
tool set_age
tool set_mail
`,
	denies: `
GET /graphs/{id}/access
GET /graphs/{id}/changes
GET /graphs/{id}/commits/{commit}/changes
GET /graphs/{id}/compare
GET /graphs/{id}/proposals/{proposal}
GET /graphs/{id}/proposals/{proposal}/changes
GET /graphs/{id}/schema
POST /graphs/{id}/proposals/{proposal}
POST /graphs/{id}/proposals/{proposal}/close
POST /graphs/{id}/proposals/{proposal}/merge
POST /graphs/{id}/proposals/{proposal}/review
POST /graphs/{id}/queries/{name}/if-graph-commit
POST /graphs/{id}/schema/apply
POST /graphs/{id}/verify
POST /graphs/{id}/watches/{watch}/dismiss
POST /graphs/{id}/watches/{watch}/redeliver
DELETE /graphs/{id}/webhooks/{watch}
method completion/complete
method logging/setLevel
method server/discover
omnigraph check
omnigraph embed
omnigraph import
omnigraph proposal close
omnigraph proposal diff
omnigraph proposal edit
omnigraph proposal merge
omnigraph proposal resolve
omnigraph proposal review
omnigraph proposal show
omnigraph schema apply
omnigraph schema plan
omnigraph schema show
omnigraph validate
omnigraph verify
omnigraph version
resource omnigraph://schema
tool branch_merge
tool change_list
tool code_index
tool proposal_resolve
tool schema_apply
tool schema_get
`,
	varies: `
POST /graphs/{id}/branches/merge
omnigraph blob
omnigraph changes
omnigraph merge
tool graph_mutate
tool proposal_get
`,
	besides: `
GET /graphs/{id}/proposed-queries
POST /graphs/{id}/proposed-queries
POST /graphs/{id}/review-keys
DELETE /graphs/{id}/review-keys
omnigraph audit list
omnigraph audit verify
omnigraph cluster apply
omnigraph cluster history
omnigraph cluster move
omnigraph cluster plan
omnigraph cluster status
omnigraph cluster validate
omnigraph context delete
omnigraph context list
omnigraph context set
omnigraph context use
omnigraph copy
omnigraph import follow
omnigraph import infer
omnigraph index go
omnigraph index scip
omnigraph init
omnigraph login
omnigraph logout
omnigraph mcp install
omnigraph mcp serve
omnigraph policy cedar
omnigraph policy explain
omnigraph policy schema
omnigraph policy test
omnigraph policy tools
omnigraph policy validate
omnigraph proposal query
omnigraph restore
omnigraph review-key
omnigraph watch delete
omnigraph watch dismiss
omnigraph watch read
omnigraph watch redeliver
omnigraph watch webhooks
resource omnigraph://watches/{id}
tool nobody_is_old
tool whole_persons
`,
}

// partAsks returns all asks of both tables.
func partAsks() (all []ask) {
	for _, q := range questions {
		for _, a := range q.asks {
			all = append(all, a.ask)
		}
	}
	for _, m := range moves {
		all = append(all, m.ask)
	}
	return all
}

// TestPartOverAll sends all asks through every transport as an actor with rights to a part of the graph. No byte of an answer, of the log
// or of the metrics may have a canary. The same asks of act-all show that there would be one.
func TestPartOverAll(t *testing.T) {
	slow.Test(t)
	ways, known := map[string]map[partWay]bool{}, map[string]bool{}
	found := func(name string, way partWay) {
		if ways[name] == nil {
			ways[name] = map[partWay]bool{}
		}
		ways[name][way] = true
	}
	for _, graph := range []string{"", ", mcp: { meta_threshold: 1 }"} {
		t.Run("graph"+graph, func(t *testing.T) {
			log, g := &lockedLog{}, partGraph
			g.log, g.serverRules = log, "[{ id: lists, allow: { actors: { ids: [act-all, act-clerk] }, actions: [graph_list] } }]"
			w := newAccessWorldOf(t, g, "policy.yaml", partPolicy, graph, "act-all", "act-clerk")
			each := func(actor string, f func(name string, s said)) {
				for _, d := range allTransports() {
					var list, asks []ask
					for _, a := range partAsks() {
						if slices.Contains(a.transports(), d) && strings.HasPrefix(a.tool, "stored_query_") == (graph != "") {
							list, asks = append(list, a), append(asks, w.forBranch(a, "feature-x"))
						}
					}
					for i, s := range w.sendAll(actor, d, asks) {
						f(list[i].name(), s)
					}
				}
			}
			log.reset()
			each("act-clerk", func(name string, s said) {
				if s.fault {
					found(name, denies)
				} else {
					found(name, own)
				}
				if at := strings.Index(strings.ToLower(s.text), canary); at >= 0 || strings.Contains(s.text, "-32603") {
					t.Errorf("%s: %s\n%.500s", name, s.asked, s.text[max(0, at-200):])
				}
			})
			lines, metrics := log.String(), w.http("act-clerk", "GET", "//metrics", "", nil).text
			for line := range strings.Lines(lines + metrics) {
				if strings.Contains(strings.ToLower(line), canary) {
					t.Errorf("the log or the metrics have %s", line)
				}
			}
			if !strings.Contains(lines, "tool=everyone") && graph == "" || !strings.Contains(metrics, "omnigraph_") {
				t.Errorf("the log is %.300s, and the metrics are %.300s", lines, metrics)
			}
			each("act-all", func(name string, s said) {
				if !s.fault && strings.Contains(strings.ToLower(s.text), canary) {
					found(name, filtered)
				}
			})
			for name := range w.everything() {
				if _, named := strings.CutPrefix(name, "tool "); !named || !strings.Contains(name, canary) { // which no ask names
					known[name] = true
				}
			}
		})
	}
	rows := map[string]partWay{}
	for way, names := range partMeets {
		for name := range strings.Lines(names) {
			if name = strings.TrimSpace(name); name != "" {
				rows[name] = way
			}
		}
	}
	for name := range known {
		if rows[name] == "" {
			t.Errorf("%s: say in partMeets how an actor with rights to a part of the graph meets it", name)
		}
		if _, ok := ways[name]; !ok {
			found(name, besides)
		}
	}
	for name, seen := range ways {
		way := own
		switch {
		case seen[besides]:
			way = besides
		case seen[own] && seen[denies]:
			way = varies
		case seen[denies]:
			way = denies
		case seen[filtered]:
			way = filtered
		}
		if rows[name] != way && !(rows[name] == own && way == filtered) {
			t.Errorf("%s is %s, and partMeets says %s", name, way, rows[name])
		}
	}
	for name := range rows {
		if !known[name] && ways[name] == nil {
			t.Errorf("partMeets has %s, which does not exist", name)
		}
	}
}
