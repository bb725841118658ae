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
	t.Setenv("GOMEMLIMIT", "") // so that the test restores the variable
	os.Unsetenv("GOMEMLIMIT")
	debug.SetMemoryLimit(math.MaxInt64)
	limitMemory(slog.New(slog.DiscardHandler))
	if found := debug.SetMemoryLimit(-1); found == math.MaxInt64 || found < 64<<20 {
		t.Errorf("the limit was set to %d bytes", found)
	}
	t.Setenv("GOMEMLIMIT", "") // an environment file with an empty value sets the variable like this
	debug.SetMemoryLimit(math.MaxInt64)
	limitMemory(slog.New(slog.DiscardHandler))
	if found := debug.SetMemoryLimit(-1); found == math.MaxInt64 {
		t.Error("an empty GOMEMLIMIT turned the limit off")
	}
	t.Setenv("GOMEMLIMIT", "512MiB") // a real process reads the variable when it starts
	debug.SetMemoryLimit(512 << 20)
	limitMemory(slog.New(slog.DiscardHandler))
	if found := debug.SetMemoryLimit(-1); found != 512<<20 {
		t.Errorf("GOMEMLIMIT was overruled: the limit is %d bytes", found)
	}
}
