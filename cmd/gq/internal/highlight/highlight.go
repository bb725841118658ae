// Package highlight has the only table of the classes of tokens. The table gives each class its
// semantic token type for language servers, its scope for TextMate and its group for Vim. The
// package prints the grammars for editors from the table and from the words of the languages.
package highlight

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// Class is a class of tokens that an editor shows alike.
type Class uint8

// The classes.
const (
	Comment Class = iota
	String
	Number
	Annotation
	Argument
	Variable
	Parameter
	Scalar
	NodeType
	EdgeType
	Interface
	Query
	Function
	Keyword
	Property
	Column
	EnumValue
	Operator
)

// Row describes a class. A class whose row has neither a pattern nor words is shown only by the
// server, because the token alone does not tell the class; Comment and String are exceptions, which
// the printers handle.
type Row struct {
	Class    Class
	Semantic string // the type of semantic tokens in the Language Server Protocol
	Scope    string // the scope in TextMate grammars, without the name of the language at its end
	Vim      string // the highlight group in Vim

	// Pattern is a regular expression that means the same in TextMate grammars and, after a
	// translation, in Vim; see vimPattern. The first row that matches a place wins. The field In is
	// the language of the row, or "" for both.
	Pattern string
	In      string
	// Words returns the words of the class. It is used if Pattern is "".
	Words func() []string
}

// Table has a row for each class and language, in the order of matching.
var Table = []Row{
	{Class: Comment, Semantic: "comment", Scope: "comment", Vim: "Comment"}, // the printers have its patterns
	{Class: String, Semantic: "string", Scope: "string.quoted.double", Vim: "String"},
	{Class: Annotation, Semantic: "decorator", Scope: "storage.modifier.annotation", Vim: "PreProc", Pattern: `@[a-z_][A-Za-z0-9_]*`},
	{Class: Variable, Semantic: "variable", Scope: "variable.other", Vim: "Identifier", Pattern: `\$[A-Za-z_][A-Za-z0-9_]*`, In: "gq"},
	{Class: Scalar, Semantic: "type", Scope: "support.type", Vim: "Type", Words: scalars},
	{Class: NodeType, Semantic: "class", Scope: "entity.name.type", Vim: "Structure", Pattern: `[A-Z][A-Za-z0-9_]*`},
	{Class: Number, Semantic: "number", Scope: "constant.numeric", Vim: "Number", Pattern: `-?[0-9]+\.[0-9]+|-?[0-9]+`},
	{Class: Property, Semantic: "property", Scope: "variable.other.member", Vim: "Identifier", Pattern: `[a-z_][A-Za-z0-9_]*(?=[ \t]*:)`},
	{Class: Function, Semantic: "function", Scope: "support.function", Vim: "Function", Words: functions, In: "gq"},
	{Class: Keyword, Semantic: "keyword", Scope: "keyword.control", Vim: "Keyword", Words: queryKeywords, In: "gq"},
	{Class: Keyword, Semantic: "keyword", Scope: "keyword.control", Vim: "Keyword", Words: schemaKeywords, In: "pg"},
	{Class: Operator, Semantic: "operator", Scope: "keyword.operator", Vim: "Operator", Pattern: `!=|<=|>=|->|\.\.|[=<>+*/%|-]`},

	{Class: Argument, Semantic: "macro"},
	{Class: Parameter, Semantic: "parameter"},
	{Class: EdgeType, Semantic: "struct"},
	{Class: Interface, Semantic: "interface"},
	{Class: Query, Semantic: "method"},
	{Class: Column, Semantic: "event"},
	{Class: EnumValue, Semantic: "enumMember"},
}

// Semantic returns the type of the semantic tokens of a class.
func Semantic(c Class) string {
	i := slices.IndexFunc(Table, func(r Row) bool { return r.Class == c })
	return Table[i].Semantic
}

// SemanticTypes returns the types of semantic tokens, without duplicates.
func SemanticTypes() []string {
	var types []string
	for _, r := range Table {
		if !slices.Contains(types, r.Semantic) {
			types = append(types, r.Semantic)
		}
	}
	return types
}

// scalars returns the names of the scalar types.
func scalars() []string {
	var names []string
	for _, k := range value.Kinds() {
		names = append(names, k.String())
	}
	slices.Sort(names)
	return names
}

// functions returns the names of the functions and the aggregates.
func functions() []string {
	names := slices.Concat(syntax.Functions, syntax.LiteralFunctions(), []string{"now", syntax.ActorFunction, syntax.OriginFunction})
	slices.Sort(names)
	return slices.Compact(names)
}

// queryKeywords returns the words of .gq files that are not functions.
func queryKeywords() []string {
	return slices.DeleteFunc(slices.Clone(syntax.QueryWords()), func(w string) bool { return slices.Contains(functions(), w) })
}

// schemaKeywords returns the words of .pg files that occur outside of annotations.
func schemaKeywords() []string {
	annotations := []string{"card", "check", "key", "range", "unique", "index"}
	return slices.DeleteFunc(slices.Clone(syntax.SchemaWords()), func(w string) bool {
		return slices.Contains(functions(), w) || slices.Contains(annotations, w)
	})
}
