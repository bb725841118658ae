//go:build shiftedclock

package clock

import (
	"fmt"
	"os"
	"time"
)

// shiftVariable is the environment variable that holds the offset.
const shiftVariable = "OMNIGRAPH_CLOCK_SHIFT"

// shift is the offset to the system's clock. It does not change while the process runs.
var shift = fromEnvironment()

// fromEnvironment reads the offset from the environment. It ends the process if the value is not
// valid.
func fromEnvironment() time.Duration {
	d, err := parseShift(os.Getenv(shiftVariable))
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", shiftVariable, err)
		os.Exit(2)
	}
	return d
}

// Now returns the current time plus the shift. [time.Time.Add] also moves the monotonic reading, so
// differences between two results use the monotonic clock.
func Now() time.Time { return time.Now().Add(shift) }

// Since returns the time elapsed since t.
func Since(t time.Time) time.Duration { return Now().Sub(t) }

// Until returns the duration until t.
func Until(t time.Time) time.Duration { return t.Sub(Now()) }
