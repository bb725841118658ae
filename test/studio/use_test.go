package studio

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestLogIn opens the link that the server prints, logs out, and logs in with a pasted token.
func TestLogIn(t *testing.T) {
	needBrowser(t)
	s := codeSite(t)
	b := openTab(t)
	b.run(chromedp.Navigate(s.link()))
	b.settle()
	t.Logf("the first page was usable %.0f ms after the navigation began", eval[float64](b, "performance.now()"))
	b.wantText("In the graph", "Package")
	if got := eval[string](b, "location.href"); got != s.url+"/studio/code" {
		t.Errorf("the address is %s", got)
	}
	if n := eval[int](b, "history.length"); n > 2 {
		t.Errorf("the link left %d entries in the history", n)
	}
	if strings.Contains(eval[string](b, "document.documentElement.outerHTML"), s.token["act-dev"]) {
		t.Error("the page shows the token")
	}
	b.run(chromedp.Click("header .me > button:last-child", chromedp.ByQuery))
	b.wait("document.querySelector('main.login') !== null")
	if kept := eval[int](b, "sessionStorage.length + localStorage.length"); kept != 0 {
		t.Errorf("after logging out %d values are stored", kept)
	}
	b.accessible()
	b.shoot("login")
	b.run(chromedp.SendKeys("input[type=password]", s.token["act-ada"]+kb.Enter, chromedp.ByQuery))
	b.wait("document.querySelector('.bars') !== null")
	b.wantText("act-ada may read", "Package")
	b.quiet()
}

// TestExpiredToken lets the token expire between two requests, and logs in again on the same page.
func TestExpiredToken(t *testing.T) {
	needBrowser(t)
	s := codeSite(t)
	b := openTab(t)
	b.logIn(s, "act-dev", "/studio/code/run")
	b.expire()
	b.run(chromedp.Click(`nav a[href$="/schema"]`, chromedp.ByQuery))
	b.wait("document.querySelector('main.login') !== null")
	b.wantText("The server does not accept the token any more.")
	b.accessible()
	b.run(fetch.Disable(), chromedp.SendKeys("input[type=password]", s.token["act-ada"]+kb.Enter, chromedp.ByQuery))
	b.wait("document.querySelector('.drawing') !== null")
	if got := eval[string](b, "location.pathname"); got != "/studio/code/schema" {
		t.Errorf("after logging in again the page is %s", got)
	}
	b.quiet()
}

// TestRun finds a stored query, fills in its form, and runs it. It also runs the copied calls in a
// shell.
func TestRun(t *testing.T) {
	needBrowser(t)
	s := codeSite(t)
	b := openTab(t)
	b.logIn(s, "act-dev", "/studio/code/run")
	b.allowClipboard(s)
	b.run(chromedp.SendKeys("input[type=search]", "import directly", chromedp.ByQuery))
	b.wait("document.querySelectorAll('.cards li').length < 5")
	b.run(chromedp.Click(`.cards a[href*="/run/importers"]`, chromedp.ByQuery))
	b.wait("document.querySelector('#field-package') !== null")
	b.run(chromedp.Click("form button[type=submit]", chromedp.ByQuery))
	b.wait("document.querySelector('.fault') !== null")
	b.wantText("Give a value.")
	// The value contains a quote and a dollar sign, which must not end the quotes or be expanded in
	// the shell.
	b.run(chromedp.SendKeys("#field-package", "it's $HOME", chromedp.ByQuery), chromedp.Click("form button[type=submit]", chromedp.ByQuery))
	b.wait("document.body.innerText.includes('0 rows')")
	for _, name := range []string{"MCP call", "curl"} {
		command := b.copied(name)
		if strings.Contains(command, s.token["act-dev"]) {
			t.Errorf("%s contains the token", name)
		}
		out, err := run(t.TempDir(), []string{"OMNIGRAPH_TOKEN=" + s.token["act-dev"]}, "sh", "-c", command)
		if err != nil || !strings.Contains(out, `"rows":[]`) && !strings.Contains(out, `"row_count":0`) {
			t.Errorf("%s: %v: %s", name, err, out)
		}
	}
	program := b.copied("Go")
	if !strings.Contains(program, `"{\"package\":\"it's $HOME\"}"`) || strings.Contains(program, s.token["act-dev"]) {
		t.Errorf("the Go program is\n%s", program)
	}
	b.compiles(program)
	b.run(chromedp.Evaluate(`document.querySelector("#field-package").select()`, nil), chromedp.KeyEvent("github.com/omnigraph-go/omnigraph/gq/value"),
		chromedp.Click("form button[type=submit]", chromedp.ByQuery))
	b.wait("document.querySelectorAll('section tbody tr').length > 0")
	b.wantText("github.com/omnigraph-go/omnigraph/gq/plan")
	b.open(s, eval[string](b, "location.pathname + location.search"))
	b.wantText("github.com/omnigraph-go/omnigraph/gq/plan") // the URL determines the whole page
	b.quiet()
}

// copied clicks a button of "Copy as", and returns the content of the clipboard.
func (b *tab) copied(name string) string {
	b.t.Helper()
	b.run(chromedp.Evaluate(`navigator.clipboard.writeText("")`, nil),
		chromedp.Click(`//div[@class="copy"]/button[normalize-space()="`+name+`"]`, chromedp.BySearch))
	for range 100 {
		if text := eval[string](b, "navigator.clipboard.readText()"); text != "" {
			return text
		}
		time.Sleep(50 * time.Millisecond)
	}
	b.t.Fatalf("%s copied nothing", name)
	return ""
}

