package cluster

import (
	"fmt"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/strictyaml"
)

// Limits bound the load of the server. A zero field means its default. The names in JSON are those in a revision.
type Limits struct {
	PerActorInflight int `json:"per_actor_inflight,omitempty"` // concurrent requests of one actor
	TotalInflight    int `json:"total_inflight,omitempty"`     // concurrent requests
	// RequestTimeout bounds a call. Loads and exports may take as long as their connection allows.
	RequestTimeout time.Duration `json:"request_timeout_ns,omitempty"`
	// BodyBytes bounds the bytes of request bodies held at once. One actor may use half of them.
	BodyBytes int64 `json:"body_bytes,omitempty"`
	// LoadBytes bounds the data of one load that a client streams. 0 means the quota of the graph, if it has one.
	LoadBytes int64 `json:"load_bytes,omitempty"`
	// QueryBytes bounds the bytes of memory that one call may use for rows, or to compile a text. 0
	// means the engine's default. It is at most MemoryBytes.
	QueryBytes int64 `json:"query_bytes,omitempty"`
	// MemoryBytes bounds the bytes of memory that all calls together may use for rows, texts and
	// long answers.
	MemoryBytes int64 `json:"memory_bytes,omitempty"`
	Branches    int   `json:"branches,omitempty"` // number of live branches of each graph

	PerActorSubscriptions int `json:"per_actor_subscriptions,omitempty"` // open subscriptions of one actor
	TotalSubscriptions    int `json:"total_subscriptions,omitempty"`     // open subscriptions of all actors
}

// The defaults of the limits if cluster.yaml does not set them.
const (
	DefaultPerActorInflight = 16               // concurrent requests of one actor
	DefaultTotalInflight    = 256              // concurrent requests of all actors
	DefaultRequestTimeout   = 30 * time.Second // time limit of one call
	DefaultBodyBytes        = 256 << 20        // bytes of all request bodies held at once
	DefaultMemoryBytes      = 2 << 30          // bytes for the rows and texts of all calls
	DefaultBranches         = 10_000           // live branches of one graph

	DefaultPerActorSubscriptions = 16  // open subscriptions of one actor
	DefaultTotalSubscriptions    = 256 // open subscriptions of all actors
)

// minBodyBytes is large enough for two bodies of the largest size. One actor may use half of the
// limit, so half of it must be enough for one body.
const minBodyBytes = 64 << 20

// WithDefaults returns the limits with every zero field set to its default.
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
	if l.PerActorSubscriptions == 0 {
		l.PerActorSubscriptions = DefaultPerActorSubscriptions
	}
	if l.TotalSubscriptions == 0 {
		l.TotalSubscriptions = DefaultTotalSubscriptions
	}
	return l
}

// Within returns the limits for a process with GOMEMLIMIT set to goMemory, in bytes. If MemoryBytes
// is not set, Within sets it to at most half of goMemory. The other half is for bodies, loads and
// garbage that is not collected yet.
func (l Limits) Within(goMemory int64) Limits {
	if half := goMemory / 2; l.MemoryBytes == 0 && half < DefaultMemoryBytes {
		l.MemoryBytes = half
	}
	return l
}

// limits reads the section limits.
func (p *reader) limits(n *strictyaml.Node) {
	l := &p.cfg.Server.Limits
	f, ok := n.Mapping("limits", limitSettings)
	if !ok {
		return
	}
	if v, ok := f["per_actor_inflight"].Number(); ok {
		l.PerActorInflight = int(v)
	}
	if v, ok := f["total_inflight"].Number(); ok {
		l.TotalInflight = int(v)
	}
	if v, ok := f["body_bytes"].Number(); ok {
		l.BodyBytes = v
	}
	if v, ok := f["load_bytes"].Number(); ok {
		l.LoadBytes = v
	}
	if v, ok := f["query_bytes"].Number(); ok {
		l.QueryBytes = v
	}
	if v, ok := f["memory_bytes"].Number(); ok {
		l.MemoryBytes = v
	}
	if v, ok := f["branches"].Number(); ok {
		l.Branches = int(v)
	}
	if v, ok := f["per_actor_subscriptions"].Number(); ok {
		l.PerActorSubscriptions = int(v)
	}
	if v, ok := f["total_subscriptions"].Number(); ok {
		l.TotalSubscriptions = int(v)
	}
	if n := f["request_timeout"]; n != nil {
		if s, ok := n.Text("request_timeout"); ok {
			d, err := time.ParseDuration(s)
			if err != nil || d < minTimeout || d > maxTimeout {
				n.Fault(strictyaml.BadValue, fmt.Sprintf("request_timeout is %q, expected a duration from 1ms to 5m, such as 30s", s), "")
				return
			}
			l.RequestTimeout = d
		}
	}
}

// The bounds of the request timeout. Within ten minutes, the server must compute an answer and the
// client must read it; maxTimeout is less than that.
const (
	minTimeout = time.Millisecond
	maxTimeout = 5 * time.Minute
)
