package cluster

import (
	"fmt"
	"time"

	"github.com/omnigraph-go/omnigraph/server/strictyaml"
)

// Limits bound what the server takes on. A zero field has its default.
type Limits struct {
	PerActorInflight int           // requests of one actor at once
	TotalInflight    int           // requests at once
	RequestTimeout   time.Duration // of a call; loads and exports may take as long as the connection lets them
	BodyBytes        int64         // of request bodies at once; one actor's may be half of it
	QueryBytes       int64         // of memory that one call may take for rows, or to compile a text; 0 for the engine's default, and no more than all together
	MemoryBytes      int64         // of memory that all calls together may take for rows, texts and long answers
	Branches         int           // live branches of each graph
}

// What cluster.yaml says of limits where it says nothing.
const (
	DefaultPerActorInflight = 16
	DefaultTotalInflight    = 256
	DefaultRequestTimeout   = 30 * time.Second
	DefaultBodyBytes        = 256 << 20
	DefaultMemoryBytes      = 2 << 30
	DefaultBranches         = 10_000
)

// minBodyBytes leaves room for two bodies of the largest size, so that half of it, which
// is one actor's, is enough for one.
const minBodyBytes = 64 << 20

// WithDefaults returns the limits with nothing left to be said.
func (l Limits) WithDefaults() Limits {
	if l.PerActorInflight == 0 {
		l.PerActorInflight = DefaultPerActorInflight
	}
	if l.TotalInflight == 0 {
		l.TotalInflight = DefaultTotalInflight
	}
	if l.RequestTimeout == 0 {
		l.RequestTimeout = DefaultRequestTimeout
	}
	if l.BodyBytes == 0 {
		l.BodyBytes = DefaultBodyBytes
	}
	if l.MemoryBytes == 0 {
		l.MemoryBytes = DefaultMemoryBytes
	}
	if l.Branches == 0 {
		l.Branches = DefaultBranches
	}
	return l
}

// Within returns the limits of a process whose heap Go bounds to so many bytes, which is
// what GOMEMLIMIT says: where nothing is said of it, the queries together may take half
// of that at most. The other half is for bodies, loads and what the collector has not
// come to.
func (l Limits) Within(goMemory int64) Limits {
	if half := goMemory / 2; l.MemoryBytes == 0 && half < DefaultMemoryBytes {
		l.MemoryBytes = half
	}
	return l
}

func (p *reader) limits(n *strictyaml.Node) {
	l := &p.cfg.Server.Limits
	f, ok := n.Fields("limits", "per_actor_inflight", "total_inflight", "request_timeout", "body_bytes", "query_bytes", "memory_bytes", "branches")
	if !ok {
		return
	}
	if v, ok := f["per_actor_inflight"].Int("per_actor_inflight", 1, 100_000); ok {
		l.PerActorInflight = int(v)
	}
	if v, ok := f["total_inflight"].Int("total_inflight", 1, 100_000); ok {
		l.TotalInflight = int(v)
	}
	if v, ok := f["body_bytes"].Int("body_bytes", minBodyBytes, 1<<40); ok {
		l.BodyBytes = v
	}
	if v, ok := f["query_bytes"].Int("query_bytes", 1<<20, 1<<40); ok {
		l.QueryBytes = v
	}
	if v, ok := f["memory_bytes"].Int("memory_bytes", 1<<20, 1<<50); ok {
		l.MemoryBytes = v
	}
	if v, ok := f["branches"].Int("branches", 1, 1_000_000); ok {
		l.Branches = int(v)
	}
	if n := f["request_timeout"]; n != nil {
		if s, ok := n.Text("request_timeout"); ok {
			d, err := time.ParseDuration(s)
			if err != nil || d < minTimeout || d > maxTimeout {
				n.Fault(strictyaml.BadValue, fmt.Sprintf("request_timeout is %q, wanted a duration from 1ms to 5m, such as 30s", s), "")
				return
			}
			l.RequestTimeout = d
		}
	}
}

// A call must be answered, and the answer be taken, within the ten minutes that the
// server gives any request.
const (
	minTimeout = time.Millisecond
	maxTimeout = 5 * time.Minute
)
