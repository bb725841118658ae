package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/storage/sharedlog"
)

// epochSegments is the number of segments that the writer of one epoch can make.
const epochSegments = sharedlog.SegmentsPerEpoch

// maxTakeovers is how often TakeOver tries to create its takeover object. Each failure means that
// the writer, or another candidate, has added to the log meanwhile.
const maxTakeovers = 100

// errWriter is the error of calls that follow the log, once this server is the writer.
var errWriter error = &engine.Conflict{Reason: "this server writes the graph; it cannot follow the log"}

// CatchUp reads everything that the log contained when CatchUp was called. A read of the graph
// afterwards is linearizable. On the writer, CatchUp makes sure that it still is the writer. Calls that
// wait at the same time share the requests to the storage.
func (s *Shared) CatchUp(ctx context.Context) error {
	called := clock.Now()
	if s.queue.Load() == nil {
		err := s.follow(ctx, func(opened bool) error {
			if opened || s.follower.Confirmed().After(called) {
				return nil // the log was read to its end
			}
			return s.follower.CatchUp(ctx)
		})
		if !errors.Is(err, errWriter) {
			return err
		}
		// The server became the writer while this call waited.
	}
	err := s.queue.Load().Exclusive(func(w *sharedlog.Writer) error {
		if w.Confirmed().After(called) {
			return w.Check()
		}
		if err := w.CatchUp(ctx); err != nil {
			return err
		}
		s.setCurrent(w.Current())
		return nil
	})
	if errors.Is(err, sharedlog.ErrUnavailable) {
		return s.mapped(err) // the server may still be the writer
	}
	return s.fail(err)
}

// Next reads the next object of the log. It returns false at the end of the log, which it may know
// from up to a minute ago.
func (s *Shared) Next(ctx context.Context) (more bool, err error) {
	err = s.follow(ctx, func(opened bool) (err error) {
		if opened {
			return nil
		}
		more, err = s.follower.Next(ctx)
		return err
	})
	return more, err
}

// TakeOver makes this server the writer of the graph. Before it returns, the Applier has received
// all records of earlier writers. Afterwards the former writer cannot write any more.
func (s *Shared) TakeOver(ctx context.Context) error {
	return s.takeOver(ctx, func(uint64) bool { return true })
}

// TakeOverFrom is like TakeOver, but fails with a *engine.Conflict if the epoch of the log differs
// from `epoch`: another server has then already taken over.
func (s *Shared) TakeOverFrom(ctx context.Context, epoch uint64) error {
	return s.takeOver(ctx, func(now uint64) bool { return now == epoch })
}

// takeOver makes this server the writer of the graph if the function `wanted` accepts the epoch of
// the log.
func (s *Shared) takeOver(ctx context.Context, wanted func(epoch uint64) bool) error {
	err := s.follow(ctx, func(bool) error {
		for range maxTakeovers {
			if err := s.follower.CatchUp(ctx); err != nil {
				return err
			}
			if !wanted(s.follower.Epoch()) {
				return &engine.Conflict{Reason: "another server has become the writer of the graph"}
			}
			if !s.follower.LoadedInForce() {
				// The next checkpoint of this server must not list segments that are condemned.
				s.follower = nil
				if _, err := s.reopen(ctx); err != nil {
					return err
				}
				continue
			}
			w, err := s.follower.TakeOver(ctx)
			if errors.Is(err, sharedlog.ErrLost) {
				continue // an object has just been added at this number
			}
			if err != nil {
				s.broken = true // the takeover object may be there
				return err
			}
			s.mu.Lock()
			s.nextLSN = s.follower.NextLSN()
			s.recovered = s.nextLSN - 1
			s.nextSegment = SegmentID(w.Epoch())*epochSegments + 1
			s.epoch = w.Epoch()
			s.queue.Store(sharedlog.NewQueue(w, s.rollUp))
			s.mu.Unlock()
			return nil
		}
		return &engine.Unavailable{Reason: "other servers add to the log faster than this server can take over; try again", RetryAfter: retryWait}
	})
	var unsure *engine.Indeterminate
	if errors.As(err, &unsure) {
		return unavailable("becoming the writer", unsure.Err) // the takeover may be stored, but no write was made
	}
	return err
}

// follow runs f, which reads the log with s.follower, and publishes the state that was read. If
// log objects were collected before this server read them, follow opens the log again. The argument
// of f tells whether follow has just opened the log and so has read it to its end.
func (s *Shared) follow(ctx context.Context, f func(opened bool) error) error {
	select {
	case s.following <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-s.following }()
	if err := s.usable(); err != nil {
		return err
	}
	if s.queue.Load() != nil {
		return errWriter
	}
	s.ctx = ctx
	defer func() { s.ctx = nil }()
	s.dropOutdated()
	opened, err := s.reopen(ctx)
	if err == nil {
		err = f(opened)
	}
	if errors.Is(err, sharedlog.ErrBehind) {
		s.follower = nil
		if opened, err = s.reopen(ctx); err == nil {
			err = f(opened)
		}
	}
	if err == nil {
		s.opts.Applier.Publish()
		s.setCurrent(s.follower.Current())
		s.mu.Lock()
		s.outdated = !s.follower.LoadedInForce()
		s.mu.Unlock()
	} else if s.broken || !errors.Is(err, sharedlog.ErrUnavailable) {
		s.follower = nil
	}
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return s.mapped(err)
}

// Takeover returns the takeover of the present writer, according to the part of the log that this
// server has read. It is for a server that follows the log.
func (s *Shared) Takeover(ctx context.Context) (t sharedlog.Takeover, err error) {
	err = s.follow(ctx, func(bool) error {
		t, err = s.follower.Takeover(ctx)
		return err
	})
	return t, err
}

