package audit

import (
	"sync"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/audittrail"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
)

// unidentifiedTime is the least time between two records about requests without a valid token to the same graph.
const unidentifiedTime = 10 * time.Second

// Unidentified records the requests without a valid token. Anybody can send them, so a record counts those of [unidentifiedTime]: its rows are
// their number, and its request is the first of them. While the trail is full, they wait for a record. It is safe for concurrent use.
type Unidentified struct {
	to *audittrail.Trail

	mu     sync.Mutex
	recent map[string]*unidentified // by the id of the graph; those with a record a moment ago; guarded by mu
	closed bool                     // guarded by mu
}

// unidentified are the requests to a graph that no record counts yet.
type unidentified struct {
	requests int
	first    string // the id of the first of them
	timer    *time.Timer
}

// NewUnidentified returns an Unidentified for a trail. It needs a Close before the trail is closed.
func NewUnidentified(to *audittrail.Trail) *Unidentified {
	return &Unidentified{to: to, recent: map[string]*unidentified{}}
}

// Refused records or counts a request. The graph is "" for a request that names no graph of the server.
func (u *Unidentified) Refused(graph, request string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closed {
		return
	}
	if n := u.recent[graph]; n != nil {
		if n.requests++; n.requests == 1 {
			n.first = request
		}
		return
	}
	n := &unidentified{requests: 1, first: request, timer: time.AfterFunc(unidentifiedTime, func() { u.tick(graph) })}
	u.recent[graph] = n
	if !u.to.Full() {
		u.record(graph, n)
	}
}

// tick records the requests since the last record, if there were any.
func (u *Unidentified) tick(graph string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	n := u.recent[graph]
	switch {
	case n == nil:
	case n.requests == 0:
		delete(u.recent, graph)
	default:
		if !u.to.Full() {
			u.record(graph, n)
		}
		n.timer.Reset(unidentifiedTime)
	}
}

// record adds a record that counts the requests.
func (u *Unidentified) record(graph string, n *unidentified) {
	u.to.Add(&audittrail.Call{Time: clock.Now(), Request: n.first, Graph: graph, Outcome: string(wireerror.NotIdentified), Denied: audittrail.Authentication, Rows: n.requests})
	n.requests = 0
}

// Close records the requests that no record counts yet, also in a full trail. Later ones are not recorded.
func (u *Unidentified) Close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.closed = true
	for graph, n := range u.recent {
		n.timer.Stop()
		if n.requests > 0 {
			u.record(graph, n)
		}
	}
	clear(u.recent)
}
