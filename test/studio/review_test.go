package studio

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestReviewByMouse takes a proposal from its conflict to its merge with the mouse. In between, a write
// voids the approval.
func TestReviewByMouse(t *testing.T) {
	needBrowser(t)
	s := reviewSite(t)
	id := s.proposePrices(t)
	b := openTab(t)
	b.logIn(s, "act-ada", "/studio/shop/review")
	b.wantText("Correct the prices of two lamps", "act-bot", "try/prices", "open")
	b.looks("review-list")
	b.click(`td a[href*="/review/"]`)
	b.shows("divergent update")
	b.settle()
	b.wantText("4900", "5000", "5400", "resolve the conflict that has no resolution", "The supplier's list of November", "1 new, 2 changed, 1 deleted", "Wall lamp", "night-light")
	for side, want := range map[string]string{"base": "4900", "ours": "5000", "theirs": "5400"} {
		if got := eval[string](b, fmt.Sprintf("document.querySelector('.side-%s p').innerText", side)); got != want {
			t.Errorf("the side %s shows %q, want %s", side, got, want)
		}
	}
	columns := eval[[]float64](b, `[...document.querySelectorAll(".sides > div")].map(e => e.getBoundingClientRect().top)`)
	if len(columns) != 3 || columns[0] != columns[1] || columns[1] != columns[2] {
		t.Errorf("the sides begin at %v, want three at the same height", columns)
	}
	if !eval[bool](b, `document.querySelector("button[value=merge]").disabled`) {
		t.Error("a proposal with a conflict can be merged")
	}
	b.looks("review-conflict")

	// A value that is not a number is refused by the page itself.
	b.click(".conflict input[value=value]")
	b.run(chromedp.SendKeys(".conflict textarea", "cheap", chromedp.ByQuery))
	b.click(`form[aria-label="Conflicts"] button[type=submit]`)
	b.shows("Give a number.")
	b.run(chromedp.Evaluate(`document.querySelector(".conflict textarea").select()`, nil), chromedp.KeyEvent("5200"))
	b.click(`form[aria-label="Conflicts"] button[type=submit]`)
	b.shows("The resolution is stored.")
	b.wantText("No conflict waits for a resolution.", "branch main needs 1 approval")

	// The button "Only comment" needs a comment.
	b.click("button[value=comment]")
	b.shows("Write a comment first.")
	b.run(chromedp.SendKeys("#comment", "The list says 5200.", chromedp.ByQuery))
	b.click("button[value=approve]")
	b.shows("You approved the proposal.")
	b.wantText("The list says 5200.", "This review counts.", "Nothing blocks the merge.")
	if left := eval[string](b, `document.querySelector("#comment").value`); left != "" {
		t.Errorf("after the approval, the comment field has %q", left)
	}

	s.mutate(t, "act-bot", "try/prices", `update Item set { price: 8100 } where slug = "wall-lamp"`)
	b.open(s, "/studio/shop/review/"+id)
	b.shows("made a commit to the source")
	b.wantText("This review no longer counts, because the changes or the resolutions are different now.", "branch main needs 1 approval", "8100")
	b.looks("review-void")

	// A comment on one change, and the page of the changed entity.
	b.click(".versions details.remark summary")
	b.run(chromedp.SendKeys(".versions .remark textarea", "Before tax?", chromedp.ByQuery))
	b.click(".versions .remark button")
	b.shows("The comment is stored.")
	if got := eval[string](b, `document.querySelector(".versions blockquote").innerText`); !strings.Contains(got, "act-ada") || !strings.Contains(got, "Before tax?") {
		t.Errorf("the comment on the change is %q", got)
	}
	b.click(`.versions a[href*="desk-lamp"]`)
	b.shows("Neighbours")
	b.settle()
	b.wantText("desk-lamp", "5400")
	b.run(chromedp.NavigateBack())
	b.shows("Correct the prices of two lamps")
	b.settle()

	b.click("button[value=approve]")
	b.shows("You approved the proposal.")
	b.click("button[value=merge]")
	b.shows("The proposal is merged into main.")
	b.settle()
	b.wantText("The proposal is merged, which is final.", "the commit of the merge")
	b.looks("review-merged")
	for slug, want := range map[string]int{"desk-lamp": 5200, "floor-lamp": 13500, "wall-lamp": 8100} {
		if got := s.price(t, slug); got != want {
			t.Errorf("the price of %s is %d, want %d", slug, got, want)
		}
	}
	b.open(s, "/studio/shop/review?state=merged&author=act-bot&reviewer=act-ada&into=main")
	b.wantText("Correct the prices of two lamps")
	if got := eval[string](b, `document.querySelector("select[name=state]").value`); got != "merged" {
		t.Errorf("the filter for the state shows %s, want merged", got)
	}
	b.run(chromedp.SendKeys("input[name=reviewer]", "x", chromedp.ByQuery))
	b.click("form[aria-label=Filters] button")
	b.shows("No proposal matches the filters.")
	if got := eval[string](b, "location.search"); got != "?state=merged&author=act-bot&reviewer=xact-ada&into=main" {
		t.Errorf("the filters lead to %s", got)
	}
	b.quiet()
}

