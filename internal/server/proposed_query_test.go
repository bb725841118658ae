package server_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/server"
	"github.com/omnigraph-go/omnigraph/internal/server/auth"
	"github.com/omnigraph-go/omnigraph/internal/slow"
)

// publishPolicy lets bot propose for people, and people review and publish. Clerk sees a part of the things. Zoe may call every stored
// query, and read nothing by herself. Deputy owns what act-bo proposes.
const publishPolicy = `version: 1
groups: { people: [act-ada, act-bo, act-deputy], bots: [bot] }
protected_branches:
  - { name: main, approvals: 1 }
owners: { act-bo: [act-deputy] }
filters:
  ones: { type: Thing, where: "$it.n = 1" }
rules:
  - id: people-work
    allow: { actors: { group: people }, actions: [read, change, protection_bypass, proposal_review, query_propose, query_publish] }
  - id: bots-help
    allow: { actors: { group: bots }, actions: [read, query_propose, query_publish], as: agent }
  - id: clerk-sees-a-part
    allow: { actors: { ids: [act-clerk] }, actions: [read], types: [Thing], rows: ones }
  - id: clerk-proposes
    allow: { actors: { ids: [act-clerk] }, actions: [query_propose] }
  - id: carl-changes
    allow: { actors: { ids: [act-carl] }, actions: [read, change, protection_bypass] }
  - id: zoe-calls
    allow: { actors: { ids: [act-zoe] }, actions: [invoke_query] }
  - id: zoe-by-query
    allow: { actors: { ids: [act-zoe] }, actions: [read], via: stored }
`

// publishers is a cluster on which people and agents propose queries.
type publishers struct {
	*fleet
	tokens *auth.Tokens
	number int // of the servers
}

func newPublishers(t *testing.T, f *fleet) *publishers {
	t.Helper()
	p := &publishers{fleet: f, tokens: &auth.Tokens{}}
	text := ""
	for name, actor := range map[string]string{
		"ada": "act-ada", "bo": "act-bo", "deputy": "act-deputy", "clerk": "act-clerk", "carl": "act-carl", "zoe": "act-zoe",
		"ada-via-bot": "{ actor: bot, on_behalf_of: act-ada }", "bo-via-bot": "{ actor: bot, on_behalf_of: act-bo }",
	} {
		text += fmt.Sprintf("%x: %s\n", sha256.Sum256([]byte("the-token-of-"+name)), actor)
	}
	f.write("tokens.yaml", text)
	if err := os.Chmod(filepath.Join(f.dir, "tokens.yaml"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := p.tokens.ReadFile(filepath.Join(f.dir, "tokens.yaml")); err != nil {
		t.Fatal(err)
	}
	f.write("policy.yaml", publishPolicy)
	f.write("thing.pg", "node Thing {\n  slug: String @key\n  n: I64?\n}\n")
	return p
}

// serve starts a server, which stop stops.
func (p *publishers) serve() (url string, stop func()) {
	p.t.Helper()
	p.number++
	p.mustOpen(func(o *server.Options) { o.Tokens, o.Node, o.Now = p.tokens, fmt.Sprint("og-", p.number), nil })
	s := p.opened
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		p.t.Fatal(err)
	}
	ctx, end := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, ln) }()
	stop = sync.OnceFunc(func() {
		end()
		if err := <-served; err != nil {
			p.t.Error(err)
		}
		if err := s.Close(); err != nil {
			p.t.Error(err)
		}
	})
	p.t.Cleanup(stop)
	return "http://" + ln.Addr().String(), stop
}

// as returns the graph box of a server for an actor.
func (p *publishers) as(url, who string) *client.Graph {
	p.t.Helper()
	c, err := client.New(url, client.WithToken("the-token-of-"+who))
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(c.Close)
	return c.Graph("box")
}

// call runs a stored query over REST, and returns the status and the answer.
func (p *publishers) call(url, who, name, body string) (int, string) {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), "POST", url+"/graphs/box/queries/"+name, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer the-token-of-"+who)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	var b strings.Builder
	if err := json.NewDecoder(res.Body).Decode(&raw{&b}); err != nil {
		p.t.Fatal(err)
	}
	return res.StatusCode, b.String()
}

// raw keeps the JSON text that it decodes.
type raw struct{ to *strings.Builder }

