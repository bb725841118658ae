package main

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnigraph-go/omnigraph/internal/server"
	"github.com/omnigraph-go/omnigraph/internal/server/auth"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
)

// asToken adds a token to requests.
type asToken string

// RoundTrip implements [http.RoundTripper].
func (token asToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(token))
	return http.DefaultTransport.RoundTrip(r)
}

// hourGuide is the section of docs/drafts.md about two agents and a person.
type hourGuide struct {
	*testing.T
	url      string
	vars     map[string]string // what the guide calls $NAME
	sessions map[string]*mcp.ClientSession
	stop     func() // stops the server
}

func newHourGuide(t *testing.T) *hourGuide {
	return &hourGuide{T: t, vars: map[string]string{}, sessions: map[string]*mcp.ClientSession{}}
}

// wordsOf splits a line of the guide as a shell does: quotes keep a word together.
func wordsOf(line string) (args []string) {
	for _, m := range regexp.MustCompile(`'([^']*)'|(\S+)`).FindAllStringSubmatch(line, -1) {
		args = append(args, m[1]+m[2])
	}
	return args
}

// expand replaces the names of the guide in a line.
func (g *hourGuide) expand(line string) string {
	for name, value := range g.vars {
		line = strings.ReplaceAll(line, "$"+name, value)
	}
	return line
}

// command runs a command of an actor, or of the person who makes the graph, and returns its output.
func (g *hourGuide) command(actor, line string) string {
	g.Helper()
	if actor != "" {
		g.Setenv(tokenVar, tokenOf(actor))
	}
	args := wordsOf(g.expand(line))
	code, stdout, stderr := omnigraph(g.T, "", args[1:]...)
	if args[0] != "omnigraph" || code != 0 {
		g.Fatalf("%s: %d %s%s", line, code, stdout, stderr)
	}
	return stdout
}

// session returns the MCP session of an actor.
func (g *hourGuide) session(actor string) *mcp.ClientSession {
	g.Helper()
	s := g.sessions[actor]
	if s == nil {
		var err error
		s, err = mcp.NewClient(&mcp.Implementation{Name: "test", Version: "0"}, nil).Connect(g.Context(), &mcp.StreamableClientTransport{
			Endpoint: g.url + "/graphs/shop/mcp", HTTPClient: &http.Client{Transport: asToken(tokenOf(actor))}, DisableStandaloneSSE: true,
		}, nil)
		if err != nil {
			g.Fatal(err)
		}
		g.sessions[actor] = s
	}
	return s
}

// call runs a tool for an actor, and returns the answer.
func (g *hourGuide) call(actor, name, args string) string {
	g.Helper()
	res, err := g.session(actor).CallTool(g.Context(), &mcp.CallToolParams{Name: name, Arguments: json.RawMessage(g.expand(args))})
	if err != nil {
		g.Fatalf("%s> %s: %v", actor, name, err)
	}
	text := res.Content[0].(*mcp.TextContent).Text
	if res.IsError {
		g.Fatalf("%s> %s: %s", actor, name, text)
	}
	return text
}

// serve starts a server for the cluster in the working directory, which knows some actors.
func (g *hourGuide) serve(actors ...string) {
	g.Helper()
	config, err := cluster.Read("cluster.yaml")
	if err != nil {
		g.Fatal(err)
	}
	tokens := &auth.Tokens{}
	for _, actor := range actors {
		if err := tokens.Add(tokenOf(actor), actor); err != nil {
			g.Fatal(err)
		}
	}
	s, err := server.Open(g.Context(), server.Options{Cluster: config, Bind: "127.0.0.1:0", Tokens: tokens, Version: "test", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		g.Fatal(err)
	}
	ts := httptest.NewServer(s.Handler())
	g.stop = sync.OnceFunc(func() {
		for _, session := range g.sessions {
			session.Close()
		}
		g.sessions = map[string]*mcp.ClientSession{}
		ts.Close()
		http.DefaultClient.CloseIdleConnections()
		if err := s.Close(); err != nil {
			g.Error(err)
		}
	})
	g.Cleanup(g.stop)
	g.url = ts.URL
	g.vars["URL"] = ts.URL
}

// TestDraftsGuide writes the files of docs/drafts.md, and runs the commands and the calls of its hour with two
// agents against a server.
func TestDraftsGuide(t *testing.T) {
	text, err := os.ReadFile("../../docs/drafts.md")
	if err != nil {
		t.Fatal(err)
	}
	g := newHourGuide(t)
	t.Chdir(t.TempDir())
	files := regexp.MustCompile("(?s)```[a-z]+ ([^\n]+)\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	for _, m := range files {
		write(t, m[1], m[2])
	}
	var answers []string
	for _, m := range regexp.MustCompile(`(?m)^    (?:(\$)|(act-\w+)([$>])) (.*)$`).FindAllStringSubmatch(string(text), -1) {
		actor, line := m[2], m[4]
		if actor != "" && g.url == "" {
			g.serve("act-bot", "act-pip", "act-ada")
		}
		if m[3] != ">" {
			answers = append(answers, g.command(actor, line))
			continue
		}
		name, args, _ := strings.Cut(line, " ")
		answer := g.call(actor, name, args)
		answers = append(answers, answer)
		var submitted struct{ ID string }
		if err := json.Unmarshal([]byte(answer), &submitted); err == nil && name == "proposal_submit" {
			id := map[string]string{"act-bot": "FIRST", "act-pip": "SECOND"}[actor]
			g.vars[id] = submitted.ID
		}
	}
	if len(files) != 4 || len(answers) != 19 {
		t.Fatalf("the guide has %d files, and %d commands and calls", len(files), len(answers))
	}
	for i, want := range map[int]string{
		2:  `"rows":[[20]]`,      // main before
		7:  g.vars["SECOND"],     // the list
		8:  `"price":25`,         // the difference of the first
		10: `"state":"merged"`,   // its merge
		11: `"conflict_count":1`, // the second has a conflict
		13: "A1 costs 28.",       // the agent reads the comment
		14: `"conflict_count":0`, // and resolves the conflict
		15: `"value":28`,         // the resolution of the second
		18: `"rows":[[28]]`,      // main after
	} {
		if got := strings.ReplaceAll(answers[i], ": ", ":"); !strings.Contains(got, want) {
			t.Errorf("answer %d lacks %s:\n%s", i, want, got)
		}
	}
}
