package server_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	sdkauth "github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/omnigraph-go/omnigraph/internal/server"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// newScoped serves as newIdentity does. The scope graph.read covers reads and stored queries, graph.write covers writes, and
// the other actions have no scope.
func newScoped(t *testing.T) *identity {
	return newIdentity(t, func(o *server.Options) {
		o.Cluster.Server.OIDC.SharedActors = true
		o.Cluster.Server.OIDC.Scopes = []cluster.Scope{
			{Name: "graph.read", Actions: []tool.Action{tool.Read, tool.InvokeQuery}},
			{Name: "graph.write", Actions: []tool.Action{tool.Change}},
		}
	})
}

// scoped returns a matrix whose requests have a token of the actor with these scopes.
func (i *identity) scoped(actor string, over map[string]any) *matrix {
	return i.as(i.issuer.Token(i.t, i.key, actor, over))
}

// TestScopesNarrow sends requests with tokens of several scopes. A call that the policy allows and no scope covers must get
// the status 403 with the scopes to ask for, over REST and MCP.
func TestScopesNarrow(t *testing.T) {
	i := newScoped(t)
	const (
		read = `{"query":"query q() { match { $p: Person } return { $p.name } }"}`
		find = `{"params":{"name":"ada"}}`
	)
	change := fmt.Sprintf(`{"query":%q,"branch":"feature","dry_run":true}`, addByHand)
	asks := func(scopes string) string {
		return `Bearer realm="omnigraph", error="insufficient_scope", resource_metadata="` + strings.Replace(i.url, "/graphs/", "/.well-known/oauth-protected-resource/graphs/", 1) + `", scope="` + scopes + `"`
	}
	none := strings.TrimSuffix(asks(""), `, scope=""`)
	for _, tt := range []struct {
		name, path, body string
		actor            string
		claims           map[string]any
		status           int
		challenge        string
	}{
		{"no claim", "/query", read, "act-admin", nil, 200, ""},
		{"reads", "/query", read, "act-admin", map[string]any{"scope": "openid graph.read"}, 200, ""},
		{"reads by scp", "/query", read, "act-admin", map[string]any{"scp": []string{"graph.read"}}, 200, ""},
		{"reads by a text scp", "/query", read, "act-admin", map[string]any{"scp": "graph.read email"}, 200, ""},
		{"only openid", "/query", read, "act-admin", map[string]any{"scope": "openid"}, 403, asks("graph.read")},
		{"an empty scope", "/query", read, "act-admin", map[string]any{"scope": ""}, 403, asks("graph.read")},
		{"the end of a name", "/query", read, "act-admin", map[string]any{"scope": "graph.reads"}, 403, asks("graph.read")},
		{"a stored query", "/queries/find_person", find, "act-admin", map[string]any{"scope": "graph.write"}, 403, asks("graph.read graph.write")},
		{"a write", "/mutate", change, "act-admin", map[string]any{"scope": "graph.read"}, 403, asks("graph.read graph.write")},
		{"a write with both", "/mutate", change, "act-admin", map[string]any{"scope": "graph.write graph.read"}, 200, ""},
		{"a load", "/load", `{"data":"","mode":"merge"}`, "act-admin", map[string]any{"scope": "graph.read"}, 403, asks("graph.read graph.write")},
		{"an action without a scope", "/branches", `{"name":"b"}`, "act-admin", map[string]any{"scope": "graph.read graph.write"}, 403, none},
		{"the policy comes first", "/mutate", change, "act-reader", map[string]any{"scope": "graph.read"}, 403, ""},
		{"scopes grant nothing", "/query", read, "act-nothing", map[string]any{"scope": "graph.read graph.write"}, 403, ""},
		{"a number", "/query", read, "act-admin", map[string]any{"scope": 7}, 401, ""},
	} {
		a := i.scoped(tt.actor, tt.claims).send("", "POST", tt.path, tt.body, nil)
		challenge := a.header.Get("WWW-Authenticate")
		if a.status != tt.status || tt.status == 403 && challenge != tt.challenge {
			t.Errorf("%s: %d %q, want %d %q: %s", tt.name, a.status, challenge, tt.status, tt.challenge, a.body)
		}
	}
	if a := i.as(adminToken).send("", "POST", "/mutate", change, nil); a.status != 200 {
		t.Errorf("a static token: %d %s", a.status, a.body)
	}
}

