package scip

import (
	"fmt"
	"maps"
	"slices"

	"github.com/omnigraph-go/omnigraph/internal/source/codegraph"
)

// gaps counts what the graph does not have.
type gaps struct {
	lines    int   // files with an unknown number of lines
	fields   int   // fields, properties and variables of functions
	outside  int   // references to functions that no declaration contains
	external int   // references to functions of other code
	types    int   // references of functions to types
	supers   int   // implementations of symbols of other code
	names    int   // symbols whose name is not valid
	first    error // about the first of these

	documents map[string]bool // paths of documents that are not below the root
}

// outsideRoot counts a document that is not below the root of the project.
func (g *gaps) outsideRoot(path string) {
	if g.documents == nil {
		g.documents = map[string]bool{}
	}
	g.documents[path] = true
}

// invalid counts a symbol whose name is not valid.
func (g *gaps) invalid(err error) {
	g.names++
	if g.first == nil {
		g.first = err
	}
}

// graph returns the collected nodes and edges.
func (r *reader) graph() *codegraph.Graph {
	g := &codegraph.Graph{}
	main := map[string]bool{}
	for _, f := range r.fileNodes {
		g.Files = append(g.Files, f.node)
		if f.pkg >= 0 {
			node := &r.packageNodes[f.pkg].node
			node.Files, node.Lines = node.Files+1, node.Lines+f.node.Lines
		}
	}
	for _, p := range r.packageNodes {
		main[p.module] = main[p.module] || p.node.Read
	}
	for _, p := range r.packageNodes {
		if p.ghost(main) {
			continue
		}
		g.Packages = append(g.Packages, p.node)
		g.Provides = append(g.Provides, codegraph.Link{From: p.module, To: p.node.Path})
	}
	types := map[string]bool{}
	for _, s := range r.list {
		types[s.node.Path] = s.node.Kind == codegraph.Type || s.node.Kind == codegraph.Interface
	}
	for _, s := range r.list {
		if s.node.Kind == codegraph.Method && types[s.name.within] {
			g.MethodOf = append(g.MethodOf, codegraph.Link{From: s.node.Path, To: s.name.within})
		}
		g.Symbols = append(g.Symbols, s.node)
		g.Declares = append(g.Declares, codegraph.Link{From: r.fileNodes[s.file].node.Path, To: s.node.Path})
		g.Holds = append(g.Holds, codegraph.Link{From: r.packageNodes[s.pkg].node.Path, To: s.node.Path})
		for _, inIndex := range s.satisfies {
			if i, ok := r.symbols[inIndex]; ok && r.list[i] != s {
				g.Satisfies = append(g.Satisfies, codegraph.Link{From: s.node.Path, To: r.list[i].node.Path})
			} else if !ok {
				r.gaps.supers++
			}
		}
	}
	requires := map[codegraph.Link]bool{}
	for link := range r.imports {
		from, to := r.packageNodes[link[0]], r.packageNodes[link[1]]
		if to.ghost(main) {
			continue
		}
		g.Imports = append(g.Imports, codegraph.Link{From: from.node.Path, To: to.node.Path})
		if from.module != to.module {
			requires[codegraph.Link{From: from.module, To: to.module}] = true
		}
	}
	for link := range requires {
		g.Requires = append(g.Requires, codegraph.Requires{Link: link})
	}
	for link, n := range r.calls {
		g.Calls = append(g.Calls, r.counted(link, n))
	}
	for link, n := range r.refers {
		g.Refers = append(g.Refers, r.counted(link, n))
	}
	notCovered := r.notCovered()
	for path, version := range r.modules {
		m := codegraph.Module{Path: path, Version: version, Main: main[path]}
		if m.Main {
			m.Indexer, m.Commit, m.NotCovered = r.tool, r.opts.Commit, notCovered
		}
		g.Modules = append(g.Modules, m)
	}
	g.Sort()
	return g
}

// ghost reports whether a package is said to be in a module that was read, but was not read itself. For a
// relative import, scip-python writes names of such packages. The argument tells which modules were read.
func (p *pkg) ghost(main map[string]bool) bool { return main[p.module] && !p.node.Read }

// counted returns an edge between two symbols in list.
func (r *reader) counted(link [2]int, n int) codegraph.Counted {
	return codegraph.Counted{Link: codegraph.Link{From: r.list[link[0]].node.Path, To: r.list[link[1]].node.Path}, Count: n}
}

// notCovered lists what the graph does not say about the code of the index.
func (r *reader) notCovered() []string {
	callables, rangeless := 0, 0
	for _, s := range r.list {
		if s.node.Kind.IsCallable() {
			callables++
			if !s.ranged {
				rangeless++
			}
		}
	}
	var out []string
	add := func(n int, format string, args ...any) {
		if n > 0 {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	switch rangeless {
	case 0:
	case callables:
		add(1, "what functions call: %s does not write where any of the %d functions and methods ends", r.tool, callables)
	default:
		add(1, "what %d of %d functions and methods call: the index does not say where they end, or they have no body", rangeless, callables)
	}
	add(r.gaps.outside, "%d references to functions that are in no declaration, such as those at the top level of a file", r.gaps.outside)
	add(r.gaps.external, "%d references to functions that the index does not declare, such as those of other modules", r.gaps.external)
	add(r.gaps.supers, "%d supertypes and overridden methods that the index does not declare", r.gaps.supers)
	add(r.gaps.types, "%d references to types, among which the index does not mark calls of constructors", r.gaps.types)
	if n := len(r.gaps.documents); n > 0 {
		add(n, "%d documents outside of the project's root, such as %s", n, shorten(slices.Min(slices.Collect(maps.Keys(r.gaps.documents)))))
	}
	add(r.gaps.fields, "%d fields, properties and variables of functions", r.gaps.fields)
	out = append(out, "which files have tests")
	out = append(out, "visibility that neither the name of a symbol nor its declaration shows")
	add(r.gaps.lines, "lines of %d files after the last one that the index mentions", r.gaps.lines)
	if r.gaps.names > 0 {
		add(r.gaps.names, "%d occurrences of symbols whose name is not valid: %v", r.gaps.names, r.gaps.first)
	}
	if r.opts.Commit == "" {
		out = append(out, "the commit, which the index does not have")
	}
	return out
}
