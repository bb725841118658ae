package studio

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// issuerSite serves a graph to the users of an issuer.
func issuerSite(t *testing.T, i *issuer) *site {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "shop.pg"), "node Item { slug: String @key }\n")
	write(t, filepath.Join(dir, "shop.ndjson"), `{"type":"Item","data":{"slug":"desk-lamp"}}`+"\n")
	write(t, filepath.Join(dir, "policy.yaml"), "version: 1\nrules:\n  - id: cleo-reads\n    allow: { actors: { ids: ["+subject+"] }, actions: [read] }\n")
	write(t, filepath.Join(dir, "cluster.yaml"), fmt.Sprintf(`version: 1
storage: ./data
graphs:
  shop: { schema: shop.pg }
policies:
  p: { file: policy.yaml, applies_to: [shop] }
server:
  studio: true
  oidc:
    issuer: %q
    audience: %s
    studio: { client_id: %s, scopes: [graph] }
`, i.url, audience, clientID))
	fill(t, dir, "shop", filepath.Join(dir, "shop.ndjson"))
	s := serve(t, command(t, "omnigraph-server"), dir, "shop")
	i.mu.Lock()
	i.callback = s.url + "/studio/callback"
	i.mu.Unlock()
	return s
}

// logInAtIssuer clicks through the login, from the login page of the studio to the page that the studio shows
// after its callback.
func (b *tab) logInAtIssuer() {
	b.t.Helper()
	b.wait(`document.querySelector("main.login p button:enabled") !== null`)
	b.run(chromedp.Click("main.login p button", chromedp.ByQuery))
	b.arrive(`document.querySelector("#go") !== null`)
	b.run(chromedp.Click("#go", chromedp.ByQuery))
	b.arrive(`location.pathname.startsWith("/studio/") && document.querySelector("h1") !== null && !document.body.innerText.includes("Logging in…")`)
}

