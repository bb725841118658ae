package studio

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
)

const (
	// harm is a text with markup, a right-to-left override and a zero width space.
	harm = "<img src=x onerror=alert(1)> \u202eevil\u202c zero\u200bwidth"

	// script is the id of a node.
	script = "<script>alert(1)</script>"

	// mallory is an actor. The name of an actor is in ASCII and has no blanks.
	mallory = "<img/src=x/onerror=alert(1)>"
)

// oddSite serves two graphs. The graph odd has texts that try to do harm, a type with 200 properties, a text of a
// megabyte, and a proposal with a conflict by an actor with an odd name. The graph empty has no data.
func oddSite(t *testing.T) *site {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "odd")
	var schema, wide, columns strings.Builder
	fmt.Fprintf(&schema, "node Trap {\n  slug: String @key @description(%q)\n  title: String\n  link: String\n  long: String\n  mood: enum(calm, wild)?\n  day: Date?\n  level: I32?\n}\n\nnode Wide {\n  slug: String @key\n", "<img src=x onerror=alert(1)>")
	wide.WriteString(`{"type":"Wide","data":{"slug":"w"`)
	for i := range 200 {
		fmt.Fprintf(&schema, "  p%d: String?\n", i)
		fmt.Fprintf(&wide, `,"p%d":"value %d"`, i, i)
		fmt.Fprintf(&columns, ", $w.p%d as p%d", i, i)
	}
	schema.WriteString("}\n\nedge Leads: Trap -> Trap { why: String }\n")
	wide.WriteString("}}\n")
	module(t, dir, "odd", schema.String(), map[string]string{"odd.gq": strings.NewReplacer("HARM", harm, ", COLUMNS", columns.String()).Replace(oddQueries)})
	lines := fmt.Sprintf(`{"type":"Trap","data":{"slug":%q,"title":%q,"link":"javascript:alert(1)","long":%q,"mood":"wild","day":"2026-05-02","level":7}}`+"\n", script, harm, strings.Repeat("a long text ", 1<<20/12)) +
		fmt.Sprintf(`{"type":"Trap","data":{"slug":%q,"title":"=1+1","link":"https://example.com/x","long":""}}`+"\n", harm) +
		`{"type":"Trap","data":{"slug":"b","title":"=1+1","link":"https://example.com/x","long":"","mood":"calm","day":"2026-05-01","level":3}}` + "\n" +
		`{"type":"Trap","data":{"slug":"c","title":"=1+1","link":"https://example.com/x","long":""}}` + "\n" +
		fmt.Sprintf(`{"edge":"Leads","from":%q,"to":"b","data":{"why":"<b>bold</b>"}}`+"\n", script) +
		fmt.Sprintf(`{"edge":"Leads","from":"b","to":%q,"data":{"why":%q}}`+"\n", harm, harm) + wide.String()
	write(t, filepath.Join(dir, "empty.pg"), "node Thing { name: String @key }\n")
	write(t, filepath.Join(dir, "odd.ndjson"), lines)
	write(t, filepath.Join(dir, "tokens.yaml"), fmt.Sprintf("%x: %s\n", sha256.Sum256([]byte("the-token-of-mallory")), quoted(mallory)))
	write(t, filepath.Join(dir, "policy.yaml"), fmt.Sprintf("version: 1\nrules:\n  - id: everything\n    allow: { actors: { ids: [act-dev, %s] }, actions: [read, change, invoke_query, policy_read, branch_create, branch_merge, proposal_review] }\n", quoted(mallory)))
	write(t, filepath.Join(dir, "cluster.yaml"), "version: 1\nstorage: ./data\ngraphs:\n  odd: { schema: schema.pg, queries: queries/ }\n  empty: { schema: empty.pg }\npolicies:\n  p: { file: policy.yaml, applies_to: [odd, empty] }\nserver: { studio: true }\n")
	fill(t, dir, "odd", filepath.Join(dir, "odd.ndjson"))
	s := serve(t, filepath.Join(dir, "bin", "omnigraph-server"), dir, "odd")
	s.token[mallory] = "the-token-of-mallory"
	s.send(t, mallory, "POST", "/graphs/odd/branches", `{"name":"try"}`)
	s.mutate(t, mallory, "try", fmt.Sprintf(`update Trap set { title: %s, long: %s } where slug = "b"`, quoted(harm+" theirs"), quoted(strings.Repeat("another long text ", 1_000_000/18+1))))
	s.mutate(t, mallory, "main", fmt.Sprintf(`update Trap set { title: %s } where slug = "b"`, quoted(harm+" ours")))
	s.mutate(t, mallory, "main", fmt.Sprintf(`update Trap set { title: %s } where slug = %s`, quoted(harm+" again"), quoted(harm)))
	body := func(members map[string]any) string { b, _ := json.Marshal(members); return string(b) }
	var p struct{ ID string }
	s.ask(t, mallory, "POST", "/graphs/odd/proposals", body(map[string]any{"source": "try", "title": harm, "description": harm}), &p)
	s.proposal = p.ID
	s.send(t, mallory, "POST", "/graphs/odd/proposals/"+p.ID+"/review", body(map[string]any{"decision": "comment", "comment": harm, "on": map[string]string{"entity_kind": "node", "type_name": "Trap", "id": "b"}}))
	return s
}

