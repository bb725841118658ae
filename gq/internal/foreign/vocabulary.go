package foreign

import (
	"slices"
	"strings"
	"unicode"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// vocabulary says what the names of a text mean in a schema.
type vocabulary struct {
	schema *catalog.Schema
	types  map[string]string        // by plain name: the node types and interfaces; nil before the first use
	edges  map[string]*catalog.Edge // by plain name
}

// plain drops the case and the underscores of a name, so that MEMBER_OF, memberOf and member_of are
// equal.
func plain(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// lower changes the first letter of a name to lower case.
func lower(name string) string {
	if name == "" {
		return ""
	}
	return string(unicode.ToLower(rune(name[0]))) + name[1:]
}

// nodeType returns the name of the node type or the interface that a label means, or "".
func (r *vocabulary) nodeType(label string) string {
	if r.types == nil {
		r.types = map[string]string{}
		for _, i := range r.schema.Interfaces {
			r.types[plain(i.Name)] = i.Name
		}
		for _, n := range r.schema.Nodes {
			r.types[plain(n.Name)] = n.Name
		}
	}
	return r.types[plain(label)]
}

// pluralType is nodeType for a name such as persons or allPersons.
func (r *vocabulary) pluralType(name string) string {
	name = plain(name)
	for _, prefix := range []string{"", "all", "get", "list", "find", "query", "fetch", "search", "findmany", "findunique", "findfirst", "findall"} {
		rest, ok := strings.CutPrefix(name, prefix)
		if !ok {
			continue
		}
		if t := r.tableNode(rest); t != "" {
			return t
		}
	}
	return ""
}

// tableNode is nodeType for the name of a table, which may be a plural.
func (r *vocabulary) tableNode(name string) string {
	for _, single := range singulars(plain(name)) {
		if t := r.nodeType(single); t != "" {
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

// edgeType returns the edge type that a label means, or nil.
func (r *vocabulary) edgeType(label string) *catalog.Edge {
	if r.edges == nil {
		r.edges = map[string]*catalog.Edge{}
		for _, e := range r.schema.Edges {
			r.edges[plain(e.Name)] = e
		}
	}
	return r.edges[plain(label)]
}

// property returns the property that a name means in a type, or nil.
func (r *vocabulary) property(typ, name string) *catalog.Property {
	var list []*catalog.Property
	if n := r.schema.Node(typ); n != nil {
		list = n.Properties
	} else if i := r.schema.Interface(typ); i != nil {
		list = i.Common()
	} else if e := r.schema.Edge(typ); e != nil {
		list = e.Properties
	}
	for _, p := range list {
		if plain(p.Name) == plain(name) {
			return p
		}
	}
	return nil
}

// propertyName returns the name of a property as the type declares it, or the name as it is.
func (r *vocabulary) propertyName(typ, name string) string {
	if p := r.property(typ, name); p != nil {
		return p.Name
	}
	if e := r.schema.Edge(typ); e != nil {
		switch end := r.endNamed(e, name); end {
		case "from", "to":
			return end
		}
	}
	return name
}

// endOf returns from or to for a column of a table of edges that refers to an end, and "" for others.
func endOf(column string) string {
	switch plain(column) {
	case "src", "srcid", "source", "sourceid", "from", "fromid", "startid":
		return "from"
	case "dst", "dstid", "target", "targetid", "to", "toid", "endid", "dest", "destination":
		return "to"
	}
	return ""
}

// endNamed returns from or to for a column of a table of edges that refers to an end: one of endOf, or one
// with the name of the type at that end, such as author, author_id or author_orcid.
func (r *vocabulary) endNamed(e *catalog.Edge, column string) string {
	if end := endOf(column); end != "" || e.From == e.To || r.property(e.Name, column) != nil {
		return end
	}
	for _, to := range []bool{false, true} {
		typ := e.EndName(to)
		rest, ok := strings.CutPrefix(plain(column), plain(typ))
		if ok && (rest == "" || rest == "id" || rest == plain(r.key(typ))) {
			return map[bool]string{false: "from", true: "to"}[to]
		}
	}
	return ""
}

// key returns the property that finds a node of a type: its only key, or its id.
func (r *vocabulary) key(typ string) string {
	if n := r.schema.Node(typ); n != nil && len(n.Key) == 1 {
		return n.Key[0]
	}
	return "id"
}

// byKey returns the key of a type if a name means it.
func byKey(n *catalog.Node, name string) bool { return slices.Contains(n.Key, name) || name == "id" }

// names reports whether a column refers to the nodes of a type: its key or its id.
func (r *vocabulary) names(typ, column string) bool {
	return plain(column) == plain(r.key(typ)) || plain(column) == "id"
}

// keyedType returns the node type of a field such as work_by_pk, findFirstWork or incidentByNumber, or "".
func (r *vocabulary) keyedType(name string) string {
	name = plain(name)
	for _, suffix := range []string{"bypk", "byid", "collection", "list"} {
		if base, ok := strings.CutSuffix(name, suffix); ok {
			if typ := r.pluralType(base); typ != "" {
				return typ
			}
		}
	}
	return r.typeByKey(name)
}

// typeByKey returns the node type of a name such as serviceBySlug, or "".
func (r *vocabulary) typeByKey(name string) string {
	for i := strings.LastIndex(name, "by"); i > 0; i = strings.LastIndex(name[:i], "by") {
		if n := r.schema.Node(r.pluralType(name[:i])); n != nil && r.property(n.Name, name[i+2:]) != nil {
			return n.Name
		}
	}
	return ""
}

// propertyOrEnd is property for a name that may be an end of an edge: an end at a node type is a text.
func (r *vocabulary) propertyOrEnd(typ, name string) *catalog.Property {
	p := r.property(typ, name)
	if e := r.schema.Edge(typ); p == nil && e != nil && (name == "from" || name == "to") && r.schema.Node(e.EndName(name == "to")) != nil {
		return &catalog.Property{Name: name, Type: value.Type{Kind: value.String}}
	}
	return p
}

// onePerPair reports whether an edge type allows one edge between two nodes.
func onePerPair(e *catalog.Edge) bool {
	return slices.ContainsFunc(e.Unique, func(names []string) bool {
		return len(names) == 2 && slices.Contains(names, "src") && slices.Contains(names, "dst")
	})
}

// identifies reports whether a property is part of the key, or a name is an end of an edge.
func (r *vocabulary) identifies(typ, name string) bool {
	if n := r.schema.Node(typ); n != nil {
		return slices.Contains(n.Key, name)
	}
	return name == "from" || name == "to"
}

// upsertSign returns a property that is null before an upsert exactly if the upsert inserts, or "".
func (r *vocabulary) upsertSign(typ string) string {
	if n := r.schema.Node(typ); n != nil && len(n.Key) > 0 {
		return n.Key[0]
	}
	if e := r.schema.Edge(typ); e != nil {
		for _, p := range e.Properties {
			if !p.Type.Nullable {
				return p.Name
			}
		}
	}
	return ""
}

// parallel reports whether two edges of a type may have the same ends.
func parallel(e *catalog.Edge) bool {
	if e.Card != nil && e.Card.Max == 1 {
		return false
	}
	return !slices.ContainsFunc(e.Unique, func(set []string) bool {
		return !slices.ContainsFunc(set, func(p string) bool { return p != "src" && p != "dst" })
	})
}

// atEnd reports whether a node of the type, which may be an interface, can stand at an end of an edge.
func (r *vocabulary) atEnd(e *catalog.Edge, to bool, typ string) bool {
	return r.schema.AtEnd(e, to, typ, r.schema.Node(typ) == nil && r.schema.Interface(typ) != nil)
}

// inserts returns the statement for an insert of another language, which fails if there is a node with the same key.
func (r *vocabulary) inserts(typ string) string {
	if n := r.schema.Node(typ); n != nil && len(n.Key) > 0 {
		return "insert new"
	}
	return "insert"
}
