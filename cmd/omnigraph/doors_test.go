package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// doorsPolicy has rules for eight actors. No rule names act-nothing; the test itself uses act-all.
// The policy is written in Cedar, because the two actors that may read only some of the branches
// differ in the names of those branches.
const doorsPolicy = `@id("admin")
permit (principal, action, resource)
when { [Actor::"act-admin", Actor::"act-all"].contains(principal) };

@id("reader")
permit (principal == Actor::"act-reader", action in [Action::"read", Action::"invoke_query"], resource);

@id("reader-of-one-branch")
permit (principal == Actor::"act-one", action == Action::"read", resource)
when { context.branch == "feature-x" };

@id("reader-of-all-but-one")
permit (principal == Actor::"act-most", action == Action::"read", resource)
when { context.branch != "secret-plan" };

@id("stored-queries")
permit (principal == Actor::"act-bot", action == Action::"invoke_query", resource)
when { [Query::"everyone", Query::"set_age", Query::"set_mail"].contains(resource) };

@id("and-what-they-do")
permit (principal == Actor::"act-bot", action in [Action::"read", Action::"change"], resource)
when { context.via == "stored" };

@id("writer")
permit (principal == Actor::"act-writer", action == Action::"change", resource);

@id("keeper")
permit (principal == Actor::"act-keeper", action in [Action::"branch_create", Action::"branch_delete", Action::"branch_merge"], resource);
`

var doorsActors = strings.Fields(anyone)

// Sets of actors.
const (
	exporters = "act-admin"
	readers   = "act-admin act-reader"                  // may read every branch
	invokers  = "act-admin act-reader act-bot"          // may invoke the query everyone
	ofSome    = "act-admin act-reader act-one act-most" // may read at least one branch
	anyone    = "act-admin act-reader act-one act-most act-bot act-writer act-keeper act-nothing"
)

// readersOf maps each branch to the actors that may read it.
var readersOf = map[string]string{"main": "act-admin act-reader act-most", "secret-plan": readers, "feature-x": ofSome}

func in(set, actor string) bool { return slices.Contains(strings.Fields(set), actor) }

// fact is a piece of information that an answer can reveal.
type fact struct {
	name   string
	marker string // the text that reveals it
	who    string // the actors that may know it
}

// facts lists every fact.
func (w *accessWorld) facts() []fact {
	all := []fact{
		// The contracts of the bot's queries name types.
		{"types", "Mensch", ofSome + " act-bot"}, {"edges", "Zettel", ofSome}, {"property", "lefthand", ofSome},
		{"everyone", "everyone", invokers}, {"payroll", "payroll", readers},
	}
	for _, b := range accessBranches {
		who := readersOf[b.name]
		if b.name != "main" { // every actor knows the name main
			all = append(all, fact{"name of " + b.name, b.name, who})
		}
		// The answer of a stored query shows the bot the columns and the commit that was read.
		all = append(all, fact{"author of " + b.name, b.author, who},
			fact{"head of " + b.name, w.heads[b.name], who + " act-bot"}, fact{"person of " + b.name, b.person, who + " act-bot"})
	}
	return all
}

// question is one kind of information, with the asks for it through every door that offers it. Each
// actor must get the same information through every door.
type question struct {
	name     string
	open     string   // the actors that get an answer; "" means the readers of the branch
	branched bool     // ask about every branch; otherwise only about main
	tells    []string // the facts; {B} stands for the branch
	asks     []doorAsk
}

// doorAsk is an ask of a question. If only is set, the answer has room only for those facts.
type doorAsk struct {
	ask
	only []string
}

const whole = `query q() { match { $m: Mensch } return { $m.name } limit 100 }`

