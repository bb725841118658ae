package studio

import (
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// endsSite serves the graph notes, whose notes are about persons and teams. A proposal and main give one
// note other ends.
func endsSite(t *testing.T) *site {
	t.Helper()
	dir := t.TempDir()
	line := func(typ, id string) string {
		return `{"edge":"About","from":"n1","to":{"type":"` + typ + `","id":"` + id + `"},"data":{"id":"a1"}}` + "\n"
	}
	for name, text := range map[string]string{
		"notes.pg": "interface Named { name: String }\nnode Person implements Named { name: String @key }\nnode Team implements Named { name: String @key }\n" +
			"node Note { slug: String @key }\nedge About: Note -> Named\n",
		"notes.ndjson": `{"type":"Person","data":{"name":"ann"}}` + "\n" + `{"type":"Team","data":{"name":"ann"}}` + "\n" + `{"type":"Team","data":{"name":"t1"}}` + "\n" +
			`{"type":"Note","data":{"slug":"n1"}}` + "\n" + line("Person", "ann"),
		"try.ndjson":   `{"type":"Note","data":{"slug":"n1"}}` + "\n" + `{"type":"Note","data":{"slug":"n2"}}` + "\n" + line("Team", "t1"),
		"main.ndjson":  line("Team", "ann"),
		"policy.yaml":  "version: 1\nrules:\n  - id: everything\n    allow: { actors: { ids: [act-dev] }, actions: [read, change, branch_create, branch_merge] }\n",
		"cluster.yaml": "version: 1\nstorage: ./data\ngraphs:\n  notes: { schema: notes.pg }\npolicies:\n  p: { file: policy.yaml, applies_to: [notes] }\nserver: { studio: true }\n",
	} {
		write(t, filepath.Join(dir, name), text)
	}
	fill(t, dir, "notes", filepath.Join(dir, "notes.ndjson"))
	store := filepath.Join(dir, "data", "notes")
	must(t, dir, command(t, "omnigraph"), "branch", "create", "try", "--store", store)
	for branch, file := range map[string]string{"try": "try.ndjson", "main": "main.ndjson"} {
		must(t, dir, command(t, "omnigraph"), "load", "--store", store, "--branch", branch, "--mode", "overwrite", "--data", filepath.Join(dir, file))
	}
	s := serve(t, command(t, "omnigraph-server"), dir, "notes")
	var p struct{ ID string }
	s.ask(t, "act-dev", "POST", "/graphs/notes/proposals", `{"source":"try","title":"Another end"}`, &p)
	s.proposal = p.ID
	return s
}

// TestInterfaceEnds opens the pages about edges that end at an interface, and resolves a conflict about
// such an end with a value.
func TestInterfaceEnds(t *testing.T) {
	needBrowser(t)
	s := endsSite(t)
	b := openTab(t)
	b.logIn(s, "act-dev", "/studio/notes/schema")
	b.wantText("interface of", "Named")
	b.accessible()
	b.open(s, "/studio/notes/schema/edge/About")
	b.wantText("From Note to Named (Person, Team).")
	b.open(s, "/studio/notes/schema/node/Team")
	b.wantText("About")
	b.open(s, "/studio/notes/entity/Team?id=ann")
	b.wantText("About from Note", "n1")
	b.open(s, "/studio/notes/entity/Person?id=ann")
	b.wantText("The node has no edges.")
	b.open(s, "/studio/notes/entity/Note?id=n1")
	b.wantText("About to Team", "ann")

	b.open(s, "/studio/notes/review/"+s.proposal)
	b.wantText("About n1 → Team t1", "Person ann", "Team ann")
	b.accessible()
	b.click(`.conflict input[value=value]`)
	b.click(`form[aria-label="Conflicts"] button[type=submit]`)
	b.shows("Give a type and an id in JSON")
	b.run(chromedp.SendKeys(`.conflict textarea`, `{"type": "Person", "id": "ann"}`, chromedp.ByQuery))
	b.click(`form[aria-label="Conflicts"] button[type=submit]`)
	b.shows("The resolution is stored.")
	b.quiet()
}
