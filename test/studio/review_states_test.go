package studio

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestReviewMovedMeanwhile decides about a proposal that has changed since the page was opened.
func TestReviewMovedMeanwhile(t *testing.T) {
	needBrowser(t)
	s := reviewSite(t)
	id := s.propose(t, "try/one", "A new lamp", "", `insert Item { slug: "wall-lamp", title: "Wall lamp" }`)
	const changed = "The proposal or one of its branches has changed since you opened this page."
	b := openTab(t)
	b.logIn(s, "act-ada", "/studio/shop/review/"+id)
	s.mutate(t, "act-bot", "try/one", `update Item set { title: "Lamp for walls" } where slug = "wall-lamp"`)
	b.click("button[value=approve]")
	b.shows(changed)
	b.shows("Lamp for walls")
	b.wantText("read the proposal again")
	b.accessible()
	if strings.Contains(b.text(), "This review counts.") {
		t.Error("an approval of changes that the reviewer has not seen counts")
	}

	// A conflict that appears between the approval and the merge.
	b.click("button[value=approve]")
	b.shows("You approved the proposal.")
	s.mutate(t, "act-dev", "main", `insert Item { slug: "wall-lamp", title: "Lamp on main" }`)
	b.click("button[value=merge]")
	b.shows(changed)
	b.shows("divergent insert")
	b.wantText("Lamp on main")

	// The sides that were chosen before a branch moved no longer count.
	b.click(".conflict input[value=ours]")
	s.mutate(t, "act-dev", "main", `update Item set { title: "Lamp on main, again" } where slug = "wall-lamp"`)
	b.click("button[value=request_changes]")
	b.shows("You asked for changes.")
	b.shows("Lamp on main, again")
	b.wantText(changed)
	if eval[bool](b, `document.querySelector(".conflict input:checked") !== null`) {
		t.Error("a side is still chosen, though the user has not seen its newest state")
	}
	b.quiet()
}

// TestReviewExpiredToken lets the token expire while the user writes a comment. After the next login, the
// comment is still there. After logging out, it is gone.
func TestReviewExpiredToken(t *testing.T) {
	needBrowser(t)
	s := reviewSite(t)
	id := s.propose(t, "try/one", "A new lamp", "", `insert Item { slug: "wall-lamp", title: "Wall lamp" }`)
	b := openTab(t)
	b.logIn(s, "act-ada", "/studio/shop/review/"+id)
	b.run(chromedp.SendKeys("#comment", "A long comment.", chromedp.ByQuery))
	b.expire()
	b.click("button[value=approve]")
	b.shows("The server does not accept the token any more.")
	b.run(fetch.Disable(), chromedp.SendKeys("input[type=password]", s.token["act-ada"]+kb.Enter, chromedp.ByQuery))
	b.shows("A new lamp")
	b.settle()
	if got := eval[string](b, `document.querySelector("#comment").value`); got != "A long comment." {
		t.Errorf("after the login, the comment field has %q", got)
	}
	b.run(chromedp.Click("header .me > button:last-child", chromedp.ByQuery))
	b.wait("document.querySelector('main.login') !== null")
	if kept := eval[int](b, "sessionStorage.length"); kept != 0 {
		t.Errorf("after logging out %d values are stored", kept)
	}
	b.quiet()
}