// questions are sent as every actor. A route, tool or verb that is not here must be in silent, or
// must write.
var questions = []question{
	{name: "which branches there are",
		tells: []string{"name of secret-plan", "name of feature-x", "head of main", "head of secret-plan", "head of feature-x", "author of main", "author of secret-plan", "author of feature-x"},
		asks: []doorAsk{
			{ask: ask{route: "GET /graphs/{id}/branches", path: "/branches"}},
			{ask: ask{tool: "branch_list"}},
			{ask: ask{verb: "branch list", more: []string{"--format", "json"}}},
			{ask: ask{resource: "omnigraph://branches"}, only: []string{"name of secret-plan", "name of feature-x"}},
			{ask: ask{verb: "merge", tab: true, more: []string{""}}, only: []string{"name of secret-plan", "name of feature-x"}},
		}},
	{name: "the commits of a branch", branched: true, tells: []string{"head of {B}", "author of {B}"},
		asks: []doorAsk{
			{ask: ask{route: "GET /graphs/{id}/commits", path: "/commits?branch={B}"}},
			{ask: ask{tool: "commit_list", args: `{"branch":"{B}"}`}},
			{ask: ask{verb: "commit list", more: []string{"--branch", "{B}", "--format", "json"}}},
		}},
	{name: "the commits of main, to complete one", tells: []string{"head of main"},
		asks: []doorAsk{{ask: ask{verb: "changes", tab: true, more: []string{""}}}}},
	{name: "a commit", branched: true, tells: []string{"author of {B}", "name of {B}"},
		asks: []doorAsk{
			{ask: ask{route: "GET /graphs/{id}/commits/{commit}", path: "/commits/{H}"}},
			{ask: ask{route: "GET /graphs/{id}/commits/{commit}", path: "/commits/{H}?branch={B}"}},
			{ask: ask{tool: "commit_get", args: `{"commit":"{H}","branch":"{B}"}`}},
			{ask: ask{verb: "commit show", more: []string{"{H}", "--format", "json"}}},
		}},
	{name: "what a commit changed", branched: true, tells: []string{"person of {B}", "types", "property"},
		asks: []doorAsk{
			{ask: ask{route: "GET /graphs/{id}/commits/{commit}/changes", path: "/commits/{H}/changes"}},
			{ask: ask{tool: "change_list", args: `{"commit":"{H}","branch":"{B}"}`}},
			{ask: ask{verb: "changes", more: []string{"{H}", "--format", "json"}}},
		}},
	{name: "how much there is", branched: true, tells: []string{"head of {B}", "types", "edges"},
		asks: []doorAsk{
			{ask: ask{route: "GET /graphs/{id}/snapshot", path: "/snapshot?branch={B}"}},
			{ask: ask{tool: "graph_snapshot", args: `{"branch":"{B}"}`}},
			{ask: ask{verb: "snapshot", more: []string{"--branch", "{B}", "--format", "json"}}},
		}},
	{name: "how much there was", branched: true, tells: []string{"name of {B}", "types", "edges"},
		asks: []doorAsk{
			{ask: ask{route: "GET /graphs/{id}/snapshot", path: "/snapshot?snapshot={H}"}},
			{ask: ask{verb: "snapshot", more: []string{"--at", "{H}", "--format", "json"}}},
		}},
	{name: "the schema", branched: true, tells: []string{"head of {B}", "types", "edges", "property"},
		asks: []doorAsk{
			{ask: ask{route: "GET /graphs/{id}/schema", path: "/schema?branch={B}"}},
			{ask: ask{route: "GET /graphs/{id}/schema", path: "/schema?snapshot={H}"}},
			{ask: ask{tool: "schema_get", args: `{"branch":"{B}"}`}, only: []string{"types", "edges", "property"}},
			{ask: ask{tool: "type_describe", args: `{"branch":"{B}"}`}, only: []string{"types", "edges", "property"}},
			{ask: ask{tool: "type_path", args: `{"from":"Mensch","to":"Mensch","branch":"{B}"}`}, only: []string{"edges"}},
			{ask: ask{tool: "query_validate", args: `{"query":"query q() { match { $m: Mensch } return { $m } }","branch":"{B}"}`}, only: []string{"property"}},
			{ask: ask{tool: "gq_reference", args: `{"topic":"filters","branch":"{B}"}`}, only: []string{"types"}},
			{ask: ask{verb: "schema show", more: []string{"--branch", "{B}"}}, only: []string{"types", "edges", "property"}},
			{ask: ask{verb: "schema show", more: []string{"--at", "{H}"}}, only: []string{"types", "edges", "property"}},
		}},
	{name: "the schema of main", tells: []string{"types", "edges", "property"},
		asks: []doorAsk{
			{ask: ask{resource: "omnigraph://schema"}},
			{ask: ask{resource: "omnigraph://gq-reference"}},
			{ask: ask{prompt: "write_filter", args: `{"type":"Mensch"}`}, only: []string{"property"}},
			{ask: ask{verb: "export", tab: true, more: []string{"--type", ""}}, only: []string{"types", "edges"}},
		}},
	{name: "a query that the caller writes", branched: true, tells: []string{"person of {B}", "head of {B}"},
		asks: []doorAsk{
			{ask: ask{route: "POST /graphs/{id}/query", path: "/query", body: `{"query":"` + whole + `","branch":"{B}"}`}},
			{ask: ask{route: "POST /graphs/{id}/query", path: "/query", body: `{"query":"` + whole + `","snapshot":"{H}"}`}},
			{ask: ask{route: "POST /graphs/{id}/read", path: "/read", body: `{"query_source":"` + whole + `","branch":"{B}"}`}},
			{ask: ask{tool: "graph_query", args: `{"query":"` + whole + `","branch":"{B}"}`}},
			{ask: ask{tool: "graph_query", args: `{"query":"` + whole + `","snapshot":"{H}"}`}},
			{ask: ask{tool: "graph_query", args: `{"queries":[{"query":"` + whole + `","branch":"{B}"}]}`}},
			{ask: ask{verb: "query", more: []string{"--query", "read.gq", "--branch", "{B}", "--format", "json"}}},
			{ask: ask{verb: "query", more: []string{"--query", "read.gq", "--at", "{H}", "--format", "json"}}},
		}},
	{name: "how a query would be run", branched: true, tells: []string{"head of {B}"},
		asks: []doorAsk{{ask: ask{tool: "query_explain", args: `{"query":"` + whole + `","branch":"{B}","analyze":true}`}}}},
	{name: "a stored query", open: invokers, branched: true, tells: []string{"person of {B}", "head of {B}"},
		asks: []doorAsk{
			{ask: ask{route: "POST /graphs/{id}/queries/{name}", path: "/queries/everyone", body: `{"branch":"{B}"}`}},
			{ask: ask{tool: "everyone", args: `{"branch":"{B}"}`}},
			{ask: ask{tool: "stored_query_run", args: `{"name":"everyone","branch":"{B}"}`}},
			{ask: ask{verb: "queries run", more: []string{"everyone", "--branch", "{B}", "--format", "json"}}},
		}},
	{name: "a stored query that is for few", open: readers, branched: true, tells: []string{"person of {B}", "head of {B}"},
		asks: []doorAsk{
			{ask: ask{route: "POST /graphs/{id}/queries/{name}", path: "/queries/payroll", body: `{"branch":"{B}"}`}},
			{ask: ask{tool: "payroll", args: `{"branch":"{B}"}`}},
			{ask: ask{tool: "stored_query_run", args: `{"name":"payroll","branch":"{B}"}`}},
			{ask: ask{verb: "queries run", more: []string{"payroll", "--branch", "{B}", "--format", "json"}}},
		}},
	// The route's contract requires the permission read. An actor without it sees the queries that
	// it may run as tools.
	{name: "the catalog of stored queries", tells: []string{"everyone", "payroll"},
		asks: []doorAsk{
			{ask: ask{route: "GET /graphs/{id}/queries", path: "/queries"}},
			{ask: ask{resource: "omnigraph://catalog"}},
			{ask: ask{verb: "queries list", more: []string{"--format", "json"}}},
			{ask: ask{verb: "queries run", tab: true, more: []string{""}}},
			{ask: ask{tool: "type_describe", args: `{"name":"Mensch"}`}},
			{ask: ask{prompt: "write_query", args: `{"intent":"who is there"}`}},
		}},
	{name: "the tools", open: anyone, tells: []string{"everyone", "payroll"},
		asks: []doorAsk{{ask: ask{method: "tools/list"}}, {ask: ask{tool: "stored_query_list"}}}},
	{name: "an export", open: exporters, branched: true, tells: []string{"person of {B}", "head of {B}"},
		asks: []doorAsk{
			{ask: ask{route: "POST /graphs/{id}/export", path: "/export", body: `{"branch":"{B}","type_names":["Mensch"]}`}},
			{ask: ask{route: "POST /graphs/{id}/export", path: "/export", body: `{"snapshot":"{H}"}`}},
			{ask: ask{verb: "export", more: []string{"--branch", "{B}"}}, only: []string{"person of {B}"}},
			{ask: ask{verb: "export", more: []string{"--at", "{H}"}}, only: []string{"person of {B}"}},
		}},
	{name: "a blob", branched: true, tells: []string{"head of {B}"},
		asks: []doorAsk{
			{ask: ask{route: "GET /graphs/{id}/blob", path: "/blob?entity=node&type=Mensch&id={P}&property=photo&branch={B}"}},
		}},
	{name: "nothing", open: anyone,
		asks: []doorAsk{
			{ask: ask{route: "GET /healthz", path: "//healthz"}},
			{ask: ask{route: "GET /readyz", path: "//readyz"}},
			{ask: ask{route: "GET /metrics", path: "//metrics"}},
			{ask: ask{route: "GET /graphs", path: "//graphs"}},
			{ask: ask{route: "GET /openapi.json", path: "//openapi.json"}},
			{ask: ask{route: "GET /.well-known/oauth-protected-resource", path: "//.well-known/oauth-protected-resource"}},
			{ask: ask{route: "GET /.well-known/oauth-protected-resource/graphs/{id}", path: "//.well-known/oauth-protected-resource/graphs/people"}},
			{ask: ask{route: "GET /.well-known/oauth-protected-resource/graphs/{id}/mcp", path: "//.well-known/oauth-protected-resource/graphs/people/mcp"}},
			{ask: ask{route: "POST /graphs/{id}/verify", path: "/verify", body: `{}`}},
			{ask: ask{tool: "graph_health"}},
			{ask: ask{method: "ping"}},
			{ask: ask{method: "server/discover"}},
			{ask: ask{method: "resources/list"}},
			{ask: ask{method: "resources/templates/list"}},
			{ask: ask{method: "prompts/list"}},
			{ask: ask{method: "completion/complete"}},
			{ask: ask{method: "logging/setLevel"}},
			{ask: ask{verb: "verify"}},
			{ask: ask{verb: "version"}},
			{ask: ask{verb: "blob", more: []string{"--type", "Mensch", "--id", "{P}", "--property", "photo"}}},
		}},
}

