package gq_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strconv"
	"testing"

	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/internal/gq/check"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/lint"
	"github.com/omnigraph-go/omnigraph/internal/gq/resolve"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// TestEveryCodeIsListed checks that each declared code is in the table of its package. Other tests
// run the example of each row.
func TestEveryCodeIsListed(t *testing.T) {
	listed := map[string]bool{}
	for _, entries := range [][]diag.Entry{syntax.Codes, resolve.Codes, check.Codes} {
		for _, e := range entries {
			listed[string(e.Code)] = true
		}
	}
	for _, r := range lint.Rules {
		listed[string(r.Code)] = true
	}
	declared := 0
	for _, path := range []string{"syntax/codes.go", "resolve/codes.go", "check/codes.go", "lint/rules.go"} {
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(phaseFolder, path), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			c, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			if typ, ok := c.Type.(*ast.SelectorExpr); !ok || typ.Sel.Name != "Code" {
				return true
			}
			for i, value := range c.Values {
				code, err := strconv.Unquote(value.(*ast.BasicLit).Value)
				if err != nil {
					t.Fatal(err)
				}
				declared++
				if !listed[code] {
					t.Errorf("%s: the table of codes has no row for %s, %s", path, c.Names[i].Name, code)
				}
			}
			return true
		})
	}
	if declared != len(listed) {
		t.Errorf("%d codes are declared, %d are listed", declared, len(listed))
	}
}

// TestPhasesLeaveTrees checks that resolving and checking do not change the nodes of a tree. Both
// store their findings in the catalog, the plan and check.Info.
func TestPhasesLeaveTrees(t *testing.T) {
	src := readFile(t, "testdata/graph.pg")
	parseSchema := func() *syntax.Schema {
		tree, faults := syntax.ParseSchema(src.Name, src.Text)
		if faults != nil {
			t.Fatal(faults)
		}
		return tree
	}
	tree := parseSchema()
	s, faults := resolve.Schema(tree)
	if faults != nil {
		t.Fatal(faults)
	}
	if !reflect.DeepEqual(tree, parseSchema()) {
		t.Error("resolving changed the tree of the schema")
	}
	for _, path := range glob(t, "testdata/plan/*.gq") {
		src := gq.Source{Name: path, Text: readFile(t, path).Text}
		file, faults := syntax.ParseQueries(src.Name, src.Text)
		if faults != nil {
			t.Fatal(faults)
		}
		for _, q := range file.Queries {
			if p, _, faults := check.QueryWithin(nil, s, claims, q); p == nil {
				t.Fatal(faults)
			}
		}
		lint.Run(lint.Input{Schema: s, SchemaTree: tree, Files: []*syntax.File{file}})
		if again, _ := syntax.ParseQueries(src.Name, src.Text); !reflect.DeepEqual(file, again) {
			t.Errorf("checking changed the trees of %s", path)
		}
	}
}