// oddQueries are the stored queries of the graph odd. HARM and COLUMNS stand for other texts.
const oddQueries = `// Reads of texts that try to do harm.

query traps($part: String @default("HARM") @example("HARM") @description("HARM"))
  @description("HARM")
  @instruction("HARM")
{
  match { $t: Trap  $t.title contains $part }
  return { $t.slug as slug, $t.title as title, $t.link as link, $t.long as long }
  limit 100
}

query trap($slug: String)
  @description("Look one up.")
{
  match { $t: Trap { slug: $slug } }
  return { $t.title as title }
  limit 1
}

query moods($mood: String, $since: Date, $level: I32 @range(1..10) @default(2))
  @description("Find traps by mood.")
{
  match { $t: Trap { mood: $mood }  $t.day >= $since  $t.level >= $level }
  return { $t.slug as slug, $t.mood as mood, $t.day as day, $t.level as level }
  limit 10
}

query wide()
  @description("Has 200 columns and more.")
{
  match { $w: Wide }
  return { $w.slug as slug, COLUMNS }
  limit 10
}

query name_trap($slug: String, $title: String)
  @description("Give a trap a title.")
{
  update Trap set { title: $title } where slug = $slug
}
`

// quoted returns a text as a literal of GQ and of YAML.
func quoted(text string) string {
	b, _ := json.Marshal(text)
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(b))
}

// marked fails the test if a character that is invisible or changes the direction of writing is anywhere on the
// page without a mark: in its texts, also those of drawings, hints, options and closed parts, in its title, and in the
// attributes that users see or hear. The values of fields are as the user typed them.
func (b *tab) marked() {
	b.t.Helper()
	found := eval[[]string](b, `(() => {
		const raw = /[\u00ad\u034f\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/;
		const found = raw.test(document.title) ? ["the title: " + document.title] : [];
		const all = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
		for (let node = all.nextNode(); node; node = all.nextNode()) {
			if (node instanceof Text && raw.test(node.data)) {
				found.push("a text in " + node.parentElement.outerHTML.slice(0, 200));
			}
			for (const a of node.attributes ?? []) {
				if (raw.test(a.value) && !(a.name === "value" && !node.closest("datalist"))) {
					found.push(a.name + " of " + node.outerHTML.slice(0, 200));
				}
			}
		}
		return found.slice(0, 5);
	})()`)
	for _, f := range found {
		b.t.Errorf("%s: an invisible character has no mark: %q", eval[string](b, "location.pathname+location.search"), f)
	}
}

// inert fails the test if a value of the graph has become an element or a link that runs a script.
func (b *tab) inert() {
	b.t.Helper()
	if n := eval[int](b, `document.querySelectorAll("main img, main script, main b, a[href^='javascript' i]").length`); n != 0 {
		b.t.Errorf("%s: %d elements come from the values of the graph", eval[string](b, "location.pathname+location.search"), n)
	}
}

