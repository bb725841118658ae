package studio

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// inEditor is the JavaScript expression of an element in the shadow root of the editor.
func inEditor(selector string) string {
	return "document.querySelector('.editor').shadowRoot.querySelector('" + selector + "')"
}

// write replaces the text of the editor.
func (b *tab) write(text string) {
	b.t.Helper()
	b.wait("document.querySelector('.editor')?.shadowRoot?.querySelector('.cm-content') != null")
	b.run(chromedp.Evaluate(inEditor(".cm-content")+".focus()", nil), chromedp.KeyEvent("a", chromedp.KeyModifiers(input.ModifierCtrl)), input.InsertText(text))
}

// TestQuery writes a query with completions, corrects it with a fix, runs it, and looks at the answer in each form.
func TestQuery(t *testing.T) {
	needBrowser(t)
	s := codeSite(t)
	b := openTab(t)
	b.logIn(s, "act-dev", "/studio/code/query")
	b.write("query big($least: I32?) { match { $p: Pack")
	b.run(chromedp.KeyEvent("a"))
	b.wait(inEditor(".cm-tooltip-autocomplete li[aria-selected]") + "?.textContent.includes('Package')")
	b.shoot("query-completion")
	// Right after the list appears, the editor ignores keys: they were meant for the text.
	for range 50 {
		if b.run(chromedp.KeyEvent(kb.Tab)); eval[bool](b, inEditor(".cm-content")+".textContent.includes('$p: Package')") {
			break
		}
	}
	b.wait(inEditor(".cm-content") + ".textContent.includes('$p: Package')")

	// A name that does not exist is marked, and nothing can be run.
	b.write("query big($least: I32?) { match { $p: Package $p.lines >= $least? } return { $p.path as path, $p.lins as lines } order { lines desc } limit 5 }")
	b.wait(inEditor(".cm-lintRange-error") + "?.textContent.includes('lins')")
	b.wantText("The text has errors; they are underlined.")
	if !eval[bool](b, `document.querySelector("form button[type=submit]").disabled`) {
		t.Error("a text with errors can be run")
	}
	b.shoot("query-error")

	b.write("query big($least: I32?) {\n  // the largest first\n  match { $p: Package $p.lines >= $least? }\n  return { $p.path as path, $p.lines as lines }\n  order { lines desc }\n  limit 5\n}")
	b.wantText("This query reads.", "least")
	b.looks("query-written")
	b.run(chromedp.SendKeys("#field-least", "many", chromedp.ByQuery))
	b.wait(`document.querySelector("#field-least").value === "many"`)
	b.click("form button[type=submit]")
	b.wantText("Give a whole number.")
	b.run(chromedp.SendKeys("#field-least", kb.Backspace+kb.Backspace+kb.Backspace+kb.Backspace+"10"+kb.Enter, chromedp.ByQuery))
	b.wantText("5 rows", "net/http")
	b.looks("query-answer")
	b.run(chromedp.Click(`//button[normalize-space()="Chart"]`, chromedp.BySearch))
	b.wait("document.querySelectorAll('.chart rect.mark').length === 5")
	b.looks("query-chart")
	b.run(chromedp.Click(`//button[normalize-space()="JSON"]`, chromedp.BySearch))
	b.wantText(`"path": "net/http"`)

	// The plan with what each step took.
	b.run(chromedp.Click(`//button[normalize-space()="Run and measure"]`, chromedp.BySearch))
	b.wantText("All steps took", "expected rows")
	b.looks("query-plan")

	// The keyboard runs the text, and nodes of an answer can be drawn.
	b.write("query notes() { match { $n: Note $n about $s } return { $n, $s.id as symbol } }")
	b.wantText("This query reads.")
	b.run(chromedp.Evaluate(inEditor(".cm-content")+".focus()", nil), chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(input.ModifierCtrl)))
	b.wantText("1 row")
	b.run(chromedp.Click(`//button[normalize-space()="Graph"]`, chromedp.BySearch))
	b.wait("document.querySelectorAll('.drawing a.node').length === 2 && document.querySelector('.drawing .edge').textContent.includes('About')")
	b.looks("query-graph")

	// Favourites and the history come back with the page, and go at the log out.
	b.run(chromedp.Click(`//button[normalize-space()="Add to favourites"]`, chromedp.BySearch))
	b.open(s, "/studio/code/query")
	b.wantText("Favourites", "notes", "Last runs", "big")
	b.wait(inEditor(".cm-content") + "?.textContent.includes('about')")
	b.run(chromedp.Click(`//header//button[normalize-space()="Log out"]`, chromedp.BySearch))
	b.wait("document.querySelector('main.login') !== null")
	if kept := eval[int](b, "sessionStorage.length + localStorage.length"); kept != 0 {
		t.Errorf("after logging out %d values are stored", kept)
	}
	b.quiet()
}

// TestQueryWrites tries a mutation, writes it, and cannot write to a commit.
func TestQueryWrites(t *testing.T) {
	needBrowser(t)
	s := codeSite(t)
	b := openTab(t)
	b.logIn(s, "act-dev", "/studio/code/query?branch=review")
	b.write(`query add() { insert Note { slug: "typed", text: "<b>bold</b>", created: now() } }`)
	b.wantText("This query writes.")
	b.run(chromedp.Click(`//button[normalize-space()="Try without writing"]`, chromedp.BySearch))
	b.wantText("Nothing was written. The query would change 1 nodes and 0 edges on the branch review.")
	b.run(chromedp.Click(`//button[normalize-space()="Write to review"]`, chromedp.BySearch))
	b.wantText("The query changed 1 nodes and 0 edges on the branch review.")
	b.write(`query typed() { match { $n: Note { slug: "typed" } } return { $n } }`)
	b.wantText("This query reads.")
	b.run(chromedp.Click("form button[type=submit]", chromedp.ByQuery))
	b.wantText("1 row", "<b>bold</b>")
	if eval[bool](b, "document.querySelector('main b') !== null") {
		t.Error("a text of the graph is markup")
	}
	b.run(chromedp.Evaluate(`(() => { const s = document.querySelector(".row .target select"); s.value = s.options[1].value; s.dispatchEvent(new Event("change", {bubbles: true})); })()`, nil))
	b.wait("location.search.includes('at=')")
	b.write(`query add() { insert Note { slug: "more", text: "x", created: now() } }`)
	b.wantText("A commit cannot be written to.")
	b.quiet()
}

// TestQueryLittle opens the page as an actor who may not write queries.
func TestQueryLittle(t *testing.T) {
	needBrowser(t)
	s := codeSite(t)
	b := openTab(t)
	b.logIn(s, "act-bot", "/studio/code/query")
	b.write("query q() { match { $p: Package } return { $p.path } }")
	b.wantText("the policy does not allow")
	if strings.Contains(b.text(), "This query reads") {
		t.Error("the text was checked")
	}
	b.looks("query-little")
	b.quiet()
}