// TestReviewHostileValues opens a proposal whose title, description, values, ids and comments try to do
// harm. It has more changes than one page shows, and answers have checks.
func TestReviewHostileValues(t *testing.T) {
	needBrowser(t)
	s := reviewSite(t)
	changes := []string{`insert Item { slug: "<b>0</b>", title: "` + harm + `" }`, `update Item set { title: "theirs javascript:alert(1)" } where slug = "desk-lamp"`,
		`insert Replaces { from: "<b>0</b>", to: "desk-lamp", why: "<script>alert(2)</script>" }`}
	for i := range 60 {
		changes = append(changes, fmt.Sprintf(`insert Item { slug: "item-%02d", title: "Item" }`, i))
	}
	id := s.propose(t, "try/harm", harm, "javascript:alert(1)\n"+harm, changes...)
	s.mutate(t, "act-dev", "main", `update Item set { title: "`+harm+`" } where slug = "desk-lamp"`)
	comment, _ := json.Marshal(map[string]any{"decision": "comment", "comment": harm, "on": map[string]string{"entity_kind": "node", "type_name": "Item", "id": "<b>0</b>"}})
	s.send(t, "act-ada", "POST", "/graphs/shop/proposals/"+id+"/review", string(comment))
	b := openTab(t)
	b.logIn(s, "act-ada", "/studio/shop/review")
	b.wantText("U+202E")
	b.looks("review-odd-list")
	b.open(s, "/studio/shop/review/"+id)
	b.wantText("<img src=x onerror=alert(1)> U+202Eevil", "U+200B", "javascript:alert(1)", "<b>0</b>")
	if n := eval[int](b, `document.querySelectorAll("main img, main script, main b, main a[href^='javascript']").length`); n != 0 {
		t.Errorf("%d elements come from the values of the graph", n)
	}
	if n := eval[int](b, `document.querySelectorAll(".versions > li").length`); n != 50 {
		t.Errorf("the page shows %d changes, want 50", n)
	}
	if raw := eval[bool](b, `/[\u202a-\u202e\u2066-\u2069\u200b]/.test(document.body.innerText)`); raw {
		t.Error("the page has invisible characters that are not marked")
	}
	b.looks("review-odd")
	b.run(chromedp.Click(`//a[normalize-space()="More changes"]`, chromedp.BySearch))
	b.shows("<script>alert(2)</script>")
	b.settle()
	if n := eval[int](b, `document.querySelectorAll(".versions > li").length`); n != 13 {
		t.Errorf("the second page shows %d changes, want 13", n)
	}
	b.open(s, "/studio/shop/review/"+id+"?kind=edge")
	b.wantText("<script>alert(2)</script>", "desk-lamp")
	if href := eval[string](b, `document.querySelector(".versions h3 a").getAttribute("href")`); !strings.Contains(href, url.QueryEscape("<b>0</b>")) || !strings.Contains(href, "/entity/Item?") {
		t.Errorf("the edge leads to %s", href)
	}
	b.open(s, "/studio/shop/review/"+id+"?op=delete")
	b.wantText("No change matches the filters.")
	b.quiet()
}

// TestReviewChecks shows the outcomes of the checks of the graph code to an actor who may invoke their
// queries, and to one who may not. A row of the failed check tries to do harm.
func TestReviewChecks(t *testing.T) {
	needBrowser(t)
	s := codeSite(t, "  - id: bots-read\n    allow: { actors: { ids: [act-bot] }, actions: [read] }\n")
	page, demand := "/studio/code/review/"+s.proposal, "Every note is about a symbol."
	s.mutate(t, "act-dev", "review", `insert Note { slug: "`+harm+`", text: "About nothing", created: now() }`)
	for i := range 20 {
		s.mutate(t, "act-dev", "review", fmt.Sprintf(`insert Note { slug: "note-%02d", text: "About nothing", created: now() }`, i))
	}
	b := openTab(t)
	b.logIn(s, "act-dev", page)
	b.wantText(demand, "failed", "Every symbol belongs to a package.", "passed", "The query returned more rows.")
	rows := eval[[]string](b, `[...document.querySelectorAll(".checks tbody tr")].map(e => e.innerText)`)
	if len(rows) != 20 || !strings.HasPrefix(rows[0], "<img src=x onerror=alert(1)> U+202Eevil") {
		t.Errorf("the failed check has the rows %q", rows)
	}
	links := eval[[]string](b, `[...document.querySelectorAll(".checks a")].map(e => e.getAttribute("href"))`)
	if len(links) != 3 || !slices.Contains(links, "/studio/code/run/notes_about_nothing?branch=main") {
		t.Errorf("the checks link to %q", links)
	}
	if got := eval[string](b, `getComputedStyle(document.querySelector(".badge.failed")).color`); got != "rgb(165, 32, 27)" {
		t.Errorf("a failed check has the colour %s", got)
	}
	b.looks("review-checks")

	other := openTab(t)
	other.logIn(s, "act-bot", page)
	other.wantText(demand, "failed", "passed")
	if n := eval[int](other, `document.querySelectorAll(".checks a, .checks table").length`); n != 0 {
		t.Errorf("an actor who may not invoke the queries sees %d links and tables", n)
	}
	other.quiet()

	s.mutate(t, "act-dev", "main", `update Note set { text: "Read me once" } where slug = "first"`)
	b.open(s, page)
	b.wantText(demand, "unfinished", "Reason: the merge has conflicts; resolve them first. An unfinished check counts as not passed.")
	b.click("details:has(button[value=close]) summary")
	b.click("button[value=close]")
	b.shows("The proposal is closed.")
	b.settle()
	if text := b.text(); strings.Contains(text, "Checks\n") || strings.Contains(text, "The graph has no checks.") {
		t.Errorf("the page of a closed proposal says something about checks:\n%.2000s", text)
	}
	b.quiet()
}

