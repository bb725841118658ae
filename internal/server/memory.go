package server

import (
	"log/slog"
	"runtime/debug"

	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
)

// answerShare determines the memory limit of one answer: the memory of all queries divided by
// answerShare. So an actor that has its maximum of calls in flight, and does not read the answers,
// holds at most half of the memory of all queries.
const answerShare = 2 * cluster.DefaultPerActorInflight

// limitsOf returns the configured limits. It derives unset memory limits from GOMEMLIMIT and
// takes the defaults for all others.
func limitsOf(o *Options) cluster.Limits {
	l := o.Cluster.Server.Limits.Within(debug.SetMemoryLimit(-1)).WithDefaults()
	if l.QueryBytes == 0 {
		l.QueryBytes = embedded.DefaultQueryMemory
	}
	// A query that needs more than MemoryBytes can never run. It must get an error that says so,
	// not one that asks the client to retry.
	l.QueryBytes = min(l.QueryBytes, l.MemoryBytes)
	return l
}

// warnAboutMemory logs a warning if the process would exceed GOMEMLIMIT when it uses everything
// that its limits allow.
func warnAboutMemory(l cluster.Limits, log *slog.Logger) {
	goMemory := debug.SetMemoryLimit(-1) // -1 only reads the limit
	if l.MemoryBytes > goMemory-l.BodyBytes {
		log.Warn("queries and request bodies together may use more memory than GOMEMLIMIT; raise GOMEMLIMIT, or lower limits.memory_bytes or limits.body_bytes in cluster.yaml",
			"memory_bytes", l.MemoryBytes, "body_bytes", l.BodyBytes, "gomemlimit", goMemory)
	}
}