// silent lists the routes, tools and verbs that give an actor of a server no information, with the
// reason. Requests that write are in the table of TestMoves.
var silent = map[string]string{
	"omnigraph init":             "makes a store",
	"omnigraph index go":         "reads source code",
	"omnigraph mcp serve":        "is the door of the stdio asks",
	"omnigraph mcp install":      "sets up a client",
	"omnigraph cluster validate": "reads the files of the operator",
	"omnigraph cluster plan":     "reads the files of the operator",
	"omnigraph cluster apply":    "reads the files of the operator",
	"omnigraph cluster status":   "reads the files of the operator",
	"omnigraph policy validate":  "reads the files of the operator",
	"omnigraph policy test":      "reads the files of the operator",
	"omnigraph policy explain":   "reads the files of the operator",
	"omnigraph policy tools":     "reads the files of the operator",
	"omnigraph policy cedar":     "reads the files of the operator",
	"omnigraph policy schema":    "prints a page",
}

// TestDoorsAgree asks every question through every door as eight actors. An answer must reveal the
// facts of its row that the actor may know, and no fact that the actor must not know.
func TestDoorsAgree(t *testing.T) {
	known := map[string]bool{}
	for mode, graph := range map[string]string{"a tool for each query": "", "two tools for all": ", mcp: { meta_threshold: 1 }"} {
		t.Run(mode, func(t *testing.T) {
			w := newAccessWorld(t, "policy.cedar", doorsPolicy, graph, append(doorsActors, "act-all")...)
			for name := range w.everything() {
				known[name] = true
			}
			facts, told := w.facts(), 0
			for _, d := range allDoors() {
				told += w.questions(d, facts, graph != "")
			}
			if graph == "" && told < 500 {
				t.Errorf("all answers tell %d facts; the questions are too poor to mean anything", told)
			}
		})
	}
	covered := map[string]bool{}
	for _, q := range questions {
		for _, a := range q.asks {
			covered[a.ask.name()] = true
		}
	}
	for _, m := range moves {
		if m.writes {
			covered[m.name()] = true
		}
	}
	for name := range known {
		if _, exempt := silent[name]; !covered[name] && !exempt {
			t.Errorf("%s is in no question, does not write by the table of moves, and is not silent: say what it tells whom", name)
		}
	}
	for name := range silent {
		if !known[name] || covered[name] {
			t.Errorf("%s is named as silent: there is one %t, it is asked %t", name, known[name], covered[name])
		}
	}
}

