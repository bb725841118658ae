package studio

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// audits lets the actor of the development token read the audit trail.
const audits = "  - id: audits\n    allow: { actors: { ids: [act-dev] }, actions: [audit_read] }\n"

// TestHeader opens what an actor may do from the header, as an actor with all permissions and as one with few.
func TestHeader(t *testing.T) {
	needBrowser(t)
	code, brain := codeSite(t, audits), brainSite(t)
	for _, c := range []struct {
		site           *site
		actor          string
		page           string
		may, not, rule string // texts of the panel
	}{
		{code, "act-dev", "/studio/code/schema", "see all calls", "", "Which rules say so"},
		{code, "act-ada", "/studio/code/schema", "read", "write", ""},
		{brain, "act-bot", "/studio/brain/run/find_documents", "read through stored queries", "write", ""},
	} {
		t.Run(c.site.graph+" "+c.actor, func(t *testing.T) {
			b := openTab(t)
			b.logIn(c.site, c.actor, c.page)
			b.wantText("logged in as " + c.actor)
			b.tabTo("header .me [aria-expanded]")
			b.run(chromedp.KeyEvent(kb.Enter))
			b.wait("document.querySelector('.rights-panel li') !== null || document.querySelector('.rights-panel .empty') !== null")
			panel := eval[string](b, "document.querySelector('.rights-panel').textContent")
			for _, want := range []string{c.actor, c.may, c.not, c.rule, "tool"} {
				if !strings.Contains(panel, want) {
					t.Errorf("the panel has no %q:\n%s", want, panel)
				}
			}
			if c.rule == "" && strings.Contains(panel, "rules") {
				t.Errorf("the panel names rules:\n%s", panel)
			}
			b.looks("header-" + c.site.graph + "-" + c.actor)
			if !eval[bool](b, "document.querySelector('.rights-panel') !== null") {
				t.Error("the panel did not stay open")
			}
			b.run(chromedp.Focus("header .me [aria-expanded]", chromedp.ByQuery), chromedp.KeyEvent(kb.Escape))
			b.wait("document.querySelector('.rights-panel') === null && document.activeElement.matches('.me button')")
			b.quiet()
		})
	}
}

// TestOverview looks at the overview as an actor with all permissions and as one with few.
func TestOverview(t *testing.T) {
	needBrowser(t)
	s, brain := codeSite(t, audits), brainSite(t)
	var state struct {
		Datasets []struct {
			TypeName    string `json:"type_name"`
			EntityKind  string `json:"entity_kind"`
			EntityCount int    `json:"entity_count"`
		}
	}
	s.get(t, "act-dev", "/graphs/code/snapshot", &state)
	nodes := 0
	for _, d := range state.Datasets {
		if d.EntityKind == "node" {
			nodes += d.EntityCount
		}
	}
	s.mutateSaying(t, "review", "Say <img src=x onerror=alert(1)> \u202e why", `update Note set { text: "Read me thrice" } where slug = "first"`)
	b := openTab(t)
	b.logIn(s, "act-dev", "/studio/code?branch=review")
	b.wantText("act-dev may read", "In the graph", "Package", "How it grew", "Correct a note", "Last commits", "Calls of the last day", "add_note", "Say <img src=x onerror=alert(1)> U+202E why")
	b.open(s, "/studio/code")
	if got := eval[string](b, "document.querySelector('.figure-value').innerText.replaceAll(',', '')"); got != fmt.Sprint(nodes) {
		t.Errorf("the page shows %s nodes, want %d", got, nodes)
	}
	if n := eval[int](b, "document.querySelectorAll('.spark polyline').length"); n != 2 {
		t.Errorf("the growth has %d lines, want 2", n)
	}
	b.looks("overview-all")
	b.resize(2560, 1300)
	b.fits(2560)
	b.shoot("overview-all-wide")
	b.resize(1280, 900)
	b.click(".bars a")
	b.wait("location.pathname.includes('/data/')")
	b.quiet()

	// An actor who may read, and not see calls.
	b.logIn(s, "act-ada", "/studio/code")
	b.wantText("act-ada may read", "Package", "Correct a note", "the policy does not allow audit_read")
	b.quiet()

	// An actor who may only call two stored queries.
	b.logIn(brain, "act-bot", "/studio/brain")
	b.wantText("act-bot may read through stored queries on main", "only what you have a right to: the policy does not allow read on branch main; the policy does not allow audit_read", "Run one of your stored queries")
	b.looks("overview-little")
	b.quiet()
}