func (r *raw) UnmarshalJSON(b []byte) error { r.to.Write(b); return nil }

// connect connects the official MCP client.
func (p *publishers) connect(url, who string, changed chan struct{}) *mcp.ClientSession {
	p.t.Helper()
	options := &mcp.ClientOptions{}
	if changed != nil {
		options.ToolListChangedHandler = func(_ context.Context, _ *mcp.ToolListChangedRequest) { changed <- struct{}{} }
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "0"}, options).Connect(p.t.Context(), &mcp.StreamableClientTransport{
		Endpoint: url + "/graphs/box/mcp", HTTPClient: &http.Client{Transport: bearer("the-token-of-" + who)}, DisableStandaloneSSE: changed == nil,
	}, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { session.Close() })
	return session
}

// must calls a tool and decodes its answer.
func mustCall(t *testing.T, s *mcp.ClientSession, name string, args map[string]any, into any) {
	t.Helper()
	res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if res.IsError {
		t.Fatalf("%s: %s", name, res.Content[0].(*mcp.TextContent).Text)
	}
	b, err := json.Marshal(res.StructuredContent)
	if err == nil && into != nil {
		err = json.Unmarshal(b, into)
	}
	if err != nil {
		t.Fatalf("%s: %v in %s", name, err, b)
	}
}

// lists reports whether a session lists a tool.
func lists(t *testing.T, s *mcp.ClientSession, name string) bool {
	t.Helper()
	list, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tl := range list.Tools {
		if tl.Name == name {
			return true
		}
	}
	return false
}

// bigThings is a query that an agent proposes. mine depends on its caller.
const (
	bigThings = "query big_things($least: I64 @example(1)) { match { $t: Thing $t.n >= $least } return { $t.slug as slug, $t.n as n } order { $t.slug } }"
	mine      = "query mine() { match { $t: Thing $t.slug = actor().id } return { $t.slug as slug } }"
)

