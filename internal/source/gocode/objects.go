package gocode

import (
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/omnigraph-go/omnigraph/internal/source/codegraph"
)

// kindOf returns the kind of the symbol of an object, or "" if the graph has none.
func kindOf(obj types.Object) codegraph.Kind {
	switch o := obj.(type) {
	case *types.Func:
		if o.Signature().Recv() != nil {
			return codegraph.Method
		}
		return codegraph.Func
	case *types.TypeName:
		if types.IsInterface(o.Type()) {
			return codegraph.Interface
		}
		return codegraph.Type
	case *types.Const:
		return codegraph.Const
	case *types.Var:
		return codegraph.Var
	}
	return ""
}

// pathOf returns the path of an object if the graph has a symbol for it, or may get one when another
// module is read. It adds a symbol for an object of a dependency. Otherwise it returns "".
func (r *reader) pathOf(obj types.Object) string {
	if path := r.paths[obj]; path != "" || obj == nil || obj.Pkg() == nil {
		return path
	}
	path := objectPath(obj)
	if path == "" || kindOf(obj) == "" { // such as unsafe.Sizeof

		return ""
	}
	p := r.all[obj.Pkg().Path()]
	switch {
	case r.taken[path] > 0: // as a package with its tests has it
	case inModules(r.siblings, obj.Pkg().Path()):
	case r.read[obj.Pkg().Path()] || p == nil || !foreign(p):
		return ""
	default:
		r.addExternal(p, obj, path)
	}
	r.paths[obj] = path
	return path
}

// objectPath returns the path of a package-level object or a method in the graph, or "" for any other object.
func objectPath(obj types.Object) string {
	if fn, ok := obj.(*types.Func); ok {
		return symbolPath(fn)
	}
	if obj.Parent() == obj.Pkg().Scope() {
		return obj.Pkg().Path() + "." + obj.Name()
	}
	return ""
}

// addExternal adds an object of a dependency to the graph, unless it is there already. It keeps a method for linkMethods, and
// an interface for readSatisfies.
func (r *reader) addExternal(p *packages.Package, obj types.Object, path string) {
	if r.external[path] {
		return
	}
	r.external[path] = true
	s := codegraph.Symbol{Path: path, Name: obj.Name(), Kind: kindOf(obj), Exported: obj.Exported(), Signature: signature(obj), External: true}
	owner := ""
	switch o := obj.(type) {
	case *types.Func:
		if recv := o.Signature().Recv(); recv != nil {
			owner = receiverName(recv.Type())
			s.Exported = s.Exported && token.IsExported(owner)
			r.methods = append(r.methods, method{path, o.Pkg().Scope().Lookup(owner)})
		}
	case *types.TypeName:
		if it, ok := o.Type().Underlying().(*types.Interface); ok && !o.IsAlias() && it.NumMethods() > 0 && it.IsMethodSet() {
			r.abstract = append(r.abstract, declared{o, p})
		}
	}
	s.Words = codegraph.Words(p.Name, owner, s.Name)
	if r.packages[p.PkgPath] == nil {
		r.packages[p.PkgPath] = p
	}
	r.graph.Symbols = append(r.graph.Symbols, s)
	r.graph.Holds = append(r.graph.Holds, codegraph.Link{From: p.PkgPath, To: path})
}

// method is a method of a type or an interface.
type method struct {
	path  string
	owner types.Object
}

// linkMethods adds the links from methods to their types.
func (r *reader) linkMethods() {
	for _, m := range r.methods {
		if to := r.paths[m.owner]; to != "" && !r.blank[to] {
			r.graph.MethodOf = append(r.graph.MethodOf, codegraph.Link{From: m.path, To: to})
		}
	}
}

// declared is a type, and the package in which it was read.
type declared struct {
	*types.TypeName
	in *packages.Package
}

