package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"
)

func TestRun(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), []string{"-dir", t.TempDir(), "-time", "10s", "-most", "50", "-writers", "4"}, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2+len(scenarios) {
		t.Fatalf("printed\n%s", out.String())
	}
	for _, l := range lines {
		if n := strings.Count(l, "|"); n != 11 {
			t.Errorf("%d cells: %s", n-1, l)
		}
	}
}

func TestBadFlags(t *testing.T) {
	for _, args := range [][]string{{"-writers", "0"}, {"-most", "0"}, {"-time", "soon"}, {"more"}} {
		if err := run(t.Context(), args, io.Discard, io.Discard); err == nil {
			t.Errorf("%q is taken", args)
		}
	}
}

func TestQuantile(t *testing.T) {
	times := []time.Duration{3 * time.Millisecond, 1 * time.Microsecond, 2 * time.Microsecond}
	for q, want := range map[float64]string{0.5: "2 µs", 0.99: "3.00 ms", 0: "1 µs"} {
		if got := quantile(times, q); got != want {
			t.Errorf("quantile %v is %s, want %s", q, got, want)
		}
	}
	if got := quantile(nil, 0.5); got != "–" {
		t.Errorf("of nothing: %s", got)
	}
}
