package golang

import (
	"bytes"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/aymanbagabas/go-udiff"

	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/internal/codegen/model"
)

const textSchema = `
node Person {
  slug: String @key
  kind: enum(a, long-one, c)
  age: I32?
  a_property_with_a_name_of_some_length_that_is_well_beyond_forty_characters: [Date]?
  vec: Vector(2)?
}
edge Knows: Person -> Person { how: enum(work, x)? }
`

// generated returns the Go files for the given queries on the test's schema.
func generated(t testing.TB, queries string) map[string][]byte {
	t.Helper()
	s, diags := gq.CompileSchema(gq.Source{Name: "s.pg", Text: textSchema})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	src := gq.Source{Name: "a.gq", Text: queries}
	qs, diags := gq.CompileQueries(s, src)
	if diags.HasErrors() {
		t.Skip(diags)
	}
	p, diags := model.Build(model.Input{Graph: "g", Schema: s, Sources: []gq.Source{src}, Queries: qs})
	if diags.HasErrors() {
		t.Skip(diags)
	}
	files, err := Files(p)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// checkFormat checks that gofmt would not change the generated files, and that they import exactly
// the packages that they use.
func checkFormat(t testing.TB, files map[string][]byte) {
	t.Helper()
	for name, text := range files {
		want, err := format.Source(text)
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, text)
		}
		checkImports(t, name, text)
		if !bytes.Equal(text, want) {
			t.Errorf("gofmt would change %s:\n%s", name, udiff.Unified("written", "gofmt", string(text), string(want)))
		}
	}
}

// checkImports compares the imports of a generated file with the packages in the file's selectors.
// The file must have no variable with the name of a package; the package-level variable stored is none.
func checkImports(t testing.TB, name string, text []byte) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), name, text, 0)
	if err != nil {
		t.Fatal(err)
	}
	imported, used := map[string]bool{}, map[string]bool{}
	for _, spec := range f.Imports {
		if spec.Name != nil { // _, for go:embed
			continue
		}
		imported[path.Base(strings.Trim(spec.Path.Value, `"`))] = true
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && x.Obj == nil && x.Name != "stored" {
				used[x.Name] = true
			}
		}
		return true
	})
	if !maps.Equal(imported, used) {
		t.Errorf("%s imports %v and uses %v", name, slices.Sorted(maps.Keys(imported)), slices.Sorted(maps.Keys(used)))
	}
}

// descriptions are texts that gofmt would reformat in a doc comment.
var descriptions = []string{
	"", "Plain.", "Two\nlines.", "Two.\n\nParagraphs.", "A list:\n- one\n- two\n", "Code:\n\tx := 1\nText.", "# Heading\n\nText.",
	"1. one\n2. two", "Quote ``this'' and 'that'.", "[Link]: https://example.org", "Title\n\nText follows.", "  indented\n    more",
	"*/ end /* begin", "go:generate no", "//go:build x", "+build x", "ends in \\", "äöü → ß", "tab\tinside", "x\n\n\n\ny", "TODO(x): y",
	"Deprecated: no.", "`code` first", "a\r\nb", "a\rb", "a\x00b", "\uFEFFa",
}

func TestFormat(t *testing.T) {
	checkFormat(t, generated(t, ""))
	for _, d := range descriptions {
		quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\r", `\r`).Replace(d)
		checkFormat(t, generated(t, `
query find($kind: String @description("`+quoted+`"), $age: I32?, $a_parameter_with_a_name_of_some_length_that_is_beyond_forty: [Date]?)
  @description("`+quoted+`")
{
  match {
    $p: Person { kind: $kind, age: $age? }
    not { $p knows $q  $q.kind = "c" }
  }
  return { $p, $p.kind as kind, $p.a_property_with_a_name_of_some_length_that_is_well_beyond_forty_characters as long, count($p) as n }
}
query introduce($from: String, $to: String) @description("`+quoted+`") { insert Knows { from: $from, to: $to } }
query all() { match { $p: Person } return { $p.slug, $p.vec as vec } order { $p.slug } }
`))
	}
}

func FuzzFormat(f *testing.F) {
	for _, d := range descriptions {
		f.Add(d)
	}
	f.Fuzz(func(t *testing.T, d string) {
		quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`).Replace(d)
		checkFormat(t, generated(t, `query find($slug: String @description("`+quoted+`")) @description("`+quoted+`") { match { $p: Person { slug: $slug } } return { $p.age } }`))
	})
}
