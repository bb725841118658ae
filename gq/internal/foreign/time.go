package foreign

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/value"
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
	panic(giveUp{})
}

// between reads duration.inDays(a, b).days of Cypher.
func (r *rewriter) between() string {
	r.expect("duration", ".")
	unit := strings.ToLower(r.word())
	r.expect("(")
	args := r.callArguments(false)
	field := ""
	if r.accept(".") {
		field = strings.ToLower(r.word())
	}
	switch {
	case len(args) == 2 && unit == "indays" && field == "days":
		return "days_between(" + strings.Join(args, ", ") + ")"
	case unit == "inseconds":
		return r.elapsed(args, field)
	case unit == "between" && field == "": // its fields leave out the months, and the days, of the duration
		return r.elapsed(args, field)
	}
	panic(giveUp{})
}

// elapsed writes the time from one value to another, in a unit or as a number of days or seconds.
func (r *rewriter) elapsed(args []string, unit string) string {
	refuse(len(args) != 2)
	days := slices.ContainsFunc(args, func(a string) bool {
		p := r.propertyOf(a)
		return p != nil && p.Type.Kind == value.Date || strings.HasPrefix(a, "date(")
	})
	list := "(" + strings.Join(args, ", ") + ")"
	if days {
		refuse(unit != "" && unit != "days")
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
	case "days":
		return "int(seconds_between" + list + " / 86400)"
	case "minutes":
		return "int(seconds_between" + list + " / 60)"
	case "hours":
		return "int(seconds_between" + list + " / 3600)"
	}
	panic(giveUp{})
}

// durationMap reads duration({ days: 30 }).
func (r *rewriter) durationMap() string {
	r.expect("{")
	unit := strings.ToLower(r.word())
	r.expect(":")
	n := r.operand()
	r.expect("}", ")")
	switch unit {
	case "weeks":
		return "days(" + tight(n) + " * 7)"
	case "days", "hours", "minutes", "seconds":
		return unit + "(" + n + ")"
	}
	panic(giveUp{})
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
