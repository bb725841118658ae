package value

import (
	"slices"
	"strconv"
	"strings"
)

// Type is the type of a property, a parameter or a result column.
type Type struct {
	Kind     Kind `json:"kind"`           // kind of the value, or of a list's elements
	List     bool `json:"list,omitempty"` // whether it is a list of values
	Nullable bool `json:"nullable,omitempty"`
	// The length of a Vector; 256 × Precision + Scale of a Decimal; 0 for every other kind.
	Dim int `json:"dim,omitempty"`
	// The allowed values of an enum, in schema order; nil for every other type.
	Enum []string `json:"enum,omitempty"`
	// The fields of a record, in the order of the declaration. Only the parameters of queries can be
	// records or lists of records; then Kind is Invalid. Fields is nil for every other type.
	Fields []Field `json:"fields,omitempty"`
}

// Field is a field of a record. Its type is a scalar.
type Field struct {
	Name string `json:"name"`
	Type Type   `json:"type"`
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
	return t.Kind == o.Kind && t.List == o.List && t.Nullable == o.Nullable && t.Dim == o.Dim && slices.Equal(t.Enum, o.Enum) &&
		slices.EqualFunc(t.Fields, o.Fields, func(a, b Field) bool { return a.Name == b.Name && a.Type.Equal(b.Type) })
}

// String formats the type as a source writes it: String?, [I32], Vector(4), enum(a, b), [{ org: I64 }].
func (t Type) String() string {
	var s string
	switch {
	case t.Fields != nil:
		for i, f := range t.Fields {
			if i > 0 {
				s += ", "
			}
			s += f.Name + ": " + f.Type.String()
		}
		s = "{ " + s + " }"
	case t.Enum != nil:
		s = "enum(" + strings.Join(t.Enum, ", ") + ")"
	case t.Kind == Vector:
		s = "Vector(" + strconv.Itoa(t.Dim) + ")"
	case t.Kind == Decimal && t.Dim != 0:
		s = "Decimal(" + strconv.Itoa(t.Precision()) + ", " + strconv.Itoa(t.Scale()) + ")"
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
