package foreign

import (
	"slices"
	"strconv"
	"strings"

	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/lex"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/refuse"
)

// The average lengths of a year and a month of the Gregorian calendar in days.
const (
	yearDays  = 365.2425
	monthDays = yearDays / 12
)

// intervalUnits maps the units of intervals to functions of this language, and to days if their length is one.
var intervalUnits = map[string]struct {
	function string
	days     float64
}{
	"second": {"seconds", 0}, "sec": {"seconds", 0}, "minute": {"minutes", 0}, "min": {"minutes", 0}, "hour": {"hours", 0},
	"day": {"days", 1}, "week": {"days", 7}, "month": {"days", monthDays}, "mon": {"days", monthDays}, "quarter": {"days", 3 * monthDays},
	"year": {"days", yearDays}, "decade": {"days", 10 * yearDays},
}

// interval reads INTERVAL '30 days', INTERVAL '1 year 6 months' or INTERVAL 30 DAY.
func (r *rewriter) interval() string {
	r.Expect("interval")
	start := r.At - 1
	t := r.Next()
	count := t.Text
	refuse.If(t.Kind != lex.Text && t.Kind != lex.Number)
	parts := strings.Fields(count)
	if len(parts) == 1 {
		parts = append(parts, r.Word())
	}
	if back := r.yearsBack(start, parts); back != "" {
		return back
	}
	return r.span(parts)
}

// yearsBack writes an interval of whole years that comes after the present day or moment and a minus sign, or returns "". The token at
// start is INTERVAL. From 29 February, the day is 28 February of a year without a leap day.
func (r *rewriter) yearsBack(start int, parts []string) string {
	if len(parts) != 2 || !slices.Contains([]string{"year", "years"}, strings.ToLower(parts[1])) || r.Is("*") {
		return ""
	}
	n, err := strconv.Atoi(parts[0])
	if err != nil || n < 1 || n > 500 || start < 2 || r.Tokens[start-1].Text != "-" {
		return ""
	}
	base := r.Tokens[start-2].Text
	if base == ")" && start >= 4 { // now()
		base = r.Tokens[start-4].Text
	}
	if !slices.Contains([]string{"current_date", "current_timestamp", "now"}, strings.ToLower(base)) {
		return ""
	}
	year := "string(year(now()) - " + strconv.Itoa(n) + ")"
	return "days(days_between(coalesce(date(" + year + " + substring(string(date(now())), 4, 6)), date(" + year + " + \"-02-28\")), date(now())))"
}

// span writes an interval of numbers and units that have a fixed length.
func (r *rewriter) span(parts []string) string {
	refuse.If(len(parts)%2 != 0 || len(parts) == 0)
	days := 0.0
	for i := 0; i < len(parts); i += 2 {
		unit := intervalUnits[strings.TrimSuffix(strings.ToLower(strings.Trim(parts[i+1], ",")), "s")]
		n, err := parseCount(parts[i])
		switch {
		case unit.function == "", err != nil:
			panic(refuse.GiveUp{})
		case unit.days == 0 && len(parts) == 2:
			return unit.function + "(" + n + ")"
		case unit.days == 0, unit.days > 7: // months and years have no fixed length
			panic(refuse.GiveUp{})
		}
		count, err := strconv.ParseFloat(n, 64)
		refuse.If(err != nil)
		days += count * unit.days
	}
	return "days(" + strconv.FormatFloat(days, 'f', -1, 64) + ")"
}

// age reads the arguments of AGE(to, from) or AGE(from), and returns both, the earlier one first.
func (r *rewriter) age() (from, to string) {
	switch args := r.callArguments(false); len(args) {
	case 1:
		return args[0], "date(now())"
	case 2:
		return args[1], args[0]
	}
	panic(refuse.GiveUp{})
}

// fullYears writes the number of whole years between two times.
func fullYears(from, to string) string {
	return "int((" + dayNumber(to) + " - (" + dayNumber(from) + ")) / 10000)"
}

// dayNumber writes a day as a number such as 20241231.
func dayNumber(e string) string {
	return "year(" + e + ") * 10000 + month(" + e + ") * 100 + day(" + e + ")"
}

// part reads the value of which EXTRACT or DATE_PART takes a part, up to the closing parenthesis, and writes the part.
func (r *rewriter) part(unit string) string {
	if r.Is("age", "(") {
		r.SkipTwo()
		from, to := r.age()
		r.Expect(")")
		refuse.If(unit != "year" && unit != "years")
		return fullYears(from, to)
	}
	value := r.operand()
	r.Expect(")")
	inner := value
	if rest, ok := strings.CutPrefix(value, "("); ok {
		inner = strings.TrimSuffix(rest, ")")
	}
	for _, between := range []struct {
		function string
		units    map[string]string
	}{
		{"seconds_between(", map[string]string{"epoch": "", "day": "86400", "days": "86400"}},
		{"days_between(", map[string]string{"day": "", "days": ""}},
	} {
		if !strings.HasPrefix(inner, between.function) {
			continue
		}
		switch length, ok := between.units[unit]; {
		case !ok:
			panic(refuse.GiveUp{})
		case length != "":
			return "int(" + inner + " / " + length + ")"
		}
		return inner
	}
	switch unit {
	case "year", "month", "day", "hour":
		return unit + "(" + value + ")"
	case "dow": // from 0 for Sunday
		return "weekday(" + value + ") % 7"
	}
	panic(refuse.GiveUp{})
}
