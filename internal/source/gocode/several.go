package gocode

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"

	"github.com/omnigraph-go/omnigraph/internal/source/codegraph"
)

// moduleDir is a module below a folder.
type moduleDir struct{ path, dir string }

// modulesIn lists the modules below the folder that was surveyed, ordered by path. It returns an error if two
// modules have the same path.
func (s *survey) modulesIn() ([]moduleDir, error) {
	var all []moduleDir
	for _, dir := range s.modules {
		name := filepath.Join(dir, "go.mod")
		text, err := s.folder.ReadFile(name, maxModFile)
		if err != nil {
			return nil, err
		}
		module := modfile.ModulePath(text)
		if module == "" {
			return nil, fmt.Errorf("%s names no module; correct the file or remove it", name)
		}
		all = append(all, moduleDir{module, dir})
	}
	slices.SortFunc(all, func(a, b moduleDir) int { return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.dir, b.dir)) })
	for i := range all {
		if i > 0 && all[i].path == all[i-1].path {
			return nil, fmt.Errorf("the module %s is in %s and in %s; a graph can contain only one of them, so move the other one to another folder", all[i].path, all[i-1].dir, all[i].dir)
		}
	}
	return all, nil
}

// readSeveral reads the modules below a folder, each with its own dependencies, into one graph. The
// graph includes the calls from one module to another. It does not say that a type of one module
// implements an interface of another module.
func readSeveral(ctx context.Context, opts Options, at *place, s *survey) (*codegraph.Graph, error) {
	modules, err := s.modulesIn()
	if err != nil {
		return nil, err
	}
	if len(modules) == 0 {
		return nil, fmt.Errorf("there is no go.mod in %s, nor in a folder above or below it; name the folder of a module, or one that holds modules", opts.Dir)
	}
	if opts.Deps {
		return nil, fmt.Errorf("the dependencies of only one module can be read at a time, but %s has %d modules; name the folder of one of them", opts.Dir, len(modules))
	}
	progress := opts.Progress
	var paths []string
	for _, m := range modules {
		paths = append(paths, m.path)
	}
	all := &codegraph.Graph{}
	for i, m := range modules {
		one := opts
		there := &place{dir: m.dir, root: m.dir, patterns: patternsIn(m.dir, at.patterns), work: "off"}
		if len(there.patterns) == 0 {
			continue
		}
		one.Progress = func(stage string, done, total int) {
			progress(fmt.Sprintf("%s (module %d of %d): %s", m.path, i+1, len(modules), stage), done, total)
		}
		g, err := readOne(ctx, one, there, s, paths)
		if errors.Is(err, errNoPackage) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("module %s in %s: %w", m.path, m.dir, err)
		}
		add(all, g)
	}
	if len(all.Packages) == 0 {
		return nil, fmt.Errorf("none of the %d modules below %s has a package that matches the patterns", len(modules), opts.Dir)
	}
	return joined(all), nil
}

// patternsIn leaves out the patterns that begin with a folder, such as ./cmd/..., if the module has
// no such folder: the go command would refuse these patterns. `dir` is the folder of the module.
func patternsIn(dir string, patterns []string) []string {
	return slices.DeleteFunc(slices.Clone(patterns), func(p string) bool {
		if !strings.HasPrefix(p, "./") {
			return false
		}
		folder, _, _ := strings.Cut(p, "...")
		_, err := os.Stat(filepath.Join(dir, filepath.FromSlash(folder)))
		return errors.Is(err, fs.ErrNotExist)
	})
}

// add appends the nodes and edges of another graph.
func add(g, other *codegraph.Graph) {
	g.Modules = append(g.Modules, other.Modules...)
	g.Packages = append(g.Packages, other.Packages...)
	g.Files = append(g.Files, other.Files...)
	g.Symbols = append(g.Symbols, other.Symbols...)
	g.Requires = append(g.Requires, other.Requires...)
	g.Provides = append(g.Provides, other.Provides...)
	g.Imports = append(g.Imports, other.Imports...)
	g.Declares = append(g.Declares, other.Declares...)
	g.Holds = append(g.Holds, other.Holds...)
	g.Calls = append(g.Calls, other.Calls...)
	g.Refers = append(g.Refers, other.Refers...)
	g.Satisfies = append(g.Satisfies, other.Satisfies...)
	g.MethodOf = append(g.MethodOf, other.MethodOf...)
}

