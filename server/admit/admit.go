// Package admit bounds what requests a server takes on at once: by actor, over all, and
// by the bytes of their bodies.
package admit

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Options are the limits. A zero field is no limit.
type Options struct {
	PerActor int   // requests of one actor at once
	Total    int   // requests at once
	Bytes    int64 // of the bodies of requests at once; one actor's may be half of it
	MaxBody  int64 // bytes of the largest body that is read at all

	// Wait is how long a request waits for its turn before it is refused: long enough
	// that a burst of short calls passes, and too short for a queue to build up. Zero
	// refuses at once.
	Wait time.Duration

	// Refused is told of each refusal; nil for nobody.
	Refused func(Reason)
}

// Reason says which limit was met.
type Reason string

// The reasons.
const (
	ByActor Reason = "actor"
	ByTotal Reason = "total"
	ByBytes Reason = "bytes"
)

// Reasons are all reasons there are.
var Reasons = []Reason{ByActor, ByTotal, ByBytes}

// Actor is who requests are counted for.
type Actor struct{ Tenant, ID string }

// Load is what is taken on at the moment.
type Load struct {
	Actors   int // that have requests under way
	Requests int
	Waiting  int
	Bytes    int64
}

// Refusal says that a limit was met.
type Refusal struct {
	Reason        Reason
	Limit, Actual int64 // of requests, or of bytes; Actual is with the one that is refused
}

// Gate counts requests. It is safe for concurrent use. It remembers no actor longer than
// that one has requests under way.
type Gate struct {
	opts Options

	mu      sync.Mutex
	actors  map[Actor]*share
	spare   []*share // for actors to come
	load    Load
	waiting []*waiter // the first to come first
}

// share is what one actor takes of the server.
type share struct {
	requests int
	bytes    int64
}

// maxSpare bounds the shares that are kept for reuse.
const maxSpare = 64

type waiter struct {
	actor   Actor
	bytes   int64
	entered bool
	turn    chan struct{} // closed once entered
}

// New returns a gate without requests under way.
func New(o Options) *Gate { return &Gate{opts: o, actors: map[Actor]*share{}} }

// Load returns what is taken on at the moment.
func (g *Gate) Load() Load {
	g.mu.Lock()
	defer g.mu.Unlock()
	l := g.load
	l.Actors, l.Waiting = len(g.actors), len(g.waiting)
	return l
}

// Enter takes a request on, after a wait when it has to be. Whoever has entered leaves.
// The refusal is nil when the request was taken on.
func (g *Gate) Enter(ctx context.Context, a Actor, bytes int64) *Refusal {
	g.mu.Lock()
	refusal := g.meets(a, bytes)
	if refusal == nil {
		g.take(a, bytes)
		g.mu.Unlock()
		return nil
	}
	if g.opts.Wait <= 0 || g.opts.Total > 0 && len(g.waiting) >= g.opts.Total {
		g.mu.Unlock()
		return g.refuse(refusal)
	}
	w := &waiter{actor: a, bytes: bytes, turn: make(chan struct{})}
	g.waiting = append(g.waiting, w)
	g.mu.Unlock()

	timer := time.NewTimer(g.opts.Wait)
	defer timer.Stop()
	select {
	case <-w.turn:
		return nil
	case <-timer.C:
	case <-ctx.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if w.entered {
		return nil
	}
	g.waiting = slices.DeleteFunc(g.waiting, func(o *waiter) bool { return o == w })
	if still := g.meets(a, bytes); still != nil {
		refusal = still
	}
	return g.refuse(refusal)
}

// Leave ends a request that has entered with the same arguments.
func (g *Gate) Leave(a Actor, bytes int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.actors[a]
	s.requests--
	s.bytes -= bytes
	g.load.Requests--
	g.load.Bytes -= bytes
	if s.requests == 0 {
		delete(g.actors, a)
		if len(g.spare) < maxSpare {
			g.spare = append(g.spare, s)
		}
	}
	if len(g.waiting) > 0 {
		g.admitWaiting()
	}
}

// admitWaiting takes on those that wait and now fit, the first to come first. Those
// that do not fit hold up none of the others.
func (g *Gate) admitWaiting() {
	g.waiting = slices.DeleteFunc(g.waiting, func(w *waiter) bool {
		if g.meets(w.actor, w.bytes) != nil {
			return false
		}
		g.take(w.actor, w.bytes)
		w.entered = true
		close(w.turn)
		return true
	})
}

// meets returns the limit that one more request would pass, or nil.
func (g *Gate) meets(a Actor, bytes int64) *Refusal {
	o := &g.opts
	if o.Total > 0 && g.load.Requests >= o.Total {
		return &Refusal{ByTotal, int64(o.Total), int64(g.load.Requests) + 1}
	}
	s := g.actors[a]
	if s != nil && o.PerActor > 0 && s.requests >= o.PerActor {
		return &Refusal{ByActor, int64(o.PerActor), int64(s.requests) + 1}
	}
	if o.Bytes <= 0 || bytes == 0 {
		return nil
	}
	if g.load.Bytes > 0 && g.load.Bytes+bytes > o.Bytes {
		return &Refusal{ByBytes, o.Bytes, g.load.Bytes + bytes}
	}
	if s != nil && s.bytes > 0 && s.bytes+bytes > o.Bytes/2 {
		return &Refusal{ByBytes, o.Bytes / 2, s.bytes + bytes}
	}
	return nil
}

func (g *Gate) take(a Actor, bytes int64) {
	s := g.actors[a]
	if s == nil {
		if n := len(g.spare); n > 0 {
			s, g.spare = g.spare[n-1], g.spare[:n-1]
		} else {
			s = &share{}
		}
		g.actors[a] = s
	}
	s.requests++
	s.bytes += bytes
	g.load.Requests++
	g.load.Bytes += bytes
}

func (g *Gate) refuse(r *Refusal) *Refusal {
	if g.opts.Refused != nil {
		g.opts.Refused(r.Reason)
	}
	return r
}
