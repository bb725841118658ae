package lsp

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
	"github.com/omnigraph-go/omnigraph/internal/gq/xref"
)

// namesEntry holds the names of one text.
type namesEntry struct {
	text   *text
	source *xref.Source
}

// names returns the names in a source of a graph. The next call for the source may change the result.
// REQUIRES: s.mu.
func (s *server) names(g *graph, path string) (*xref.Source, *text) {
	t, err := s.read(path)
	if err != nil {
		t = newText("")
	}
	e := g.names[path]
	switch {
	case e == nil:
		e = &namesEntry{t, xref.Read(g.catalog, path, t.content)}
		g.names[path] = e
	case e.text != t:
		e.source.Update(g.catalog, path, t.content)
		e.text = t
	}
	return e.source, t
}

// place is a position in a document, with the graph of the document and the name there.
type place struct {
	graph  *graph
	doc    *document
	source *xref.Source
	offset int
	name   *xref.Name // nil if there is none
}

// place finds the position of a request. It reports false if the document is not an open source.
// REQUIRES: s.mu.
func (s *server) place(p *positionParams) (place, bool) {
	d := s.document(p.TextDocument.URI)
	g := s.graphOf(d)
	if g == nil {
		return place{}, false
	}
	src, t := s.names(g, d.path)
	at := t.offset(p.Position)
	return place{g, d, src, at, src.At(at)}, true
}

// graphOf returns the first graph of a document, or nil. REQUIRES: s.mu.
func (s *server) graphOf(d *document) *graph {
	if d == nil || !isSource(d.path) {
		return nil
	}
	if graphs := s.projectOf(d.path).of(d.path); len(graphs) > 0 {
		return graphs[0]
	}
	return nil
}

// rangeOf returns the range of a name, without the quotes of a string.
func rangeOf(t *text, n *xref.Name) Range {
	from, to := n.Pos.Offset, n.Pos.Offset+len(n.Value)
	if n.Token.Type == syntax.String {
		from, to = from+1, to-1
	}
	return t.rangeOf(from, to)
}

// family returns all keys of the property that a key identifies. A property that a node type
// inherits is also one of the interfaces that declare it, and of all types that implement one of
// these interfaces. REQUIRES: the server's lock.
func (g *graph) family(k xref.Key) map[xref.Key]bool {
	all := map[xref.Key]bool{k: true}
	if k.Kind != xref.Property || g.catalog == nil {
		return all
	}
	with := func(entity xref.Entity, typ string) xref.Key {
		return xref.Key{Kind: xref.Property, Entity: entity, Type: typ, Name: k.Name}
	}
	for again := true; again; {
		again = false
		for _, n := range g.catalog.Nodes {
			for _, i := range n.Implements {
				node, iface := with(xref.Node, n.Name), with(xref.Interface, i)
				if xref.PropertyOf(g.catalog, xref.Interface, i, k.Name) != nil && all[node] != all[iface] {
					all[node], all[iface], again = true, true, true
				}
			}
		}
	}
	return all
}

// occurrence is a name in one of the sources of a graph.
type occurrence struct {
	path string
	text *text
	name *xref.Name
}

// occurrences returns the names in all sources of a graph that refer to the same thing as a name in the
// source `path`. REQUIRES: s.mu.
func (s *server) occurrences(g *graph, path string, n *xref.Name) []occurrence {
	var out []occurrence
	key := n.Key()
	family := g.family(key)
	files := g.files()
	if local(n.Kind) {
		files = []string{path}
	}
	for _, file := range files {
		src, t := s.names(g, file)
		for i := range src.Names {
			if other := &src.Names[i]; other.Kind == n.Kind && family[other.Key()] {
				out = append(out, occurrence{file, t, other})
			}
		}
	}
	return out
}

// local reports whether names of a kind mean something only within one query.
func local(k xref.Kind) bool { return k == xref.Variable || k == xref.Parameter || k == xref.Column }

// shared reports whether names of a kind mean something in all sources of a graph.
func shared(k xref.Kind) bool { return k == xref.Type || k == xref.Property || k == xref.Query }

// location returns the place of an occurrence.
func (s *server) location(o occurrence) Location {
	uri := uriOf(o.path)
	if d := s.docs[o.path]; d != nil {
		uri = d.uri
	}
	return Location{uri, rangeOf(o.text, o.name)}
}

// definition returns the declarations of the name at a position. A property can have several: in
// interfaces, and in types that repeat it.
func (s *server) definition(p *positionParams) ([]Location, error) {
	locations := []Location{}
	at, ok := s.place(p)
	if !ok || at.name == nil || !local(at.name.Kind) && !shared(at.name.Kind) {
		return locations, nil
	}
	for _, o := range s.occurrences(at.graph, at.doc.path, at.name) {
		if o.name.Decl {
			locations = append(locations, s.location(o))
		}
	}
	return locations, nil
}

