package scip

import (
	"errors"
	"slices"
	"strings"

	bindings "github.com/scip-code/scip/bindings/go/scip"

	"github.com/omnigraph-go/omnigraph/internal/source/codegraph"
)

// name is what the graph takes from the name of a symbol in an index, such as
//
//	scip-typescript npm @example/shop 1.2.0 src/`stock.ts`/Shelf#find().
type name struct {
	module  string // @example/shop
	version string // 1.2.0
	pkg     string // @example/shop/src/stock.ts
	pkgName string // stock.ts

	// The rest is empty if the symbol is a package.

	path   string // the key in the graph, @example/shop/src/stock.ts.Shelf.find
	last   string // find
	owner  string // the type or function that contains the symbol, Shelf; or empty
	suffix bindings.Descriptor_Suffix
	member bool   // a type contains the symbol
	within string // the path of what contains the symbol, or empty
	hidden bool   // _ or # begins one of the names
}

// isPackage reports whether the name is that of a package.
func (n name) isPackage() bool { return n.path == "" }

// parseName reads the name of a symbol. A symbol without a package manager's package belongs to the given
// module.
func parseName(symbol, module string) (name, error) {
	s, err := bindings.ParseSymbol(symbol)
	if err != nil {
		return name{}, err
	}
	if len(s.Descriptors) == 0 {
		return name{}, errors.New("the name has no descriptor")
	}
	n := name{module: module}
	if p := s.Package.GetName(); p != "" {
		n.module, n.version = p, s.Package.GetVersion()
	}
	if n.version == "." { // scip-go writes it for the module that it indexes
		n.version = ""
	}
	spaces := 0
	for spaces < len(s.Descriptors) && s.Descriptors[spaces].Suffix == bindings.Descriptor_Namespace {
		spaces++
	}
	n.setPackage(s.Descriptors[:spaces], s.Package.GetManager() == "gomod")
	rest := s.Descriptors[spaces:]
	// Some indexers add a descriptor such as __init__: to the name of a package.
	if len(rest) > 0 && (len(rest) > 1 || rest[0].Suffix != bindings.Descriptor_Meta) {
		n.setDeclaration(rest)
	}
	return n, nil
}

// setPackage sets the names of the package. A namespace such as shop.stock of the module shop has its own
// name, and so has each of Go, which is an import path; others are below the module.
func (n *name) setPackage(spaces []*bindings.Descriptor, isGo bool) {
	if len(spaces) == 0 {
		n.pkg, n.pkgName = n.module, n.module[strings.LastIndex(n.module, "/")+1:]
		return
	}
	var path []string
	for _, d := range spaces {
		path = append(path, d.Name)
	}
	if rest, ok := strings.CutPrefix(path[0], n.module); !isGo && (!ok || rest != "" && rest[0] != '.') {
		path = slices.Insert(path, 0, n.module)
	}
	n.pkg, n.pkgName = strings.Join(path, "/"), path[len(path)-1]
	if isGo {
		n.pkgName = n.pkg[strings.LastIndex(n.pkg, "/")+1:]
	}
}

// setDeclaration sets the names of a declaration in the package.
func (n *name) setDeclaration(descriptors []*bindings.Descriptor) {
	var b strings.Builder
	b.WriteString(n.pkg)
	for i, d := range descriptors {
		if i > 0 {
			n.within = b.String()
		}
		if d.Suffix == bindings.Descriptor_TypeParameter { // the types of an impl of Rust
			b.WriteString("[" + d.Name + "]")
		} else {
			b.WriteString("." + d.Name)
		}
		if d.Disambiguator != "" { // one of several functions with the same name
			b.WriteString("(" + d.Disambiguator + ")")
		}
		isLast := i == len(descriptors)-1
		if !isLast {
			n.owner = d.Name
			n.member = n.member || d.Suffix == bindings.Descriptor_Type
		}
		if strings.HasPrefix(d.Name, "#") || strings.HasPrefix(d.Name, "_") && !strings.HasSuffix(d.Name, "__") {
			n.hidden = true
		}
		n.last, n.suffix = d.Name, d.Suffix
	}
	n.path = b.String()
}

