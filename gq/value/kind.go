// Package value holds the scalar types of the graph languages and the values of parameters,
// literals and rows.
package value

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
)

// Kind is the scalar kind of a value, or of the elements of a list. The table `rows` describes each
// kind.
type Kind uint8

// Storage is the form in which programs hold the values of a kind: the array of a column, the field
// of a batch, and the payload of a Value. Several kinds may share a storage. A new kind with an
// existing storage needs no new code in the engine.
type Storage uint8

// The storages. Each comment says what the array of a column contains.
const (
	InNone    Storage = iota // of Invalid, and of numbers that are not kinds
	InBits                   // bits
	InInt32                  // int32
	InUint32                 // uint32
	InInt64                  // int64
	InUint64                 // uint64
	InFloat32                // float32
	InFloat64                // float64
	InText                   // UTF-8 texts
	InBytes                  // bytes
	InVector                 // float32, as many per value as the type's Dim
)

// IsFixed reports whether a value is stored as an integer of at most 64 bits, not as a float, so
// that [Value.Bits] is that integer.
func (s Storage) IsFixed() bool { return s >= InBits && s <= InUint64 }

// IsSigned reports whether the payload of a value, read as an int64, has the same order as the
// values.
func (s Storage) IsSigned() bool { return s >= InBits && s <= InInt64 }

// IsFloat reports whether the values are floats.
func (s Storage) IsFloat() bool { return s == InFloat32 || s == InFloat64 }

// HasBytes reports whether the values are sequences of bytes.
func (s Storage) HasBytes() bool { return s == InText || s == InBytes }

// JSON is the form of the values of a kind in JSON.
type JSON uint8

// The forms in JSON.
const (
	NoJSON    JSON = iota // of Invalid, and of numbers that are not kinds
	JSONBool              // true or false
	JSONNum               // a number
	JSONWide              // a number, or a string with one, because it may not fit a float64
	JSONText              // a string
	JSONArray             // an array of numbers
)

// Schema holds the members, apart from the type, of a JSON Schema for the strings of a kind.
type Schema struct {
	Format   string // the JSON Schema format; "" for none
	Pattern  string // a regular expression; "" for none
	Encoding string // contentEncoding, such as base64; "" for none
}

// Kinds returns all kinds in the order of their numbers.
func Kinds() []Kind {
	all := make([]Kind, len(rows))
	for i := range rows {
		all[i] = rows[i].kind
	}
	return all
}

// IsKind reports whether k is one of the kinds and not Invalid.
func (k Kind) IsKind() bool { return k.Storage() != InNone }

// String returns the name of the kind in a schema.
func (k Kind) String() string {
	if r := byNumber[k]; r != nil {
		return r.name
	}
	if k == Invalid {
		return invalidName
	}
	return "Kind(" + strconv.Itoa(int(k)) + ")"
}

// invalidName is the name of Invalid.
const invalidName = "invalid"

// MarshalText writes the name of the kind in a schema.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText parses the name of a kind in a schema.
func (k *Kind) UnmarshalText(b []byte) error {
	if string(b) == invalidName {
		*k = Invalid
		return nil
	}
	for i := range rows {
		if rows[i].name == string(b) {
			*k = rows[i].kind
			return nil
		}
	}
	return fmt.Errorf("this program does not know the scalar kind %q; use a newer version of the program", b)
}

// KindOf returns the kind with the given name in a schema and reports whether there is one. It
// does not know Vector and Decimal, whose types also need numbers.
func KindOf(name string) (Kind, bool) {
	for i := range rows {
		if rows[i].name == name && rows[i].kind != Vector && rows[i].kind != Decimal {
			return rows[i].kind, true
		}
	}
	return Invalid, false
}

// KindOfLiteral returns the kind whose literals a function of the query language writes, such as
// Date for date. It reports whether there is such a kind.
func KindOfLiteral(function string) (Kind, bool) {
	for i := range rows {
		if rows[i].literal == function && function != "" {
			return rows[i].kind, true
		}
	}
	return Invalid, false
}

// Storage returns the storage of the kind's values.
func (k Kind) Storage() Storage { return storages[k] }

// IsInteger reports whether k is a kind of integer numbers.
func (k Kind) IsInteger() bool { return traits[k]&isInteger != 0 }

// IsFloat reports whether k is F32 or F64.
func (k Kind) IsFloat() bool { return storages[k].IsFloat() }

// IsNumeric reports whether k is an integer or a float kind. Any two numeric kinds can be compared,
// and the aggregates sum and avg accept them.
func (k Kind) IsNumeric() bool { return traits[k]&(isInteger|isFraction) != 0 }

// IsComparable reports whether the operators = and < accept two values of the kind. If so, the kind
// can also be used in order, in a key, in a unique tuple and in a sorted index.
func (k Kind) IsComparable() bool { return traits[k]&isComparable != 0 }

// IsScale reports whether the values lie on a scale: they are comparable, and neither texts nor
// truth values. A reader usually asks for a range of them.
func (k Kind) IsScale() bool { return traits[k]&onScale != 0 }

// HasExtremes reports whether the aggregates min and max accept the kind.
func (k Kind) HasExtremes() bool { return traits[k]&(onScale|isText) != 0 }

// HasText reports whether the kind is stored as a number of fixed width and written as a text
// of its own, such as Date.
func (k Kind) HasText() bool { r := byNumber[k]; return r != nil && r.parse != nil }

// Widens reports whether `to` is a wider numeric kind that has every value of k: I32 widens to I64
// and F64; U32 to I64, U64 and F64; F32 to F64.
func (k Kind) Widens(to Kind) bool { return k.IsKind() && slices.Contains(k.row().widens, to) }

// JSON returns the form of the kind's values in JSON.
func (k Kind) JSON() JSON { return k.row().json }

// Schema returns the members of a JSON Schema for a kind with the form JSONText.
func (k Kind) Schema() Schema { return k.row().schema }

// GoType returns the Go type of a value in generated code. Vector has none, because its type
// depends on a length. A Date is no time.Time, because a day has no zone and no time.
func (k Kind) GoType() reflect.Type { return k.row().goType }

// Literal returns the function of the query language that writes a literal of the kind, such as
// date, or "" if literals have another form.
func (k Kind) Literal() string { return k.row().literal }

// Example returns a value as JSON.
func (k Kind) Example() string { return k.row().example }

// Wanted describes the values that a caller may send, as the words after "expected".
func (k Kind) Wanted() string { return k.row().wanted }

// WireName returns the name of the kind in the list of stored queries that REST serves. It does not
// distinguish integers of up to 32 bits, integers of 64 bits with and without a sign, or the two
// widths of floats.
func (k Kind) WireName() string { return k.row().wire }

// row returns the row of a kind. It panics for Invalid and for numbers that are not kinds.
func (k Kind) row() *row {
	if r := byNumber[k]; r != nil {
		return r
	}
	panic("value: no kind has the number " + strconv.Itoa(int(k)))
}
