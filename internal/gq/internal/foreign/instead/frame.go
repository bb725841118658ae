package instead

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/lex"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/naming"
)

// A frame has at most this many types of nodes, types of edges, and properties.
const maxFrame = 4

// changing maps the words that begin a change in any of the languages to the statement of this language.
var changing = map[string]string{"insert": "insert", "create": "insert", "add": "insert", "merge": "upsert", "upsert": "upsert",
	"update": "update", "set": "update", "delete": "delete", "remove": "delete", "detach": "delete"}

// resolving are words of SQL for an insert of a row whose key exists.
var resolving = []string{"conflict", "duplicate", "replace", "ignore"}

// keywords are words of the languages that name no type, even if the schema has a type of that name.
var keywords = []string{"match", "select", "from", "where", "return", "with", "order", "by", "limit", "group", "on", "at", "in", "query"}

// Frame returns a query over the types of the schema that a text names: it has their traversals, and the properties that
// the text names. It shows the form of a query and has none of the conditions of the text. Frame returns "" if the
// text names no type. It may have faults: offer it only if it compiles.
func Frame(s *catalog.Schema, text string) string {
	tokens, ok := lex.TokensOf(text)
	if !ok {
		return ""
	}
	f := frame{Vocabulary: &naming.Vocabulary{Schema: s}, vars: map[string]string{}, named: map[string]bool{}}
	statement, target := "", "" // the first words that name a change, and then a type
	for at, t := range tokens {
		if t.Kind != lex.Word {
			continue
		}
		f.replaces = f.replaces || t.Are("insert") && at+2 < len(tokens) && tokens[at+2].Text == "{" || slices.Contains(resolving, naming.Plain(t.Text))
		if slices.Contains(keywords, strings.ToLower(t.Text)) {
			continue
		}
		f.named[naming.Plain(t.Text)] = true
		for i, name := range append([]string{t.Text}, parts(t.Text)...) {
			if statement == "" {
				if statement = changing[strings.ToLower(name)]; i == 0 && strings.EqualFold(name, "remove") {
					statement = "update" // Cypher removes properties
				}
			}
			typ := f.add(name)
			if statement != "" {
				target = cmp.Or(target, typ)
			}
			if typ != "" && i == 0 {
				break
			}
		}
	}
	if len(f.nodes)+len(f.edges) == 0 {
		return ""
	}
	if n := s.Node(f.changed(tokens)); n != nil && target == "" && (statement == "update" || statement == "delete") {
		return f.changeMatched(statement, n)
	}
	if e := f.EdgeType(target); e != nil {
		return f.changeEdge(statement, e)
	}
	if n := s.Node(target); n != nil {
		if out := f.insertLinked(statement, n); out != "" {
			return out
		}
		return f.changeNode(statement, n)
	}
	return f.read()
}

// frame has the types that a text names.
type frame struct {
	*naming.Vocabulary
	nodes []string // node types and interfaces
	edges []*catalog.Edge
	named map[string]bool   // the plain words of the text
	vars  map[string]string // by type: its variable

	replaces bool // the text has an insert of this language, or says what becomes of a node with the same key
}

// add adds the type that a name means, and returns it, or "".
func (f *frame) add(name string) string {
	typ := ""
	if e := f.EdgeType(name); e != nil {
		typ = e.Name
		if !slices.Contains(f.edges, e) && len(f.edges) < maxFrame {
			f.edges = append(f.edges, e)
		}
	} else if typ = f.PluralType(name); typ != "" && !slices.Contains(f.nodes, typ) && len(f.nodes) < maxFrame {
		f.nodes = append(f.nodes, typ)
	}
	return typ
}

// parts splits a name such as insert_person_one or createPersons.
func parts(name string) (out []string) {
	start := 0
	for i, c := range name + "_" {
		if c == '_' || i > start && unicode.IsUpper(c) && !unicode.IsUpper(rune(name[i-1])) {
			if i > start {
				out = append(out, name[start:i])
			}
			start = i
			if c == '_' {
				start++
			}
		}
	}
	return out
}

// read returns a query with the properties that the text names as columns.
func (f *frame) read() string {
	match, candidates := f.matched()
	var columns []string
	for _, typ := range candidates {
		for _, p := range f.properties(typ) {
			if column := f.variable(typ) + "." + p; len(columns) < maxFrame && !slices.Contains(columns, column) {
				columns = append(columns, column)
			}
		}
	}
	if len(columns) == 0 {
		columns = []string{f.variable(candidates[0])}
	}
	return "query q() { match { " + match + " } return { " + strings.Join(columns, ", ") + " } }"
}

