package studio

import (
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

var (
	size = flag.Float64("size", 0, "the size of the graph of TestLarge as a `multiple` of 1,620,000 rows; 0 skips the test")
	kept = flag.String("kept", "", "the `folder` that keeps the graph of TestLarge between runs; without it, each run makes a graph")
)

// mostSettled is the goal for the time in which a page has settled.
const mostSettled = time.Second

// visits is the number of times that TestLarge opens each page.
const visits = 3

// mostFirst is the goal for the compressed size of the first page, in bytes.
const mostFirst = 100_000

// The changes that the branches of the large graph have.
const (
	bulkNew     = 80_000 // rows that a load adds
	bulkChanged = 20_000 // rows that it changes
	smallWrites = 120    // commits on main after that
)

// largePolicy lets act-dev do everything, and makes a proposal to main need an approval and the checks.
const largePolicy = `version: 1
protected_branches:
  - { name: main, approvals: 1, checks: true }
rules:
  - id: everything
    allow: { actors: { ids: [act-dev] }, actions: [read, change, branch_create, branch_merge, proposal_review, invoke_query, policy_read, protection_bypass] }
  - id: bots-read
    allow: { actors: { ids: [act-bot] }, actions: [read] }
`

const largeChecks = `query people_without_city()
  @must_be_empty("Everybody lives in a city.")
{
  match { $p: Person { city: "" } }
  return { $p.slug as slug }
  limit 100
}
`

// largeFiles makes a module in a folder whose server has the stored queries of the large graph, and loads the graph.
func largeFiles(t *testing.T, dir string) {
	t.Helper()
	queries := map[string]string{"checks.gq": largeChecks}
	social := filepath.Join(root, "internal", "bench", "social")
	for _, name := range []string{"people.gq", "posts.gq"} {
		queries[name] = read(t, filepath.Join(social, "queries", name))
	}
	module(t, dir, "social", read(t, filepath.Join(social, "schema.pg")), queries)
	write(t, filepath.Join(dir, "policy.yaml"), largePolicy)
	rows := filepath.Join(dir, "rows.ndjson")
	must(t, root, "go", "run", "./bench/cmd/graph", "--size", fmt.Sprint(*size), "--out", rows)
	fill(t, dir, "social", rows)
	if err := os.Remove(rows); err != nil {
		t.Fatal(err)
	}
	persons := int(100_000 * *size)
	line := func(i int, name string) string {
		return fmt.Sprintf(`{"type":"Person","data":{"slug":"p%07d","name":%q,"age":40,"city":"a new city","bio":"came with a load"}}`+"\n", i, name)
	}
	var bulk, clash strings.Builder
	for i := range bulkNew {
		bulk.WriteString(line(5_000_000+i, "New Person"))
	}
	for i := range min(bulkChanged, persons) {
		bulk.WriteString(line(i, "Changed Person"))
		clash.WriteString(line(i, "Changed Otherwise"))
	}
	store := filepath.Join(dir, "data", "social")
	for _, l := range []struct{ branch, text string }{{"bulk", bulk.String()}, {"clash", clash.String()}} {
		file := filepath.Join(dir, l.branch+".ndjson")
		write(t, file, l.text)
		must(t, dir, command(t, "omnigraph"), "branch", "create", l.branch, "--store", store)
		must(t, dir, command(t, "omnigraph"), "load", "--store", store, "--branch", l.branch, "--mode", "merge", "--data", file)
	}
}

// largeSite serves the large graph. Its proposals are a load of 100,000 rows into main, the same load into a
// branch that changed 20,000 of the rows in another way, and a draft.
func largeSite(t *testing.T) (s *site, proposals map[string]string) {
	t.Helper()
	dir := *kept
	if dir == "" {
		dir = filepath.Join(t.TempDir(), "large")
	}
	_, err := os.Stat(filepath.Join(dir, "data"))
	fresh := err != nil
	if fresh {
		largeFiles(t, dir)
	} else {
		must(t, dir, "go", "build", "-o", "bin/", "./cmd/...") // the studio may be newer than the graph
	}
	s = serve(t, filepath.Join(dir, "bin", "omnigraph-server"), dir, "social")
	if fresh {
		for i := range smallWrites {
			s.mutate(t, "act-dev", "main", fmt.Sprintf(`update Company set { name: "Renamed %d" } where slug = "c%07d"`, i, i%10))
		}
		s.send(t, "act-dev", "POST", "/graphs/social/mutate", `{"query":"query m() { update Company set { name: \"Named in a draft\" } where slug = \"c0000011\" }","branch":"draft"}`)
		for _, p := range []struct{ source, into, title string }{{"bulk", "main", "Load 100,000 people"}, {"bulk", "clash", "Load them where others changed them"}, {"draft", "main", "Rename a company"}} {
			s.send(t, "act-dev", "POST", "/graphs/social/proposals", fmt.Sprintf(`{"source":%q,"target":%q,"title":%q}`, p.source, p.into, p.title))
		}
	}
	var list struct {
		Proposals []struct{ ID, Source, Target string }
	}
	s.get(t, "act-dev", "/graphs/social/proposals", &list)
	proposals = map[string]string{}
	for _, p := range list.Proposals {
		source, _, _ := strings.Cut(p.Source, "/")
		proposals[source+" into "+p.Target] = p.ID
	}
	return s, proposals
}

// largePage is a page of the large graph.
type largePage struct {
	name, path string
	// more is the number of rows that the page may receive and not show. A request for a list asks for
	// one row more than the list shows, to find out whether there are more.
	more int
}

// TestLarge measures each page of the studio on a graph of 1,620,000 entities: how long it takes until the page
// has settled, and how many rows it receives and shows. `make bench-studio` runs it.
func TestLarge(t *testing.T) {
	needBrowser(t)
	if *size == 0 {
		t.Skip("run make bench-studio")
	}
	s, proposals := largeSite(t)
	load := commitsOf(t, s, "bulk")
	b := openTab(t)
	b.patience = 3 * time.Minute
	m := newMeter(b)
	b.run(chromedp.Navigate(s.url+"/studio/icon.svg"), chromedp.Evaluate(fmt.Sprintf("sessionStorage.setItem('omnigraph-token', %q)", s.token["act-dev"]), nil))
	person, bulk := mostKnown(t, s), "/studio/social/review/"+proposals["bulk into main"]
	found := fmt.Sprintf("/studio/social/entity?q=%s", url.QueryEscape("bibim"))
	pages := []largePage{
		{"first page", "/studio/social", 0},
		{"graphs", "/studio/", 0},
		{"proposals", "/studio/social/review", 0},
		{"new proposal", "/studio/social/review/new?source=bulk", 0},
		{"proposal of a load", bulk, 0},
		{"its changed rows", bulk + "?op=update", 0},
		{"its deleted rows", bulk + "?op=delete", 0},
		{"its rows of one type", bulk + "?type=Company", 0},
		{"proposal with 20,000 conflicts", "/studio/social/review/" + proposals["bulk into clash"], 0},
		{"proposal of a draft", "/studio/social/review/" + proposals["draft into main"], 0},
		{"stored queries", "/studio/social/run", 0},
		{"a query with 50 rows", "/studio/social/run/w2?p.slug=" + person + "&run=1", 0},
		{"a count of friends", "/studio/social/run/w4?p.slug=" + person + "&run=1", 0},
		{"a query over all edges of a type", "/studio/social/run/w6?run=1", 0},
		{"a full-text search", "/studio/social/run/w8?p.q=bibim&run=1", 0},
		{"form of a write", "/studio/social/run/w10", 0},
		{"entities", "/studio/social/entity", 0},
		{"first nodes of a type", "/studio/social/entity/Post", 1},
		{"search in a type", "/studio/social/entity/Post?q=bibim", 1},
		{"search in all types", found, 3},
		{"search without a result", "/studio/social/entity?q=xyzzy", 0},
		{"search for an id", "/studio/social/entity?q=" + person, 0},
		{"node with the most neighbours", "/studio/social/entity/Person?id=" + person, 4},
		{"post", "/studio/social/entity/Post?id=t0000000", 1},
		{"node at an old commit", "/studio/social/entity/Person?id=" + person + "&at=" + load[1].ID, 4},
		{"schema", "/studio/social/schema", 0},
		{"node type", "/studio/social/schema/node/Person", 0},
		{"edge type", "/studio/social/schema/edge/Knows", 0},
		{"schema at an old commit", "/studio/social/schema?at=" + load[1].ID, 0},
		{"commits", "/studio/social/history", 0},
		{"two branches compared", "/studio/social/history?compare=bulk", 2}, // two proposals, which are links
		{"first load, 1,620,000 changes", "/studio/social/history/" + load[1].ID, 0},
		{"load of 100,000 changes", "/studio/social/history/" + load[0].ID, 0},
		{"small commit", "/studio/social/history/" + commitsOf(t, s, "main")[0].ID, 0},
		{"actors", "/studio/social/access", 0},
		{"access explained", "/studio/social/access?actor=act-bot", 0},
	}
	t.Logf("load averages before %s", loadAverages())
	t.Logf("| page | first | median of 3 | server | page | requests | bytes | rows | shown |")
	for i := 0; i < len(pages); i++ {
		p := pages[i]
		var times []time.Duration
		first := m.visit(s, p.path)
		shown, failed := eval[int](b, shownRows), b.fails()
		if p.name == "first page" {
			t.Logf("the files of the first page have %d bytes, compressed", first.files)
			if first.files == 0 || first.files > mostFirst {
				t.Errorf("the files of the first page have %d bytes, want at most %d", first.files, mostFirst)
			}
		}
		more := eval[string](b, `[...document.querySelectorAll("main a")].find(e => /^(More changes|Older commits|Next rows)$/.test(e.innerText))?.getAttribute("href") ?? ""`)
		server, page := first.server, first.page
		for range visits - 1 {
			again := m.visit(s, p.path)
			times = append(times, again.settled)
			server, page = min(server, again.server), min(page, again.page)
		}
		times = append(times, first.settled)
		slices.Sort(times)
		t.Logf("| %s | %d ms | %d ms | %d ms | %d ms | %d | %d | %d | %d |", p.name, first.settled.Milliseconds(), times[visits/2].Milliseconds(), server.Milliseconds(), page.Milliseconds(), first.requests, first.bytes, first.rows, shown)
		t.Logf("  the first time, the server used %d ms; the slowest answer took %d ms: %s", first.server.Milliseconds(), first.longest.Milliseconds(), first.slowest)
		if more != "" && !strings.HasPrefix(p.name, "second page of ") {
			pages = slices.Insert(pages, i+1, largePage{"second page of " + p.name, more, p.more})
		}
		if failed {
			t.Errorf("%s shows a failure: %.1000s", p.name, b.text())
		}
		if median := times[visits/2]; median > mostSettled {
			t.Errorf("%s: a median of %v until the page has settled, want at most %v", p.name, median, mostSettled)
		}
		if first.rows > shown+p.more {
			t.Errorf("%s: the page receives %d rows and shows %d", p.name, first.rows, shown)
		}
	}
	t.Logf("load averages after %s", loadAverages())
	b.quiet()
}

// mostKnown returns the person with the most edges Knows.
func mostKnown(t *testing.T, s *site) string {
	t.Helper()
	var answer struct{ Rows []struct{ Slug string } }
	s.ask(t, "act-dev", "POST", "/graphs/social/query", `{"query":"query q() { match { $p: Person  $p knows $f } return { $p.slug as slug, count($f) as n } order { n desc } limit 1 }"}`, &answer)
	return answer.Rows[0].Slug
}

// fails reports whether the page shows a failure.
func (b *tab) fails() bool {
	b.t.Helper()
	return eval[bool](b, `document.querySelector("main .failure") !== null`)
}

// loadAverages returns the load averages of the machine.
func loadAverages() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(text))
}

// read returns the text of a file.
func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
