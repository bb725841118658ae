// Package value holds the scalar types of the graph languages and the values of parameters,
// literals and rows.
package value

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Kind is the scalar kind of a value, or of the elements of a list.
type Kind uint8

// The scalar kinds of the languages. An enum is a String with a set of allowed values in its
// Type.
const (
	Invalid Kind = iota
	String
	Bool
	I32
	I64
	U32
	U64
	F32
	F64
	Date
	DateTime
	Blob
	Vector
)

var kindNames = [...]string{
	Invalid: "invalid", String: "String", Bool: "Bool", I32: "I32", I64: "I64", U32: "U32", U64: "U64",
	F32: "F32", F64: "F64", Date: "Date", DateTime: "DateTime", Blob: "Blob", Vector: "Vector",
}

// String returns the name of the kind in a schema.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "Kind(" + strconv.Itoa(int(k)) + ")"
}

// MarshalText writes the name of the kind in a schema.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText parses the name of a kind in a schema.
func (k *Kind) UnmarshalText(b []byte) error {
	for i, name := range kindNames {
		if name == string(b) {
			*k = Kind(i)
			return nil
		}
	}
	return fmt.Errorf("%q is no scalar kind", b)
}

// KindOf returns the kind with the given name in a schema and reports whether there is one. It
// does not know Vector, because a Vector type also needs a length.
func KindOf(name string) (Kind, bool) {
	for k := String; k < Vector; k++ {
		if kindNames[k] == name {
			return k, true
		}
	}
	return Invalid, false
}

// IsInteger reports whether k is one of the four integer kinds.
func (k Kind) IsInteger() bool { return k >= I32 && k <= U64 }

// IsFloat reports whether k is F32 or F64.
func (k Kind) IsFloat() bool { return k == F32 || k == F64 }

// IsNumeric reports whether k is an integer or a float kind.
func (k Kind) IsNumeric() bool { return k.IsInteger() || k.IsFloat() }

// Type is the type of a property, a parameter or a result column.
type Type struct {
	Kind     Kind `json:"kind"`
	List     bool `json:"list,omitempty"`
	Nullable bool `json:"nullable,omitempty"`
	Dim      int  `json:"dim,omitempty"` // length of a Vector; 0 for every other kind
	// The allowed values of an enum, in schema order; nil for every other type.
	Enum []string `json:"enum,omitempty"`
}

// Of returns the required scalar type of kind k.
func Of(k Kind) Type { return Type{Kind: k} }

// Elem returns the type of a list's elements: t with List and Nullable cleared.
func (t Type) Elem() Type { t.List, t.Nullable = false, false; return t }

// Optional returns t as a nullable type.
func (t Type) Optional() Type { t.Nullable = true; return t }

// Required returns t as a type that is not nullable.
func (t Type) Required() Type { t.Nullable = false; return t }

// Equal reports whether two types are the same, including the enum values and their order.
func (t Type) Equal(o Type) bool {
	return t.Kind == o.Kind && t.List == o.List && t.Nullable == o.Nullable && t.Dim == o.Dim && slices.Equal(t.Enum, o.Enum)
}

// String formats the type as a schema writes it: String?, [I32], Vector(4), enum(a, b).
func (t Type) String() string {
	var s string
	switch {
	case t.Enum != nil:
		s = "enum(" + strings.Join(t.Enum, ", ") + ")"
	case t.Kind == Vector:
		s = "Vector(" + strconv.Itoa(t.Dim) + ")"
	default:
		s = t.Kind.String()
	}
	if t.List {
		s = "[" + s + "]"
	}
	if t.Nullable {
		s += "?"
	}
	return s
}
