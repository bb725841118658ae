package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs/faultfs"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// downBucket is a Bucket that can stop answering.
type downBucket struct {
	object.Memory
	down  atomic.Bool
	loses atomic.Bool // objects are created, but the replies are lost
}

func (b *downBucket) refuse() error {
	if b.down.Load() {
		return fmt.Errorf("the storage does not answer: %w", object.ErrUnknown)
	}
	return nil
}

func (b *downBucket) Create(ctx context.Context, name string, data []byte) error {
	if err := b.refuse(); err != nil {
		return err
	}
	err := b.Memory.Create(ctx, name, data)
	if b.loses.Load() {
		b.down.Store(true)
		return object.ErrUnknown
	}
	return err
}

func (b *downBucket) Upload(ctx context.Context, name string, r io.Reader, size int64) error {
	if err := b.refuse(); err != nil {
		return err
	}
	return b.Memory.Upload(ctx, name, r, size)
}

func (b *downBucket) Read(ctx context.Context, name string, offset, length int64) ([]byte, error) {
	if err := b.refuse(); err != nil {
		return nil, err
	}
	return b.Memory.Read(ctx, name, offset, length)
}

func (b *downBucket) List(ctx context.Context, prefix, after string, limit int) ([]object.Entry, error) {
	if err := b.refuse(); err != nil {
		return nil, err
	}
	return b.Memory.List(ctx, prefix, after, limit)
}

// wantRetry checks that an error asks the caller to repeat the call later: the server opens the graph again
// by itself, or the storage answers again. The error must not leave open whether a write was made.
func wantRetry(t *testing.T, call string, err error) {
	t.Helper()
	var unavailable *engine.Unavailable
	var unknown *engine.Indeterminate
	if !errors.As(err, &unavailable) || unavailable.RetryAfter <= 0 || errors.As(err, &unknown) {
		t.Errorf("%s: %v (%+v); want a *engine.Unavailable with a time to wait", call, err, unavailable)
	}
}

// TestDownStorage stops the shared storage. Every call that needs it must say when to repeat the call.
func TestDownStorage(t *testing.T) {
	ctx := t.Context()
	b := &downBucket{}
	w := newShared(t, b)
	id := w.segment(t, []byte("data"))
	w.write(t, 1, "one", id)
	reader := openServer(t, b, nil)
	b.down.Store(true)

	wantRetry(t, "a reader that reads the log", reader.CatchUp(ctx))
	_, err := reader.OpenSegment(ctx, id)
	wantRetry(t, "a reader that reads a segment", err)
	wantRetry(t, "a reader that takes over", reader.TakeOver(ctx))
	wantRetry(t, "a writer that reads the log", w.CatchUp(ctx))
	_, err = w.WriteSegment(ctx, func(sw *SegmentWriter) error { return sw.AddBlock("data", []byte("more")) })
	wantRetry(t, "a writer that stores a segment", err)
	wantRetry(t, "a writer that makes a checkpoint", w.Checkpoint(ctx, nil, 1, nil))

	ticket, err := w.Enqueue(1, []byte("two"))
	must(t, err)
	var unknown *engine.Indeterminate
	if err := w.Wait(ticket); !errors.As(err, &unknown) {
		t.Fatalf("a write that the storage did not answer: %v", err)
	}
	_, err = w.Enqueue(1, []byte("three"))
	wantRetry(t, "a write after the log failed", err)
	wantRetry(t, "the failure of the writer", w.Failure())
}

// TestLostReplyOfTakeover stops the storage after it has stored a takeover. No write was made, so the error must
// not say that a write may have been made.
func TestLostReplyOfTakeover(t *testing.T) {
	b := &downBucket{}
	newShared(t, b)
	s := openServer(t, b, nil)
	b.loses.Store(true)
	wantRetry(t, "a takeover whose reply is lost", s.TakeOver(t.Context()))
}

// TestFailedDisk lets the log of a folder fail. Later writes must say when to repeat the call.
func TestFailedDisk(t *testing.T) {
	failing := false
	s := create(t, faultfs.New(fs.NewMem(), func(op faultfs.Op) *faultfs.Fault {
		if failing && op.Kind == faultfs.OpSync {
			return &faultfs.Fault{Err: syscall.EIO}
		}
		return nil
	}), "/g", tiny)
	ticket, err := s.Enqueue(1, []byte("one"))
	must(t, err)
	failing = true
	if err := s.Wait(ticket); err == nil {
		t.Fatal("the log has not failed")
	}
	_, err = s.Enqueue(1, []byte("two"))
	wantRetry(t, "a write after the log failed", err)
	wantRetry(t, "the failure of the storage", s.Failure())
}
