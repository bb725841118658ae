package sharedlog

import (
	"context"
	"fmt"
	"sync"
)

// Queue lets many goroutines use one Writer. Records that arrive while a log object is in flight
// wait and share the next log object. A Queue starts no goroutine: the first caller of Wait that
// finds no object in flight sends the next group, on behalf of all waiting callers.
type Queue struct {
	turn chan struct{} // holds an element while a goroutine uses the Writer
	w    *Writer       // guarded by `turn`

	mu   sync.Mutex
	next *batch // the records that wait, nil if there are none
	err  error  // why the Queue has ended, nil before that
}

// batch is the records of one group.
type batch struct {
	records [][]byte      // in order
	done    chan struct{} // closed when err is final
	err     error         // why the group failed; nil if it is durable
}

// Ticket is the place of one record in a Queue.
type Ticket struct{ batch *batch }

// NewQueue returns a Queue for a Writer. Nothing else may use the Writer afterwards.
func NewQueue(w *Writer) *Queue { return &Queue{turn: make(chan struct{}, 1), w: w} }

// Enqueue gives a record its place in the log, after all records that were enqueued before. The
// caller must call Wait for each Ticket. After a group has failed, the Queue accepts no more
// records, because a later record may build on the failed ones.
func (q *Queue) Enqueue(record []byte) (*Ticket, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.err != nil {
		return nil, q.err
	}
	if q.next == nil {
		q.next = &batch{done: make(chan struct{})}
	}
	q.next.records = append(q.next.records, record)
	return &Ticket{q.next}, nil
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

// send sends the waiting records as one group. REQUIRES: the caller holds `turn`.
func (q *Queue) send(ctx context.Context) {
	q.mu.Lock()
	b := q.next
	q.next = nil
	q.mu.Unlock()
	if b == nil {
		return
	}
	b.err = q.w.Append(ctx, b.records)
	close(b.done)
	if b.err == nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.err = fmt.Errorf("an earlier write failed, so later ones were not written: %w: %v", ErrUnavailable, b.err)
	if q.next != nil {
		q.next.err = q.err
		close(q.next.done)
		q.next = nil
	}
}
