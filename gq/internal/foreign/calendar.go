package foreign

import (
	"slices"
	"strconv"
	"strings"
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

// interval reads INTERVAL '30 days', INTERVAL '1 year 6 months' or INTERVAL 30 DAY, and a factor after it.
func (r *rewriter) interval() string {
	r.expect("interval")
	start := r.at - 1
	t := r.next()
	count := t.text
	switch {
	case t.kind == dollar:
		count = "$" + t.text
	case t.kind != text && t.kind != number:
		panic(giveUp{})
	}
	parts := strings.Fields(count)
	if len(parts) == 1 {
		parts = append(parts, r.word())
	}
	if back := r.yearsBack(start, parts); back != "" {
		return back
	}
	out := r.span(parts)
	if r.accept("*") {
		out = scaled(out, r.factor())
	}
	return out
}

// yearsBack writes an interval of whole years that comes after the present day or moment and a minus sign, or returns "". The token at
// start is INTERVAL. From 29 February, the day is 28 February of a year without a leap day.
func (r *rewriter) yearsBack(start int, parts []string) string {
	if len(parts) != 2 || !slices.Contains([]string{"year", "years"}, strings.ToLower(parts[1])) || r.accept("*") {
		return ""
	}
	n, err := strconv.Atoi(parts[0])
	if err != nil || n < 1 || n > 500 || start < 2 || r.tokens[start-1].text != "-" {
		return ""
	}
	base := r.tokens[start-2].text
	if base == ")" && start >= 4 { // now()
		base = r.tokens[start-4].text
	}
	if !slices.Contains([]string{"current_date", "current_timestamp", "now"}, strings.ToLower(base)) {
		return ""
	}
	year := "string(year(now()) - " + strconv.Itoa(n) + ")"
	return "days(days_between(coalesce(date(" + year + " + substring(string(date(now())), 4, 6)), date(" + year + " + \"-02-28\")), date(now())))"
}

// span writes an interval of numbers and units that have a fixed length.
func (r *rewriter) span(parts []string) string {
	if len(parts)%2 != 0 || len(parts) == 0 {
		panic(giveUp{})
	}
	days := 0.0
	for i := 0; i < len(parts); i += 2 {
		unit := intervalUnits[strings.TrimSuffix(strings.ToLower(strings.Trim(parts[i+1], ",")), "s")]
		n, err := parseCount(parts[i])
		switch {
		case unit.function == "":
			panic(giveUp{})
		case strings.HasPrefix(parts[i], "$") && len(parts) == 2 && unit.days <= 7:
			r.declare(parts[i][1:], "I32")
			if unit.days == 7 {
				return "days(" + parts[i] + " * 7)"
			}
			return unit.function + "(" + parts[i] + ")"
		case err != nil:
			panic(giveUp{})
		case unit.days == 0 && len(parts) == 2:
			return unit.function + "(" + n + ")"
		case unit.days == 0, unit.days > 7: // months and years have no fixed length
			panic(giveUp{})
		}
		count, err := strconv.ParseFloat(n, 64)
		if err != nil {
			panic(giveUp{})
		}
		days += count * unit.days
	}
	return "days(" + strconv.FormatFloat(days, 'f', -1, 64) + ")"
}

// scaled multiplies an interval of one unit by a factor.
func scaled(interval, factor string) string {
	m := unitCall.FindStringSubmatch(interval)
	if m == nil {
		panic(giveUp{})
	}
	if m[2] == "1" {
		return m[1] + "(" + factor + ")"
	}
	return m[1] + "(" + tight(factor) + " * " + m[2] + ")"
}

// times reads `* INTERVAL '1 day'` after a factor, if it comes next.
func (r *rewriter) times(factor string) (out string, ok bool) {
	if !r.is("*", "interval") {
		return "", false
	}
	r.next()
	if name, mine := strings.CutPrefix(factor, "$"); mine && !r.bound(name) {
		r.declare(name, "I32")
	}
	return scaled(r.interval(), factor), true
}

// age reads the arguments of AGE(to, from) or AGE(from), and returns both, the earlier one first.
func (r *rewriter) age() (from, to string) {
	switch args := r.callArguments(false); len(args) {
	case 1:
		return args[0], "date(now())"
	case 2:
		return args[1], args[0]
	}
	panic(giveUp{})
}

// fullYears writes the number of whole years between two times.
func fullYears(from, to string) string {
	return "int((" + dayNumber(to) + " - (" + dayNumber(from) + ")) / 10000)"
}

// dayNumber writes a day as a number such as 20241231.
func dayNumber(e string) string {
	return "year(" + e + ") * 10000 + month(" + e + ") * 100 + day(" + e + ")"
}

// fullMonths writes the number of whole months between two times.
func fullMonths(from, to string) string {
	return "((year(" + to + ") - year(" + from + ")) * 12 + month(" + to + ") - month(" + from + ") - if(day(" + to + ") < day(" + from + "), 1, 0))"
}

// part reads the value of which EXTRACT or DATE_PART takes a part, up to the closing parenthesis, and writes the part.
func (r *rewriter) part(unit string) string {
	if r.is("age", "(") {
		r.skipTwo()
		from, to := r.age()
		r.expect(")")
		switch unit {
		case "year", "years":
			return fullYears(from, to)
		case "month", "months":
			return "(" + fullMonths(from, to) + " % 12)"
		}
		panic(giveUp{})
	}
	value := r.operand()
	r.expect(")")
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
			panic(giveUp{})
		case length != "":
			return "int(" + inner + " / " + length + ")"
		}
		return inner
	}
	switch unit {
	case "year", "month", "day", "hour":
		return unit + "(" + value + ")"
	case "isodow":
		return "weekday(" + value + ")"
	case "dow": // from 0 for Sunday
		return "weekday(" + value + ") % 7"
	case "quarter":
		return "int((month(" + value + ") + 2) / 3)"
	case "epoch":
		return "seconds_between(datetime(\"1970-01-01T00:00:00Z\"), " + value + ")"
	}
	panic(giveUp{})
}

