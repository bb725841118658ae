package studio

import (
	"slices"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestFields fills in fields for a choice, a date and a number with bounds.
func TestFields(t *testing.T) {
	needBrowser(t)
	s := oddSite(t)
	b := openTab(t)
	b.logIn(s, "act-dev", "/studio/odd/run/moods")
	b.wantText("A number from 1 to 10. The default is 2.")
	choices := eval[[]string](b, `[...document.querySelectorAll("#field-mood option")].map(e => e.innerText)`)
	if !slices.Equal(choices, []string{"Choose…", "calm", "wild"}) {
		t.Errorf("the choices for mood are %q", choices)
	}
	b.click("form button[type=submit]")
	b.shows("Give a value.")
	// A browser that speaks English takes a date as month, day and year.
	b.run(chromedp.SendKeys("#field-mood", "wild", chromedp.ByQuery), chromedp.SendKeys("#field-since", "05012026", chromedp.ByQuery),
		chromedp.SendKeys("#field-level", "11", chromedp.ByQuery))
	b.click("form button[type=submit]")
	b.shows("Give a number from 1 to 10.")
	b.accessible()
	b.run(chromedp.SendKeys("#field-level", kb.Backspace+kb.Backspace+"7", chromedp.ByQuery))
	b.click("form button[type=submit]")
	b.shows("1 row")
	b.wantText(script, "wild", "2026-05-02")
	if got := eval[string](b, "location.search"); got != "?p.mood=wild&p.since=2026-05-01&p.level=7&run=1" {
		t.Errorf("the form leads to %s", got)
	}
	b.run(chromedp.SendKeys("#field-level", kb.Backspace+"8"+kb.Enter, chromedp.ByQuery))
	b.shows("0 rows")
	// Without a number, the query has its default.
	b.run(chromedp.SendKeys("#field-level", kb.Backspace, chromedp.ByQuery), chromedp.SendKeys("#field-mood", "calm", chromedp.ByQuery))
	b.click("form button[type=submit]")
	b.shows("1 row")
	b.wantText("calm", "2026-05-01")
	b.quiet()
}
