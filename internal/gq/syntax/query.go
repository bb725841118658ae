package syntax

import "strings"

// File is a parsed .gq file: the queries that follow the grammar, in source order.
type File struct {
	Name, Text string // name and content of the file
	Queries    []*Query
	Comments   []Comment // in source order
}

// Query is a query with its parameters, annotations and body.
type Query struct {
	Range
	Name        Token              `parser:"'query' @Name '('"`
	Params      []*Param           `parser:"( @@ ( ',' @@ )* )? ')'"`
	AsOf        *AsOf              `parser:"@@?"` // nil for the present
	Annotations []*QueryAnnotation `parser:"@@* '{'"`
	Body        Body               `parser:"@@ '}'"`
}

// AsOf says as of which instant the query reads.
type AsOf struct {
	Range
	At Operand `parser:"'as' 'of' @@"`
}

// Param declares a parameter.
type Param struct {
	Range
	Var         Token              `parser:"@Var ':'"` // the name, with $
	Type        *Type              `parser:"@@"`
	Annotations []*ParamAnnotation `parser:"@@*"`
}

// QueryAnnotation is @description, @instruction, @question, @must_be_empty or @mcp. MCP holds the
// arguments of @mcp. The other annotations have a Name, without @, and a Text.
type QueryAnnotation struct {
	Range
	Name Token     `parser:"'@' ( @('description' | 'instruction' | 'question' | 'must_be_empty')"`
	Text Token     `parser:"  '(' @String ')'"`
	MCP  []*MCPArg `parser:"| 'mcp' '(' @@ ( (?! ',' ')') ',' @@ )* ','? ')' )"`
}

// MCPArg is an argument of @mcp. The value is a String token, or the name `true` or `false`.
type MCPArg struct {
	Range
	Key   Token `parser:"( @('expose' | 'idempotent')"`      // set for expose and idempotent
	Flag  Token `parser:"  (':' | '=') @('true' | 'false')"` // true or false
	TKey  Token `parser:"| @('tool_name' | 'title')"`        // set for tool_name and title
	Value Token `parser:"  (':' | '=') @String )"`           // the text for TKey
}

// Body is one of *Read and *Mutation.
type Body interface{ body() }

// Read matches a pattern and returns rows.
type Read struct {
	Range
	Valid    *Valid        `parser:"'match' @@?"`                         // nil for entities of any time
	Match    []Clause      `parser:"'{' @@+ '}'"`                         // the clauses in the braces
	Distinct *Token        `parser:"'return' @'distinct'?"`               // nil if it is not written
	Returns  []*Projection `parser:"'{' ( @@ ','? )+ '}'"`                // the columns
	Having   []Clause      `parser:"( 'having' '{' @@+ '}' )?"`           // the conditions on the rows
	Order    []*Ordering   `parser:"( 'order' '{' @@ ( ',' @@ )* '}' )?"` // the sort keys in order
	Limit    *Token        `parser:"( 'limit' @(Int | Var) )?"`           // nil for no limit
}

// Valid says when the entities that the match sees are valid: at From, or at some time between From and To.
type Valid struct {
	Range
	From Operand `parser:"'valid' ( 'at' @@ | 'during' @@ ','"`
	To   Operand `parser:"@@ )"` // nil for an instant
}

// body marks the types that are a [Body].
func (*Read) body()     {}
func (*Mutation) body() {}

// Clause is one of *Not, *Exists, *Any, *All, *Optional, *Binding, *Traversal, *TextClause and *Filter.
type Clause interface{ clause() }

// Not is a `not` block: it holds if its clauses have no match.
type Not struct {
	Range
	Match []Clause `parser:"'not' '{' @@+ '}'"` // the clauses in the braces
}

// Binding declares a node variable and its type. Props are the inline conditions in its braces.
type Binding struct {
	Range
	Var   Token        `parser:"@Var ':'"`
	Type  Token        `parser:"@TypeName"`
	Props []*PropMatch `parser:"( '{' ( @@ ( (?! ',' '}') ',' @@ )* ','? )? '}' )?"`
}

// PropMatch is an inline condition. Its value is a *Literal, a *VarRef or a *Now.
type PropMatch struct {
	Range
	Name     Token   `parser:"@Name ':'"` // of the property
	Value    Operand `parser:"@@"`
	Optional bool    `parser:"@'?'?"` // ends with ?
}

// Traversal follows an edge of one of several types. EdgeVar is nil without a binding.
type Traversal struct {
	Range
	From       Token   `parser:"@Var"`          // node variable before the edge
	EdgeVar    *Token  `parser:"( @Var ':' )?"` // variable of the edge
	Undirected bool    `parser:"( @'<'"`        // written as <edge>
	Choice     []Token `parser:"  @( Name ( '|' Name )* ) '>' | @( Name ( '|' Name )* ) )"`
	Bounds     *Bounds `parser:"@@?"` // nil for one hop
	To         Token   `parser:"@Var"`
}

// Edges returns the names of the edges as written. The field Choice has the bars between them, too.
func (t *Traversal) Edges() []Token {
	names := make([]Token, 0, (len(t.Choice)+1)/2)
	for i := 0; i < len(t.Choice); i += 2 {
		names = append(names, t.Choice[i])
	}
	return names
}

// EdgeNames returns the names of the edges as written, such as knows|follows.
func (t *Traversal) EdgeNames() string {
	names := make([]string, 0, (len(t.Choice)+1)/2)
	for _, name := range t.Edges() {
		names = append(names, name.Value)
	}
	return strings.Join(names, "|")
}

// Bounds are the bounds on the number of hops of a traversal. Max is nil when it is not written.
type Bounds struct {
	Range
	Min Token  `parser:"'{' @Int ','"`
	Max *Token `parser:"@Int? '}'"`
}

// TextClause is a call of search, match_text or fuzzy. Op is nil without a comparison.
// Otherwise the clause compares the result of the call with Right.
type TextClause struct {
	Range
	Call     Operand `parser:"(?= ('search' | 'match_text' | 'fuzzy') '(') @@"`
	Op       *Token  `parser:"( @(Relation | 'contains' | 'starts_with')"`
	Right    Operand `parser:"  @@"`       // operand after Op
	Optional bool    `parser:"  @'?'? )?"` // ends with ?
}

// Filter compares two operands, or tests one operand for null. In a comparison, Null is nil. In a
// test for null, Op and Right are not set.
type Filter struct {
	Range
	Left     Operand   `parser:"@@"`
	Op       Token     `parser:"( @(Relation | 'contains' | 'starts_with' | 'in' | 'matches')"`
	Right    Operand   `parser:"  @@"`
	Optional bool      `parser:"  @'?'?"` // ends with ?
	Null     *NullTest `parser:"| @@ )"`
}

// clause marks the types that are a [Clause].
func (*Not) clause()        {}
func (*Binding) clause()    {}
func (*Traversal) clause()  {}
func (*TextClause) clause() {}
func (*Filter) clause()     {}

// Projection is a column of the result, with an optional alias.
type Projection struct {
	Range
	Expr  Operand `parser:"@@"`              // the value of the column
	Alias *Token  `parser:"( 'as' @Name )?"` // nil if it is not written
}

// Ordering is a sort key. Dir is asc, desc, or nil.
type Ordering struct {
	Range
	Expr Operand `parser:"@@"` // the value to sort by
	Dir  *Token  `parser:"@('asc' | 'desc')?"`
}
