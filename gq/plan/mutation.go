package plan

import "github.com/omnigraph-go/omnigraph/gq/value"

// Mutation is a list of statements that are executed in order, as one commit.
//
// An expression of a statement is one of these: a Lit, a ParamRef, a Now, an Old, a KeyOf, a Cell,
// a NodeRef, or the ID of an entity in Vars. It may also compute with such expressions.
type Mutation struct {
	// Vars lists the entities for which inserts declare a variable. Vars[i].Optional is true if a
	// later statement may delete the entity.
	Vars       []Var
	Statements []Statement // in the order of their execution
	// Returns lists the columns of the row that the mutation returns. The columns use the Vars of
	// inserts outside blocks, with the values after the last statement. Returns is nil if the
	// mutation returns no row.
	Returns []Column
}

// Statement is one of Insert, Update, Delete and ForEach.
type Statement interface{ statement() }

// Insert adds an entity. If a node with the same key exists, Insert replaces the whole row of
// that node, unless New is set: then the mutation fails. An insert with an explicit id always fails
// if the id is taken.
//
// If the entity exists, an upsert only changes the assigned properties. It finds a node by its key. It finds an edge by its
// explicit id; else by its ends and the assigned members of the first unique rule of the type that has both ends and in which no
// member is null. A new edge without an explicit id gets one that follows from these values.
type Insert struct {
	Entity Entity // node or edge
	Type   string // name of the type
	// From and To are the ids of an edge's endpoints. At an interface they are records: see NodeRef and
	// [OfNode]. They are nil for a node.
	From, To Expr
	ID       Expr     // explicit id, or nil
	Set      []Assign // properties to assign
	Upsert   bool     // see above
	New      bool     // see above; never set for an upsert
	As       *VarID   // the index of the entity in Mutation.Vars; nil if it has no name
}

// Update assigns properties of every entity for which all predicates hold.
type Update struct {
	Entity Entity   // node or edge
	Type   string   // name of the type
	Set    []Assign // properties to assign
	Where  []Pred   // select the entities
}

// Delete removes every entity for which all predicates hold. Removing a node also removes its
// edges.
type Delete struct {
	Entity Entity // node or edge
	Type   string // name of the type
	Where  []Pred // select the entities
}

// ForEach runs its statements for each row of a read, or for each element of a list. Its statements
// are Inserts, Updates and Deletes. The first statement runs for all rows, then the second one for
// all rows, and so on. All their expressions and predicates read the state in which the ForEach
// began.
//
// An update or a delete acts once on each distinct entity. The run fails if one statement assigns
// different values to a property of an entity. It also fails if there are more than MaxRows rows.
type ForEach struct {
	Read *Read  // the match; nil for a list
	List Expr   // a list, whose elements are the rows of one column; nil for a match
	Var  string // name of the variable for the element, without $; "" for a match
	// Statements run for each row. A Cell in them is a value of the row.
	Statements []Statement
}

// MaxRows is the maximum number of rows or elements for which a ForEach runs.
const MaxRows = 10_000

// statement implements Statement.
func (Insert) statement()  {}
func (Update) statement()  {}
func (Delete) statement()  {}
func (ForEach) statement() {}

// Assign assigns a value to a property.
type Assign struct {
	Name  string     // name of the property
	Type  value.Type // type of the property
	Value Expr       // the new value
}

// Pred compares a property, or one of `id`, `from` and `to`, with a value.
type Pred struct {
	Name string // name of the property, or `id`, `from` or `to`
	// Type is the type of the property. It is String for `id`, `from` and `to`, and that of [NodeType] for an end at an
	// interface, which Op Eq or Ne compares.
	Type  value.Type
	Op    Op
	Value Expr // the value to compare with; a list if Op is In
}

// Old is the value that a property of the entity had before an update or an upsert. It is null if an
// upsert adds the entity.
type Old struct {
	Name string     // name of the property
	Type value.Type // type of the property
}

// KeyOf is the id of the node with the given key, a String. It is null if a member of the key is
// null.
type KeyOf struct {
	Node string   // name of the node type
	Key  []Assign // the members of the key, sorted by name
}

// Cell is a value of the row for which a ForEach runs its statements.
type Cell struct {
	Column int        // index of the column; 0 for a list
	Name   string     // the expression of the column, as the query writes it
	Type   value.Type // type of the value
}

// NodeRef is a node at an end of an edge whose type has an interface there: a record with the type and the
// id of the node, like [OfNode]. It is null if Type or ID is null. In a read, it occurs only in a comparison with
// a Whole or an EndNode; its Type is then a Lit and its ID a ParamRef.
type NodeRef struct {
	Type Expr // name of the node's type: a Lit, or a Cell with the property `type` of a variable over an interface
	ID   Expr // id of the node, a String
}

// expr implements Expr.
func (Old) expr()     {}
func (KeyOf) expr()   {}
func (Cell) expr()    {}
func (NodeRef) expr() {}

// Walk calls visit for each statement, including those in a ForEach.
func (m *Mutation) Walk(visit func(Statement)) {
	for _, st := range m.Statements {
		visit(st)
		if each, ok := st.(ForEach); ok {
			for _, inner := range each.Statements {
				visit(inner)
			}
		}
	}
}

// Target returns the type that a statement writes. For a ForEach it returns "".
func Target(st Statement) (entity Entity, typ string) {
	switch st := st.(type) {
	case Insert:
		return st.Entity, st.Type
	case Update:
		return st.Entity, st.Type
	case Delete:
		return st.Entity, st.Type
	case ForEach:
	}
	return Node, ""
}

// Written returns the assignments and the predicates of a statement.
func Written(st Statement) (set []Assign, where []Pred) {
	switch st := st.(type) {
	case Insert:
		return st.Set, nil
	case Update:
		return st.Set, st.Where
	case Delete:
		return nil, st.Where
	case ForEach:
	}
	return nil, nil
}

// UsesOld reports whether an expression computes with an Old.
func UsesOld(e Expr) bool {
	uses := false
	WalkExpr(e, func(e Expr) {
		_, old := e.(Old)
		uses = uses || old
	})
	return uses
}

// UsesStored reports whether a statement computes with stored values: with an Old, or with a Cell of a match. It
// reports false for nil.
func (m *Mutation) UsesStored() bool {
	if m == nil {
		return false
	}
	uses, match := false, false
	visit := func(st Statement) {
		for _, e := range StatementExprs(st) {
			WalkExpr(e, func(e Expr) {
				_, old := e.(Old)
				_, cell := e.(Cell)
				uses = uses || old || cell && match
			})
		}
	}
	for _, st := range m.Statements {
		visit(st)
		if each, ok := st.(ForEach); ok {
			match = each.Read != nil
			for _, inner := range each.Statements {
				visit(inner)
			}
		}
	}
	return uses
}
