package sharedlog

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// sharedGroup bounds the records that share a group, in bytes. A longer record has a group of its own.
const sharedGroup = 8 << 20

// Queue lets many goroutines use one Writer. Records that arrive while a log object is in flight
// wait and share the next log objects. A Queue starts no goroutine: the
// first caller of Wait that finds no object in flight sends the next group, on behalf of all callers
// whose records are in this group.
type Queue struct {
	turn   chan struct{} // holds an element while a goroutine uses the Writer
	w      *Writer       // guarded by `turn`
	rollUp func(*RollUp) // receives the roll-ups; nil for none

	mu      sync.Mutex
	waiting []*batch // the groups that wait, in order; records may be added to the last one
	err     error    // why the Queue has ended, nil before that
}

// batch is the records of one group.
type batch struct {
	records [][]byte      // in order
	size    int           // bytes of the records in the body of the group
	done    chan struct{} // closed when err is final
	err     error         // why the group failed; nil if it is durable
}

// Ticket is the place of one record in a Queue.
type Ticket struct{ batch *batch }

// NewQueue returns a Queue for a Writer. Nothing else may use the Writer afterwards. If `rollUp` is not
// nil, the Queue calls it with each roll-up that should be stored. No group is sent before it returns.
func NewQueue(w *Writer, rollUp func(*RollUp)) *Queue {
	return &Queue{turn: make(chan struct{}, 1), w: w, rollUp: rollUp}
}

// Enqueue gives a record its place in the log, after all records that were enqueued before. The
// caller must call Wait for each Ticket. After a group has failed, the Queue accepts no more
// records, because a later record may build on the failed ones. A record that is too large for a
// log object is refused and leaves the Queue unchanged.
func (q *Queue) Enqueue(record []byte) (*Ticket, error) {
	size := bytesOf(record)
	if size > maxGroup {
		return nil, fmt.Errorf("the record has %d bytes; a log object stores at most %d", len(record), maxGroup-bytesOf(nil))
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.err != nil {
		return nil, q.err
	}
	last := len(q.waiting) - 1
	if last < 0 || q.waiting[last].size+size > sharedGroup {
		q.waiting = append(q.waiting, &batch{done: make(chan struct{})})
		last++
	}
	b := q.waiting[last]
	b.records, b.size = append(b.records, record), b.size+size
	return &Ticket{b}, nil
}

// Wait waits until the group of a record is durable or has failed. The errors are those of
// [Writer.Append]. Wait does not return when the context ends, because the record may already be
// durable.
func (q *Queue) Wait(ctx context.Context, t *Ticket) error {
	for {
		select {
		case <-t.batch.done:
			return t.batch.err
		case q.turn <- struct{}{}:
			q.send(ctx)
			<-q.turn
		}
	}
}

// Exclusive calls f while no log object is in flight, for example to make a checkpoint.
func (q *Queue) Exclusive(f func(*Writer) error) error {
	q.turn <- struct{}{}
	defer func() { <-q.turn }()
	return f(q.w)
}

// send sends the first waiting group. REQUIRES: the caller holds `turn`.
func (q *Queue) send(ctx context.Context) {
	q.mu.Lock()
	if len(q.waiting) == 0 {
		q.mu.Unlock()
		return
	}
	b := q.waiting[0]
	q.waiting = slices.Delete(q.waiting, 0, 1)
	q.mu.Unlock()
	b.err = q.w.Append(ctx, b.records)
	close(b.done)
	if b.err == nil {
		if q.rollUp != nil {
			if r := q.w.RollUp(); r != nil {
				q.rollUp(r)
			}
		}
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.err = fmt.Errorf("an earlier write failed, so later ones were not written: %w: %v", ErrUnavailable, b.err)
	for _, b := range q.waiting {
		b.err = q.err
		close(b.done)
	}
	q.waiting = nil
}
