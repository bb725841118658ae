package value

import (
	"reflect"
	"time"
)

// The scalar kinds of the languages. An enum is a String with a set of allowed values in its Type.
//
// The numbers are stored: in the blocks of columns, in the digests of idempotency keys and page
// tokens, and in the plans that generated code carries. A number never changes and is never given
// to another kind; testdata/numbers.golden pins them.
const (
	Invalid  Kind = 0 // the kind of no value
	String   Kind = 1
	Bool     Kind = 2  // true or false
	I32      Kind = 3  // signed 32-bit integer
	I64      Kind = 4  // signed 64-bit integer
	U32      Kind = 5  // unsigned 32-bit integer
	U64      Kind = 6  // unsigned 64-bit integer
	F32      Kind = 7  // 32-bit float
	F64      Kind = 8  // 64-bit float
	Date     Kind = 9  // a calendar day
	DateTime Kind = 10 // a point in time, in microseconds
	Blob     Kind = 11 // bytes
	Vector   Kind = 12 // a list of 32-bit floats
	Duration Kind = 13 // a length of time, in nanoseconds
	Decimal  Kind = 14 // a decimal number of up to 38 digits
)

// row describes a kind. Packages that this package cannot import have a table of their own with a
// row per kind. A test in each such package fails when a kind has no row.
type row struct {
	kind    Kind         // the kind
	name    string       // in a schema
	storage Storage      // how a Value stores it
	traits  trait        // a bit for each trait that it has
	json    JSON         // its form in JSON
	schema  Schema       // its JSON Schema
	goType  reflect.Type // in generated code; nil for Vector
	wire    string       // see Kind.WireName
	literal string       // see Kind.Literal
	example string       // a value as JSON
	wanted  string       // see Kind.Wanted
	widens  []Kind       // the wider numeric kinds that have every value of this one

	// Set for a kind that is stored as an integer and written as a text. `parse` returns the
	// integer for a text, and `format` appends the text for an integer.
	parse  func(text string) (int64, error)
	format func(dst []byte, n int64) []byte // see parse

	// Set for a kind that a load also accepts as an integer. `integer` describes the accepted
	// values, and `ofInteger` returns the integer that is stored for n, or an error if there is none.
	integer   string
	ofInteger func(n int64) (int64, error) // see integer
}

// trait is a set of properties of a kind.
type trait uint8

const (
	isInteger    trait = 1 << iota // an integer kind
	isFraction                     // a floating-point kind
	isText                         // a kind of text
	isComparable                   // see Kind.IsComparable
	onScale                        // see Kind.IsScale
)

