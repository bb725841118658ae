package gocode

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/format"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/tools/go/packages"

	"github.com/omnigraph-go/omnigraph/internal/source/codegraph"
)

// reader collects a graph from type-checked packages.
type reader struct {
	survey   *survey
	tested   map[string]bool    // absolute paths of the files with tests that were read
	read     map[string]bool    // import paths of the packages with symbols to read
	files    []string           // absolute paths of the files that were read
	graph    codegraph.Graph    // the result
	contents map[string]content // of the files of main modules
	stamped  bool               // the graph gets the folders, and the digests and stamps of the files
	began    time.Time
	gaps     gaps

	paths    map[types.Object]string                         // paths of the symbols that were read
	taken    map[string]int                                  // number of symbols that would have a path
	blank    map[string]bool                                 // paths of the symbols with the name _
	external map[string]bool                                 // paths of the symbols of dependencies
	methods  []method                                        // all that were read, and those of dependencies
	views    map[*packages.Package]map[string]*types.Package // see view
	concrete []declared                                      // named types that are not interfaces
	abstract []declared                                      // interfaces with methods
	calls    map[codegraph.Link]int                          // number of references from one symbol to a function
	refers   map[codegraph.Link]int                          // number of references from one symbol to a type, constant or variable
	imports  map[codegraph.Link]bool                         // imports of packages that were read
	packages map[string]*packages.Package                    // of the main modules, and those they import
	all      map[string]*packages.Package                    // with all dependencies, without tests
	tests    map[string]*codegraph.Package                   // nodes for the tests of packages, by import path
	modules  map[string]*packages.Module                     // main modules by path
	siblings []string                                        // paths of all modules of the graph; nil if only one is read
}

// newReader returns a reader without packages.
func newReader(s *survey, siblings []string) *reader {
	return &reader{
		survey:   s,
		read:     map[string]bool{},
		gaps:     gaps{},
		paths:    map[types.Object]string{},
		taken:    map[string]int{},
		blank:    map[string]bool{},
		external: map[string]bool{},
		views:    map[*packages.Package]map[string]*types.Package{},
		tested:   map[string]bool{},
		all:      map[string]*packages.Package{},
		tests:    map[string]*codegraph.Package{},
		calls:    map[codegraph.Link]int{},
		refers:   map[codegraph.Link]int{},
		imports:  map[codegraph.Link]bool{},
		packages: map[string]*packages.Package{},
		modules:  map[string]*packages.Module{},
		siblings: siblings,
	}
}

// add adds packages with symbols to read, their tests, and all packages that these import.
func (r *reader) add(pkgs, tests, all []*packages.Package) {
	for _, p := range all {
		if p.ForTest == "" {
			r.all[p.PkgPath] = p
		}
	}
	for _, p := range tests {
		for _, name := range p.GoFiles {
			r.tested[name] = isTest(name)
		}
	}
	for _, p := range pkgs {
		r.read[p.PkgPath] = true
		r.packages[p.PkgPath] = p
		if !foreign(p) {
			r.modules[p.Module.Path] = p.Module
		}
	}
}

// foreign reports whether a package is outside the main modules.
func foreign(p *packages.Package) bool { return p.Module == nil || !p.Module.Main }

// readPackage reads a package with its files, imports and symbols.
func (r *reader) readPackage(p *packages.Package) error {
	node := codegraph.Package{Path: p.PkgPath, Name: p.Name, Read: true}
	g := r.gaps.of(p)
	for _, name := range p.GoFiles {
		if err := r.addFile(p, &node, name); err != nil {
			return err
		}
	}
	if !foreign(p) {
		r.files = append(r.files, p.Module.GoMod)
		g.countFiles(p, r.survey.hidden, r.tested)
	}
	g.countDeclarations(p)
	for _, f := range p.Syntax {
		if f.Doc != nil && node.Doc == "" {
			node.Doc = strings.TrimSpace(f.Doc.Text())
		}
		r.readFile(p, f, p.PkgPath)
	}
	r.graph.Packages = append(r.graph.Packages, node)
	if !foreign(p) {
		r.graph.Provides = append(r.graph.Provides, codegraph.Link{From: p.Module.Path, To: p.PkgPath})
	}
	for _, f := range p.Syntax {
		r.readImports(p, f, p.PkgPath)
	}
	return nil
}

// addFile adds a file to a package.
func (r *reader) addFile(p *packages.Package, node *codegraph.Package, name string) error {
	rel, err := r.filePath(p, name)
	if err != nil {
		return err
	}
	file := codegraph.File{Path: rel, Test: isTest(name)}
	if read, ok := r.contents[name]; !ok { // in a dependency
		if text, err := readRegular(name, maxSource); err == nil {
			file.Lines = countLines(text)
		}
	} else if file.Lines = read.lines; r.stamped {
		file.Digest, file.Stamp = read.digest, read.stamp
	}
	node.Files, node.Lines = node.Files+1, node.Lines+file.Lines
	r.files = append(r.files, name)
	r.graph.Files = append(r.graph.Files, file)
	return nil
}

