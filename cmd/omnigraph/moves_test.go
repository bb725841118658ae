package main

import (
	"slices"
	"strings"
	"testing"
)

// movesPolicy allows everything, except that three actors may each not read one of the branches.
const movesPolicy = `@id("all")
permit (principal, action, resource);

@id("not-main")
forbid (principal == Actor::"act-not-main", action == Action::"read", resource)
when { context.branch == "main" };

@id("not-secret-plan")
forbid (principal == Actor::"act-not-secret-plan", action == Action::"read", resource)
when { context.branch == "secret-plan" };

@id("not-feature-x")
forbid (principal == Actor::"act-not-feature-x", action == Action::"read", resource)
when { context.branch == "feature-x" };
`

// move is a request that moves or compares data of branches, commits or graphs, with the read
// permissions that it needs for that.
type move struct {
	ask
	what   string // the data that it moves or compares; "" if it shows one state or none
	reads  string // the branches that the actor must be allowed to read
	writes bool   // it can change something, so TestDoorsAgree does not send it
	// faulty is true if the answer is an error that the policy did not cause, even if everything is
	// allowed.
	faulty bool
}

const (
	insert  = `query m() { insert Mensch { name: \"zoe\" } }`
	choose  = `query m() { update Mensch set { age: 40 } where name = \"zoe\" }`
	oneLine = `{\"type\":\"Mensch\",\"data\":{\"name\":\"zoe\"}}`
	allPG   = `node Mensch { name: String @key }`
)

