// Package gocode reads the source code of a Go module, or of the modules below a folder, as a graph of
// package codegraph.
package gocode

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
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
	Dir string

	// Patterns are package patterns in the syntax of the go command. Without them, or if the only one is ./...,
	// Read reads all packages of the module or, in a folder with a go.work, of the modules that it
	// names, as far as they are below the folder.
	Patterns []string

	Env []string // environment of the go command; nil for that of this process

	// Deps also reads all direct and indirect dependencies of the packages, including the standard
	// library. It type-checks all of them from source, which takes about a hundred times as much
	// memory as the text of the graph.
	Deps bool

	// Revision also records the commit and the folder of each module that is read, and the stamps of its files.
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
	fmt.Fprintf(&b, "cannot load the packages because they have %d problems; run go mod download and go vet in their module, and fix them first", len(e.Problems))
	for i, p := range e.Problems {
		if i == most {
			fmt.Fprintf(&b, "\n… and %d more", len(e.Problems)-most)
			break
		}
		fmt.Fprintf(&b, "\n%s", p.Error())
	}
	return b.String()
}

// Read type-checks the packages that match the patterns and returns their graph. It runs the go
// command, which only lists the packages, and nothing of the tree that it reads. Of main modules it reads
// regular files below the folder of the module or workspace. The error is a *LoadError if packages do not compile.
func Read(ctx context.Context, opts Options) (*codegraph.Graph, error) {
	if opts.Progress == nil {
		opts.Progress = func(string, int, int) {}
	}
	opts.Dir = cmp.Or(opts.Dir, ".")
	if info, err := os.Stat(opts.Dir); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, fmt.Errorf("%s is not a folder; name the folder that holds go.mod", opts.Dir)
	}
	p, err := placeOf(opts)
	if err != nil {
		return nil, err
	}
	s, err := surveyed(ctx, p.root)
	if err != nil {
		return nil, err
	}
	defer s.folder.Close()
	if p.several {
		return readSeveral(ctx, opts, p, s)
	}
	return readOne(ctx, opts, p, s, nil)
}

// errNoPackage is the error if no package matches the patterns.
var errNoPackage = errors.New("no package of a Go module matches the patterns; use ./... for all packages")

// readOne reads one module or workspace. If the graph will hold several modules, `siblings` holds
// the paths of all of them. The result may then contain calls of symbols that no sibling declares;
// the function joined removes these calls.
func readOne(ctx context.Context, opts Options, at *place, s *survey, siblings []string) (*codegraph.Graph, error) {
	const checking = "type-checking packages"
	opts.Progress(checking, 0, 0)
	pkgs, sizes, err := list(ctx, at, s, opts)
	if err != nil {
		return nil, err
	}
	pkgs, tests := separate(pkgs)
	own := slices.DeleteFunc(slices.Clone(pkgs), foreign)
	all := slices.Collect(packages.Postorder(slices.Concat(pkgs, tests)))
	r := newReader(s, siblings)
	c := checker{survey: s, sizes: sizes, fset: token.NewFileSet(), wanted: map[*packages.Package]bool{}, gaps: &r.gaps, parsed: map[string]*ast.File{}, read: map[string]content{}}
	for _, p := range pkgs {
		c.faults = append(c.faults, p.Errors...)
	}
	if len(c.faults) == 0 && len(own) == 0 {
		return nil, errNoPackage
	}
	if opts.Deps {
		own = slices.DeleteFunc(slices.Clone(all), func(p *packages.Package) bool { return p.PkgPath == "unsafe" || p.ForTest != "" })
	}
	for _, p := range slices.Concat(own, tests) {
		c.wanted[p] = true
	}
	if len(c.faults) == 0 {
		if err := c.check(ctx, all, func(done int) { opts.Progress(checking, done, len(all)) }); err != nil {
			return nil, err
		}
	}
	if len(c.faults) > 0 {
		return nil, &LoadError{Problems: c.faults}
	}
	slices.SortFunc(own, func(a, b *packages.Package) int { return cmp.Compare(a.PkgPath, b.PkgPath) })

	r.add(own, tests, all)
	r.contents, r.stamped, r.began = c.read, opts.Revision, s.began
	for i, p := range own {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		opts.Progress("reading symbols", i, len(own))
		if err := r.readPackage(p); err != nil {
			return nil, err
		}
	}
	for _, p := range tests {
		if err := r.readTests(p); err != nil {
			return nil, err
		}
	}
	own = append(own, tests...)
	for i, p := range own {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		opts.Progress("reading references", i, len(own))
		r.readReferences(p)
	}
	opts.Progress("matching interfaces", 0, 0)
	r.readSatisfies()
	if err := r.readModules(ctx, opts, at); err != nil {
		return nil, err
	}
	return r.finish(), nil
}
