package catalog_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/golden"
)

// TestDiff compares the schemas old.pg and new.pg of each folder with the folder's golden
// migration.
func TestDiff(t *testing.T) {
	dirs, err := filepath.Glob("testdata/diff/*")
	if err != nil || len(dirs) == 0 {
		t.Fatal(len(dirs), err)
	}
	codes := map[catalog.StepCode]bool{}
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			read := func(name string) *catalog.Schema {
				b, err := os.ReadFile(filepath.Join(dir, name))
				if err != nil {
					t.Fatal(err)
				}
				return build(t, string(b))
			}
			from, to := read("old.pg"), read("new.pg")
			m := catalog.Diff(from, to)
			golden.Check(t, filepath.Join(dir, "migration.txt"), []byte(m.String()))
			for _, s := range m.Steps {
				codes[s.Code] = true
			}
			if want := !strings.HasPrefix(filepath.Base(dir), "unsupported"); m.Supported() != want {
				t.Errorf("supported: %v", m.Supported())
			}
			if m.Supported() {
				checkApplied(t, from, to, m)
			}
		})
	}
	for _, code := range stepCodes(t) {
		if !codes[code] {
			t.Errorf("no pair of schemas shows %s", code)
		}
	}
}

// stepCodes reads the declared step codes from the source.
func stepCodes(t *testing.T) []catalog.StepCode {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "migration.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var codes []catalog.StepCode
	ast.Inspect(f, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok {
			if typ, ok := spec.Type.(*ast.Ident); ok && typ.Name == "StepCode" {
				text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
				if err != nil {
					t.Fatal(err)
				}
				codes = append(codes, catalog.StepCode(text))
			}
		}
		return true
	})
	if len(codes) < 20 {
		t.Fatalf("%d codes in the source", len(codes))
	}
	return codes
}

func TestDestructive(t *testing.T) {
	from := build(t, "node A { x: String y: String? @index(y) }\nnode B { x: String }")
	for _, test := range []struct {
		to   string
		want bool
	}{
		{"node A { x: String y: String? }\nnode B { x: String }", false},
		{"node A { x: String @index(x) }\nnode B { x: String }", true},
		{"node A { x: String y: String? @index(y) }", true},
	} {
		m := catalog.Diff(from, build(t, test.to))
		if m.Destructive() != test.want || !m.Supported() {
			t.Errorf("destructive %v, supported %v:\n%s", m.Destructive(), m.Supported(), m)
		}
		soft, hard := m.String(), m.Hard().String()
		if m.String() != soft || strings.Contains(hard, "(soft") || test.want && !strings.Contains(hard, "(hard, destroys data)") {
			t.Errorf("made hard:\n%s", hard)
		}
	}
}

// TestVerifies checks that only constraints have to be verified against stored data.
func TestVerifies(t *testing.T) {
	m := catalog.Diff(build(t, "node A { x: String y: I32? }"), build(t, "node A { x: String y: I32? z: I32? @unique(x) @index(y) @range(y, 0..) }"))
	var got []string
	for _, s := range m.Steps {
		if s.Verifies() {
			got = append(got, s.String())
		}
	}
	if len(m.Steps) != 4 || len(got) != 2 {
		t.Errorf("%v of\n%s", got, m)
	}
}
