// Package gocode reads the source code of a Go module, or of the modules below a folder, as a graph of
// package codegraph.
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

	"github.com/omnigraph-go/omnigraph/internal/source/codegraph"
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

	// Revision also asks Git for the commit of each module that is read.
	Revision bool

	// Progress, if set, is called when stages begin and advance. `total` is 0 if the amount of work
	// is unknown.
	Progress func(stage string, done, total int)
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
func Read(ctx context.Context, opts Options) (*codegraph.Graph, error) {
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
func readOne(ctx context.Context, opts Options, siblings []string) (*codegraph.Graph, error) {
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
	if err := r.readModules(ctx, opts); err != nil {
		return nil, err
	}
	return r.finish(), nil
}
