// Package plan is the typed, engine-neutral form of a checked query: what an engine
// executes, what generated packages carry as Go values, what explain prints.
//
// Every name in a plan has been resolved and every type checked; a plan that was
// made against a schema fits another one if [Query.Uses] does.
package plan

import "github.com/omnigraph-go/omnigraph/gq/value"

// Query is one checked query. Exactly one of Read and Mutation is set.
type Query struct {
	Name     string
	Params   []Param
	Read     *Read
	Mutation *Mutation
	Uses     []Use // what the query touches of the schema, in order of first use, each once
}

// Param is a declared parameter. Arguments are given by position; a parameter whose
// type is nullable may be null.
type Param struct {
	Name string
	Type value.Type
}

// Entity tells nodes from edges: they have separate name spaces.
type Entity uint8

// The kinds of entity.
const (
	Node Entity = iota
	Edge
)

// String returns node or edge.
func (e Entity) String() string { return [...]string{"node", "edge"}[e] }

// Use is a type, or a property of one, that a query touches. A schema in which every
// Use of a query still exists with these types can run the query.
type Use struct {
	Entity   Entity
	Type     string     // type name as the schema spells it
	Property string     // empty for the type itself
	Value    value.Type // of the property
	From, To string     // endpoint types, for the type itself of an edge
	Write    bool       // the query may change it
}

// VarID is the index of a variable in Read.Vars.
type VarID int

// NoVar is the VarID of a traversal without an edge binding.
const NoVar VarID = -1

// Var is a node or edge variable of a read. Each `$_` is a variable of its own.
type Var struct {
	Name   string // without $; "_" for the anonymous one
	Entity Entity
	Type   string // type name as the schema spells it
}

// NoLimit is the Limit of a read without one.
const NoLimit int64 = -1

// Read is a query that returns rows. The match yields the distinct assignments of
// entities to the variables outside not blocks for which all clauses hold; the
// order of clauses has no meaning.
type Read struct {
	Vars    []Var
	Match   []Clause
	Columns []Column
	// Grouped is set when a column is an aggregate: the other columns are the
	// grouping key.
	Grouped bool
	Order   []Order
	// Ties lists the variables outside not blocks by whose entity ids, ascending,
	// ties of Order are broken: in name order, anonymous ones last in source order.
	// Grouped rows are tied by their grouping values in column order instead.
	Ties  []VarID
	Limit int64 // rows; NoLimit for none
}

// Clause is one of Bind, Traverse, Filter and Not.
type Clause interface{ clause() }

// Bind says that a node variable ranges over the nodes of its type. A variable that
// only occurs in traversals has no Bind; it ranges over its type all the same.
type Bind struct{ Var VarID }

// Traverse says that an edge leads from one node to another, whichever way the
// query was written.
//
// Without EdgeVar the clause holds or not for a pair of nodes, however many edges
// join them. With EdgeVar each edge is an assignment of its own. With bounds other
// than {1,1} it holds for the pairs whose breadth-first distance lies in
// [Min, Max]; the distance from a node to itself is that of its shortest
// non-empty way back.
type Traverse struct {
	From, To   VarID // the edge's source and target
	Edge       string
	EdgeVar    VarID // NoVar without an edge binding
	Undirected bool  // either direction will do
	Min, Max   int
}

// Filter keeps the assignments for which the condition is true.
type Filter struct{ Cond Cond }

// Not keeps the assignments of the outer variables for which its own clauses have no
// assignment. Variables bound inside are not seen outside.
type Not struct{ Match []Clause }

func (Bind) clause()     {}
func (Traverse) clause() {}
func (Filter) clause()   {}
func (Not) clause()      {}

// Op is a comparison operator.
type Op uint8

// The comparison operators. Contains is membership when the left side is a list,
// substring when it is a String.
const (
	Eq Op = iota
	Ne
	Lt
	Le
	Gt
	Ge
	Contains
	StartsWith
)

// String spells the operator as the language does.
func (o Op) String() string {
	return [...]string{"=", "!=", "<", "<=", ">", ">=", "contains", "starts_with"}[o]
}

// NoParam is the Unless of a comparison that always applies.
const NoParam = -1

// Cond is one of Compare and TextMatch.
type Cond interface{ cond() }

// Compare is true when the comparison holds; with a null on either side it never
// does. When the parameter Unless is null the condition is left out.
type Compare struct {
	Op          Op
	Left, Right Expr
	Unless      int // index of a parameter, or NoParam
}

// TextKind is a kind of text match.
type TextKind uint8

