package studio

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// browserPath returns the path of Chromium, or "" if there is none.
func browserPath() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// needBrowser skips the test if Chromium is not installed.
func needBrowser(t *testing.T) {
	t.Helper()
	if browserPath() == "" {
		t.Skip("there is no chromium, chromium-browser or google-chrome in PATH; on Debian, apt-get install chromium")
	}
}

// tab is a tab in a browser that has no other tab.
type tab struct {
	t   *testing.T
	ctx context.Context

	patience time.Duration // how long an action may take

	mu       sync.Mutex
	messages []string // what the page wrote to the console; guarded by mu
}

// openTab starts a browser. The test fails if a page writes anything to the console.
func openTab(t *testing.T) *tab {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(browserPath()), chromedp.NoSandbox, chromedp.WindowSize(1280, 900),
		chromedp.Flag("force-prefers-reduced-motion", true), chromedp.Flag("hide-scrollbars", false))
	allocated, stop := chromedp.NewExecAllocator(t.Context(), options...)
	ctx, closeTab := chromedp.NewContext(allocated)
	b := &tab{t: t, ctx: ctx, patience: time.Minute}
	t.Cleanup(func() {
		closeTab()
		stop()
	})
	chromedp.ListenTarget(ctx, func(event any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch e := event.(type) {
		case *runtime.EventConsoleAPICalled:
			b.messages = append(b.messages, fmt.Sprintf("console.%s: %s", e.Type, e.Args[0].Value))
		case *runtime.EventExceptionThrown:
			b.messages = append(b.messages, e.ExceptionDetails.Error())
		case *log.EventEntryAdded:
			// The browser itself writes a message for each request that the server refuses. Such
			// messages are ignored.
			if e.Entry.Source != log.SourceNetwork {
				b.messages = append(b.messages, string(e.Entry.Source)+": "+e.Entry.Text)
			}
		}
	})
	b.run(log.Enable())
	return b
}

// run runs actions, and fails the test if they take longer than the tab's patience.
func (b *tab) run(actions ...chromedp.Action) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, b.patience)
	defer cancel()
	if b.ctx.Value(started{}) == nil {
		// The first call of chromedp.Run starts the browser. It uses the context without the time
		// limit, because the end of its context closes the browser.
		b.ctx = context.WithValue(b.ctx, started{}, true)
		if err := chromedp.Run(b.ctx); err != nil {
			b.t.Fatal(err)
		}
		b.run(actions...)
		return
	}
	if err := chromedp.Run(ctx, actions...); err != nil {
		var text string
		_ = chromedp.Run(b.ctx, chromedp.Evaluate("location.href + '\\n' + document.body.innerText", &text))
		b.t.Fatalf("%v; the page is:\n%.3000s", err, text)
	}
}

// started is the key that marks the context of a tab whose browser has been started.
type started struct{}

// logIn stores the token of an actor in the tab, and opens a page.
func (b *tab) logIn(s *site, actor, path string) {
	b.t.Helper()
	b.run(chromedp.Navigate(s.url+"/studio/icon.svg"), chromedp.Evaluate(fmt.Sprintf("sessionStorage.setItem('omnigraph-token', %q)", s.token[actor]), nil),
		chromedp.Navigate(s.url+path))
	b.settle()
}

// open opens a page and waits until everything has loaded.
func (b *tab) open(s *site, path string) {
	b.t.Helper()
	b.run(chromedp.Navigate(s.url + path))
	b.settle()
}

// settle waits until the page has a heading and everything on it has loaded.
func (b *tab) settle() {
	b.t.Helper()
	b.wait(`document.querySelector("h1, .failure") !== null && document.querySelector(".loading, p[role=status]:empty") === null && !document.body.innerText.includes("Loading…")`)
}

// wait waits until a JavaScript condition holds.
func (b *tab) wait(condition string) {
	b.t.Helper()
	poll := chromedp.Poll(condition, nil, chromedp.WithPollingInterval(50*time.Millisecond), chromedp.WithPollingTimeout(b.patience))
	b.run(chromedp.ActionFunc(func(ctx context.Context) error {
		// A page that another one replaces meanwhile has no context any more, and the new one must be asked.
		err := poll.Do(ctx)
		for i := 0; i < 5 && err != nil && strings.Contains(err.Error(), "Cannot find context"); i++ {
			err = poll.Do(ctx)
		}
		return err
	}))
}

// eval returns the value of a JavaScript expression.
func eval[T any](b *tab, expression string) (v T) {
	b.t.Helper()
	b.run(chromedp.Evaluate(expression, &v, func(p *runtime.EvaluateParams) *runtime.EvaluateParams {
		return p.WithAwaitPromise(true).WithAllowUnsafeEvalBlockedByCSP(false)
	}))
	return v
}

