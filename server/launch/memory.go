package launch

import (
	"log/slog"
	"math"
	"os"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// What of the memory a server takes for what.
const (
	heapShare  = 0.8 // of what the machine or its container has, for all of the server
	queryShare = 4   // one part in so many of that, for the rows that queries collect

	minQueries = 64 << 20 // bytes for all queries, however little memory there is
	maxQueries = 4 << 30
	maxQuery   = 1 << 30 // bytes for one query
)

// limitMemory makes the garbage collector keep the process under GOMEMLIMIT, or without
// it under four fifths of what the machine or its container has. It returns how many
// bytes one query may collect rows in, and all queries at a time: memory that no
// collector can free. Where no limit is known these have the values of a large machine.
func limitMemory(log *slog.Logger) (one, all int64) {
	if _, set := os.LookupEnv("GOMEMLIMIT"); !set {
		provider := memlimit.ApplyFallback(memlimit.FromCgroup, memlimit.FromSystem)
		if _, err := memlimit.Set(memlimit.WithRatio(heapShare), memlimit.WithProvider(provider), memlimit.WithLogger(slog.New(slog.DiscardHandler))); err != nil {
			log.Warn("how much memory there is cannot be told; set GOMEMLIMIT", "error", err)
		}
	}
	limit := debug.SetMemoryLimit(-1)
	one, all = queryMemory(limit)
	if limit < math.MaxInt64 {
		log.Info("memory", "limit", limit, "one_query", one, "all_queries", all)
	}
	return one, all
}

func queryMemory(limit int64) (one, all int64) {
	all = min(max(limit/queryShare, minQueries), maxQueries)
	return min(all/2, maxQuery), all
}
