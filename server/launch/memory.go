package launch

import (
	"log/slog"
	"math"
	"os"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// heapGrowth is the growth of a small heap between two garbage collections, in bytes.
const heapGrowth = 64 << 20

// heapShare is the part of the memory of the machine or container that the process may use.
const heapShare = 0.8

// limitMemory sets the memory limit of the Go runtime: GOMEMLIMIT if it is set, and otherwise
// four fifths of the memory of the machine or container.
func limitMemory(log *slog.Logger) {
	if os.Getenv("GOMEMLIMIT") == "" { // the runtime also treats an empty value as unset
		provider := memlimit.ApplyFallback(memlimit.FromCgroup, memlimit.FromSystem)
		os.Unsetenv("GOMEMLIMIT") // the library would read an empty value as a limit
		if _, err := memlimit.Set(memlimit.WithRatio(heapShare), memlimit.WithProvider(provider), memlimit.WithLogger(slog.New(slog.DiscardHandler))); err != nil {
			log.Warn("the server cannot find out how much memory there is; set GOMEMLIMIT", "error", err)
		}
	}
	if limit := debug.SetMemoryLimit(-1); limit < math.MaxInt64 { // -1 only reads the limit
		log.Info("memory", "limit", limit)
	}
}
