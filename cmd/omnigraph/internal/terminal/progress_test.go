package terminal

import (
	"bytes"
	"regexp"
	"testing"
)

// TestShowBytes checks that a terminal shows the percentage, the rate and the remaining time.
func TestShowBytes(t *testing.T) {
	var b bytes.Buffer
	p := &Progress{w: &b, tty: true}
	p.ShowBytes("importing", 50<<20, 100<<20)
	if s := b.String(); !regexp.MustCompile(`importing +50% .*B/s\) \[\d+s:\d+s\]`).MatchString(s) {
		t.Errorf("found %q, expected percentage, rate and remaining time", s)
	}
	p.Done()
	b.Reset()
	(&Progress{w: &b}).ShowBytes("importing", 1, 2)
	if b.Len() > 0 {
		t.Errorf("found %q on an output that is no terminal", b.String())
	}
}
