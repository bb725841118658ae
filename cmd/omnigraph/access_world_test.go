package main

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
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/internal/manual"
	"github.com/omnigraph-go/omnigraph/internal/server"
	"github.com/omnigraph-go/omnigraph/internal/server/auth"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster/reconcile"
	"github.com/omnigraph-go/omnigraph/internal/server/rest"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// The graph of the access tests. Every branch has one person that no other branch has.
const (
	accessSchema = `node Mensch {
  name: String @key
  age: I32?
  lefthand: String?
  mail: String? @unique
  photo: Blob?
  @range(age, 0..150)
}
edge Zettel: Mensch -> Mensch @card(0..2)
`
	accessQueries = `query everyone() @description("Lists the staff.") {
  match { $m: Mensch }
  return { $m.name }
  order { $m.name }
  limit 100
}
query payroll() @description("Lists the staff by mail.") {
  match { $m: Mensch }
  return { $m.mail }
  order { $m.mail }
  limit 100
}
query set_age($name: String, $age: I32) @description("Sets the age of a person.") {
  update Mensch set { age: $age } where name = $name
}
query set_mail($older: I32, $mail: String) @description("Gives a mail address to everyone of an age.") {
  update Mensch set { mail: $mail } where age > $older
}
`
)

// accessBranches lists the branches. Each has a person that no other branch has, and the author of
// its last commit.
var accessBranches = []struct{ name, person, author string }{
	{"main", "mara", "act-ulla"}, {"secret-plan", "silas", "act-vera"}, {"feature-x", "fritz", "act-wilma"},
}

// accessDraft is a draft, in the form of accessBranches. Its branch is the field `draft` of the world, and
// its author is its owner.
var accessDraft = struct{ name, person, author string }{"draft", "dora", "act-own"}

// accessWorld is a store that a server serves, and a copy of that store. Verbs open the copy as a
// folder.
type accessWorld struct {
	t      *testing.T
	url    string            // URL of the server
	policy string            // the policy file in the current folder
	heads  map[string]string // the head of each branch at the start
	draft  string            // the branch of accessDraft
	asked  string            // id of a proposal from feature-x to main
	made   int               // number of names that replaced {N} so far
	graph  accessGraph
}

// accessGraph is the graph of an accessWorld.
type accessGraph struct {
	schema, queries string
	data            string // NDJSON that every branch has, besides its person; {P} stands for the person
	serverRules     string // of the policy of the server; "" for none
	log             io.Writer
}

// newAccessWorld changes to a new folder and serves the graph people from it, under the policy in a
// file of the given name. `graph` holds further settings for the graph's entry in cluster.yaml.
func newAccessWorld(t *testing.T, policyFile, policy, graph string, actors ...string) *accessWorld {
	t.Helper()
	return newAccessWorldOf(t, accessGraph{schema: accessSchema, queries: accessQueries, log: io.Discard}, policyFile, policy, graph, actors...)
}

