package assist_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/internal/gq/assist"
	"github.com/omnigraph-go/omnigraph/internal/gq/xref"
)

// TestAssist completes and describes places in queries; a bar marks the place. The tests of the language server have many more.
func TestAssist(t *testing.T) {
	schema, faults := gq.CompileSchema(gq.Source{Name: "s.pg", Text: "node Person @description(\"A human.\") { name: String @key age: I32? }\nedge Knows: Person -> Person\n"})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]struct{ item, code, doc string }{
		"query q() { match { $p: Per|son } return { $p.name } }":            {"Person", "node Person {\n  name: String\n  age: I32?\n}", "A human."},
		"query q() { match { $p: Person } return { $p.ag|e } }":             {"age", "Person.age: I32?", ""},
		"query q() { match { $p: Person $p kno|ws $q } return { $q.age } }": {"knows", "edge Knows: Person -> Person", ""},
	} {
		at := strings.Index(text, "|")
		text = strings.Replace(text, "|", "", 1)
		g := assist.Graph{Catalog: schema}
		source := xref.Read(schema, "q.gq", text)
		from, to, items := g.Complete("q.gq", source, at)
		found := false
		for _, i := range items {
			found = found || i.Label == want.item
		}
		if !found || text[from:to] != want.item {
			t.Errorf("%s: the completions of %q are %v", text, text[from:to], items)
		}
		if code, doc := g.Describe(source.At(at), source); code != want.code || doc != want.doc {
			t.Errorf("%s: the description is %q, %q", text, code, doc)
		}
	}
}

// TestValidCompletions checks what is offered in @valid and after `match`.
func TestValidCompletions(t *testing.T) {
	for _, c := range []struct{ file, text, offered, not string }{
		{"s.pg", "edge Knows: Person -> Person @valid(since, |) { since: Date until: Date? }", "until", "src"},
		{"s.pg", "edge Knows: Person -> Person @unique(|) { since: Date until: Date? }", "src", "at"},
		{"q.gq", "query q() { match | }", "valid", "count"},
		{"q.gq", "query q() { match valid | }", "during", "valid"},
		{"q.gq", "query q() { match { $p: Person } return { | } }", "count", "during"},
	} {
		at := strings.Index(c.text, "|")
		text := strings.Replace(c.text, "|", "", 1)
		_, _, items := (&assist.Graph{}).Complete(c.file, xref.Read(nil, c.file, text), at)
		has := func(label string) bool {
			return slices.ContainsFunc(items, func(i assist.Item) bool { return i.Label == label })
		}
		if !has(c.offered) || has(c.not) {
			t.Errorf("%s: %v, expected %s and not %s", c.text, items, c.offered, c.not)
		}
	}
}