// TestProposedQuery is an agent's hour: it proposes a query over MCP, a person without a part in it approves and merges, and the agent
// calls the query on three servers. Nobody gains a right by it.
func TestProposedQuery(t *testing.T) {
	slow.Test(t)
	first, bucket := newSharedFleet(t, "box")
	_ = bucket
	p := newPublishers(t, first)
	p.apply()
	var urls []string
	for i := range 3 {
		if i > 0 { // each server has a cache of its own
			other := *p.fleet
			other.dir = t.TempDir()
			for _, name := range []string{"cluster.yaml", "policy.yaml", "server.policy.yaml", "thing.pg"} {
				text, err := os.ReadFile(filepath.Join(first.dir, name))
				if err != nil {
					t.Fatal(err)
				}
				other.write(name, string(text))
			}
			p.fleet = &other
		}
		url, _ := p.serve()
		urls = append(urls, url)
	}
	ada := p.as(urls[0], "ada")
	for _, m := range []string{`insert Thing { slug: "a", n: 1 }`, `insert Thing { slug: "b", n: 2 }`, `insert Thing { slug: "act-bo", n: 1 }`} {
		if _, err := ada.Mutate(t.Context(), client.MutateBody{Query: "query m() { " + m + " }"}); err != nil {
			t.Fatal(err)
		}
	}
	changed := make(chan struct{}, 100)
	agent := p.connect(urls[0], "ada-via-bot", changed)
	if !lists(t, agent, "query_propose") || lists(t, p.connect(urls[0], "zoe", nil), "query_propose") {
		t.Error("query_propose is listed for the wrong actors")
	}
	args := map[string]any{"name": "big_things", "query": bigThings, "description": "The things with a large number.", "questions": []string{"Which things are big?"}, "why": "I ask for it every day."}
	var status struct{ ID, State, Digest string }
	mustCall(t, agent, "query_propose", args, &status)
	id := status.ID
	args["description"] = "Things with at least a number."
	mustCall(t, agent, "query_propose", args, &status)
	if status.ID != id || status.State != "open" {
		t.Errorf("proposed again: %+v, want the proposal %s", status, id)
	}
	for name, want := range map[string]string{"graph_query": "has a query or a tool"} {
		res, err := agent.CallTool(t.Context(), &mcp.CallToolParams{Name: "query_propose", Arguments: map[string]any{"name": name, "query": strings.Replace(bigThings, "big_things", name, 1), "description": "d", "why": "w"}})
		if err != nil || !res.IsError || !strings.Contains(res.Content[0].(*mcp.TextContent).Text, want) {
			t.Errorf("proposing %s: %v %v", name, res, err)
		}
	}
	var shown struct{ Proposal client.ProposalAnswer }
	mustCall(t, agent, "proposal_get", map[string]any{"proposal": id}, &shown)
	q := shown.Proposal.Query
	if q == nil || !strings.Contains(q.Text, "@question(\"Which things are big?\")") || q.Cost <= 0 || !strings.Contains(q.Plan, "Thing") || len(q.Example.Rows) != 3 ||
		string(q.Example.Params) != `{"least":1}` || len(q.Changes) != 1 || !strings.Contains(q.Changes[0], "was added") || len(shown.Proposal.Blockers) != 1 {
		t.Errorf("the proposal is %+v with the query %+v", shown.Proposal, q)
	}
	digest := shown.Proposal.Digest

	// Who took part may neither approve nor merge it, whether alone or through others. Who may not read sees no proposal.
	for _, who := range []string{"ada", "ada-via-bot", "bo-via-bot"} {
		if _, err := p.as(urls[0], who).MergeProposal(t.Context(), id, client.ProposalMergeBody{}); err == nil || !strings.Contains(err.Error(), "proposed the query") {
			t.Errorf("%s merges: %v", who, err)
		}
	}
	for _, who := range []string{"clerk", "zoe"} {
		if _, err := p.as(urls[0], who).MergeProposal(t.Context(), id, client.ProposalMergeBody{}); err == nil || !strings.Contains(err.Error(), "proposal") {
			t.Errorf("%s merges: %v", who, err)
		}
	}
	bo := p.as(urls[0], "bo")
	if _, err := bo.MergeProposal(t.Context(), id, client.ProposalMergeBody{}); err == nil || !strings.Contains(err.Error(), "needs 1 approval") {
		t.Errorf("a merge without an approval: %v", err)
	}
	if _, err := p.as(urls[0], "ada").ReviewProposal(t.Context(), id, client.ProposalReviewBody{Decision: client.DecisionApprove, Digest: digest}); err == nil {
		t.Error("ada approves what her agent proposed")
	}
	if _, err := bo.ReviewProposal(t.Context(), id, client.ProposalReviewBody{Decision: client.DecisionApprove, Digest: digest}); err != nil {
		t.Fatal(err)
	}
	merged, err := bo.MergeProposal(t.Context(), id, client.ProposalMergeBody{Digest: digest})
	at := clock.Now()
	if err != nil || merged.State != "merged" {
		t.Fatalf("the merge: %+v, %v", merged, err)
	}
	var rows struct{ Rows [][]any }
	mustCall(t, agent, "big_things", map[string]any{"params": map[string]any{"least": 2}}, &rows)
	if len(rows.Rows) != 1 || rows.Rows[0][0] != "b" {
		t.Errorf("the agent gets %v", rows.Rows)
	}
	var took time.Duration
	for _, url := range urls {
		for deadline := at.Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
			code, answer := p.call(url, "ada", "big_things", `{"params":{"least":1}}`)
			if code == http.StatusOK {
				break
			}
			if clock.Now().After(deadline) {
				t.Fatalf("%s does not serve the query: %d %s", url, code, answer)
			}
		}
		took = max(took, clock.Now().Sub(at))
	}
	t.Logf("three servers served the query %s after the answer of the merge", took.Round(time.Millisecond))
	if took > time.Second {
		t.Errorf("it took %s until three servers served the query, want at most 1 s", took)
	}
	select {
	case <-changed:
	case <-time.After(20 * time.Second):
		t.Error("the agent did not hear that the list of tools changed")
	}

	// Each caller gets what a query of its own would get.
	for _, url := range urls {
		if code, answer := p.call(url, "clerk", "big_things", `{"params":{"least":0}}`); code != 200 || strings.Contains(answer, `"b"`) || !strings.Contains(answer, `"a"`) {
			t.Errorf("clerk: %d %s", code, answer)
		}
		if code, answer := p.call(url, "zoe", "big_things", `{"params":{"least":0}}`); code != 404 {
			t.Errorf("zoe, who may call all stored queries and read nothing herself: %d %s", code, answer)
		}
	}
	if lists(t, p.connect(urls[1], "zoe", nil), "big_things") || !lists(t, p.connect(urls[1], "clerk", nil), "big_things") {
		t.Error("big_things is listed for the wrong actors")
	}
	if list, err := p.as(urls[2], "ada").PublishedQueries(t.Context()); err != nil || len(list.Queries) != 1 || list.Queries[0].Name != "big_things" || list.Queries[0].ProposalID != id {
		t.Errorf("published: %+v, %v", list, err)
	}
	if list, err := p.as(urls[2], "zoe").PublishedQueries(t.Context()); err == nil {
		t.Errorf("zoe lists %+v", list)
	}
	if again, err := bo.MergeProposal(t.Context(), id, client.ProposalMergeBody{}); err != nil || again.State != "merged" {
		t.Errorf("the merge again: %+v, %v", again, err)
	}
}