// The kinds of text match: any token, the exact phrase, tokens within an edit distance.
const (
	Search TextKind = iota
	Phrase
	Fuzzy
)

// String returns the function's name in the language.
func (k TextKind) String() string { return [...]string{"search", "match_text", "fuzzy"}[k] }

// TextMatch is true when the String property matches the query text.
type TextMatch struct {
	Kind     TextKind
	Prop     Prop
	Query    Expr
	MaxEdits Expr // Fuzzy only; nil for the default of 2
}

func (Compare) cond()   {}
func (TextMatch) cond() {}

// Expr is one of Lit, ParamRef, Prop, ID, Endpoint, Whole, Now, Agg, Matched, BM25,
// Nearest and RRF.
type Expr interface{ expr() }

// Lit is a literal, already converted to the type that its place wants.
type Lit struct{ Value value.Value }

// ParamRef is the argument of a parameter.
type ParamRef struct{ Index int }

// Prop is a property of the entity that a variable is bound to.
type Prop struct {
	Var  VarID
	Name string
	Type value.Type
}

// ID is the id of a node or an edge, a String.
type ID struct{ Var VarID }

// Endpoint is the id of the source or target node of an edge, a String.
type Endpoint struct {
	Var VarID
	To  bool // the target, not the source
}

// Whole is a node as an object of its id and properties.
type Whole struct{ Var VarID }

// Now is the instant of the query, a DateTime.
type Now struct{}

// AggFunc is an aggregate function.
type AggFunc uint8

// The aggregate functions.
const (
	Count AggFunc = iota
	Sum
	Avg
	Min
	Max
)

// String returns the function's name in the language.
func (f AggFunc) String() string { return [...]string{"count", "sum", "avg", "min", "max"}[f] }

// Agg is an aggregate over the rows of a group. Count of a Whole counts rows; every
// other aggregate passes over nulls.
type Agg struct {
	Func AggFunc
	Arg  Expr
}

// Matched is a text match as a Bool.
type Matched struct{ Match TextMatch }

// BM25 is the BM25 score of a String property for a query text, an F64.
type BM25 struct {
	Prop  Prop
	Query Expr
}

// Nearest is the cosine distance of a Vector property to a vector, an F64. A String
// operand is to be embedded first.
type Nearest struct {
	Prop   Prop
	Vector Expr
}

// RRF is the reciprocal rank fusion of two rankings, an F64.
type RRF struct {
	First, Second Expr // Nearest or BM25
	K             Expr // nil for the default of 60
}

func (Lit) expr()      {}
func (ParamRef) expr() {}
func (Prop) expr()     {}
func (ID) expr()       {}
func (Endpoint) expr() {}
func (Whole) expr()    {}
func (Now) expr()      {}
func (Agg) expr()      {}
func (Matched) expr()  {}
func (BM25) expr()     {}
func (Nearest) expr()  {}
func (RRF) expr()      {}

// Column is a column of the result.
type Column struct {
	Name string
	Expr Expr
	Type value.Type // of a scalar or list column
	// Fields are the members of a Whole column in order: id, then the node's
	// properties in schema order, blobs left out. Nil for other columns.
	Fields []Field
}

// Field is a member of a whole-node column.
type Field struct {
	Name string
	Type value.Type
}

// Order is a sort key. Ascending puts nulls first, descending last.
type Order struct {
	Expr Expr
	Desc bool
}

// Mutation is a list of statements that take effect in order, as one commit.
type Mutation struct{ Statements []Statement }

// Statement is one of Insert, Update and Delete.
type Statement interface{ statement() }

// Insert adds an entity; of a keyed node it replaces the whole row of the node with
// the same key, if there is one.
type Insert struct {
	Entity   Entity
	Type     string
	From, To Expr // ids of the endpoints of an edge; nil for a node
	ID       Expr // explicit id, or nil
	Set      []Assign
}

// Update assigns properties of every node that the predicate holds for.
type Update struct {
	Type  string
	Set   []Assign
	Where Pred
}

// Delete removes every entity that the predicate holds for; removing a node removes
// its edges.
type Delete struct {
	Entity Entity
	Type   string
	Where  Pred
}

func (Insert) statement() {}
func (Update) statement() {}
func (Delete) statement() {}

// Assign gives a property a value: Lit, ParamRef or Now.
type Assign struct {
	Name  string
	Type  value.Type // of the property
	Value Expr
}

// Pred compares a property, or one of the names id, from and to, with a value: Lit,
// ParamRef or Now.
type Pred struct {
	Name  string
	Type  value.Type // of the property; String for id, from and to
	Op    Op
	Value Expr
}