// asked is a question about one branch, in the form that one door needs.
type asked struct {
	*question
	ask
	branch string
	tells  []string // the facts, with placeholders replaced
}

// questions asks all questions through a door as every actor, and returns how many facts the
// answers revealed. If two tools run all stored queries, it asks only the questions about those
// tools.
func (w *accessWorld) questions(d door, facts []fact, meta bool) (told int) {
	w.t.Helper()
	var list []asked
	for i := range questions {
		q := &questions[i]
		branches := accessBranches[:1]
		if q.branched {
			branches = accessBranches
		}
		for _, b := range branches {
			for _, each := range q.asks {
				if !slices.Contains(each.doors(), d) || strings.HasPrefix(each.tool, "stored_query_") != meta {
					continue
				}
				a := asked{question: q, ask: w.forBranch(each.ask, b.name), branch: b.name}
				for _, name := range q.tells {
					if each.only == nil || slices.Contains(each.only, name) {
						a.tells = append(a.tells, strings.ReplaceAll(name, "{B}", b.name))
					}
				}
				list = append(list, a)
			}
		}
	}
	asks := make([]ask, len(list))
	for i := range list {
		asks[i] = list[i].ask
	}
	for _, actor := range doorsActors {
		for i, s := range w.sendAll(actor, d, asks) {
			told += list[i].check(w.t, d, actor, s, facts)
		}
	}
	return told
}

// check compares the facts that an answer reveals to an actor with the facts of the row. It returns
// how many facts the answer reveals.
func (a *asked) check(t *testing.T, d door, actor string, s said, facts []fact) (told int) {
	t.Helper()
	set := a.open
	if set == "" {
		set = readersOf[a.branch]
	}
	open := in(set, actor)
	for _, f := range facts {
		if strings.Contains(s.asked, f.marker) {
			continue // the caller knows this fact already
		}
		got, may := strings.Contains(s.text, f.marker), open && in(f.who, actor)
		switch want := may && slices.Contains(a.tells, f.name); {
		case got && !may, want && !got:
			t.Errorf("%s (%s) over %s: %s learns the %s: %t, want %t\n%s\n%s", a.question.name, a.ask.name(), d, actor, f.name, got, want, s.asked, clipped(s.text))
		case got:
			told++
		}
	}
	return told
}

func clipped(s string) string { return fmt.Sprintf("%.600s", s) }