// formats maps the parts of formats of times to positions in a text such as 2024-05-31 and the number of characters
// there. The parts are those of to_char, of strftime and of Java.
var formats = []struct {
	names        []string
	start, count int
}{
	{[]string{"YYYY", "yyyy", "%Y"}, 0, 4},
	{[]string{"MM", "%m"}, 5, 2},
	{[]string{"DD", "dd", "%d"}, 8, 2},
}

// formatted writes a time in a format.
func formatted(value, format string) string {
	day := "string(date(" + value + "))"
	if rest, ok := strings.CutPrefix(value, "date("); ok && strings.Count(rest, ")") == 1 {
		day = "string(" + value + ")"
	}
	var out []string
	from, to := -1, -1 // the part of the text before the next one
	literal := ""
	flush := func() {
		switch {
		case from == 0 && to == 10:
			out = append(out, day)
		case from >= 0:
			out = append(out, "substring("+day+", "+strconv.Itoa(from)+", "+strconv.Itoa(to-from)+")")
		}
		if literal != "" {
			out = append(out, quote(literal))
		}
		from, to, literal = -1, -1, ""
	}
	for format != "" {
		found := false
		for _, f := range formats {
			for _, name := range f.names {
				rest, ok := strings.CutPrefix(format, name)
				if !ok || found {
					continue
				}
				found, format = true, rest
				if literal == "-" && from >= 0 && to+1 == f.start {
					to, literal = f.start+f.count, "" // it is the mark between the parts of the text
					continue
				}
				flush()
				from, to = f.start, f.start+f.count
			}
		}
		if found {
			continue
		}
		if c := format[0]; letter(c) || c == '%' || c == '"' || c >= 0x80 {
			panic(giveUp{})
		}
		literal, format = literal+format[:1], format[1:]
	}
	flush()
	if len(out) == 0 || strings.HasPrefix(out[0], `"`) {
		panic(giveUp{})
	}
	return strings.Join(out, " + ")
}

// timeCall reads a call that formats, moves or compares times, after the opening parenthesis.
func (r *rewriter) timeCall(name string) (out string, ok bool) {
	switch name {
	case "to_char", "date_format", "format_date", "strftime":
		first := r.operand()
		r.expect(",")
		second := r.operand()
		r.expect(")")
		if name == "strftime" { // the format comes first
			first, second = second, first
		}
		format, literal := unquote(second)
		if !literal {
			panic(giveUp{})
		}
		return formatted(first, format), true
	case "age":
		from, to := r.age()
		r.note("an age is a number of days")
		return "days_between(" + from + ", " + to + ")", true
	case "date_sub", "date_add":
		value := r.operand()
		r.expect(",")
		span := r.interval()
		r.expect(")")
		return value + map[string]string{"date_sub": " - ", "date_add": " + "}[name] + span, true
	case "dateadd":
		unit := r.word()
		r.expect(",")
		sign := " + "
		if r.accept("-") {
			sign = " - "
		}
		n := r.next().text
		r.expect(",")
		value := r.operand()
		r.expect(")")
		return value + sign + r.span([]string{n, unit}), true
	case "make_interval":
		unit := r.word()
		if !r.accept("=", ">") {
			r.expect(":", "=")
		}
		n := r.operand()
		r.expect(")")
		return r.span([]string{n, unit}), true
	}
	return "", false
}

// quarterStart writes the first day of the quarter in which a time lies.
func quarterStart(value string) string {
	out := "\"-10-01\""
	for i, first := range []string{"-07-01", "-04-01", "-01-01"} {
		out = "if(month(" + value + ") < " + strconv.Itoa(10-3*i) + ", \"" + first + "\", " + out + ")"
	}
	return "date(string(year(" + value + ")) + " + out + ")"
}

// sinceDay returns the relation that holds between a day and the own day of a moment exactly if the beginning of the day
// has the given relation with the moment.
func sinceDay(op string) string {
	if slices.Contains([]string{"<", "<="}, op) {
		return "<="
	}
	return ">"
}
