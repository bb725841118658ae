package gocode

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// reader collects a graph from type-checked packages.
type reader struct {
	read  map[string]bool // import paths of the packages with symbols to read
	graph Graph           // the result

	paths    map[types.Object]string      // paths of the symbols that were read
	concrete []*types.TypeName            // named types that are not interfaces
	abstract []*types.TypeName            // interfaces with methods
	calls    map[Link]int                 // number of references from one symbol to another
	imports  map[Link]bool                // imports of packages that were read
	packages map[string]*packages.Package // of the main modules, and those they import
	modules  map[string]*packages.Module  // main modules by path
	siblings []string                     // paths of all modules of the graph; nil if only one is read
}

// newReader returns a reader for packages.
func newReader(pkgs []*packages.Package, siblings []string) *reader {
	r := &reader{
		read:     map[string]bool{},
		paths:    map[types.Object]string{},
		calls:    map[Link]int{},
		imports:  map[Link]bool{},
		packages: map[string]*packages.Package{},
		modules:  map[string]*packages.Module{},
		siblings: siblings,
	}
	for _, p := range pkgs {
		r.read[p.PkgPath] = true
		r.packages[p.PkgPath] = p
		if !foreign(p) {
			r.modules[p.Module.Path] = p.Module
		}
	}
	return r
}

// foreign reports whether a package is outside the main modules.
func foreign(p *packages.Package) bool { return p.Module == nil || !p.Module.Main }

// readPackage reads a package with its files, imports and symbols.
func (r *reader) readPackage(p *packages.Package) error {
	node := Package{Path: p.PkgPath, Name: p.Name, Files: len(p.GoFiles), read: true}
	for _, name := range p.GoFiles {
		rel, err := r.filePath(p, name)
		if err != nil {
			return err
		}
		lines, err := countLines(name)
		if err != nil {
			return err
		}
		node.Lines += lines
		r.graph.Files = append(r.graph.Files, File{Path: rel, Lines: lines})
	}
	for _, f := range p.Syntax {
		if f.Doc != nil && node.Doc == "" {
			node.Doc = strings.TrimSpace(f.Doc.Text())
		}
		r.readFile(p, f)
	}
	r.graph.Packages = append(r.graph.Packages, node)
	if !foreign(p) {
		r.graph.Provides = append(r.graph.Provides, Link{p.Module.Path, p.PkgPath})
	}
	for _, dep := range p.Imports {
		r.packages[dep.PkgPath] = dep
		r.imports[Link{p.PkgPath, dep.PkgPath}] = true
	}
	return nil
}

// readFile adds the symbols that a file declares.
func (r *reader) readFile(p *packages.Package, f *ast.File) {
	for _, decl := range f.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			r.addSymbol(p, d.Name, d.Doc)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					r.addSymbol(p, s.Name, cmp.Or(s.Doc, d.Doc, s.Comment))
					if it, ok := s.Type.(*ast.InterfaceType); ok {
						r.readInterface(p, it)
					}
				case *ast.ValueSpec:
					for _, name := range s.Names {
						r.addSymbol(p, name, cmp.Or(s.Doc, d.Doc, s.Comment))
					}
				}
			}
		}
	}
}

// readInterface adds the methods of an interface.
func (r *reader) readInterface(p *packages.Package, it *ast.InterfaceType) {
	for _, field := range it.Methods.List {
		for _, name := range field.Names {
			r.addSymbol(p, name, cmp.Or(field.Doc, field.Comment))
		}
	}
}

// addSymbol adds the object that an identifier declares. It skips init, _ and objects in files that
// a tool outside the module wrote.
func (r *reader) addSymbol(p *packages.Package, id *ast.Ident, doc *ast.CommentGroup) {
	obj := p.TypesInfo.Defs[id]
	if obj == nil || id.Name == "_" {
		return
	}
	pos := p.Fset.Position(id.Pos())
	file, err := r.filePath(p, pos.Filename)
	if err != nil || !slices.Contains(p.GoFiles, pos.Filename) {
		return
	}
	s := Symbol{
		Name: id.Name, Exported: id.IsExported(), Line: pos.Line,
		Signature: signature(obj), Doc: strings.TrimSpace(doc.Text()),
	}
	owner := ""
	switch o := obj.(type) {
	case *types.Func:
		s.Kind = Func
		if recv := o.Signature().Recv(); recv != nil {
			s.Kind = Method
			if owner = receiverName(recv.Type()); owner == "" {
				return // a method of an unnamed interface type
			}
			s.Exported = s.Exported && token.IsExported(owner)
		} else if id.Name == "init" {
			return
		}
	case *types.TypeName:
		s.Kind = Type
		if types.IsInterface(o.Type()) {
			s.Kind = Interface
		}
		if named, ok := o.Type().(*types.Named); ok && !o.IsAlias() {
			if it, ok := named.Underlying().(*types.Interface); !ok {
				r.concrete = append(r.concrete, o)
			} else if it.NumMethods() > 0 && it.IsMethodSet() {
				r.abstract = append(r.abstract, o)
			}
		}
	case *types.Const:
		s.Kind = Const
	case *types.Var:
		s.Kind = Var
	default:
		return
	}
	s.Path = p.PkgPath + "." + s.Name
	if owner != "" {
		s.Path = p.PkgPath + "." + owner + "." + s.Name
	}
	s.Words = words(p.Name, owner, s.Name)
	r.paths[obj] = s.Path
	r.graph.Symbols = append(r.graph.Symbols, s)
	r.graph.Declares = append(r.graph.Declares, Link{file, s.Path})
	r.graph.Holds = append(r.graph.Holds, Link{p.PkgPath, s.Path})
}

