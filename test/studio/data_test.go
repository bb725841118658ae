package studio

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// scrollToEnd scrolls the grid until it has all rows, and returns their number as the page says it.
func (b *tab) scrollToEnd() string {
	b.t.Helper()
	for range 2000 {
		b.run(chromedp.Evaluate(`(g => g && (g.scrollTop = g.scrollHeight))(document.querySelector(".grid"))`, nil))
		if said := eval[string](b, `(document.querySelector("main > p[role=status]")?.innerText.match(/^([\d,]+) rows in all/) ?? ["", ""])[1].replaceAll(",", "")`); said != "" {
			return said
		}
		time.Sleep(20 * time.Millisecond)
	}
	b.t.Fatalf("the grid has no end: %.500s", b.text())
	return ""
}

// TestData reads a type to its end in several orders, filters it, and chooses columns.
func TestData(t *testing.T) {
	needBrowser(t)
	s := codeSite(t)
	var state struct {
		Datasets []struct {
			TypeName    string `json:"type_name"`
			EntityCount int    `json:"entity_count"`
		}
	}
	s.get(t, "act-dev", "/graphs/code/snapshot", &state)
	symbols := ""
	for _, d := range state.Datasets {
		if d.TypeName == "Symbol" {
			symbols = fmt.Sprint(d.EntityCount)
		}
	}
	b := openTab(t)
	b.logIn(s, "act-ada", "/studio/code/data/Symbol")
	b.wantText("and there are more")
	b.looks("data")
	// Many symbols have no doc, so a page can begin among the nulls, which come first or last.
	for _, order := range []string{"", "?sort=kind", "?sort=doc", "?sort=doc&down=1"} {
		b.open(s, "/studio/code/data/Symbol"+order)
		b.wait("document.querySelector('.grid tbody a') !== null")
		if got := b.scrollToEnd(); got != symbols {
			t.Errorf("%s: the grid has %s rows, want %s", order, got, symbols)
		}
		if n := eval[int](b, "document.querySelectorAll('.grid tbody tr').length"); n > 100 {
			t.Errorf("%s: %d rows are in the page", order, n)
		}
	}
	b.open(s, "/studio/code/data/Symbol")
	b.click(".grid th:nth-child(3) button")
	b.wait("document.querySelector('.grid th[aria-sort=ascending]') !== null && location.search.includes('sort=')")
	b.run(chromedp.Click(`//button[normalize-space()="Add a filter"]`, chromedp.BySearch))
	b.wait("document.querySelector('[aria-label=Property]') !== null")
	b.run(chromedp.SendKeys("input[aria-label=Value]", "graph.Invo\" }"+kb.Tab, chromedp.ByQuery))
	b.wantText("No node fits.")
	b.open(s, "/studio/code/data/Symbol?filter=path|contains|Graph.Invo&column=name&column=signature")
	b.wantText("Invoke", "signature")
	b.looks("data-filtered")
	b.run(chromedp.Click(`.grid tbody a`, chromedp.ByQuery))
	b.wantText("Neighbours")
	b.quiet()

	// An actor who may not write queries.
	b.logIn(s, "act-bot", "/studio/code/data/Symbol")
	b.wantText("the policy does not allow")
	b.quiet()
}

// TestDataEdit changes a cell and adds a node, each tried first. On a protected branch the change goes to a draft.
func TestDataEdit(t *testing.T) {
	needBrowser(t)
	s := codeSite(t)
	b := openTab(t)
	b.logIn(s, "act-dev", "/studio/code/data/Note?branch=review")
	b.run(chromedp.Click(`[aria-label="Edit first"]`, chromedp.ByQuery))
	b.wait("document.querySelector('#field-text')?.value === 'Read me twice'")
	b.run(chromedp.Click(`//button[normalize-space()="Try without writing"]`, chromedp.BySearch))
	b.wantText("Nothing differs from what is stored.")
	b.run(chromedp.SendKeys("#field-text", ", <b>or once</b>"+kb.Enter, chromedp.ByQuery))
	b.wantText("Nothing was written. This would change 1 nodes: text.")
	b.looks("data-edit")
	b.run(chromedp.Click(`//button[normalize-space()="Write to review"]`, chromedp.BySearch))
	b.wantText("The change is on the branch review.", "Propose it for main", "Read me twice, <b>or once</b>")

	b.open(s, "/studio/code/data/Note")
	b.run(chromedp.Click(`//button[normalize-space()="Add a node"]`, chromedp.BySearch))
	b.wait("document.querySelector('#field-slug') !== null")
	b.run(chromedp.SendKeys("#field-slug", "added", chromedp.ByQuery), chromedp.SendKeys("#field-text", "hello", chromedp.ByQuery),
		chromedp.SendKeys("#field-created", "2026-05-01T12:30:00Z"+kb.Enter, chromedp.ByQuery))
	b.wait("[...document.querySelectorAll('button')].some(e => e.innerText === 'Write to my draft')")
	b.run(chromedp.Click(`//button[normalize-space()="Write to my draft"]`, chromedp.BySearch))
	b.wantText("The change is on the branch draft/")
	b.quiet()
}
