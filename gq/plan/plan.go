// Package plan holds the typed, engine-neutral form of a checked query. Engines execute it,
// generated packages contain it, and explain prints it.
//
// Every name in a plan is resolved and every type is checked. A plan made against one schema can
// run on another one if the types and properties in [Query.Uses] are the same there.
package plan

import (
	"slices"
	"strings"
	"time"

	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Query is one checked query. Exactly one of Read and Mutation is set.
type Query struct {
	Name     string    // name of the query
	Params   []Param   // declared parameters, in order, and then those of actor()
	Read     *Read     // set for a query that returns rows
	Mutation *Mutation // set for a query that writes
	// AsOf is the DateTime as of which a read sees its target, a Lit or a ParamRef; nil for the target itself.
	AsOf Expr
	Uses []Use // parts of the schema that the query uses, by first use, without duplicates
}

// Instant returns the value of AsOf. It returns the zero time if AsOf is nil, or if its argument is no DateTime, which
// the call then reports.
func (q *Query) Instant(args []value.Value) time.Time {
	if q.AsOf == nil {
		return time.Time{}
	}
	at, _ := q.AsOf.(Lit)
	if ref, ok := q.AsOf.(ParamRef); ok && ref.Index < len(args) {
		at.Value = WithDefaults(q.Params, args)[ref.Index]
	}
	if at.Value.Kind() != value.DateTime || at.Value.IsList() {
		return time.Time{}
	}
	return value.DateTimeValue(at.Value.Int()).Time()
}

// Param is a declared parameter. Arguments are passed by position. An argument may be null if
// [Param.Optional] is true.
type Param struct {
	Name string     // name without the $
	Type value.Type // type of the argument

	// Default replaces a null argument. Default itself is null if the parameter has no default. The
	// type of a parameter with a default is not nullable.
	Default value.Value

	// Bounds and Pattern restrict the argument or, for a list, each element. Pattern is nil for a
	// parameter without one.
	Bounds  value.Bounds
	Pattern *value.Pattern // see Bounds

	Examples []value.Value // examples of the argument or, if it is a list, of one element

	// Node is the name of the node type that the argument is an id of, or "". The Type is then String.
	Node string

	// Interface is the name of the interface that the node of the argument implements, or "". The Type is then
	// that of [NodeType].
	Interface string

	// Caller says that the argument is not from the caller but says who the caller is: "id" or "groups", or the name of
	// a claim. These parameters follow the declared ones; their names start with "actor().".
	Caller string
}

// TypeText returns the type of the parameter as a query writes it.
func (p *Param) TypeText() string {
	name := p.Node + p.Interface // one of them is empty
	switch {
	case name == "":
		return p.Type.String()
	case p.Type.Nullable:
		return name + "?"
	}
	return name
}

// NodeType returns the type of a parameter that is a node of an interface: a record of the name of the node's
// type and the node's id. The argument lists the names of the types that implement the interface.
func NodeType(types []string) value.Type {
	return value.Type{Fields: []value.Field{
		{Name: "type", Type: value.Type{Kind: value.String, Enum: types}},
		{Name: "id", Type: value.Of(value.String)},
	}}
}

// OfNode returns the argument of a parameter that is a node of an interface, for the node with the given type
// and id.
func OfNode(typ, id string) value.Value {
	return value.OfRecord([]value.Value{value.OfString(typ), value.OfString(id)})
}

// NodeOf returns the type and the id of a node from its argument. It is the inverse of [OfNode].
func NodeOf(v value.Value) (typ, id string) {
	fields := v.Elems()
	return fields[0].Str(), fields[1].Str()
}

// Entity distinguishes nodes, edges and walks. Node types, edge types and interfaces have separate name
// spaces.
type Entity uint8

// The kinds of entity.
const (
	Node Entity = iota // a node
	Edge               // an edge
	Walk               // a walk, which only a Var can be; see [WalkPart]
	// Interface is the entity of a Var that stands for a node of any type that implements an
	// interface, and of the Use of such an interface.
	Interface
)

// String returns node, edge, walk or interface.
func (e Entity) String() string { return [...]string{"node", "edge", "walk", "interface"}[e] }

// IsNode reports whether a variable of this entity stands for a node.
func (e Entity) IsNode() bool { return e == Node || e == Interface }

// Use is a type, or a property of a type, that a query reads or writes. A schema can run the
// query if it has every Use of the query with the same types.
type Use struct {
	Entity   Entity     // whether Type is a node type, an edge type or an interface
	Type     string     // type name as in the schema
	Property string     // empty for the type itself
	Value    value.Type // type of the property
	From, To string     // [catalog.Edge.EndName] of the ends; only for an edge type itself
	Write    bool       // the query may change it
}

// Covers reports whether the query reads or writes the type `name`. The list `implements` has the
// interfaces that the type implements: a Use of an interface covers the types that implement it.
func (u Use) Covers(entity Entity, name string, implements []string) bool {
	if u.Entity == Interface {
		return entity == Node && slices.Contains(implements, u.Type)
	}
	return u.Entity == entity && u.Type == name
}

// VarID is the index of a variable in Read.Vars.
type VarID int

// NoVar is the VarID of a traversal that binds neither its edge nor its walk.
const NoVar VarID = -1

// Var is a variable of a read. Each `$_` is a variable of its own. A variable over an interface ranges over
// the nodes of all types that implement the interface. Its properties are those of the interface, and
// the String property `type`, which is the name of the node's type.
type Var struct {
	Name   string // without $; "_" for an anonymous variable
	Entity Entity // node, edge, walk or interface
	Type   string // name of the type or of the interface as in the schema; "" for a walk
	// Optional is true if an Optional binds the variable, so that it may be null.
	Optional bool
}

// NoLimit is the value of Read.Limit for a read without a limit.
const NoLimit int64 = -1

// Read is a query that returns rows. A match assigns entities to the variables outside blocks so that
// all clauses hold. The read yields the distinct matches. The order of clauses has no meaning, except
// that of the Optionals.
type Read struct {
	Vars    []Var    // variables, by VarID
	Valid   *Valid   // when the entities that the read sees are valid; nil to see all of them
	Match   []Clause // clauses that must all hold
	Columns []Column // columns of the result, in order
	// Grouped is set if a column contains an aggregate. The other columns are then the grouping key. It is
	// also set without an aggregate if the read returns each combination of its columns once.
	Grouped bool
	// Having lists conditions on the rows of the result: Filters, Anys and Alls. Their expressions are those of
	// columns. They apply after grouping and before Order and Limit.
	Having []Clause
	Order  []Order // most significant key first
	// Ties lists the node and edge variables bound outside blocks and in Optionals. Their entity ids, ascending
	// and null first, break ties of Order. A variable over an interface compares the name of the type before
	// the id, because ids are unique only within a type. Named variables come first, by name, and then anonymous ones, in source order. Ties
	// between grouped rows are broken by their grouping values in column order instead.
	Ties  []VarID
	Limit int64 // maximum number of rows, or NoLimit
	// LimitBy is the I32 parameter whose argument is the maximum number of rows; nil if no
	// parameter determines the maximum. If LimitBy is set, Limit is the upper bound of this
	// parameter.
	LimitBy *ParamRef
}

// MaxLimitBy is the largest upper bound that the @range of a limit's parameter may have.
const MaxLimitBy = 10_000

// Clause is one of Bind, Traverse, Filter, Not, Exists, Any, All and Optional.
type Clause interface{ clause() }

// Bind says that a node variable ranges over the nodes of its type. A variable that occurs only
// in traversals has no Bind and still ranges over the nodes of its type.
type Bind struct{ Var VarID }

// Traverse says that an edge leads from one node to another, regardless of the direction in
// which the query was written. If an end is a variable over an interface, all edge types of the
// clause have the same node type at this end, and nodes of other types do not match.
//
// Without EdgeVar, the clause yields a pair of nodes once, however many edges join them. With
// EdgeVar, each edge is an assignment of its own. With Or, the edge may be of any of several types; such a
// clause has an EdgeVar only if it is a walk.
//
// A walk holds for a pair of nodes if their breadth-first distance is between Min and Max. From
// each node the search follows every edge type of the clause that can start there, so the nodes
// between the ends may be of several types. EdgeVar is then a variable of the entity Walk. It
// belongs to the pair, so it adds no assignments. The distance from a node to itself is 0, even if
// a cycle leads back to the node, so a walk yields its start only if Min is 0. If From and To are
// the same variable, the walk must instead lead back to its start: it holds for a node if its
// shortest closed walk of at least one edge has a length between Min and Max. A closed walk may
// take an edge twice.
type Traverse struct {
	From, To   VarID    // the edge's source and target
	Edge       string   // name of the edge type, or of the first one
	Or         []string // names of the further edge types; nil for none
	EdgeVar    VarID    // variable of the edge or of the walk, or NoVar
	Undirected bool     // the edge may have either direction
	Walk       bool     // Min and Max bound the number of edges
	Min, Max   int      // both are 1 unless Walk is set
}

// Edges returns the names of the edge types that the clause may follow, the first one first.
func (t *Traverse) Edges() []string { return append([]string{t.Edge}, t.Or...) }

// MaxHops is the largest upper bound that the language allows for a walk. Engines run plans with
// any bounds.
const MaxHops = 64

// Filter keeps the assignments for which the condition is true.
type Filter struct{ Cond Cond }

// Not keeps the assignments of the outer variables for which the clauses in the `not` block have no
// match. Variables that are bound inside the block are not visible outside. A Not is dropped if all its
// clauses are; see [Dropped].
type Not struct{ Match []Clause }

// clause implements Clause.
func (Bind) clause()     {}
func (Traverse) clause() {}
func (Filter) clause()   {}
func (Not) clause()      {}

// Op is a comparison operator.
type Op uint8

// The comparison operators. Contains tests membership if the left side is a list, and for a
// substring if it is a String.
const (
	Eq Op = iota
	Ne
	Lt
	Le
	Gt
	Ge
	Contains   // see above
	StartsWith // whether the String on the left starts with that on the right
	In         // whether the list on the right contains the value on the left
	Matches    // whether the String on the left matches the pattern on the right, a Lit or a ParamRef
)

// String returns the operator as the language writes it.
func (o Op) String() string {
	return [...]string{"=", "!=", "<", "<=", ">", ">=", "contains", "starts_with", "in", "matches"}[o]
}

// NoParam is the value of Compare.Unless for a comparison that always applies.
const NoParam = -1

// Cond is one of Compare, TextMatch and NullTest.
type Cond interface{ cond() }

// Compare is true if the comparison holds. A comparison with null on either side never holds. If both
// operands are Wholes, Op is Eq or Ne, and compares the types and ids of the nodes. The same holds if Left is a
// Whole and Right is a parameter that is a node of an interface. An operand EndNode is compared in the same way, with
// an EndNode, a Whole or such a parameter, in either order. If the argument of the parameter Unless is null, the comparison is dropped; see [Dropped].
type Compare struct {
	Op          Op
	Left, Right Expr // the operands
	Unless      int  // index of a parameter, or NoParam
}

// TextKind is a kind of text match.
type TextKind uint8

// The kinds of text match: any token, the exact phrase, tokens within an edit distance.
const (
	Search TextKind = iota // any token
	Phrase                 // the exact phrase
	Fuzzy                  // tokens within an edit distance
)

// String returns the name of the function in the language.
func (k TextKind) String() string { return [...]string{"search", "match_text", "fuzzy"}[k] }

// TextMatch is true when the String property matches the query text.
type TextMatch struct {
	Kind     TextKind // how the text must match
	Prop     Prop     // the property to search in
	Query    Expr     // the text to search for
	MaxEdits Expr     // Fuzzy only; nil for the default of 2
}

// cond implements Cond.
func (Compare) cond()   {}
func (TextMatch) cond() {}

// Expr is one of Lit, ParamRef, Prop, ID, Endpoint, EndNode, Origin, WalkPart, Whole, Now, Agg, Matched, BM25,
// Nearest, RRF, Apply, Test, Holds, BlockAgg, BlockRows, Member, NodeRef and, in a mutation only, Old, KeyOf
// and Cell.
type Expr interface{ expr() }

// Lit is a literal. It is already converted to the type that its context requires.
type Lit struct{ Value value.Value }

// ParamRef is the argument of a parameter.
type ParamRef struct{ Index int }

// Prop is a property of the entity that a variable is bound to.
type Prop struct {
	Var  VarID      // the variable
	Name string     // name of the property
	Type value.Type // type of the property
}

// ID is the id of a node or an edge. Its type is String.
type ID struct{ Var VarID }

// Endpoint is the id of an edge's source or target node. Its type is String.
type Endpoint struct {
	Var VarID // the edge variable
	To  bool  // the target instead of the source
}

// EndNode is the node at an end of an edge whose type has an interface there: a record with the type and the
// id of the node, like [OfNode]. A column of it has the Fields of [NodeFields], and each of its rows holds
// the two values one after the other. Otherwise an EndNode is only an operand of a Compare with Eq or Ne and of a NullTest,
// and the argument of Count and Collect.
type EndNode struct {
	Var       VarID  // the edge variable
	To        bool   // the target instead of the source
	Interface string // name of the interface at this end
}

// NodeFields returns the fields of a column with the type and the id of a node, for [EndNode]. The list
// contains the names of the types that the node may have.
func NodeFields(types []string) []Field {
	fields := make([]Field, 0, 2)
	for _, f := range NodeType(types).Fields {
		fields = append(fields, Field{Name: f.Name, Type: f.Type})
	}
	return fields
}

// Whole is a node as an object with its id and properties. It is null if an optional variable is.
type Whole struct{ Var VarID }

// Now is the time of the query, a DateTime.
type Now struct{}

// Agg is an aggregate over the rows of a group. Count of a Whole counts the rows in which the
// node is not null. Every other aggregate ignores nulls too.
type Agg struct {
	Func     AggFunc // the aggregate function
	Distinct bool    // equal values count once; only if [Aggregate.Distinct] of the function is set
	Arg      Expr    // its argument
}

// Matched is the result of a text match as a Bool.
type Matched struct{ Match TextMatch }

// BM25 is the BM25 score of a String property for a query text, an F64.
type BM25 struct {
	Prop  Prop // the property to search in
	Query Expr // the text to search for
}

// Nearest is an F64: the cosine distance between Prop and Vector. If Vector is a String, it must be
// embedded first.
type Nearest struct {
	Prop   Prop // the property with the stored vectors
	Vector Expr // a vector, or a String to embed
}

// RRF is the reciprocal rank fusion of two rankings, an F64.
type RRF struct {
	First, Second Expr // Nearest or BM25
	K             Expr // nil for the default of 60
}

// expr implements Expr.
func (Lit) expr()      {}
func (ParamRef) expr() {}
func (Prop) expr()     {}
func (ID) expr()       {}
func (Endpoint) expr() {}
func (EndNode) expr()  {}
func (Whole) expr()    {}
func (Now) expr()      {}
func (Agg) expr()      {}
func (Matched) expr()  {}
func (BM25) expr()     {}
func (Nearest) expr()  {}
func (RRF) expr()      {}

// Column is a column of the result.
type Column struct {
	Name string     // name of the column
	Expr Expr       // computes the values
	Type value.Type // type of a scalar or list column; for a column of records only Nullable and List are set
	// Fields lists the members of a record. It is nil for a column without records. The members of a
	// Whole column, and of a column that collects nodes, are id and then the node's properties in schema
	// order without blobs; those of a BlockRows are its columns.
	Fields []Field
}

// TypeText returns the type of the column as people read it. For records it lists the members:
// { id: String, age: I32? }, or [{ id: String, age: I32? }] for a list.
func (c *Column) TypeText() string { return typeText(c.Type, c.Fields, "{ ", " }") }

// typeText formats a type. If there are fields, the type is a record or a list of records, and
// typeText writes `left` before the fields and `right` after them.
func typeText(t value.Type, fields []Field, left, right string) string {
	if fields == nil {
		return t.String()
	}
	texts := make([]string, len(fields))
	for i, f := range fields {
		texts[i] = f.Name + ": " + typeText(f.Type, f.Fields, left, right)
	}
	text := left + strings.Join(texts, ", ") + right
	if t.List {
		text = "[" + text + "]"
	}
	if t.Nullable {
		text += "?"
	}
	return text
}

// Field is a member of a record.
type Field struct {
	Name   string     // name of the member
	Type   value.Type // type of the member; see [Column.Type]
	Fields []Field    // see [Column.Fields]
}

// Order is a sort key. Nulls come first in ascending order and last in descending order.
type Order struct {
	Expr Expr // computes the values to sort by
	Desc bool // in descending order
}