// moves has a row for every route, tool, resource, prompt and verb. It has several rows if the
// permissions depend on the case. {B} is feature-x.
var moves = []move{
	// Routes.
	{ask: ask{route: "GET /healthz", path: "//healthz"}},
	{ask: ask{route: "GET /readyz", path: "//readyz"}},
	{ask: ask{route: "GET /metrics", path: "//metrics"}, faulty: true},
	{ask: ask{route: "GET /.well-known/oauth-protected-resource", path: "//.well-known/oauth-protected-resource"}},
	{ask: ask{route: "GET /.well-known/oauth-protected-resource/graphs/{id}", path: "//.well-known/oauth-protected-resource/graphs/people"}},
	{ask: ask{route: "GET /.well-known/oauth-protected-resource/graphs/{id}/mcp", path: "//.well-known/oauth-protected-resource/graphs/people/mcp"}},
	{ask: ask{route: "GET /openapi.json", path: "//openapi.json"}},
	{ask: ask{route: "GET /graphs", path: "//graphs"}, faulty: true},
	{ask: ask{route: "GET /graphs/{id}/snapshot", path: "/snapshot?branch={B}"}, reads: "feature-x"},
	{ask: ask{route: "GET /graphs/{id}/snapshot", path: "/snapshot?snapshot={H}"}, what: "a past state", reads: "feature-x"},
	{ask: ask{route: "POST /graphs/{id}/query", path: "/query", body: `{"query":"` + whole + `","branch":"{B}"}`}, reads: "feature-x"},
	{ask: ask{route: "POST /graphs/{id}/query", path: "/query", body: `{"query":"` + whole + `","snapshot":"{H}"}`}, what: "a past state", reads: "feature-x"},
	{ask: ask{route: "POST /graphs/{id}/read", path: "/read", body: `{"query_source":"` + whole + `","snapshot":"{H}"}`}, what: "a past state", reads: "feature-x"},
	{ask: ask{route: "POST /graphs/{id}/mutate", path: "/mutate", body: `{"query":"` + insert + `","branch":"{B}"}`}, writes: true},
	{ask: ask{route: "POST /graphs/{id}/mutate", path: "/mutate", body: `{"query":"` + choose + `","branch":"{B}"}`}, what: "a condition with stored data", reads: "feature-x", writes: true},
	{ask: ask{route: "POST /graphs/{id}/mutate", path: "/mutate", body: `{"query":"` + insert + `","branch":"{B}","dry_run":true}`}, what: "a text with stored data", reads: "feature-x", writes: true},
	{ask: ask{route: "POST /graphs/{id}/mutate/if-graph-commit", path: "/mutate/if-graph-commit", body: `{"query":"` + insert + `"}`}, what: "a commit with the head, which only readers see", writes: true, faulty: true},
	{ask: ask{route: "POST /graphs/{id}/change", path: "/change", body: `{"query_source":"` + insert + `","branch":"{B}","dry_run":true}`}, what: "a text with stored data", reads: "feature-x", writes: true},
	{ask: ask{route: "GET /graphs/{id}/queries", path: "/queries"}, reads: "main"},
	{ask: ask{route: "POST /graphs/{id}/queries/{name}", path: "/queries/everyone", body: `{"snapshot":"{H}"}`}, what: "a past state", reads: "feature-x"},
	{ask: ask{route: "POST /graphs/{id}/queries/{name}", path: "/queries/set_age", body: `{"params":{"name":"zoe","age":3},"branch":"{B}"}`}, what: "a condition of the query's author with stored data", writes: true},
	{ask: ask{route: "POST /graphs/{id}/queries/{name}", path: "/queries/set_age", body: `{"params":{"name":"zoe","age":3},"branch":"{B}","dry_run":true}`}, what: "a condition of the query's author with stored data", writes: true},
	{ask: ask{route: "POST /graphs/{id}/queries/{name}/if-graph-commit", path: "/queries/set_age/if-graph-commit", body: `{"params":{"name":"zoe","age":3}}`}, what: "a commit with the head, which only readers see", writes: true, faulty: true},
	{ask: ask{route: "GET /graphs/{id}/schema", path: "/schema?branch={B}"}, reads: "feature-x"},
	{ask: ask{route: "GET /graphs/{id}/schema", path: "/schema?snapshot={H}"}, what: "a past state", reads: "feature-x"},
	{ask: ask{route: "POST /graphs/{id}/schema/apply", path: "/schema/apply", body: `{"schema_source":"` + allPG + `","branch":"{B}"}`}, what: "a schema with that of the branch", writes: true, faulty: true},
	{ask: ask{route: "POST /graphs/{id}/schema/apply", path: "/schema/apply", body: `{"schema_source":"` + allPG + `","branch":"{B}","dry_run":true}`}, what: "a schema with that of the branch", reads: "feature-x", writes: true, faulty: true},
	{ask: ask{route: "POST /graphs/{id}/load/ndjson", path: "/load/ndjson?branch={B}", body: `{"type":"Mensch","data":{"name":"zoe"}}`}, writes: true},
	{ask: ask{route: "POST /graphs/{id}/load/ndjson", path: "/load/ndjson?branch={B}&dry_run=true", body: `{"type":"Mensch","data":{"name":"zoe"}}`}, what: "a text with stored data", reads: "feature-x", writes: true},
	{ask: ask{route: "POST /graphs/{id}/load/ndjson", path: "/load/ndjson?branch={N}&from={B}", body: `{"type":"Mensch","data":{"name":"zoe"}}`}, what: "all of one branch to a new one", reads: "feature-x", writes: true},
	{ask: ask{route: "POST /graphs/{id}/load", path: "/load", body: `{"data":"` + oneLine + `","branch":"{N}","from":"{B}"}`}, what: "all of one branch to a new one", reads: "feature-x", writes: true},
	{ask: ask{route: "POST /graphs/{id}/load", path: "/load", body: `{"data":"` + oneLine + `","branch":"{M}","from":"secret-plan"}`}, what: "nothing: the branch is there", writes: true},
	{ask: ask{route: "POST /graphs/{id}/ingest", path: "/ingest", body: `{"data":"` + oneLine + `","branch":"{N}"}`}, what: "all of main to a new branch", reads: "main", writes: true},
	{ask: ask{route: "POST /graphs/{id}/export", path: "/export", body: `{"branch":"{B}"}`}, what: "a branch to elsewhere, which needs export"},
	{ask: ask{route: "POST /graphs/{id}/export", path: "/export", body: `{"snapshot":"{H}"}`}, what: "a past state to elsewhere, which needs export"},
	{ask: ask{route: "GET /graphs/{id}/blob", path: "/blob?entity=node&type=Mensch&id={P}&property=photo&snapshot={H}"}, what: "a past state", reads: "feature-x"},
	{ask: ask{route: "GET /graphs/{id}/branches", path: "/branches"}, what: "heads, of branches that the caller may read", reads: "main"},
	{ask: ask{route: "POST /graphs/{id}/branches", path: "/branches", body: `{"name":"{N}","from":"{B}"}`}, what: "all of one branch to a new one", reads: "feature-x", writes: true},
	{ask: ask{route: "POST /graphs/{id}/branches", path: "/branches", body: `{"name":"{N}"}`}, what: "all of main to a new branch", reads: "main", writes: true},
	{ask: ask{route: "POST /graphs/{id}/branches", path: "/branches", body: `{"name":"{N}","from_commit":"{H}"}`}, what: "a past state to a new branch", reads: "feature-x", writes: true},
	{ask: ask{route: "DELETE /graphs/{id}/branches/{branch}", path: "/branches/{M}"}, writes: true},
	{ask: ask{route: "POST /graphs/{id}/branches/merge", path: "/branches/merge", body: `{"source":"secret-plan","target":"{B}"}`}, what: "one branch with another, and to it", reads: "secret-plan feature-x", writes: true},
	{ask: ask{route: "POST /graphs/{id}/branches/merge", path: "/branches/merge", body: `{"source":"secret-plan","target":"{B}","dry_run":true}`}, what: "one branch with another", reads: "secret-plan feature-x", writes: true},
	{ask: ask{route: "POST /graphs/{id}/branches/merge", path: "/branches/merge", body: `{"source":"{B}","dry_run":true}`}, what: "one branch with main", reads: "feature-x main", writes: true, faulty: true},
	{ask: ask{route: "POST /graphs/{id}/branches/merge", path: "/branches/merge", body: `{"source":"{M}","target":"{B}","delete_branch":true}`}, what: "one branch with another, and to it", reads: "feature-x", writes: true},
	{ask: ask{route: "GET /graphs/{id}/commits", path: "/commits?branch={B}"}, what: "the history of a branch", reads: "feature-x"},
	{ask: ask{route: "GET /graphs/{id}/commits/{commit}", path: "/commits/{H}"}, reads: "feature-x"},
	{ask: ask{route: "GET /graphs/{id}/commits/{commit}", path: "/commits/{H}?branch={B}"}, reads: "feature-x"},
	{ask: ask{route: "GET /graphs/{id}/commits/{commit}/changes", path: "/commits/{H}/changes"}, what: "a commit with its parent", reads: "feature-x"},
	{ask: ask{route: "POST /graphs/{id}/verify", path: "/verify", body: `{}`}},
	{ask: ask{route: "POST /graphs/{id}/cleanup", path: "/cleanup", body: `{"keep_commits":1000,"dry_run":true}`}, writes: true},

	// Tools.
	{ask: ask{tool: "graph_health"}},
	{ask: ask{tool: "gq_reference", args: `{"branch":"{B}"}`}, reads: "feature-x"},
	{ask: ask{tool: "type_describe", args: `{"branch":"{B}"}`}, reads: "feature-x"},
	{ask: ask{tool: "type_path", args: `{"from":"Mensch","to":"Mensch","branch":"{B}"}`}, reads: "feature-x"},
	{ask: ask{tool: "schema_get", args: `{"branch":"{B}"}`}, reads: "feature-x"},
	{ask: ask{tool: "query_validate", args: `{"query":"` + whole + `","branch":"{B}"}`}, what: "a text with the schema", reads: "feature-x"},
	{ask: ask{tool: "query_explain", args: `{"query":"` + choose + `","branch":"{B}"}`}, what: "a text with stored data", reads: "feature-x"},
	{ask: ask{tool: "graph_query", args: `{"query":"` + whole + `","snapshot":"{H}"}`}, what: "a past state", reads: "feature-x"},
	{ask: ask{tool: "graph_snapshot", args: `{"branch":"{B}"}`}, reads: "feature-x"},
	{ask: ask{tool: "branch_list"}, what: "heads, of branches that the caller may read", reads: "main"},
	{ask: ask{tool: "commit_list", args: `{"branch":"{B}"}`}, what: "the history of a branch", reads: "feature-x"},
	{ask: ask{tool: "commit_get", args: `{"commit":"{H}","branch":"{B}"}`}, what: "a commit with its parent", reads: "feature-x"},
	{ask: ask{tool: "change_list", args: `{"commit":"{H}","branch":"{B}"}`}, what: "a commit with its parent", reads: "feature-x"},
	{ask: ask{tool: "graph_mutate", args: `{"query":"` + insert + `","branch":"{B}"}`}, writes: true},
	{ask: ask{tool: "graph_mutate", args: `{"query":"` + choose + `","branch":"{B}"}`}, what: "a condition with stored data", reads: "feature-x", writes: true},
	{ask: ask{tool: "graph_mutate", args: `{"query":"` + insert + `","branch":"{B}","dry_run":true}`}, what: "a text with stored data", reads: "feature-x", writes: true},
	{ask: ask{tool: "graph_mutate", args: `{"query":"` + insert + `","branch":"{B}","if_commit":"{H}"}`}, what: "a commit with the head, which only readers see", writes: true, faulty: true},
	{ask: ask{tool: "graph_load", args: `{"data":"` + oneLine + `","mode":"merge","branch":"{B}"}`}, writes: true},
	{ask: ask{tool: "graph_load", args: `{"data":"` + oneLine + `","mode":"merge","branch":"{B}","dry_run":true}`}, what: "a text with stored data", reads: "feature-x", writes: true},
	{ask: ask{tool: "graph_load", args: `{"data":"` + oneLine + `","mode":"merge","branch":"{N}","from":"{B}"}`}, what: "all of one branch to a new one", reads: "feature-x", writes: true},
	{ask: ask{tool: "graph_load", args: `{"data":"` + oneLine + `","mode":"merge","branch":"{N}","from":"{B}","dry_run":true}`}, what: "all of one branch to a new one", reads: "feature-x", writes: true},
	{ask: ask{tool: "branch_create", args: `{"name":"{N}","from":"{B}"}`}, what: "all of one branch to a new one", reads: "feature-x", writes: true},
	{ask: ask{tool: "branch_create", args: `{"name":"{N}","from":"{B}","from_commit":"{H}"}`}, what: "a past state to a new branch", reads: "feature-x", writes: true},
	{ask: ask{tool: "branch_delete", args: `{"name":"{M}"}`}, writes: true},
	{ask: ask{tool: "branch_merge", args: `{"source":"secret-plan","target":"{B}"}`}, what: "one branch with another, and to it", reads: "secret-plan feature-x", writes: true},
	{ask: ask{tool: "branch_merge", args: `{"source":"secret-plan","target":"{B}","dry_run":true}`}, what: "one branch with another", reads: "secret-plan feature-x", writes: true},
	{ask: ask{tool: "branch_merge", args: `{"source":"{B}","dry_run":true}`}, what: "one branch with main", reads: "feature-x main", writes: true, faulty: true},
	{ask: ask{tool: "schema_apply", args: `{"schema":"` + allPG + `","branch":"{M}"}`}, what: "a schema with that of the branch", writes: true, faulty: true},
	{ask: ask{tool: "schema_apply", args: `{"schema":"` + allPG + `","branch":"{B}","dry_run":true}`}, what: "a schema with that of the branch", reads: "feature-x", writes: true, faulty: true},
	{ask: ask{tool: "code_index", args: `{"dir":"nowhere","branch":"{B}"}`}, what: "source code to the graph", writes: true, faulty: true},
	{ask: ask{tool: "everyone", args: `{"snapshot":"{H}"}`}, what: "a past state", reads: "feature-x"},
	{ask: ask{tool: "payroll", args: `{"branch":"{B}"}`}, reads: "feature-x"},
	{ask: ask{tool: "set_age", args: `{"params":{"name":"zoe","age":3},"branch":"{B}"}`}, what: "a condition of the query's author with stored data", writes: true},
	{ask: ask{tool: "set_mail", args: `{"params":{"older":140,"mail":"m"},"branch":"{B}"}`}, what: "a condition of the query's author with stored data", writes: true},
	{ask: ask{tool: "stored_query_list"}},
	{ask: ask{tool: "stored_query_run", args: `{"name":"everyone","branch":"{B}"}`}, reads: "feature-x"},

	// Resources and prompts.
	{ask: ask{resource: "omnigraph://schema"}, reads: "main"},
	{ask: ask{resource: "omnigraph://branches"}, reads: "main"},
	{ask: ask{resource: "omnigraph://gq-reference"}, reads: "main"},
	{ask: ask{resource: "omnigraph://catalog"}, reads: "main"},
	{ask: ask{prompt: "write_query", args: `{"intent":"who"}`}, reads: "main"},
	{ask: ask{prompt: "write_filter", args: `{"type":"Mensch"}`}, reads: "main"},

	// Verbs, on a server and on a store.
	{ask: ask{verb: "blob", more: []string{"--type", "Mensch", "--id", "{P}", "--property", "photo", "--at", "{H}"}}, what: "a past state", reads: "feature-x"},
	{ask: ask{verb: "branch list"}, what: "heads, of branches that the caller may read", reads: "main"},
	{ask: ask{verb: "branch create", more: []string{"{N}", "--from", "{B}"}}, what: "all of one branch to a new one", reads: "feature-x", writes: true},
	{ask: ask{verb: "branch create", more: []string{"{N}", "--at", "{H}"}}, what: "a past state to a new branch", reads: "feature-x", writes: true},
	{ask: ask{verb: "branch delete", more: []string{"{M}"}}, writes: true},
	{ask: ask{verb: "changes", more: []string{"{H}"}}, what: "a commit with its parent", reads: "feature-x"},
	{ask: ask{verb: "cleanup", more: []string{"--keep", "1000", "--dry-run"}}, writes: true},
	{ask: ask{verb: "commit list", more: []string{"--branch", "{B}"}}, what: "the history of a branch", reads: "feature-x"},
	{ask: ask{verb: "commit show", more: []string{"{H}"}}, reads: "feature-x"},
	{ask: ask{verb: "export", more: []string{"--at", "{H}"}}, what: "a past state to elsewhere, which needs export"},
	{ask: ask{verb: "load", more: []string{"--data", "load.ndjson", "--branch", "{B}"}}, writes: true},
	{ask: ask{verb: "load", more: []string{"--data", "load.ndjson", "--branch", "{B}", "--dry-run"}}, what: "a text with stored data", reads: "feature-x", writes: true},
	{ask: ask{verb: "load", more: []string{"--data", "load.ndjson", "--branch", "{N}", "--from", "{B}"}}, what: "all of one branch to a new one", reads: "feature-x", writes: true},
	{ask: ask{verb: "merge", more: []string{"secret-plan", "--into", "{B}"}}, what: "one branch with another, and to it", reads: "secret-plan feature-x", writes: true},
	{ask: ask{verb: "merge", more: []string{"{B}", "--into", "main", "--dry-run"}}, what: "one branch with another", reads: "feature-x main", writes: true, faulty: true},
	{ask: ask{verb: "mutate", more: []string{"--query", "insert.gq", "--branch", "{B}"}}, writes: true},
	{ask: ask{verb: "mutate", more: []string{"--query", "update.gq", "--branch", "{B}"}}, what: "a condition with stored data", reads: "feature-x", writes: true},
	{ask: ask{verb: "mutate", more: []string{"--query", "insert.gq", "--branch", "{B}", "--dry-run"}}, what: "a text with stored data", reads: "feature-x", writes: true},
	{ask: ask{verb: "queries list"}, reads: "main"},
	{ask: ask{verb: "queries run", more: []string{"everyone", "--at", "{H}"}}, what: "a past state", reads: "feature-x"},
	{ask: ask{verb: "query", more: []string{"--query", "read.gq", "--at", "{H}"}}, what: "a past state", reads: "feature-x"},
	{ask: ask{verb: "schema show", more: []string{"--at", "{H}"}}, what: "a past state", reads: "feature-x"},
	{ask: ask{verb: "schema plan", more: []string{"--schema", "schema.pg", "--branch", "{B}"}}, what: "a schema with that of the branch", reads: "feature-x", writes: true, faulty: true},
	{ask: ask{verb: "schema apply", more: []string{"--schema", "schema.pg", "--branch", "{B}"}}, what: "a schema with that of the branch", writes: true, faulty: true},
	{ask: ask{verb: "snapshot", more: []string{"--at", "{H}"}}, what: "a past state", reads: "feature-x"},
	{ask: ask{verb: "verify"}},
}

