package foreign

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/naming"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/refuse"
)

// truncated writes the first day of the period of a unit in which a time lies.
func truncated(unit, value string) string {
	switch strings.TrimSuffix(unit, "s") {
	case "day":
		return "date(" + value + ")"
	case "week":
		return "date(" + value + ") - days(weekday(" + value + ") - 1)"
	case "month":
		return "date(" + value + ") - days(day(" + value + ") - 1)"
	case "year":
		return "date(string(year(" + value + ")) + \"-01-01\")"
	}
	panic(refuse.GiveUp{})
}

// between reads duration.inDays(a, b).days of Cypher.
func (r *rewriter) between() string {
	r.Expect("duration", ".")
	unit := strings.ToLower(r.Word())
	r.Expect("(")
	args := r.callArguments(false)
	field := ""
	if r.Accept(".") {
		field = strings.ToLower(r.Word())
	}
	switch {
	case len(args) == 2 && unit == "indays" && field == "days":
		return "days_between(" + strings.Join(args, ", ") + ")"
	case unit == "inseconds":
		return r.elapsed(args, field)
	case unit == "between" && field == "": // its fields leave out the months, and the days, of the duration
		return r.elapsed(args, field)
	}
	panic(refuse.GiveUp{})
}

// elapsed writes the time from one value to another, in a unit or as a number of days or seconds.
func (r *rewriter) elapsed(args []string, unit string) string {
	refuse.If(len(args) != 2)
	days := slices.ContainsFunc(args, func(a string) bool {
		p := r.propertyOf(a)
		return p != nil && p.Type.Kind == value.Date || strings.HasPrefix(a, "date(")
	})
	list := "(" + strings.Join(args, ", ") + ")"
	if days {
		refuse.If(unit != "" && unit != "days")
		if unit == "" {
			r.note("the time between two days is a number of days")
		}
		return "days_between" + list
	}
	switch unit {
	case "":
		r.note("the time between two moments is a number of seconds")
		return "seconds_between" + list
	case "seconds":
		return "seconds_between" + list
	case "minutes":
		return "int(seconds_between" + list + " / 60)"
	}
	panic(refuse.GiveUp{})
}

// durationMap reads duration({ days: 30 }).
func (r *rewriter) durationMap() string {
	r.Expect("{")
	unit := strings.ToLower(r.Word())
	r.Expect(":")
	n := r.operand()
	r.Expect("}", ")")
	switch unit {
	case "weeks":
		return "days(" + tight(n) + " * 7)"
	case "days", "hours", "minutes", "seconds":
		return unit + "(" + n + ")"
	}
	panic(refuse.GiveUp{})
}

// ofKind reports whether an expression is a property of a kind, or a literal or the present time of that kind.
func (r *rewriter) ofKind(e string, kind value.Kind) bool {
	if p := r.propertyOf(e); p != nil {
		return p.Type.Kind == kind && !p.Type.List
	}
	switch kind {
	case value.DateTime:
		_, literal := literalIn(e, "datetime")
		return literal || e == "now()"
	case value.Date:
		_, literal := literalIn(e, "date")
		return literal || e == "date(now())"
	}
	return false
}

// subtracted writes the difference of two moments or of two days, or returns "".
func (r *rewriter) subtracted(from, to string) string {
	switch {
	case r.ofKind(from, value.DateTime) && r.ofKind(to, value.DateTime):
		r.note("the time between two moments is a number of seconds")
		return "seconds_between(" + from + ", " + to + ")"
	case r.ofKind(from, value.Date) && r.ofKind(to, value.Date):
		r.note("the time between two days is a number of days")
		return "days_between(" + from + ", " + to + ")"
	}
	return ""
}

// unitCall matches a call such as days(30).
var unitCall = regexp.MustCompile(`^(days|hours|minutes|seconds)\(([0-9]{1,9})\)$`)

// unitSeconds are the seconds of a unit.
var unitSeconds = map[string]int{"days": 86400, "hours": 3600, "minutes": 60, "seconds": 1}

// spanOf writes a span of time, to which a text compares the time between two values, as a number of the unit of
// that time.
func spanOf(between, span string) string {
	m := unitCall.FindStringSubmatch(moved(between, span))
	if m == nil || !strings.HasSuffix(between, ")") || strings.ContainsAny(between, "*/") {
		return span
	}
	n, err := strconv.Atoi(m[2])
	switch {
	case err != nil:
	case strings.HasPrefix(between, "seconds_between("):
		return strconv.Itoa(n * unitSeconds[m[1]])
	case strings.HasPrefix(between, "days_between(") && m[1] == "days":
		return m[2]
	}
	return span
}

// castTo reads a type of SQL and writes the conversion of a value to it. Without a value, it only reads the type.
func (r *rewriter) castTo(e string) string {
	typ := r.Word()
	r.Accept("precision")
	r.Accept("varying")
	if r.Is("with", "time", "zone") || r.Is("without", "time", "zone") {
		r.SkipTwo()
		r.Next()
	}
	scale := ""
	if r.Accept("(") {
		r.Next()
		if r.Accept(",") {
			scale = r.Next().Text
		}
		r.Expect(")")
	}
	if r.Accept("[") {
		r.Expect("]")
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
	switch naming.Plain(typ) {
	case "text", "varchar", "char", "character", "string", "nvarchar", "citext":
		to = "string"
	case "int", "integer", "bigint", "smallint", "int64", "int32", "int4", "int8", "signed", "unsigned":
		to = "int"
	case "float", "real", "double", "numeric", "decimal", "float64", "float8":
		to = "float"
	case "date":
		to = "date"
	case "boolean", "bool":
		if p := r.propertyOf(e); p != nil && !r.isBool(e) {
			panic(refuse.GiveUp{})
		}
		return e
	default:
		panic(refuse.GiveUp{})
	}
	if strings.HasPrefix(e, to+"(") && strings.Count(e, ")") == 1 {
		return e
	}
	if p := r.propertyOf(e); to == "int" && (p == nil || p.Type.Kind.IsFloat()) {
		r.note("int cuts the fraction off, which some databases round")
	}
	return to + "(" + e + ")"
}
