package gocode

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"

	"github.com/omnigraph-go/omnigraph/internal/source/codegraph"
	"github.com/omnigraph-go/omnigraph/internal/source/revision"
)

// readModules reads the go.mod files of the main modules, and the packages that the main modules
// import from elsewhere. Of the versions of a module that the main modules require, the graph has the highest.
func (r *reader) readModules(ctx context.Context, opts Options, at *place) error {
	for _, path := range slices.Sorted(maps.Keys(r.modules)) {
		m := r.modules[path]
		node := codegraph.Module{Path: m.Path, Main: true, Indexer: "go/types", NotCovered: r.notCovered(m, opts, at)}
		if opts.Revision {
			state, err := revision.Of(ctx, m.Dir, r.files)
			if err != nil {
				return err
			}
			node.Commit, node.Modified = state.Commit, state.Modified
			node.Folder, node.ReadAt = m.Dir, r.began
			switch {
			case state.Unknown == "":
			case state.Commit == "":
				node.NotCovered = append(node.NotCovered, "the commit: "+state.Unknown)
			default:
				node.NotCovered = append(node.NotCovered, state.Unknown)
			}
		}
		r.graph.Modules = append(r.graph.Modules, node)
		text, err := readRegular(m.GoMod, maxModFile)
		if err != nil {
			return err
		}
		file, err := modfile.ParseLax(m.GoMod, text, nil)
		if err != nil {
			return fmt.Errorf("read the module file: %w", err)
		}
		for _, req := range file.Require {
			r.graph.Requires = append(r.graph.Requires, codegraph.Requires{Link: codegraph.Link{From: m.Path, To: req.Mod.Path}, Indirect: req.Indirect})
			known := slices.IndexFunc(r.graph.Modules, func(m codegraph.Module) bool { return m.Path == req.Mod.Path })
			switch {
			case r.modules[req.Mod.Path] != nil:
			case known < 0:
				r.graph.Modules = append(r.graph.Modules, codegraph.Module{Path: req.Mod.Path, Version: req.Mod.Version})
			case semver.Compare(r.graph.Modules[known].Version, req.Mod.Version) < 0:
				r.graph.Modules[known].Version = req.Mod.Version
			}
		}
	}
	for _, p := range r.imported() {
		node := codegraph.Package{Path: p.PkgPath, Name: p.Name, Files: len(p.GoFiles)}
		for _, name := range p.GoFiles {
			text, err := readRegular(name, maxSource)
			if err != nil {
				return err
			}
			node.Lines += countLines(text)
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