// TestCalls filters the calls, opens one, and runs it again.
func TestCalls(t *testing.T) {
	needBrowser(t)
	s := codeSite(t, audits)
	s.send(t, "act-ada", "POST", "/graphs/code/queries/heaviest_packages", `{"params":{"limit":3}}`)
	b := openTab(t)
	b.logIn(s, "act-ada", "/studio/code/calls")
	b.wantText("the policy does not allow audit_read")
	b.looks("calls-little")
	b.quiet()

	b.logIn(s, "act-dev", "/studio/code/calls")
	b.wantText("heaviest_packages", "act-ada", "add_note")
	b.looks("calls")
	b.open(s, "/studio/code/calls?actor=act-ada&outcome=forbidden")
	b.wantText("audit_read", "forbidden")
	if eval[bool](b, "document.querySelector('tbody').innerText.includes('act-dev')") {
		t.Error("the filter lets other actors through")
	}
	b.open(s, "/studio/code/calls?tool=no_such_tool")
	b.wantText("No call matches the filters.")
	b.open(s, "/studio/code/calls?tool=heaviest_packages")
	b.click("tbody a")
	b.settle()
	b.wantText("heaviest_packages by act-ada", "Took", "Package", "server.audit.values", "Open its form, to run it as me")
	b.looks("call")
	b.click("a.button")
	b.wait("location.pathname === '/studio/code/run/heaviest_packages'")

	if resp, err := http.Get(s.url + "/graphs/code/snapshot"); err != nil || resp.Body.Close() != nil || resp.StatusCode != http.StatusUnauthorized {
		t.Fatalf("without a token: %+v, %v", resp, err)
	}
	b.open(s, "/studio/code/calls?outcome=unauthorized")
	b.click("tbody a")
	b.settle()
	b.wantText("Denied by", "the server: no valid token")

	// A live list shows a call that another actor makes meanwhile.
	b.open(s, "/studio/code/calls?live=1&tool=find_symbols")
	b.wantText("No call matches the filters.")
	s.send(t, "act-ada", "POST", "/graphs/code/queries/find_symbols", `{"params":{"words":"invoke"}}`)
	b.wait("document.querySelector('tbody')?.innerText.includes('find_symbols') === true")
	b.open(s, "/studio/code/calls/1.2.nothing")
	b.wantText("Not found", "The trail has no such call")
	b.quiet()
}

// TestCallsWithValues runs a read again with the arguments that the trail keeps.
func TestCallsWithValues(t *testing.T) {
	needBrowser(t)
	s := configuredSite(t, "  audit: { values: true }\n", audits)
	s.send(t, "act-ada", "POST", "/graphs/code/queries/heaviest_packages", `{"params":{"limit":3}}`)
	s.send(t, "act-ada", "POST", "/graphs/code/query", `{"query":"query mine() { match { $p: Package } return { $p.name } limit 2 }"}`)
	b := openTab(t)
	b.logIn(s, "act-dev", "/studio/code/calls?tool=heaviest_packages")
	b.click("tbody a")
	b.settle()
	b.click("a.button")
	b.wait("location.search.includes('p.limit=3')")
	b.wantText("3 rows")
	b.open(s, "/studio/code/calls?tool=query&actor=act-ada")
	b.click("tbody a")
	b.settle()
	b.run(chromedp.Click(`//button[normalize-space()="Open in Query, to run it as me"]`, chromedp.BySearch))
	b.wait("location.pathname === '/studio/code/query'")
	b.wantText("mine")
	b.quiet()
}

