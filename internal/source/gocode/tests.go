package gocode

import (
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/omnigraph-go/omnigraph/internal/source/codegraph"
)

// separate returns the packages themselves and the packages with tests: a package with the tests in it, and one with
// the tests outside of it, p_test. It leaves out the programs that the go command makes of tests.
func separate(pkgs []*packages.Package) (plain, tests []*packages.Package) {
	tested := map[string]bool{}
	for _, p := range pkgs {
		if p.ForTest != "" {
			tested[p.ForTest] = true
		}
	}
	for _, p := range pkgs {
		program, isProgram := strings.CutSuffix(p.ID, ".test")
		switch {
		case isProgram && p.Name == "main" && tested[program]:
		case p.ForTest == "":
			plain = append(plain, p)
		case !foreign(p) && (p.PkgPath == p.ForTest || p.PkgPath == p.ForTest+"_test"):
			tests = append(tests, p)
		}
	}
	slices.SortFunc(tests, func(a, b *packages.Package) int { return strings.Compare(a.ID, b.ID) })
	return plain, tests
}

// readTests reads the files with tests of a package, or of the package p_test beside it. In the graph both are in the
// package p.test, so that what the package itself imports and declares stays apart.
func (r *reader) readTests(p *packages.Package) error {
	node := r.tests[p.ForTest]
	if node == nil {
		path := p.ForTest + ".test"
		for r.read[path] { // a package in a folder with such a name
			path += "(2)"
		}
		node = &codegraph.Package{Path: path, Name: strings.TrimSuffix(p.Name, "_test") + ".test", Read: true}
		r.tests[p.ForTest] = node
		r.imports[codegraph.Link{From: path, To: p.ForTest}] = true
		r.graph.Provides = append(r.graph.Provides, codegraph.Link{From: p.Module.Path, To: path})
	}
	g := r.gaps.of(p)
	g.testFaults += len(p.Errors)
	g.countDeclarations(p)
	for i, f := range p.Syntax {
		if !isTest(p.GoFiles[i]) {
			continue
		}
		if err := r.addFile(p, node, p.GoFiles[i]); err != nil {
			return err
		}
		r.readFile(p, f, node.Path)
		r.readImports(p, f, node.Path)
	}
	return nil
}