// kinds has the kind in the graph for each kind of a declaration that an index may state. The graph does
// not have symbols of other kinds.
var kinds = map[bindings.SymbolInformation_Kind]codegraph.Kind{
	bindings.SymbolInformation_AbstractMethod:      codegraph.Method,
	bindings.SymbolInformation_Accessor:            codegraph.Method,
	bindings.SymbolInformation_AssociatedType:      codegraph.Type,
	bindings.SymbolInformation_Class:               codegraph.Type,
	bindings.SymbolInformation_Concept:             codegraph.Interface,
	bindings.SymbolInformation_Constant:            codegraph.Const,
	bindings.SymbolInformation_Constructor:         codegraph.Method,
	bindings.SymbolInformation_Contract:            codegraph.Type,
	bindings.SymbolInformation_Delegate:            codegraph.Type,
	bindings.SymbolInformation_Enum:                codegraph.Type,
	bindings.SymbolInformation_EnumMember:          codegraph.Const,
	bindings.SymbolInformation_Extension:           codegraph.Type,
	bindings.SymbolInformation_Function:            codegraph.Func,
	bindings.SymbolInformation_Getter:              codegraph.Method,
	bindings.SymbolInformation_Interface:           codegraph.Interface,
	bindings.SymbolInformation_Macro:               codegraph.Func,
	bindings.SymbolInformation_Message:             codegraph.Type,
	bindings.SymbolInformation_Method:              codegraph.Method,
	bindings.SymbolInformation_MethodAlias:         codegraph.Method,
	bindings.SymbolInformation_MethodSpecification: codegraph.Method,
	bindings.SymbolInformation_Mixin:               codegraph.Interface,
	bindings.SymbolInformation_Object:              codegraph.Type,
	bindings.SymbolInformation_Operator:            codegraph.Method,
	bindings.SymbolInformation_Protocol:            codegraph.Interface,
	bindings.SymbolInformation_ProtocolMethod:      codegraph.Method,
	bindings.SymbolInformation_PureVirtualMethod:   codegraph.Method,
	bindings.SymbolInformation_Setter:              codegraph.Method,
	bindings.SymbolInformation_SingletonClass:      codegraph.Type,
	bindings.SymbolInformation_SingletonMethod:     codegraph.Method,
	bindings.SymbolInformation_StaticMethod:        codegraph.Method,
	bindings.SymbolInformation_StaticVariable:      codegraph.Var,
	bindings.SymbolInformation_Struct:              codegraph.Type,
	bindings.SymbolInformation_Subscript:           codegraph.Method,
	bindings.SymbolInformation_Trait:               codegraph.Interface,
	bindings.SymbolInformation_TraitMethod:         codegraph.Method,
	bindings.SymbolInformation_Type:                codegraph.Type,
	bindings.SymbolInformation_TypeAlias:           codegraph.Type,
	bindings.SymbolInformation_TypeClass:           codegraph.Interface,
	bindings.SymbolInformation_TypeClassMethod:     codegraph.Method,
	bindings.SymbolInformation_TypeFamily:          codegraph.Type,
	bindings.SymbolInformation_Union:               codegraph.Type,
	bindings.SymbolInformation_Variable:            codegraph.Var,
}

// kind returns the kind of a symbol in the graph, or "" if the graph does not have such symbols: fields,
// parameters and the like. If the index does not state the kind of the symbol, kind derives it from the
// name and the signature.
func (n name) kind(stated bindings.SymbolInformation_Kind, signature string) codegraph.Kind {
	if stated != bindings.SymbolInformation_UnspecifiedKind {
		k := kinds[stated]
		switch {
		case n.suffix == bindings.Descriptor_Parameter || n.suffix == bindings.Descriptor_TypeParameter:
			return ""
		case k == codegraph.Method && !n.member:
			return codegraph.Func
		case k == codegraph.Func && n.member:
			return codegraph.Method
		case k == codegraph.Var && n.owner != "":
			return "" // a variable of a function, or a field
		}
		return k
	}
	switch n.suffix {
	case bindings.Descriptor_Type:
		if declares(signature, "interface", "trait", "protocol") {
			return codegraph.Interface
		}
		return codegraph.Type
	case bindings.Descriptor_Macro:
		return codegraph.Func
	case bindings.Descriptor_Method:
		if n.member {
			return codegraph.Method
		}
		return codegraph.Func
	case bindings.Descriptor_Term:
		switch {
		case isFunctionValue(signature) && n.member:
			return codegraph.Method
		case isFunctionValue(signature):
			return codegraph.Func
		case strings.HasPrefix(signature, "(enum member)") || declares(signature, "const") && n.owner == "":
			return codegraph.Const
		case n.owner == "":
			return codegraph.Var
		}
	}
	return ""
}

// declares reports whether one of the words before the name and the type in a declaration, such as
// "export abstract class Shelf", is one of the keywords.
func declares(signature string, keywords ...string) bool {
	head, _, _ := strings.Cut(signature, "\n")
	if i := strings.IndexAny(head, "(:={<"); i >= 0 {
		head = head[:i]
	}
	fields := strings.Fields(head)
	return len(fields) > 1 && slices.ContainsFunc(fields[:len(fields)-1], func(w string) bool { return slices.Contains(keywords, w) })
}

// isFunctionValue reports whether a declaration such as "var round: (cents: number) => number" is that of
// a variable or property whose type is a function in the notation of TypeScript.
func isFunctionValue(signature string) bool {
	head, typ, ok := strings.Cut(signature, ": ")
	if !ok || strings.ContainsAny(strings.TrimPrefix(head, "(property)"), "(){}") {
		return false
	}
	return (strings.HasPrefix(typ, "(") || strings.HasPrefix(typ, "<")) && strings.Contains(typ, ") => ")
}

// isExported reports whether code outside of the package can use the symbol, as far as the names and the
// declaration show it.
func (n name) isExported(language, signature string) bool {
	if n.hidden {
		return false
	}
	head, _, _ := strings.Cut(signature, n.last)
	words := strings.Fields(head)
	if strings.EqualFold(language, "rust") && signature != "" {
		return len(words) > 0 && strings.HasPrefix(words[0], "pub")
	}
	return !slices.Contains(words, "private")
}