// text returns the visible text of the page.
func (b *tab) text() string {
	b.t.Helper()
	return eval[string](b, "document.body.innerText")
}

// wantText fails the test unless the page shows all the texts.
func (b *tab) wantText(texts ...string) {
	b.t.Helper()
	// Some parts of a page appear after the rest, without a sign that they are loading.
	shown := b.text()
	missing := func(want string) bool { return !strings.Contains(shown, want) }
	for range 100 {
		if !slices.ContainsFunc(texts, missing) {
			return
		}
		time.Sleep(50 * time.Millisecond)
		shown = b.text()
	}
	for _, want := range texts {
		if missing(want) {
			b.t.Errorf("%s does not show %q:\n%.2000s", eval[string](b, "location.pathname"), want, shown)
		}
	}
}

// expire answers every request about a graph with status 401, as if the token had expired, until the test
// calls fetch.Disable.
func (b *tab) expire() {
	b.t.Helper()
	chromedp.ListenTarget(b.ctx, func(event any) {
		if e, ok := event.(*fetch.EventRequestPaused); ok {
			go func() { // a listener must not wait for the browser
				_ = chromedp.Run(b.ctx, fetch.FulfillRequest(e.RequestID, http.StatusUnauthorized))
			}()
		}
	})
	b.run(fetch.Enable().WithPatterns([]*fetch.RequestPattern{{URLPattern: "*/graphs/*"}}))
}

// scheme selects the light or the dark colours.
func (b *tab) scheme(name string) {
	b.t.Helper()
	b.run(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}))
}

// allowClipboard lets the page read and write the clipboard.
func (b *tab) allowClipboard(s *site) {
	b.t.Helper()
	b.run(browser.GrantPermissions([]browser.PermissionType{browser.PermissionTypeClipboardReadWrite, browser.PermissionTypeClipboardSanitizedWrite}).WithOrigin(s.url))
}

// quiet fails the test if the page wrote to the console.
func (b *tab) quiet() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, m := range b.messages {
		b.t.Errorf("the console has: %s", m)
	}
	b.messages = nil
}

// axeSource returns the text of axe-core, which `make` installs with npm.
var axeSource = sync.OnceValues(func() (string, error) {
	text, err := os.ReadFile(filepath.Join(root, "studio", "node_modules", "axe-core", "axe.min.js"))
	return string(text), err
})

// accessible fails the test if axe-core finds a fault in the page.
func (b *tab) accessible() {
	b.t.Helper()
	source, err := axeSource()
	if err != nil {
		b.t.Fatalf("%v; run make studio", err)
	}
	b.run(chromedp.Evaluate(source+";0", nil))
	faults := eval[[]struct {
		ID, Help string
		Nodes    []struct{ HTML, FailureSummary string }
	}](b, `axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}).then(r => r.violations)`)
	for _, f := range faults {
		text, _ := json.Marshal(f.Nodes[:min(3, len(f.Nodes))])
		b.t.Errorf("%s: %s: %s: %s", eval[string](b, "location.pathname+location.search"), f.ID, f.Help, text)
	}
}

// resize sets the size of the screen in pixels.
func (b *tab) resize(width, height int64) {
	b.t.Helper()
	b.run(chromedp.EmulateViewport(width, height))
}

// shows waits until the page shows a text.
func (b *tab) shows(text string) {
	b.t.Helper()
	b.wait(fmt.Sprintf("document.body.innerText.includes(%q)", text))
}

// click clicks the element that a CSS selector selects.
func (b *tab) click(selector string) {
	b.t.Helper()
	b.run(chromedp.ScrollIntoView(selector, chromedp.ByQuery), chromedp.Click(selector, chromedp.ByQuery))
}

// looks checks the page in light and in dark colours, and on a wide and on a narrow screen.
func (b *tab) looks(name string) {
	b.t.Helper()
	for _, colours := range []string{"light", "dark"} {
		b.scheme(colours)
		b.resize(1280, 900)
		b.run(chromedp.Evaluate("scrollTo(0, 0)", nil))
		b.accessible()
		b.fits(1280)
		b.colours(colours)
		b.shoot(name + "-" + colours)
	}
	b.scheme("light")
	b.marked()
	b.resize(360, 800)
	b.accessible()
	b.fits(360)
	b.shoot(name + "-narrow")
	b.resize(1280, 900)
}

// tabTo presses Tab until an element has the focus that matches a CSS selector.
func (b *tab) tabTo(selector string) {
	b.t.Helper()
	for range 150 {
		if eval[bool](b, fmt.Sprintf("document.activeElement.matches(%q)", selector)) {
			return
		}
		b.run(chromedp.KeyEvent(kb.Tab))
	}
	b.t.Fatalf("150 presses of Tab do not reach %s", selector)
}
