package server

import (
	"runtime/debug"

	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/server/cluster"
)

// limitsOf are the limits of the configuration, and of GOMEMLIMIT where that says nothing.
// It warns when a process that takes all that they allow would outgrow that.
func limitsOf(o *Options) cluster.Limits {
	goMemory := debug.SetMemoryLimit(-1) // asks, and sets nothing
	l := o.Cluster.Server.Limits.Within(goMemory).WithDefaults()
	if l.QueryBytes == 0 {
		l.QueryBytes = embedded.DefaultQueryMemory
	}
	// A query that could never have so much is told so, and not to come back later.
	l.QueryBytes = min(l.QueryBytes, l.MemoryBytes)
	if l.MemoryBytes > goMemory-l.BodyBytes {
		o.Log.Warn("queries and bodies may together take more memory than GOMEMLIMIT; raise it, or lower limits.memory_bytes or limits.body_bytes in cluster.yaml",
			"memory_bytes", l.MemoryBytes, "body_bytes", l.BodyBytes, "gomemlimit", goMemory)
	}
	return l
}
