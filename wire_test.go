package omnigraph

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// twice lists the names that several packages may use for structs with JSON members, each with the
// reason. The names are in lower case.
var twice = map[string]string{}

// TestWireTypesOnce checks that each struct with JSON members is declared once: no two packages of
// the client, the server and the command may declare such structs under the same name. Upper and
// lower case make no difference.
func TestWireTypesOnce(t *testing.T) {
	packages := map[string][]string{} // the folders that declare a struct, by its name
	seen := 0
	for _, root := range []string{"client", "internal/server", "cmd/omnigraph"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && d.Name() == "testdata":
				return fs.SkipDir
			case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
				return nil
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			for _, name := range structsOfJSON(file) {
				seen++
				if name, dir := strings.ToLower(name), filepath.Dir(path); !slices.Contains(packages[name], dir) {
					packages[name] = append(packages[name], dir)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, dirs := range packages {
		if _, ok := twice[name]; len(dirs) > 1 && !ok {
			t.Errorf("%s is a struct of JSON in %s: use one declaration if the members are the same, or else another name", name, strings.Join(dirs, " and "))
		}
	}
	for name := range twice {
		if len(packages[name]) < 2 {
			t.Errorf("%s is declared once: remove it from the list of exceptions", name)
		}
	}
	if seen < 100 {
		t.Errorf("the test found %d structs of JSON, which is too few to show anything", seen)
	}
}

// structsOfJSON returns the names of the structs that have a field with a json tag.
func structsOfJSON(file *ast.File) (names []string) {
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		if s, ok := spec.Type.(*ast.StructType); ok && slices.ContainsFunc(s.Fields.List, func(f *ast.Field) bool {
			return f.Tag != nil && strings.Contains(f.Tag.Value, `json:"`)
		}) {
			names = append(names, spec.Name.Name)
		}
		return true
	})
	return names
}
