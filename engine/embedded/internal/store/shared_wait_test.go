package store

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// answerTime is the time that slowBucket takes for a request.
const answerTime = time.Second

// slowBucket answers reads and lists slowly, and counts them.
type slowBucket struct {
	object.Memory
	requests atomic.Int32
}

func (b *slowBucket) Read(ctx context.Context, name string, offset, length int64) ([]byte, error) {
	b.requests.Add(1)
	time.Sleep(answerTime)
	return b.Memory.Read(ctx, name, offset, length)
}

func (b *slowBucket) List(ctx context.Context, prefix, after string, limit int) ([]object.Entry, error) {
	b.requests.Add(1)
	time.Sleep(answerTime)
	return b.Memory.List(ctx, prefix, after, limit)
}

// TestCatchUpTogether lets many calls wait for the end of the log at once. The requests of the first
// call began too early for those that arrived later; the requests of the second call serve all others.
func TestCatchUpTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &slowBucket{}
		w := newShared(t, b)
		for what, s := range map[string]server{"the writer": w, "a reader": openServer(t, b, nil)} {
			w.write(t, 1, "one")
			must(t, s.CatchUp(t.Context()))
			b.requests.Store(0)
			must(t, s.CatchUp(t.Context()))
			alone := b.requests.Swap(0)
			var calls sync.WaitGroup
			for range 20 {
				calls.Go(func() {
					if err := s.CatchUp(t.Context()); err != nil {
						t.Errorf("%s: %v", what, err)
					}
				})
			}
			calls.Wait()
			if n := b.requests.Load(); alone == 0 || n > 2*alone {
				t.Errorf("20 calls on %s sent %d requests; one call sends %d", what, n, alone)
			}
		}
	})
}

// TestCatchUpDuringTakeover calls CatchUp while the server becomes the writer.
func TestCatchUpDuringTakeover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &slowBucket{}
		newShared(t, b)
		s := openServer(t, b, nil)
		var takeover sync.WaitGroup
		takeover.Go(func() {
			if err := s.TakeOver(t.Context()); err != nil {
				t.Error(err)
			}
		})
		time.Sleep(answerTime / 2)
		if s.Epoch() != 0 {
			t.Fatal("the takeover has ended already")
		}
		if err := s.CatchUp(t.Context()); err != nil {
			t.Errorf("catching up during a takeover: %v", err)
		}
		if s.Epoch() == 0 {
			t.Error("the call did not wait for the takeover")
		}
		takeover.Wait()
	})
}