// readImports adds the imports of a file to the package with a path.
func (r *reader) readImports(p *packages.Package, f *ast.File, from string) {
	for _, spec := range f.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if dep := p.Imports[path]; err == nil && dep != nil {
			if r.packages[dep.PkgPath] == nil {
				r.packages[dep.PkgPath] = cmp.Or(r.all[dep.PkgPath], dep)
			}
			r.imports[codegraph.Link{From: from, To: dep.PkgPath}] = true
		}
	}
}

// readFile adds the symbols that a file declares to the package with the path `holder`.
func (r *reader) readFile(p *packages.Package, f *ast.File, holder string) {
	for _, decl := range f.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			r.addSymbol(p, f, holder, "", d.Name, d.Doc, d.Type)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					r.addSymbol(p, f, holder, "", s.Name, cmp.Or(s.Doc, d.Doc, s.Comment), s.Type)
					if it, ok := ast.Unparen(s.Type).(*ast.InterfaceType); ok {
						r.readInterface(p, f, holder, s.Name.Name, it)
					}
				case *ast.ValueSpec:
					for _, name := range s.Names {
						r.addSymbol(p, f, holder, "", name, cmp.Or(s.Doc, d.Doc, s.Comment), s.Type)
					}
				}
			}
		}
	}
}

// readInterface adds the methods of an interface with a name.
func (r *reader) readInterface(p *packages.Package, f *ast.File, holder, owner string, it *ast.InterfaceType) {
	for _, field := range it.Methods.List {
		for _, name := range field.Names {
			r.addSymbol(p, f, holder, owner, name, cmp.Or(field.Doc, field.Comment), field.Type)
		}
	}
}

// addSymbol adds the object that an identifier declares. Its place is that in the file itself, whatever
// //line comments say. The argument `declared` is the type in the source, or nil, and `owner` the name of the
// interface of a method, or "".
func (r *reader) addSymbol(p *packages.Package, f *ast.File, holder, owner string, id *ast.Ident, doc *ast.CommentGroup, declared ast.Expr) {
	obj := p.TypesInfo.Defs[id]
	if obj == nil {
		return
	}
	pos := p.Fset.PositionFor(id.Pos(), false)
	file, err := r.filePath(p, pos.Filename)
	if err != nil {
		return // readPackage has returned the error
	}
	s := codegraph.Symbol{
		Name: id.Name, Exported: id.IsExported(), Line: pos.Line,
		Signature: signature(obj), Doc: strings.TrimSpace(doc.Text()), Test: isTest(pos.Filename),
	}
	if usesCgo(f) && strings.Contains(s.Signature, types.Typ[types.Invalid].String()) {
		s.Signature = source(p.Fset, declared)
	}
	if s.Kind = kindOf(obj); s.Kind == "" {
		return
	}
	switch o := obj.(type) {
	case *types.Func:
		if recv := o.Signature().Recv(); recv != nil {
			if owner = cmp.Or(receiverName(recv.Type()), owner); owner == "" {
				r.gaps.of(p).unnamed++
				return
			}
			s.Exported = s.Exported && token.IsExported(owner)
		}
	case *types.TypeName:
		r.addType(p, o)
	}
	s.Path = p.PkgPath + "." + s.Name
	if owner != "" {
		s.Path = p.PkgPath + "." + owner + "." + s.Name
	}
	// Such are the functions init and what has the name _, and a method in gopkg.in/yaml and a function in gopkg.in/yaml.v3.
	if r.taken[s.Path]++; r.taken[s.Path] > 1 {
		s.Path = fmt.Sprintf("%s(%d)", s.Path, r.taken[s.Path])
	}
	r.blank[s.Path] = s.Name == "_"
	s.Words = codegraph.Words(p.Name, owner, s.Name)
	r.paths[obj] = s.Path
	if s.Kind == codegraph.Method {
		r.methods = append(r.methods, method{s.Path, obj.Pkg().Scope().Lookup(owner)})
	}
	r.graph.Symbols = append(r.graph.Symbols, s)
	r.graph.Declares = append(r.graph.Declares, codegraph.Link{From: file, To: s.Path})
	r.graph.Holds = append(r.graph.Holds, codegraph.Link{From: holder, To: s.Path})
}

// receiverName returns the name of a method's receiver type, or "".
func receiverName(t types.Type) string {
	if ptr, ok := types.Unalias(t).(*types.Pointer); ok {
		t = ptr.Elem()
	}
	if named, ok := types.Unalias(t).(*types.Named); ok {
		return named.Obj().Name()
	}
	return ""
}

// signature returns the type of a symbol as Go writes it. It gives only the number of fields of a
// struct and of methods of an interface.
func signature(obj types.Object) string {
	qualify := types.RelativeTo(obj.Pkg())
	if t, ok := obj.(*types.TypeName); ok {
		if t.IsAlias() {
			return "= " + types.TypeString(types.Unalias(t.Type()), qualify)
		}
		switch u := t.Type().Underlying().(type) {
		case *types.Struct:
			return fmt.Sprintf("struct with %d fields", u.NumFields())
		case *types.Interface:
			return fmt.Sprintf("interface with %d methods", u.NumMethods())
		default:
			return types.TypeString(u, qualify)
		}
	}
	return types.TypeString(obj.Type(), qualify)
}

