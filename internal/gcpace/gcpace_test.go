package gcpace

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"
)

// growth is the growth of the heap in the tests.
const growth = 64 << 20

func TestGCPercent(t *testing.T) {
	for _, c := range []struct {
		live, growth uint64
		want         int
	}{
		{0, 64 << 20, 1600},
		{4 << 20, 64 << 20, 1600},
		{10 << 20, 64 << 20, 640},
		{64 << 20, 64 << 20, 100},
		{1 << 30, 64 << 20, 100},
		{16 << 20, 16 << 20, 100},
	} {
		if got := gcPercent(c.live, c.growth); got != c.want {
			t.Errorf("a live heap of %d bytes that may grow by %d: got %d percent, want %d", c.live, c.growth, got, c.want)
		}
	}
}

// TestSpace checks that GOGC follows the live heap, from one collection to the next.
func TestSpace(t *testing.T) {
	t.Setenv("GOGC", "")
	was := debug.SetGCPercent(defaultPercent)
	defer debug.SetGCPercent(was)
	stop := Space(growth)
	defer stop()
	waitForPercent(t, "a small heap", func(percent uint64) bool { return percent > 2*defaultPercent })

	kept := make([]byte, 4*growth)
	waitForPercent(t, "a large heap", func(percent uint64) bool { return percent == defaultPercent })
	runtime.KeepAlive(kept)
	waitForPercent(t, "a small heap again", func(percent uint64) bool { return percent > 2*defaultPercent })

	stop()
	waitForPercent(t, "after the end", func(percent uint64) bool { return percent == defaultPercent })
}

// TestSpaceKeepsGOGC checks that a value of the operator stays.
func TestSpaceKeepsGOGC(t *testing.T) {
	t.Setenv("GOGC", "50")
	was := debug.SetGCPercent(50) // a real process reads the variable when it starts
	defer debug.SetGCPercent(was)
	stop := Space(growth)
	runtime.GC()
	if got := percentOfGC(); got != 50 {
		t.Errorf("GOGC is %d, want the 50 of the variable", got)
	}
	stop()
	if got := percentOfGC(); got != 50 {
		t.Errorf("after the end GOGC is %d, want the 50 of the variable", got)
	}
}

// waitForPercent collects garbage until GOGC is as ok wants it.
func waitForPercent(t *testing.T, when string, ok func(percent uint64) bool) {
	t.Helper()
	for range 200 {
		runtime.GC()
		if ok(percentOfGC()) {
			return
		}
		time.Sleep(10 * time.Millisecond) // the cleanup runs in a goroutine of its own
	}
	t.Fatalf("%s: GOGC stays at %d", when, percentOfGC())
}

// percentOfGC returns the present percentage of GOGC.
func percentOfGC() uint64 {
	s := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}
