package syntax

import "github.com/omnigraph-go/omnigraph/gq/value"

// Schema is a parsed .pg file: the declarations that follow the grammar, in source order.
type Schema struct {
	Name, Text string    // name and content of the file
	Decls      []Decl    // the declarations
	Broken     []string  // names of the types whose declarations do not follow the grammar
	Comments   []Comment // in source order
}

// Decl is one of *Interface, *Node and *Edge.
type Decl interface{ decl() }

// Interface declares properties that node types share.
type Interface struct {
	Range
	Name       Token       `parser:"'interface' @TypeName '{'"`
	Properties []*Property `parser:"@@* '}'"`
}

// Node declares a node type.
type Node struct {
	Range
	Name        Token         `parser:"'node' @TypeName"`
	Annotations []*Annotation `parser:"@@*"`
	Implements  []*TypeRef    `parser:"( 'implements' @@ ( ',' @@ )* )? '{'"`
	Members     []Member      `parser:"@@* '}'"` // properties and constraints
}

// Edge declares an edge type.
type Edge struct {
	Range
	Name        Token         `parser:"'edge' @TypeName ':'"`
	From        Token         `parser:"@TypeName '->'"` // name of the source's node type
	To          Token         `parser:"@TypeName"`
	Cards       []*Card       `parser:"( @@"` // each @card; more than one is a fault
	Annotations []*Annotation `parser:"| @@ )*"`
	Members     []Member      `parser:"( '{' @@* '}' )?"` // properties and constraints
}

// decl marks the types that are a [Decl].
func (*Interface) decl() {}
func (*Node) decl()      {}
func (*Edge) decl()      {}

// TypeRef is the name of an interface in an implements clause.
type TypeRef struct {
	Range
	Name Token `parser:"@TypeName"`
}

// Card bounds the number of edges for each source node: @card(min..max).
type Card struct {
	Range
	Min Token  `parser:"(?= '@' 'card') '@' 'card' '(' @Int '..'"`
	Max *Token `parser:"@Int? ')'"` // nil for no maximum
}

// Member is one of *Property, *ListConstraint, *RangeConstraint and *CheckConstraint.
type Member interface{ member() }

// Property declares a property.
type Property struct {
	Range
	Name        Token         `parser:"@Name ':'"`
	Type        *Type         `parser:"@@"`
	Annotations []*Annotation `parser:"@@*"`
}

// ListConstraint is @key, @unique or @index over properties.
type ListConstraint struct {
	Range
	Kind  Token      `parser:"(?= '@' ('key'|'unique'|'index')) '@' @Name '('"`
	Names []*NameRef `parser:"@@ ( ',' @@ )* ')'"` // the properties
}

// RangeConstraint is @range(property, min..max). Both ends are inclusive.
type RangeConstraint struct {
	Range
	Name Token  `parser:"(?= '@' 'range') '@' 'range' '(' @Name ','"` // of the property
	Min  *Token `parser:"@(Int|Float)? '..'"`                         // nil for no minimum
	Max  *Token `parser:"@(Int|Float)? ')'"`                          // nil for no maximum
}

// CheckConstraint is @check(property, "regular expression").
type CheckConstraint struct {
	Range
	Name    Token `parser:"(?= '@' 'check') '@' 'check' '(' @Name ','"` // of the property
	Pattern Token `parser:"@String ')'"`                                // the regular expression
}

// member marks the types that are a [Member].
func (*Property) member()        {}
func (*ListConstraint) member()  {}
func (*RangeConstraint) member() {}
func (*CheckConstraint) member() {}

// Type is the type of a property or a parameter. Exactly one of List, Record, Name.Value and EnumEnd is
// set. They stand for the element type of a list, the fields of a list of records, the name of a scalar
// or Vector, and an enum. Only a parameter can be a list of records.
type Type struct {
	Range
	Name      Token        `parser:"( @TypeName"`
	Dim       *Token       `parser:"  ( '(' @Int"`             // length of a Vector, or precision of a Decimal
	Scale     *Token       `parser:"    ( ',' @Int )? ')' )?"` // of a Decimal
	List      *Token       `parser:"| '[' ( @TypeName"`
	ElemDim   *Token       `parser:"      ( '(' @Int"`        // precision of the Decimals in a list
	ElemScale *Token       `parser:"        ',' @Int ')' )?"` // their scale
	Record    []*TypeField `parser:"      | '{' @@ ( ','? @@ )* '}' ) ']'"`
	Enum      []*EnumValue `parser:"| (?= 'enum' '(') 'enum' '(' ( @@ ( ',' @@ )* )?"`
	EnumEnd   *Token       `parser:"  @')' )"`
	Nullable  bool         `parser:"@'?'?"` // ends with ?
}

// TypeField is a field of the records in a list.
type TypeField struct {
	Range
	Name Token `parser:"@Name ':'"`
	Type *Type `parser:"@@"`
}

// Value returns the type that t denotes. The parser has checked the names. A Vector may still
// have length 0, and an enum may still have invalid values.
func (t *Type) Value() value.Type {
	v := value.Type{Nullable: t.Nullable}
	switch {
	case t.Record != nil:
		v.List = true
		for _, f := range t.Record {
			v.Fields = append(v.Fields, value.Field{Name: f.Name.Value, Type: f.Type.Value()})
		}
	case t.List != nil:
		v.List = true
		v.Kind, _ = value.KindOf(t.List.Value)
		if t.ElemDim != nil {
			v.Kind, v.Dim = value.Decimal, decimalDim(t.ElemDim, t.ElemScale)
		}
	case t.EnumEnd != nil:
		v.Kind, v.Enum = value.String, []string{}
		for _, e := range t.Enum {
			v.Enum = append(v.Enum, e.Text)
		}
	case t.Name.Value == "Vector":
		v.Kind = value.Vector
		v.Dim, _ = Small(*t.Dim)
	case t.Name.Value == "Decimal":
		v.Kind, v.Dim = value.Decimal, decimalDim(t.Dim, t.Scale)
	default:
		v.Kind, _ = value.KindOf(t.Name.Value)
	}
	return v
}

// decimalDim returns value.Type.Dim of a Decimal. If the parser has reported the numbers, it returns that of Decimal(1, 0).
func decimalDim(precision, scale *Token) int {
	if precision != nil && scale != nil {
		p, okP := Small(*precision)
		s, okS := Small(*scale)
		if okP && okS && value.IsDecimal(p, s) {
			return value.DecimalOf(p, s).Dim
		}
	}
	return value.DecimalOf(1, 0).Dim
}

// EnumValue is one or more letters, digits, _ and -, which may span several tokens.
type EnumValue struct {
	Range
	Text string // the joined tokens
}

// Annotation is @name or @name(arguments) on a type or a property. A constraint that follows a
// property in a body is not an annotation of the property.
type Annotation struct {
	Range
	Name Token            `parser:"(?! '@' ('range' | 'check' | ('key' | 'unique' | 'index') '(')) '@' @Name"`
	Args []*AnnotationArg `parser:"( '(' @@ ( ',' @@ )* ')' )?"`
}

// AnnotationArg is a literal or a name, or a literal with a key: key = literal.
type AnnotationArg struct {
	Range
	Key     *Token  `parser:"( (?= Name '=') @Name '=' )?"`
	Literal Operand `parser:"( (?= 'true' | 'false' | Name '(' | String | Int | Float | '[') @@"`
	Name    *Token  `parser:"| @(Name | TypeName) )"`
}

// NameRef is the name of a property in a list.
type NameRef struct {
	Range
	Name Token `parser:"@Name"` // of the property
}
