package launch

import (
	"log/slog"
	"math"
	"os"
	"runtime/debug"
	"testing"
)

func TestLimitMemory(t *testing.T) {
	was := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(was)
	t.Setenv("GOMEMLIMIT", "") // so that t restores it
	os.Unsetenv("GOMEMLIMIT")
	debug.SetMemoryLimit(math.MaxInt64)
	limitMemory(slog.New(slog.DiscardHandler))
	if found := debug.SetMemoryLimit(-1); found == math.MaxInt64 || found < 64<<20 {
		t.Errorf("the limit was set to %d bytes", found)
	}
	t.Setenv("GOMEMLIMIT", "") // as an environment file with an empty value sets it
	debug.SetMemoryLimit(math.MaxInt64)
	limitMemory(slog.New(slog.DiscardHandler))
	if found := debug.SetMemoryLimit(-1); found == math.MaxInt64 {
		t.Error("an empty GOMEMLIMIT turned the limit off")
	}
	t.Setenv("GOMEMLIMIT", "512MiB") // the runtime would have read it at the start of the process
	debug.SetMemoryLimit(512 << 20)
	limitMemory(slog.New(slog.DiscardHandler))
	if found := debug.SetMemoryLimit(-1); found != 512<<20 {
		t.Errorf("GOMEMLIMIT was overruled: the limit is %d bytes", found)
	}
}
