// Package gocode reads the source code of a Go module, or of the modules below a folder, as a graph
// of modules, packages, files, symbols and the references between them. The schema in queries/code
// describes the graph.
package gocode

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// Options say which packages to read and how.
type Options struct {
	// Dir is the directory for resolving the patterns; empty means the current directory. If it is
	// outside of every module and workspace, Read reads all modules below it, and resolves the
	// patterns in the folder of each.
	Dir      string
	Patterns []string // package patterns in the syntax of the go command; empty means ./...
	Env      []string // environment of the go command; nil for that of this process

	// Deps also reads all direct and indirect dependencies of the packages, including the standard
	// library. It type-checks all of them from source, which takes about a hundred times as much
	// memory as the text of the graph.
	Deps bool

	// Progress, if set, is called when stages begin and advance. `total` is 0 if the amount of work
	// is unknown.
	Progress func(stage string, done, total int)
}

// Graph is one or more Go modules as nodes and edges. Each list is sorted by key.
type Graph struct {
	Modules  []Module  // the modules that were read, and those that they require
	Packages []Package // see Package
	Files    []File    // the Go files
	Symbols  []Symbol  // the declarations

	Requires  []Requires // module -> module
	Provides  []Link     // module -> package
	Imports   []Link     // package -> package
	Declares  []Link     // file -> symbol
	Holds     []Link     // package -> symbol
	Calls     []Calls    // symbol -> symbol
	Satisfies []Link     // type -> interface
}

// Module is a module that was read, or a module that is required by one that was read.
type Module struct {
	Path    string // module path
	Version string // empty for the main module
	Main    bool   // the module was read; otherwise another module requires it
}

// Package is a package that was read, or a package that is imported directly by one that was read.
// The graph has the symbols of the packages that were read; with Options.Deps, the imported
// packages were read too.
type Package struct {
	Path  string // import path
	Name  string // the name in the package clause
	Doc   string // text of the package comment
	Files int    // number of Go files for this platform, without tests
	Lines int    // number of lines in those files

	read bool // whether the symbols of the package were read
}

// File is a source file that was read.
type File struct {
	// Path is relative to the module's root and uses slashes. If several modules were read, it
	// begins with the path of the module. For a file of a dependency it is the package path and the
	// file's name; for the standard library, "std/" stands before these.
	Path  string
	Lines int // number of lines
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

// Symbol is a package-level declaration, a method, or a method of an interface.
type Symbol struct {
	Path      string // importpath.Name or importpath.Type.Name
	Name      string // without the type of a method
	Kind      Kind   // such as func
	Exported  bool   // other packages can use it
	Signature string // type of the symbol, as Go writes it
	Doc       string // text of the comment
	Line      int    // line in its file, from 1
	Words     string // words of the names, separated by spaces, for full-text search
}

// Link joins two nodes by their keys.
type Link struct{ From, To string }

// Requires says that one module requires another.
type Requires struct {
	Link
	Indirect bool // go.mod marks it as indirect
}

// Calls says that the declaration From refers Count times to the function or method To.
type Calls struct {
	Link
	Count int // number of references
}

// LoadError lists the reasons why packages could not be read.
type LoadError struct{ Problems []packages.Error }

func (e *LoadError) Error() string {
	const most = 10
	var b strings.Builder
	fmt.Fprintf(&b, "cannot load the packages because they have %d problems; run go vet and fix them first", len(e.Problems))
	for i, p := range e.Problems {
		if i == most {
			fmt.Fprintf(&b, "\n… and %d more", len(e.Problems)-most)
			break
		}
		fmt.Fprintf(&b, "\n%s", p.Error())
	}
	return b.String()
}

// mode lists what the packages library must load.
const mode = packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
	packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedModule

// Read type-checks the packages that match the patterns and returns their graph. It runs the go
// command. The error is a *LoadError if packages do not compile.
func Read(ctx context.Context, opts Options) (*Graph, error) {
	if opts.Progress == nil {
		opts.Progress = func(string, int, int) {}
	}
	if len(opts.Patterns) == 0 {
		opts.Patterns = []string{"./..."}
	}
	if opts.Dir != "" {
		if info, err := os.Stat(opts.Dir); err != nil {
			return nil, err
		} else if !info.IsDir() {
			return nil, fmt.Errorf("%s is not a folder; name the folder that holds go.mod", opts.Dir)
		}
	}
	dir := cmp.Or(opts.Dir, ".")
	inside, err := insideModule(dir)
	if err != nil {
		return nil, err
	}
	if !inside {
		modules, err := modulesBelow(dir)
		if err != nil {
			return nil, err
		}
		if len(modules) == 0 {
			return nil, fmt.Errorf("there is no go.mod in %s, nor in a folder above or below it; name the folder of a module, or one that holds modules", dir)
		}
		opts.Dir = dir
		return readSeveral(ctx, opts, modules)
	}
	return readOne(ctx, opts, nil)
}

// errNoPackage is the error if no package matches the patterns.
var errNoPackage = errors.New("no package of a Go module matches the patterns; use ./... for all packages")

// readOne reads one module or workspace. If the graph will hold several modules, `siblings` holds
// the paths of all of them. The result may then contain calls of symbols that no sibling declares;
// the function joined removes these calls.
func readOne(ctx context.Context, opts Options, siblings []string) (*Graph, error) {
	opts.Progress("type-checking packages", 0, 0)
	cfg := &packages.Config{Context: ctx, Mode: mode, Dir: opts.Dir, Env: opts.Env}
	if opts.Deps {
		cfg.Mode |= packages.NeedDeps
	}
	pkgs, err := packages.Load(cfg, opts.Patterns...)
	if err != nil {
		return nil, fmt.Errorf("reading packages: %w", err)
	}
	own := slices.DeleteFunc(slices.Clone(pkgs), foreign)
	if opts.Deps {
		pkgs = slices.Collect(packages.Postorder(pkgs))
	}
	var faults LoadError
	for _, p := range pkgs {
		faults.Problems = append(faults.Problems, p.Errors...)
	}
	if len(faults.Problems) > 0 {
		return nil, &faults
	}
	if len(own) == 0 {
		return nil, errNoPackage
	}
	if !opts.Deps {
		pkgs = own
	}
	slices.SortFunc(pkgs, func(a, b *packages.Package) int { return cmp.Compare(a.PkgPath, b.PkgPath) })

	r := newReader(pkgs, siblings)
	for i, p := range pkgs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		opts.Progress("reading symbols", i, len(pkgs))
		if err := r.readPackage(p); err != nil {
			return nil, err
		}
	}
	for i, p := range pkgs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		opts.Progress("reading references", i, len(pkgs))
		r.readReferences(p)
	}
	opts.Progress("matching interfaces", 0, 0)
	r.readSatisfies()
	if err := r.readModules(); err != nil {
		return nil, err
	}
	return r.finish(), nil
}
