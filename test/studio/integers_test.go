package studio

import (
	"context"
	"encoding/json"
	"path/filepath"
	"testing"

	cdp "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// integersSite serves the graph meters, whose values are integers beyond 2^53. A proposal and main give one meter other values.
func integersSite(t *testing.T) *site {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "meters")
	module(t, dir, "meters", "node Meter {\n  slug: String @key\n  count: I64\n  total: U64?\n  marks: [I64]?\n}\n", map[string]string{"meters.gq": `// Meters by their values.

query meters($count: I64)
  @description("Find meters by their count.")
{
  match { $m: Meter { count: $count } }
  return { $m.slug as slug, $m.count as count, $m.total as total, $m.marks as marks }
  limit 10
}

query set_count($slug: String, $count: I64)
  @description("Give a meter a count.")
{
  update Meter set { count: $count } where slug = $slug
}
`})
	for name, text := range map[string]string{
		"meters.ndjson": `{"type":"Meter","data":{"slug":"m1","count":9007199254740993,"total":18446744073709551615,"marks":[-9007199254740993,1]}}` + "\n" + `{"type":"Meter","data":{"slug":"m2","count":0}}` + "\n",
		"policy.yaml":   "version: 1\nrules:\n  - id: everything\n    allow: { actors: { ids: [act-dev] }, actions: [read, change, invoke_query, branch_create, branch_merge] }\n",
		"cluster.yaml":  "version: 1\nstorage: ./data\ngraphs:\n  meters: { schema: schema.pg, queries: queries/ }\npolicies:\n  p: { file: policy.yaml, applies_to: [meters] }\nserver: { studio: true }\n",
	} {
		write(t, filepath.Join(dir, name), text)
	}
	fill(t, dir, "meters", filepath.Join(dir, "meters.ndjson"))
	s := serve(t, filepath.Join(dir, "bin", "omnigraph-server"), dir, "meters")
	s.send(t, "act-dev", "POST", "/graphs/meters/branches", `{"name":"try"}`)
	s.mutate(t, "act-dev", "try", `update Meter set { total: 9007199254740995 } where slug = "m2"`)
	s.mutate(t, "act-dev", "main", `update Meter set { total: 9007199254740997 } where slug = "m2"`)
	var p struct{ ID string }
	s.ask(t, "act-dev", "POST", "/graphs/meters/proposals", `{"source":"try","title":"Another total"}`, &p)
	s.proposal = p.ID
	return s
}

// TestIntegers reads, finds, writes and resolves integers beyond 2^53, in a browser that passes the text of a number to the
// reviver of JSON.parse and in one that does not.
func TestIntegers(t *testing.T) {
	needBrowser(t)
	s := integersSite(t)
	old := `{ const parse = JSON.parse; JSON.parse = (text, reviver) => parse(text, reviver && function (key, value) { return reviver.call(this, key, value); }); }`
	t.Run("old browser", func(t *testing.T) { useIntegers(t, s, old, true) })
	t.Run("new browser", func(t *testing.T) { useIntegers(t, s, "", false) })
	// What the pages sent, as the server stored it.
	var answer struct{ Rows json.RawMessage }
	s.ask(t, "act-dev", "POST", "/graphs/meters/query", `{"query":"query q() { match { $m: Meter { slug: \"m2\" } } return { $m.count as count } }"}`, &answer)
	if string(answer.Rows) != `[{"count":9007199254740999}]` {
		t.Errorf("the form wrote %s", answer.Rows)
	}
	var p struct {
		Resolutions []struct{ Value json.RawMessage }
	}
	s.get(t, "act-dev", "/graphs/meters/proposals/"+s.proposal, &p)
	if len(p.Resolutions) != 1 || string(p.Resolutions[0].Value) != "18446744073709551613" {
		t.Errorf("the proposal has the resolutions %s", p.Resolutions)
	}
}

// useIntegers opens the pages with integers in a new browser, which runs a script before each page. If conflict is true, it
// resolves the conflict of the proposal, and otherwise it reads that resolution.
func useIntegers(t *testing.T, s *site, setUp string, conflict bool) {
	b := openTab(t)
	b.run(chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := cdp.AddScriptToEvaluateOnNewDocument(setUp).Do(ctx)
		return err
	}))
	b.logIn(s, "act-dev", "/studio/meters/run/meters?p.count=9007199254740993&run=1")
	b.wantText("9007199254740993", "18446744073709551615", "-9007199254740993")
	b.open(s, "/studio/meters/entity/Meter?id=m1")
	b.wantText("9007199254740993", "18446744073709551615", "-9007199254740993")

	s.mutate(t, "act-dev", "main", `update Meter set { count: 0 } where slug = "m2"`)
	b.open(s, "/studio/meters/run/set_count?p.slug=m2&p.count=9007199254740999")
	b.click(`button[value="run"]`)
	b.shows("The query changed")
	b.open(s, "/studio/meters/entity/Meter?id=m2")
	b.wantText("9007199254740999", "9007199254740997")

	b.open(s, "/studio/meters/review/"+s.proposal)
	if conflict {
		b.wantText("9007199254740995", "9007199254740997")
		b.click(`.conflict input[value=value]`)
		b.run(chromedp.SendKeys(`.conflict textarea`, "18446744073709551613", chromedp.ByQuery))
		b.click(`form[aria-label="Conflicts"] button[type=submit]`)
		b.shows("The resolution is stored.")
	}
	b.wantText("18446744073709551613")
	b.quiet()
}