// TestComparePage compares two branches and two commits, and opens a proposal.
func TestComparePage(t *testing.T) {
	needBrowser(t)
	s := codeSite(t)
	s.send(t, "act-dev", "POST", "/graphs/code/branches", `{"name":"try"}`)
	s.send(t, "act-dev", "POST", "/graphs/code/mutate", `{"branch":"try","query":"query m() { update Note set { text: \"<b>bold</b>\" } where slug = \"first\" }"}`)
	b := openTab(t)
	b.logIn(s, "act-ada", "/studio/code/compare")
	b.wantText("try against main", "review against main")
	b.run(chromedp.Click(`//a[contains(., "try") and contains(., "against")]`, chromedp.BySearch))
	b.wantText("A merge would change nodes: 0 new, 1 changed, 0 deleted", "<b>bold</b>", "See https://example.com/why", "Open a proposal")
	b.looks("compare-branches")
	b.open(s, "/studio/code/compare?from=main&into=try")
	b.wantText("main has nothing that try lacks.")
	b.open(s, "/studio/code/compare?from=review&into=try")
	b.wantText("One conflict stands in the way of a merge")
	b.open(s, "/studio/code/compare?from=review&into=main")
	b.wantText("There is an open proposal", "Correct a note")
	list := commitsOf(t, s, "main")
	b.open(s, "/studio/code/compare?from="+list[0].ID+"&into="+list[1].ID)
	b.wantText("insert", "first", "1 new")
	b.open(s, "/studio/code/compare?from=try&into=main")
	b.click("a.button")
	b.wait("document.querySelector('#source')?.value === 'try' && document.querySelector('#into').value === 'main'")
	b.open(s, "/studio/code/compare?from=none&into=main")
	b.wantText("Not found")
	b.quiet()

	brain := brainSite(t)
	b.logIn(brain, "act-bot", "/studio/brain/compare")
	b.wantText("Not allowed")
	b.quiet()
}

// mutateSaying changes a branch as act-dev, with a message.
func (s *site) mutateSaying(t *testing.T, branch, message, statement string) {
	t.Helper()
	body := fmt.Sprintf(`{"branch":%q,"query":%q}`, branch, "query m() { "+statement+" }")
	r, err := http.NewRequest(http.MethodPost, s.url+"/graphs/"+s.graph+"/mutate", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.token["act-dev"])
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Omnigraph-Message", url.PathEscape(message))
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(res.Body)
		t.Fatalf("%s %s", res.Status, text)
	}
}

// TestProposeQuery proposes a query as a tool, and publishes it as another actor.
func TestProposeQuery(t *testing.T) {
	needBrowser(t)
	s := codeSite(t, "  - id: authors\n    allow: { actors: { ids: [act-ada] }, actions: [query_propose] }\n", "  - id: publishers\n    allow: { actors: { ids: [act-dev] }, actions: [proposal_review, query_publish] }\n")
	b := openTab(t)
	b.logIn(s, "act-ada", "/studio/code/query")
	b.write("query longest_files($least: I32 @example(10)) {\n  match { $f: File $f.lines >= $least }\n  return { $f.path as path, $f.lines as lines }\n  order { lines desc }\n  limit 5\n}")
	b.wantText("This query reads.")
	propose := `//button[normalize-space()="Propose as a tool"]`
	b.run(chromedp.Click(propose, chromedp.BySearch))
	b.wantText("Propose longest_files as a tool")
	b.run(chromedp.Click(`//button[normalize-space()="Propose the tool"]`, chromedp.BySearch))
	b.wantText("Tell the reviewer why the query should be kept.")
	b.run(chromedp.SendKeys("#tool-description", "The longest files, <b>by lines</b>.", chromedp.ByQuery),
		chromedp.SendKeys("#tool-questions", "Which files are long?"+kb.Enter+"What should be split?", chromedp.ByQuery),
		chromedp.SendKeys("#tool-why", "Asked every week.", chromedp.ByQuery))
	b.looks("propose-query")
	b.run(chromedp.Focus("form.panel button[type=submit]", chromedp.ByQuery), chromedp.KeyEvent(kb.Enter))
	b.wait("document.querySelector('pre') !== null && location.pathname.includes('/review/')")
	b.wantText("longest_files: The longest files, <b>by lines</b>.", "Asked every week.", "@question(\"Which files are long?\")", "With the arguments {\"least\":10}", "rows in total", "The linter finds nothing.")
	b.looks("proposed-query")
	path := eval[string](b, "location.pathname")
	b.quiet()

	b.logIn(s, "act-dev", path)
	b.run(chromedp.Click(`//button[normalize-space()="Publish the tool"]`, chromedp.BySearch))
	b.wantText("The query is published as a tool.")
	b.open(s, "/studio/code/run/longest_files?p.least=1&run=1")
	b.wantText("5 rows")
	b.open(s, "/studio/code/review?state=any")
	b.wantText("longest_files", "a query")
	b.quiet()

	// Without the right there is no such button.
	b.open(s, "/studio/code/query")
	b.write("query q() { match { $f: File } return { $f.path } limit 1 }")
	b.wantText("This query reads.")
	if strings.Contains(b.text(), "Propose as a tool") {
		t.Error("an actor who may not propose queries sees the button")
	}
	b.quiet()
}
