// Package naming says what the names of a text mean in a schema: types, properties, ends of edges, and relations between nodes.
package naming

import (
	"slices"
	"strings"
	"unicode"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Vocabulary says what the names of a text mean in a schema.
type Vocabulary struct {
	Schema *catalog.Schema
	types  map[string]string        // by plain name: the node types and interfaces; nil before the first use
	edges  map[string]*catalog.Edge // by plain name
}

// Plain drops the case and the underscores of a name, so that MEMBER_OF, memberOf and member_of are
// equal.
func Plain(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// Lower changes the first letter of a name to lower case.
func Lower(name string) string {
	if name == "" {
		return ""
	}
	return string(unicode.ToLower(rune(name[0]))) + name[1:]
}

// NodeType returns the name of the node type or the interface that a label means, or "".
func (r *Vocabulary) NodeType(label string) string {
	if r.types == nil {
		r.types = map[string]string{}
		for _, i := range r.Schema.Interfaces {
			r.types[Plain(i.Name)] = i.Name
		}
		for _, n := range r.Schema.Nodes {
			r.types[Plain(n.Name)] = n.Name
		}
	}
	return r.types[Plain(label)]
}

// PluralType is nodeType for a name such as persons or allPersons.
func (r *Vocabulary) PluralType(name string) string {
	name = Plain(name)
	for _, prefix := range []string{"", "all", "get", "list", "find", "query", "fetch", "search", "findmany", "findunique", "findfirst", "findall"} {
		rest, ok := strings.CutPrefix(name, prefix)
		if !ok {
			continue
		}
		if t := r.TableNode(rest); t != "" {
			return t
		}
	}
	return ""
}

// TableNode is nodeType for the name of a table, which may be a plural.
func (r *Vocabulary) TableNode(name string) string {
	for _, single := range singulars(Plain(name)) {
		if t := r.NodeType(single); t != "" {
			return t
		}
	}
	return ""
}

// plurals maps the ends of plurals to those of singulars, in the order in which singulars tries them.
var plurals = []struct{ many, one string }{{"", ""}, {"s", ""}, {"es", ""}, {"ies", "y"}, {"ves", "f"}, {"ves", "fe"}, {"ses", "sis"}, {"ices", "ex"}, {"ices", "ix"},
	{"people", "person"}, {"children", "child"}, {"men", "man"}, {"mice", "mouse"}, {"geese", "goose"}, {"feet", "foot"}, {"teeth", "tooth"},
	{"criteria", "criterion"}, {"phenomena", "phenomenon"}, {"data", "datum"}, {"media", "medium"}, {"zes", ""}}

// singulars returns the words of which a word in lower case may be the plural, and first the word itself.
func singulars(word string) (out []string) {
	for _, p := range plurals {
		if stem, ok := strings.CutSuffix(word, p.many); ok {
			out = append(out, stem+p.one)
		}
	}
	return out
}

// EdgeType returns the edge type that a label means, or nil.
func (r *Vocabulary) EdgeType(label string) *catalog.Edge {
	if r.edges == nil {
		r.edges = map[string]*catalog.Edge{}
		for _, e := range r.Schema.Edges {
			r.edges[Plain(e.Name)] = e
		}
	}
	return r.edges[Plain(label)]
}

// Property returns the property that a name means in a type, or nil.
func (r *Vocabulary) Property(typ, name string) *catalog.Property {
	var list []*catalog.Property
	if n := r.Schema.Node(typ); n != nil {
		list = n.Properties
	} else if i := r.Schema.Interface(typ); i != nil {
		list = i.Common()
	} else if e := r.Schema.Edge(typ); e != nil {
		list = e.Properties
	}
	for _, p := range list {
		if Plain(p.Name) == Plain(name) {
			return p
		}
	}
	return nil
}

// PropertyName returns the name of a property as the type declares it, or the name as it is.
func (r *Vocabulary) PropertyName(typ, name string) string {
	if p := r.Property(typ, name); p != nil {
		return p.Name
	}
	if e := r.Schema.Edge(typ); e != nil {
		switch end := r.EndNamed(e, name); end {
		case "from", "to":
			return end
		}
	}
	return name
}

// EndOf returns from or to for a column of a table of edges that refers to an end, and "" for others.
func EndOf(column string) string {
	switch Plain(column) {
	case "src", "srcid", "source", "sourceid", "from", "fromid", "startid":
		return "from"
	case "dst", "dstid", "target", "targetid", "to", "toid", "endid", "dest", "destination":
		return "to"
	}
	return ""
}

// EndNamed returns from or to for a column of a table of edges that refers to an end: one of endOf, or one
// with the name of the type at that end, such as author, author_id or author_orcid.
func (r *Vocabulary) EndNamed(e *catalog.Edge, column string) string {
	if end := EndOf(column); end != "" || e.From == e.To || r.Property(e.Name, column) != nil {
		return end
	}
	for _, to := range []bool{false, true} {
		typ := e.EndName(to)
		rest, ok := strings.CutPrefix(Plain(column), Plain(typ))
		if ok && (rest == "" || rest == "id" || rest == Plain(r.Key(typ))) {
			return map[bool]string{false: "from", true: "to"}[to]
		}
	}
	return ""
}

// Key returns the property that finds a node of a type: its only key, or its id.
func (r *Vocabulary) Key(typ string) string {
	if n := r.Schema.Node(typ); n != nil && len(n.Key) == 1 {
		return n.Key[0]
	}
	return "id"
}

// ByKey returns the key of a type if a name means it.
func ByKey(n *catalog.Node, name string) bool { return slices.Contains(n.Key, name) || name == "id" }

// Names reports whether a column refers to the nodes of a type: its key or its id.
func (r *Vocabulary) Names(typ, column string) bool {
	return Plain(column) == Plain(r.Key(typ)) || Plain(column) == "id"
}

// KeyedType returns the node type of a field such as work_by_pk, findFirstWork or incidentByNumber, or "".
func (r *Vocabulary) KeyedType(name string) string {
	name = Plain(name)
	for _, suffix := range []string{"bypk", "byid", "collection", "list"} {
		if base, ok := strings.CutSuffix(name, suffix); ok {
			if typ := r.PluralType(base); typ != "" {
				return typ
			}
		}
	}
	return r.typeByKey(name)
}

// typeByKey returns the node type of a name such as serviceBySlug, or "".
func (r *Vocabulary) typeByKey(name string) string {
	for i := strings.LastIndex(name, "by"); i > 0; i = strings.LastIndex(name[:i], "by") {
		if n := r.Schema.Node(r.PluralType(name[:i])); n != nil && r.Property(n.Name, name[i+2:]) != nil {
			return n.Name
		}
	}
	return ""
}

// PropertyOrEnd is property for a name that may be an end of an edge: an end at a node type is a text.
func (r *Vocabulary) PropertyOrEnd(typ, name string) *catalog.Property {
	p := r.Property(typ, name)
	if e := r.Schema.Edge(typ); p == nil && e != nil && (name == "from" || name == "to") && r.Schema.Node(e.EndName(name == "to")) != nil {
		return &catalog.Property{Name: name, Type: value.Type{Kind: value.String}}
	}
	return p
}

// OnePerPair reports whether an edge type allows one edge between two nodes.
func OnePerPair(e *catalog.Edge) bool {
	return slices.ContainsFunc(e.Unique, func(names []string) bool {
		return len(names) == 2 && slices.Contains(names, "src") && slices.Contains(names, "dst")
	})
}

// Identifies reports whether a property is part of the key, or a name is an end of an edge.
func (r *Vocabulary) Identifies(typ, name string) bool {
	if n := r.Schema.Node(typ); n != nil {
		return slices.Contains(n.Key, name)
	}
	return name == "from" || name == "to"
}

// UpsertSign returns a property that is null before an upsert exactly if the upsert inserts, or "".
func (r *Vocabulary) UpsertSign(typ string) string {
	if n := r.Schema.Node(typ); n != nil && len(n.Key) > 0 {
		return n.Key[0]
	}
	if e := r.Schema.Edge(typ); e != nil {
		for _, p := range e.Properties {
			if !p.Type.Nullable {
				return p.Name
			}
		}
	}
	return ""
}

// Parallel reports whether two edges of a type may have the same ends.
func Parallel(e *catalog.Edge) bool {
	if e.Card != nil && e.Card.Max == 1 {
		return false
	}
	return !slices.ContainsFunc(e.Unique, func(set []string) bool {
		return !slices.ContainsFunc(set, func(p string) bool { return p != "src" && p != "dst" })
	})
}

// AtEnd reports whether a node of the type, which may be an interface, can stand at an end of an edge.
func (r *Vocabulary) AtEnd(e *catalog.Edge, to bool, typ string) bool {
	return r.Schema.AtEnd(e, to, typ, r.Schema.Node(typ) == nil && r.Schema.Interface(typ) != nil)
}

// Inserts returns the statement for an insert of another language, which fails if there is a node with the same key.
func (r *Vocabulary) Inserts(typ string) string {
	if n := r.Schema.Node(typ); n != nil && len(n.Key) > 0 {
		return "insert new"
	}
	return "insert"
}
