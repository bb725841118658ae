// Package codegraph holds source code as nodes and edges: modules, packages, files, symbols and the
// references between them. The schema in queries/code describes the graph. The packages gocode and
// scip read source code into it.
package codegraph

import (
	"cmp"
	"slices"
	"time"
)

// Graph is the code of one or more modules as nodes and edges. Each list is sorted by key.
type Graph struct {
	Modules  []Module  // the modules that were read, and those that they require
	Packages []Package // see Package
	Files    []File    // the source files that were read
	Symbols  []Symbol  // the declarations

	Requires  []Requires // module -> module
	Provides  []Link     // module -> package
	Imports   []Link     // package -> package
	Declares  []Link     // file -> symbol
	Holds     []Link     // package -> symbol
	Calls     []Counted  // symbol -> function or method
	Refers    []Counted  // symbol -> type, constant or variable
	Satisfies []Link     // type -> interface, method -> method that it implements or overrides
	MethodOf  []Link     // method -> type or interface
}

// Module is a module that was read, or a module that is required by one that was read.
type Module struct {
	Path    string // module path
	Version string // empty if it is not known, as for a main module of Go
	Main    bool   // the module was read; otherwise another module requires it

	// The other fields are for modules that were read.

	Indexer    string    // the program that read the source code, such as scip-typescript 0.4.0
	Commit     string    // the commit that was read; empty if it is not known
	Folder     string    // absolute path of the folder that was read; empty if it is not known
	ReadAt     time.Time // when the reading began; zero if Folder is empty
	Modified   *bool     // whether files differed from the commit; nil if that is not known
	NotCovered []string  // what the graph does not say about the module, one phrase each
}

// Package is a package that was read, or a package that is imported directly by one that was read.
type Package struct {
	Path  string // import path
	Name  string // the name in the package clause
	Doc   string // text of the package comment
	Files int    // number of source files, without tests in Go; 0 if the files are not known
	Lines int    // number of lines in those files
	Read  bool   // whether the symbols of the package were read
}

// File is a source file that was read.
type File struct {
	// Path is relative to the module's root and uses slashes. If several modules were read, it
	// begins with the path of the module.
	Path  string
	Lines int  // number of lines
	Test  bool // it holds tests

	Digest string // SHA-256 of the content in hexadecimal digits; empty if it is not known
	Stamp  string // see freshness.Stamp; empty if it is not known
}

// Kind is the kind of a symbol.
type Kind string

// The kinds of symbol.
const (
	Func      Kind = "func" // a function that is not a method
	Method    Kind = "method"
	Type      Kind = "type"
	Interface Kind = "interface"
	Const     Kind = "const"
	Var       Kind = "var"
)

// IsCallable reports whether a reference to such a symbol counts as a call.
func (k Kind) IsCallable() bool { return k == Func || k == Method }

// Symbol is a package-level declaration, a method, or a method of an interface.
type Symbol struct {
	Path      string // package.Name or package.Type.Name
	Name      string // without the type of a method
	Kind      Kind   // such as func
	Exported  bool   // other packages can use it
	Signature string // type of the symbol, as its language writes it
	Doc       string // text of the comment
	Line      int    // line in its file, from 1
	Words     string // words of the names, separated by spaces, for full-text search
	Test      bool   // a file with tests declares it
	External  bool   // it belongs to a dependency, and only its name and type were read; it has no file and no line
}

// Link joins two nodes by their keys.
type Link struct{ From, To string }

// Compare orders links by From, then by To.
func (l Link) Compare(other Link) int {
	return cmp.Or(cmp.Compare(l.From, other.From), cmp.Compare(l.To, other.To))
}

// Requires says that one module requires another.
type Requires struct {
	Link
	Indirect bool // go.mod marks it as indirect
}

// Counted says that the declaration From refers Count times to the declaration To.
type Counted struct {
	Link
	Count int // number of references
}

// CountedLinks returns the entries of a map from links to numbers of references.
func CountedLinks(m map[Link]int) []Counted {
	out := make([]Counted, 0, len(m))
	for link, n := range m {
		out = append(out, Counted{link, n})
	}
	return out
}

// Dispatches returns the links from each method to the methods that a call of it may run instead: those that
// implement or override it.
func (g *Graph) Dispatches() []Link {
	callable := map[string]bool{}
	for _, s := range g.Symbols {
		callable[s.Path] = s.Kind.IsCallable()
	}
	var out []Link
	for _, l := range g.Satisfies {
		if callable[l.To] {
			out = append(out, Link{From: l.To, To: l.From})
		}
	}
	slices.SortFunc(out, Link.Compare)
	return out
}

// Sort sorts each list by key, and removes links that occur twice.
func (g *Graph) Sort() {
	slices.SortFunc(g.Modules, func(a, b Module) int { return cmp.Compare(a.Path, b.Path) })
	slices.SortFunc(g.Packages, func(a, b Package) int { return cmp.Compare(a.Path, b.Path) })
	slices.SortFunc(g.Files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	slices.SortFunc(g.Symbols, func(a, b Symbol) int { return cmp.Compare(a.Path, b.Path) })
	slices.SortFunc(g.Requires, func(a, b Requires) int { return a.Link.Compare(b.Link) })
	for _, counted := range []*[]Counted{&g.Calls, &g.Refers} {
		slices.SortFunc(*counted, func(a, b Counted) int { return a.Link.Compare(b.Link) })
	}
	for _, links := range []*[]Link{&g.Provides, &g.Imports, &g.Declares, &g.Holds, &g.Satisfies, &g.MethodOf} {
		slices.SortFunc(*links, Link.Compare)
		*links = slices.Compact(*links)
	}
}
