//go:build !shiftedclock

package clock

import "time"

// Now returns the current time. It has a monotonic reading, as time.Now does.
func Now() time.Time { return time.Now() }

// Since returns how long ago t was.
func Since(t time.Time) time.Duration { return time.Since(t) }

// Until returns how long it is until t.
func Until(t time.Time) time.Duration { return time.Until(t) }