// Epoch returns the epoch of this server's own takeover, or 0 if it has not taken over.
func (s *Shared) Epoch() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.epoch
}

// Current returns the time at which this server sent its last request that showed that it knew the
// whole log.
func (s *Shared) Current() time.Time {
	if t := s.current.Load(); t != nil {
		return *t
	}
	return time.Time{}
}

// setCurrent sets the time that Current returns, unless t is earlier.
func (s *Shared) setCurrent(t time.Time) {
	if t.After(s.Current()) {
		s.current.Store(&t)
	}
}

// reopen opens the log and reads it to its end, unless it is open. REQUIRES: the caller holds
// `following`.
func (s *Shared) reopen(ctx context.Context) (opened bool, err error) {
	if s.follower != nil {
		return false, nil
	}
	s.broken = false
	f, err := sharedlog.Open(ctx, s.logOptions())
	if err == nil {
		s.follower = f
	}
	return true, err
}

// logOptions returns the options of the log.
func (s *Shared) logOptions() sharedlog.Options {
	o := s.opts
	return sharedlog.Options{
		Bucket: o.Bucket, Prefix: o.Prefix, State: (*sharedState)(s), Patience: o.Patience,
		Node: o.Node, Incarnation: o.Incarnation, Address: o.Address, Reload: s.wantsCheckpoint, Retention: o.Retention,
		LeastEpoch: o.leastEpoch,
	}
}

// The numbers of records after which a server that follows the log loads a checkpoint; see
// SharedOptions.Reload.
const (
	defaultReload = 8192
	reloadPart    = 64
)

// wantsCheckpoint reports whether the server should load the checkpoint that is being announced.
func (s *Shared) wantsCheckpoint() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.queue.Load() == nil && s.applied >= max(cmp.Or(s.opts.Reload, defaultReload), s.durable.Load()/reloadPart)
}

// sharedState is the [sharedlog.State] of a Shared.
type sharedState Shared

// Reset implements [sharedlog.State].
func (s *sharedState) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loaded, s.tail, s.covered = false, nil, 0
}

// Load implements [sharedlog.State]. The writer made the checkpoint itself, so it ignores it.
func (s *sharedState) Load(checkpoint []byte, covered uint64) error {
	if s.queue.Load() != nil {
		return nil
	}
	err := (*Shared)(s).load(checkpoint, covered)
	s.broken = s.broken || err != nil
	return err
}

// Apply implements [sharedlog.State]. The writer has applied its records before it wrote them.
func (s *sharedState) Apply(r sharedlog.Record) error {
	record, err := decodeRecord(r)
	if err != nil {
		return err
	}
	s.mu.Lock()
	loaded := s.loaded
	s.tail = append(s.tail, record)
	s.applied++
	s.mu.Unlock()
	if !loaded {
		return &engine.Corrupt{Object: s.opts.Prefix + "log", Detail: fmt.Sprintf("record %d comes before the first checkpoint", r.LSN)}
	}
	(*Shared)(s).reached(r.LSN)
	if s.queue.Load() != nil {
		return nil
	}
	err = s.opts.Applier.Apply(s.ctx, record)
	s.broken = s.broken || err != nil
	return err
}

// reached notes that a record is durable. While the log is opened again, it does not go back to
// earlier records, because reads of the former state go on.
func (s *Shared) reached(lsn uint64) {
	if lsn > s.durable.Load() {
		s.durable.Store(lsn)
	}
}

// encodeRecord returns the bytes of a record in a log object.
func encodeRecord(kind uint8, payload []byte) []byte {
	return append(append(make([]byte, 0, 1+len(payload)), kind), payload...)
}

// decodeRecord returns the record in a log object.
func decodeRecord(r sharedlog.Record) (Record, error) {
	if len(r.Data) == 0 {
		return Record{}, &engine.Corrupt{Object: fmt.Sprintf("log record %d", r.LSN), Detail: "it is empty"}
	}
	return Record{LSN: r.LSN, Kind: r.Data[0], Payload: r.Data[1:]}, nil
}

// Reserve implements [Storage]. The log in shared storage needs no room in advance.
func (s *Shared) Reserve(int) error { return nil }

// Enqueue implements [Storage]. All records that wait while a log object is in flight share the
// next one.
func (s *Shared) Enqueue(kind uint8, payload []byte, segments ...SegmentID) (*Ticket, error) {
	if len(payload) > MaxPayload {
		return nil, &engine.TooLarge{Resource: "bytes of a log record", Limit: MaxPayload, Actual: int64(len(payload))}
	}
	data := encodeRecord(kind, payload)
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.queue.Load()
	switch {
	case s.closed:
		return nil, &engine.Unavailable{Reason: "it is closed"}
	case s.failed != nil:
		return nil, s.failed
	case q == nil:
		return nil, ErrReader
	}
	place, err := q.Enqueue(data)
	if err != nil {
		return nil, s.mapped(err)
	}
	t := &Ticket{LSN: s.nextLSN, shared: place}
	s.nextLSN++
	for _, id := range segments {
		if state := s.segments[id]; state != nil && state.named == 0 {
			state.named = t.LSN
		}
	}
	return t, nil
}

// Wait implements [Storage]. After any error, the storage accepts no writes until it is opened
// again.
func (s *Shared) Wait(t *Ticket) error {
	return s.fail(s.queue.Load().Wait(context.Background(), t.shared))
}

// rollUp stores a roll-up in the background, so that no commit waits for it. A roll-up that is not stored
// only makes opens slower, so an error has no effect.
func (s *Shared) rollUp(r *sharedlog.RollUp) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.background.Go(func() { _ = r.Store(s.life) })
	}
}

// Durable implements [Storage].
func (s *Shared) Durable() uint64 { return s.durable.Load() }
