package studio

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestBackAfterLogOut logs out and goes back to a page that the browser kept in memory, with its data and
// its token.
func TestBackAfterLogOut(t *testing.T) {
	needBrowser(t)
	s := codeSite(t)
	for name, then := range map[string]struct {
		actor string // who logs in after the logout; "" for nobody
		want  string
	}{
		"nobody":       {"", "Token"},
		"another user": {"act-ada", "logged in as act-ada"},
	} {
		t.Run(name, func(t *testing.T) {
			b := openTab(t)
			b.logIn(s, "act-dev", "/studio/code/run")
			b.wantText("heaviest_packages", "logged in as act-dev")
			b.run(chromedp.Evaluate(`addEventListener("pageshow", e => { window.restored = e.persisted })`, nil))
			b.open(s, "/studio/code/schema")
			b.run(chromedp.Click("header .me > button:last-child", chromedp.ByQuery))
			b.wait("document.querySelector('main.login') !== null")
			if then.actor != "" {
				b.run(chromedp.SendKeys("input[type=password]", s.token[then.actor]+kb.Enter, chromedp.ByQuery))
				b.wait("document.querySelector('.drawing') !== null")
			}
			b.run(chromedp.Evaluate("history.back()", nil))
			// The restored page may load again by itself, so that a request to the tab can fail in between.
			b.arrive(fmt.Sprintf(`location.pathname.endsWith("/run") && document.querySelector("h1") !== null && document.body.innerText.includes(%q)`, then.want))
			b.settle()
			b.wantText(then.want)
			if then.actor == "" {
				if !eval[bool](b, "window.restored === true") {
					t.Fatal("the browser did not keep the page, so the test shows nothing")
				}
				if !eval[bool](b, `document.querySelector("main.login") !== null && !document.body.innerText.includes("heaviest_packages")`) {
					t.Errorf("after logging out, Back shows:\n%.300s", b.text())
				}
			}
			if kept := eval[string](b, `sessionStorage.getItem("omnigraph-token") ?? ""`); kept != s.token[then.actor] {
				t.Errorf("the tab keeps the token %q", kept)
			}
			b.quiet()
		})
	}
}

// TestLinkWhileLoggedIn opens links with a token in a tab that is logged in.
func TestLinkWhileLoggedIn(t *testing.T) {
	needBrowser(t)
	s := codeSite(t)
	b := openTab(t)
	b.logIn(s, "act-ada", "/studio/code/run")
	b.wantText("logged in as act-ada")
	kept := func(actor string) {
		t.Helper()
		if got := eval[string](b, `sessionStorage.getItem("omnigraph-token")`); got != s.token[actor] {
			t.Errorf("the tab has the token %q, want that of %s", got, actor)
		}
		if hash := eval[string](b, "location.href"); hash != s.url+"/studio/code/run" {
			t.Errorf("the address is %s", hash)
		}
	}
	link := s.url + "/studio/code/run#token="

	// A link to the same page changes the fragment alone; one to another page loads it.
	for _, from := range []string{"/studio/code/run", "/studio/code/schema"} {
		b.open(s, from)
		b.run(chromedp.Evaluate(`location.href = "`+link+s.token["act-bot"]+`"`, nil))
		b.arrive(`document.body.innerText.includes("It belongs to act-bot.")`)
		b.wantText("You are logged in as act-ada.", "Stay logged in as act-ada", "Log in as act-bot")
		kept("act-ada")
		b.accessible()
		b.fits(1280)
		b.shoot("login-link")
		b.click("main button")
		b.shows("logged in as act-ada")
		kept("act-ada")
	}
	b.run(chromedp.Evaluate(`location.href = "`+link+`nobody"`, nil))
	b.shows("this server does not know the bearer token")
	if n := eval[int](b, `document.querySelectorAll("main button").length`); n != 1 {
		t.Errorf("%d buttons, want the one that stays logged in", n)
	}
	b.click("main button")
	b.run(chromedp.Evaluate(`location.href = "`+link+s.token["act-ada"]+`"`, nil))
	b.wait(`location.hash === ""`)
	kept("act-ada")
	b.shows("logged in as act-ada")

	b.run(chromedp.Evaluate(`location.href = "`+link+s.token["act-bot"]+`"`, nil))
	b.shows("It belongs to act-bot.")
	b.click("main button.quiet")
	b.shows("logged in as act-bot")
	kept("act-bot")

	b.run(chromedp.Click("header .me > button:last-child", chromedp.ByQuery))
	b.wait("document.querySelector('main.login') !== null")
	b.run(chromedp.Evaluate(`location.href = "`+link+s.token["act-ada"]+`"`, nil))
	b.shows("logged in as act-ada")
	kept("act-ada")
	b.quiet()
}
