package foreign

import (
	"maps"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/value"
)

// castTo reads a type of SQL and writes the conversion of a value to it. Without a value, it only reads the type.
func (r *rewriter) castTo(e string) string {
	typ := r.word()
	r.accept("precision")
	r.accept("varying")
	if r.is("with", "time", "zone") || r.is("without", "time", "zone") {
		r.skipTwo()
		r.next()
	}
	scale := ""
	if r.accept("(") {
		r.next()
		if r.accept(",") {
			scale = r.next().text
		}
		r.expect(")")
	}
	if r.accept("[") {
		r.expect("]")
		return e // a list of the type
	}
	if e == "" { // the type alone
		return ""
	}
	out := r.cast(e, typ)
	if rounded, ok := roundings[scale]; ok && strings.HasPrefix(out, "float(") {
		out = "round(" + tight(e) + rounded[0] + ")" + rounded[1]
	}
	return out
}

// roundings are the factors before and after rounding to a number of digits.
var roundings = map[string][2]string{"0": {}, "1": {" * 10", " / 10"}, "2": {" * 100", " / 100"}, "3": {" * 1000", " / 1000"}, "4": {" * 10000", " / 10000"}}

// cast writes a conversion to a type of SQL.
func (r *rewriter) cast(e, typ string) string {
	to := ""
	switch plain(typ) {
	case "text", "varchar", "char", "character", "string", "nvarchar", "citext":
		to = "string"
	case "int", "integer", "bigint", "smallint", "int64", "int32", "int4", "int8", "signed", "unsigned":
		to = "int"
	case "float", "real", "double", "numeric", "decimal", "float64", "float8":
		to = "float"
	case "date":
		to = "date"
	case "timestamp", "timestamptz", "datetime":
		if literal := dateTimeLiteral(e); literal != e || r.ofKind(e, value.DateTime) || strings.HasPrefix(e, "$") {
			return literal
		}
		panic(giveUp{})
	case "boolean", "bool":
		if p := r.propertyOf(e); p != nil && !r.isBool(e) {
			panic(giveUp{})
		}
		return e
	case "uuid":
		return e
	default:
		panic(giveUp{})
	}
	if strings.HasPrefix(e, to+"(") && strings.Count(e, ")") == 1 {
		return e
	}
	if name, ok := strings.CutPrefix(e, "$"); ok && wordLen(name) == len(name) && !r.bound(name) {
		r.loose = maps.Clone(r.loose) // try restores the map
		r.loose[name] = true
		r.declare(name, map[string]string{"string": "String", "int": "I64", "float": "F64", "date": "Date"}[to])
		return e // a cast gives a parameter its type
	}
	if p := r.propertyOf(e); to == "int" && (p == nil || p.Type.Kind.IsFloat()) {
		r.note("int cuts the fraction off, which some databases round")
	}
	return to + "(" + e + ")"
}