// newAccessWorldOf does the same with another graph.
func newAccessWorldOf(t *testing.T, g accessGraph, policyFile, policy, graph string, actors ...string) *accessWorld {
	t.Helper()
	t.Chdir(t.TempDir())
	t.Setenv("HOME", t.TempDir())
	w := &accessWorld{t: t, policy: policyFile, heads: map[string]string{}, graph: g}
	write(t, "served.pg", g.schema)
	write(t, "schema.pg", accessSchema) // which the asks send
	write(t, "people.gq", g.queries)
	write(t, policyFile, policy)
	write(t, "server.yaml", "version: 1\nrules: "+cmp.Or(g.serverRules, "[]")+"\n")
	write(t, "cluster.yaml", "version: 1\nmetadata: { name: access }\nstorage: ./data\ngraphs:\n  people: { schema: served.pg, queries: [people.gq]"+graph+" }\n"+
		"policies:\n  base: { file: "+policyFile+", applies_to: [people] }\n  server: { file: server.yaml, applies_to: [cluster] }\n"+
		"server:\n  oidc: { issuer: \"http://127.0.0.1:1\", audience: people, actor_claim: sub }\n"+ // no test fetches this issuer's keys
		"  limits: { per_actor_inflight: 128 }\n") // a session over stdio sends up to 64 calls at once
	write(t, "read.gq", "query q() { match { $m: Mensch } return { $m.name } limit 100 }\n")
	write(t, "insert.gq", "query m() { insert Mensch { name: \"zoe\" } }\n")
	write(t, "update.gq", "query m() { update Mensch set { age: 40 } where name = \"zoe\" }\n")
	write(t, "import.csv", "name\nzoe\n")
	write(t, "import.yaml", "sources: { import.csv: { node: Mensch, set: { name: name } } }\n")
	write(t, "load.ndjson", `{"type":"Mensch","data":{"name":"zoe"}}`+"\n")
	w.fill("data/people")
	if err := os.CopyFS("copy", os.DirFS("data/people")); err != nil {
		t.Fatal(err)
	}
	config, err := cluster.Read("cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	catalog, err := reconcile.CompileQueries(config, &config.Graphs[0])
	if err != nil {
		t.Fatal(err)
	}
	tokens := &auth.Tokens{}
	for _, a := range actors {
		if err := tokens.Add(tokenOf(a), a); err != nil {
			t.Fatal(err)
		}
	}
	s, err := server.Open(t.Context(), server.Options{
		Cluster: config, Catalogs: []*tool.Catalog{catalog}, Bind: "127.0.0.1:0", Tokens: tokens, Version: "test",
		Log: slog.New(slog.NewTextHandler(g.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	if err != nil {
		t.Fatal(err)
	}
	ts := httptest.NewServer(s.Handler())
	w.url = ts.URL
	t.Cleanup(func() {
		ts.Close()
		http.DefaultClient.CloseIdleConnections()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// fill creates the store.
func (w *accessWorld) fill(store string) {
	w.t.Helper()
	s, faults := gq.CompileSchema(gq.Source{Name: "served.pg", Text: w.graph.schema})
	if err := faults.Err(); err != nil {
		w.t.Fatal(err)
	}
	if err := os.MkdirAll("data", 0o755); err != nil {
		w.t.Fatal(err)
	}
	g, err := embedded.Create(w.t.Context(), fs.OS(), store, w.graph.schema, s, embedded.Options{})
	if err != nil {
		w.t.Fatal(err)
	}
	defer g.Close()
	for _, b := range accessBranches[1:] {
		if _, err := g.CreateBranch(w.t.Context(), b.name, engine.Target{}); err != nil {
			w.t.Fatal(err)
		}
	}
	d, _, err := g.OpenDraft(w.t.Context(), engine.NewDraft{Owner: accessDraft.author})
	if err != nil {
		w.t.Fatal(err)
	}
	w.draft = d.Branch()
	for _, b := range append(slices.Clone(accessBranches), accessDraft) {
		line := fmt.Sprintf(`{"type":"Mensch","data":{"name":%q,"age":30,"lefthand":"left","mail":"m@%s.test","photo":"base64:AAEC"}}`, b.person, b.person)
		r, err := g.Load(w.t.Context(), strings.NewReader(line), engine.LoadOptions{WriteOptions: engine.WriteOptions{Branch: w.named(b.name), Actor: b.author}})
		if err != nil {
			w.t.Fatal(err)
		}
		w.heads[b.name] = r.Head.ID
		if w.graph.data == "" {
			continue
		}
		data := strings.ReplaceAll(w.graph.data, "{P}", b.person)
		r, err = g.Load(w.t.Context(), strings.NewReader(data), engine.LoadOptions{Mode: engine.Append, WriteOptions: engine.WriteOptions{Branch: w.named(b.name), Actor: b.author, Message: "canary"}})
		if err != nil {
			w.t.Fatal(err)
		}
		w.heads[b.name] = r.Head.ID
	}
	p, err := g.PutProposal(w.t.Context(), engine.Proposal{Source: "feature-x", Target: "main", Title: "a title", Author: "act-wilma",
		Events: []engine.ProposalEvent{{Kind: engine.EventOpened, Actor: "act-wilma"}}})
	if err != nil {
		w.t.Fatal(err)
	}
	w.asked = p.ID
}

// named returns the branch of an entry of accessBranches, or of accessDraft.
func (w *accessWorld) named(name string) string {
	if name == accessDraft.name {
		return w.draft
	}
	return name
}

func tokenOf(actor string) string { return "the-token-of-" + actor }

// ask is one request through one transport. Exactly one group of fields is set. In the fields, {B}
// stands for a branch, {P} for the person that only this branch has, {H} for the commit that was
// the head of the branch at the start, {M} for a branch that act-all creates first, {N} for a
// name that is not in use, {R} for a proposal from feature-x to main, {W} for a watch of the actor on feature-x, and {U} for an upload of
// personsCSV for main that the actor opens first.
type ask struct {
	route string // method and pattern of a route; path is the part after the graph
	path  string
	body  string

	tool, resource, prompt, method string // names of MCP; `method` is an MCP method without a name
	args                           string // the arguments of a tool or a prompt, as JSON

	verb string   // a command's verb, such as branch list
	more []string // its flags and arguments
	tab  bool     // complete the verb's arguments instead of running it
}

// name returns the name that the coverage tests use for the ask.
func (a *ask) name() string {
	switch {
	case a.route != "":
		return a.route
	case a.tool != "":
		return "tool " + a.tool
	case a.resource != "":
		return "resource " + a.resource
	case a.prompt != "":
		return "prompt " + a.prompt
	case a.method != "":
		return "method " + a.method
	}
	return "omnigraph " + a.verb
}

// transport is a way for a request to reach a graph.
type transport string

// The transports of the access tests.
const (
	overHTTP  transport = "HTTP"             // REST, or MCP over HTTP
	overProxy transport = "the stdio proxy"  // omnigraph mcp serve --server
	overLines transport = "stdio of a store" // omnigraph mcp serve --store
	toServer  transport = "--server"         // a verb with --server
	toStore   transport = "--store"
)

// allTransports lists the transports. In short mode it leaves out toStore, which opens the store for
// every ask.
func allTransports() []transport {
	if testing.Short() {
		return []transport{overHTTP, overProxy, overLines, toServer}
	}
	return []transport{overHTTP, overProxy, overLines, toServer, toStore}
}

// transports lists the transports that an ask can use.
func (a *ask) transports() []transport {
	switch {
	case a.route != "":
		return []transport{overHTTP}
	case a.verb != "":
		return []transport{toServer, toStore}
	case strings.HasPrefix(a.tool, "stored_query_"): // only a server can be configured with these
		return []transport{overHTTP, overProxy}
	}
	return []transport{overHTTP, overProxy, overLines}
}

// said is a complete answer: the header and body of a response, or the whole output of a command.
type said struct {
	asked  string // the text that the client sent
	text   string
	status int // HTTP status, or exit code of a command
	fault  bool
}

// forBranch replaces the placeholders of an ask.
func (w *accessWorld) forBranch(a ask, branch string) ask {
	person := ""
	for _, b := range append(slices.Clone(accessBranches), accessDraft) {
		if b.name == branch {
			person = b.person
		}
	}
	head := w.heads[branch]
	branch = w.named(branch)
	w.made++
	name := fmt.Sprintf("made-%d", w.made)
	if strings.Contains(a.path+a.body+a.args+strings.Join(a.more, " "), "{M}") {
		body := fmt.Sprintf(`{"name":%q,"from":%q}`, name, branch)
		if s := w.http("act-all", "POST", "/branches", body, nil); s.fault {
			w.t.Fatalf("making a branch: %s", s.text)
		}
		if code, _, stderr := omnigraph(w.t, "", "branch", "create", name, "--from", branch, "--store", "copy", "--as", "act-all", "--policy", w.policy, "--graph", "people"); code != 0 {
			w.t.Fatal(stderr)
		}
	}
	fill := strings.NewReplacer("{B}", branch, "{+name}", branch, "{P}", person, "{H}", head, "{M}", name, "{N}", name, "{R}", w.asked).Replace
	a.path, a.body, a.args, a.resource = fill(a.path), fill(a.body), fill(a.args), fill(a.resource)
	a.more = slices.Clone(a.more)
	for i := range a.more {
		a.more[i] = fill(a.more[i])
	}
	return a
}

// personsCSV is a file to import.
const personsCSV = "name\nzoe\n"

// send sends an ask. Its placeholders must already be replaced, except {U} and {W}, which depend on the actor.
func (w *accessWorld) send(actor string, d transport, a ask) said {
	w.t.Helper()
	switch {
	case a.route != "":
		method, _, _ := strings.Cut(a.route, " ")
		header := http.Header{"Content-Type": {routeMedia(a.route)}}
		if strings.HasSuffix(a.path, "if-graph-commit") {
			header.Set("Omnigraph-If-Graph-Commit", w.heads["main"])
		}
		if a.route == "POST /graphs/{id}/uploads" {
			header.Set("Upload-Length", "3")
		}
		if strings.Contains(a.path, "{W}") {
			made := w.http(actor, "POST", "/watches", `{"query":"everyone","branch":"feature-x"}`, nil)
			_, id, ok := strings.Cut(made.text, `"watch_id":"`)
			if !ok {
				return made
			}
			id, _, _ = strings.Cut(id, `"`)
			a.path = strings.ReplaceAll(a.path, "{W}", id)
		}
		if strings.Contains(a.path, "{U}") {
			opened := w.http(actor, "POST", "/uploads", "", http.Header{"Upload-Length": {strconv.Itoa(len(personsCSV))}})
			_, id, ok := strings.Cut(opened.text, "Location: /graphs/people/uploads/")
			if !ok {
				return opened
			}
			id, _, _ = strings.Cut(id, "\r\n")
			a.path = strings.ReplaceAll(a.path, "{U}", id)
			header.Set("Upload-Offset", "0")
			if method == "POST" { // about the whole file
				w.http(actor, "PATCH", "/uploads/"+id, personsCSV, http.Header{"Upload-Offset": {"0"}, "Content-Type": {"application/offset+octet-stream"}})
			}
		}
		return w.http(actor, method, a.path, a.body, header)
	case a.verb != "":
		return w.run(actor, d, a)
	}
	if d != overHTTP {
		return w.sendAll(actor, d, []ask{a})[0]
	}
	return rpc(w.http(actor, "POST", "/mcp", a.message(1), http.Header{"Mcp-Protocol-Version": {"2025-11-25"}}))
}

// routeMedia returns the media type of the body of a route.
func routeMedia(route string) string {
	for _, r := range rest.Routes() {
		if r.Method+" "+r.Path == route {
			return r.BodyMedia
		}
	}
	return ""
}

// sendAll sends asks through one transport. If that is standard input and output, it sends all of
// them in one session.
func (w *accessWorld) sendAll(actor string, d transport, asks []ask) []said {
	w.t.Helper()
	all := make([]said, len(asks))
	if d != overProxy && d != overLines {
		for i, a := range asks {
			all[i] = w.send(actor, d, a)
		}
		return all
	}
	in := initialize
	for i := range asks {
		all[i].asked = asks[i].message(i + 1)
		in += all[i].asked + "\n"
	}
	session := w.run(actor, d, ask{verb: "mcp serve", body: in})
	for line := range strings.Lines(session.text) {
		var answer struct{ ID int }
		if err := json.Unmarshal([]byte(line), &answer); err != nil {
			w.t.Fatalf("%s of %s: %v in %s", d, actor, err, line)
		}
		if answer.ID > 0 {
			all[answer.ID-1] = rpc(said{asked: all[answer.ID-1].asked, text: line})
		}
	}
	for _, s := range all {
		if s.text == "" {
			w.t.Fatalf("%s of %s does not answer %s: %s", d, actor, s.asked, session.text)
		}
	}
	return all
}

// message returns the JSON-RPC request for an ask over MCP.
func (a *ask) message(id int) string {
	method, params := a.method, "{}"
	args := a.args
	if args == "" {
		args = "{}"
	}
	switch {
	case a.tool != "":
		method, params = "tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, a.tool, args)
	case a.resource != "":
		method, params = "resources/read", fmt.Sprintf(`{"uri":%q}`, a.resource)
	case a.prompt != "":
		method, params = "prompts/get", fmt.Sprintf(`{"name":%q,"arguments":%s}`, a.prompt, args)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params)
}

// rpc sets `fault` if the answer is an error.
func rpc(s said) said {
	s.fault = strings.Contains(s.text, `"isError":true`) || strings.Contains(s.text, `"error":{`)
	return s
}

// http sends a request to the server. The path is relative to the graph unless it begins with two
// slashes.
func (w *accessWorld) http(actor, method, path, body string, header http.Header) said {
	w.t.Helper()
	if p, whole := strings.CutPrefix(path, "//"); whole {
		path = "/" + p
	} else {
		path = "/graphs/people" + path
	}
	r, err := http.NewRequestWithContext(w.t.Context(), method, w.url+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	maps.Copy(r.Header, header)
	r.Header.Set("Authorization", "Bearer "+tokenOf(actor))
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	resp.Header.Del("X-Request-Id") // random letters can spell the name of a person
	var head bytes.Buffer
	_ = resp.Header.Write(&head) // a Buffer never fails
	return said{path + body + r.Header.Get("Omnigraph-If-Graph-Commit"), head.String() + string(b), resp.StatusCode, resp.StatusCode >= 400}
}

// run runs a verb in this process.
func (w *accessWorld) run(actor string, d transport, a ask) said {
	w.t.Helper()
	args := strings.Fields(a.verb)
	if a.tab {
		args = slices.Concat([]string{"__complete"}, args)
	}
	if d == toServer || d == overProxy {
		w.t.Setenv(tokenVar, tokenOf(actor))
		args = append(args, "--server", w.url, "--graph", "people")
	} else {
		args = append(args, "--store", "copy", "--graph", "people", "--as", actor, "--policy", w.policy)
	}
	args = append(args, a.more...)
	code, stdout, stderr := omnigraph(w.t, a.body, args...)
	return said{strings.Join(a.more, " ") + a.body, stdout + stderr, code, code != 0}
}

// everything lists all routes, tools, resources, prompts and verbs.
func (w *accessWorld) everything() map[string]bool {
	w.t.Helper()
	all := map[string]bool{}
	for _, r := range rest.Routes() {
		all[r.Method+" "+r.Path] = true
	}
	for list, member := range map[string][2]string{"tools/list": {"tools", "name"}, "resources/list": {"resources", "uri"}, "resources/templates/list": {"resourceTemplates", "uriTemplate"}, "prompts/list": {"prompts", "name"}} {
		// A store has tools that a server does not have.
		for _, d := range []transport{overHTTP, overLines} {
			var answer struct{ Result map[string]json.RawMessage }
			text := w.send("act-all", d, ask{method: list}).text
			text = text[strings.LastIndex(text, `{"jsonrpc"`):]
			if err := json.Unmarshal([]byte(text), &answer); err != nil {
				w.t.Fatalf("%s: %v in %s", list, err, text)
			}
			var entries []map[string]any
			if err := json.Unmarshal(answer.Result[member[0]], &entries); err != nil {
				w.t.Fatalf("%s: %v in %s", list, err, text)
			}
			for _, e := range entries {
				kind, _, _ := strings.Cut(list, "s/")
				all[kind+" "+e[member[1]].(string)] = true
			}
		}
	}
	for cmd := range manual.Verbs(newRoot()) {
		all[cmd.CommandPath()] = true
	}
	return all
}
