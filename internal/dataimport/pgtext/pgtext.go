// Package pgtext makes values of records of PostgreSQL's text format, in which the server sends query results, COPY, and the
// tuples of logical replication:
//
//	Catalog rows → Types → Decoder of a type → value
//
// The texts of some types depend on settings of the session; [Settings] has what this package expects.
package pgtext

import (
	"encoding/hex"
	"strings"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/dataimport/record"
)

// Settings are the settings of a session that sends texts to this package.
var Settings = map[string]string{
	"datestyle": "ISO", "intervalstyle": "iso_8601", "timezone": "UTC", "bytea_output": "hex", "extra_float_digits": "3", "client_encoding": "UTF8",
}

// Catalog lists the types of a database that are not built in, and arrays of all types. Its columns are the arguments of [Types.Add].
const Catalog = `SELECT oid, typtype = 'd', typbasetype, CASE WHEN typinput = 'array_in'::regproc THEN typelem ELSE 0 END
FROM pg_catalog.pg_type WHERE typtype = 'd' OR typinput = 'array_in'::regproc`

// Types knows how the values of each type become values of records. The zero value knows the scalar types that are built in.
type Types struct {
	base map[uint32]uint32 // of a domain: the type below it
	elem map[uint32]uint32 // of an array: the type of its elements
}

// Add adds a type: a domain, or an array of elements.
func (t *Types) Add(oid uint32, isDomain bool, base, elem uint32) {
	if t.base == nil {
		t.base, t.elem = map[uint32]uint32{}, map[uint32]uint32{}
	}
	switch {
	case isDomain:
		t.base[oid] = base
	case elem != 0:
		t.elem[oid] = elem
	}
}

// Decoder makes a value of a text that is not null. The value is valid as long as the text. A text that does not have the form
// of its type, such as infinity for a time, becomes a value of the kind Text.
type Decoder func(text []byte) record.Value

// The numbers of built-in types, which never change.
const (
	oidBool        = 16
	oidBytea       = 17
	oidInt8        = 20
	oidInt2        = 21
	oidInt4        = 23
	oidOID         = 26
	oidFloat4      = 700
	oidFloat8      = 701
	oidBPChar      = 1042
	oidDate        = 1082
	oidTimestamp   = 1114
	oidTimestampTZ = 1184
	oidInterval    = 1186
	oidNumeric     = 1700
)

// Scalar is a class of types whose texts have one form.
type Scalar uint8

// The classes of types.
const (
	Text   Scalar = iota // every type that has no class of its own
	Padded               // text with blanks at the end that do not count
	Bool
	Integer
	Float
	Numeric
	Bytes
	Date
	Timestamp
	TimestampTZ
	Interval
)

// scalars maps the numbers of types to their classes.
var scalars = map[uint32]Scalar{
	oidBPChar: Padded, oidBool: Bool, oidInt2: Integer, oidInt4: Integer, oidInt8: Integer, oidOID: Integer, oidFloat4: Float, oidFloat8: Float, oidNumeric: Numeric,
	oidBytea: Bytes, oidDate: Date, oidTimestamp: Timestamp, oidTimestampTZ: TimestampTZ, oidInterval: Interval,
}

// Scalar returns the class of a type, or of the elements of an array.
func (t *Types) Scalar(oid uint32) (class Scalar, isArray bool) {
	oid = t.below(oid)
	if elem, ok := t.elem[oid]; ok {
		return scalars[t.below(elem)], true
	}
	return scalars[oid], false
}

// below returns the type below a domain, and any other type itself.
func (t *Types) below(oid uint32) uint32 {
	for range 32 { // a domain may be over a domain
		base, ok := t.base[oid]
		if !ok {
			break
		}
		oid = base
	}
	return oid
}

// Decoder returns the decoder of a type. Values of a type that it does not know, such as an enum, uuid or json, are texts.
func (t *Types) Decoder(oid uint32) Decoder {
	oid = t.below(oid)
	if elem, ok := t.elem[oid]; ok && t.elem[elem] == 0 {
		one := t.Decoder(elem)
		return func(text []byte) record.Value { return list(text, one) }
	}
	switch scalars[oid] {
	case Bool:
		return boolean
	case Integer, Float, Numeric:
		return number
	case Padded:
		return func(text []byte) record.Value { return plain([]byte(strings.TrimRight(string(text), " "))) }
	case Bytes:
		return bytea
	case Date:
		return func(text []byte) record.Value { return timeOf(text, time.DateOnly, record.Date) }
	case Timestamp:
		return func(text []byte) record.Value { return timeOf(text, "2006-01-02 15:04:05", record.Local) }
	case TimestampTZ:
		return instant
	}
	return plain
}