// TestOddGraphs opens every page on a graph whose texts try to do harm, and on an empty graph.
func TestOddGraphs(t *testing.T) {
	needBrowser(t)
	s := oddSite(t)
	b := openTab(t)
	in := url.QueryEscape
	head := headOf(t, s)
	b.logIn(s, "act-dev", "/studio/")
	for _, p := range []page{
		{"node", "/studio/odd/entity/Trap?id=" + in(script), []string{script, "<img src=x onerror=alert(1)>", "U+202E", "U+200B", "javascript:alert(1)", "1.0 MB in all", "<b>bold</b>"}},
		{"node with a drawing", "/studio/odd/entity/Trap?id=" + in(harm), []string{"U+202E", "Leads from Trap", mallory, "update"}},
		{"node between others", "/studio/odd/entity/Trap?id=b", []string{mark(harm + " ours"), "Leads to Trap", "Leads from Trap"}},
		{"no node", "/studio/odd/entity/Trap?id=" + in("no "+harm), []string{"This node does not exist"}},
		{"no type", "/studio/odd/entity/" + url.PathEscape(harm), []string{"The schema has no node type", "U+202E"}},
		{"nodes", "/studio/odd/entity/Trap", []string{"U+202E", script}},
		{"search", "/studio/odd/entity?q=" + in("zero\u200bwidth"), []string{mark(harm)}},
		{"wide nodes", "/studio/odd/entity/Wide", []string{"value 0"}},
		{"wide node", "/studio/odd/entity/Wide?id=w", []string{"p0", "value 0", "p199", "value 199"}},
		{"schema", "/studio/odd/schema", []string{"Trap", "Leads"}},
		{"type", "/studio/odd/schema/node/Trap", []string{"<img src=x onerror=alert(1)>"}},
		{"wide type", "/studio/odd/schema/node/Wide", []string{"p199"}},
		{"commits", "/studio/odd/history", []string{mallory}},
		{"commit", "/studio/odd/history/" + head, []string{mark(harm + " again"), mallory}},
		{"commit of the load", "/studio/odd/history/" + commitsOf(t, s, "main")[2].ID, []string{mark(harm), script, "1.0 MB in all"}},
		{"no commit", "/studio/odd/history/" + url.PathEscape(harm), []string{"Not found", "U+202E"}},
		{"a commit that does not exist", "/studio/odd/schema?at=" + in(harm), []string{"at commit", "U+202E"}},
		{"a branch that does not exist", "/studio/odd/schema?branch=" + in(harm), []string{"U+202E"}},
		{"compare", "/studio/odd/history?compare=try", []string{mallory, "Only on try"}},
		{"compare with no branch", "/studio/odd/history?compare=" + in(harm), []string{"Not found", `\u202eevil`}},
		{"queries", "/studio/odd/run", []string{mark(harm), "wide"}},
		{"query", "/studio/odd/run/traps", []string{"The default is <img src=x onerror=alert(1)> U+202Eevil", "For example <img"}},
		{"table", "/studio/odd/run/traps?p.part=" + in("evil") + "&run=1", []string{"3 rows", script, mark(harm + " ours"), "1.0 MB in all", "javascript:alert(1)"}},
		{"tree", "/studio/odd/run/traps?p.part=" + in("evil") + "&run=1&view=tree", []string{script, mark(harm), "1.0 MB in all"}},
		{"JSON", "/studio/odd/run/traps?p.part=" + in("evil") + "&run=1&view=json", []string{script, "U+202E", "1.0 MB in all"}},
		{"note", "/studio/odd/run/trap?p.slug=" + in(strings.ReplaceAll(harm, "x", "y")) + "&run=1", []string{"0 rows", `no Trap has slug "<img src=y`, `\u202eevil`}},
		{"200 columns", "/studio/odd/run/wide?run=1", []string{"1 row", "p199", "value 199"}},
		{"200 columns as a tree", "/studio/odd/run/wide?run=1&view=tree", []string{"p0:", "value 0"}},
		{"200 columns as JSON", "/studio/odd/run/wide?run=1&view=json", []string{`"p199": "value 199"`}},
		{"no query", "/studio/odd/run/" + url.PathEscape(harm), []string{"Not found", "U+202E"}},
		{"proposals", "/studio/odd/review", []string{mark(harm), mallory}},
		{"proposals by an actor", "/studio/odd/review?author=" + in(mallory), []string{mark(harm)}},
		{"proposal", "/studio/odd/review/" + s.proposal, []string{mark(harm), mallory, "divergent update", mark(harm + " theirs"), mark(harm + " ours"), "1.0 MB in all"}},
		{"no proposal", "/studio/odd/review/" + url.PathEscape(harm), []string{"Not found", `\u202eevil`}},
		{"new proposal", "/studio/odd/review/new?source=" + in(harm), []string{"Open a proposal"}},
		{"actors", "/studio/odd/access", []string{mallory, "act-dev"}},
		{"access", "/studio/odd/access?actor=" + in(mallory) + "&groups=" + in(harm), []string{"What " + mallory + " may do", "rule everything"}},
		{"access of an unknown actor", "/studio/odd/access?actor=" + in(harm), []string{"What " + mark(harm) + " may do", "no rule allows it"}},
		{"no graph", "/studio/" + url.PathEscape(harm) + "/schema", []string{"Not found", "U+202E"}},
		{"no proposals", "/studio/empty/review", []string{"There are no open proposals."}},
		{"new proposal of an empty graph", "/studio/empty/review/new", []string{"Open a proposal"}},
		{"no queries", "/studio/empty/run", []string{"You may run no stored query"}},
		{"empty entities", "/studio/empty/entity", []string{"Choose a type"}},
		{"no nodes", "/studio/empty/entity/Thing", []string{"There are no nodes of this type."}},
		{"node of an empty graph", "/studio/empty/entity/Thing?id=x", []string{"This node does not exist"}},
		{"empty schema", "/studio/empty/schema", []string{"Thing"}},
		{"history of an empty graph", "/studio/empty/history", []string{"There is no other branch"}},
		{"access on an empty graph", "/studio/empty/access?actor=a", []string{"no rule allows it"}},
	} {
		t.Run(p.name, func(t *testing.T) {
			outer := b.t
			b.t = t
			defer func() { b.t = outer }()
			b.resize(1280, 900)
			b.open(s, p.path)
			b.wantText(p.want...)
			b.marked()
			b.inert()
			b.accessible()
			b.fits(1280)
			b.resize(360, 800)
			b.fits(360)
			b.quiet()
		})
	}
	b.resize(1280, 900)
	b.open(s, "/studio/odd/entity/Trap?id=b")
	if rel := eval[string](b, `document.querySelector("a[href='https://example.com/x']").rel`); !strings.Contains(rel, "noreferrer") {
		t.Errorf("the link has rel %q", rel)
	}
	b.open(s, "/studio/odd/entity/Trap?id="+in(harm))
	if titles := eval[[]string](b, `[...document.querySelectorAll("svg title")].map(e => e.textContent)`); len(titles) != 2 || !strings.Contains(titles[0], "[U+202E]evil") {
		t.Errorf("the nodes of the drawing have the titles %q", titles)
	}
	if title := eval[string](b, "document.title"); !strings.Contains(title, "Trap · Entity · odd") {
		t.Errorf("the title of the page is %q", title)
	}
	b.open(s, "/studio/odd/run/"+url.PathEscape(harm))
	if title := eval[string](b, "document.title"); !strings.HasPrefix(title, "<img src=x onerror=alert(1)> [U+202E]evil[U+202C] zero[U+200B]width · Run") {
		t.Errorf("the title of the page is %q", title)
	}
	b.savedCSV(s)
	b.quiet()
}

// savedCSV saves a table as a CSV file and checks the file. The file must contain the texts of the
// graph, in a form in which no spreadsheet runs a text as a formula.
func (b *tab) savedCSV(s *site) {
	b.t.Helper()
	dir := b.t.TempDir()
	b.run(browser.SetDownloadBehavior(browser.SetDownloadBehaviorBehaviorAllow).WithDownloadPath(dir))
	b.open(s, "/studio/odd/entity/Trap")
	b.run(chromedp.Click(`//button[normalize-space()="Save as CSV"]`, chromedp.BySearch))
	var text []byte
	for range 100 {
		if text, _ = os.ReadFile(dir + "/Trap.csv"); len(text) > 0 {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	for _, want := range []string{"id,title,link,long,mood,day\r\n", "c,'=1+1,https://example.com/x,,,\r\n", harm, "<script>alert(1)</script>"} {
		if !strings.Contains(string(text), want) {
			b.t.Errorf("the file has no %q:\n%.500s", want, text)
		}
	}
}

// mark returns a text as the pages show it.
func mark(text string) string {
	return strings.NewReplacer("\u202e", "U+202E", "\u202c", "U+202C", "\u200b", "U+200B").Replace(text)
}
