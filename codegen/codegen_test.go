package codegen_test

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/codegen"
	"github.com/omnigraph-go/omnigraph/codegen/golang"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/internal/golden"
)

// corpusDir is where the package of the corpus is committed, and tested as a package.
const corpusDir = "../generated/internal/corpus"

func corpus(t *testing.T) codegen.Graph {
	t.Helper()
	source := func(name string) gq.Source {
		b, err := os.ReadFile(filepath.FromSlash("testdata/corpus/" + name))
		if err != nil {
			t.Fatal(err)
		}
		return gq.Source{Name: "codegen/testdata/corpus/" + name, Text: string(b)}
	}
	return codegen.Graph{
		Name: "corpus", Schema: source("schema.pg"), Queries: []gq.Source{source("reads.gq"), source("writes.gq")},
	}
}

func generate(t *testing.T, g codegen.Graph) codegen.Files {
	t.Helper()
	return output(t, g).Package
}

func output(t *testing.T, g codegen.Graph) *codegen.Output {
	t.Helper()
	out, diags, err := codegen.Generate(g)
	if err != nil {
		t.Fatal(err)
	}
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestCorpus(t *testing.T) {
	out := output(t, corpus(t))
	golden.Check(t, "testdata/corpus/tools.md", out.Reference)
	files := out.Package
	for _, name := range files.Names() {
		golden.Check(t, filepath.Join(corpusDir, name), files[name])
	}
	stale, err := files.Stale(corpusDir)
	if err != nil {
		t.Fatal(err)
	}
	if len(stale) > 0 {
		t.Errorf("stale in %s: %s", corpusDir, strings.Join(stale, ", "))
	}
}

func TestGenerateTwice(t *testing.T) {
	first, second := generate(t, corpus(t)), generate(t, corpus(t))
	if !maps.EqualFunc(first, second, bytes.Equal) {
		t.Error("the same sources were generated into different files")
	}
}

// TestEditTouchesItsOwn moves a query down a few lines and changes another one: nothing
// that the others declare may change.
func TestEditTouchesItsOwn(t *testing.T) {
	before := corpus(t)
	after := corpus(t)
	after.Queries[0].Text = "// A remark.\n\n" + strings.Replace(after.Queries[0].Text, "query walk($slug: String)", "query walk($who: String)", 1)
	after.Queries[0].Text = strings.Replace(after.Queries[0].Text, "slug: $slug }", "slug: $who }", 1)
	a, b := generate(t, before), generate(t, after)
	if !bytes.Equal(a["writes_gq.go"], b["writes_gq.go"]) || !bytes.Equal(a["enums.go"], b["enums.go"]) {
		t.Error("an edit of reads.gq changed the declarations of others")
	}
	changed := 0
	was, is := declarations(a["reads_gq.go"]), declarations(b["reads_gq.go"])
	if !slices.Equal(slices.Sorted(maps.Keys(was)), slices.Sorted(maps.Keys(is))) {
		t.Fatal("the edit changed which names are declared")
	}
	for name, text := range was {
		if is[name] != text {
			changed++
			if !strings.Contains(strings.ToLower(name), "walk") {
				t.Errorf("an edit of the query walk changed %s", name)
			}
		}
	}
	if changed == 0 {
		t.Error("the edit changed nothing")
	}
}

// declarations cuts a Go file at its top-level declarations, by their first lines.
func declarations(src []byte) map[string]string {
	decls := map[string]string{}
	for block := range strings.SplitSeq(string(src), "\n\n") {
		for line := range strings.Lines(block) {
			if !strings.HasPrefix(line, "//") {
				decls[line] = block
				break
			}
		}
	}
	return decls
}

func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "generated", "corpus")
	files := generate(t, corpus(t))
	changed, err := files.Write(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(changed, files.Names()) {
		t.Errorf("wrote %v, wanted %v", changed, files.Names())
	}
	if changed, err = files.Write(dir); err != nil || len(changed) != 0 {
		t.Errorf("writing again changed %v, %v", changed, err)
	}
	mine, theirs := filepath.Join(dir, "gone_gq.go"), filepath.Join(dir, "extra.go")
	os.WriteFile(mine, []byte(golang.Header+"\n\npackage corpus\n"), 0o644)
	os.WriteFile(theirs, []byte("package corpus\n"), 0o644)
	os.WriteFile(filepath.Join(dir, "enums.go"), []byte("x"), 0o644)
	if changed, err = files.Write(dir); err != nil || !slices.Equal(changed, []string{"enums.go", "gone_gq.go"}) {
		t.Errorf("found %v, %v changed, wanted enums.go and gone_gq.go", changed, err)
	}
	if _, err := os.Stat(mine); err == nil {
		t.Error("a file of a query that is gone is still there")
	}
	if _, err := os.Stat(theirs); err != nil {
		t.Error("a file that was not generated is gone")
	}
	entries, _ := os.ReadDir(dir)
	if len(entries) != len(files)+1 {
		t.Errorf("found %d files, wanted %d: something was left behind", len(entries), len(files)+1)
	}
}

func TestSelected(t *testing.T) {
	g := corpus(t)
	g.Selected = map[string]string{"groups": g.Queries[0].Name}
	files := generate(t, g)
	if _, ok := files["writes_gq.go"]; ok || bytes.Contains(files["reads_gq.go"], []byte("walk")) {
		t.Error("queries were generated that were not selected")
	}
	g.Selected["grups"] = g.Queries[0].Name
	if _, diags, err := codegen.Generate(g); err != nil || len(diags) != 1 || diags[0].Code != "G8" {
		t.Errorf("found %v, %v, wanted one G8", diags, err)
	}
}