// source returns a type as its file has it, or "" for nil.
func source(fset *token.FileSet, declared ast.Expr) string {
	if declared == nil {
		return ""
	}
	var b strings.Builder
	if err := format.Node(&b, fset, declared); err != nil {
		return ""
	}
	return b.String()
}

// readReferences counts the references in the declarations of a package, or of its tests.
func (r *reader) readReferences(p *packages.Package) {
	for i, f := range p.Syntax {
		if p.ForTest != "" && !isTest(p.GoFiles[i]) {
			continue
		}
		for _, decl := range f.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				from := r.paths[p.TypesInfo.Defs[d.Name]]
				r.countUses(p, from, d.Type)
				if d.Body != nil {
					r.countUses(p, from, d.Body)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					r.readSpecReferences(p, spec)
				}
			}
		}
	}
}

// readSpecReferences counts the references in the declaration of a type, or of variables or constants.
func (r *reader) readSpecReferences(p *packages.Package, spec ast.Spec) {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		if s.TypeParams != nil {
			r.countUses(p, r.paths[p.TypesInfo.Defs[s.Name]], s.TypeParams)
		}
		r.countUses(p, r.paths[p.TypesInfo.Defs[s.Name]], s.Type)
	case *ast.ValueSpec:
		if s.Type != nil {
			for _, name := range s.Names {
				r.countUses(p, r.paths[p.TypesInfo.Defs[name]], s.Type)
			}
		}
		for i, value := range s.Values {
			// a, b = f() makes both depend on f; the call is counted for a only.
			name := s.Names[min(i, len(s.Names)-1)]
			r.countUses(p, r.paths[p.TypesInfo.Defs[name]], value)
		}
	}
}

// countUses counts the package-level declarations and the methods that the code `body` refers to. The
// argument `from` is the path of the symbol that contains this code; if the path is empty, countUses does
// nothing.
func (r *reader) countUses(p *packages.Package, from string, body ast.Node) {
	if from == "" {
		return
	}
	g := r.gaps.of(p)
	ast.Inspect(body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			g.countCall(p, call)
		}
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		obj, counts := p.TypesInfo.Uses[id], r.refers
		if fn, ok := obj.(*types.Func); ok {
			obj, counts = fn.Origin(), r.calls
		}
		if obj != nil && obj.Pkg() != nil && obj.Pkg().Path() == "reflect" {
			g.reflect++
		}
		if to := r.pathOf(obj); to != "" {
			counts[codegraph.Link{From: from, To: to}]++
		} else {
			r.countExternal(g, obj)
		}
		return true
	})
}

// filePath returns the path of a file in the graph.
func (r *reader) filePath(p *packages.Package, name string) (string, error) {
	m := p.Module
	switch {
	case m == nil:
		return "std/" + p.PkgPath + "/" + filepath.Base(name), nil
	case foreign(p):
		return p.PkgPath + "/" + filepath.Base(name), nil
	}
	rel, err := filepath.Rel(m.Dir, name)
	if err != nil || !filepath.IsLocal(rel) {
		return "", fmt.Errorf("file %s lies outside its module %s", filepath.Base(name), m.Path)
	}
	rel = filepath.ToSlash(rel)
	if len(r.modules) > 1 || r.siblings != nil { // two modules may have files with the same name
		rel = m.Path + "/" + rel
	}
	return rel, nil
}

// countLines returns the number of lines of a text.
func countLines(text []byte) int {
	n := bytes.Count(text, []byte{'\n'})
	if len(text) > 0 && text[len(text)-1] != '\n' {
		n++
	}
	return n
}

// finish sorts the collected nodes and edges and returns the graph.
func (r *reader) finish() *codegraph.Graph {
	g := &r.graph
	for link := range r.imports {
		g.Imports = append(g.Imports, link)
	}
	g.Calls, g.Refers = codegraph.CountedLinks(r.calls), codegraph.CountedLinks(r.refers)
	r.linkMethods()
	for _, p := range r.tests {
		g.Packages = append(g.Packages, *p)
	}
	r.dropBlank()
	g.Sort()
	return g
}

// dropBlank removes the symbols with the name _ that refer to nothing: nothing can refer to them either.
func (r *reader) dropBlank() {
	g := &r.graph
	for _, c := range slices.Concat(g.Calls, g.Refers) {
		delete(r.blank, c.From)
	}
	g.Symbols = slices.DeleteFunc(g.Symbols, func(s codegraph.Symbol) bool { return r.blank[s.Path] })
	for _, links := range []*[]codegraph.Link{&g.Declares, &g.Holds} {
		*links = slices.DeleteFunc(*links, func(l codegraph.Link) bool { return r.blank[l.To] })
	}
}

// imported returns, by import path, the packages that are only imported: their symbols are not
// read.
func (r *reader) imported() []*packages.Package {
	var out []*packages.Package
	for _, path := range slices.Sorted(maps.Keys(r.packages)) {
		if !r.read[path] {
			out = append(out, r.packages[path])
		}
	}
	return out
}
