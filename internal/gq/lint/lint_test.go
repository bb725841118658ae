package lint_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/golden"
	"github.com/omnigraph-go/omnigraph/internal/gq/check"
	"github.com/omnigraph-go/omnigraph/internal/gq/compile"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/lint"
)

// wantComment matches the comment that states the expected finding of its line. With want-1 it
// states the expected finding of the line before.
var wantComment = regexp.MustCompile(`// want(-\d+)? ([A-Z]\d+) "((?:[^"\\]|\\.)*)"`)

type want struct {
	file    string
	line    int
	code    diag.Code
	message *regexp.Regexp
}

func source(t testing.TB, path string) compile.Source {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return compile.Source{Name: filepath.Base(path), Text: string(b)}
}

// folder reads the sources of a rule's test. A folder without a schema uses the common one.
func folder(t testing.TB, code string) compile.Catalog {
	t.Helper()
	c := compile.Catalog{Schema: source(t, "testdata/schema.pg"), Whole: true, Options: compile.Options{Claims: plan.Claims{"level": value.Of(value.I32).Optional(), "region": value.Of(value.String).Optional()}}}
	if own := filepath.Join("testdata", code, "schema.pg"); exists(own) {
		c.Schema = source(t, own)
	}
	paths, err := filepath.Glob(filepath.Join("testdata", code, "*.gq"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s has no test folder: %v", code, err)
	}
	for _, path := range paths {
		c.Queries = append(c.Queries, source(t, path))
	}
	return c
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// TestRules runs every rule on its folder. The rule must report exactly the findings that the
// comments in the sources expect, and its fixes must produce the golden text.
func TestRules(t *testing.T) {
	for _, rule := range lint.Rules {
		t.Run(string(rule.Code), func(t *testing.T) {
			c := folder(t, string(rule.Code))
			c.Config = lint.Only(rule.Code)
			switch rule.Code {
			case lint.NoProvider:
				c.NoProvider = "docs"
			case lint.IdleDirective:
				for _, named := range []diag.Code{lint.UnusedParam, lint.CrossProduct, lint.NoLimit, lint.NoParamDoc} {
					delete(c.Config.Levels, named) // the rules that the directives name must run
				}
			case lint.OverBudget:
				c.Config.TokenBudget = 40
				c.Build = func(_ *catalog.Schema, queries []*compile.Query) (*lint.ToolList, diag.List) {
					sizes := &lint.ToolList{Queries: map[string]int{}, Bytes: 100}
					for _, q := range queries {
						sizes.Queries[q.Plan.Name] = len(q.Text)
						sizes.Bytes += len(q.Text)
					}
					return sizes, nil
				}
			}
			r := compile.Lint(c)
			checkWants(t, c, r.List, rule.Level)
			checkFixes(t, c, r, string(rule.Code))
		})
	}
}

func checkWants(t *testing.T, c compile.Catalog, got diag.List, level lint.Level) {
	t.Helper()
	var missing []want
	for _, src := range append([]compile.Source{c.Schema}, c.Queries...) {
		for i, line := range strings.Split(src.Text, "\n") {
			for _, m := range wantComment.FindAllStringSubmatch(line, -1) {
				off, _ := strconv.Atoi(m[1])
				re, err := regexp.Compile(m[3])
				if err != nil {
					t.Fatalf("%s:%d: %v", src.Name, i+1, err)
				}
				missing = append(missing, want{src.Name, i + 1 + off, diag.Code(m[2]), re})
			}
		}
	}
	if len(missing) == 0 {
		t.Fatal("no want comment in the folder")
	}
	for _, d := range got {
		found := false
		for i, w := range missing {
			if w.file == d.Span.File && w.line == d.Span.Start.Line && w.code == d.Code && w.message.MatchString(d.Message) {
				missing = append(missing[:i], missing[i+1:]...)
				found = true
				break
			}
		}
		if !found {
			t.Errorf("not wanted: %v", diag.List{d})
		}
		if level.String() != d.Severity.String() && d.Code[0] == 'L' {
			t.Errorf("severity %s, expected %s: %s", d.Severity, level, d.Message)
		}
	}
	for _, w := range missing {
		t.Errorf("%s:%d: missing %s %q", w.file, w.line, w.code, w.message)
	}
}

func checkFixes(t *testing.T, c compile.Catalog, r *lint.Report, code string) {
	t.Helper()
	var edits []diag.Edit
	for _, e := range r.Edits {
		edits = append(edits, e...)
	}
	for _, src := range c.Queries {
		after, skipped := diag.Apply(src.Name, src.Text, edits)
		if skipped > 0 {
			t.Errorf("%s: %d fixes overlap", src.Name, skipped)
		}
		if after == src.Text {
			continue
		}
		golden.Check(t, filepath.Join("testdata", code, src.Name+".fixed"), []byte(after))
		if !compile.SameMeaning(compile.Options{}, c.Schema, src, after) {
			t.Errorf("%s: the fixes change its meaning", src.Name)
		}
	}
}

// TestTable checks that the rows are complete and sorted by code. The test of the reference page
// runs their examples.
func TestTable(t *testing.T) {
	last := diag.Code("")
	for _, r := range lint.Rules {
		if r.Title == "" || r.Explanation == "" || r.Example == "" || r.Level == lint.Off {
			t.Errorf("%s is not documented", r.Code)
		}
		if r.Code <= last {
			t.Errorf("%s comes after %s", r.Code, last)
		}
		last = r.Code
	}
}

func TestLevels(t *testing.T) {
	c := folder(t, "L105")
	for level, severity := range map[lint.Level]string{lint.Note: "note", lint.Warning: "warning", lint.Error: "error"} {
		c.Config = lint.Only(lint.NoLimit)
		c.Config.Levels[lint.NoLimit] = level
		for _, d := range compile.Lint(c).List {
			if d.Severity.String() != severity {
				t.Errorf("%s: %v", level, diag.List{d})
			}
		}
	}
	c.Config.Levels[lint.NoLimit] = lint.Off
	if list := compile.Lint(c).List; list != nil {
		t.Errorf("off: %v", list)
	}
}

func TestOptions(t *testing.T) {
	c := compile.Catalog{Schema: source(t, "testdata/schema.pg"), Queries: []compile.Source{{Name: "a.gq",
		Text: `query people() @description("Lists.") { match { $p: Person } return { $p.name } }`}}}
	c.Config = lint.Only(lint.LongToolName)
	c.Config.MaxToolName = 5
	if got := compile.Lint(c).List.Error(); !strings.Contains(got, "6 characters; the limit is 5") {
		t.Error(got)
	}
	c.Config = lint.Only(lint.LongDescription)
	c.Config.MaxDescription = 5
	if got := compile.Lint(c).List.Error(); !strings.Contains(got, "6 characters; the limit is 5") {
		t.Error(got)
	}
}

// TestPartOfCatalog lints one file of several. Rules across files must report nothing, and a
// directive for one of them must not count as idle.
func TestPartOfCatalog(t *testing.T) {
	for _, code := range []string{"L201", "L204", "L205"} {
		c := folder(t, code)
		c.Whole = false
		c.Config = lint.Only(diag.Code(code))
		delete(c.Config.Levels, lint.IdleDirective)
		if list := compile.Lint(c).List; list != nil {
			t.Errorf("%s: %v", code, list)
		}
	}
	c := folder(t, "L202")
	c.Whole = false
	c.Config = lint.Only(lint.DuplicateQuery)
	for _, d := range compile.Lint(c).List {
		if d.Code != check.DuplicateName {
			t.Errorf("%v", diag.List{d})
		}
	}
}

// TestFaultsAreListedOnce lints sources with errors. Each error is listed once, as the compiler
// reports it. Rules skip queries with errors, and no directive is reported as idle.
func TestFaultsAreListedOnce(t *testing.T) {
	c := compile.Catalog{Schema: source(t, "testdata/schema.pg"), Whole: true, Queries: []compile.Source{
		{Name: "a.gq", Text: "// gq:ignore L103 for now\nquery bad() { match { $p: Persn } return { $p.name } }\nquery worse( { }\nquery open() @description(\"x\") { match { $p: Person } return { $p.name } }\n"},
		{Name: "b.gq", Text: "query wrong() { match { $p: Person } return { $p.nam } }"},
	}}
	var got []string
	for _, d := range compile.Lint(c).List {
		got = append(got, fmt.Sprintf("%s:%d %s", d.Span.File, d.Span.Start.Line, d.Code))
	}
	want := "a.gq:2 T1, a.gq:3 P7, a.gq:4 L105, b.gq:1 T6"
	if all := strings.Join(got, ", "); all != want {
		t.Errorf("got  %s\nwant %s", all, want)
	}
	c.Schema.Text = "node A { x: Strng }"
	if list := compile.Lint(c).List; len(list) != 1 || list[0].Code != "P10" {
		t.Errorf("with a broken schema: %v", list)
	}
}

// TestSelected lints a catalog that lists its stored queries. Only the rules about single queries
// apply to the other queries.
func TestSelected(t *testing.T) {
	c := folder(t, "L205")
	c.Config = lint.Only(lint.SameDescription)
	c.Selected = map[string]string{"by_name": "a.gq"}
	if list := compile.Lint(c).List; list != nil {
		t.Errorf("by_age is not stored: %v", list)
	}
	c.Selected["by_age"] = "b.gq"
	if list := compile.Lint(c).List; len(list) != 1 {
		t.Errorf("both are stored: %v", list)
	}
	c = folder(t, "L105")
	c.Config = lint.Only(lint.NoLimit)
	c.Selected = map[string]string{}
	if list := compile.Lint(c).List; len(list) != 5 {
		t.Errorf("none is stored: %v", list)
	}
}

// TestRealQueries lints the queries that this repository serves.
func TestRealQueries(t *testing.T) {
	c := compile.Catalog{Schema: source(t, "../../../queries/code/schema.pg"), Whole: true}
	paths, err := filepath.Glob("../../../queries/code/*.gq")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		c.Queries = append(c.Queries, source(t, path))
	}
	r := compile.Lint(c)
	if r.List.HasErrors() {
		t.Error(r.List)
	}
}

// FuzzLint lints arbitrary text. Nothing may panic, every span must lie in the text, and the
// fixes must not change the meaning of a valid query.
func FuzzLint(f *testing.F) {
	schema := source(f, "testdata/schema.pg")
	for _, r := range lint.Rules {
		for _, src := range folder(f, string(r.Code)).Queries {
			f.Add(src.Text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		src := compile.Source{Name: "a.gq", Text: text}
		r := compile.Lint(compile.Catalog{Schema: schema, Queries: []compile.Source{src}, Whole: true})
		var edits []diag.Edit
		for i, d := range r.List {
			if d.Span.File == src.Name && (d.Span.Start.Offset > d.Span.End.Offset || d.Span.End.Offset > len(text)) {
				t.Errorf("span %+v", d)
			}
			edits = append(edits, r.Edits[i]...)
		}
		after, skipped := diag.Apply(src.Name, text, edits)
		if skipped > 0 {
			t.Errorf("%d fixes overlap: %+v", skipped, edits)
		}
		if after != text && !r.List.HasErrors() && !compile.SameMeaning(compile.Options{}, schema, src, after) {
			t.Errorf("fixed to %q", after)
		}
		var b bytes.Buffer
		if err := diag.RenderGitHub(&b, r.List); err != nil || bytes.Count(b.Bytes(), []byte("\n")) != len(r.List) {
			t.Errorf("%d diagnostics in\n%s", len(r.List), &b)
		}
	})
}

// TestProviderUnknown checks a catalog with an unknown configuration, and a catalog that has a
// provider. Neither may get a finding about a missing provider.
func TestProviderUnknown(t *testing.T) {
	c := folder(t, string(lint.NoProvider))
	c.Config = lint.Only(lint.NoProvider)
	for _, d := range compile.Lint(c).List {
		t.Errorf("found %v", diag.List{d})
	}
}