// rows has one row per kind, in the order of their numbers.
var rows = []row{
	{
		kind: String, name: "String", storage: InText, traits: isComparable | isText, json: JSONText,
		goType: reflect.TypeFor[string](), wire: "string", example: `"…"`, wanted: "a string",
	}, {
		kind: Bool, name: "Bool", storage: InBits, traits: isComparable, json: JSONBool,
		goType: reflect.TypeFor[bool](), wire: "bool", example: "true", wanted: "true or false",
	}, {
		kind: I32, widens: []Kind{I64, F64}, name: "I32", storage: InInt32, traits: isComparable | onScale | isInteger, json: JSONNum,
		goType: reflect.TypeFor[int32](), wire: "int", example: "1", wanted: "an integer from -2147483648 to 2147483647",
	}, {
		kind: I64, name: "I64", storage: InInt64, traits: isComparable | onScale | isInteger, json: JSONWide,
		goType: reflect.TypeFor[int64](), wire: "bigint", example: `"1"`, wanted: "an integer from -9223372036854775808 to 9223372036854775807",
	}, {
		kind: U32, widens: []Kind{I64, U64, F64}, name: "U32", storage: InUint32, traits: isComparable | onScale | isInteger, json: JSONNum,
		goType: reflect.TypeFor[uint32](), wire: "int", example: "1", wanted: "an integer from 0 to 4294967295",
	}, {
		kind: U64, name: "U64", storage: InUint64, traits: isComparable | onScale | isInteger, json: JSONWide,
		goType: reflect.TypeFor[uint64](), wire: "bigint", example: `"1"`, wanted: "an integer from 0 to 18446744073709551615",
	}, {
		kind: F32, widens: []Kind{F64}, name: "F32", storage: InFloat32, traits: isComparable | onScale | isFraction, json: JSONNum,
		goType: reflect.TypeFor[float32](), wire: "float", example: "1", wanted: "a number within the range of 32-bit floats",
	}, {
		kind: F64, name: "F64", storage: InFloat64, traits: isComparable | onScale | isFraction, json: JSONNum,
		goType: reflect.TypeFor[float64](), wire: "float", example: "1", wanted: "a number within the range of 64-bit floats",
	}, {
		kind: Date, name: "Date", storage: InInt32, traits: isComparable | onScale, json: JSONText, schema: Schema{Format: "date"},
		goType: reflect.TypeFor[DateValue](), wire: "date", literal: "date", example: `"2024-05-01"`, wanted: "a date as YYYY-MM-DD",
		parse:     func(s string) (int64, error) { d, err := ParseDate(s); return int64(d), err },
		format:    func(dst []byte, n int64) []byte { return DateValue(n).Append(dst) },
		integer:   "a date, as YYYY-MM-DD or whole days since 1970-01-01",
		ofInteger: func(n int64) (int64, error) { d, err := DateFromDays(n); return int64(d), err },
	}, {
		kind: DateTime, name: "DateTime", storage: InInt64, traits: isComparable | onScale, json: JSONText, schema: Schema{Format: "date-time"},
		goType: reflect.TypeFor[time.Time](), wire: "datetime", literal: "datetime", example: `"2024-05-01T12:30:00Z"`,
		wanted:    "an instant as RFC 3339, such as 2024-05-01T12:30:00Z",
		parse:     func(s string) (int64, error) { t, err := ParseDateTime(s); return int64(t), err },
		format:    func(dst []byte, n int64) []byte { return DateTimeValue(n).Append(dst) },
		integer:   "an instant, as RFC 3339 or whole milliseconds since 1970",
		ofInteger: func(n int64) (int64, error) { t, err := DateTimeFromMillis(n); return int64(t), err },
	}, {
		kind: Blob, name: "Blob", storage: InBytes, json: JSONText, schema: Schema{Encoding: "base64"},
		goType: reflect.TypeFor[BlobValue](), wire: "blob", example: `"AQID"`, wanted: "bytes as base64 with padding",
	}, {
		kind: Vector, name: "Vector", storage: InVector, json: JSONArray, wire: "vector", wanted: "an array of numbers",
	}, {
		kind: Duration, name: "Duration", storage: InInt64, traits: isComparable | onScale, json: JSONText, schema: Schema{Pattern: durationPattern},
		goType: reflect.TypeFor[DurationValue](), wire: "duration", literal: "duration", example: `"PT1H30M"`,
		wanted: "a duration as ISO 8601, such as PT1H30M",
		parse:  func(s string) (int64, error) { d, err := ParseDuration(s); return int64(d), err },
		format: func(dst []byte, n int64) []byte { return DurationValue(n).Append(dst) },
	}, {
		kind: Decimal, name: "Decimal", storage: InBytes, traits: isComparable | onScale, json: JSONText, schema: Schema{Pattern: decimalPattern},
		goType: reflect.TypeFor[DecimalValue](), wire: "decimal", example: `"12.50"`, wanted: "a decimal number as a string, such as \"12.50\"",
	},
}

// byNumber, storages and traits are indexed by the number of a kind. They have 256 elements, so
// that indexing needs no bounds check. storages and traits are columns that inner loops read.
var (
	byNumber [256]*row    // nil for a number without a kind
	storages [256]Storage // by number of the kind
	traits   [256]trait   // by number of the kind
)

// init fills the arrays from rows.
func init() {
	for i := range rows {
		r := &rows[i]
		byNumber[r.kind], storages[r.kind], traits[r.kind] = r, r.storage, r.traits
	}
}
