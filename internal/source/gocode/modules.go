package gocode

import (
	"context"
	"fmt"
	"os"
	"slices"

	"golang.org/x/mod/modfile"

	"github.com/omnigraph-go/omnigraph/internal/source/codegraph"
	"github.com/omnigraph-go/omnigraph/internal/source/revision"
)

// notCovered lists what the graph of every Go module leaves out.
var notCovered = []string{
	"tests",
	"files that the build leaves out, such as those for other platforms",
	"fields of structs, and what functions declare inside their bodies",
	"calls through variables, reflection and linkname",
	"which generic types implement interfaces",
}

// readModules reads the go.mod files of the main modules, and the packages that the main modules
// import from elsewhere.
func (r *reader) readModules(ctx context.Context, opts Options) error {
	for _, m := range r.modules {
		node := codegraph.Module{Path: m.Path, Main: true, Indexer: "go/types", NotCovered: notCovered}
		if !opts.Deps {
			node.NotCovered = append(slices.Clip(notCovered), "what dependencies declare")
		}
		if r.siblings != nil {
			node.NotCovered = append(slices.Clip(node.NotCovered), "which types implement interfaces of other modules")
		}
		if opts.Revision {
			if commit, modified := revision.Of(ctx, m.Dir); commit != "" {
				node.Commit, node.Modified = commit, &modified
			}
		}
		r.graph.Modules = append(r.graph.Modules, node)
		text, err := os.ReadFile(m.GoMod)
		if err != nil {
			return err
		}
		file, err := modfile.ParseLax(m.GoMod, text, nil)
		if err != nil {
			return fmt.Errorf("read the module file: %w", err)
		}
		for _, req := range file.Require {
			r.graph.Requires = append(r.graph.Requires, codegraph.Requires{Link: codegraph.Link{From: m.Path, To: req.Mod.Path}, Indirect: req.Indirect})
			if _, ok := r.modules[req.Mod.Path]; !ok && !r.hasModule(req.Mod.Path) {
				r.graph.Modules = append(r.graph.Modules, codegraph.Module{Path: req.Mod.Path, Version: req.Mod.Version})
			}
		}
	}
	for _, p := range r.imported() {
		node := codegraph.Package{Path: p.PkgPath, Name: p.Name, Files: len(p.GoFiles)}
		for _, name := range p.GoFiles {
			lines, err := countLines(name)
			if err != nil {
				return err
			}
			node.Lines += lines
		}
		r.graph.Packages = append(r.graph.Packages, node)
	}
	for _, p := range r.packages {
		if p.Module != nil && foreign(p) && r.hasModule(p.Module.Path) {
			r.graph.Provides = append(r.graph.Provides, codegraph.Link{From: p.Module.Path, To: p.PkgPath})
		}
	}
	return nil
}

// hasModule reports whether the graph has the module with a path.
func (r *reader) hasModule(path string) bool {
	return slices.ContainsFunc(r.graph.Modules, func(m codegraph.Module) bool { return m.Path == path })
}