// TestProposedQueryTexts proposes texts that a server must refuse.
func TestProposedQueryTexts(t *testing.T) {
	p := newPublishers(t, newFleet(t, "box"))
	p.apply()
	url, _ := p.serve()
	ada := p.as(url, "ada")
	body := func(name, text string) client.QueryProposalBody {
		return client.QueryProposalBody{Name: name, Query: text, Description: `What "it" says: a\b`, Questions: []string{"Which?"}, Why: "because"}
	}
	const read = "query q() { match { $t: Thing } return { $t.slug } }"
	for _, c := range []struct {
		name string
		body client.QueryProposalBody
		want string // a part of the error; "" for none
	}{
		{"a read", body("q", read), ""},
		{"with comments", body("commented", "// a query\nquery commented($n: I64?) { // the body\n match { $t: Thing $t.n = $n? } return { $t.slug } }"), ""},
		{"a comment before the body", body("q2", "query q2() // { match\n{ match { $t: Thing } return { $t.slug } }"), "has comments"},
		{"another name", body("other", read), "has the query q"},
		{"a mutation", body("m", `query m() { insert Thing { slug: "x" } }`), "only reads can be proposed"},
		{"two", body("q", read+"\n"+strings.Replace(read, "q()", "r()", 1)), "found 2 queries"},
		{"none", body("q", ""), "query"},
		{"a fault", body("q", strings.Replace(read, "Thing", "Thin", 1)), "Thing"},
		{"a check", body("q", strings.Replace(read, "{", `@must_be_empty("Nothing.") {`, 1)), "an annotation of the query"},
		{"a tool name", body("q", strings.Replace(read, "{", `@mcp(tool_name: "graph_query") {`, 1)), "an annotation of the query"},
		{"hidden", body("q", strings.Replace(read, "{", `@mcp(expose: false) {`, 1)), "an annotation of the query"},
		{"no example", body("e", "query e($n: I64) { match { $t: Thing $t.n = $n } return { $t.slug } }"), "$n has no @example"},
		{"a default", body("d", "query d($n: I64 @default(3)) { match { $t: Thing $t.n = $n } return { $t.slug } }"), ""},
		{"a list", body("l", "query l($n: [I64] @example(1) @example(2)) { match { $t: Thing $t.n in $n } return { $t.slug } }"), ""},
		{"a built-in tool", body("code_index", strings.Replace(read, "q()", "code_index()", 1)), "built-in tool"},
		{"no description", client.QueryProposalBody{Name: "q", Query: read, Why: "w"}, "description"},
		{"no reason", client.QueryProposalBody{Name: "q", Query: read, Description: "d"}, "why"},
	} {
		a, err := ada.ProposeQuery(t.Context(), c.body)
		switch {
		case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		case err == nil && (a.Query.Example.Error != "" || !strings.Contains(a.Query.Text, `@description("What \"it\" says: a\\b")`) || a.QueryName != c.body.Name):
			t.Errorf("%s: %+v %s", c.name, a.Query, a.Query.Text)
		}
	}
	if _, err := p.as(url, "zoe").ProposeQuery(t.Context(), body("q", read)); !denied(err) {
		t.Errorf("an actor without the grant proposes: %v", err)
	}
}

