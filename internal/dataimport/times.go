package dataimport

import (
	"errors"
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // zones of a map must exist on each machine

	"github.com/omnigraph-go/omnigraph/gq/value"
)

// DateLayouts are the ways to write a day that an error proposes, as Go writes them.
var DateLayouts = []string{"2006-01-02", "02/01/2006", "01/02/2006", "2/1/2006", "1/2/2006", "02.01.2006", "2.1.2006", "02-01-2006", "01-02-2006",
	"2006/01/02", "20060102", "02/01/06", "01/02/06", "02.01.06", "2 January 2006", "2 Jan 2006", "January 2, 2006", "Jan 2, 2006", "02-Jan-2006", "02-Jan-06"}

// readingsOf returns the days that a text could mean, each with the first layout that reads it so.
func readingsOf(text string) (days []time.Time, layouts []string) {
	for _, layout := range DateLayouts {
		t, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		known := false
		for _, day := range days {
			known = known || day.Equal(t)
		}
		if !known {
			days, layouts = append(days, t), append(layouts, layout)
		}
	}
	return days, layouts
}

// unclearDate returns the error for a text that is no day YYYY-MM-DD. It shows each way to read the text.
func unclearDate(text string) error {
	days, layouts := readingsOf(text)
	var ways []string
	for i := range days {
		ways = append(ways, fmt.Sprintf("%s with date: %q", days[i].Format("2 January 2006"), layouts[i]))
	}
	switch len(ways) {
	case 0:
		return errors.New("expected a day such as 2006-01-02; write in the map how the source writes the day 2006-01-02, as date: \"…\"")
	case 1:
		return fmt.Errorf("expected a day such as 2006-01-02; in the map the text is %s", ways[0])
	}
	return fmt.Errorf("the text could be two days; say which in the map: %s", strings.Join(ways, ", or "))
}

// parseDay parses a day. Without a layout it must be YYYY-MM-DD, perhaps with the time of midnight, which databases add.
func parseDay(text, layout string) (time.Time, error) {
	if layout != "" {
		t, err := time.Parse(layout, text)
		if err != nil {
			return t, fmt.Errorf("expected a day as date: %q in the map says%s", layout, reasonOf(err))
		}
		return t, midnight(t)
	}
	if len(text) == len(time.DateOnly) {
		if d, err := value.ParseDate(text); err == nil {
			return d.Time(), nil
		}
	}
	for _, layout := range []string{time.DateOnly, "2006-01-02 15:04:05", "2006-01-02T15:04:05"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, midnight(t)
		}
	}
	return time.Time{}, unclearDate(text)
}

// midnight returns an error if a day has a time of day, which a Date would cut.
func midnight(t time.Time) error {
	if !t.Equal(t.Truncate(24 * time.Hour)) {
		return errors.New("the day has a time, which a Date does not keep; set a DateTime, or leave the time out in the source")
	}
	return nil
}

// reasonOf returns the reason of a parser of times, if it says more than that the text does not match.
func reasonOf(err error) string {
	var bad *time.ParseError
	if errors.As(err, &bad) && bad.Message != "" {
		return bad.Message
	}
	return ""
}

// offsetLayouts are the ways to write a time with its offset that need no layout, and localLayouts those without an offset.
var (
	offsetLayouts = []string{time.RFC3339Nano, "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05Z07", "2006-01-02T15:04:05Z0700", "2006-01-02 15:04:05Z0700", "2006-01-02 15:04:05 Z0700"}
	localLayouts  = []string{"2006-01-02T15:04:05", "2006-01-02 15:04:05"}
)

// parseTime parses a time. RFC 3339 may have a blank in place of the T, and an offset of hours alone. The zone is nil if the map has none.
func parseTime(text, layout string, zone *time.Location) (time.Time, error) {
	if layout == "" || layout == "rfc3339" {
		for _, l := range offsetLayouts {
			if t, err := time.Parse(l, text); err == nil {
				return t, nil
			}
		}
		if t, err := time.Parse(time.RFC3339Nano, strings.ToUpper(text)); err == nil {
			return t, nil
		}
		for _, l := range localLayouts {
			if t, err := time.Parse(l, text); err == nil {
				return inZone(t, zone)
			}
		}
		return time.Time{}, errors.New("expected a time such as 2006-01-02T15:04:05Z; write in the map how the source writes the time 2006-01-02 15:04:05, as time: \"…\"")
	}
	t, err := time.Parse(layout, text)
	if err != nil {
		return t, fmt.Errorf("expected a time as time: %q in the map says%s", layout, reasonOf(err))
	}
	if hasOffset(layout) {
		return t, nil
	}
	return inZone(t, zone)
}

// hasOffset reports whether a layout has the offset of a time.
func hasOffset(layout string) bool {
	return strings.Contains(layout, "Z07") || strings.Contains(layout, "-07")
}

// inZone returns the point in time at which a clock of a zone shows a local time. `local` is in UTC. A time that the clock
// shows twice, or never, is an error.
func inZone(local time.Time, zone *time.Location) (time.Time, error) {
	if zone == nil {
		return local, errors.New("the time has no zone; say in the map in which zone it is, such as zone: UTC or zone: Europe/Amsterdam")
	}
	y, mo, d := local.Date()
	h, mi, s := local.Clock()
	t := time.Date(y, mo, d, h, mi, s, local.Nanosecond(), zone)
	shows := func(t time.Time) bool { return t.In(zone).Format(wallLayout) == local.Format(wallLayout) }
	if !shows(t) {
		return t, fmt.Errorf("the clocks in %s skip this time, when summer time begins; mend it in the source", zone)
	}
	start, end := t.ZoneBounds()
	for _, neighbour := range []time.Time{start.Add(-time.Nanosecond), end} {
		if neighbour.IsZero() || start.IsZero() && neighbour.Before(t) {
			continue
		}
		_, here := t.Zone()
		_, there := neighbour.Zone()
		other := t.Add(time.Duration(here-there) * time.Second)
		if here != there && shows(other) {
			if other.Before(t) {
				t, other = other, t
			}
			return t, fmt.Errorf("the clocks in %s show this time twice, when summer time ends: it could be %s or %s; write the offset in the source", zone,
				t.UTC().Format(time.RFC3339), other.UTC().Format(time.RFC3339))
		}
	}
	return t, nil
}

// wallLayout is what a clock and a calendar show.
const wallLayout = "2006-01-02 15:04:05.999999999"

// unixUnits maps the layouts of times since 1970 to the length of one unit.
var unixUnits = map[string]time.Duration{"unix": time.Second, "unix_ms": time.Millisecond, "unix_us": time.Microsecond}

// parseUnix parses a number of units since 1970. It may have a fraction down to the nanosecond.
func parseUnix(text string, unit time.Duration) (time.Time, error) {
	d, ok := parseDecimal(text)
	places := len(fmt.Sprint(int64(unit))) - 1 // the digits of a unit in nanoseconds after the first
	if !ok || len(d.whole) > 18 || len(d.fraction) > places {
		return time.Time{}, errors.New("expected a number of units since 1970, down to the nanosecond at most")
	}
	var whole, nanos int64
	for _, c := range d.whole {
		whole = 10*whole + int64(c-'0')
	}
	for _, c := range d.fraction + strings.Repeat("0", places-len(d.fraction)) {
		nanos = 10*nanos + int64(c-'0')
	}
	perSecond := int64(time.Second / unit)
	seconds, rest := whole/perSecond, whole%perSecond*int64(unit)+nanos
	if d.negative {
		seconds, rest = -seconds, -rest
	}
	return time.Unix(seconds, rest).UTC(), nil
}
