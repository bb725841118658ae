package snb

import "time"

// Millis is an instant in milliseconds since 1970-01-01T00:00:00Z.
type Millis int64

// Day is a number of days since 1970-01-01.
type Day int32

const (
	second = Millis(1000)
	minute = 60 * second
	hour   = 60 * minute
	day    = 24 * hour
)

// AddDays returns the instant that is n days later.
func (m Millis) AddDays(n int64) Millis { return m + Millis(n)*day }

// Time returns the instant in UTC.
func (m Millis) Time() time.Time { return time.UnixMilli(int64(m)).UTC() }

// String returns the instant as RFC 3339 with milliseconds.
func (m Millis) String() string { return m.Time().Format("2006-01-02T15:04:05.000Z") }

// Time returns the beginning of the day in UTC.
func (d Day) Time() time.Time { return time.Unix(int64(d)*86_400, 0).UTC() }

// String returns the day as YYYY-MM-DD.
func (d Day) String() string { return d.Time().Format(time.DateOnly) }
