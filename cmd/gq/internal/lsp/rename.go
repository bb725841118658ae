package lsp

import (
	"path/filepath"
	"regexp"
	"strings"

	"go.lsp.dev/jsonrpc2"

	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
	"github.com/omnigraph-go/omnigraph/internal/gq/xref"
)

// The forms of names.
var (
	lowerName = regexp.MustCompile(`^[a-z_][A-Za-z0-9_]*$`)
	upperName = regexp.MustCompile(`^[A-Z][A-Za-z0-9_]*$`)
)

// implicit lists the names that every node or edge has without a declaration.
var implicit = map[string]bool{"id": true, "from": true, "to": true, "src": true, "dst": true}

// prepareRename says whether the name at a position can be renamed, and which text to show.
func (s *server) prepareRename(p *positionParams) (*prepareRenameResult, error) {
	at, ok := s.place(p)
	if !ok {
		return nil, nil
	}
	if err := renamable(at.name); err != nil {
		return nil, err
	}
	return &prepareRenameResult{rangeOf(at.doc.text, at.name), at.name.Text()}, nil
}

// renamable returns an error if a name cannot be renamed.
func renamable(n *xref.Name) error {
	switch {
	case n == nil:
		return requestFailed("there is no name here; put the cursor on a type, a property, a query, a variable, a parameter or a column")
	case n.Kind == xref.Property && n.Type == "":
		return requestFailed("the type that has %s is not known; correct the errors of the query first", n.Text())
	case n.Kind == xref.Property && implicit[n.Text()]:
		return requestFailed("%s belongs to every node or edge and cannot be renamed", n.Text())
	case n.Kind == xref.Variable && n.Value == "$_":
		return requestFailed("$_ is a variable without a name; give each use a name by hand")
	case !local(n.Kind) && !shared(n.Kind):
		return requestFailed("%s is part of the language and cannot be renamed", n.Text())
	}
	return nil
}

// requestFailed makes the error of a request that cannot be done.
func requestFailed(format string, args ...any) error {
	const code = -32803 // RequestFailed in the protocol
	return jsonrpc2.Errorf(code, format, args...)
}

// rename renames the thing at a position in all sources of the graph, and a stored query also in
// cluster.yaml.
func (s *server) rename(p *renameParams) (*workspaceEdit, error) {
	at, ok := s.place(&p.positionParams)
	if !ok {
		return nil, nil
	}
	if err := renamable(at.name); err != nil {
		return nil, err
	}
	name, err := newName(at.name, p.NewName)
	if err != nil {
		return nil, err
	}
	all := s.occurrences(at.graph, at.doc.path, at.name)
	if err := s.taken(at, name); err != nil {
		return nil, err
	}
	edit := &workspaceEdit{map[string][]textEdit{}}
	for _, o := range all {
		at := s.location(o)
		edit.Changes[at.URI] = append(edit.Changes[at.URI], textEdit{at.Range, spelling(o.name, name)})
	}
	if at.name.Kind == xref.Query {
		s.renameSelected(at.graph, at.name.Text(), name, edit)
	}
	return edit, nil
}

// newName checks a new name and returns it in the form of a declaration: that of a type starts with an
// upper-case letter, that of a variable with $.
func newName(n *xref.Name, name string) (string, error) {
	switch {
	case n.Kind == xref.Type && n.Entity == xref.Edge && lowerName.MatchString(name):
		return strings.ToUpper(name[:1]) + name[1:], nil
	case n.Kind == xref.Type && !upperName.MatchString(name):
		return "", requestFailed("%q is not a name of a type; write an upper-case letter and then letters, digits or _", name)
	case n.Kind == xref.Type:
		return name, nil
	case n.Kind == xref.Variable || n.Kind == xref.Parameter:
		if name = strings.TrimPrefix(name, "$"); !lowerName.MatchString(name) || name == "_" {
			return "", requestFailed("%q is not a name of a variable; write $, a lower-case letter and then letters, digits or _", name)
		}
		return "$" + name, nil
	case !lowerName.MatchString(name):
		return "", requestFailed("%q is not a name; write a lower-case letter and then letters, digits or _", name)
	}
	return name, nil
}

// spelling returns the new name in the form in which it replaces an occurrence of the old name: an
// edge starts with a lower-case letter in a match.
func spelling(n *xref.Name, name string) string {
	if n.Kind == xref.Type && n.Entity == xref.Edge && n.Token.Type == syntax.Name {
		return xref.EdgeName(name)
	}
	return name
}

// taken returns an error if the new name already means something where the old one is used. REQUIRES:
// s.mu.
func (s *server) taken(at place, name string) error {
	n := at.name
	if name == n.Text() {
		return nil
	}
	switch n.Kind {
	case xref.Variable, xref.Parameter, xref.Column:
		for _, other := range at.source.InQuery(n.Pos.Offset) {
			used := other.Kind == n.Kind || n.Kind != xref.Column && (other.Kind == xref.Variable || other.Kind == xref.Parameter)
			if used && other.Text() == name {
				return requestFailed("the query already uses the name %s; choose another one", name)
			}
		}
		return nil
	case xref.Query:
		for _, path := range at.graph.queries {
			src, _ := s.names(at.graph, path)
			for i := range src.Names {
				if o := &src.Names[i]; o.Kind == xref.Query && o.Text() == name {
					return requestFailed("%s already has a query %s; choose another name", at.graph.project.name(path), name)
				}
			}
		}
		return nil
	}
	c := at.graph.catalog
	if c == nil {
		return nil
	}
	if n.Kind == xref.Type {
		clash := c.Node(name) != nil && n.Entity == xref.Node
		if e := c.Edge(name); e != nil && n.Entity == xref.Edge && e.Name != n.Type {
			clash = true
		}
		for _, i := range c.Interfaces {
			clash = clash || i.Name == name && n.Entity == xref.Interface
		}
		if clash {
			return requestFailed("the schema already has the %s %s; choose another name", entityWords[n.Entity], name)
		}
		return nil
	}
	for k := range at.graph.family(n.Key()) {
		if xref.PropertyOf(c, k.Entity, k.Type, name) != nil {
			return requestFailed("%s already has a property %s; choose another name", k.Type, name)
		}
	}
	if implicit[name] {
		return requestFailed("%s is a name that every node or edge has; choose another one", name)
	}
	return nil
}

// renameSelected adds the edit of cluster.yaml if it lists the query by name. REQUIRES: s.mu.
func (s *server) renameSelected(g *graph, old, name string, edit *workspaceEdit) {
	at, ok := g.selectedAt[old]
	if !ok {
		return
	}
	path := filepath.Join(g.project.dir, clusterFile)
	t, err := s.read(path)
	if err != nil || at.End.Offset > len(t.content) || !strings.Contains(t.content[at.Start.Offset:at.End.Offset], old) {
		return // the file changed since it was read; the check after the next pause in typing reports its errors
	}
	from := at.Start.Offset + strings.Index(t.content[at.Start.Offset:at.End.Offset], old)
	uri := uriOf(path)
	if d := s.docs[path]; d != nil {
		uri = d.uri
	}
	edit.Changes[uri] = append(edit.Changes[uri], textEdit{t.rangeOf(from, from+len(old)), name})
}
