package xref

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// bracket is an open bracket of a query.
type bracket struct {
	text  string // the bracket
	word  string // the keyword or the function before it, or ""
	typ   string // the type whose properties the braces list, or ""
	scope int    // the offset of the block whose variables the bracket contains
}

// queryReader finds the names in the tokens of query files.
type queryReader struct {
	schema *catalog.Schema
	tokens []syntax.Token
	names  []Name

	query    int       // the offset of the query
	head     bool      // the body has not started
	brackets []bracket // the open brackets

	params    map[string]bool // the parameters of the query, with $
	statement string          // the type that the statement of a mutation names
	where     bool            // the reader is in the condition of a statement
	first     int             // the index in names of the first name of the query
	parents   map[int]int     // by scope: the scope around it
}

// transparent lists the words whose braces open no scope of their own: the variables in such braces
// belong to the block around the braces.
var transparent = []string{"match", "return", "having", "order", "set", "optional", "any", "all"}

// operators lists the words between two operands, so that none of them is an edge after a
// variable.
var operators = []string{"contains", "starts_with", "in", "matches", "is", "as", "asc", "desc", "and", "not", "null"}

// queryNames finds the names in the tokens of a query file.
func queryNames(s *catalog.Schema, tokens []syntax.Token) []Name {
	r := readQueries(s, tokens)
	r.finish()
	return r.names
}

// readQueries reads the tokens of a query file. The last query is not finished.
func readQueries(s *catalog.Schema, tokens []syntax.Token) *queryReader {
	r := &queryReader{schema: s, tokens: tokens}
	for i, t := range tokens {
		switch {
		case t.Value == "query" && t.Type == syntax.Name && at(tokens, i+1).Type == syntax.Name && (at(tokens, i+2).Value == "(" || t.Pos.Column == 1) && (len(r.brackets) == 0 || t.Pos.Column == 1):
			r.finish()
			r.start(t)
		case t.Value == "{" || t.Value == "(" || t.Value == "[":
			r.open(i, t)
		case t.Value == "}" || t.Value == ")" || t.Value == "]":
			r.close(t)
		case isName(t):
			r.name(i, t)
		}
	}
	return r
}

// start begins a query.
func (r *queryReader) start(t syntax.Token) {
	r.query, r.head, r.brackets, r.params = t.Pos.Offset, true, nil, map[string]bool{}
	r.statement, r.where, r.first = "", false, len(r.names)
	r.parents = map[int]int{}
	r.names = append(r.names, Name{Token: t, Kind: Keyword})
}

// inside returns the innermost open bracket.
func (r *queryReader) inside() bracket {
	if len(r.brackets) == 0 {
		return bracket{scope: r.query}
	}
	return r.brackets[len(r.brackets)-1]
}

// open handles an opening bracket.
func (r *queryReader) open(i int, t syntax.Token) {
	before, around := at(r.tokens, i-1), r.inside()
	b := bracket{text: t.Value, scope: around.scope}
	if before.Type == syntax.Name {
		b.word = before.Value
	}
	if t.Value == "{" {
		switch {
		case r.head && len(r.brackets) == 0:
			r.head = false
			b.word = "query"
		case before.Type == syntax.TypeName:
			b.typ = before.Value
		case b.word == "set":
			b.typ = r.statement
		case r.parents == nil: // outside a query
		case b.word != "" && !slices.Contains(transparent, b.word) && at(r.tokens, i+1).Type != syntax.Int:
			b.scope = t.Pos.Offset
			r.parents[b.scope] = around.scope
		}
	}
	r.brackets = append(r.brackets, b)
}

// close handles a closing bracket.
func (r *queryReader) close(t syntax.Token) {
	n := len(r.brackets)
	if n == 0 {
		return
	}
	if t.Value == "}" && r.inside().text == "{" {
		r.where = r.where && r.inside().typ != ""
	}
	r.brackets = r.brackets[:n-1]
}