// addType keeps a type for readSatisfies.
func (r *reader) addType(p *packages.Package, t *types.TypeName) {
	it, isInterface := t.Type().Underlying().(*types.Interface)
	_, named := t.Type().(*types.Named)
	switch {
	case isInterface && it.NumMethods() > 0 && !it.IsMethodSet() && named && !t.IsAlias():
		r.gaps.of(p).constrains++
	case isInterface && it.NumMethods() > 0 && it.IsMethodSet() && (named && !t.IsAlias() || isLiteral(t.Type())):
		r.abstract = append(r.abstract, declared{t, p})
		if p.ForTest != "" {
			r.gaps.of(p).testFaces++
		}
	case !isInterface && named && !t.IsAlias():
		r.concrete = append(r.concrete, declared{t, p})
	}
}

// isLiteral reports whether a type is an alias of an interface without a name.
func isLiteral(t types.Type) bool {
	_, ok := types.Unalias(t).(*types.Interface)
	return ok
}

// isGeneric reports whether a type has type parameters.
func isGeneric(t types.Type) bool {
	n, ok := t.(*types.Named)
	return ok && n.TypeParams().Len() > 0
}

// readSatisfies finds the interfaces that each type, or a pointer to it, implements, and which of its methods
// implements which method. A generic type implements an interface here if it does with all type arguments. It
// skips generic interfaces, because the answer depends on their type arguments.
func (r *reader) readSatisfies() {
	all := append(slices.Clone(r.concrete), r.abstract...)
	byMethod := map[string][]declared{}
	for _, i := range r.abstract {
		if !isGeneric(i.Type()) {
			name := i.Type().Underlying().(*types.Interface).Method(0).Name()
			byMethod[name] = append(byMethod[name], i)
		}
	}
	for _, t := range all {
		if foreign(t.in) && !r.read[t.in.PkgPath] {
			continue
		}
		typ := t.Type()
		if isGeneric(typ) {
			r.gaps.of(t.in).generics++
			if typ = withOwnParameters(typ.(*types.Named)); typ == nil {
				continue
			}
		}
		if !types.IsInterface(typ) {
			typ = types.NewPointer(typ)
		}
		methods := types.NewMethodSet(typ)
		for m := range methods.Methods() {
			for _, i := range byMethod[m.Obj().Name()] {
				seen := r.view(t.in, i)
				it := seen.Type().Underlying().(*types.Interface)
				if i.TypeName == t.TypeName || seen == t.TypeName || !types.Implements(typ, it) {
					continue
				}
				r.link(r.pathOf(t.TypeName), r.pathOf(i.TypeName))
				for want := range it.Methods() {
					if has := methods.Lookup(want.Pkg(), want.Name()); has != nil {
						r.link(r.pathOf(has.Obj().(*types.Func).Origin()), r.pathOf(want.Origin()))
					}
				}
			}
		}
	}
}

// link says that one type or method implements another.
func (r *reader) link(from, to string) {
	if from != "" && to != "" && from != to {
		r.graph.Satisfies = append(r.graph.Satisfies, codegraph.Link{From: from, To: to})
	}
}

// withOwnParameters returns a generic type with its own type parameters as arguments, or nil.
func withOwnParameters(t *types.Named) types.Type {
	var args []types.Type
	for p := range t.TypeParams().TypeParams() {
		args = append(args, p)
	}
	out, err := types.Instantiate(nil, t, args, false)
	if err != nil {
		return nil
	}
	return out
}

// view returns an interface as tests see it: a package is checked once more with its tests, and its types are then
// others.
func (r *reader) view(p *packages.Package, i declared) *types.TypeName {
	if p.ForTest == "" || p == i.in {
		return i.TypeName
	}
	if r.views[p] == nil {
		seen := map[string]*types.Package{}
		packages.Visit([]*packages.Package{p}, nil, func(dep *packages.Package) { seen[dep.PkgPath] = dep.Types })
		r.views[p] = seen
	}
	if pkg := r.views[p][i.Pkg().Path()]; pkg != nil {
		if t, ok := pkg.Scope().Lookup(i.Name()).(*types.TypeName); ok && types.IsInterface(t.Type()) && !isGeneric(t.Type()) {
			return t
		}
	}
	return i.TypeName
}

// isTest reports whether a file has tests.
func isTest(name string) bool { return strings.HasSuffix(name, "_test.go") }
