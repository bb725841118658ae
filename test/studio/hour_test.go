package studio

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// hourSite serves a graph without data, whose branch main only act-dev may change directly.
func hourSite(t *testing.T) *site {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "queries"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"shop.pg": `node Customer {
  name: String @key
  city: String
}

node Order {
  number: String @key
  total: I32
  placed: Date
}

edge PlacedBy: Order -> Customer { @unique(src, dst) }
`,
		"queries/orders.gq": "query orders_of($city: String) @description(\"The orders of the customers of a city.\") {\n  match { $o: Order $o placedBy $c $c.city = $city }\n  return { $o.number as number, $o.total as total }\n}\n",
		"policy.yaml": `version: 1
protected_branches: [main]
rules:
  - id: all-read
    allow: { actors: any, actions: [read, invoke_query] }
  - id: dev-does-all
    allow: { actors: { ids: [act-dev] }, actions: [change, branch_create, branch_merge, proposal_review, protection_bypass, query_propose, query_publish, audit_read, watch_webhook] }
  - id: ada-corrects-in-drafts
    allow: { actors: { ids: [act-ada] }, actions: [change], branch_scope: draft }
`,
		"cluster.yaml": "version: 1\nstorage: ./data\ngraphs:\n  shop: { schema: shop.pg, queries: queries/, watches: { webhook_loopback: true } }\npolicies:\n  p: { file: policy.yaml, applies_to: [shop] }\nserver: { studio: true }\n",
	} {
		write(t, filepath.Join(dir, name), text)
	}
	must(t, dir, command(t, "omnigraph"), "cluster", "apply", "--cluster", dir)
	return serve(t, command(t, "omnigraph-server"), dir, "shop")
}

const (
	customersCSV = "name,city\nOlsen,Oslo\nBerg,Bergen\nDahl,Oslo\n"
	ordersCSV    = "number,total,placed,customer\nA1,120,2026-03-01,Olsen\nA2,80,2026-03-02,Berg\nA3,45,2026-03-05,Dahl\nA4,300,2026-03-07,Olsen\n"
)

// follow clicks a link by its text, once it is there.
func (b *tab) follow(text string) {
	b.t.Helper()
	b.run(chromedp.Click(fmt.Sprintf(`//a[normalize-space()=%q]`, text), chromedp.BySearch))
}

// ordersOf opens the orders among the data.
func (b *tab) ordersOf() {
	b.t.Helper()
	b.follow("Data")
	b.wait(`document.querySelector("main select") !== null`)
	b.run(chromedp.Evaluate(`(e => { e.value = "Order"; e.dispatchEvent(new Event("change", { bubbles: true })); })(document.querySelector("main select"))`, nil))
	b.wantText("Data: Order")
}

