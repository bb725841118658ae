package store

import (
	"cmp"
	"context"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/storage/sharedlog"
)

// dropOutdated makes the next call open the log again if the state needs segments that are about to
// be collected or are collected already. REQUIRES: the caller holds `following`.
func (s *Shared) dropOutdated() {
	missed := s.missed.Swap(false)
	if s.follower == nil {
		return
	}
	since := s.follower.Superseded()
	if since.IsZero() {
		return
	}
	retention := cmp.Or(s.opts.Retention, sharedlog.DefaultRetention)
	if missed || retention > 0 && clock.Now().Sub(since) >= retention/2 {
		s.follower = nil
	}
}

// missing returns the error for an object of the shared storage that is not there.
func (s *Shared) missing(name string) error {
	s.missed.Store(true)
	return &engine.Unavailable{RetryAfter: retryWait, Reason: "the shared storage has no object " + name +
		"; either the object was deleted because a newer checkpoint does not need it, and then this server is about to read that checkpoint, or the object is lost; repeat the call, and if it fails again, restore the object from a backup"}
}

// Collect deletes what the log condemned a retention ago. It also looks for orphans once, and condemns
// them with the next checkpoint. Only the writer collects.
func (s *Shared) Collect(ctx context.Context) (n sharedlog.Collected, err error) {
	q := s.queue.Load()
	if q == nil {
		return n, ErrReader
	}
	var c *sharedlog.Garbage
	_ = q.Exclusive(func(w *sharedlog.Writer) error { // returns the nil of the function
		c = w.Garbage()
		return nil
	})
	if c != nil {
		n, err = c.Delete(ctx, s.opts.Needed)
		_ = q.Exclusive(func(w *sharedlog.Writer) error {
			w.Finish(c)
			return nil
		})
	}
	if err != nil {
		return n, s.mapped(err)
	}
	return n, s.sweep(ctx, q)
}

// sweep looks for orphans, once this writer has made a checkpoint.
func (s *Shared) sweep(ctx context.Context, q *sharedlog.Queue) error {
	s.mu.Lock()
	ready := s.complete && !s.swept
	s.mu.Unlock()
	if !ready {
		return nil
	}
	stored, err := s.logOptions().Segments(ctx)
	if err != nil {
		return s.mapped(err)
	}
	// While no log object is in flight, a segment that this server has forgotten is condemned.
	return q.Exclusive(func(w *sharedlog.Writer) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.orphans = w.Orphans(stored, func(number uint64) bool { return s.segments[SegmentID(number)] != nil })
		s.swept = true
		return nil
	})
}