// plain makes a text.
func plain(text []byte) record.Value { return record.Value{Kind: record.Text, Raw: text} }

// boolean reads t or f.
func boolean(text []byte) record.Value {
	if len(text) != 1 || text[0] != 't' && text[0] != 'f' {
		return plain(text)
	}
	return record.Value{Kind: record.Bool, Bool: text[0] == 't'}
}

// number reads a number. NaN and Infinity stay texts.
func number(text []byte) record.Value {
	if len(text) == 0 {
		return plain(text)
	}
	if c := text[len(text)-1]; c < '0' || c > '9' {
		return plain(text)
	}
	return record.Value{Kind: record.Number, Raw: text}
}

// bytea reads \x and hexadecimal digits.
func bytea(text []byte) record.Value {
	digits, ok := strings.CutPrefix(string(text), `\x`)
	b, err := hex.DecodeString(digits)
	if !ok || err != nil {
		return plain(text)
	}
	return record.Value{Kind: record.Bytes, Raw: b}
}

// timeOf reads a date or a time. Texts such as infinity, years before 1 and after 9999 stay texts.
func timeOf(text []byte, layout string, kind record.Kind) record.Value {
	t, err := time.Parse(layout, string(text))
	if err != nil {
		return plain(text)
	}
	return record.Value{Kind: kind, Time: t}
}

// instant reads a time with its offset: +00, +05:30, or +00:19:32 for times of long ago in some zones.
func instant(text []byte) record.Value {
	layout := "2006-01-02 15:04:05Z07:00:00"
	if at := strings.LastIndexAny(string(text), "+-"); at > 0 {
		switch len(text) - at {
		case len("+00"):
			layout = "2006-01-02 15:04:05Z07"
		case len("+00:00"):
			layout = "2006-01-02 15:04:05Z07:00"
		}
	}
	v := timeOf(text, layout, record.Instant)
	v.Time = v.Time.UTC()
	return v
}

// list reads an array: {1,NULL,"a b",{2}}. It may begin with the bounds of its dimensions: [0:1]={1,2}.
func list(text []byte, one Decoder) record.Value {
	rest := text
	if len(rest) > 0 && rest[0] == '[' {
		at := strings.IndexByte(string(rest), '=')
		if at < 0 {
			return plain(text)
		}
		rest = rest[at+1:]
	}
	v, rest, ok := elements(rest, one, maxDimensions)
	if !ok || len(rest) > 0 {
		return plain(text)
	}
	return v
}

// maxDimensions is the number of dimensions that an array of PostgreSQL can have.
const maxDimensions = 6

// elements reads the elements of an array from its opening brace to its closing one.
func elements(text []byte, one Decoder, depth int) (v record.Value, rest []byte, ok bool) {
	v = record.Value{Kind: record.List, Elems: []record.Value{}}
	if depth == 0 || len(text) < 2 || text[0] != '{' {
		return v, text, false
	}
	if text = text[1:]; text[0] == '}' {
		return v, text[1:], true
	}
	for {
		var e record.Value
		switch {
		case len(text) > 0 && text[0] == '{':
			e, text, ok = elements(text, one, depth-1)
		case len(text) > 0 && text[0] == '"':
			var inner []byte
			inner, text, ok = quoted(text[1:])
			e = one(inner)
		default:
			end := strings.IndexAny(string(text), ",}")
			if ok = end > 0; ok {
				if word := text[:end]; string(word) != "NULL" {
					e = one(word)
				}
				text = text[end:]
			}
		}
		if !ok || len(text) == 0 {
			return v, text, false
		}
		v.Elems = append(v.Elems, e)
		separator := text[0]
		text = text[1:]
		switch separator {
		case '}':
			return v, text, true
		case ',':
		default:
			return v, text, false
		}
	}
}

// quoted reads an element after its opening quote. A backslash quotes the next byte.
func quoted(text []byte) (inner, rest []byte, ok bool) {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			return inner, text[i+1:], true
		case '\\':
			if i++; i == len(text) {
				return nil, nil, false
			}
		}
		inner = append(inner, text[i])
	}
	return nil, nil, false
}
