package store

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/object"
)

// answerTime is the time that slowBucket takes for a request.
const answerTime = time.Second

// slowBucket answers reads and lists slowly.
type slowBucket struct {
	object.Memory
}

func (b *slowBucket) Read(ctx context.Context, name string, offset, length int64) ([]byte, error) {
	time.Sleep(answerTime)
	return b.Memory.Read(ctx, name, offset, length)
}

func (b *slowBucket) List(ctx context.Context, prefix, after string, limit int) ([]object.Entry, error) {
	time.Sleep(answerTime)
	return b.Memory.List(ctx, prefix, after, limit)
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
