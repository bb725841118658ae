package studio

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// bridgeHost serves a host on the official AppBridge. The host speaks to the server with the token of the agent.
func bridgeHost(t *testing.T, s *site) *httptest.Server {
	t.Helper()
	folder := filepath.Join("testdata", "apphost")
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip("no npm: the host on AppBridge is left out")
	}
	must(t, folder, "npm", "ci", "--silent", "--no-audit", "--no-fund")
	out := filepath.Join(t.TempDir(), "host.js")
	must(t, folder, "npx", "--no-install", "esbuild", "host.js", "--bundle", "--format=esm", "--log-level=error", "--outfile="+out)
	script, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	target, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		// What a host must enforce for an app without domains. The script of the host is a file, and that of the app stands in it.
		w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; frame-src 'self'; connect-src 'self'")
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(`<!doctype html><html lang="en"><title>Host</title><link rel="icon" href="data:,"><iframe style="width: 100%; height: 2000px"></iframe><script type="module" src="/host.js"></script>`))
	})
	mux.HandleFunc("GET /host.js", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
		_, _ = w.Write(script)
	})
	mux.Handle("/mcp", &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.URL.Path = "/graphs/code/mcp"
		r.Out.Header.Del("Origin")
		r.Out.Header.Set("Authorization", "Bearer "+s.token["act-bot"])
	}})
	host := httptest.NewServer(mux)
	t.Cleanup(host.Close)
	return host
}

// TestReviewAppBridge reviews and merges in a host on the official packages, which declares apps in initialize only, and shows the app in
// one that declares them with each request. The agent's own list has no tool that decides.
func TestReviewAppBridge(t *testing.T) {
	needBrowser(t)
	s := codeSite(t, `
  - id: ada-reviews
    allow: { actors: { ids: [act-ada] }, actions: [proposal_review, branch_merge] }
  - id: bot-helps
    allow: { actors: { ids: [act-bot] }, actions: [read] }
`)
	host := bridgeHost(t, s)
	b := openTab(t)
	b.logIn(s, "act-ada", "/studio/code/review/"+s.proposal)
	b.run(chromedp.Click(`//summary[normalize-space()="Review where an agent works"]`, chromedp.BySearch), chromedp.Click(`//button[normalize-space()="Make a review key"]`, chromedp.BySearch))
	b.wait(`document.querySelector("details code")?.innerText.startsWith("rk_") === true`)
	key := eval[string](b, `document.querySelector("details code").innerText`)

	for _, v := range [][2]string{{"newest&", "2026-07-28"}, {"", "2025-11-25"}} { // the second one stays open
		asked, version := v[0], v[1]
		b.run(chromedp.Navigate(host.URL + "/?" + asked + "proposal=" + s.proposal))
		b.app("Correct a note")
		b.app("Read me twice")
		if got := eval[string](b, "version"); got != version {
			t.Errorf("%q: the host speaks version %s, want %s", asked, got, version)
		}
		if model, app := eval[[]string](b, "forModel"), eval[[]string](b, "forApp"); slices.Contains(model, "proposal_decide") || !slices.Equal(app, []string{"proposal_decide"}) {
			t.Errorf("%q: the host gives the agent %s, and the app %s", asked, strings.Join(model, ", "), app)
		}
	}
	b.pressInApp("Approve")
	b.app("Type the review key")
	b.typeInApp(key)
	b.pressInApp("Approve")
	b.app("You approved the proposal.")
	b.pressInApp("Merge")
	b.app("The proposal is merged.")
	b.quiet()
	var p struct{ State string }
	s.get(t, "act-dev", "/graphs/code/proposals/"+s.proposal, &p)
	if p.State != "merged" {
		t.Errorf("the proposal is %s", p.State)
	}
}
