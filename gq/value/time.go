package value

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

const (
	dateLayout     = "2006-01-02"                  // of a Date, for package time
	dateTimeLayout = "2006-01-02T15:04:05.000Z"    // of a DateTime of whole milliseconds, for package time
	finestLayout   = "2006-01-02T15:04:05.000000Z" // of another DateTime
	milliMicros    = 1000                          // microseconds per millisecond
	dayMicros      = 24 * 60 * 60 * 1000_000       // microseconds per day

	// The years 0001 to 9999 are the range that RFC 3339 can represent.
	minDay, maxDay       = -719162, 2932896
	minMicros, maxMicros = minDay * dayMicros, (maxDay+1)*dayMicros - 1 // range of a DateTime
)

// DateValue is a day of the proleptic Gregorian calendar, in days since 1970-01-01.
type DateValue int32

// DateTimeValue is an instant in microseconds since 1970-01-01T00:00:00Z.
type DateTimeValue int64

// ParseDate parses YYYY-MM-DD.
func ParseDate(s string) (DateValue, error) {
	if y, m, d, ok := digitsOfDate(s); ok {
		t := time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC)
		if y > 0 && int(t.Month()) == m && t.Day() == d { // the calendar has the day
			return DateValue(floorDiv(t.Unix(), 86400)), nil
		}
	}
	t, err := time.Parse(dateLayout, s)
	if err != nil || t.Year() < 1 {
		return 0, fmt.Errorf("%q is not a date; write it as YYYY-MM-DD", s)
	}
	return DateValue(floorDiv(t.Unix(), 86400)), nil
}

// digitsOfDate returns the numbers of a text YYYY-MM-DD. It does not check the month and the day.
func digitsOfDate(s string) (y, m, d int, ok bool) {
	if len(s) != len(dateLayout) || s[4] != '-' || s[7] != '-' {
		return 0, 0, 0, false
	}
	var n [3]int
	part := 0
	for i := range len(s) {
		switch c := s[i]; {
		case i == 4 || i == 7:
			part++
		case c < '0' || c > '9':
			return 0, 0, 0, false
		default:
			n[part] = 10*n[part] + int(c-'0')
		}
	}
	return n[0], n[1], n[2], true
}

// DateFromDays returns the day n days after 1970-01-01. It returns an error outside the years
// 0001 to 9999.
func DateFromDays(n int64) (DateValue, error) {
	if n < minDay || n > maxDay {
		return 0, fmt.Errorf("day number %d is outside the years 0001 to 9999", n)
	}
	return DateValue(n), nil
}

// Time returns midnight UTC of the day.
func (d DateValue) Time() time.Time { return time.Unix(int64(d)*86400, 0).UTC() }

// String returns the day as YYYY-MM-DD.
func (d DateValue) String() string { return d.Time().Format(dateLayout) }

// Append appends the day as YYYY-MM-DD to dst.
func (d DateValue) Append(dst []byte) []byte {
	y, m, day := d.Time().Date()
	if y < 0 || y > 9999 {
		return d.Time().AppendFormat(dst, dateLayout)
	}
	two := func(n int) [2]byte { return [2]byte{'0' + byte(n/10), '0' + byte(n%10)} }
	century, year, month, at := two(y/100), two(y%100), two(int(m)), two(day)
	return append(dst, century[0], century[1], year[0], year[1], '-', month[0], month[1], '-', at[0], at[1])
}

// MarshalJSON writes the day as a string.
func (d DateValue) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }

// UnmarshalJSON parses a string YYYY-MM-DD.
func (d *DateValue) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("a date must be a string: %w", err)
	}
	v, err := ParseDate(s)
	if err != nil {
		return err
	}
	*d = v
	return nil
}

// ErrTooFine is the error, perhaps wrapped, for an instant with digits that a DateTime does not keep.
var ErrTooFine = errors.New("a DateTime keeps microseconds; round the instant to at most six digits after the second")

// ParseDateTime parses an RFC 3339 instant, with T and Z in either case. It returns an error for an
// instant that is finer than a microsecond; further zeros are allowed.
func ParseDateTime(s string) (DateTimeValue, error) {
	t, err := ParseInstant(s)
	if err != nil {
		return 0, err
	}
	fraction, _ := fractionOf(s) // ParseInstant drops digits below the nanosecond
	if len(fraction) > 6 && strings.Trim(fraction[6:], "0") != "" {
		return 0, fmt.Errorf("%q: %w", s, ErrTooFine)
	}
	return DateTimeFromMicros(t.UnixMicro())
}