// TestReviewByKeyboard takes a proposal from its conflict to its merge with the keyboard alone.
func TestReviewByKeyboard(t *testing.T) {
	needBrowser(t)
	s := reviewSite(t)
	s.proposePrices(t)
	b := openTab(t)
	b.logIn(s, "act-ada", "/studio/shop/review")
	b.tabTo(`td a[href*="/review/"]`)
	b.run(chromedp.KeyEvent(kb.Enter))
	b.shows("divergent update")
	b.settle()
	b.tabTo(".conflict input[type=radio]")
	b.run(chromedp.KeyEvent(" "), chromedp.KeyEvent(kb.ArrowDown))
	if got := eval[string](b, `document.querySelector(".conflict input:checked").value`); got != "theirs" {
		t.Errorf("the keyboard chose %q, want theirs", got)
	}
	b.tabTo("form[aria-label=Conflicts] button[type=submit]")
	b.run(chromedp.KeyEvent(kb.Enter))
	b.shows("The resolution is stored.")
	if !eval[bool](b, `document.activeElement.matches(".outcome")`) {
		t.Error("the result of the step does not have the focus")
	}
	b.tabTo("button[value=approve]")
	b.run(chromedp.KeyEvent(kb.Enter))
	b.shows("You approved the proposal.")
	b.tabTo("button[value=merge]")
	b.run(chromedp.KeyEvent(kb.Enter))
	b.shows("The proposal is merged into main.")
	if got := s.price(t, "desk-lamp"); got != 5400 {
		t.Errorf("the price is %d, want 5400", got)
	}
	b.quiet()
}

// TestReviewWithFewPermissions opens a proposal as an actor that may neither review nor merge it.
func TestReviewWithFewPermissions(t *testing.T) {
	needBrowser(t)
	s := reviewSite(t)
	id := s.propose(t, "try/one", "A new lamp", "", `insert Item { slug: "wall-lamp", title: "Wall lamp" }`)
	b := openTab(t)
	b.logIn(s, "act-bot", "/studio/shop/review/"+id)
	b.run(chromedp.SendKeys("#comment", "Please look at this.", chromedp.ByQuery))
	b.click("button[value=approve]")
	b.shows("Not allowed")
	b.wantText("the policy does not allow proposal_review on branch main")
	b.looks("review-denied")
	if kept := eval[string](b, `document.querySelector("#comment").value`); kept != "Please look at this." {
		t.Errorf("after the refusal, the comment field has %q", kept)
	}
	b.click("button[value=comment]")
	b.shows("The comment is stored.")
	b.click("details:has(button[value=close]) summary")
	b.click("button[value=close]")
	b.shows("The proposal is closed.")
	b.wantText("The proposal is closed, which is final.")
	b.open(s, "/studio/shop/review/01M7XYZ")
	b.wantText("Not found")
	b.accessible()
	b.quiet()
}
