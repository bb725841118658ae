package main

import (
	"net/http"
	"strings"
	"testing"
)

const writeOnlyPolicy = `version: 1
rules:
  - id: setup
    allow: { actors: { ids: [act-all] }, actions: [read, change, invoke_query, branch_create] }
  - id: both
    allow: { actors: { ids: [act-both] }, actions: [read, change, schema_apply] }
  - id: writer
    allow: { actors: { ids: [act-writer] }, actions: [change, schema_apply] }
  - id: their-queries
    allow: { actors: { ids: [act-both, act-writer] }, actions: [invoke_query], queries: [set_age, set_mail] }
`

// withholding is a decision about which data the answer to a write shows. `writer` is the answer to
// an actor that may change main but not read it; `both` is the answer to an actor that may do both.
// docs/policy.md lists the same decisions.
type withholding struct {
	name   string
	rest   ask
	header string // header of the REST request
	tool   ask

	writer, both outcome
}

// outcome describes an answer.
type outcome struct {
	status int      // status over REST; over MCP every status except 200 is an error
	has    []string // texts in the answer; {H} stands for the head of main
	lacks  []string
}

const denied = "the policy does not allow read on branch main"

var withholdings = []withholding{
	{name: "counts of an insert, which are the caller's own",
		rest:   ask{route: "POST /graphs/{id}/mutate", path: "/mutate", body: `{"query":"query m() { insert Mensch { name: \"mara\" mail: \"m@mara.test\" age: 30 } }"}`},
		tool:   ask{tool: "graph_mutate", args: `{"query":"query m() { insert Mensch { name: \"mara\" mail: \"m@mara.test\" age: 30 } }"}`},
		writer: outcome{200, []string{`"affected_nodes":1`}, []string{"{H}"}}, both: outcome{200, []string{`"affected_nodes":1`}, nil}},
	{name: "an update that selects",
		rest:   ask{route: "POST /graphs/{id}/mutate", path: "/mutate", body: `{"query":"query m() { update Mensch set { lefthand: \"x\" } where age > 20 }"}`},
		tool:   ask{tool: "graph_mutate", args: `{"query":"query m() { update Mensch set { lefthand: \"x\" } where age > 20 }"}`},
		writer: outcome{403, []string{denied}, []string{"affected"}}, both: outcome{200, []string{`"affected_nodes":2`}, nil}},
	{name: "a delete that selects",
		rest:   ask{route: "POST /graphs/{id}/mutate", path: "/mutate", body: `{"query":"query m() { delete Mensch where age > 130 }"}`},
		tool:   ask{tool: "graph_mutate", args: `{"query":"query m() { delete Mensch where age > 130 }"}`},
		writer: outcome{403, []string{denied}, []string{"affected"}}, both: outcome{200, []string{`"affected_nodes":0`}, nil}},
	{name: "an insert for each match",
		rest:   ask{route: "POST /graphs/{id}/mutate", path: "/mutate", body: `{"query":"query m() { match { $p: Mensch $p.age > 130 } { insert Mensch { name: $p.name } } }"}`},
		tool:   ask{tool: "graph_mutate", args: `{"query":"query m() { match { $p: Mensch $p.age > 130 } { insert Mensch { name: $p.name } } }"}`},
		writer: outcome{403, []string{denied}, []string{"affected"}}, both: outcome{200, []string{`"affected_nodes":0`}, nil}},
	{name: "an upsert that returns what it keeps",
		rest:   ask{route: "POST /graphs/{id}/mutate", path: "/mutate", body: `{"query":"query m() { $p = upsert Mensch { name: \"otto\" } return { $p.age as age } }"}`},
		tool:   ask{tool: "graph_mutate", args: `{"query":"query m() { $p = upsert Mensch { name: \"otto\" } return { $p.age as age } }"}`},
		writer: outcome{403, []string{denied}, []string{"affected", "rows"}}, both: outcome{200, []string{`"rows":[`}, nil}},
	{name: "a dry run of an insert",
		rest:   ask{route: "POST /graphs/{id}/mutate", path: "/mutate", body: `{"query":"query m() { insert Mensch { name: \"mara\" } }","dry_run":true}`},
		tool:   ask{tool: "graph_mutate", args: `{"query":"query m() { insert Mensch { name: \"mara\" } }","dry_run":true}`},
		writer: outcome{403, []string{denied}, nil}, both: outcome{200, []string{`"dry_run":true`}, nil}},
	{name: "counts of a load, which are those of its input",
		rest:   ask{route: "POST /graphs/{id}/load", path: "/load", body: `{"data":"{\"type\":\"Mensch\",\"data\":{\"name\":\"{N}\"}}"}`},
		tool:   ask{tool: "graph_load", args: `{"data":"{\"type\":\"Mensch\",\"data\":{\"name\":\"{N}\"}}","mode":"merge"}`},
		writer: outcome{200, []string{`"total_entities":1`}, []string{"{H}"}}, both: outcome{200, []string{`"total_entities":1`}, nil}},
	{name: "a dry run of a load",
		rest:   ask{route: "POST /graphs/{id}/load/ndjson", path: "/load/ndjson?dry_run=true", body: `{"type":"Mensch","data":{"name":"mara"}}`},
		tool:   ask{tool: "graph_load", args: `{"data":"{\"type\":\"Mensch\",\"data\":{\"name\":\"mara\"}}","mode":"merge","dry_run":true}`},
		writer: outcome{403, []string{denied}, nil}, both: outcome{200, []string{`"dry_run":true`}, nil}},
	{name: "counts of a stored mutation, which are its contract",
		rest:   ask{route: "POST /graphs/{id}/queries/{name}", path: "/queries/set_age", body: `{"params":{"name":"otto","age":33}}`},
		tool:   ask{tool: "set_age", args: `{"params":{"name":"otto","age":33}}`},
		writer: outcome{200, []string{`"affected_nodes":1`}, []string{"{H}"}}, both: outcome{200, []string{`"affected_nodes":1`}, nil}},
	{name: "a dry run of a stored mutation, which says what the call would",
		rest:   ask{route: "POST /graphs/{id}/queries/{name}", path: "/queries/set_age", body: `{"params":{"name":"otto","age":34},"dry_run":true}`},
		tool:   ask{tool: "set_age", args: `{"params":{"name":"otto","age":34},"dry_run":true}`},
		writer: outcome{200, []string{`"affected_nodes":1`, `"dry_run":true`}, []string{"{H}"}}, both: outcome{200, []string{`"affected_nodes":1`}, nil}},
	{name: "the head after a write that changed nothing",
		rest:   ask{route: "POST /graphs/{id}/queries/{name}", path: "/queries/set_age", body: `{"params":{"name":"nobody","age":34}}`},
		tool:   ask{tool: "set_age", args: `{"params":{"name":"nobody","age":34}}`},
		writer: outcome{200, []string{`"affected_nodes":0`, `"commit":null`}, []string{"{H}"}}, both: outcome{200, []string{`"commit":null`}, nil}},
	{name: "who has a unique value",
		rest:   ask{route: "POST /graphs/{id}/mutate", path: "/mutate", body: `{"query":"query m() { insert Mensch { name: \"{N}\" mail: \"o@otto.test\" } }"}`},
		tool:   ask{tool: "graph_mutate", args: `{"query":"query m() { insert Mensch { name: \"{N}\" mail: \"o@otto.test\" } }"}`},
		writer: outcome{400, []string{"mail", "(unique)", "another entity has the same values"}, []string{`"otto"`}}, both: outcome{400, []string{`"otto" already has the same values`}, nil}},
	{name: "who has a unique value, of a load",
		rest:   ask{route: "POST /graphs/{id}/load", path: "/load", body: `{"data":"{\"type\":\"Mensch\",\"data\":{\"name\":\"{N}\",\"mail\":\"o@otto.test\"}}"}`},
		tool:   ask{tool: "graph_load", args: `{"data":"{\"type\":\"Mensch\",\"data\":{\"name\":\"{N}\",\"mail\":\"o@otto.test\"}}","mode":"merge"}`},
		writer: outcome{400, []string{"line 1", "(unique)", "another entity has the same values"}, []string{`"otto"`}}, both: outcome{400, []string{`"otto" already has the same values`}, nil}},
	{name: "whom a stored update meets",
		rest:   ask{route: "POST /graphs/{id}/queries/{name}", path: "/queries/set_mail", body: `{"params":{"older":1,"mail":"same@test"}}`},
		tool:   ask{tool: "set_mail", args: `{"params":{"older":1,"mail":"same@test"}}`},
		writer: outcome{400, []string{"(unique)"}, []string{"otto", "mara"}}, both: outcome{400, []string{`already has the same values`, "mara", "otto"}, nil}},
	{name: "whose value breaks a rule of one entity",
		rest:   ask{route: "POST /graphs/{id}/queries/{name}", path: "/queries/set_age", body: `{"params":{"name":"otto","age":200}}`},
		tool:   ask{tool: "set_age", args: `{"params":{"name":"otto","age":200}}`},
		writer: outcome{400, []string{"found 200, expected at most 150 (range)"}, []string{"otto"}}, both: outcome{400, []string{`"otto", property age: found 200`}, nil}},
	{name: "how many edges a node has",
		rest:   ask{route: "POST /graphs/{id}/mutate", path: "/mutate", body: `{"query":"query m() { insert Zettel { from: \"mara\" to: \"otto\" } }"}`},
		tool:   ask{tool: "graph_mutate", args: `{"query":"query m() { insert Zettel { from: \"mara\" to: \"otto\" } }"}`},
		writer: outcome{400, []string{"too few or too many edges", "(cardinality)"}, []string{"3 edges", "mara"}}, both: outcome{400, []string{`"mara" would have 3 edges`}, nil}},
	{name: "whom an edge joins",
		rest:   ask{route: "POST /graphs/{id}/load", path: "/load", body: `{"data":"{\"type\":\"Mensch\",\"data\":{\"name\":\"{N}\"}}","mode":"overwrite"}`},
		tool:   ask{tool: "graph_load", args: `{"data":"{\"type\":\"Mensch\",\"data\":{\"name\":\"{N}\"}}","mode":"overwrite"}`},
		writer: outcome{400, []string{"Zettel", "remove a node that an edge joins", "(endpoint)"}, []string{"mara", "otto"}}, both: outcome{400, []string{"would remove node"}, nil}},
	{name: "an end that the caller names, and no near one",
		rest:   ask{route: "POST /graphs/{id}/mutate", path: "/mutate", body: `{"query":"query m() { insert Zettel { from: \"mar\" to: \"ott\" } }"}`},
		tool:   ask{tool: "graph_mutate", args: `{"query":"query m() { insert Zettel { from: \"mar\" to: \"ott\" } }"}`},
		writer: outcome{400, []string{`node Mensch "mar" does not exist`, "(endpoint)"}, []string{"mara", "otto"}}, both: outcome{400, []string{`node Mensch "mar" does not exist`}, []string{"mara", "otto"}}},
	{name: "an id that the caller sends",
		rest:   ask{route: "POST /graphs/{id}/load", path: "/load", body: `{"data":"{\"type\":\"Mensch\",\"data\":{\"name\":\"otto\"}}","mode":"append"}`},
		tool:   ask{tool: "graph_load", args: `{"data":"{\"type\":\"Mensch\",\"data\":{\"name\":\"otto\"}}","mode":"append"}`},
		writer: outcome{409, []string{`"key_conflict":{"entity_kind":"node","type_name":"Mensch","id":"otto"}`}, []string{"o@otto"}}, both: outcome{409, []string{`"id":"otto"`}, nil}},
	{name: "the head that a write does not find",
		rest:   ask{route: "POST /graphs/{id}/mutate", path: "/mutate", body: `{"query":"query m() { insert Mensch { name: \"{N}\" } }"}`},
		header: "Omnigraph-If-Graph-Commit: 01ARZ3NDEKTSV4RRFFQ69G5FAV",
		tool:   ask{tool: "graph_mutate", args: `{"query":"query m() { insert Mensch { name: \"{N}\" } }","if_commit":"01ARZ3NDEKTSV4RRFFQ69G5FAV"}`},
		writer: outcome{412, []string{`"precondition_failure":{"expected":"01ARZ3NDEKTSV4RRFFQ69G5FAV","actual":null}`, "the branch is not at commit 01ARZ3NDEKTSV4RRFFQ69G5FAV"}, []string{"{H}"}}, both: outcome{412, []string{`"actual":"{H}"`, "is at commit {H}"}, nil}},
	{name: "the head that a stored write does not find",
		rest:   ask{route: "POST /graphs/{id}/queries/{name}", path: "/queries/set_age", body: `{"params":{"name":"otto","age":35}}`},
		header: "Omnigraph-If-Graph-Commit: 01ARZ3NDEKTSV4RRFFQ69G5FAV",
		tool:   ask{tool: "set_age", args: `{"params":{"name":"otto","age":35},"if_commit":"01ARZ3NDEKTSV4RRFFQ69G5FAV"}`},
		writer: outcome{412, []string{`"actual":null`}, []string{"{H}"}}, both: outcome{412, []string{`"actual":"{H}"`}, nil}},
	{name: "near names of the schema, which a writer has to know",
		rest:   ask{route: "POST /graphs/{id}/mutate", path: "/mutate", body: `{"query":"query m() { insert Mensh { name: \"{N}\" } }"}`},
		tool:   ask{tool: "graph_mutate", args: `{"query":"query m() { insert Mensh { name: \"{N}\" } }"}`},
		writer: outcome{400, []string{"Mensch"}, []string{"mara", "otto", "payroll", "secret-plan"}}, both: outcome{400, []string{"Mensch"}, []string{"payroll"}}},
	{name: "near names of queries that are for others",
		rest:   ask{route: "POST /graphs/{id}/queries/{name}", path: "/queries/payrol", body: `{}`},
		tool:   ask{tool: "payrol", args: `{}`},
		writer: outcome{404, []string{"payrol"}, []string{"payroll"}}, both: outcome{404, []string{"payrol"}, []string{"payroll"}}},
	{name: "a dry run of a schema",
		rest:   ask{route: "POST /graphs/{id}/schema/apply", path: "/schema/apply", body: `{"schema_source":"` + allPG + `","dry_run":true}`},
		tool:   ask{tool: "schema_apply", args: `{"schema":"` + allPG + `","dry_run":true}`},
		writer: outcome{403, []string{denied}, []string{"Zettel"}}, both: outcome{409, []string{"cluster apply"}, nil}},
}