// name adds the name at index i.
func (r *queryReader) name(i int, t syntax.Token) {
	before, after, inside := at(r.tokens, i-1), at(r.tokens, i+1), r.inside()
	n := Name{Token: t, Kind: Unknown, Scope: r.query}
	switch {
	case before.Value == "@":
		n.Kind = Annotation
	case t.Type == syntax.Var:
		n.Kind, n.Scope = Variable, inside.scope
		if r.head && inside.text == "(" && len(r.brackets) == 1 && after.Value == ":" {
			r.params[t.Value], n.Decl = true, true
		}
		if r.params[t.Value] {
			n.Kind, n.Scope = Parameter, r.query
		}
	case t.Type == syntax.TypeName:
		r.typeName(&n, before)
	case r.head && len(r.brackets) == 0 && before.Value == "query":
		n.Kind, n.Decl = Query, true
	case r.head && inside.word == "mcp":
		if after.Value == ":" || after.Value == "=" {
			n.Kind = Argument
		} else {
			n.Kind = Keyword
		}
	case before.Value == "." && before.Type == syntax.Punct:
		n.Kind = Property // its type follows from the variable; see finish
	case inside.typ != "" && after.Value == ":" && before.Type != syntax.Var:
		r.property(&n, inside.typ)
	case after.Value == "(" && syntax.IsFunction(t.Value):
		n.Kind = Function
	case r.isEdge(i, before, after):
		n.Kind, n.Entity, n.Type = Type, Edge, r.schema.Edge(t.Value).Name
	case before.Value == "as" && before.Type == syntax.Name && !r.head:
		n.Kind, n.Decl = Column, true
	case r.inWhere() && r.isProperty(r.statement, t.Value) && !r.keywordHere(t, before, after):
		r.property(&n, r.statement)
	case inside.typ != "" && r.isProperty(inside.typ, t.Value) && !slices.Contains(operators, t.Value):
		r.property(&n, inside.typ) // the old value in an assignment
	case syntax.IsQueryWord(t.Value) && mayFollow(t.Value, before): // a column may have the name new
		n.Kind = Keyword
		r.keyword(t)
	default:
		n.Kind = Column
	}
	r.names = append(r.names, n)
}

// keywordsAfter lists the words of the language that columns often have as their name, with the words that they follow as keywords.
var keywordsAfter = map[string]string{"new": "insert", "valid": "match", "at": "valid", "during": "valid"}

// mayFollow reports whether a word may be a keyword after the token `before`.
func mayFollow(word string, before syntax.Token) bool {
	first, bound := keywordsAfter[word]
	return !bound || before.Value == first
}

// keyword notes the words that change how the reader interprets the next names.
func (r *queryReader) keyword(t syntax.Token) {
	switch t.Value {
	case "where":
		r.where = true
	case "insert", "update", "delete", "upsert", "return", "match", "for":
		r.where = false
	}
}

// inWhere reports whether the reader is in the condition of a statement, and outside of braces within it.
func (r *queryReader) inWhere() bool { return r.where && r.inside().typ == "" }

// keywordHere reports whether a word in the condition of a statement is an operator and not a property.
func (r *queryReader) keywordHere(t, before, after syntax.Token) bool {
	if !slices.Contains(operators, t.Value) {
		return false
	}
	return after.Type != syntax.Relation || before.Type != syntax.Name
}

// typeName resolves a name that starts with an upper-case letter.
func (r *queryReader) typeName(n *Name, before syntax.Token) {
	n.Kind, n.Type = Type, n.Value
	switch e := r.schema.Edge(n.Value); {
	case r.schema.Node(n.Value) != nil:
		n.Entity = Node
	case r.schema.Interface(n.Value) != nil:
		n.Entity = Interface
	case e != nil && e.Name == n.Value:
		n.Entity = Edge
	case r.head:
		n.Kind = Scalar
	}
	if !r.head && before.Type == syntax.Name {
		r.statement = n.Value
	}
}

// isEdge reports whether the name at index i is the edge of a traversal.
func (r *queryReader) isEdge(i int, before, after syntax.Token) bool {
	t := r.tokens[i]
	if r.head || after.Value == "(" || after.Value == "." || r.schema.Edge(t.Value) == nil {
		return false
	}
	switch {
	case before.Type == syntax.Var:
		bounds := after.Value == "{" && at(r.tokens, i+2).Type == syntax.Int
		return after.Type == syntax.Var || bounds || !slices.Contains(operators, t.Value)
	case before.Value == ":" && at(r.tokens, i-2).Type == syntax.Var:
		return true
	case before.Value == "<" || before.Value == "|":
		return after.Value == ">" || after.Value == "|" || before.Value == "|"
	}
	return false
}

// isProperty reports whether a type has a property, or whether the name is one that every node or edge
// has.
func (r *queryReader) isProperty(typ, name string) bool {
	if name == "id" || name == "from" || name == "to" {
		return typ != ""
	}
	entity, typ := r.entityOf(typ)
	return PropertyOf(r.schema, entity, typ, name) != nil
}

// entityOf returns the kind of the type with a name, and its name as the schema spells it.
func (r *queryReader) entityOf(typ string) (Entity, string) {
	if r.schema.Node(typ) != nil {
		return Node, typ
	}
	if r.schema.Interface(typ) != nil {
		return Interface, typ
	}
	if e := r.schema.Edge(typ); e != nil {
		return Edge, e.Name
	}
	return NoEntity, typ
}

// property makes a name a property of a type.
func (r *queryReader) property(n *Name, typ string) {
	n.Kind = Property
	n.Entity, n.Type = r.entityOf(typ)
}