// joined sorts the nodes and edges of several modules and keeps one node for each key. Of the
// modules with one path it keeps the one that was read or, if none was, the one with the highest
// version. Of the packages with one path it keeps the one that was read, if there is one. Of the files and the
// declarations with one path it keeps the first, and it counts the others. It removes the references to symbols
// that the graph does not have.
func joined(g *codegraph.Graph) *codegraph.Graph {
	slices.SortStableFunc(g.Modules, func(a, b codegraph.Module) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), boolFirst(a.Main, b.Main), semver.Compare(b.Version, a.Version))
	})
	g.Modules = slices.CompactFunc(g.Modules, func(a, b codegraph.Module) bool { return a.Path == b.Path })
	slices.SortStableFunc(g.Packages, func(a, b codegraph.Package) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), boolFirst(a.Read, b.Read), cmp.Compare(b.Lines, a.Lines))
	})
	g.Packages = slices.CompactFunc(g.Packages, func(a, b codegraph.Package) bool { return a.Path == b.Path })
	slices.SortStableFunc(g.Files, func(a, b codegraph.File) int { return cmp.Compare(a.Path, b.Path) })
	g.Files = slices.CompactFunc(g.Files, func(a, b codegraph.File) bool { return a.Path == b.Path })
	exists := map[string]bool{}
	twice := 0
	slices.SortStableFunc(g.Symbols, func(a, b codegraph.Symbol) int { return boolFirst(!a.External, !b.External) })
	g.Symbols = slices.DeleteFunc(g.Symbols, func(s codegraph.Symbol) bool {
		known := exists[s.Path]
		if exists[s.Path] = true; known && !s.External {
			twice++
		}
		return known
	})
	for _, links := range []*[]codegraph.Link{&g.Declares, &g.Holds} {
		placed := map[string]bool{}
		*links = slices.DeleteFunc(*links, func(l codegraph.Link) bool {
			known := placed[l.To]
			placed[l.To] = true
			return known
		})
	}
	for i, m := range g.Modules {
		if m.Main && twice > 0 {
			g.Modules[i].NotCovered = append(m.NotCovered, fmt.Sprintf("%d declarations of all modules whose path another one has, such as those of one package in two modules", twice))
		}
	}
	for _, counted := range []*[]codegraph.Counted{&g.Calls, &g.Refers} {
		slices.SortStableFunc(*counted, func(a, b codegraph.Counted) int { return a.Link.Compare(b.Link) })
		*counted = slices.CompactFunc(*counted, func(a, b codegraph.Counted) bool { return a.Link == b.Link })
	}
	missing := func(c codegraph.Counted) bool { return !exists[c.To] }
	g.Calls, g.Refers = slices.DeleteFunc(g.Calls, missing), slices.DeleteFunc(g.Refers, missing)
	g.Satisfies = slices.DeleteFunc(g.Satisfies, func(l codegraph.Link) bool { return !exists[l.From] || !exists[l.To] })
	g.Sort()
	return g
}

// boolFirst orders true before false.
func boolFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// inModules reports whether the package at a path belongs to one of the modules at the given paths.
func inModules(modules []string, pkg string) bool {
	return slices.ContainsFunc(modules, func(m string) bool { return pkg == m || strings.HasPrefix(pkg, m+"/") })
}

// symbolPath returns the path of a function or a method in the graph, or "" for a method of an
// unnamed type.
func symbolPath(fn *types.Func) string {
	path := fn.Pkg().Path() + "."
	if recv := fn.Signature().Recv(); recv != nil {
		owner := receiverName(recv.Type())
		if owner == "" {
			return ""
		}
		path += owner + "."
	}
	return path + fn.Name()
}
