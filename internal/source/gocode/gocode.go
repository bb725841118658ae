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
	s := NewSession(opts)
	defer s.Close()
	g, _, err := s.Read(ctx, nil)
	return g, err
}

// errNoPackage is the error if no package matches the patterns.
var errNoPackage = errors.New("no package of a Go module matches the patterns; use ./... for all packages")

// readOne reads one module or workspace. If the graph will hold several modules, `siblings` holds
// the paths of all of them. The result may then contain calls of symbols that no sibling declares;
// the function joined removes these calls.
func readOne(ctx context.Context, opts Options, at *place, s *survey, siblings []string) (*codegraph.Graph, error) {
	l, err := load(ctx, opts, at, s)
	if err != nil {
		return nil, err
	}
	if err := l.check(ctx, opts); err != nil {
		return nil, err
	}
	return l.graph(ctx, opts, siblings)
}

// loaded has the packages of a module or workspace.
type loaded struct {
	at      *place
	survey  *survey
	own     []*packages.Package // with symbols to read
	tests   []*packages.Package // the packages with their tests
	all     []*packages.Package // with all that these import, each after those that it imports
	checker *checker
	stale   map[*packages.Package]bool // those that must be type-checked
	ignored map[string]string          // what the go command reads of the files that the build leaves out; see header
}

const checking = "type-checking packages" // the name of a stage

// load lists packages.
func load(ctx context.Context, opts Options, at *place, s *survey) (*loaded, error) {
	opts.Progress(checking, 0, 0)
	pkgs, sizes, err := list(ctx, at, s, opts)
	if err != nil {
		return nil, err
	}
	l := &loaded{at: at, survey: s, stale: map[*packages.Package]bool{}}
	pkgs, l.tests = separate(pkgs)
	l.own = slices.DeleteFunc(slices.Clone(pkgs), foreign)
	l.all = slices.Collect(packages.Postorder(slices.Concat(pkgs, l.tests)))
	l.checker = &checker{survey: s, sizes: sizes, fset: token.NewFileSet(), wanted: map[*packages.Package]bool{}, parsed: map[string]*ast.File{}, read: map[string]content{}, errors: map[*packages.Package]int{}}
	var faults []packages.Error
	for _, p := range pkgs {
		faults = append(faults, p.Errors...)
	}
	if len(faults) > 0 {
		return nil, &LoadError{Problems: faults}
	}
	if len(l.own) == 0 {
		return nil, errNoPackage
	}
	if opts.Deps {
		l.own = slices.DeleteFunc(slices.Clone(l.all), func(p *packages.Package) bool { return p.PkgPath == "unsafe" || p.ForTest != "" })
	}
	for _, p := range slices.Concat(l.own, l.tests) {
		l.checker.wanted[p] = true
	}
	for _, p := range l.all {
		l.stale[p] = true
	}
	l.ignored = ignoredBy(pkgs)
	slices.SortFunc(l.own, func(a, b *packages.Package) int { return cmp.Compare(a.PkgPath, b.PkgPath) })
	return l, nil
}

// check type-checks the stale packages.
func (l *loaded) check(ctx context.Context, opts Options) error {
	stale := slices.DeleteFunc(slices.Clone(l.all), func(p *packages.Package) bool { return !l.stale[p] })
	l.checker.faults = nil
	if err := l.checker.check(ctx, stale, func(done int) { opts.Progress(checking, done, len(stale)) }); err != nil {
		return err
	}
	if len(l.checker.faults) > 0 {
		return &LoadError{Problems: l.checker.faults}
	}
	clear(l.stale)
	return nil
}

// graph returns the graph of the packages.
func (l *loaded) graph(ctx context.Context, opts Options, siblings []string) (*codegraph.Graph, error) {
	r := newReader(l.survey, siblings)
	r.add(l.own, l.tests, l.all)
	r.contents, r.stamped, r.began = l.checker.read, opts.Revision, l.survey.began
	for p, n := range l.checker.errors {
		if p.ForTest != "" {
			r.gaps.of(p).testFaults += n
		} else {
			r.gaps.of(p).faults += n
		}
	}
	for i, p := range l.own {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		opts.Progress("reading symbols", i, len(l.own))
		if err := r.readPackage(p); err != nil {
			return nil, err
		}
	}
	for _, p := range l.tests {
		if err := r.readTests(p); err != nil {
			return nil, err
		}
	}
	all := slices.Concat(l.own, l.tests)
	for i, p := range all {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		opts.Progress("reading references", i, len(all))
		r.readReferences(p)
	}
	opts.Progress("matching interfaces", 0, 0)
	r.readSatisfies()
	if err := r.readModules(ctx, opts, l.at); err != nil {
		return nil, err
	}
	return r.finish(), nil
}
