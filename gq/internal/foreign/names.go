package foreign

import (
	"slices"
	"strings"
	"unicode"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
)

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
func (r *rewriter) nodeType(label string) string {
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
func (r *rewriter) pluralType(name string) string {
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
func (r *rewriter) tableNode(name string) string {
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
func (r *rewriter) edgeType(label string) *catalog.Edge {
	if r.edges == nil {
		r.edges = map[string]*catalog.Edge{}
		for _, e := range r.schema.Edges {
			r.edges[plain(e.Name)] = e
		}
	}
	return r.edges[plain(label)]
}

// property returns the property that a name means in a type, or nil.
func (r *rewriter) property(typ, name string) *catalog.Property {
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
func (r *rewriter) propertyName(typ, name string) string {
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
func (r *rewriter) endNamed(e *catalog.Edge, column string) string {
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

// bind makes a variable known. The type may be "".
func (r *rewriter) bind(name, typ string) string {
	if name == "" || name == "_" {
		return "$_"
	}
	refuse(len(r.order) >= maxVars)
	if old, ok := r.vars[name]; !ok {
		r.vars[name] = typ
		r.order = append(r.order, name)
	} else if old == "" {
		r.vars[name] = typ
	}
	return "$" + lower(name)
}

// fresh binds a new variable whose name is the first letter of its type, and which the text does not use.
func (r *rewriter) fresh(typ string) string {
	name := lower(typ[:1])
	for used := true; used; {
		if _, used = r.vars[name]; used || r.inText(name) || r.bindsLater(name) {
			used = true
			name += lower(typ[:1])
		}
	}
	r.bind(name, typ)
	return name
}

// inText reports whether the text has a variable or a parameter of a name.
func (r *rewriter) inText(name string) bool {
	if r.dollars == nil {
		r.dollars = map[string]bool{}
		all := slices.Clone(r.tokens)
		for _, f := range r.fragments {
			all = append(all, f.tokens...)
		}
		for _, t := range all {
			if t.kind == dollar {
				r.dollars[t.text] = true
			}
		}
	}
	return r.dollars[name]
}

// firstNode returns a variable that every match binds.
func (r *rewriter) firstNode() string {
	for _, v := range r.order {
		if r.schema.Node(r.vars[v]) != nil || r.schema.Interface(r.vars[v]) != nil {
			return v
		}
	}
	for _, v := range r.order { // the edges alone
		if slices.Contains(r.tables, v) {
			return v
		}
	}
	panic(giveUp{})
}

// first returns a variable that every match binds, for count(*).
func (r *rewriter) first() string {
	v := r.firstNode()
	if r.schema.Edge(r.vars[v]) != nil {
		return "$" + lower(v) + ".id"
	}
	return "$" + lower(v)
}

// bindsLater reports whether the rest of the text has a pattern with a node of a name and a type, as in (p:Person).
func (r *rewriter) bindsLater(name string) bool {
	for i := r.at; i+2 < len(r.tokens); i++ {
		if r.tokens[i].text == "(" && r.tokens[i+1].text == name && r.tokens[i+1].kind == word && r.tokens[i+2].text == ":" {
			return true
		}
	}
	return false
}
