package sharedlog_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/storage/object"
	"github.com/omnigraph-go/omnigraph/internal/storage/sharedlog"
)

// slowLog counts the creations of log objects, and the largest number of creations in flight at
// once. If `down` is not nil, a creation waits until the channel is closed, and then gets no answer.
type slowLog struct {
	object.Memory
	made, flying, most atomic.Int64
	down               chan struct{}
}

func (s *slowLog) Create(ctx context.Context, name string, data []byte) error {
	s.made.Add(1)
	s.most.Store(max(s.most.Load(), s.flying.Add(1)))
	defer s.flying.Add(-1)
	time.Sleep(time.Millisecond)
	if s.down != nil {
		<-s.down
		return object.ErrUnknown
	}
	return s.Memory.Create(ctx, name, data)
}

// TestQueue lets 32 goroutines append records. All records must be stored, records must share log
// objects, and only one log object may be in flight at a time.
func TestQueue(t *testing.T) {
	b := &slowLog{}
	n := open(t, b)
	q := sharedlog.NewQueue(n.takeOver(t), nil)
	const writers, each = 32, 20
	var group sync.WaitGroup
	for i := range writers {
		group.Go(func() {
			for j := range each {
				ticket, err := q.Enqueue(fmt.Appendf(nil, "%d-%d", i, j))
				if err == nil {
					err = q.Wait(t.Context(), ticket)
				}
				if err != nil {
					t.Error(err)
				}
				if j%5 == 0 {
					if err := q.Exclusive(func(w *sharedlog.Writer) error { return w.CatchUp(t.Context()) }); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	group.Wait()
	records := open(t, b).state.records
	place := map[string]int{}
	for i, r := range records {
		place[r] = i
	}
	if len(records) != writers*each || len(place) != writers*each {
		t.Errorf("the log has %d records, %d of them different; want %d", len(records), len(place), writers*each)
	}
	for i := range writers {
		for j := 1; j < each; j++ {
			if a, b := fmt.Sprintf("%d-%d", i, j-1), fmt.Sprintf("%d-%d", i, j); place[a] > place[b] {
				t.Errorf("record %s comes after %s", a, b)
			}
		}
	}
	if b.most.Load() != 1 || b.made.Load() > writers*each/2 {
		t.Errorf("%d creations for %d records, up to %d at a time; want shared ones, one at a time", b.made.Load(), writers*each, b.most.Load())
	}
}

// TestQueueLargeRecords enqueues records that together do not fit into one log object, and a record that
// fits into none. The first ones must be stored in two objects, and the last one must be refused.
func TestQueueLargeRecords(t *testing.T) {
	b := &slowLog{}
	n := open(t, b)
	q := sharedlog.NewQueue(n.takeOver(t), nil)
	before := b.made.Load()
	half := make([]byte, object.MaxCreate/2)
	err := q.Exclusive(func(w *sharedlog.Writer) error { return w.Append(t.Context(), [][]byte{half, half}) })
	if err == nil || errors.Is(err, sharedlog.ErrUnavailable) {
		t.Errorf("a group that is too large: error %v; want one that names its size", err)
	}
	var tickets []*sharedlog.Ticket
	for range 2 {
		ticket, err := q.Enqueue(half)
		must(t, err)
		tickets = append(tickets, ticket)
		if _, err := q.Enqueue(make([]byte, object.MaxCreate)); err == nil {
			t.Error("a record is accepted that is too large for a log object")
		}
	}
	for _, ticket := range tickets {
		must(t, q.Wait(t.Context(), ticket))
	}
	if made := b.made.Load() - before; made != 2 || len(n.state.records) != 2 {
		t.Errorf("%d log objects were made, and the state has %d records; want 2 and 2", made, len(n.state.records))
	}
}

// TestQueueFails checks that the Queue does not write records that were enqueued after a failed
// group.
func TestQueueFails(t *testing.T) {
	b := &slowLog{}
	n := open(t, b)
	q := sharedlog.NewQueue(n.takeOver(t), nil)
	b.down = make(chan struct{})
	first, err := q.Enqueue([]byte("first"))
	must(t, err)
	inFlight := make(chan error)
	go func() { inFlight <- q.Wait(t.Context(), first) }()
	for b.made.Load() < 2 {
		time.Sleep(time.Millisecond)
	}
	behind, err := q.Enqueue([]byte("behind"))
	must(t, err)
	close(b.down)
	wantIs(t, <-inFlight, sharedlog.ErrIndeterminate)
	err = q.Wait(t.Context(), behind)
	wantIs(t, err, sharedlog.ErrUnavailable)
	if errors.Is(err, sharedlog.ErrIndeterminate) {
		t.Error("the record behind the failed group is reported as indeterminate")
	}
	_, err = q.Enqueue([]byte("later"))
	wantIs(t, err, sharedlog.ErrUnavailable)
}

// TestQueueBoundsGroups checks that waiting records share log objects, but no more of them than fit
// into the size of a group.
func TestQueueBoundsGroups(t *testing.T) {
	b := &slowLog{}
	q := sharedlog.NewQueue(open(t, b).takeOver(t), nil)
	before := b.made.Load()
	var last *sharedlog.Ticket
	sizes := []int{5 << 20, 5 << 20, 2 << 20, 1<<20 - 1<<10, 12 << 20}
	for i, n := range sizes {
		record := make([]byte, n)
		record[0] = byte('a' + i)
		var err error
		last, err = q.Enqueue(record)
		must(t, err)
	}
	must(t, q.Wait(t.Context(), last))
	if made := b.made.Load() - before; made != 3 {
		t.Errorf("the records of %v bytes went to %d log objects, want 3", sizes, made)
	}
	for i, r := range open(t, b).state.records {
		if r[0] != byte('a'+i) || len(r) != sizes[i] {
			t.Errorf("record %d begins with %q and has %d bytes", i, r[0], len(r))
		}
	}
}