// matched returns the clauses of a match with a traversal or a binding for each type, and the types that it has
// variables for.
func (f *frame) matched() (clauses string, types []string) {
	f.connect()
	var match []string
	for _, e := range f.edges {
		from, to := f.variable(e.From), f.variable(e.To)
		if from == to {
			to += "2"
		}
		binding := ""
		if len(f.properties(e.Name)) > 0 {
			binding = f.variable(e.Name) + ":"
		}
		match = append(match, from+" "+binding+naming.Lower(e.Name)+" "+to)
		types = append(types, e.From, e.To, e.Name)
	}
	for _, typ := range f.nodes {
		if f.vars[typ] == "" {
			match = append(match, f.variable(typ)+": "+typ)
		}
	}
	return strings.Join(match, " "), slices.Concat(f.nodes, types)
}

// connect adds the edge between two of the nodes if the text names none between them, and the schema has one.
func (f *frame) connect() {
	between := func(e *catalog.Edge, a, b string) bool { return e.From == a && e.To == b || e.From == b && e.To == a }
	for i, a := range f.nodes {
		for _, b := range f.nodes[:i] {
			if slices.ContainsFunc(f.edges, func(e *catalog.Edge) bool { return between(e, a, b) }) || len(f.edges) >= maxFrame {
				continue
			}
			var found []*catalog.Edge
			for _, e := range f.Schema.Edges {
				if between(e, a, b) {
					found = append(found, e)
				}
			}
			if len(found) == 1 {
				f.edges = append(f.edges, found[0])
			}
		}
	}
}

// insertLinked returns an insert of a node and of the edges that the text names between it and nodes that exist. It returns
// "" if the text names no such edge.
func (f *frame) insertLinked(statement string, n *catalog.Node) string {
	var params, match, links []string
	self := f.variable(n.Name)
	for _, e := range f.edges {
		other, ends := f.Schema.Node(e.To), []string{self, ""}
		if e.From != n.Name {
			other, ends = f.Schema.Node(e.From), []string{"", self}
		}
		if statement != "insert" || e.From != n.Name && e.To != n.Name || other == nil || other == n || len(other.Key) != 1 || f.vars[other.Name] != "" {
			continue
		}
		v, key := f.variable(other.Name), other.Key[0]
		params = append(params, "$"+naming.Lower(other.Name)+": "+parameterType(other.Property(key)))
		match = append(match, v+": "+other.Name+" { "+key+": $"+naming.Lower(other.Name)+" }")
		links = append(links, "insert "+e.Name+" { from: "+cmp.Or(ends[0], v)+", to: "+cmp.Or(ends[1], v)+" }")
	}
	if len(links) == 0 {
		return ""
	}
	own, sets, _ := f.assignments(n, true)
	return "query q(" + strings.Join(append(own, params...), ", ") + ") { match { " + strings.Join(match, " ") + " } { " + self + " = " + f.inserts(n.Name) + " " + n.Name +
		" { " + strings.Join(sets, ", ") + " } " + strings.Join(links, " ") + " } }"
}

// inserts returns the statement for an insert of a type.
func (f *frame) inserts(typ string) string {
	if f.replaces {
		return "insert"
	}
	return f.Vocabulary.Inserts(typ)
}

// assignments returns the parameters of a change of a node, its assignments, and the conditions on its key.
func (f *frame) assignments(n *catalog.Node, adds bool) (params, sets, wheres []string) {
	for _, p := range n.Properties {
		isKey, named := slices.Contains(n.Key, p.Name), f.named[naming.Plain(p.Name)]
		switch {
		case isKey && !adds:
			wheres = append(wheres, p.Name+" = $"+p.Name)
		case named, adds && !p.Type.Nullable && p.Embed == nil:
			sets = append(sets, p.Name+": $"+p.Name)
		default:
			continue
		}
		params = append(params, "$"+p.Name+": "+parameterType(p))
	}
	return params, sets, wheres
}

// changed returns the type of the variable after the word that begins a change, as in update $w set … or DELETE w, or "".
func (f *frame) changed(text []lex.Token) string {
	for i, t := range text {
		if changing[strings.ToLower(t.Text)] == "" || i+1 == len(text) {
			continue
		}
		for j, v := range text[:i] {
			if v.Text == text[i+1].Text && (v.Kind == lex.Dollar || v.Kind == lex.Word) && text[j+1].Text == ":" {
				return f.NodeType(text[j+2].Text)
			}
		}
	}
	return ""
}