// arrive waits until a JavaScript condition holds on the page to which the browser is navigating. Unlike the
// method wait, it does not fail when the navigation ends the evaluation.
func (b *tab) arrive(condition string) {
	b.t.Helper()
	for range 400 {
		var holds bool
		if chromedp.Run(b.ctx, chromedp.Evaluate(condition, &holds)) == nil && holds {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	b.t.Fatalf("the browser does not arrive where %s; the page is:\n%.2000s", condition, b.text())
}

// TestLogInAtIssuer logs in at an issuer, and again after the token has expired. Both times the studio
// shows the page that the user wanted to see. The browser keeps the access token of the tab and nothing
// else.
func TestLogInAtIssuer(t *testing.T) {
	needBrowser(t)
	i := startIssuer(t)
	s := issuerSite(t, i)
	b := openTab(t)
	wanted := s.url + "/studio/shop/entity/Item?q=lamp"
	b.run(chromedp.Navigate(wanted))
	b.wait(`document.querySelector("main.login p button") !== null`)
	b.wantText("Log in at " + strings.TrimPrefix(i.url, "http://"))
	b.accessible()
	b.shoot("login-issuer")

	// After the user has gone back from the issuer, the button works again.
	b.wait(`document.querySelector("main.login p button:enabled") !== null`)
	b.run(chromedp.Click("main.login p button", chromedp.ByQuery))
	b.arrive(`document.querySelector("#go") !== null`)
	b.run(chromedp.Evaluate("setTimeout(() => history.back())", nil))
	b.arrive(`document.querySelector("main.login p button:enabled") !== null`)
	b.run(chromedp.Navigate(wanted))
	b.logInAtIssuer()
	b.shows("desk-lamp")
	b.settle()
	if got := eval[string](b, "location.href"); got != wanted {
		t.Errorf("after the login the address is %s, want %s", got, wanted)
	}
	if keys := eval[[]string](b, "Object.keys(sessionStorage).concat(Object.keys(localStorage))"); len(keys) != 1 || keys[0] != "omnigraph-token" {
		t.Errorf("after the login the browser stores %q, want only the token", keys)
	}
	if strings.Contains(eval[string](b, "JSON.stringify(sessionStorage)"), refreshToken) {
		t.Error("the studio keeps a refresh token")
	}
	b.run(chromedp.ActionFunc(func(ctx context.Context) error {
		cookies, err := network.GetCookies().Do(ctx)
		if len(cookies) > 0 {
			t.Errorf("the browser has %d cookies", len(cookies))
		}
		return err
	}))

	// A forged answer does not end the session.
	b.open(s, "/studio/callback?code=1&state=2")
	if got := eval[string](b, "location.pathname + location.search"); got != "/studio/" || eval[string](b, "sessionStorage.getItem('omnigraph-token')") == "" {
		t.Errorf("a forged answer leads to %s", got)
	}

	// The token expires on another page.
	b.open(s, "/studio/shop/schema")
	b.expire()
	b.run(chromedp.Click(`nav a[href$="/history"]`, chromedp.ByQuery))
	b.shows("The server does not accept the token any more.")
	b.run(fetch.Disable())
	b.logInAtIssuer()
	b.shows("There is no other branch to compare with.")
	if got := eval[string](b, "location.pathname"); got != "/studio/shop/history" {
		t.Errorf("after the second login the page is %s", got)
	}
	b.quiet()
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, fault := range i.faults {
		t.Error(fault)
	}
}

// TestBrokenIssuer logs in at an issuer that breaks the protocol, or with a forged answer. The studio must
// refuse the login and store no token.
func TestBrokenIssuer(t *testing.T) {
	needBrowser(t)
	i := startIssuer(t)
	s := issuerSite(t, i)
	b := openTab(t)
	set := func(name, value string) func(url.Values) { return func(q url.Values) { q.Set(name, value) } }
	claim := func(name string, value any) func(map[string]any) {
		return func(c map[string]any) { c[name] = value }
	}
	for _, tt := range []struct {
		name  string
		wrong wrong
		want  string
	}{
		{"another state", wrong{answer: set("state", "x")}, "does not belong to a login that began in this tab"},
		{"another iss", wrong{answer: set("iss", "https://evil.example.com")}, "comes from another issuer"},
		{"no iss", wrong{answer: func(q url.Values) { q.Del("iss") }}, "comes from another issuer"},
		{"a refusal", wrong{answer: func(q url.Values) {
			q.Del("code")
			q.Set("error", "access_denied")
			q.Set("error_description", "<b>no</b> \u202e")
		}}, "The issuer refused the login: access_denied: <b>no</b> U+202E"},
		{"another nonce", wrong{claims: claim("nonce", "x")}, "does not belong to this login"},
		{"no nonce", wrong{claims: func(c map[string]any) { delete(c, "nonce") }}, "does not belong to this login"},
		{"an ID token of another issuer", wrong{claims: claim("iss", "https://evil.example.com")}, "The ID token comes from another issuer"},
		{"an ID token for another client", wrong{claims: claim("aud", "other")}, "for another client"},
		{"an ID token for two clients", wrong{claims: claim("aud", []string{clientID, "other"})}, "for another client"},
		{"an ID token that has expired", wrong{claims: claim("exp", 1)}, "The ID token has expired"},
		{"a refused code", wrong{tokens: http.StatusUnauthorized}, "The issuer refused the login: invalid_client: The client is U+202E"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			outer := b.t
			b.t = t
			defer func() { b.t = outer }()
			i.be(tt.wrong)
			b.run(chromedp.Navigate(s.url + "/studio/shop/schema"))
			b.logInAtIssuer()
			b.shows(tt.want)
			if stored := eval[int](b, "sessionStorage.length"); stored != 0 {
				t.Errorf("%d values are stored", stored)
			}
			if got := eval[string](b, "location.search"); got != "" {
				t.Errorf("the address still has %s", got)
			}
		})
	}
	for _, tt := range []struct {
		name     string
		document map[string]any
		want     string
	}{
		{"another name", map[string]any{"issuer": "https://evil.example.com"}, "describes itself with another name"},
		{"tokens on another host", map[string]any{"token_endpoint": "http://127.0.0.1:1/token"}, "The token endpoint of the issuer is on another host"},
		{"a script as authorization endpoint", map[string]any{"authorization_endpoint": "javascript:alert(1)"}, "The issuer does not describe its authorization_endpoint"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			outer := b.t
			b.t = t
			defer func() { b.t = outer }()
			i.be(wrong{document: tt.document})
			b.run(chromedp.Navigate(s.url + "/studio/shop/schema"))
			b.wait(`document.querySelector("main.login p button:enabled") !== null`)
			b.run(chromedp.Click("main.login p button", chromedp.ByQuery))
			b.shows(tt.want)
			b.accessible()
		})
	}
	b.quiet()
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, fault := range i.faults {
		t.Error(fault)
	}
}
