package sharedlog_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/storage/object"
	"github.com/omnigraph-go/omnigraph/internal/storage/sharedlog"
)

// slow is a bucket whose reads and lists take a second each, by the clock of a test.
type slow struct {
	object.Bucket
	now *time.Time
}

func (s slow) Read(ctx context.Context, name string, offset, length int64) ([]byte, error) {
	data, err := s.Bucket.Read(ctx, name, offset, length)
	*s.now = s.now.Add(time.Second)
	return data, err
}

func (s slow) List(ctx context.Context, prefix, after string, limit int) ([]object.Entry, error) {
	entries, err := s.Bucket.List(ctx, prefix, after, limit)
	*s.now = s.now.Add(time.Second)
	return entries, err
}

// TestConfirmed follows a log in slow storage. The state is as old as the request that found the end
// of the log, not as its answer.
func TestConfirmed(t *testing.T) {
	now := time.UnixMilli(1_000_000)
	o := options(slow{&object.Memory{}, &now}, &texts{})
	o.Now = func() time.Time { return now }
	f, err := sharedlog.Open(t.Context(), o)
	must(t, err)
	for range 2 {
		began := now
		must(t, f.CatchUp(t.Context()))
		if got := f.Confirmed(); !got.Equal(began) || !now.After(began) {
			t.Errorf("CatchUp ran from %v to %v and confirms the state of %v", began, now, got)
		}
	}
}

// unlisted is a bucket that does not answer lists while `down` is true.
type unlisted struct {
	object.Bucket
	down bool
}

func (u *unlisted) List(ctx context.Context, prefix, after string, limit int) ([]object.Entry, error) {
	if u.down {
		return nil, object.ErrUnknown
	}
	return u.Bucket.List(ctx, prefix, after, limit)
}

// TestTakeOverWithoutSecondLook takes over while the storage does not answer the list that follows the
// creation of the takeover object. The error must not say that nothing was written.
func TestTakeOverWithoutSecondLook(t *testing.T) {
	b := &unlisted{Bucket: &object.Memory{}}
	n := open(t, b)
	b.down = true
	_, err := n.TakeOver(t.Context())
	if !errors.Is(err, sharedlog.ErrIndeterminate) || errors.Is(err, sharedlog.ErrUnavailable) {
		t.Errorf("the error is %v; want ErrIndeterminate", err)
	}
	b.down = false
	if epoch := open(t, b).Epoch(); epoch != 1 {
		t.Errorf("the log is in epoch %d; want 1, because the takeover is stored", epoch)
	}
}