// references returns all places that refer to the same thing as the name at a position.
func (s *server) references(p *referenceParams) ([]Location, error) {
	locations := []Location{}
	at, ok := s.place(&p.positionParams)
	if !ok || at.name == nil || !local(at.name.Kind) && !shared(at.name.Kind) {
		return locations, nil
	}
	for _, o := range s.occurrences(at.graph, at.doc.path, at.name) {
		if !o.name.Decl || p.Context.IncludeDeclaration {
			locations = append(locations, s.location(o))
		}
	}
	return locations, nil
}

// documentSymbols returns the queries of a file with their parameters, or the types of a schema with
// their properties.
func (s *server) documentSymbols(p *documentParams) ([]documentSymbol, error) {
	symbols := []documentSymbol{}
	d := s.document(p.TextDocument.URI)
	g := s.graphOf(d)
	if g == nil {
		return symbols, nil
	}
	src, t := s.names(g, d.path)
	for i, n := range src.Names {
		if !n.Decl {
			continue
		}
		symbol := documentSymbol{Name: n.Text(), Kind: symbolKind(&n), SelectionRange: rangeOf(t, &n)}
		switch n.Kind {
		case xref.Type, xref.Query:
			start := n.Pos.Offset
			if i > 0 && src.Names[i-1].Kind == xref.Keyword {
				start = src.Names[i-1].Pos.Offset // the word before the name
			}
			symbol.Range = t.rangeOf(start, declarationEnd(src, n.Pos.Offset))
			symbol.Detail = detailOf(&n)
			symbols = append(symbols, symbol)
		case xref.Property, xref.Parameter:
			if last := len(symbols) - 1; last >= 0 {
				symbol.Range = symbol.SelectionRange
				symbols[last].Children = append(symbols[last].Children, symbol)
			}
		default: // variables and columns are not symbols of a document
		}
	}
	return symbols, nil
}

// declarationEnd returns the end of the declaration whose name is at the offset. The declaration
// ends with the last token before the next declaration.
func declarationEnd(src *xref.Source, offset int) int {
	limit := -1
	for i := range src.Names {
		n := &src.Names[i]
		if n.Pos.Offset > offset && n.Decl && (n.Kind == xref.Query || n.Kind == xref.Type) {
			limit = n.Pos.Offset
			if i > 0 {
				limit = src.Names[i-1].Pos.Offset
			}
			break
		}
	}
	end := offset
	for _, t := range src.Tokens {
		if limit >= 0 && t.Pos.Offset >= limit {
			break
		}
		end = max(end, t.Pos.Offset+len(t.Value))
	}
	return end
}

// symbolKind returns the kind of a symbol.
func symbolKind(n *xref.Name) int {
	switch n.Kind {
	case xref.Query:
		return symbolFunction
	case xref.Property:
		return symbolProperty
	case xref.Type:
		switch n.Entity {
		case xref.Interface:
			return symbolInterface
		case xref.Edge:
			return symbolStruct
		}
		return symbolClass
	}
	return symbolVariable
}

// detailOf returns the word for the kind of a declaration.
func detailOf(n *xref.Name) string {
	if n.Kind == xref.Query {
		return "query"
	}
	return entityWords[n.Entity]
}

// entityWords maps the kinds of types to the words that declare them.
var entityWords = map[xref.Entity]string{xref.Node: "node", xref.Edge: "edge", xref.Interface: "interface"}

// workspaceSymbols returns the types, properties and queries of all graphs whose names contain the
// letters of the query in their order.
func (s *server) workspaceSymbols(p *workspaceSymbolParams) ([]workspaceSymbol, error) {
	const most = 500
	symbols := []workspaceSymbol{}
	seen := map[Location]bool{}
	for _, project := range s.sortedProjects() {
		for _, g := range project.graphs {
			for _, path := range g.files() {
				src, t := s.names(g, path)
				container := ""
				for i := range src.Names {
					n := &src.Names[i]
					if !n.Decl || !shared(n.Kind) {
						continue
					}
					of := g.id
					if n.Kind == xref.Property {
						of = container
					} else {
						container = n.Text()
					}
					at := s.location(occurrence{path, t, n})
					if len(symbols) == most || seen[at] || !containsLetters(n.Text(), p.Query) {
						continue
					}
					seen[at] = true
					symbols = append(symbols, workspaceSymbol{n.Text(), symbolKind(n), at, of})
				}
			}
		}
	}
	return symbols, nil
}

// sortedProjects returns the projects in the order of their folders.
func (s *server) sortedProjects() []*project {
	var all []*project
	for _, p := range s.projects {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b *project) int { return strings.Compare(a.dir, b.dir) })
	return all
}

// containsLetters reports whether a name contains the letters in their order, ignoring case.
func containsLetters(name, letters string) bool {
	name = strings.ToLower(name)
	for _, r := range strings.ToLower(letters) {
		i := strings.IndexRune(name, r)
		if i < 0 {
			return false
		}
		name = name[i+len(string(r)):]
	}
	return true
}