// apart lists the verbs that check no policy. They work on the files of the user who runs them, or
// only give access to the tools above.
var apart = map[string]string{
	"omnigraph init": "makes a store", "omnigraph index go": "reads source code", "omnigraph version": "prints a page",
	"omnigraph mcp serve": "serves the tools", "omnigraph mcp install": "sets up a client",
	"omnigraph cluster validate": "reads files", "omnigraph cluster plan": "compares files with a store, as its owner", "omnigraph cluster apply": "compares files with a store, as its owner",
	"omnigraph cluster status": "compares files with a store, as its owner", "omnigraph policy validate": "reads files", "omnigraph policy test": "reads files",
	"omnigraph policy explain": "reads files", "omnigraph policy tools": "reads files", "omnigraph policy cedar": "reads files", "omnigraph policy schema": "prints a page",
}

// refused reports whether an answer is a refusal by the policy, in one of its forms.
func (s *said) refused() bool {
	return s.fault && slices.ContainsFunc([]string{"does not allow read", `" not found`, `\" not found`, "Resource not found", "unknown prompt"}, func(no string) bool { return strings.Contains(s.text, no) })
}

// TestMoves sends every request of the table as an actor that may do everything, and as three
// actors that each may not read one of the branches. An actor without a read permission of the row
// must be refused, and all other actors must not. The test fails if a route, tool, resource, prompt
// or verb has no row.
func TestMoves(t *testing.T) {
	known := map[string]bool{}
	for mode, graph := range map[string]string{"a tool for each query": "", "two tools for all": ", mcp: { meta_threshold: 1 }"} {
		t.Run(mode, func(t *testing.T) {
			w := newAccessWorld(t, "policy.cedar", movesPolicy, graph, "act-all", "act-not-main", "act-not-secret-plan", "act-not-feature-x")
			for name := range w.everything() {
				known[name] = true
			}
			for _, d := range allDoors() {
				w.moves(d, graph != "")
			}
		})
	}
	rows := map[string]bool{}
	for _, m := range moves {
		if rows[m.name()] = true; m.writes && m.reads != "" && m.what == "" {
			t.Errorf("%s %s%s writes and needs read on %s: say what it moves or compares", m.name(), m.path, m.args, m.reads)
		}
	}
	for name := range known {
		if _, exempt := apart[name]; rows[name] == exempt {
			t.Errorf("%s: in the table of moves %t, apart %t: say there what it moves or compares, and what read permissions that takes", name, rows[name], exempt)
		}
	}
	for name := range rows {
		if !known[name] {
			t.Errorf("the table of moves has %s, which is not there", name)
		}
	}
	for name := range apart {
		if !known[name] {
			t.Errorf("%s stands apart from the table of moves, and is not there", name)
		}
	}
}

// moves sends the requests of the table through a door.
func (w *accessWorld) moves(d door, meta bool) {
	w.t.Helper()
	var rows []*move
	for i := range moves {
		// Send each request that is the same in both modes in only one of them.
		if m := &moves[i]; slices.Contains(m.doors(), d) && strings.HasPrefix(m.tool, "stored_query_") == meta {
			rows = append(rows, m)
		}
	}
	for _, without := range []string{"", "main", "secret-plan", "feature-x"} {
		actor := "act-all"
		if without != "" {
			actor = "act-not-" + without
		}
		asks := make([]ask, len(rows))
		for i, m := range rows {
			asks[i] = w.forBranch(m.ask, "feature-x")
		}
		for i, s := range w.sendAll(actor, d, asks) {
			m := rows[i]
			switch want := in(m.reads, without); {
			case s.refused() != want:
				w.t.Errorf("%s over %s by %s: refused %t, want %t\n%s\n%s", m.name(), d, actor, s.refused(), want, s.asked, clipped(s.text))
			case s.fault && !want && !m.faulty:
				w.t.Errorf("%s over %s by %s: %s\n%s", m.name(), d, actor, s.asked, clipped(s.text))
			}
		}
	}
}