// TestScopesHideNothing compares an actor with all rights and a token without a useful scope with the same actor without
// scopes. The lists of MCP must be equal, and every call that needs a right must be refused for want of a scope.
func TestScopesHideNothing(t *testing.T) {
	i := newScoped(t)
	whole, narrow := i.scoped("act-admin", nil), i.scoped("act-admin", map[string]any{"scope": "openid"})
	free := map[string]bool{"graph_health": true, "gq_language": true, "tool_search": true, // need no right
		"proposal_resolve": true} // the proposal of the sample does not exist
	for _, version := range versions {
		for _, list := range []string{"tools/list", "resources/list", "resources/templates/list", "prompts/list"} {
			if a, b := whole.rpc("", version, list, "", ""), narrow.rpc("", version, list, "", ""); a.status != b.status || list == "tools/list" && a.body != b.body {
				t.Errorf("%s of %s differs:\n%s\n%s", list, version, a.body, b.body)
			}
		}
		refused := 0
		for _, tl := range whole.list("") {
			args := whole.sampleArguments(tl, "main")
			a := narrow.call("", version, tl.Name, args)
			switch {
			case a.status == http.StatusForbidden && strings.Contains(a.header.Get("WWW-Authenticate"), "insufficient_scope"):
				refused++
			case !free[tl.Name]:
				t.Errorf("%s of %s: status %d, %q: %s", tl.Name, version, a.status, a.header.Get("WWW-Authenticate"), a.body)
			}
		}
		if refused < 15 {
			t.Errorf("%s: only %d calls were refused", version, refused)
		}
		for _, uri := range members(whole.rpc("", version, "resources/list", "", "").body, "resources", "uri") {
			a := narrow.rpc("", version, "resources/read", uri, fmt.Sprintf(`"uri":%q`, uri))
			if a.status != http.StatusForbidden && !strings.HasPrefix(uri, "skill:") {
				t.Errorf("%s: status %d: %s", uri, a.status, a.body)
			}
		}
	}
	if all := whole.readable(""); len(all) == 0 {
		t.Fatal("nothing was read")
	}
	for from, said := range narrow.readable("") {
		if strings.Contains(said, `"ada"`) && !slices.ContainsFunc([]string{"tool ", "near "}, func(p string) bool { return strings.HasPrefix(from, p) }) {
			t.Errorf("%s says %s", from, said)
		}
	}
}

// TestStepUp starts a client of the official SDK that knows nothing but the address. The issuer gives the server's audience only
// to those who ask for one of its scopes, and at first no right to write. The client must read, be refused a write, ask for the
// scope in the challenge without losing the other, and write.
func TestStepUp(t *testing.T) {
	i := newScoped(t)
	var asked []string
	handler, err := sdkauth.NewAuthorizationCodeHandler(&sdkauth.AuthorizationCodeHandlerConfig{
		PreregisteredClient: &oauthex.ClientCredentials{ClientID: "client"}, RedirectURL: "http://127.0.0.1:1/back",
		AuthorizationCodeFetcher: func(_ context.Context, args *sdkauth.AuthorizationArgs) (*sdkauth.AuthorizationResult, error) {
			u, err := url.Parse(args.URL)
			if err != nil {
				return nil, err
			}
			scopes := strings.Fields(u.Query().Get("scope"))
			slices.Sort(scopes) // the SDK keeps them in a set, in no order
			scope := strings.Join(scopes, " ")
			asked = append(asked, scope)
			over := map[string]any{"scope": scope}
			if len(asked) == 1 {
				over["scope"] = "graph.read"
			}
			if !strings.Contains(scope, "graph.") {
				over["aud"] = "api://other"
			}
			i.issuer.Grant(i.issuer.Token(t, i.key, "act-admin", over))
			return &sdkauth.AuthorizationResult{Code: "code", State: u.Query().Get("state")}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "t", Version: "0"}, nil)
	session, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: i.url + "/mcp", OAuthHandler: handler, DisableStandaloneSSE: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	for _, call := range []*sdk.CallToolParams{
		{Name: "graph_query", Arguments: map[string]any{"query": "query q() { match { $p: Person } return { $p.name } }"}},
		{Name: "graph_mutate", Arguments: map[string]any{"query": addByHand, "branch": "feature", "dry_run": true}},
		{Name: "graph_query", Arguments: map[string]any{"query": "query q() { match { $p: Person } return { $p.name } }"}},
	} {
		res, err := session.CallTool(t.Context(), call)
		if err != nil || res.IsError {
			t.Errorf("%s: %v, %v", call.Name, res, err)
		}
	}
	if want := []string{"graph.read graph.write", "graph.read graph.write"}; !slices.Equal(asked, want) {
		t.Errorf("the client asked for %q, want %q", asked, want)
	}
}

// TestScopesOfProposals checks the calls about proposals, which ask for the permissions while they run.
func TestScopesOfProposals(t *testing.T) {
	i := newScoped(t)
	whole := i.scoped("act-admin", nil)
	if a := whole.send("", "POST", "/mutate", fmt.Sprintf(`{"query":%q,"branch":"feature"}`, addByHand), nil); a.status != http.StatusOK {
		t.Fatalf("%d %s", a.status, a.body)
	}
	id := proposalID(whole.send("", "POST", "/proposals", `{"source":"feature","title":"a title"}`, nil).body)
	for _, tt := range []struct{ scope, method, path, body string }{
		{"graph.write", "GET", "/proposals/" + id, ""},
		{"graph.read", "POST", "/proposals/" + id + "/close", `{}`}, // its author
		{"graph.read", "POST", "/proposals/" + id + "/merge", `{}`},
	} {
		a := i.scoped("act-admin", map[string]any{"scope": tt.scope}).send("", tt.method, tt.path, tt.body, nil)
		if a.status != http.StatusForbidden || !strings.Contains(a.header.Get("WWW-Authenticate"), "insufficient_scope") {
			t.Errorf("%s %s with %s: %d %q %s", tt.method, tt.path, tt.scope, a.status, a.header.Get("WWW-Authenticate"), a.body)
		}
	}
	if a := whole.send("", "GET", "/proposals/"+id, "", nil); !strings.Contains(a.body, `"state":"open"`) {
		t.Errorf("the proposal is %s", a.body)
	}
	if a := i.scoped("act-nothing", map[string]any{"scope": "openid"}).send("", "GET", "/proposals/"+id, "", nil); a.status != http.StatusNotFound {
		t.Errorf("a stranger: %d %s", a.status, a.body)
	}
}