// TestHour spends somebody's first hour in the studio, without a terminal: from two tables to a chart, a tool, a reviewed correction, and the
// answer to who made it.
func TestHour(t *testing.T) {
	needBrowser(t)
	s := hourSite(t)
	b := openTab(t)

	// Import two tables.
	b.logIn(s, "act-dev", "/studio/shop")
	b.wantText("In the graph")
	b.follow("Import")
	for _, file := range []struct{ name, text, found, tried string }{
		{"customers.csv", customersCSV, "customers.csv: 3 rows", "3 Customer: 3 new"},
		{"orders.csv", ordersCSV, "orders.csv: 4 rows", "4 Order: 4 new"},
	} {
		b.wantText("Drop a file here")
		b.drop(file.name, file.text)
		b.wantText(file.found)
		b.press("Try without writing")
		b.wantText("Nothing was written.", file.tried)
		b.press("Import into main")
		b.wantText("The import is on the branch main.")
		b.follow("Overview")
		b.wantText("In the graph")
		b.follow("Import")
	}

	// Look at them.
	b.ordersOf()
	b.wantText("A4", "300")
	b.looks("hour-data")

	// Write a query with completion, and see it as a chart.
	b.follow("Query")
	b.write("query totals($least: I32 @example(50)) { match { $o: Ord")
	b.run(chromedp.KeyEvent("e"))
	b.wait(inEditor(".cm-tooltip-autocomplete li[aria-selected]") + "?.textContent.includes('Order')")
	for range 50 { // right after the list appears, the editor ignores keys
		if b.run(chromedp.KeyEvent(kb.Tab)); eval[bool](b, inEditor(".cm-content")+".textContent.includes('$o: Order')") {
			break
		}
	}
	b.wait(inEditor(".cm-content") + ".textContent.includes('$o: Order')")
	b.write("query totals($least: I32 @example(50)) {\n  match { $o: Order $o placedBy $c $o.total >= $least }\n  return { $c.name as customer, sum($o.total) as total }\n  order { total desc }\n}")
	b.wantText("This query reads.")
	b.run(chromedp.SendKeys("#field-least", "50"+kb.Enter, chromedp.ByQuery))
	b.wantText("2 rows", "Olsen", "420")
	b.press("Chart")
	b.wait("document.querySelectorAll('.chart rect.mark').length === 2")
	b.looks("hour-chart")

	// Keep it as a proposed tool.
	b.press("Propose as a tool")
	b.wantText("Propose totals as a tool")
	b.run(chromedp.SendKeys("#tool-description", "What each customer ordered, the most first.", chromedp.ByQuery),
		chromedp.SendKeys("#tool-questions", "Who orders most?"+kb.Enter+"Which customers matter?", chromedp.ByQuery),
		chromedp.SendKeys("#tool-why", "Asked every week.", chromedp.ByQuery))
	b.press("Propose the tool")
	b.wait("location.pathname.includes('/review/')")
	b.wantText("totals: What each customer ordered", "Asked every week.")
	b.quiet()

	// Correct three rows in a draft, and propose them.
	b.logIn(s, "act-ada", "/studio/shop/data/Order")
	for _, c := range []struct{ number, total string }{{"A1", "125"}, {"A2", "85"}, {"A3", "50"}} {
		b.run(chromedp.Click(fmt.Sprintf(`[aria-label="Edit %s"]`, c.number), chromedp.ByQuery))
		b.wait("document.querySelector('#field-total') !== null")
		b.run(chromedp.Evaluate(`document.querySelector("#field-total").select()`, nil), chromedp.KeyEvent(c.total+kb.Enter))
		b.wantText("Nothing was written. This would change 1 nodes: total.")
		b.press("Write to my draft")
		b.wantText("The change is on the branch draft/")
		if c.number != "A3" {
			b.ordersOf()
		}
	}
	b.follow("Propose it for main")
	b.shows("Open a proposal")
	b.run(chromedp.SendKeys("#title", "Correct three totals", chromedp.ByQuery))
	b.click(`form[aria-label="New proposal"] button`)
	b.wantText("Correct three totals", "3 changed")
	path := eval[string](b, "location.pathname")
	b.looks("hour-proposal")
	b.quiet()

	// An agent calls meanwhile.
	s.send(t, "act-bot", "POST", "/graphs/shop/queries/orders_of", `{"params":{"city":"Oslo"}}`)

	// Review and merge as a second actor.
	b.logIn(s, "act-dev", "/studio/shop")
	b.follow("Review")
	b.follow("Correct three totals")
	b.shows("Approve")
	b.settle()
	b.click("button[value=approve]")
	b.shows("You approved the proposal.")
	b.click("button[value=merge]")
	b.shows("The proposal is merged into main.")
	b.settle()
	if eval[string](b, "location.pathname") != path {
		t.Error("the proposal that was merged is another one")
	}

	// See what the agent called.
	b.follow("Calls")
	b.wantText("orders_of", "act-bot")
	b.run(chromedp.SendKeys("input[name=actor]", "act-bot"+kb.Enter, chromedp.ByQuery))
	b.wait("location.search.includes('actor=act-bot')")
	b.wantText("orders_of")
	b.looks("hour-calls")

	// Find out who changed a value.
	b.ordersOf()
	b.follow("A1")
	b.wantText("125", "History", "by act-dev", "Correct three totals", "merged from a commit by act-ada")
	b.looks("hour-who")
	b.quiet()
}

// TestWatches looks at the watches of an actor: the list, the answer of one, what changes in it, and a webhook whose receiver fails.
func TestWatches(t *testing.T) {
	needBrowser(t)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }))
	defer receiver.Close()
	s := hourSite(t)
	b := openTab(t)
	b.logIn(s, "act-dev", "/studio/shop/watches")
	b.wantText("Watches", "You have no watches on this graph.")
	b.looks("watches-none")
	lines := func(text string) {
		t.Helper()
		s.send(t, "act-dev", "POST", "/graphs/shop/load", fmt.Sprintf(`{"data":%q,"mode":"merge"}`, text))
	}
	lines(`{"type":"Customer","data":{"name":"Olsen","city":"Oslo"}}
{"type":"Order","data":{"number":"A1","total":120,"placed":"2026-03-01"}}
{"edge":"PlacedBy","from":"A1","to":"Olsen"}
`)
	s.send(t, "act-dev", "POST", "/graphs/shop/watches", fmt.Sprintf(`{"query":"orders_of","params":{"city":"Oslo"},"webhook":%q}`, receiver.URL+"/in"))
	b.open(s, "/studio/shop/watches")
	b.wantText("orders_of", `{"city":"Oslo"}`, "main")
	b.looks("watches")
	b.follow("orders_of")
	b.wantText("Watch of orders_of", "Webhook", "events go to", "The server has given up no event.", "A1", "120", "Nothing has changed since you opened the page.")
	lines(`{"type":"Order","data":{"number":"A2","total":77,"placed":"2026-03-02"}}
{"edge":"PlacedBy","from":"A2","to":"Olsen"}
`)
	b.wantText("came", "A2", "77", "the commit")
	b.looks("watch")
	b.click("article h3 a")
	b.wantText("act-dev", "A2")
	b.run(chromedp.NavigateBack())
	b.wantText("Watch of orders_of")
	b.open(s, eval[string](b, "location.pathname")) // looks again at the webhook
	b.wantText("retrying", "the receiver answered 503")
	b.press("Try again now")
	b.wantText("The server has given up no event.")
	b.press("Delete this watch")
	b.wantText("You have no watches on this graph.")
	b.open(s, "/studio/shop/watches/none")
	b.wantText("You have no such watch.")
	if text := b.text(); strings.Contains(text, "whsec_") {
		t.Error("the page shows a secret")
	}
	b.quiet()
}
