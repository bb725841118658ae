// Package admission is the server's admission control. It limits the requests in flight: per
// actor, in total, and by the bytes of their bodies.
package admission

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Options are the limits of a [Limiter]. A zero field means no limit.
type Options struct {
	PerActor int   // maximum requests in flight per actor
	Total    int   // maximum requests in flight
	Bytes    int64 // maximum body bytes in flight; one actor may use half of them
	MaxBody  int64 // size in bytes of the largest body that the server reads

	// Streamed reports whether the body of a request does not count, because the server holds only a small part
	// of it. Nil means that every body counts.
	Streamed func(*http.Request) bool

	// Wait is the longest time that a request waits for admission before it is refused. It
	// should be long enough for a burst of short calls to pass, and short enough that no
	// queue builds up. Zero refuses at once.
	Wait time.Duration

	// Counted names what the limiter counts, in plural and for messages; empty means requests in
	// flight.
	Counted string

	// Refused, if not nil, is called for each refusal.
	Refused func(Reason)
}

// Reason is the limit that a refused request exceeded.
type Reason string

// The reasons.
const (
	ByActor Reason = "actor" // the limit on the requests of one actor
	ByTotal Reason = "total" // the limit on the requests of all actors
	ByBytes Reason = "bytes" // a limit on the bytes of request bodies

	// BySubscriptions is either limit of the Limiter that counts open subscriptions. That Limiter
	// itself refuses by ByActor or ByTotal.
	BySubscriptions Reason = "subscriptions"
)

// Reasons lists all reasons.
var Reasons = []Reason{ByActor, ByTotal, ByBytes, BySubscriptions}

// Actor is the key for counting requests.
type Actor struct{ Tenant, ID string }

// Load counts the admitted requests and the waiting ones.
type Load struct {
	Actors   int   // actors with requests in flight
	Requests int   // admitted requests in flight
	Waiting  int   // requests that wait for admission
	Bytes    int64 // reserved for the bodies of the admitted requests
}

// Refusal reports the limit that a request exceeded.
type Refusal struct {
	Reason        Reason // the limit that was exceeded
	Limit, Actual int64  // requests or bytes; Actual includes the refused request
	Counted       string // see [Options]
}

// Limiter admits and counts requests. It is safe for concurrent use. It keeps an entry for an
// actor only while that actor has requests in flight.
type Limiter struct {
	opts Options // PerActor, Total and Bytes are guarded by mu; the rest does not change

	mu      sync.Mutex       // guards the fields below
	actors  map[Actor]*share // the shares of the actors with requests in flight
	spare   []*share         // kept for reuse by later actors
	load    Load             // of all actors together
	waiting []*waiter        // in order of arrival
}

// share is the part of the load that one actor causes.
type share struct {
	requests int   // number of requests in flight
	bytes    int64 // reserved for their bodies
}

// maxSpare bounds the number of shares that are kept for reuse.
const maxSpare = 64

// waiter is a request that waits for admission.
type waiter struct {
	actor          Actor         // who sent the request
	bytes          int64         // number of bytes to reserve for the body
	admitted       bool          // the request has been admitted
	admittedSignal chan struct{} // closed once the request is admitted
}

// New returns a limiter with no requests in flight.
func New(o Options) *Limiter { return &Limiter{opts: o, actors: map[Actor]*share{}} }

// SetLimits sets Options.PerActor, Total and Bytes. Requests in flight stay admitted.
func (g *Limiter) SetLimits(perActor, total int, bytes int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.opts.PerActor, g.opts.Total, g.opts.Bytes = perActor, total, bytes
	g.admitWaiting()
}

// Load returns the current load.
func (g *Limiter) Load() Load {
	g.mu.Lock()
	defer g.mu.Unlock()
	l := g.load
	l.Actors, l.Waiting = len(g.actors), len(g.waiting)
	return l
}

// Enter admits a request, and counts the given number of bytes for the request's body. If a limit
// is exceeded, it waits up to Options.Wait for room. It returns nil if the request is admitted; the
// caller must then call Leave.
func (g *Limiter) Enter(ctx context.Context, a Actor, bytes int64) *Refusal {
	g.mu.Lock()
	refusal := g.exceeded(a, bytes)
	if refusal == nil {
		g.take(a, bytes)
		g.mu.Unlock()
		return nil
	}
	if g.opts.Wait <= 0 || g.opts.Total > 0 && len(g.waiting) >= g.opts.Total {
		g.mu.Unlock()
		return g.refuse(refusal)
	}
	w := &waiter{actor: a, bytes: bytes, admittedSignal: make(chan struct{})}
	g.waiting = append(g.waiting, w)
	g.mu.Unlock()

	timer := time.NewTimer(g.opts.Wait)
	defer timer.Stop()
	select {
	case <-w.admittedSignal:
		return nil
	case <-timer.C:
	case <-ctx.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if w.admitted {
		return nil
	}
	g.waiting = slices.DeleteFunc(g.waiting, func(o *waiter) bool { return o == w })
	if still := g.exceeded(a, bytes); still != nil {
		refusal = still
	}
	return g.refuse(refusal)
}

// Leave ends an admitted request. The arguments must be the ones that Enter got for this request.
func (g *Limiter) Leave(a Actor, bytes int64) {
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

// admitWaiting admits the waiting requests that fit, in order of arrival. A request that does not
// fit does not block later requests. Called with g.mu locked.
func (g *Limiter) admitWaiting() {
	g.waiting = slices.DeleteFunc(g.waiting, func(w *waiter) bool {
		if g.exceeded(w.actor, w.bytes) != nil {
			return false
		}
		g.take(w.actor, w.bytes)
		w.admitted = true
		close(w.admittedSignal)
		return true
	})
}

// exceeded returns a refusal if one more request would exceed a limit, and nil otherwise. Called
// with g.mu locked.
func (g *Limiter) exceeded(a Actor, bytes int64) *Refusal {
	o := &g.opts
	if o.Total > 0 && g.load.Requests >= o.Total {
		return &Refusal{ByTotal, int64(o.Total), int64(g.load.Requests) + 1, o.Counted}
	}
	s := g.actors[a]
	if s != nil && o.PerActor > 0 && s.requests >= o.PerActor {
		return &Refusal{ByActor, int64(o.PerActor), int64(s.requests) + 1, o.Counted}
	}
	if o.Bytes <= 0 || bytes == 0 {
		return nil
	}
	if g.load.Bytes > 0 && g.load.Bytes+bytes > o.Bytes {
		return &Refusal{ByBytes, o.Bytes, g.load.Bytes + bytes, o.Counted}
	}
	if s != nil && s.bytes > 0 && s.bytes+bytes > o.Bytes/2 {
		return &Refusal{ByBytes, o.Bytes / 2, s.bytes + bytes, o.Counted}
	}
	return nil
}

// take counts an admitted request and reserves bytes for its body. REQUIRES: g.mu is held.
func (g *Limiter) take(a Actor, bytes int64) {
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

// refuse passes the reason of a refusal to Options.Refused and returns the refusal.
func (g *Limiter) refuse(r *Refusal) *Refusal {
	if g.opts.Refused != nil {
		g.opts.Refused(r.Reason)
	}
	return r
}
