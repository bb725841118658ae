package servedgraph_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/builtin"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// listed calls a tool that lists something, and returns its answer and the token of the next page.
func listed(g *servedgraph.Graph, actor *access.Actor, name string, args map[string]any) (answer, token string, err error) {
	raw, err := json.Marshal(args)
	if err != nil {
		return "", "", err
	}
	got, err := g.Call(context.Background(), actor, name, raw, encoding.Options{MaxRows: 2})
	if err != nil {
		return "", "", err
	}
	var page struct {
		Next string `json:"next_page_token"`
	}
	err = json.Unmarshal(got.JSON, &page)
	return string(got.JSON), page.Next, err
}

// TestListTokens checks that a token is valid only for the next page of its list, and only for the
// actor and the graph that it was made for. The errors are the same as for tokens of rows.
func TestListTokens(t *testing.T) {
	ctx := context.Background()
	c := stored(t, servedtest.Config(t, builtin.All("1")...))
	c.PageKeys.List = [][]byte{make([]byte, 32)}
	load(t, c.Graph, people(5))
	for i := range 3 {
		if _, err := c.Graph.CreateBranch(ctx, fmt.Sprintf("draft%d", i), engine.Target{}); err != nil {
			t.Fatal(err)
		}
	}
	commits, err := c.Graph.Commits(ctx, "main", engine.CommitRange{})
	if err != nil {
		t.Fatal(err)
	}
	g := servedtest.Graph(t, c)
	other := c
	other.ID = "others"
	elsewhere := servedtest.Graph(t, other)
	other = c
	other.PageKeys.List = nil
	strange := servedtest.Graph(t, other)

	reader := servedtest.Reader
	first := map[string]map[string]any{
		"branch_list": {"limit": 1},
		"commit_list": {"limit": 1},
		"change_list": {"limit": 1, "commit": commits[0].ID},
		"graph_query": {"query": `query q() { match { $p: Person } return { $p.name } }`},
	}
	lists := map[string]string{"branch_list": "branches", "commit_list": "commits", "change_list": "changes"}
	tokens := map[string]string{}
	for name, args := range first {
		_, token, err := listed(g, reader, name, args)
		if err != nil || token == "" {
			t.Fatalf("%s: token %q, %v", name, token, err)
		}
		tokens[name] = token
	}
	with := func(name, token string, more ...any) map[string]any {
		args := map[string]any{"page_token": token}
		for k, v := range first[name] {
			args[k] = v
		}
		for i := 0; i < len(more); i += 2 {
			args[more[i].(string)] = more[i+1]
		}
		return args
	}
	refused := func(what string, g *servedgraph.Graph, actor *access.Actor, name string, args map[string]any, want string) {
		t.Helper()
		_, _, err := listed(g, actor, name, args)
		var a *tool.ArgumentError
		if !errors.As(err, &a) || a.Path != "page_token" || !strings.Contains(a.Detail, want) || wireerror.OutcomeOf(err) != wireerror.OfRequest {
			t.Errorf("%s, %s: got %v, expected %s", name, what, err, want)
		}
	}
	for name := range lists {
		token := tokens[name]
		if answer, _, err := listed(g, reader, name, with(name, token)); err != nil {
			t.Errorf("%s: %s, %v", name, answer, err)
		}
		end := byte('A')
		if token[len(token)-5] == end {
			end = 'B'
		}
		refused("damaged", g, reader, name, with(name, token[:len(token)-5]+string(end)+token[len(token)-4:]), "is damaged, or this server did not make it")
		refused("cut short", g, reader, name, with(name, token[:40]), "is damaged")
		refused("another key", strange, reader, name, with(name, token), "is damaged, or this server did not make it")
		refused("another graph", elsewhere, reader, name, with(name, token), "belongs to another graph")
		refused("another actor", g, servedtest.Writer, name, with(name, token), "belongs to another actor")
		refused("the token of rows", g, reader, name, with(name, tokens["graph_query"]), "belongs to the rows of a query")
		refused("rows", g, reader, "graph_query", with("graph_query", token), "belongs to the list of "+lists[name])
		for of := range lists {
			if of != name {
				refused("the token of "+of, g, reader, name, with(name, tokens[of]), "belongs to the list of "+lists[of])
			}
		}
	}
	refused("another branch", g, reader, "commit_list", with("commit_list", tokens["commit_list"], "branch", "draft1"), "belongs to the branch main")
	refused("another commit", g, reader, "change_list", with("change_list", tokens["change_list"], "commit", commits[1].ID), "belongs to the commit "+commits[0].ID)

	load(t, c.Graph, people(6))
	for i := range 3 {
		if err := c.Graph.DeleteBranch(ctx, fmt.Sprintf("draft%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Graph.Cleanup(ctx, engine.CleanupOptions{KeepCommits: 1}); err != nil {
		t.Fatal(err)
	}
	refused("cleaned up", g, reader, "change_list", with("change_list", tokens["change_list"]), "was cleaned up")
}

// TestTokenOfALongID reads the changes of a commit page by page if an id is long. The tokens must
// work.
func TestTokenOfALongID(t *testing.T) {
	c := stored(t, servedtest.Config(t, builtin.All("1")...))
	long := strings.Repeat("x", 100_000)
	load(t, c.Graph, `{"type":"Person","data":{"name":"`+long+`"}}`+"\n"+`{"type":"Person","data":{"name":"y"}}`+"\n")
	head, err := c.Graph.Snapshot(context.Background(), engine.Target{})
	if err != nil {
		t.Fatal(err)
	}
	g := servedtest.Graph(t, c)
	answer, token, err := listed(g, servedtest.Reader, "change_list", map[string]any{"commit": head.Commit.ID, "limit": 1})
	if err != nil || !strings.Contains(answer, `"id":"`+long) {
		t.Fatalf("%.200s, %v", answer, err)
	}
	answer, token, err = listed(g, servedtest.Reader, "change_list", map[string]any{"commit": head.Commit.ID, "limit": 1, "page_token": token})
	if err != nil || token != "" || !strings.Contains(answer, `"id":"y"`) {
		t.Errorf("the page after a long id: %.200s, %v", answer, err)
	}
}

// hiding is a policy that can hide branches.
type hiding struct {
	servedtest.Policy
	branches map[string]bool
}

func (p *hiding) Allowed(a *access.Actor, g tool.Grant) bool {
	return !p.branches[g.Branch.Name()] && p.Policy.Allowed(a, g)
}

// TestPolicyOnEveryPageOfAList checks that each page of a list asks the policy, also with a valid
// token.
func TestPolicyOnEveryPageOfAList(t *testing.T) {
	ctx := context.Background()
	c := servedtest.Config(t, builtin.All("1")...)
	policy := &hiding{branches: map[string]bool{}}
	c.Authorizer = policy
	g := servedtest.Graph(t, c)
	for _, name := range []string{"a", "b", "c"} {
		if _, err := c.Graph.CreateBranch(ctx, name, engine.Target{}); err != nil {
			t.Fatal(err)
		}
	}
	_, token, err := listed(g, servedtest.Reader, "branch_list", map[string]any{"limit": 1})
	if err != nil || token == "" {
		t.Fatal(token, err)
	}
	policy.branches["b"] = true
	answer, _, err := listed(g, servedtest.Reader, "branch_list", map[string]any{"page_token": token})
	if err != nil || strings.Contains(answer, `"name":"b"`) || !strings.Contains(answer, `"name":"c"`) {
		t.Errorf("a branch was hidden since the first page: %s, %v", answer, err)
	}
	_, token, err = listed(g, servedtest.Reader, "commit_list", map[string]any{"limit": 1})
	if err != nil || token == "" {
		t.Fatal(token, err)
	}
	policy.branches["main"], policy.branches[""] = true, true
	var forbidden *wireerror.Forbidden
	var unknown *wireerror.UnknownTool
	if answer, _, err := listed(g, servedtest.Reader, "commit_list", map[string]any{"page_token": token}); !errors.As(err, &forbidden) && !errors.As(err, &unknown) {
		t.Errorf("main was hidden since the first page of its commits: %s, %v", answer, err)
	}
}
