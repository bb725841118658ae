package studio

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
)

// appHost is a client that shows apps: a page with the app in a frame, and the connection of an agent to the server.
type appHost struct {
	t    *testing.T
	site *site

	mu   sync.Mutex
	sent []string // bodies of tools/call; guarded by mu
}

// hostPage shows the app in a frame that has no sandbox, so that the test can look into it. It passes its calls on, and gives it the answer of the agent's call.
// A member of `spoils` makes another answer of one that lists changes.
const hostPage = `<!doctype html><title>Host</title><iframe style="width: 100%; height: 2000px"></iframe><script>
const frame = document.querySelector("iframe");
const rpc = (method, params) => fetch("/mcp", { method: "POST", body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }) }).then((r) => r.json());
const post = (message) => frame.contentWindow.postMessage({ jsonrpc: "2.0", ...message }, "*");
const spoils = {
  fails: () => ({ isError: true, content: [{ type: "text", text: '{"error":"it took too long"}' }] }),
  large: (r, args) => args.limit > 20 ? { isError: true, content: [{ type: "text", text: '{"error":"too large","resource_limit":{}}' }] } : r,
  other: (r) => ({ content: [{ type: "text", text: r.content[0].text.replace(/"digest":"[^"]*"/, '"digest":"sha256:0"') }] }),
};
let spoil = new URLSearchParams(location.search).get("spoil");
addEventListener("message", async ({ data: m }) => {
  if (m.method === "ui/initialize") post({ id: m.id, result: { protocolVersion: "2026-01-26", hostInfo: { name: "host", version: "1" }, hostCapabilities: { serverTools: {} }, hostContext: { theme: "light" } } });
  if (m.method === "ui/notifications/initialized") {
    const args = { proposal: new URLSearchParams(location.search).get("proposal") };
    post({ method: "ui/notifications/tool-input", params: { arguments: args } });
    post({ method: "ui/notifications/tool-result", params: (await rpc("tools/call", { name: "proposal_get", arguments: args })).result });
  }
  if (m.method === "tools/call") { const a = await rpc(m.method, m.params); if (m.params.arguments.changes && spoil) a.result = spoils[spoil](a.result, m.params.arguments); post({ id: m.id, result: a.result, error: a.error }); }
});
rpc("resources/read", { uri: "ui://omnigraph/review" }).then((a) => (frame.srcdoc = a.result.contents[0].text));
</script>`

// ServeHTTP serves the page, and passes messages on with the token of the agent.
func (h *appHost) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		// What a host must enforce for an app without domains.
		w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; frame-src 'self'; connect-src 'self'")
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, hostPage)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		h.t.Error(err)
		return
	}
	h.mu.Lock()
	h.sent = append(h.sent, string(body))
	h.mu.Unlock()
	q, err := http.NewRequestWithContext(r.Context(), http.MethodPost, h.site.url+"/graphs/code/mcp", bytes.NewReader(body))
	if err != nil {
		h.t.Error(err)
		return
	}
	for name, v := range map[string]string{"Authorization": "Bearer " + h.site.token["act-bot"], "Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2025-11-25"} {
		q.Header.Set(name, v)
	}
	res, err := http.DefaultClient.Do(q)
	if err != nil {
		h.t.Error(err)
		return
	}
	defer res.Body.Close()
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.Copy(w, res.Body)
}

// app waits until the app shows a text.
func (b *tab) app(text string) {
	b.t.Helper()
	b.wait(fmt.Sprintf(`document.querySelector("iframe")?.contentDocument?.body?.innerText.includes(%q) === true`, text))
}

// pressInApp clicks a button of the app.
func (b *tab) pressInApp(name string) {
	b.t.Helper()
	b.run(chromedp.Evaluate(fmt.Sprintf(`[...document.querySelector("iframe").contentDocument.querySelectorAll("button")].find(e => e.innerText === %q).click()`, name), nil))
}

// typeInApp types a review key into the app.
func (b *tab) typeInApp(key string) {
	b.t.Helper()
	b.run(chromedp.Evaluate(fmt.Sprintf(`(e => { e.value = %q; e.dispatchEvent(new Event("input")); })(document.querySelector("iframe").contentDocument.querySelector("input[type=password]"))`, key), nil))
}

