package server

import (
	"log/slog"
	"runtime/debug"

	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/server/cluster"
)

// answerShare is the part of the memory of all queries that one answer may take: what an
// actor may have under way, and does not read, leaves half of it to others.
const answerShare = 2 * cluster.DefaultPerActorInflight

// limitsOf are the limits of the configuration, and of GOMEMLIMIT where that says nothing.
func limitsOf(o *Options) cluster.Limits {
	l := o.Cluster.Server.Limits.Within(debug.SetMemoryLimit(-1)).WithDefaults()
	if l.QueryBytes == 0 {
		l.QueryBytes = embedded.DefaultQueryMemory
	}
	// A query that could never have so much is told so, and not to come back later.
	l.QueryBytes = min(l.QueryBytes, l.MemoryBytes)
	return l
}

// warnOf warns when a process that takes all that the limits allow would outgrow what
// GOMEMLIMIT says.
func warnOf(l cluster.Limits, log *slog.Logger) {
	goMemory := debug.SetMemoryLimit(-1) // asks, and sets nothing
	if l.MemoryBytes > goMemory-l.BodyBytes {
		log.Warn("queries and bodies may together take more memory than GOMEMLIMIT; raise it, or lower limits.memory_bytes or limits.body_bytes in cluster.yaml",
			"memory_bytes", l.MemoryBytes, "body_bytes", l.BodyBytes, "gomemlimit", goMemory)
	}
}
