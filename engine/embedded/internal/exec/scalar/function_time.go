package scalar

import (
	"time"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// The units of time, in microseconds.
const (
	secondMicros = 1000_000
	minuteMicros = 60 * secondMicros
	hourMicros   = 60 * minuteMicros
	dayMicros    = 24 * hourMicros
)

// shift makes the function that moves a Date or DateTime by a number of units: forwards if `sign`
// is 1, backwards if it is -1. The parameter `unit` is in microseconds.
func shift(unit, sign int64) function {
	return func(typ value.Type, args []value.Value) (value.Value, error) {
		length := unit
		if typ.Kind == value.Date {
			length = 1 // a Date counts days; the only unit for it is a day
		}
		step, ok := multiplyInts(position(args[1]), length*sign)
		if !ok {
			return value.Null, ErrRange
		}
		return moved(args[0], step)
	}
}

// moved adds n days to a Date, or n microseconds to a DateTime.
func moved(v value.Value, n int64) (value.Value, error) {
	sum, ok := addInts(v.Int(), n)
	if !ok {
		return value.Null, ErrRange
	}
	if v.Kind() == value.Date {
		d, err := value.DateFromDays(sum)
		if err != nil {
			return value.Null, ErrRange
		}
		return value.OfDate(d), nil
	}
	t, err := value.DateTimeFromMicros(sum)
	if err != nil {
		return value.Null, ErrRange
	}
	return value.OfDateTime(t), nil
}

// shiftDuration makes the function that moves a DateTime by a Duration. The function rounds the
// result down to a microsecond.
func shiftDuration(sign int64) function {
	return func(_ value.Type, args []value.Value) (value.Value, error) {
		d := args[1].Int()
		const nanos = int64(time.Microsecond)
		micros, rest := d/nanos, d%nanos
		micros *= sign
		if rest*sign < 0 && !fault.On(fault.DurationCut) {
			micros--
		}
		return moved(args[0], micros)
	}
}

// instant returns the time of a DateTime, or midnight of a Date, in UTC.
func instant(v value.Value) time.Time {
	if v.Kind() == value.Date {
		return value.DateValue(v.Int()).Time()
	}
	return value.DateTimeValue(v.Int()).Time()
}

// year returns the year of a date or time in UTC.
func year(_ value.Type, args []value.Value) (value.Value, error) {
	return value.OfI32(int32(instant(args[0]).Year())), nil
}

// month returns the month, from 1, of a date or time in UTC.
func month(_ value.Type, args []value.Value) (value.Value, error) {
	return value.OfI32(int32(instant(args[0]).Month())), nil
}

// day returns the day of the month, from 1, of a date or time in UTC.
func day(_ value.Type, args []value.Value) (value.Value, error) {
	return value.OfI32(int32(instant(args[0]).Day())), nil
}

// hour returns the hour, from 0, of a date or time in UTC.
func hour(_ value.Type, args []value.Value) (value.Value, error) {
	return value.OfI32(int32(instant(args[0]).Hour())), nil
}

// weekday returns 1 for Monday to 7 for Sunday.
func weekday(_ value.Type, args []value.Value) (value.Value, error) {
	return value.OfI32(int32(instant(args[0]).Weekday()+6)%7 + 1), nil
}

// days returns the number of days from 1970-01-01 to the day of a Date or DateTime, in UTC.
func days(v value.Value) int64 {
	if v.Kind() == value.Date {
		return v.Int()
	}
	n := v.Int() / dayMicros
	if v.Int()%dayMicros < 0 && !fault.On(fault.DayCut) {
		n--
	}
	return n
}

// dateOf converts a Date, a DateTime or a text to a Date. The result is null if the text is not a
// date.
func dateOf(_ value.Type, args []value.Value) (value.Value, error) {
	v := args[0]
	if v.Kind() != value.String {
		return value.OfDate(value.DateValue(days(v))), nil
	}
	d, err := value.ParseDate(v.Str())
	if err != nil {
		return value.Null, nil
	}
	return value.OfDate(d), nil
}

// daysBetween returns the number of days from the first argument to the second.
func daysBetween(_ value.Type, args []value.Value) (value.Value, error) {
	return value.OfI32(int32(days(args[1]) - days(args[0]))), nil
}

// secondsBetween returns the number of whole seconds from the first argument to the second.
func secondsBetween(_ value.Type, args []value.Value) (value.Value, error) {
	return value.OfI64((args[1].Int() - args[0].Int()) / secondMicros), nil
}