// TestReviewApp reviews and merges a proposal in a client that shows apps, over the connection of an agent, with a key that the studio makes.
func TestReviewApp(t *testing.T) {
	needBrowser(t)
	s := codeSite(t, `
  - id: ada-reviews
    allow: { actors: { ids: [act-ada] }, actions: [proposal_review, branch_merge] }
  - id: bot-helps
    allow: { actors: { ids: [act-bot] }, actions: [read] }
`)
	b := openTab(t)
	b.logIn(s, "act-ada", "/studio/code/review/"+s.proposal)
	b.run(chromedp.Click(`//summary[normalize-space()="Review where an agent works"]`, chromedp.BySearch), chromedp.Click(`//button[normalize-space()="Make a review key"]`, chromedp.BySearch))
	b.wait(`document.querySelector("details code")?.innerText.startsWith("rk_") === true`)
	b.accessible()
	key := eval[string](b, `document.querySelector("details code").innerText`)
	secret := key[strings.LastIndexByte(key, '_')+1:]

	h := &appHost{t: t, site: s}
	host := httptest.NewServer(h)
	defer host.Close()
	b.run(chromedp.Navigate(host.URL + "/?proposal=" + s.proposal))
	b.app("Correct a note")
	b.app("Read me twice")
	b.pressInApp("Approve")
	b.app("Type the review key")
	b.typeInApp(key[:len(key)-1] + "A2"[strings.Count(key[len(key)-1:], "A"):][:1])
	b.pressInApp("Approve")
	b.app("no valid review key signed this decision")
	b.typeInApp(key)
	b.pressInApp("Approve")
	b.app("You approved the proposal.")
	b.app("Approved by: act-ada")
	b.pressInApp("Merge")
	b.app("The proposal is merged.")
	b.shoot("review-app")
	b.quiet()
	var p struct {
		State  string
		Events []struct {
			Kind    string
			ActorID string `json:"actor_id"`
		}
	}
	s.get(t, "act-dev", "/graphs/code/proposals/"+s.proposal, &p)
	if last, err := json.Marshal(p.Events); p.State != "merged" || err != nil || !strings.Contains(string(last), `{"Kind":"merged","actor_id":"act-ada"}`) {
		t.Errorf("the proposal is %s: %s", p.State, last)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if all := strings.Join(h.sent, "\n"); strings.Contains(all, secret) || strings.Contains(all, key[:len(key)-1]) {
		t.Error("the secret of the key left the app")
	}
}

// TestReviewAppShowsAll checks that a person approves and merges only what the app shows: all changes, or the text of a query.
func TestReviewAppShowsAll(t *testing.T) {
	needBrowser(t)
	s := codeSite(t, `
  - id: ada-proposes
    allow: { actors: { ids: [act-ada] }, actions: [query_propose] }
  - id: bot-helps
    allow: { actors: { ids: [act-bot] }, actions: [read] }
`)
	b := openTab(t)
	host := httptest.NewServer(&appHost{t: t, site: s})
	defer host.Close()
	enabled := func(name string, want bool) {
		t.Helper()
		if got := eval[bool](b, fmt.Sprintf(`[...document.querySelector("iframe").contentDocument.querySelectorAll("button")].some(e => e.innerText === %q && !e.disabled)`, name)); got != want {
			t.Errorf("%s is enabled: %v", name, got)
		}
	}
	again := func(spoil string) {
		b.run(chromedp.Evaluate(fmt.Sprintf("spoil = %q", spoil), nil))
		b.pressInApp("Load again")
	}
	ready := `[...document.querySelector("iframe").contentDocument.querySelectorAll("button")].some(e => e.innerText === "Load again" && !e.disabled)`
	b.run(chromedp.Navigate(host.URL + "/?spoil=fails&proposal=" + s.proposal))
	b.app("it took too long")
	enabled("Approve", false)
	again("")
	b.app("Correct a note")
	b.wait(ready)
	enabled("Approve", true)
	again("other")
	b.app("become others while they are read")
	b.app("You can approve and merge when all changes are shown.")
	enabled("Approve", false)
	enabled("Merge", false)
	enabled("Ask for changes", true)
	again("large")
	b.wait(ready)
	enabled("Approve", true)
	again("fails")
	b.app("it took too long")
	enabled("Approve", false)

	var p struct{ ID string }
	s.ask(t, "act-ada", "POST", "/graphs/code/proposed-queries", `{"name":"many","query":"query many($least: I32 @example(10)) { match { $f: File $f.lines >= $least } return { $f.path as path } limit 5 }","description":"Long files.","why":"Harmless."}`, &p)
	b.run(chromedp.Navigate(host.URL + "/?proposal=" + p.ID))
	b.app("$f.lines >= $least")
	b.wait(ready)
	enabled("Approve", true)
	b.quiet()
}
