// Package xref finds the names in a source and the declarations that they refer to, for an editor. It
// reads tokens and not trees, because a text follows the grammar only some of the time while its author
// types. TestUses compares its findings with those of the checker for every query of the corpora.
package xref

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// Kind is the kind of thing that a name refers to.
type Kind uint8

// The kinds of names.
const (
	Keyword    Kind = iota // a word of the grammar
	Type                   // a node type, an edge type or an interface
	Scalar                 // a scalar type
	Property               // a property, or a name that every node or edge has, such as id
	Variable               // a variable that a match binds
	Parameter              // a parameter of a query
	Query                  // the name of a query
	Function               // a function or an aggregate
	Column                 // a column of a result
	Annotation             // the name of an annotation, with the @ before it
	Argument               // the key of an argument of an annotation
	EnumValue              // a value of an enum
	Unknown                // another word
)

// Entity says whether a type is a node type, an edge type or an interface.
type Entity uint8

// The kinds of types.
const (
	NoEntity Entity = iota
	Node
	Edge
	Interface
)

// Name is one name in a source. Two names refer to the same thing if their keys are equal.
type Name struct {
	syntax.Token
	Kind   Kind
	Entity Entity // of Type
	Type   string // the type itself, the type that has the property, or the type of a variable; "" if unknown
	Decl   bool   // it declares the thing
	// Scope distinguishes variables and parameters that have the same name. It is the offset of the
	// block that the variable belongs to. For a parameter or a column it is the offset of the query.
	Scope int
}

// Key identifies the thing that a name refers to within a graph and, for a variable, a parameter or a
// column, within its source.
type Key struct {
	Kind   Kind
	Entity Entity
	Type   string
	Name   string
	Scope  int
}

// Key returns the key of the name. An edge has two spellings, so the keys have its name as the schema
// spells it.
func (n Name) Key() Key {
	switch n.Kind {
	case Type:
		return Key{Kind: Type, Entity: n.Entity, Type: n.Type}
	case Property:
		return Key{Kind: Property, Entity: n.Entity, Type: n.Type, Name: n.Text()}
	case Variable, Parameter, Column:
		return Key{Kind: n.Kind, Name: n.Text(), Scope: n.Scope}
	}
	return Key{Kind: n.Kind, Name: n.Text()}
}

// Text returns the name without the quotes of a string.
func (n Name) Text() string {
	if n.Token.Type == syntax.String {
		return syntax.Text(n.Token)
	}
	return n.Value
}

// Source holds the names of one source.
type Source struct {
	Text     string
	Tokens   []syntax.Token
	Comments []syntax.Comment
	Names    []Name // in source order: one for each word and variable

	queries []int // the indexes in Names of the names of queries
	pieces  []int // the offsets at which the pieces of a query file start; empty for a schema and for an empty file
}

// Query returns the name of the query around an offset, or nil. A query reaches up to the next one.
func (s *Source) Query(offset int) *Name {
	i, found := slices.BinarySearchFunc(s.queries, offset, func(n, at int) int { return s.Names[n].Pos.Offset - at })
	if found {
		i++
	}
	if i == 0 {
		return nil
	}
	return &s.Names[s.queries[i-1]]
}

// InQuery returns the names of the query around an offset, from its own name on.
func (s *Source) InQuery(offset int) []Name {
	i, found := slices.BinarySearchFunc(s.queries, offset, func(n, at int) int { return s.Names[n].Pos.Offset - at })
	if found {
		i++
	}
	switch {
	case i == 0:
		return nil
	case i == len(s.queries):
		return s.Names[s.queries[i-1]:]
	}
	return s.Names[s.queries[i-1]:s.queries[i]]
}

// At returns the name whose token contains the offset or ends there, or nil.
func (s *Source) At(offset int) *Name {
	i, _ := slices.BinarySearchFunc(s.Names, offset, func(n Name, at int) int {
		if n.Pos.Offset+len(n.Value) < at {
			return -1
		}
		return 1
	})
	if i < len(s.Names) && s.Names[i].Pos.Offset <= offset {
		// Two names without a gap have another token between them, such as the colon in `a:b`. So
		// only one name can contain the offset. The exception is an offset where one name ends and
		// the next one starts.
		if i+1 < len(s.Names) && s.Names[i+1].Pos.Offset == offset {
			return &s.Names[i+1]
		}
		return &s.Names[i]
	}
	return nil
}

// Read finds the names of a source, which is a schema if its name ends in .pg. The catalog may be nil;
// then the names of types and properties are not resolved.
func Read(s *catalog.Schema, name, text string) *Source {
	src := &Source{Text: text}
	if strings.HasSuffix(name, ".pg") {
		src.Tokens, src.Comments = syntax.Scan(name, text)
		src.Names = schemaNames(src.Tokens)
	} else {
		read, starts, _ := readPieces(orEmpty(s), name, text, 0, len(text), 1)
		src.Tokens, src.Comments, src.Names, src.pieces = read.tokens, read.comments, read.names, starts
	}
	src.findQueries()
	return src
}

// orEmpty returns the catalog, or an empty one instead of nil.
func orEmpty(s *catalog.Schema) *catalog.Schema {
	if s == nil {
		s = &catalog.Schema{}
		s.Index()
	}
	return s
}

// findQueries finds the names of queries among the names.
func (s *Source) findQueries() {
	s.queries = s.queries[:0]
	for i := range s.Names {
		if s.Names[i].Kind == Query {
			s.queries = append(s.queries, i)
		}
	}
}

// EntityOf converts the entity of a plan to the Entity of this package. It returns Node for a walk.
func EntityOf(e plan.Entity) Entity {
	switch e {
	case plan.Edge:
		return Edge
	case plan.Interface:
		return Interface
	default:
		return Node
	}
}

// PropertyOf returns a property of a type, or nil.
func PropertyOf(s *catalog.Schema, entity Entity, typ, name string) *catalog.Property {
	switch entity {
	case Node:
		if n := s.Node(typ); n != nil {
			return n.Property(name)
		}
	case Edge:
		if e := s.Edge(typ); e != nil {
			return e.Property(name)
		}
	case Interface:
		for _, i := range s.Interfaces {
			if i.Name != typ {
				continue
			}
			for _, p := range i.Properties {
				if p.Name == name {
					return p
				}
			}
		}
	case NoEntity:
	}
	return nil
}

// EdgeName returns the name of an edge type as a match writes it.
func EdgeName(name string) string {
	if name == "" {
		return ""
	}
	return strings.ToLower(name[:1]) + name[1:]
}

// isName reports whether a token is a word or a variable.
func isName(t syntax.Token) bool {
	return t.Type == syntax.Name || t.Type == syntax.TypeName || t.Type == syntax.Var
}

// at returns token i, or a token without a value if there is none.
func at(tokens []syntax.Token, i int) syntax.Token {
	if i < 0 || i >= len(tokens) {
		return syntax.Token{}
	}
	return tokens[i]
}
