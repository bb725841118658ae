package gocode

import (
	"fmt"
	"go/ast"
	"go/types"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/types/typeutil"
)

// gaps counts what the graph does not have, for each module. The key is the module path; that of the standard
// library is empty.
type gaps map[string]*moduleGaps

// moduleGaps counts what the graph does not have of one module.
type moduleGaps struct {
	tests      int // files with tests that the build leaves out
	platforms  int // files that the build leaves out
	languages  int // files in other languages
	fields     int // fields of structs
	locals     int // parameters, and declarations in functions
	dynamic    int // calls through variables
	reflect    int // references to package reflect
	linknames  int // linkname comments
	generics   int // types with parameters, of which some type arguments may implement interfaces
	constrains int // interfaces with methods that are constraints of type parameters alone
	unnamed    int // methods of interfaces without a name
	nameless   int // references to methods of error, of interfaces without a name and of types in functions
	external   int // references to declarations that the graph does not have
	faults     int // type errors of packages that are not read completely
	testFaces  int // interfaces that tests declare
	testFaults int // errors in tests
	cgo        int // packages that use cgo
}

// of returns the counts for the module of a package.
func (g gaps) of(p *packages.Package) *moduleGaps {
	path := ""
	if p.Module != nil {
		path = p.Module.Path
	}
	if g[path] == nil {
		g[path] = &moduleGaps{}
	}
	return g[path]
}

// countFiles counts the files in the folder of a package that were not read.
func (g *moduleGaps) countFiles(p *packages.Package, hidden, tested map[string]bool) {
	for _, name := range p.IgnoredFiles {
		if !strings.HasSuffix(name, "_test.go") && !hidden[name] {
			g.platforms++
		}
	}
	g.languages += len(p.OtherFiles)
	entries, err := os.ReadDir(p.Dir)
	if err != nil {
		return // it was removed meanwhile
	}
	for _, e := range entries {
		if name := filepath.Join(p.Dir, e.Name()); isTest(name) && !e.IsDir() && !tested[name] && !hidden[name] {
			g.tests++
		}
	}
}

// countDeclarations counts the declarations of a package, or of its tests, that the graph does not have.
func (g *moduleGaps) countDeclarations(p *packages.Package) {
	for id, obj := range p.TypesInfo.Defs {
		if p.ForTest != "" && !isTest(p.Fset.PositionFor(id.Pos(), false).Filename) {
			continue
		}
		switch o := obj.(type) {
		case nil, *types.PkgName, *types.Label:
		case *types.Var:
			if o.IsField() {
				g.fields++
			} else if o.Parent() != p.Types.Scope() && o.Name() != "_" {
				g.locals++
			}
		case *types.Func: // a package or a type has it
		default:
			if o.Parent() != p.Types.Scope() && o.Name() != "_" {
				g.locals++
			}
		}
	}
	cgo := false
	for i, f := range p.Syntax {
		if p.ForTest != "" && !isTest(p.GoFiles[i]) {
			continue
		}
		cgo = cgo || usesCgo(f)
		for _, group := range f.Comments {
			for _, c := range group.List {
				if strings.HasPrefix(c.Text, "//go:linkname ") {
					g.linknames++
				}
			}
		}
	}
	if cgo {
		g.cgo++
	}
}

// countCall counts a call if the function that it calls is not known.
func (g *moduleGaps) countCall(p *packages.Package, call *ast.CallExpr) {
	fun := ast.Unparen(call.Fun)
	if _, ok := fun.(*ast.FuncLit); ok || p.TypesInfo.Types[fun].IsType() {
		return // the calls in the literal are counted where it is
	}
	switch typeutil.Callee(p.TypesInfo, call).(type) {
	case *types.Func, *types.Builtin:
	default:
		g.dynamic++
	}
}

// countExternal counts a reference to a declaration that the graph does not have.
func (r *reader) countExternal(g *moduleGaps, obj types.Object) {
	if obj == nil {
		return
	}
	if obj.Pkg() == nil || r.read[obj.Pkg().Path()] || r.tests[strings.TrimSuffix(obj.Pkg().Path(), "_test")] != nil {
		if fn, ok := obj.(*types.Func); ok && fn.Signature().Recv() != nil {
			g.nameless++
		}
		return
	}
	switch obj.(type) {
	case *types.PkgName, *types.Builtin:
		return
	}
	if v, ok := obj.(*types.Var); ok && v.IsField() {
		return
	}
	g.external++
}

// notCovered lists what the graph does not say about a module.
func (r *reader) notCovered(m *packages.Module, opts Options, at *place) []string {
	g := r.gaps[m.Path]
	var out []string
	add := func(n int, format string, args ...any) {
		if n > 0 {
			out = append(out, fmt.Sprintf(format, append([]any{n}, args...)...))
		}
	}
	add(g.tests, "%d files with tests, which the build leaves out")
	add(g.testFaults, "%d references in tests, because they have errors, such as imports of modules that are not there")
	add(g.platforms, "%d files that the build leaves out, such as those for other platforms")
	add(g.languages, "%d files in assembly, C and other languages")
	add(r.hiddenIn(m), "%d files that are links out of the folder, no regular files, or Go files of more than %d bytes", maxSource)
	add(r.closedIn(m), "%d folders that this process may not read")
	add(g.cgo, "what C declares, which %d packages use with cgo")
	add(g.faults, "%d references in packages that use cgo or lack files, because they have type errors")
	add(r.modulesBelow(m), "%d modules in folders below this one")
	add(len(at.outside), "%d modules that go.work names outside of the folder; name their folders to read them")
	add(g.fields, "%d fields of structs")
	add(g.locals, "%d parameters and declarations in functions")
	add(g.dynamic, "%d calls through variables")
	add(g.reflect, "what %d references to package reflect call")
	add(g.linknames, "what %d linkname comments connect")
	add(g.generics, "which interfaces %d generic types implement with some type arguments only, or which types implement them")
	add(g.constrains, "which types satisfy %d interfaces with comparable or a list of types")
	add(g.unnamed, "%d methods of interfaces without a name")
	add(g.nameless, "what %d references to methods of error, of interfaces without a name and of types in functions reach")
	add(len(r.external), "the code of dependencies: of %d of their symbols only the name and the type")
	add(g.external, "%d references to declarations that were not read")
	if !opts.Deps {
		out = append(out, "which types of dependencies implement interfaces")
	}
	add(g.testFaces, "which types outside of tests implement %d interfaces that tests declare")
	if r.siblings != nil {
		out = append(out, "which types implement interfaces of other modules")
	}
	return out
}

// hiddenIn returns the number of files in the folder of a module that must not be read.
func (r *reader) hiddenIn(m *packages.Module) int {
	n := 0
	for name := range r.survey.hidden {
		if within(m.Dir, name) && filepath.Ext(name) == ".go" {
			n++
		}
	}
	return n
}

// closedIn returns the number of folders in that of a module that this process may not read.
func (r *reader) closedIn(m *packages.Module) int {
	n := 0
	for _, dir := range r.survey.closed {
		if within(m.Dir, dir) {
			n++
		}
	}
	return n
}

// modulesBelow returns the number of modules in the folder of a module that were not read.
func (r *reader) modulesBelow(m *packages.Module) int {
	n := 0
	for _, dir := range r.survey.modules {
		read := r.siblings != nil
		for _, other := range r.modules {
			read = read || other.Dir == dir
		}
		if !read && within(m.Dir, dir) {
			n++
		}
	}
	return n
}