// TestReviewKindsOfConflict resolves a conflict about a whole entity, next to one that no resolution can
// resolve, and then chooses another side for a stored resolution.
func TestReviewKindsOfConflict(t *testing.T) {
	needBrowser(t)
	s := reviewSite(t)
	id := s.propose(t, "try/clean", "Remove two lamps", "", `delete Item where slug = "night-light"`, `delete Item where slug = "floor-lamp"`,
		`update Item set { price: 5400 } where slug = "desk-lamp"`)
	s.mutate(t, "act-dev", "main", `update Item set { price: 2100 } where slug = "night-light"`)
	s.mutate(t, "act-dev", "main", `insert Replaces { from: "desk-lamp", to: "floor-lamp" }`)
	s.mutate(t, "act-dev", "main", `update Item set { price: 5000 } where slug = "desk-lamp"`)
	b := openTab(t)
	b.logIn(s, "act-ada", "/studio/shop/review/"+id)
	b.wantText("delete vs update", "orphan edge", "divergent update", "resolve the 3 conflicts that have no resolution", "No resolution can resolve this conflict. Write to the branch try/clean, or merge main into it.")
	whole := `[...document.querySelectorAll(".conflict")].find(e => e.innerText.includes("delete vs update"))`
	for side, want := range map[string]string{"base": "1900", "ours": "2100", "theirs": "does not exist"} {
		if got := eval[string](b, fmt.Sprintf("%s.querySelector('.side-%s').innerText", whole, side)); !strings.Contains(got, want) {
			t.Errorf("the side %s shows %q, want %s", side, got, want)
		}
	}
	if n := eval[int](b, whole+`.querySelectorAll("input[type=radio]").length`); n != 2 {
		t.Errorf("a conflict about a whole entity has %d sides to choose from, want ours and theirs", n)
	}
	b.looks("review-conflicts")
	b.click(`form[aria-label="Conflicts"] button[type=submit]`)
	b.shows("Choose a side first.")
	b.run(chromedp.Click(`//button[normalize-space()="Choose ours everywhere"]`, chromedp.BySearch))
	b.shows("Store 2 resolutions")
	b.click(`form[aria-label="Conflicts"] button[type=submit]`)
	b.shows("2 resolutions are stored.")
	b.wantText("resolve the conflict that has no resolution", "orphan edge")

	// The stored resolution of the price: first theirs, then no value.
	price := `.checks li:has(input[value=none]) `
	for _, step := range []struct{ side, want string }{{"theirs", "theirs, the state on try/clean"}, {"none", "desk-lamp · price: null"}} {
		b.click(price + "summary")
		b.click(price + "input[value=" + step.side + "]")
		b.click(price + "button[type=submit]")
		b.shows(step.want)
		b.shows("The resolution is stored.")
	}
	b.accessible()
	b.quiet()
}

// TestReviewMergedDraft checks that the page of a proposal links to the source branch if that is an open
// draft, and says that the draft has ended after the merge.
func TestReviewMergedDraft(t *testing.T) {
	needBrowser(t)
	s := reviewSite(t)
	var wrote struct{ Branch string }
	s.ask(t, "act-bot", "POST", "/graphs/shop/mutate", `{"query":"query m() { update Item set { price: 5400 } where slug = \"desk-lamp\" }","branch":"draft"}`, &wrote)
	var p struct{ ID string }
	s.ask(t, "act-bot", "POST", "/graphs/shop/proposals", `{"source":"draft","title":"Correct a price"}`, &p)
	b := openTab(t)
	b.logIn(s, "act-ada", "/studio/shop/review/"+p.ID)
	b.shows("Correct a price")
	b.settle()
	const links = `[...document.querySelectorAll("a")].filter(a => a.innerText.startsWith("draft/")).length`
	if n := eval[int](b, links); n != 1 {
		t.Errorf("the page of the open proposal has %d links to the draft, want 1", n)
	}
	b.click("button[value=approve]")
	b.shows("You approved the proposal.")
	b.click("button[value=merge]")
	b.shows("The proposal is merged into main.")
	b.settle()
	b.wantText(wrote.Branch+" (a draft, which ended with the merge)", "the commit of the merge")
	if n := eval[int](b, links); n != 0 {
		t.Errorf("the page of the merged proposal has %d links to the draft, want none", n)
	}
	b.quiet()
}
