package replica

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// Commits are durable when the storage has created their log object, and the next ones wait until then. If the
// storage is slow, or asks for fewer requests, the writes that wait would become ever more. So the writer
// measures how long the present log object takes, and refuses further writes if it takes too long.

// logTimer is the bucket of a graph. It measures how long the creation of log objects takes.
type logTimer struct {
	object.Bucket
	prefix string // of the names of log objects

	mu      sync.Mutex
	since   time.Time // start of the first attempt to create the log object that is missing; zero if there is none
	running int       // attempts that run
	ended   time.Time // when the last attempt ended
}

// attemptPause is longer than the pause between two attempts to create the same log object. After that time without
// an attempt, the writer has given the object up, and the next write tries again.
const attemptPause = 6 * time.Second

// Create implements [object.Bucket].
func (l *logTimer) Create(ctx context.Context, name string, data []byte) error {
	if !strings.HasPrefix(name, l.prefix) {
		return l.Bucket.Create(ctx, name, data)
	}
	l.mu.Lock()
	if now := clock.Now(); l.since.IsZero() || l.givenUpLocked(now) {
		l.since = now
	}
	l.running++
	l.mu.Unlock()
	err := l.Bucket.Create(ctx, name, data)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running--
	l.ended = clock.Now()
	if !errors.Is(err, object.ErrBusy) && !errors.Is(err, object.ErrUnknown) {
		l.since = time.Time{} // the object is there, or the writer does not try again
	}
	return err
}

// givenUpLocked reports whether the writer has given up the log object that is missing. REQUIRES: l.mu is locked.
func (l *logTimer) givenUpLocked(now time.Time) bool {
	return l.running == 0 && now.Sub(l.ended) > attemptPause
}

// waiting returns how long the writer has tried to create the present log object; 0 if it does not try to.
func (l *logTimer) waiting() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := clock.Now()
	if l.since.IsZero() || l.givenUpLocked(now) {
		return 0
	}
	return now.Sub(l.since)
}

// admit returns an error for a write on the writer while the log object of earlier writes takes longer than
// half a lease. The time to wait is random, so that the callers do not all come back at once.
func (g *Graph) admit() error {
	log := g.log.Load()
	if log == nil || g.storage.Command || g.current.Load().written == nil {
		return nil
	}
	wait := log.waiting()
	if wait <= g.storage.Node.opts.Lease/2 {
		return nil
	}
	return &engine.Unavailable{RetryAfter: retryAfter + rand.N(wait), Reason: fmt.Sprintf(
		"the shared storage has not stored earlier writes for %v, so the server accepts no further ones until it has; check the load of the storage", wait.Round(100*time.Millisecond))}
}
