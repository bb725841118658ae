package value

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"time"
)

// DurationValue is a span of time in nanoseconds, which may be negative. Its text is that of ISO
// 8601, such as PT1H30M.
type DurationValue int64

// durationPattern is a regular expression for the texts that ParseDuration accepts. It also matches
// texts without a component, such as P, and numbers that are out of range. The JSON Schema format
// "duration" does not fit, because RFC 3339 has neither a sign nor a fraction of a second.
const durationPattern = `^-?P([0-9]+W|([0-9]+D)?(T([0-9]+H)?([0-9]+M)?([0-9]+([.][0-9]{1,9})?S)?)?)$`

// errDurationRange says that a text is a duration that does not fit in 64 bits.
var errDurationRange = errors.New("the duration is longer than PT2562047H47M16.854775807S, about 292 years")

// The units and their lengths in nanoseconds, in the order of a text. Weeks cannot be combined with
// other units; all others can be combined.
var durationUnits = []struct {
	letter byte
	time   bool // the unit comes after the T
	length uint64
}{
	{'W', false, 7 * 24 * uint64(time.Hour)},
	{'D', false, 24 * uint64(time.Hour)},
	{'H', true, uint64(time.Hour)},
	{'M', true, uint64(time.Minute)},
	{'S', true, uint64(time.Second)},
}

// ParseDuration parses an ISO 8601 duration of days of 24 hours, hours, minutes and seconds with up
// to nine decimals, such as P1DT12H or -PT0.5S, or of weeks alone, such as P2W. One sign in front
// applies to the whole. Years and months are refused because their lengths differ.
func ParseDuration(s string) (DurationValue, error) {
	d, err := parseDuration(s)
	if err != nil {
		if len(s) > 60 {
			s = s[:60] + "…"
		}
		return 0, fmt.Errorf("%q is not a duration: %w; write it as ISO 8601, such as PT1H30M", s, err)
	}
	return d, nil
}

// parseDuration parses an ISO 8601 duration of days, hours, minutes and seconds.
func parseDuration(s string) (DurationValue, error) {
	negative := len(s) > 0 && s[0] == '-'
	if negative {
		s = s[1:]
	}
	if len(s) < 2 || s[0] != 'P' {
		return 0, errors.New("a duration must have a P and then at least one number with a unit")
	}
	s = s[1:]
	var total uint64
	next, inTime := 0, false // the units that may follow
	for s != "" {
		if s[0] == 'T' && !inTime {
			inTime, s = true, s[1:]
			if s == "" {
				return 0, errors.New("nothing follows the T")
			}
		}
		digits := leadingDigits(s)
		if digits == 0 {
			return 0, errors.New("a number before a unit is missing or has a sign")
		}
		whole, rest := s[:digits], s[digits:]
		fraction := ""
		if rest != "" && rest[0] == '.' {
			n := leadingDigits(rest[1:])
			fraction, rest = rest[1:1+n], rest[1+n:]
			if n == 0 || n > 9 {
				return 0, errors.New("a fraction must have one to nine digits")
			}
		}
		if rest == "" {
			return 0, errors.New("a unit is missing after a number")
		}
		i := next
		for i < len(durationUnits) && (durationUnits[i].letter != rest[0] || durationUnits[i].time != inTime) {
			i++
		}
		switch {
		case i == len(durationUnits) && !inTime && (rest[0] == 'Y' || rest[0] == 'M'):
			return 0, errors.New("years and months have no fixed length")
		case i == len(durationUnits):
			return 0, fmt.Errorf("the unit %q is unknown, repeated or out of order", rest[:1])
		case fraction != "" && rest[0] != 'S':
			return 0, errors.New("only seconds may have a fraction")
		case rest[0] == 'W' && len(rest) > 1:
			return 0, errors.New("weeks cannot be combined with other units")
		}
		n, err := strconv.ParseUint(whole, 10, 64)
		if err != nil {
			return 0, errDurationRange
		}
		high, length := bits.Mul64(n, durationUnits[i].length)
		sum, carry := bits.Add64(total, length, 0)
		sum, more := bits.Add64(sum, nanoseconds(fraction), 0)
		if high != 0 || carry != 0 || more != 0 {
			return 0, errDurationRange
		}
		total, next, s = sum, i+1, rest[1:]
	}
	switch {
	case !negative && total > math.MaxInt64, total > 1<<63:
		return 0, errDurationRange
	case negative:
		return DurationValue(-total), nil
	}
	return DurationValue(total), nil
}

// leadingDigits returns the number of digits at the start of s.
func leadingDigits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// nanoseconds converts the decimals of a second, at most nine digits, to nanoseconds.
func nanoseconds(decimals string) (n uint64) {
	for i := range 9 {
		n *= 10
		if i < len(decimals) {
			n += uint64(decimals[i] - '0')
		}
	}
	return n
}

// DurationOf converts a Go duration.
func DurationOf(d time.Duration) DurationValue { return DurationValue(d) }

// OfDuration returns a Duration value.
func OfDuration(d DurationValue) Value { return OfBits(Duration, uint64(d)) }

// Duration returns d as a Go duration.
func (d DurationValue) Duration() time.Duration { return time.Duration(d) }

// String returns the canonical text; see [DurationValue.Append].
func (d DurationValue) String() string { return string(d.Append(nil)) }

// Append appends the canonical text to dst: hours, minutes below 60, and seconds below 60 with the
// decimals that they need. Components that are zero are left out; the duration 0 is PT0S.
func (d DurationValue) Append(dst []byte) []byte {
	n := uint64(d)
	if d < 0 {
		dst, n = append(dst, '-'), -n
	}
	dst = append(dst, "PT"...)
	if n == 0 {
		return append(dst, "0S"...)
	}
	if h := n / uint64(time.Hour); h > 0 {
		dst = append(strconv.AppendUint(dst, h, 10), 'H')
	}
	if m := n / uint64(time.Minute) % 60; m > 0 {
		dst = append(strconv.AppendUint(dst, m, 10), 'M')
	}
	rest := n % uint64(time.Minute)
	if rest == 0 {
		return dst
	}
	dst = strconv.AppendUint(dst, rest/uint64(time.Second), 10)
	if decimals := rest % uint64(time.Second); decimals > 0 {
		dst = append(dst, '.')
		for unit := uint64(time.Second) / 10; decimals > 0; unit /= 10 {
			dst = append(dst, byte('0'+decimals/unit))
			decimals %= unit
		}
	}
	return append(dst, 'S')
}

// MarshalJSON writes the duration as a string.
func (d DurationValue) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }

// UnmarshalJSON parses a string such as PT1H30M.
func (d *DurationValue) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("a duration must be a string: %w", err)
	}
	v, err := ParseDuration(s)
	if err != nil {
		return err
	}
	*d = v
	return nil
}
