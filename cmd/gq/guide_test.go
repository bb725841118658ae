package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/golden"
	"github.com/omnigraph-go/omnigraph/internal/gq/compile"
	"github.com/omnigraph-go/omnigraph/internal/gq/lint"
	"github.com/omnigraph-go/omnigraph/internal/gqconfig"
)

var fence = regexp.MustCompile("(?ms)^```([a-z]+)( [A-Z]\\d+)?\n(.*?)^```$")

// languagePages are the guide of the language, and the pages of its reference that are written by hand.
var languagePages = []string{"../../docs/language.md", "../../docs/reference/language.md", "../../docs/reference/other-languages.md"}

// TestGuide compiles the examples of the language guide and of its reference. Their pg blocks together are one
// schema. A gq block must be valid for that schema, or report the one code in its fence.
func TestGuide(t *testing.T) {
	var blocks [][]string
	for _, path := range languagePages {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		blocks = append(blocks, fence.FindAllStringSubmatch(string(text), -1)...)
	}
	schema := compile.Source{Name: "guide.pg"}
	for _, b := range blocks {
		if b[1] == "pg" {
			schema.Text += b[3]
		}
	}
	queries := 0
	for _, b := range blocks {
		if b[1] == "yaml" {
			if _, faults := gqconfig.Parse(gqconfig.File, []byte(b[3])); faults != nil {
				t.Errorf("%v in\n%s", faults, b[3])
			}
		}
		if b[1] != "gq" {
			continue
		}
		queries++
		r := compile.Lint(compile.Catalog{Schema: schema, Queries: []compile.Source{{Name: "guide.gq", Text: b[3]}}})
		want := strings.TrimSpace(b[2])
		found := false
		for _, d := range r.List {
			switch {
			case string(d.Code) == want:
				found = true
			case d.Code[0] != 'L', d.Code == lint.BadDirective, d.Code == lint.IdleDirective, d.Code == lint.NotOptional, d.Code == lint.CrossProduct:
				t.Errorf("%s in\n%s", d.Message, b[3])
			}
		}
		if want != "" && !found {
			t.Errorf("no %s in\n%s", want, b[3])
		}
	}
	if queries < 30 {
		t.Errorf("the pages have %d blocks of queries; the test reads too few", queries)
	}
}

// TestAggregateTable checks the table of the aggregates in the language guide. With -update it
// rewrites the table.
func TestAggregateTable(t *testing.T) {
	const path, start, end = "../../docs/language.md", "<!-- aggregates -->\n", "<!-- /aggregates -->\n"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), start)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s lacks the marks of the table", path)
	}
	table := "| Aggregate | Takes | Result | |\n|---|---|---|---|\n"
	for _, a := range plan.Aggregates {
		// Two types with nothing in common show whether the result has the argument's type.
		result := a.Result(value.Of(value.String))
		typ := result.String()
		switch other := a.Result(value.Of(value.I32)); {
		case result.List:
			typ = "a list of the type of the argument"
		case !result.Equal(other):
			typ = "the type of the argument, or null"
		case result.Nullable:
			typ = result.Required().String() + ", or null"
		}
		table += "| `" + a.Name + "` | " + a.Arg.Text + " | " + typ + " | " + a.Doc + " |\n"
	}
	golden.Check(t, path, []byte(before+start+table+end+after))
}

// TestFunctionTable checks the table of the functions in the reference of the language, and that the guide
// names each function. With -update it rewrites the table.
func TestFunctionTable(t *testing.T) {
	const path, start, end = "../../docs/reference/language.md", "<!-- functions -->\n", "<!-- /functions -->\n"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), start)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s lacks the marks of the table", path)
	}
	guide, err := os.ReadFile(languagePages[0])
	if err != nil {
		t.Fatal(err)
	}
	_, named, _ := strings.Cut(string(guide), "- **Functions:** ")
	named, _, _ = strings.Cut(named, "\n- ")
	table := "| Function | Takes | |\n|---|---|---|\n"
	for _, f := range plan.Functions {
		if f.Form == plan.Call {
			if !strings.Contains(named, "`"+f.Name+"`") {
				t.Errorf("the list of functions in %s lacks %s", languagePages[0], f.Name)
			}
			table += "| `" + f.Usage + "` | " + f.Takes + " | " + f.Doc + " |\n"
		}
	}
	golden.Check(t, path, []byte(before+start+table+end+after))
}