// compiles fails the test unless the Go program compiles in the repository's module.
func (b *tab) compiles(program string) {
	b.t.Helper()
	dir, err := os.MkdirTemp(root+"/internal", "copied")
	if err != nil {
		b.t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	write(b.t, dir+"/main.go", program)
	if out, err := exec.Command("go", "vet", "-C", dir, ".").CombinedOutput(); err != nil {
		b.t.Errorf("the copied program: %v: %s", err, out)
	}
}

// TestKeyboard uses only the keyboard to go from the list of queries to an answer.
func TestKeyboard(t *testing.T) {
	needBrowser(t)
	s := codeSite(t)
	b := openTab(t)
	b.logIn(s, "act-dev", "/studio/code/run/heaviest_packages")
	b.run(chromedp.KeyEvent(kb.Tab))
	if got := eval[string](b, "document.activeElement.textContent"); !strings.Contains(got, "Skip to the page") {
		t.Errorf("the first stop of the keyboard is %q", got)
	}
	if left := eval[float64](b, "document.activeElement.getBoundingClientRect().left"); left < 0 {
		t.Error("the skip link has the focus and is not visible")
	}
	b.run(chromedp.KeyEvent(kb.Enter))
	for range 20 {
		if eval[string](b, "document.activeElement.id") == "field-limit" {
			break
		}
		b.run(chromedp.KeyEvent(kb.Tab))
	}
	b.run(chromedp.KeyEvent("3"), chromedp.KeyEvent(kb.Enter))
	b.wait("document.body.innerText.includes('3 rows')")
	width := eval[string](b, "getComputedStyle(document.activeElement).outlineWidth")
	if width != "2px" {
		t.Errorf("the outline of the focus is %s wide", width)
	}
	b.quiet()
}

// TestWrite first runs a mutation as a dry run, and then so that it writes. While the page shows a commit, the
// mutation cannot run.
func TestWrite(t *testing.T) {
	needBrowser(t)
	s := codeSite(t)
	b := openTab(t)
	b.logIn(s, "act-dev", "/studio/code/run/add_note?p.slug=second&p.text=hello&p.symbol="+symbol)
	b.run(chromedp.Click(`button[value="dry"]`, chromedp.ByQuery))
	b.wait("document.body.innerText.includes('Nothing was written.')")
	b.run(chromedp.Click(`button[value="run"]`, chromedp.ByQuery))
	b.wait("document.body.innerText.includes('The query changed')")
	b.run(chromedp.Click(`.note a`, chromedp.ByQuery))
	b.wait("document.querySelector('.versions') !== null")
	b.wantText("Note", "second", "hello", "act-dev")

	head := headOf(t, s)
	b.open(s, "/studio/code/run/add_note?p.slug=third&p.text=hello&p.symbol="+symbol+"&branch=review&at="+head)
	b.wantText("A commit cannot be written to. Go back to the branch review to run this query.", "Write to review")
	b.accessible()
	if n := eval[int](b, `document.querySelectorAll("form button:disabled").length`); n != 2 {
		t.Errorf("%d buttons are disabled, want the two that run the mutation", n)
	}
	if eval[bool](b, `document.querySelector(".copy") !== null`) {
		t.Error("the page offers to copy a call that writes to a commit")
	}
	b.run(chromedp.SendKeys("#field-slug", kb.Enter, chromedp.ByQuery))
	b.click("#past a")
	b.wait(`document.querySelector("form button:disabled") === null`)
	if after := headOf(t, s); after != head {
		t.Errorf("the head of main has moved from %s to %s", head, after)
	}
	b.click(`button[value="run"]`)
	b.shows("The query changed 1 nodes and 1 edges on the branch review.")
	b.quiet()
}

// TestSafe checks that no other site can show the studio in a frame, and that the browser applies
// the Content-Security-Policy of the server to the pages.
func TestSafe(t *testing.T) {
	needBrowser(t)
	s := codeSite(t)
	b := openTab(t)
	b.logIn(s, "act-dev", "/studio/code/schema")
	for what, script := range map[string]string{
		"a script in a text": `(() => { const s = document.createElement("script"); try { s.text = "1"; } catch { return true; } return false; })()`,
		"markup":             `(() => { try { document.body.insertAdjacentHTML("beforeend", "<i>x</i>"); } catch { return true; } return false; })()`,
		"eval":               `(() => { try { (0, eval)("1"); } catch { return true; } return false; })()`,
		"another host":       `fetch("http://127.0.0.1:1/").then(() => false, () => true)`,
	} {
		if !eval[bool](b, script) {
			t.Errorf("the page may use %s", what)
		}
	}
	framed := eval[bool](b, `new Promise(done => {
		const f = document.createElement("iframe");
		f.src = "/studio/";
		f.onload = () => { try { done(f.contentDocument !== null && f.contentDocument.getElementById("root") !== null); } catch { done(false); } };
		document.body.append(f);
		setTimeout(() => done(false), 3000);
	})`)
	if framed {
		t.Error("a page can show the studio in a frame")
	}
}
