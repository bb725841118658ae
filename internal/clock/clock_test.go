package clock

import (
	"os"
	"strings"
	"testing"
	"time"
)

func TestParseShift(t *testing.T) {
	const day = 24 * time.Hour
	for _, tt := range []struct {
		text string
		want time.Duration
		ok   bool
	}{
		{"", 0, true}, {"0", 0, true}, {"0d", 0, true}, {"48h", 2 * day, true}, {"-90m", -90 * time.Minute, true}, {"11117h12m30s", 11117*time.Hour + 12*time.Minute + 30*time.Second, true},
		{"1d", day, true}, {"3653d", 3653 * day, true}, {"-365d", -365 * day, true}, {"100000d", 100_000 * day, true},
		{"100001d", 0, false}, {"-100001d", 0, false}, {"d", 0, false}, {"1.5d", 0, false}, {"1d12h", 0, false},
		{"10", 0, false}, {" 48h", 0, false}, {"ten years", 0, false}, {"99999999999h", 0, false},
	} {
		if got, err := parseShift(tt.text); got != tt.want || (err == nil) != tt.ok {
			t.Errorf("%q: %v, %v; want %v", tt.text, got, err, tt.want)
		}
	}
}

// TestClock passes with and without the build tag: the clock differs from the system's only by the
// shift, and differences are monotonic.
func TestClock(t *testing.T) {
	before := time.Now().Add(shift)
	now := Now()
	after := time.Now().Add(shift)
	if now.Before(before) || now.After(after) {
		t.Errorf("Now is %v, want a time from %v to %v", now, before, after)
	}
	if now.Round(0) == now {
		t.Errorf("%v has no monotonic reading", now)
	}
	const wait = 5 * time.Millisecond
	time.Sleep(wait)
	if d := Since(now); d < wait || d > time.Minute {
		t.Errorf("Since says %v after a wait of %v", d, wait)
	}
	if d := Until(now.Add(time.Hour)); d > time.Hour-wait || d < time.Hour-time.Minute {
		t.Errorf("Until an hour after the start says %v after a wait of %v", d, wait)
	}
}

// TestZone fails if the time zone in TZ is unknown. Package time would use UTC then, and a run in
// that zone would test nothing.
func TestZone(t *testing.T) {
	name := os.Getenv("TZ")
	if name == "" || strings.HasPrefix(name, ":") || strings.HasPrefix(name, "/") {
		t.Skip("TZ names no zone")
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2028, time.February, 29, 12, 0, 0, 0, time.UTC)
	if got, want := at.Local().Format(time.RFC3339), at.In(zone).Format(time.RFC3339); got != want {
		t.Errorf("the local time is %s, want %s as in %s", got, want, name)
	}
}