// ParseInstant parses an RFC 3339 instant of the years 0001 to 9999, with T and Z in either case, and
// drops digits below the nanosecond. It is meant for bounds; [ParseDateTime] parses data.
func ParseInstant(s string) (time.Time, error) {
	if _, ok := fractionOf(s); ok {
		if t, err := time.Parse(time.RFC3339, upperInstant(s)); err == nil && t.Year() >= 1 {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not an instant; write it as RFC 3339, such as 2024-05-01T12:30:00Z", s)
}

// instantForm is the form of an RFC 3339 instant before its fraction. A 0 stands for any digit, and a
// T also for t.
const instantForm = "0000-00-00T00:00:00"

// fractionOf returns the digits after the second of an instant. It reports whether the text has the
// form of RFC 3339, of which package time accepts variants.
func fractionOf(s string) (fraction string, ok bool) {
	if len(s) <= len(instantForm) {
		return "", false
	}
	rest := s[len(instantForm):]
	if rest[0] == '.' {
		n := leadingDigits(rest[1:])
		fraction, rest = rest[1:1+n], rest[1+n:]
		ok = n > 0
	} else {
		ok = true
	}
	for i := range instantForm {
		switch want, got := instantForm[i], s[i]; want {
		case '0':
			ok = ok && '0' <= got && got <= '9'
		case 'T':
			ok = ok && (got == 'T' || got == 't')
		default:
			ok = ok && got == want
		}
	}
	zone := rest == "Z" || rest == "z" || len(rest) == 6 && rest[1:3] < "24" && rest[4:] < "60" // digits: time.Parse
	return fraction, ok && zone
}

// upperInstant returns an RFC 3339 instant with its T and Z in upper case.
func upperInstant(s string) string {
	const at = len(dateLayout)
	if s[at] == 'T' && s[len(s)-1] != 'z' {
		return s
	}
	s = s[:at] + "T" + s[at+1:]
	if utc, ok := strings.CutSuffix(s, "z"); ok {
		return utc + "Z"
	}
	return s
}

// DateTimeFromMicros returns the instant n microseconds after the epoch. It returns an error outside
// the years 0001 to 9999.
func DateTimeFromMicros(n int64) (DateTimeValue, error) {
	if n < minMicros || n > maxMicros {
		return 0, fmt.Errorf("the instant %d microseconds since 1970 is outside the years 0001 to 9999", n)
	}
	return DateTimeValue(n), nil
}

// DateTimeFromMillis returns the instant n milliseconds after the epoch. It returns an error outside
// the years 0001 to 9999.
func DateTimeFromMillis(n int64) (DateTimeValue, error) {
	if n < minMicros/milliMicros || n > maxMicros/milliMicros {
		return 0, fmt.Errorf("the instant %d milliseconds since 1970 is outside the years 0001 to 9999", n)
	}
	return DateTimeValue(n * milliMicros), nil
}

// DateTimeFrom returns the instant t. It returns an error if t is finer than a microsecond or outside
// the years 0001 to 9999 in UTC.
func DateTimeFrom(t time.Time) (DateTimeValue, error) {
	if t.Nanosecond()%int(time.Microsecond) != 0 {
		return 0, fmt.Errorf("%s: %w", t.Format(time.RFC3339Nano), ErrTooFine)
	}
	return DateTimeFromMicros(t.UnixMicro())
}

// DateTimeOf returns t truncated to milliseconds. It is meant for the reading of a clock. For data, use
// [DateTimeFrom], which loses nothing.
func DateTimeOf(t time.Time) DateTimeValue {
	return DateTimeValue(floorDiv(t.UnixMicro(), milliMicros) * milliMicros)
}

// Time returns the instant in UTC.
func (t DateTimeValue) Time() time.Time { return time.UnixMicro(int64(t)).UTC() }

// String returns the instant as RFC 3339 in UTC, with three digits after the second, or six if the
// instant has parts of a millisecond.
func (t DateTimeValue) String() string { return string(t.Append(nil)) }

// Append appends the text of [DateTimeValue.String] to dst.
func (t DateTimeValue) Append(dst []byte) []byte {
	if t%milliMicros != 0 {
		return t.Time().AppendFormat(dst, finestLayout)
	}
	return t.Time().AppendFormat(dst, dateTimeLayout)
}

// finer marks the code of an instant with parts of a millisecond; see [DateTimeValue.code].
const finer = 1 << 60

// code returns a number that identifies the instant: its milliseconds if it has no parts of one, so
// that the number is short and equals the one from before a DateTime kept microseconds; otherwise its
// microseconds with the bit `finer` changed.
func (t DateTimeValue) code() int64 {
	if t%milliMicros == 0 {
		return int64(t / milliMicros)
	}
	return int64(t) ^ finer
}

// ofCode is the inverse of code.
func ofCode(code int64) DateTimeValue {
	if code >= finer/2 || code < -finer/2 {
		return DateTimeValue(code ^ finer)
	}
	return DateTimeValue(code * milliMicros)
}

// MarshalJSON writes the instant as a string.
func (t DateTimeValue) MarshalJSON() ([]byte, error) { return json.Marshal(t.String()) }

// UnmarshalJSON parses an RFC 3339 string.
func (t *DateTimeValue) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("an instant must be a string: %w", err)
	}
	v, err := ParseDateTime(s)
	if err != nil {
		return err
	}
	*t = v
	return nil
}

// floorDiv returns the quotient of a and the positive b, rounded down.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