// TestWriteOnly checks each decision about the answers to writes of an actor that may not read the
// branch, over REST and over MCP.
func TestWriteOnly(t *testing.T) {
	w := newAccessWorld(t, "policy.yaml", writeOnlyPolicy, "", "act-all", "act-writer", "act-both")
	setup := `{"type":"Mensch","data":{"name":"otto","age":33,"mail":"o@otto.test"}}
{"edge":"Zettel","from":"mara","to":"otto"}
{"edge":"Zettel","from":"mara","to":"mara"}
`
	if s := w.http("act-all", "POST", "/load/ndjson?mode=append", setup, http.Header{"Content-Type": {"application/x-ndjson"}}); s.fault {
		t.Fatal(s.text)
	}
	for _, d := range withholdings {
		for actor, want := range map[string]outcome{"act-writer": d.writer, "act-both": d.both} {
			for _, over := range []struct {
				name string
				ask  ask
			}{{"REST", d.rest}, {"MCP", d.tool}} {
				fill := strings.NewReplacer("{H}", w.head()).Replace
				a := w.forBranch(over.ask, "main")
				var s said
				if over.name == "REST" {
					header := http.Header{"Content-Type": {routeMedia(a.route)}}
					if name, value, ok := strings.Cut(d.header, ": "); ok {
						header.Set(name, value)
					}
					method, _, _ := strings.Cut(a.route, " ")
					s = w.http(actor, method, a.path, a.body, header)
				} else {
					s = w.send(actor, overHTTP, a)
					if s.status = 200; s.fault {
						s.status = want.status // MCP answers have no status
					}
				}
				text := strings.ReplaceAll(s.text, `\`, "") // removes the escapes of nested quotes
				if over.name == "MCP" {                     // which has the id of a commit where REST has the commit
					text = strings.ReplaceAll(text, `"graph_commit_id":null`, `"commit":null`)
				}
				if s.status != want.status || s.fault != (want.status != 200) {
					t.Errorf("%s: %s over %s: %d, want %d\n%s", d.name, actor, over.name, s.status, want.status, s.text)
				}
				for _, has := range want.has {
					if !strings.Contains(text, fill(has)) {
						t.Errorf("%s: the answer to %s over %s does not contain %s:\n%s", d.name, actor, over.name, fill(has), s.text)
					}
				}
				for _, lacks := range want.lacks {
					if strings.Contains(text, fill(lacks)) {
						t.Errorf("%s: the answer to %s over %s contains %s:\n%s", d.name, actor, over.name, fill(lacks), s.text)
					}
				}
			}
		}
	}
}

// head returns the last commit of main.
func (w *accessWorld) head() string {
	w.t.Helper()
	s := w.http("act-all", "GET", "/snapshot", "", nil)
	_, id, _ := strings.Cut(s.text, `"graph_commit_id":"`)
	if id, _, _ = strings.Cut(id, `"`); len(id) != 26 {
		w.t.Fatal(s.text)
	}
	return id
}
