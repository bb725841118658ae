package client_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	qualified = regexp.MustCompile(`\bclient\.([A-Z]\w*)`)
	quoted    = regexp.MustCompile("`([A-Z]\\w*)`")
)

// TestGuide checks that every name of this package in docs/client.md exists.
func TestGuide(t *testing.T) {
	names := map[string]bool{}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BlockStmt:
				return false
			case *ast.FuncDecl:
				names[n.Name.Name] = true
			case *ast.TypeSpec:
				names[n.Name.Name] = true
			case *ast.ValueSpec:
				for _, name := range n.Names {
					names[name.Name] = true
				}
			case *ast.Field:
				for _, name := range n.Names {
					names[name.Name] = true
				}
			}
			return true
		})
	}
	guide, err := os.ReadFile("../docs/client.md")
	if err != nil {
		t.Fatal(err)
	}
	used := 0
	for _, matches := range [][][]string{qualified.FindAllStringSubmatch(string(guide), -1), quoted.FindAllStringSubmatch(string(guide), -1)} {
		for _, m := range matches {
			if used++; !names[m[1]] {
				t.Errorf("docs/client.md names %s, which package client does not have", m[0])
			}
		}
	}
	if used < 30 {
		t.Errorf("docs/client.md names only %d things, so this test shows little", used)
	}
}
