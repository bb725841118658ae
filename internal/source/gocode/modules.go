package gocode

import (
	"fmt"
	"os"
	"slices"

	"golang.org/x/mod/modfile"
)

// readModules reads the go.mod files of the main modules, and the packages that the main modules
// import from elsewhere.
func (r *reader) readModules() error {
	for _, m := range r.modules {
		r.graph.Modules = append(r.graph.Modules, Module{Path: m.Path, Main: true})
		text, err := os.ReadFile(m.GoMod)
		if err != nil {
			return err
		}
		file, err := modfile.ParseLax(m.GoMod, text, nil)
		if err != nil {
			return fmt.Errorf("read the module file: %w", err)
		}
		for _, req := range file.Require {
			r.graph.Requires = append(r.graph.Requires, Requires{Link{m.Path, req.Mod.Path}, req.Indirect})
			if _, ok := r.modules[req.Mod.Path]; !ok && !r.hasModule(req.Mod.Path) {
				r.graph.Modules = append(r.graph.Modules, Module{Path: req.Mod.Path, Version: req.Mod.Version})
			}
		}
	}
	for _, p := range r.imported() {
		node := Package{Path: p.PkgPath, Name: p.Name, Files: len(p.GoFiles)}
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
			r.graph.Provides = append(r.graph.Provides, Link{p.Module.Path, p.PkgPath})
		}
	}
	return nil
}

// hasModule reports whether the graph has the module with a path.
func (r *reader) hasModule(path string) bool {
	return slices.ContainsFunc(r.graph.Modules, func(m Module) bool { return m.Path == path })
}
