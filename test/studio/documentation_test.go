package studio

import (
	"flag"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

var documentation = flag.String("documentation", "", "the `folder` of the built site of the documentation; without it TestDocumentation skips")

// needDocumentation serves the built site of the documentation, and returns its address and the paths of its
// pages. It skips the test if the site or Chromium is missing.
func needDocumentation(t *testing.T) (address string, pages []string) {
	t.Helper()
	needBrowser(t)
	if *documentation == "" {
		t.Skip("make test-site builds the site of the documentation, and names its folder")
	}
	root := os.DirFS(*documentation)
	err := fs.WalkDir(root, ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && path.Ext(name) == ".html" {
			pages = append(pages, "/"+name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(pages) < 60 {
		t.Fatalf("the site has %d pages; want more than 60", len(pages))
	}
	ts := httptest.NewServer(http.FileServerFS(root))
	t.Cleanup(ts.Close)
	return ts.URL, pages
}

// read opens a page of the documentation, and waits until its program runs.
func (b *tab) read(address string) {
	b.t.Helper()
	b.run(chromedp.Navigate(strings.TrimSuffix(address, "index.html")))
	b.wait(`document.readyState === "complete" && (document.querySelector("#app") === null || document.querySelector("#app").__vue_app__ !== undefined)`)
}

// TestDocumentation opens every page of the site. axe-core must find nothing, the page must fit
// a narrow screen, the browser must ask no other server, and each link must lead to a page of the site, and to an
// element there if it has an anchor.
func TestDocumentation(t *testing.T) {
	address, pages := needDocumentation(t)
	b, outer := openTab(t), t
	b.patience = 5 * time.Minute // axe-core takes long for the largest references
	// The pages have one design, so dark colours are checked on those that have all kinds of content.
	coloured := map[string]bool{"/index.html": true, "/next/index.html": true, "/next/docs/comparison.html": true, "/next/docs/language.html": true}
	var mu sync.Mutex
	var foreign []string // requests to other servers; guarded by mu
	chromedp.ListenTarget(b.ctx, func(event any) {
		if e, ok := event.(*network.EventRequestWillBeSent); ok && !strings.HasPrefix(e.Request.URL, address+"/") && !strings.HasPrefix(e.Request.URL, "data:") {
			mu.Lock()
			defer mu.Unlock()
			foreign = append(foreign, e.Request.URL)
		}
	})
	b.run(network.Enable())
	links, anchors := map[string][]string{}, map[string]map[string]bool{}
	for _, page := range pages {
		t.Run(strings.ReplaceAll(page[1:], "/", "-"), func(t *testing.T) {
			b.t = t
			defer func() { b.t = outer }()
			for _, colours := range []string{"light", "dark"} {
				if colours == "dark" && !coloured[page] {
					continue
				}
				b.scheme(colours)
				b.resize(1280, 900)
				b.read(address + page)
				b.accessible()
				if coloured[page] {
					b.shoot("documentation-" + strings.ReplaceAll(strings.TrimSuffix(page[1:], ".html"), "/", "-") + "-" + colours)
				}
			}
			b.resize(360, 800)
			if wide := eval[int](b, "document.documentElement.scrollWidth"); wide > 360 {
				outside := eval[[]string](b, `[...document.querySelectorAll("main *")].filter(e => e.getBoundingClientRect().right > 361 && !e.closest("table, pre")).map(e => e.outerHTML.slice(0, 200))`)
				t.Errorf("the page is %d pixels wide on a screen of 360: %s", wide, strings.Join(outside[:min(3, len(outside))], "\n"))
			}
			b.quiet()
			links[page] = eval[[]string](b, `[...document.querySelectorAll("a[href]")].map(a => a.href)`)
			anchors[page] = map[string]bool{"": true}
			for _, id := range eval[[]string](b, `[...document.querySelectorAll("[id]")].map(e => e.id)`) {
				anchors[page][id] = true
			}
		})
	}
	mu.Lock()
	defer mu.Unlock()
	for _, request := range foreign {
		t.Errorf("a page asks for %s", request)
	}
	checked := 0
	for page, hrefs := range links {
		for _, href := range hrefs {
			rest, ours := strings.CutPrefix(href, address)
			if !ours {
				continue
			}
			checked++
			if fault := broken(rest, anchors); fault != "" {
				t.Errorf("%s: the link %s is broken: %s", page, rest, fault)
			}
		}
	}
	if checked < 1000 || broken(pages[0]+"#nowhere", anchors) == "" || broken("/nowhere.html", anchors) == "" {
		t.Errorf("%d links were checked; the test checks too little", checked)
	}
}

// broken says what is wrong with a link within the site, or returns "".
func broken(link string, anchors map[string]map[string]bool) string {
	u, err := url.Parse(link)
	if err != nil {
		return err.Error()
	}
	page := u.Path
	if strings.HasSuffix(page, "/") {
		page += "index.html"
	}
	if anchors[page] == nil {
		return "there is no such page"
	}
	if !anchors[page][u.Fragment] {
		return "the page has no such anchor"
	}
	return ""
}

// TestDocumentationSearch finds a page by words of its text, without a server that searches. axe-core does not check the box
// of the search, because VitePress gives it the role of a button with controls in it.
func TestDocumentationSearch(t *testing.T) {
	address, _ := needDocumentation(t)
	b := openTab(t)
	b.resize(1280, 900)
	b.read(address + "/next/index.html")
	b.click(".DocSearch-Button")
	b.run(chromedp.WaitVisible("#localsearch-input", chromedp.ByQuery), chromedp.SendKeys("#localsearch-input", "approximate index recall", chromedp.ByQuery))
	b.wait(`document.querySelector(".VPLocalSearchBox .result") !== null`)
	found := eval[[]string](b, `[...document.querySelectorAll(".VPLocalSearchBox a.result")].map(a => a.getAttribute("href"))`)
	if !strings.Contains(fmt.Sprint(found), "/docs/reference/language") {
		t.Errorf("the search finds %v", found)
	}
	b.quiet()
}