// changeMatched returns an update or a delete of a node of one type that a match finds. The key is a parameter, so that it changes one node.
func (f *frame) changeMatched(statement string, n *catalog.Node) string {
	if len(n.Key) != 1 {
		return ""
	}
	match, _ := f.matched()
	v := f.variable(n.Name)
	body := "delete " + n.Name
	params := []string{"$" + n.Key[0] + ": " + parameterType(n.Property(n.Key[0]))}
	if statement == "update" {
		all, sets, _ := f.assignments(n, false)
		params = all
		body = "update " + n.Name + " set { " + strings.Join(sets, ", ") + " }"
	}
	return "query q(" + strings.Join(params, ", ") + ") { match { " + match + " " + v + "." + n.Key[0] + " = $" + n.Key[0] + " } { " + body + " where " + n.Key[0] + " = " + v + "." + n.Key[0] + " } }"
}

// changeNode returns a mutation of nodes of one type: the properties that it needs or the text names are parameters,
// and the key selects the node.
func (f *frame) changeNode(statement string, n *catalog.Node) string {
	adds := statement == "insert" || statement == "upsert"
	if statement == "delete" {
		f.named = nil
	}
	params, sets, wheres := f.assignments(n, adds)
	if len(n.Key) == 0 && !adds {
		params, wheres = append(params, "$id: String"), append(wheres, "id = $id")
	}
	body := statement + " " + n.Name
	if statement == "insert" {
		body = f.inserts(n.Name) + " " + n.Name
	}
	if statement == "update" {
		body += " set"
	}
	if statement != "delete" {
		body += " { " + strings.Join(sets, ", ") + " }"
	}
	if !adds {
		body += " where " + strings.Join(wheres, " and ")
	}
	return "query q(" + strings.Join(params, ", ") + ") { " + body + " }"
}

// changeEdge returns a mutation of the edges of one type between two nodes that are parameters.
func (f *frame) changeEdge(statement string, e *catalog.Edge) string {
	params, sets := []string{"$from: " + e.From, "$to: " + e.To}, []string{}
	for _, p := range e.Properties {
		if statement != "delete" && (f.named[naming.Plain(p.Name)] || statement != "update" && !p.Type.Nullable) {
			params, sets = append(params, "$"+p.Name+": "+parameterType(p)), append(sets, p.Name+": $"+p.Name)
		}
	}
	head := "query q(" + strings.Join(params, ", ") + ") { "
	switch {
	case statement == "delete":
		return head + "delete " + e.Name + " where from = $from and to = $to }"
	case statement == "update" && len(sets) == 0: // the ends of an edge do not change
		return head + "delete " + e.Name + " where from = $from insert " + e.Name + " { from: $from, to: $to } }"
	case statement == "update":
		return head + "update " + e.Name + " set { " + strings.Join(sets, ", ") + " } where from = $from and to = $to }"
	}
	return head + "insert " + e.Name + " { " + strings.Join(append([]string{"from: $from", "to: $to"}, sets...), ", ") + " } }"
}

// parameterType returns the type of a parameter for the values of a property.
func parameterType(p *catalog.Property) string {
	if len(p.Type.Enum) > 0 {
		return "String"
	}
	return p.Type.Required().String()
}

// properties returns the properties of a type that the text names, in the order of the schema.
func (f *frame) properties(typ string) (out []string) {
	list := []*catalog.Property{}
	if n := f.Schema.Node(typ); n != nil {
		list = n.Properties
	} else if i := f.Schema.Interface(typ); i != nil {
		list = i.Common()
	} else if e := f.Schema.Edge(typ); e != nil {
		list = e.Properties
	}
	for _, p := range list {
		if f.named[naming.Plain(p.Name)] && len(out) < maxFrame {
			out = append(out, p.Name)
		}
	}
	return out
}

// variable returns the variable of a type: its first letter, repeated until no other type has it.
func (f *frame) variable(typ string) string {
	if v := f.vars[typ]; v != "" {
		return v
	}
	v := "$" + naming.Lower(typ[:1])
	for slices.Contains(slices.Collect(maps.Values(f.vars)), v) {
		v += naming.Lower(typ[:1])
	}
	f.vars[typ] = v
	return v
}
