package launch

import (
	"log/slog"
	"math"
	"os"
	"runtime/debug"
	"testing"
)

func TestQueryMemory(t *testing.T) {
	for _, tt := range []struct{ limit, one, all int64 }{
		{1 << 20, 32 << 20, 64 << 20},
		{1 << 30, 128 << 20, 256 << 20},
		{8 << 30, 1 << 30, 2 << 30},
		{1 << 40, 1 << 30, 4 << 30},
		{math.MaxInt64, 1 << 30, 4 << 30},
	} {
		if one, all := queryMemory(tt.limit); one != tt.one || all != tt.all {
			t.Errorf("of %d bytes one query has %d and all have %d, wanted %d and %d", tt.limit, one, all, tt.one, tt.all)
		}
	}
}

func TestLimitMemory(t *testing.T) {
	was := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(was)
	t.Setenv("GOMEMLIMIT", "") // so that it comes back
	os.Unsetenv("GOMEMLIMIT")
	debug.SetMemoryLimit(math.MaxInt64)
	limitMemory(slog.New(slog.DiscardHandler))
	if found := debug.SetMemoryLimit(-1); found == math.MaxInt64 || found < 64<<20 {
		t.Errorf("the limit was set to %d bytes", found)
	}
	t.Setenv("GOMEMLIMIT", "512MiB") // which the runtime has read when the process began
	debug.SetMemoryLimit(512 << 20)
	if _, all := limitMemory(slog.New(slog.DiscardHandler)); all != 128<<20 || debug.SetMemoryLimit(-1) != 512<<20 {
		t.Errorf("GOMEMLIMIT was overruled; all queries have %d bytes", all)
	}
}
