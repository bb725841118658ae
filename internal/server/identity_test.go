package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-jose/go-jose/v4"
	sdkauth "github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/server"
	"github.com/omnigraph-go/omnigraph/internal/server/auth"
	"github.com/omnigraph-go/omnigraph/internal/server/auth/authtest"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
	"github.com/omnigraph-go/omnigraph/internal/slow"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// identity serves the graph `people` under matrixPolicy. The actor act-admin has a static token, and
// all other actors have tokens of an issuer.
type identity struct {
	*matrix
	issuer *authtest.Issuer
	key    *authtest.Key
	log    *lockedBuffer // the log of the server at level debug
}

// lockedBuffer is a log that several requests may write concurrently.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) Bytes() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.b.Bytes())
}

// adminToken is a static token. No two adjacent letters of it occur in a log by chance.
const adminToken = "Zq8-vW2k_Jx7.Tt0~Yb5+Rn1/Lm4"

func newIdentity(t *testing.T, with ...func(*server.Options)) *identity {
	t.Helper()
	key := authtest.NewKey(t, "k1", jose.ES256)
	i := &identity{issuer: authtest.New(t, key), key: key, log: &lockedBuffer{}}
	i.issuer.Now = testClock
	config := openPeople(t, t.TempDir(), "")
	config.Server.OIDC = &cluster.OIDC{
		Issuer: i.issuer.URL, Audiences: []string{authtest.Audience}, ActorClaim: "sub", GroupsClaim: "groups",
		Groups: []cluster.TokenGroup{{Token: "idp-bots", Policy: "bots"}},
	}
	tokens := &auth.Tokens{}
	if err := tokens.Add(adminToken, "act-admin"); err != nil {
		t.Fatal(err)
	}
	o := server.Options{
		Cluster: config, Catalogs: []*tool.Catalog{servedtest.Catalog(t)}, Bind: "127.0.0.1:0", Tokens: tokens, Version: "test", Now: testClock,
		Log: slog.New(slog.NewTextHandler(i.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	for _, f := range with {
		f(&o)
	}
	s, err := server.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	ts := httptest.NewServer(s.Handler())
	t.Cleanup(func() {
		ts.Close()
		http.DefaultClient.CloseIdleConnections()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	i.matrix = &matrix{t: t, url: ts.URL + "/graphs/people", token: func(actor string) string {
		if actor == "act-admin" {
			return adminToken
		}
		return i.issuer.Token(t, key, actor, nil)
	}}
	return i
}

// as returns a matrix that uses the given token for all actors.
func (i *identity) as(token string) *matrix {
	m := *i.matrix
	m.token = func(string) string { return token }
	return &m
}

const addByHand = `query a() { insert Person { name: "eve" } }`

// TestOIDCServes sends requests over REST and MCP with tokens of the issuer. The policy must
// decide by the actor and the mapped groups in the token.
func TestOIDCServes(t *testing.T) {
	i := newIdentity(t)
	read := `{"query":"query q() { match { $p: Person } return { $p.name } }"}`
	change := fmt.Sprintf(`{"query":%q,"branch":"feature"}`, addByHand)
	inGroups := func(groups ...string) *matrix {
		return i.as(i.issuer.Token(t, i.key, "someone", map[string]any{"groups": groups}))
	}
	find := `{"params":{"name":"ada"}}`
	for _, tt := range []struct {
		name, path, body string
		m                *matrix
		want             int
	}{
		{"a reader reads", "/query", read, i.as(i.token("act-reader")), 200},
		{"and does not change", "/mutate", change, i.as(i.token("act-reader")), 403},
		{"a writer changes", "/mutate", change, i.as(i.token("act-writer")), 200},
		{"a stranger does nothing", "/query", read, i.as(i.token("act-stranger")), 403},
		{"the static token", "/mutate", change, i.as(adminToken), 200},
		{"its actor by the issuer", "/query", read, i.as(i.issuer.Token(t, i.key, "act-admin", nil)), 401},
		{"a mapped group runs its query", "/queries/find_person", find, inGroups("idp-bots"), 200},
		{"and no other", "/queries/everyone", `{}`, inGroups("idp-bots"), 404},
		{"the policy's name of the group", "/queries/find_person", find, inGroups("bots"), 404},
		{"a group that nobody maps", "/queries/find_person", find, inGroups("idp-admins", "admins"), 404},
		{"no group", "/queries/find_person", find, inGroups(), 404},
		{"a wrong audience", "/query", read, i.as(i.issuer.Token(t, i.key, "act-reader", map[string]any{"aud": "api://other"})), 401},
	} {
		if a := tt.m.send("", "POST", tt.path, tt.body, nil); a.status != tt.want {
			t.Errorf("%s: status %d, want %d: %s", tt.name, a.status, tt.want, a.body)
		}
	}
	names := func(m *matrix) (all []string) {
		for _, tl := range m.list("") {
			all = append(all, tl.Name)
		}
		return all
	}
	if got := names(inGroups("idp-bots")); !slices.Contains(got, "lookup_person") || slices.Contains(got, "graph_query") {
		t.Errorf("the group's tools: %v", got)
	}
	if got := names(inGroups("bots")); slices.Contains(got, "lookup_person") {
		t.Errorf("a stranger's tools: %v", got)
	}
	i.issuer.Down(true)
	if a := i.as(i.token("act-reader")).send("", "POST", "/query", read, nil); a.status != 200 {
		t.Errorf("while the issuer is down: %d %s", a.status, a.body)
	}
	if n := i.issuer.Fetches(); n != 1 {
		t.Errorf("the issuer was asked %d times", n)
	}
}

// TestDiscovery starts a client of the official SDK without a token. The client must find the
// issuer, get a token from it, and list its tools.
func TestDiscovery(t *testing.T) {
	i := newIdentity(t)
	i.issuer.Grant(i.issuer.Token(t, i.key, "act-reader", nil))
	asked := ""
	handler, err := sdkauth.NewAuthorizationCodeHandler(&sdkauth.AuthorizationCodeHandlerConfig{
		PreregisteredClient: &oauthex.ClientCredentials{ClientID: "client"}, RedirectURL: "http://127.0.0.1:1/back",
		AuthorizationCodeFetcher: func(_ context.Context, args *sdkauth.AuthorizationArgs) (*sdkauth.AuthorizationResult, error) {
			asked = args.URL
			u, err := url.Parse(args.URL)
			if err != nil {
				return nil, err
			}
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
	list, err := session.ListTools(t.Context(), nil)
	if err != nil || len(list.Tools) == 0 {
		t.Errorf("tools/list: %v, %v", list, err)
	}
	if u, err := url.Parse(asked); err != nil || !strings.HasPrefix(asked, i.issuer.URL+"/authorize?") || u.Query().Get("resource") != i.url+"/mcp" {
		t.Errorf("the client asked %s, %v", asked, err)
	}
}

// TestMetadataOfGraphs reads the metadata as REST clients would, and checks that it does not
// reveal which graphs exist.
func TestMetadataOfGraphs(t *testing.T) {
	i := newIdentity(t)
	base := strings.TrimSuffix(i.url, "/graphs/people")
	get := func(url string) (*http.Response, string) {
		r, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		var b bytes.Buffer
		if _, err := b.ReadFrom(r.Body); err != nil {
			t.Fatal(err)
		}
		return r, b.String()
	}
	for _, path := range []string{"/graphs/people/mcp", "/graphs/people/schema", "/graphs/people", "/graphs"} {
		r, _ := get(base + path)
		challenges, err := oauthex.ParseWWWAuthenticate(r.Header.Values("WWW-Authenticate"))
		if err != nil || len(challenges) != 1 || challenges[0].Scheme != "bearer" {
			t.Fatalf("%s: %v, %v", path, r.Header, err)
		}
		resource := base + map[string]string{"/graphs/people/mcp": path, "/graphs/people/schema": "/graphs/people", "/graphs/people": path}[path]
		m, err := oauthex.GetProtectedResourceMetadata(t.Context(), challenges[0].Params["resource_metadata"], resource, http.DefaultClient)
		if err != nil || !slices.Equal(m.AuthorizationServers, []string{i.issuer.URL}) {
			t.Errorf("%s: %+v, %v", path, m, err)
		}
	}
	for _, suffix := range []string{"", "/mcp", "/schema"} {
		_, own := get(base + "/.well-known/oauth-protected-resource/graphs/people" + suffix)
		_, none := get(base + "/.well-known/oauth-protected-resource/graphs/stranger" + suffix)
		if strings.ReplaceAll(own, "people", "stranger") != none {
			t.Errorf("%q: a graph answers %s, and none %s", suffix, own, none)
		}
		ra, a := get(base + "/graphs/people" + suffix)
		rb, b := get(base + "/graphs/stranger" + suffix)
		if a != b || strings.ReplaceAll(ra.Header.Get("WWW-Authenticate"), "people", "stranger") != rb.Header.Get("WWW-Authenticate") {
			t.Errorf("%q: a graph answers %s %v, and none %s %v", suffix, a, ra.Header, b, rb.Header)
		}
	}
	if r, _ := get(base + "/.well-known/openid-configuration"); r.StatusCode != http.StatusUnauthorized {
		t.Errorf("another well-known path: %d", r.StatusCode)
	}
}

// TestIdentityStart starts servers with different configurations of an issuer, and checks which of
// them start.
func TestIdentityStart(t *testing.T) {
	for _, tt := range []struct {
		name string
		with func(*server.Options)
		want string // "" if the server starts
	}{
		{"an issuer alone", func(o *server.Options) { o.Tokens = &auth.Tokens{} }, ""},
		{"without policy", func(o *server.Options) { o.Tokens = &auth.Tokens{}; o.Cluster.Graphs[0].Policy = "" }, ""},
		{"unauthenticated", func(o *server.Options) { o.Tokens = &auth.Tokens{}; o.Unauthenticated = true }, "--unauthenticated would ignore them"},
		{"every interface", func(o *server.Options) { o.Bind = "0.0.0.0:0" }, "list that name under server.public_hosts"},
		{"every interface, with a name", func(o *server.Options) {
			o.Bind, o.Cluster.Server.PublicHosts = "0.0.0.0:0", []string{"graph.example.com"}
		}, ""},
		{"group of no policy", func(o *server.Options) {
			o.Cluster.Server.OIDC.Groups = []cluster.TokenGroup{{Token: "idp", Policy: "botz"}}
		}, `unknown group "botz" in oidc.groups: no policy has this group (help: did you mean bots?)`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			config := openPeople(t, t.TempDir(), "")
			config.Server.OIDC = &cluster.OIDC{Issuer: "http://127.0.0.1:1", Audiences: []string{"a"}, ActorClaim: "sub", GroupsClaim: "groups"}
			tokens := &auth.Tokens{}
			if err := tokens.Add(adminToken, "act-admin"); err != nil {
				t.Fatal(err)
			}
			o := server.Options{Cluster: config, Catalogs: []*tool.Catalog{servedtest.Catalog(t)}, Bind: "127.0.0.1:0", Tokens: tokens, Now: testClock, Log: slog.New(slog.DiscardHandler)}
			tt.with(&o)
			s, err := server.Open(t.Context(), o)
			if s != nil {
				defer s.Close()
			}
			var start *auth.StartError
			var faults diag.List
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want) || !errors.As(err, &start) && !errors.As(err, &faults)) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// namesAnActor are members and headers that identify the user on other servers.
var namesAnActor = []string{
	"actor", "actor_id", "actorId", "act", "user", "user_id", "username", "sub", "subject", "principal", "identity", "author", "on_behalf_of", "run_as", "impersonate", "groups", "tenant", "token", "access_token",
}

var headersOfActors = []string{
	"X-Actor", "X-Actor-Id", "Actor", "Omnigraph-Actor", "X-Omnigraph-Actor", "X-Omnigraph-Groups", "X-User", "X-User-Id", "X-Forwarded-User", "X-Forwarded-Email", "X-Forwarded-Groups", "X-Forwarded-Preferred-Username",
	"X-Auth-Request-User", "X-Remote-User", "Remote-User", "X-Original-User", "X-Amzn-Oidc-Identity", "X-Goog-Authenticated-User-Email", "X-Ms-Client-Principal-Name", "Impersonate-User", "X-Groups", "From", "X-Tenant", "Mcp-Session-Id",
	"X-Access-Token", "X-Api-Key", "Proxy-Authorization", "Cookie",
}

// TestNothingElseNamesTheActor sends a good token together with everything that may seem to
// identify another actor. Writes must belong to the actor of the token, and that actor must not
// gain rights.
func TestNothingElseNamesTheActor(t *testing.T) {
	i := newIdentity(t)
	for _, tl := range i.list("act-admin") {
		for _, member := range membersOf(t, tl.InputSchema) {
			filter := tl.Name == "proposal_get" && member == "author" // selects proposals, and writes nothing
			if slices.Contains(namesAnActor, member) && !filter {
				t.Errorf("the tool %s takes a member %s", tl.Name, member)
			}
		}
	}
	spoofed := http.Header{}
	for _, h := range headersOfActors {
		spoofed.Set(h, "act-admin")
	}
	spoofed.Set("Proxy-Authorization", "Bearer "+adminToken)
	spoofed.Set("Cookie", "token="+adminToken+"; actor=act-admin")
	add := func(object, member string) string {
		return strings.Replace(object, "{", fmt.Sprintf(`{%q:"act-admin",`, member), 1)
	}
	written := 0
	// check checks the answer of a write by act-writer.
	check := func(what string, a answer) {
		t.Helper()
		if strings.Contains(a.body, `"actor_id":"act-admin"`) {
			t.Errorf("%s writes as another: %s", what, a.body)
		}
		if strings.Contains(a.body, `"actor_id":"act-writer"`) {
			written++
		}
	}
	routes := &restMatrix{t: t, url: strings.TrimSuffix(i.url, "/graphs/people"), token: i.token}
	for _, row := range routes.writes() {
		// `actor` makes the write, and `other` is the actor that the request claims to be.
		actor, other := "act-writer", "act-admin"
		switch {
		case strings.Contains(row.feature, "w"):
		case strings.Contains(row.feature, "g"):
			actor = "act-guarded"
		default:
			actor, other = "act-admin", "act-writer"
		}
		send := func(actor string, change func(x *exchange)) answer {
			x := routes.of(row, "feature")
			change(&x)
			return routes.send(i.token(actor), x)
		}
		check := func(what string, a answer) {
			t.Helper()
			body := a.body
			if strings.Contains(row.route, "/proposals/{proposal}") { // another actor opened it; the last event is the write
				body = body[max(0, strings.LastIndex(body, `{"kind":`)):]
			}
			if strings.Contains(body, `"actor_id":"`+other+`"`) {
				t.Errorf("%s of %s writes as another: %s", what, row.name(), a.body)
			}
			if strings.Contains(body, `"actor_id":"`+actor+`"`) {
				written++
			}
		}
		headers := func(x *exchange) {
			for _, h := range headersOfActors {
				x.header.Set(h, other)
			}
			x.header.Set("Proxy-Authorization", "Bearer "+adminToken)
			x.header.Set("Cookie", "token="+adminToken+"; actor="+other)
		}
		a := send(actor, headers)
		check("headers", a)
		if want := row.wants(actor, "feature"); a.status != want {
			t.Errorf("headers on %s: %d %s, want %d", row.name(), a.status, a.body, want)
		}
		denied := "act-nothing"
		if a := send(denied, headers); a.status != row.wants(denied, "feature") {
			t.Errorf("headers on %s let %s write: %d %s", row.name(), denied, a.status, a.body)
		}
		for _, member := range namesAnActor {
			named := func(object string) string {
				return strings.Replace(object, "{", fmt.Sprintf(`{%q:%q,`, member, other), 1)
			}
			further := func(object string) string {
				return strings.Replace(object, `{"name"`, fmt.Sprintf(`{%q:%q,"name"`, member, other), 1)
			}
			check("a member "+member, send(actor, func(x *exchange) { x.body = named(x.body) }))
			check("further in a member "+member, send(actor, func(x *exchange) { x.body = further(x.body) }))
			parameter := func(x *exchange) {
				sep := "?"
				if strings.Contains(x.path, "?") {
					sep = "&"
				}
				x.path += sep + member + "=" + other
			}
			check("a parameter "+member, send(actor, parameter))
			if a := send(denied, func(x *exchange) { x.body = named(x.body); parameter(x) }); a.status < 400 {
				t.Errorf("%s of %s lets %s write: %s", member, row.name(), denied, a.body)
			}
		}
	}
	if want := len(routes.writes()) / 2; written < want {
		t.Errorf("%d writes named their actor, want %d at least: the test says little", written, want)
	}
	// Over MCP, in the arguments and in the surrounding members.
	everywhere := `"_meta":{"actor":"act-admin","actor_id":"act-admin","user":"act-admin","io.modelcontextprotocol/actor":"act-admin","authorization":"Bearer ` + adminToken + `"}`
	before := written
	for _, tl := range i.list("act-writer") {
		if tl.Annotations.ReadOnlyHint {
			continue
		}
		arguments := i.sampleArguments(tl, "feature")
		call := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"actor":"act-admin","method":"tools/call","params":{"name":%q,"actor_id":"act-admin","arguments":%s,%s}}`, tl.Name, arguments, everywhere)
		header := maps.Clone(spoofed)
		header.Set("Mcp-Protocol-Version", versions[0])
		check(tl.Name, i.send("act-writer", "POST", "/mcp", call, header))
		for _, member := range append(slices.Clone(namesAnActor), "_meta") {
			check(tl.Name+" with "+member, i.call("act-writer", versions[0], tl.Name, add(arguments, member)))
		}
	}
	if written == before {
		t.Error("no tool wrote: the test says little")
	}
	denied := fmt.Sprintf(`"name":"graph_mutate","arguments":{"query":%q,"branch":"feature"},%s`, addByHand, everywhere)
	header := maps.Clone(spoofed)
	header.Set("Mcp-Protocol-Version", versions[0])
	if a := i.send("act-reader", "POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{`+denied+`}}`, header); !strings.Contains(a.body, "unknown tool") {
		t.Errorf("_meta lets a reader write: %s", a.body)
	}
	// In the stateless protocol version, _meta contains the client's name.
	meta := `"_meta":{"actor":"act-admin","io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"act-admin","version":"0"},"io.modelcontextprotocol/clientCapabilities":{"actor":"act-admin"}}`
	for actor, want := range map[string]string{"act-reader": "unknown tool", "act-writer": `\"actor_id\":\"act-writer\"`} {
		h := maps.Clone(header)
		h["Mcp-Protocol-Version"], h["Mcp-Method"], h["Mcp-Name"] = []string{versions[1]}, []string{"tools/call"}, []string{"graph_mutate"}
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"graph_mutate","arguments":{"query":%q,"branch":"feature"},%s}}`, addByHand, meta)
		if a := i.send(actor, "POST", "/mcp", body, h); !strings.Contains(a.body, want) || strings.Contains(a.body, "act-admin") {
			t.Errorf("%s with _meta of another: %d %s, want %s", actor, a.status, a.body, want)
		}
	}
	start := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"actor":"act-admin"},"clientInfo":{"name":"act-admin","version":"0"},` + everywhere + `}}`
	header.Del("Mcp-Protocol-Version")
	a := i.send("act-reader", "POST", "/mcp", start, header)
	if a.status != 200 {
		t.Errorf("initialize: %d %s", a.status, a.body)
	}
}

// membersOf returns the names of all properties in a schema.
func membersOf(t *testing.T, schema json.RawMessage) (names []string) {
	t.Helper()
	var v any
	if err := json.Unmarshal(schema, &v); err != nil {
		t.Fatal(err)
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if properties, ok := v["properties"].(map[string]any); ok {
				names = slices.AppendSeq(names, maps.Keys(properties))
			}
			for _, inner := range v {
				walk(inner)
			}
		case []any:
			for _, inner := range v {
				walk(inner)
			}
		}
	}
	walk(v)
	return names
}

// TestNoTokenShows sends good and bad tokens over both transports, with calls that succeed, fail
// and are refused. It also sends tokens in place of an id. No part of a token may appear in an
// answer, in the log at level debug, in the metrics or in traces.
func TestNoTokenShows(t *testing.T) {
	slow.Test(t)
	spans := tracetest.NewInMemoryExporter()
	provider := trace.NewTracerProvider(trace.WithSyncer(spans))
	defer provider.Shutdown(context.Background())
	i := newIdentity(t, func(o *server.Options) {
		o.Tracer = provider
		o.Cluster.ServerPolicy = filepath.Join(t.TempDir(), "server.yaml")
		text := "version: 1\nrules:\n  - { id: lists, allow: { actors: { ids: [act-admin] }, actions: [graph_list] } }\n"
		if err := os.WriteFile(o.Cluster.ServerPolicy, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	})
	stranger := authtest.NewKey(t, "k2", jose.ES256)
	own := func(subject string, over map[string]any) string { return i.issuer.Token(t, i.key, subject, over) }
	good := own("act-writer", nil)
	tokens := map[string]string{
		"static": adminToken, "static, wrong": adminToken + "Xp6", "static, cut": adminToken[:len(adminToken)-1],
		"good": good, "of a reader": own("act-reader", nil), "of nobody": own("act-stranger", nil), "expired": own("act-writer", map[string]any{"exp": 1}),
		"not yet": own("act-writer", map[string]any{"nbf": 4102444800}), "audience": own("act-writer", map[string]any{"aud": "api://other"}),
		"issuer": own("act-writer", map[string]any{"iss": "https://evil.example"}), "unknown key": i.issuer.Token(t, stranger, "act-writer", nil),
		"of a static actor": own("act-admin", nil), "bad actor": own("a\nb", nil), "cut": good[:len(good)-4], "no signature": good[:strings.LastIndexByte(good, '.')+1],
		"like an id": "Qw7xK2mN9pL4vR8sT3yU6zB1cD5eF0gH", "huge": own("act-writer", map[string]any{"pad": strings.Repeat("a7Kq", 5000)}),
	}
	requests := []struct{ method, path, body string }{
		{"GET", "/schema", ""}, {"GET", "/queries", ""}, {"GET", "/nowhere", ""}, {"PUT", "/schema", ""},
		{"POST", "/query", `{"query":"query q() { match { $p: Person } return { $p.name } }"}`}, {"POST", "/query", `{"query":"query q("}`}, {"POST", "/query", `[`},
		{"POST", "/mutate", fmt.Sprintf(`{"query":%q}`, addByHand)}, {"POST", "/queries/find_person", `{"params":{"name":"ada"}}`}, {"POST", "/queries/none", `{}`},
		{"POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`}, {"POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"graph_query","arguments":{"query":"query q() { match { $p: Person } return { $p.name } }"}}}`},
		{"POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"none","arguments":{}}}`}, {"POST", "/mcp", `{`}, {"GET", "/mcp", ""}, {"DELETE", "/mcp", ""},
	}
	statuses := map[int]int{}
	for name, token := range tokens {
		m := i.as(token)
		for _, down := range []bool{false, true} {
			i.issuer.Down(down)
			for _, r := range requests {
				for _, header := range []http.Header{{"X-Request-Id": {token}}, {"X-Request-Id": {token[:min(len(token), 24)]}, "Tracestate": {"a=b"}, "Proxy-Authorization": {"Bearer " + token}, "Cookie": {"token=" + token}, "X-Access-Token": {token}}} {
					a := m.send("", r.method, r.path, r.body, header)
					statuses[a.status]++
					if err := authtest.LeakedPiece(fmt.Append([]byte(a.body), a.header), token); err != nil {
						t.Errorf("%s: %s %s: %v", name, r.method, r.path, err)
					}
				}
			}
			a := m.send("", "GET", "/schema?access_token="+url.QueryEscape(token), "", nil)
			if err := authtest.LeakedPiece(fmt.Append([]byte(a.body), a.header), token); err != nil {
				t.Errorf("%s: in a parameter: %v", name, err)
			}
		}
	}
	for _, status := range []int{200, 400, 401, 403, 404, 405} {
		if statuses[status] == 0 {
			t.Errorf("no answer had status %d: %v", status, statuses)
		}
	}
	admin := i.as(adminToken)
	admin.url = strings.TrimSuffix(admin.url, "/graphs/people")
	metrics := admin.send("", "GET", "/metrics", "", nil)
	if metrics.status != http.StatusOK || !strings.Contains(metrics.body, "omnigraph_auth_failures_total") {
		t.Errorf("the metrics are %d %s", metrics.status, metrics.body)
	}
	var traced []byte
	for _, s := range spans.GetSpans() {
		traced = fmt.Appendln(traced, s.Name, s.Attributes, s.Events, s.Status, s.Links, s.Resource, s.SpanContext.TraceState().String())
	}
	if !bytes.Contains(traced, []byte("/graphs/{id}/mcp")) {
		t.Error("nothing is traced: the test says little")
	}
	log := i.log.Bytes()
	if !bytes.Contains(log, []byte("authentication refused")) {
		t.Error("nothing is in the log: the test says little")
	}
	for name, token := range tokens {
		for where, text := range map[string][]byte{"log": log, "metrics": []byte(metrics.body), "traces": traced} {
			if err := authtest.LeakedPiece(text, token); err != nil {
				t.Errorf("%s, in the %s: %v", name, where, err)
			}
		}
	}
}
