package studio

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestOpenProposal opens a proposal from the comparison of two branches, changes its title, and closes it.
func TestOpenProposal(t *testing.T) {
	needBrowser(t)
	s := reviewSite(t)
	s.send(t, "act-bot", "POST", "/graphs/shop/branches", `{"name":"try/lamps"}`)
	s.mutate(t, "act-bot", "try/lamps", `insert Item { slug: "wall-lamp", title: "Wall lamp", price: 7900 }`)
	b := openTab(t)
	b.logIn(s, "act-bot", "/studio/shop/history?compare=try%2Flamps")
	b.wantText("Only on try/lamps")
	b.click(`a[href*="review/new?"][href*="source=try"]`)
	b.shows("Open a proposal")
	b.settle()
	value := func(selector string) string {
		return eval[string](b, `document.querySelector("`+selector+`").value`)
	}
	if source, into := value("#source"), value("#into"); source != "try/lamps" || into != "main" {
		t.Errorf("the form begins with the branches %q and %q", source, into)
	}

	// The page itself refuses a form without a title.
	b.click(`form[aria-label="New proposal"] button`)
	b.shows("Say in one line what the changes do.")
	b.run(chromedp.SendKeys("#title", "A <b>lamp</b> for the wall", chromedp.ByQuery), chromedp.SendKeys("#description", "It is in the catalogue.", chromedp.ByQuery))
	b.looks("review-new")

	// The server refuses a branch that does not exist, and the form keeps the texts.
	b.run(chromedp.SendKeys("#source", "x", chromedp.ByQuery))
	b.click(`form[aria-label="New proposal"] button`)
	b.shows("Not found")
	if title := value("#title"); title != "A <b>lamp</b> for the wall" {
		t.Errorf("after the refusal, the title is %q", title)
	}
	b.run(chromedp.SendKeys("#source", kb.End+kb.Backspace, chromedp.ByQuery))
	b.click(`form[aria-label="New proposal"] button`)
	b.shows("opened by")
	b.settle()
	b.wantText("A <b>lamp</b> for the wall", "It is in the catalogue.", "act-bot", "1 new")
	id := eval[string](b, `location.pathname.split("/").pop()`)

	// Change the title and the description.
	b.click(`details:has(form[aria-label="Title and description"]) summary`)
	b.run(chromedp.SendKeys("#title", " and the desk", chromedp.ByQuery))
	b.click(`form[aria-label="Title and description"] button`)
	b.shows("The title and the description are stored.")
	b.wantText("A <b>lamp</b> for the wall and the desk")
	var p struct {
		Source, Target, Title, Description, State string
		Events                                    []struct{ Kind string }
	}
	s.get(t, "act-dev", "/graphs/shop/proposals/"+id, &p)
	if p.Source != "try/lamps" || p.Target != "main" || p.Title != "A <b>lamp</b> for the wall and the desk" || p.Description != "It is in the catalogue." || len(p.Events) != 2 {
		t.Errorf("the server has the proposal %+v", p)
	}
	b.looks("review-edited")

	// A second proposal for the same branches is refused with the server's reason.
	b.open(s, "/studio/shop/review/new?source=try%2Flamps&into=main")
	if title := value("#title"); title != "" {
		t.Errorf("the next form begins with the title %q", title)
	}
	b.run(chromedp.SendKeys("#title", "Again", chromedp.ByQuery))
	b.click(`form[aria-label="New proposal"] button`)
	b.shows("is open already")

	b.open(s, "/studio/shop/review/"+id)
	b.shows("opened by")
	b.settle()
	b.click("details:has(button[value=close]) summary")
	b.click("button[value=close]")
	b.shows("The proposal is closed.")
	if eval[bool](b, `document.querySelector("form[aria-label='Title and description']") !== null`) {
		t.Error("the texts of a closed proposal can be changed")
	}
	b.open(s, "/studio/shop/review")
	b.wantText("Open a proposal", "There are no open proposals.")
	b.accessible()
	b.quiet()
}

// TestOpenProposalByKeyboard opens a proposal with the keyboard alone, from the list of proposals.
func TestOpenProposalByKeyboard(t *testing.T) {
	needBrowser(t)
	s := reviewSite(t)
	s.send(t, "act-bot", "POST", "/graphs/shop/branches", `{"name":"try/lamps"}`)
	s.mutate(t, "act-bot", "try/lamps", `insert Item { slug: "wall-lamp", title: "Wall lamp", price: 7900 }`)
	b := openTab(t)
	b.logIn(s, "act-bot", "/studio/shop/review")
	b.tabTo(`a[href*="review/new"]`)
	b.run(chromedp.KeyEvent(kb.Enter))
	b.shows("Branch with the changes")
	b.settle()
	b.tabTo("#source")
	b.run(chromedp.KeyEvent("try/lamps"))
	b.tabTo("#title")
	b.run(chromedp.KeyEvent("A lamp for the wall"), chromedp.KeyEvent(kb.Enter))
	b.shows("opened by")
	b.settle()
	b.wantText("A lamp for the wall", "1 new")
	b.quiet()
}