// receiverName returns the name of a method's receiver type, or "".
func receiverName(t types.Type) string {
	if ptr, ok := t.(*types.Pointer); ok {
		t = ptr.Elem()
	}
	if named, ok := t.(*types.Named); ok {
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

// readReferences counts the uses of functions and methods in the declarations of a package.
func (r *reader) readReferences(p *packages.Package) {
	for _, f := range p.Syntax {
		for _, decl := range f.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				r.countUses(p, r.paths[p.TypesInfo.Defs[d.Name]], d)
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					r.readSpecReferences(p, spec)
				}
			}
		}
	}
}

// readSpecReferences counts the uses in the values of a variable or constant declaration.
func (r *reader) readSpecReferences(p *packages.Package, spec ast.Spec) {
	s, ok := spec.(*ast.ValueSpec)
	if !ok {
		return
	}
	for i, value := range s.Values {
		// a, b = f() makes both depend on f; the call is counted for a only.
		name := s.Names[min(i, len(s.Names)-1)]
		r.countUses(p, r.paths[p.TypesInfo.Defs[name]], value)
	}
}

// countUses counts the functions and methods that the code `body` refers to. The argument `from` is
// the path of the symbol that contains this code; if the path is empty, countUses does nothing.
func (r *reader) countUses(p *packages.Package, from string, body ast.Node) {
	if from == "" {
		return
	}
	ast.Inspect(body, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		if fn, ok := p.TypesInfo.Uses[id].(*types.Func); ok {
			to := r.paths[fn.Origin()]
			if to == "" && fn.Pkg() != nil && inModules(r.siblings, fn.Pkg().Path()) {
				to = symbolPath(fn.Origin())
			}
			if to != "" {
				r.calls[Link{from, to}]++
			}
		}
		return true
	})
}

// readSatisfies finds the interfaces that each type, or a pointer to it, implements. It skips
// generic types, because the answer depends on their type arguments.
func (r *reader) readSatisfies() {
	byMethod := map[string][]*types.TypeName{}
	for _, i := range r.abstract {
		it := i.Type().Underlying().(*types.Interface)
		if i.Type().(*types.Named).TypeParams().Len() == 0 {
			name := it.Method(0).Name()
			byMethod[name] = append(byMethod[name], i)
		}
	}
	for _, t := range append(slices.Clone(r.concrete), r.abstract...) {
		if t.Type().(*types.Named).TypeParams().Len() > 0 {
			continue
		}
		typ := t.Type()
		if !types.IsInterface(typ) {
			typ = types.NewPointer(typ)
		}
		methods := types.NewMethodSet(typ)
		for m := range methods.Methods() {
			for _, i := range byMethod[m.Obj().Name()] {
				if i != t && types.Implements(typ, i.Type().Underlying().(*types.Interface)) {
					r.graph.Satisfies = append(r.graph.Satisfies, Link{r.paths[t], r.paths[i]})
				}
			}
		}
	}
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

// countLines returns the number of lines in a file.
func countLines(name string) (int, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return 0, err
	}
	n := bytes.Count(b, []byte{'\n'})
	if len(b) > 0 && b[len(b)-1] != '\n' {
		n++
	}
	return n, nil
}

// finish sorts the collected nodes and edges and returns the graph.
func (r *reader) finish() *Graph {
	g := &r.graph
	for link := range r.imports {
		g.Imports = append(g.Imports, link)
	}
	for link, n := range r.calls {
		g.Calls = append(g.Calls, Calls{link, n})
	}
	slices.SortFunc(g.Modules, func(a, b Module) int { return cmp.Compare(a.Path, b.Path) })
	slices.SortFunc(g.Packages, func(a, b Package) int { return cmp.Compare(a.Path, b.Path) })
	slices.SortFunc(g.Files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	slices.SortFunc(g.Symbols, func(a, b Symbol) int { return cmp.Compare(a.Path, b.Path) })
	slices.SortFunc(g.Requires, func(a, b Requires) int { return compareLinks(a.Link, b.Link) })
	slices.SortFunc(g.Calls, func(a, b Calls) int { return compareLinks(a.Link, b.Link) })
	for _, links := range []*[]Link{&g.Provides, &g.Imports, &g.Declares, &g.Holds, &g.Satisfies} {
		slices.SortFunc(*links, compareLinks)
		*links = slices.Compact(*links)
	}
	return g
}

// compareLinks orders links by From, then by To.
func compareLinks(a, b Link) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) }

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
