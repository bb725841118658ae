//go:build shiftedclock

package clock

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestShift runs this test binary again with several values of the shift.
func TestShift(t *testing.T) {
	if at := os.Getenv("CLOCK_TEST_PRINTS"); at != "" {
		os.Stdout.WriteString(Now().UTC().Format(time.RFC3339) + "\n")
		return
	}
	for _, tt := range []struct {
		shift string
		want  time.Duration
		fault string
	}{
		{"", 0, ""}, {"3653d", 3653 * 24 * time.Hour, ""}, {"-48h", -48 * time.Hour, ""},
		{"soon", 0, `OMNIGRAPH_CLOCK_SHIFT: "soon" is neither a duration`},
	} {
		c := exec.Command(os.Args[0], "-test.run=^TestShift$")
		c.Env = append(os.Environ(), "CLOCK_TEST_PRINTS=1", shiftVariable+"="+tt.shift)
		begin := time.Now()
		out, err := c.CombinedOutput()
		if tt.fault != "" {
			if err == nil || !strings.Contains(string(out), tt.fault) {
				t.Errorf("%q: %v, %s; want %s", tt.shift, err, out, tt.fault)
			}
			continue
		}
		line, _, _ := strings.Cut(string(out), "\n")
		at, fault := time.Parse(time.RFC3339, line)
		if err != nil || fault != nil {
			t.Errorf("%q: %v, %s", tt.shift, err, out)
			continue
		}
		if off := at.Sub(begin) - tt.want; off < -time.Second || off > time.Minute {
			t.Errorf("%q: the process had %v, which is %v away from the shift", tt.shift, at, off)
		}
	}
}