// TestProposedQueryLives restarts the server between the steps of a proposal, and applies the cluster afterwards.
func TestProposedQueryLives(t *testing.T) {
	slow.Test(t)
	p := newPublishers(t, newFleet(t, "box"))
	p.apply()
	url, stop := p.serve()
	restart := func() {
		t.Helper()
		stop()
		url, stop = p.serve()
	}
	for _, slug := range []string{"act-bo", "other"} {
		if _, err := p.as(url, "ada").Mutate(t.Context(), client.MutateBody{Query: `query m() { insert Thing { slug: "` + slug + `", n: 1 } }`}); err != nil {
			t.Fatal(err)
		}
	}
	text := mine
	a, err := p.as(url, "ada").ProposeQuery(t.Context(), client.QueryProposalBody{Name: "mine", Query: text, Description: "Mine.", Why: "w"})
	if err != nil {
		t.Fatal(err)
	}
	if seen, err := p.as(url, "bo").Proposal(t.Context(), a.ID); err != nil || len(a.Query.Example.Rows) != 0 || len(seen.Query.Example.Rows) != 1 {
		t.Errorf("each viewer gets an example of its own: %+v and %+v, %v", a.Query.Example, seen.Query, err)
	}
	if _, err := p.as(url, "carl").CloseProposal(t.Context(), a.ID, client.ProposalCloseBody{}); err == nil || !strings.Contains(err.Error(), "proposal_review") {
		t.Errorf("an actor who may change data closed another's query: %v", err)
	}
	restart()
	review := func(who, decision string) error {
		_, err := p.as(url, who).ReviewProposal(t.Context(), a.ID, client.ProposalReviewBody{Decision: decision, Digest: a.Digest})
		return err
	}
	merge := func(who string) error {
		_, err := p.as(url, who).MergeProposal(t.Context(), a.ID, client.ProposalMergeBody{})
		return err
	}
	if err := review("bo", client.DecisionRequest); err != nil {
		t.Fatal(err)
	}
	if err := merge("deputy"); err == nil || !strings.Contains(err.Error(), "asked for changes") {
		t.Errorf("merged although bo asked for changes: %v", err)
	}
	old := a.Digest
	if a, err = p.as(url, "ada").ProposeQuery(t.Context(), client.QueryProposalBody{Name: "mine", Query: text, Description: "My thing.", Why: "w"}); err != nil || a.Digest == old {
		t.Fatalf("changed: %v, digest %s", err, a.Digest)
	}
	if err := review("bo", client.DecisionApprove); err != nil {
		t.Fatal(err)
	}
	if err := merge("bo"); err != nil {
		t.Fatal(err)
	}
	calls := func(what string, want int) {
		t.Helper()
		for _, who := range []string{"bo", "bo-via-bot"} { // actor() is the subject
			code, answer := p.call(url, who, "mine", `{}`)
			if code != want || want == 200 && (!strings.Contains(answer, "act-bo") || strings.Contains(answer, "other")) {
				t.Errorf("%s, %s: %d %s, want %d", what, who, code, answer, want)
			}
		}
	}
	calls("merged", 200)
	restart()
	calls("after a restart", 200)
	p.write("thing.pg", "node Thing {\n  slug: String @key\n  n: I64?\n  more: String?\n}\n")
	p.apply()
	calls("after an apply", 200)
	p.write("policy.yaml", publishPolicy+"  - id: mine-for-bo\n    allow: { actors: { ids: [act-zoe] }, actions: [invoke_query], queries: [mine] }\n")
	p.apply()
	if code, answer := p.call(url, "zoe", "mine", `{}`); code != 200 {
		t.Errorf("zoe, whom the policy now lets call it: %d %s", code, answer)
	}
	calls("the policy names it, and not for bo", 404)
	p.write("policy.yaml", publishPolicy)
	p.apply()
	p.write("thing.pg", "node Thing {\n  code: String @key @rename_from(\"slug\")\n  n: I64?\n  more: String?\n}\n")
	if _, err := p.applyHere(t.Context()); err == nil || !strings.Contains(err.Error(), "gq pull") {
		t.Errorf("an apply with a schema that the query does not fit: %v", err)
	}
	p.write("thing.pg", "node Thing {\n  slug: String @key\n  n: I64?\n  more: String?\n}\n")
	omnigraph(t, nil, "cluster", "apply", "--prune", "--cluster", p.dir)
	calls("after --prune", 404)
}
