package syntax

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Operand is an expression of the query language: one of *Literal, *VarRef, *PropRef, *AliasRef,
// *Now, *ActorRef, *OriginRef, *Call, *Binary, *Comparison, *Condition, *Subquery and *FieldRef. An operand in parentheses has no node of its own.
type Operand interface {
	operand()
	Source() Range
}

// LiteralKind is the kind of a literal.
type LiteralKind uint8

// The kinds of literal.
const (
	StringLiteral LiteralKind = iota
	IntLiteral
	FloatLiteral
	BoolLiteral
	TextLiteral // the text of another kind, such as date("2024-05-01")
	ListLiteral
)

// Literal is a literal value.
type Literal struct {
	Range
	Kind  LiteralKind
	Of    value.Kind // of a TextLiteral
	Text  string     // unquoted for a StringLiteral or TextLiteral; otherwise as written
	Elems []*Literal // of a ListLiteral
}

// VarRef is a variable or parameter without a property.
type VarRef struct{ Range }

// PropRef is a property of a variable.
type PropRef struct {
	Range
	Var, Prop Token // the variable, and the name of the property
}

// AliasRef is a bare name. In an `order` clause it refers to a column.
type AliasRef struct{ Range }

// Now is a call of now().
type Now struct{ Range }

// ActorRef is actor(), the caller of the query, with the name of a member. The checker reports a missing name.
type ActorRef struct {
	Range
	Member *Token // nil if it is not written
}

// OriginRef is origin($x), the origin of an entity, with the name of a fact. The checker reports a missing name.
type OriginRef struct {
	Range
	Var  Token  // the variable
	Fact *Token // nil if it is not written
}

// Call is a call of a function or an aggregate. Each argument may be a *Comparison.
type Call struct {
	Range
	Name     Token     // of the function or aggregate
	Distinct *Token    // the word `distinct` before the first argument; nil if it is not written
	Args     []Operand // the arguments in order
}

// Name returns the name of the member, or "" if it is not written.
func (a *ActorRef) Name() string {
	if a.Member == nil {
		return ""
	}
	return a.Member.Value
}

// Binary combines two operands with an arithmetic operator: + - * / or %.
type Binary struct {
	Range
	Left  Operand
	Op    Token
	Right Operand
}

// Comparison compares two operands, or tests one operand for null. In a comparison, Null is nil. In
// a test for null, Op and Right are not set. In the source it is either in parentheses or an argument
// of a call.
type Comparison struct {
	Range
	Left  Operand
	Op    Token
	Right Operand
	Null  *NullTest
}

// Condition is a block as an operand: the operand is true if the block holds, and else false.
type Condition struct {
	Range
	Block Clause // a *Not, *Exists, *Any or *All
}

// operand marks the types that are an [Operand].
func (*Literal) operand()    {}
func (*VarRef) operand()     {}
func (*PropRef) operand()    {}
func (*AliasRef) operand()   {}
func (*Now) operand()        {}
func (*ActorRef) operand()   {}
func (*OriginRef) operand()  {}
func (*Call) operand()       {}
func (*Binary) operand()     {}
func (*Comparison) operand() {}
func (*Condition) operand()  {}

// Source returns the tokens of the operand.
func (r Range) Source() Range { return r }

// Functions lists the names of the functions that a Call can have.
var Functions = slices.Concat(plan.AggregateNames(), []string{"search", "match_text", "fuzzy", "bm25", "nearest", "rrf"},
	plan.FunctionNames(), plan.Units(), []string{TypeFunction})

// ActorFunction is the name of the function that returns the caller of the query.
const ActorFunction = "actor"

// OriginFunction is the name of the function that returns the origin of an entity.
const OriginFunction = "origin"

// TypeFunction is the name of the function that returns the type of a node.
const TypeFunction = "type"

// literalFunctions lists the functions that write a literal, such as date.
var literalFunctions = func() []string {
	var names []string
	for _, k := range value.Kinds() {
		if f := k.Literal(); f != "" {
			names = append(names, f)
		}
	}
	return names
}()
