package gq_test

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

// sum is an interface that is sealed by an unexported method without parameters.
type sum struct {
	name    string // package.Interface
	members []string
}

// partial lists functions that contain a switch over a sum type which handles only some members of
// the sum. For each function, it gives the reason why that is correct.
var partial = map[string]string{
	"check.(checker).aggregate": "an aggregate of a constant is refused",
	"check.descending":          "relevance alone is best first",
	"lint.pinned":               "what is compared with a constant is a property or an id",
	"check.constant":            "literals and parameters alone are constant",
}

// phaseFolder is the folder of the packages that package compile joins.
const phaseFolder = "../internal/gq"

// folderOf returns the folder of a package of the language.
func folderOf(pkg string) string {
	switch pkg {
	case "plan", "catalog":
		return pkg
	case "format":
		return filepath.Join(phaseFolder, "internal", pkg)
	}
	return filepath.Join(phaseFolder, pkg)
}

// TestSwitches checks that a type switch over a sum has a case for each member. Switches with a
// default, and those in the functions that `partial` lists, are exempt.
func TestSwitches(t *testing.T) {
	packages := []string{"syntax", "plan", "catalog", "check", "format", "lint"}
	files := map[string][]*ast.File{}
	fset := token.NewFileSet()
	for _, pkg := range packages {
		err := filepath.WalkDir(folderOf(pkg), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			f, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
			files[pkg] = append(files[pkg], f)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	sums := map[string]*sum{} // by package.member
	found := map[string]*sum{}
	for _, pkg := range packages {
		for _, s := range sumsOf(pkg, files[pkg]) {
			found[s.name] = s
			for _, m := range s.members {
				if sums[m] == nil {
					sums[m] = s
				}
			}
		}
	}
	for _, want := range []string{
		"syntax.Decl", "syntax.Member", "syntax.Body", "syntax.Clause", "syntax.Operand", "syntax.Statement",
		"plan.Clause", "plan.Cond", "plan.Expr", "plan.Statement", "catalog.Element",
	} {
		if s := found[want]; s == nil || len(s.members) < 2 {
			t.Errorf("no sum %s was found", want)
		}
	}
	checked := map[string]int{}
	for _, pkg := range packages {
		for _, f := range files[pkg] {
			for _, d := range f.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok || fn.Body == nil {
					continue
				}
				ast.Inspect(fn.Body, func(n ast.Node) bool {
					sw, ok := n.(*ast.TypeSwitchStmt)
					if !ok {
						return true
					}
					cases, hasDefault := casesOf(pkg, sw)
					s := sumOf(sums, cases)
					if s == nil {
						return true
					}
					checked[s.name]++
					name := funcName(pkg, fn)
					for _, m := range s.members {
						if !hasDefault && partial[name] == "" && !slices.Contains(cases, m) {
							t.Errorf("%s: the switch over %s in %s has no case for %s", fset.Position(sw.Pos()), s.name, name, m)
						}
					}
					return true
				})
			}
		}
	}
	for name := range found {
		if checked[name] == 0 && name != "syntax.Member" {
			t.Errorf("no switch over %s was found", name)
		}
	}
}

// sumsOf finds the sums of a package and their members.
func sumsOf(pkg string, files []*ast.File) []*sum {
	seals := map[string]string{} // sealing method to interface
	methods := map[string][]string{}
	for _, f := range files {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					ts, ok := spec.(*ast.TypeSpec)
					if !ok {
						continue
					}
					it, ok := ts.Type.(*ast.InterfaceType)
					if !ok {
						continue
					}
					for _, m := range it.Methods.List {
						if ft, ok := m.Type.(*ast.FuncType); ok && !m.Names[0].IsExported() && ft.Params.NumFields() == 0 && ft.Results.NumFields() == 0 {
							seals[m.Names[0].Name] = ts.Name.Name
						}
					}
				}
			case *ast.FuncDecl:
				if d.Recv != nil && len(d.Body.List) == 0 {
					methods[d.Name.Name] = append(methods[d.Name.Name], spelling(pkg, d.Recv.List[0].Type))
				}
			}
		}
	}
	var out []*sum
	for seal, name := range seals {
		out = append(out, &sum{pkg + "." + name, methods[seal]})
	}
	return out
}

// spelling formats a type as package.Name, with a star for a pointer.
func spelling(pkg string, e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return "*" + spelling(pkg, e.X)
	case *ast.SelectorExpr:
		return e.X.(*ast.Ident).Name + "." + e.Sel.Name
	case *ast.Ident:
		return pkg + "." + e.Name
	}
	return ""
}

func casesOf(pkg string, sw *ast.TypeSwitchStmt) (cases []string, hasDefault bool) {
	for _, c := range sw.Body.List {
		list := c.(*ast.CaseClause).List
		hasDefault = hasDefault || list == nil
		for _, e := range list {
			cases = append(cases, spelling(pkg, e))
		}
	}
	return cases, hasDefault
}

// sumOf returns the sum that has all cases as members, or nil.
func sumOf(sums map[string]*sum, cases []string) *sum {
	var s *sum
	for _, c := range cases {
		if s == nil {
			s = sums[c]
		}
		if s == nil || !slices.Contains(s.members, c) {
			return nil
		}
	}
	return s
}

func funcName(pkg string, fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return pkg + "." + fn.Name.Name
	}
	_, typ, _ := strings.Cut(spelling(pkg, fn.Recv.List[0].Type), ".")
	return pkg + ".(" + typ + ")." + fn.Name.Name
}
