package launch

import (
	"log/slog"
	"math"
	"os"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// heapShare is how much the process may have of what the machine or its container has.
const heapShare = 0.8

// limitMemory makes the garbage collector keep the process under GOMEMLIMIT, or without
// it under four fifths of what the machine or its container has.
func limitMemory(log *slog.Logger) {
	if os.Getenv("GOMEMLIMIT") == "" { // which the runtime takes for none, too
		provider := memlimit.ApplyFallback(memlimit.FromCgroup, memlimit.FromSystem)
		os.Unsetenv("GOMEMLIMIT") // an empty one keeps the library from setting a limit
		if _, err := memlimit.Set(memlimit.WithRatio(heapShare), memlimit.WithProvider(provider), memlimit.WithLogger(slog.New(slog.DiscardHandler))); err != nil {
			log.Warn("how much memory there is cannot be told; set GOMEMLIMIT", "error", err)
		}
	}
	if limit := debug.SetMemoryLimit(-1); limit < math.MaxInt64 { // asks, and sets nothing
		log.Info("memory", "limit", limit)
	}
}
