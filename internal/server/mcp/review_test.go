package mcp_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/reviewkey"
	"github.com/omnigraph-go/omnigraph/internal/server/mcp"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// reviewPolicy lets the agent read main too, which it cannot change or review.
type reviewPolicy struct{ servedtest.Policy }

func (p reviewPolicy) Allowed(a *access.Actor, g tool.Grant) bool {
	return p.Policy.Allowed(a, g) || a.ID == servedtest.Drafter.ID && g.Action == tool.Read
}

// reviewWorld is a graph with a proposal of an agent that may do everything except on main.
type reviewWorld struct {
	t        *testing.T
	graph    *servedgraph.Graph
	engine   engine.Graph
	handler  http.Handler
	agent    *access.Actor
	proposal *client.ProposalAnswer
}

func newReviewWorld(t *testing.T) *reviewWorld {
	t.Helper()
	c := config(t)
	c.Authorizer = reviewPolicy{}
	w := &reviewWorld{t: t, graph: servedtest.Graph(t, c), engine: c.Graph, agent: &access.Actor{ID: servedtest.Drafter.ID, Source: "test", Agents: []access.Agent{{ID: "act-helper"}}}}
	w.handler = mcp.Handler(w.graph, mcp.Options{})
	if _, err := c.Graph.CreateBranch(t.Context(), "try", engine.Target{}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Graph.Load(t.Context(), strings.NewReader(`{"type":"Person","data":{"name":"new"}}`), engine.LoadOptions{WriteOptions: engine.WriteOptions{Branch: "try", Actor: w.agent.Name()}}); err != nil {
		t.Fatal(err)
	}
	a, err := w.graph.Do(t.Context(), w.agent, "open_proposal", operations.OpenProposal(client.ProposalBody{Source: "try", Title: "one more"}), encoding.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w.proposal = new(client.ProposalAnswer)
	if err := json.Unmarshal(a.JSON, w.proposal); err != nil {
		t.Fatal(err)
	}
	return w
}

// shown returns the proposal as it is.
func (w *reviewWorld) shown() *client.ProposalAnswer {
	w.t.Helper()
	a, err := w.graph.Do(w.t.Context(), servedtest.Writer, "get_proposal", operations.GetProposal(w.proposal.ID), encoding.Options{})
	if err != nil {
		w.t.Fatal(err)
	}
	p := new(client.ProposalAnswer)
	if err := json.Unmarshal(a.JSON, p); err != nil {
		w.t.Fatal(err)
	}
	return p
}

// call calls a tool as the agent, and returns the text of the answer and whether the call succeeded.
func (w *reviewWorld) call(name string, args map[string]any) (text string, ok bool) {
	w.t.Helper()
	b, err := json.Marshal(map[string]any{"name": name, "arguments": args})
	if err != nil {
		w.t.Fatal(err)
	}
	body := requested(w.t, w.handler, w.agent, "tools/call", string(b))
	var res struct {
		Result *struct {
			IsError bool
			Content []struct{ Text string }
		}
		Error *struct{ Message string }
	}
	if err := json.Unmarshal([]byte(body), &res); err != nil {
		w.t.Fatal(body, err)
	}
	if res.Error != nil || res.Result == nil {
		return body, false
	}
	return res.Result.Content[0].Text, !res.Result.IsError
}

// requested sends a request as an actor, and returns the answer.
func requested(t *testing.T, h http.Handler, actor *access.Actor, method, params string) string {
	t.Helper()
	body, _ := requestedIn(t, h, actor, "", method, params)
	return body
}

// requestedIn is like requested, with the session id of the request, and returns that of the answer too.
func requestedIn(t *testing.T, h http.Handler, actor *access.Actor, session, method, params string) (body, answered string) {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":`+params+`}`))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
	}
	a := httptest.NewRecorder()
	h.ServeHTTP(a, r.WithContext(access.WithActor(r.Context(), actor)))
	return a.Body.String(), a.Header().Get("Mcp-Session-Id")
}

// TestDecideWithoutKey makes 1,000 attempts with the token of an agent and every tool that it sees, but without the key of the person: nothing
// is approved, and nothing is merged.
func TestDecideWithoutKey(t *testing.T) {
	w := newReviewWorld(t)
	text, _, err := w.graph.ReviewKeys().Make(servedtest.Writer)
	if err != nil {
		t.Fatal(err)
	}
	key := strings.Split(text, "_")[1] // the agent sees the id of the key, which the app sends
	var list struct {
		Result struct{ Tools []struct{ Name string } }
	}
	apps := `"_meta":{"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}}}`
	if err := json.Unmarshal([]byte(requested(t, w.handler, w.agent, "tools/list", "{"+apps+"}")), &list); err != nil || len(list.Result.Tools) < 10 {
		t.Fatal(err, list)
	}
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(all ...string) string { return all[random.IntN(len(all))] }
	nonces, refused := []string{"x"}, 0
	for i := range 1000 {
		name := list.Result.Tools[random.IntN(len(list.Result.Tools))].Name
		if i%2 == 0 {
			name = "proposal_decide"
		}
		d := reviewkey.Decision{Proposal: pick(w.proposal.ID, "01M0"), Digest: pick(w.proposal.Digest, "0"), Decision: pick("approve", "request_changes", "merge"), Comment: pick("", "fine")}
		nonce := pick(nonces...)
		args := map[string]any{
			"proposal": d.Proposal, "digest": d.Digest, "decision": d.Decision, "comment": d.Comment, "key": pick(key, key, "rk", "rk_"+key), "nonce": nonce,
			"signature": pick("", strings.Repeat("0", 64), d.Sign(pick("", key, "act-writer", "rk_"+key), nonce), d.Sign(key, nonce)), "confirm": true,
			"source": "try", "target": "main", "branch": "main", "query": `query m() { insert Person { name: "x" } }`,
		}
		if name == "proposal_decide" {
			delete(args, "source")
			for _, other := range []string{"target", "branch", "query", "confirm"} {
				delete(args, other)
			}
			if random.IntN(3) == 0 {
				args = map[string]any{"proposal": d.Proposal, "key": key}
			}
		}
		got, ok := w.call(name, args)
		switch {
		case name != "proposal_decide":
		case ok && strings.HasPrefix(got, `{"nonce":"`):
			nonces = append(nonces, strings.Split(got, `"`)[3])
		case ok:
			t.Fatalf("%v decides: %s", args, got)
		default:
			refused++
		}
	}
	if p := w.shown(); p.State != "open" || len(p.ApprovedBy) > 0 || len(p.RequestedBy) > 0 || p.Digest != w.proposal.Digest {
		t.Errorf("after the attempts the proposal is %+v", p)
	}
	if len(nonces) < 10 || refused < 200 {
		t.Errorf("%d nonces, %d refusals; expected more", len(nonces), refused)
	}
}

// TestDecideWithKey decides with the key of a person over the connection of the agent.
func TestDecideWithKey(t *testing.T) {
	w := newReviewWorld(t)
	if _, _, err := w.graph.ReviewKeys().Make(w.agent); err == nil {
		t.Error("an agent gets a key")
	}
	text, _, err := w.graph.ReviewKeys().Make(servedtest.Writer)
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(text, "_")
	decide := func(decision string) (string, bool) {
		t.Helper()
		got, ok := w.call("proposal_decide", map[string]any{"proposal": w.proposal.ID, "key": parts[1]})
		if !ok {
			t.Fatal(got)
		}
		nonce := strings.Split(got, `"`)[3]
		d := reviewkey.Decision{Proposal: w.proposal.ID, Digest: w.proposal.Digest, Decision: decision, Comment: "seen"}
		return w.call("proposal_decide", map[string]any{"proposal": d.Proposal, "key": parts[1], "digest": d.Digest, "decision": decision, "comment": d.Comment, "nonce": nonce, "signature": d.Sign(parts[2], nonce)})
	}
	if got, ok := decide("approve"); !ok || fmt.Sprint(w.shown().ApprovedBy) != "["+servedtest.Writer.ID+"]" {
		t.Error(got, w.shown().ApprovedBy)
	}
	if got, ok := decide("merge"); !ok || w.shown().State != "merged" {
		t.Error(got, w.shown().State)
	}
}

// TestDigestOfChanges checks that a list of changes has the digest of what it lists, which is another one after a change.
func TestDigestOfChanges(t *testing.T) {
	w := newReviewWorld(t)
	digest := func() string {
		t.Helper()
		got, ok := w.call("proposal_get", map[string]any{"proposal": w.proposal.ID, "changes": true})
		var page struct {
			Changes []any
			Digest  string
		}
		if err := json.Unmarshal([]byte(got), &page); err != nil || !ok || len(page.Changes) == 0 {
			t.Fatal(got, err)
		}
		return page.Digest
	}
	before := digest()
	if before == "" || before != w.proposal.Digest {
		t.Errorf("the list has the digest %q, the proposal %q", before, w.proposal.Digest)
	}
	if _, err := w.engine.Load(t.Context(), strings.NewReader(`{"type":"Person","data":{"name":"newer"}}`), engine.LoadOptions{WriteOptions: engine.WriteOptions{Branch: "try", Actor: w.agent.Name()}}); err != nil {
		t.Fatal(err)
	}
	if after := digest(); after == before || after != w.shown().Digest {
		t.Errorf("the list has the digest %q, the proposal %q", after, w.shown().Digest)
	}
}

// TestDecideWithLongTexts checks that nothing keeps a text of any length.
func TestDecideWithLongTexts(t *testing.T) {
	w := newReviewWorld(t)
	text, _, err := w.graph.ReviewKeys().Make(servedtest.Writer)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"proposal", "key", "nonce", "signature", "digest"} {
		args := map[string]any{"proposal": w.proposal.ID, "key": strings.Split(text, "_")[1]}
		args[name] = strings.Repeat("x", 129)
		if got, ok := w.call("proposal_decide", args); ok || !strings.Contains(got, name) || !strings.Contains(got, "found 129 bytes, expected at most 128") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestReviewApp checks who sees the app: clients that declare that they show apps.
func TestReviewApp(t *testing.T) {
	w := newReviewWorld(t)
	apps := `{"_meta":{"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}}}}`
	with, without := requested(t, w.handler, w.agent, "tools/list", apps), requested(t, w.handler, w.agent, "tools/list", "{}")
	if strings.Count(with, `"resourceUri":"ui://omnigraph/review"`) != 2 || !strings.Contains(with, `"visibility":["app"]`) || strings.Contains(without, "ui://") || strings.Contains(without, "proposal_decide") {
		t.Errorf("with apps: %s\nwithout: %s", with, without)
	}
	declares := func(extensions string) string {
		_, session := requestedIn(t, w.handler, w.agent, "", "initialize", `{"protocolVersion":"2025-11-25","capabilities":{"extensions":`+extensions+`},"clientInfo":{"name":"t","version":"0"}}`)
		return session
	}
	first, second := declares(`{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}`), declares(`{"io.modelcontextprotocol/ui":{}}`)
	if inSession, _ := requestedIn(t, w.handler, w.agent, first, "tools/list", "{}"); first == second || inSession != with {
		t.Errorf("with apps in initialize: session %q and %q, %s", first, second, inSession)
	}
	if session := declares(`{"other":{}}`); session != "" {
		t.Errorf("a client without apps got the session %q", session)
	}
	if other, _ := requestedIn(t, w.handler, w.agent, "another server's", "tools/list", "{}"); other != without {
		t.Errorf("in a session of another server: %s", other)
	}
	var res struct {
		Result struct {
			Contents []struct{ MIMEType, Text string }
		}
	}
	body := requested(t, w.handler, w.agent, "resources/read", `{"uri":"ui://omnigraph/review"}`)
	if err := json.Unmarshal([]byte(body), &res); err != nil || len(res.Result.Contents) != 1 {
		t.Fatal(body, err)
	}
	c := res.Result.Contents[0]
	if c.MIMEType != "text/html;profile=mcp-app" || len(c.Text) > 150_000 || strings.Contains(c.Text, "http") || strings.Contains(c.Text, "innerHTML") {
		t.Errorf("the app is %s of %d bytes", c.MIMEType, len(c.Text))
	}
}
