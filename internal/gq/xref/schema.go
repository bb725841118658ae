package xref

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// declares maps the words that declare a type in a schema to the kind of the type.
var declares = map[string]Entity{"node": Node, "edge": Edge, "interface": Interface}

// constraints lists the annotations whose arguments are names of properties.
var constraints = []string{"key", "unique", "index", "range", "check", "embed", "valid"}

// schemaReader finds the names in the tokens of a schema.
type schemaReader struct {
	tokens []syntax.Token
	names  []Name

	entity   Entity   // of the type that is being declared
	typ      string   // its name
	brackets []string // the open brackets; for a parenthesis, the name before it
	start    int      // the index of the first token of the declaration
	closed   bool     // the braces of the declaration are closed
}

// schemaNames finds the names in the tokens of a schema.
func schemaNames(tokens []syntax.Token) []Name { return readSchema(tokens).names }

// readSchema reads the tokens of a schema.
func readSchema(tokens []syntax.Token) *schemaReader {
	r := &schemaReader{tokens: tokens}
	for i, t := range tokens {
		switch {
		case t.Value == "{" || t.Value == "[":
			r.brackets = append(r.brackets, t.Value)
		case t.Value == "(":
			r.brackets = append(r.brackets, r.opener(i))
		case t.Value == "}" || t.Value == "]" || t.Value == ")":
			if n := len(r.brackets); n > 0 {
				r.brackets = r.brackets[:n-1]
			}
			r.closed = t.Value == "}" && len(r.brackets) == 0
		case isName(t) || t.Type == syntax.String && r.inside() == "embed" && at(tokens, i-1).Value == "(":
			r.name(i, t)
		}
	}
	r.ends()
	return r
}

// ends gives the names at the ends of edges their kind. The name of a node type takes precedence over that of an
// interface.
func (r *schemaReader) ends() {
	kinds := map[string]Entity{}
	for _, n := range r.names {
		if n.Kind == Type && n.Decl && n.Entity != Edge && kinds[n.Value] != Node {
			kinds[n.Value] = n.Entity
		}
	}
	for i := range r.names {
		n := &r.names[i]
		if n.Kind == Type && !n.Decl && n.Entity == Node && kinds[n.Value] == Interface {
			n.Entity = Interface
		}
	}
}

// opener returns the text that `brackets` has for an opening parenthesis: the name of the
// annotation or the word before the parenthesis.
func (r *schemaReader) opener(i int) string {
	if before := at(r.tokens, i-1); before.Type == syntax.Name {
		return before.Value
	}
	return "("
}

// inside returns the innermost open bracket, or "".
func (r *schemaReader) inside() string {
	if len(r.brackets) == 0 {
		return ""
	}
	return r.brackets[len(r.brackets)-1]
}

// name adds the name at index i.
func (r *schemaReader) name(i int, t syntax.Token) {
	n := Name{Token: t, Kind: Unknown, Entity: r.entity, Type: r.typ}
	before, after := at(r.tokens, i-1), at(r.tokens, i+1)
	entity, declaration := declares[t.Value]
	switch inside := r.inside(); {
	case declaration && after.Type == syntax.TypeName && before.Value != "." && (inside == "" || t.Pos.Column == 1):
		n = Name{Token: t, Kind: Keyword}
		r.entity, r.typ, r.brackets, r.start, r.closed = entity, after.Value, nil, i, false
	case t.Type == syntax.TypeName && declares[before.Value] == r.entity && inside == "" && before.Type == syntax.Name:
		n.Kind, n.Decl = Type, true
	case before.Value == "@":
		n = Name{Token: t, Kind: Annotation}
	case t.Type == syntax.TypeName && (before.Value == ":" || before.Value == "->") && inside == "":
		n.Kind, n.Entity, n.Type = Type, Node, t.Value
	case t.Type == syntax.TypeName && inside == "":
		n.Kind, n.Entity, n.Type = Type, Interface, t.Value // in an implements clause
	case inside == "enum":
		n.Kind = EnumValue
	case t.Type == syntax.TypeName:
		n = Name{Token: t, Kind: Scalar}
	case inside == "{" && after.Value == ":":
		n.Kind, n.Decl = Property, true
	case slices.Contains(constraints, inside) && after.Value != "=" && r.entity != NoEntity:
		n.Kind = Property
	case after.Value == "=" && inside != "{":
		n.Kind = Argument
	case slices.Contains(syntax.SchemaWords(), t.Value):
		n = Name{Token: t, Kind: Keyword}
	}
	r.names = append(r.names, n)
}
