package store

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// impatient makes a server regard condemned objects as due at once.
func (s server) impatient(needed func() uint64) server {
	s.opts.Retention = -1
	s.opts.Needed = func(context.Context) (uint64, error) { return needed(), nil }
	s.follower = nil // is opened again with these options
	return s
}

// objects lists the segments in the storage of a test.
func objects(t *testing.T, s server) (ids []SegmentID) {
	t.Helper()
	numbers, err := s.logOptions().Segments(t.Context())
	must(t, err)
	for _, n := range numbers {
		ids = append(ids, SegmentID(n))
	}
	return ids
}

// wantObjects checks which segments are in the storage.
func wantObjects(t *testing.T, what string, s server, want ...SegmentID) {
	t.Helper()
	if got := objects(t, s); !slices.Equal(got, want) {
		t.Errorf("%s: the storage has the segments %v; want %v", what, got, want)
	}
}

// collect collects and checks how many segments were deleted and spared.
func (s server) collect(t *testing.T, what string, segments, pinned int) {
	t.Helper()
	n, err := s.Collect(t.Context())
	if err != nil || n.Segments != segments || n.Pinned != pinned {
		t.Errorf("%s: collected %+v, %v; want %d segments and %d pinned", what, n, err, segments, pinned)
	}
}

// TestSharedCollect lets a writer replace segments that a reader still needs.
func TestSharedCollect(t *testing.T) {
	ctx := t.Context()
	b := &object.Memory{}
	f := server{}
	heeded := true
	w := openServer(t, b, nil).impatient(func() uint64 {
		if f.Shared == nil || !heeded {
			return 0
		}
		return f.Needs()
	})
	must(t, w.TakeOver(ctx))
	must(t, w.Checkpoint(ctx, []byte("empty"), 0, nil))
	first := w.segment(t, []byte("first"))
	w.write(t, 1, "one", first)
	must(t, w.Checkpoint(ctx, []byte("one"), 1, []SegmentID{first}))
	f = openServer(t, b, nil)
	before := f.Needs()
	if before == 0 {
		t.Fatal("a server that has loaded a checkpoint needs nothing")
	}

	second := w.segment(t, []byte("second"))
	w.write(t, 2, "two", second)
	must(t, w.Checkpoint(ctx, []byte("two"), 2, []SegmentID{second}))
	must(t, f.CatchUp(ctx))
	if f.Needs() != before {
		t.Errorf("the server needs %d, and before %d; it has not loaded another checkpoint", f.Needs(), before)
	}
	w.collect(t, "while a reader needs the first segment", 0, 1)
	wantObjects(t, "while a reader needs the first segment", w, first, second)
	f.wantBlock(t, first, []byte("first"))

	heeded = false
	w.collect(t, "without the reader's need", 1, 0)
	wantObjects(t, "without the reader's need", w, second)
	must(t, f.files.remove(first))
	var gone *engine.Unavailable
	if _, err := f.OpenSegment(ctx, first); !errors.As(err, &gone) || gone.RetryAfter == 0 {
		t.Errorf("a read of a collected segment: %v; want a *engine.Unavailable with a time to wait", err)
	}
	if err := f.Verify(ctx); !errors.As(err, &gone) {
		t.Errorf("verifying a state whose segment is collected: %v; want a *engine.Unavailable", err)
	}
	f.take()
	must(t, f.CatchUp(ctx))
	if got := f.take(); got == "" {
		t.Error("the server has not loaded the newest checkpoint after it missed a segment")
	}
	f.wantBlock(t, second, []byte("second"))
	must(t, f.Verify(ctx))
	eventually(t, "the server does not need the first checkpoint any more", func() bool { return f.Needs() > before })
}

// TestSharedOrphans lets a writer fail after it has stored a segment. The next writer must delete that
// segment, but none that a record of the former writer names.
func TestSharedOrphans(t *testing.T) {
	ctx := t.Context()
	b := &object.Memory{}
	w := newShared(t, b)
	listed, named, orphan := w.segment(t, []byte("listed")), w.segment(t, []byte("named")), w.segment(t, []byte("orphan"))
	w.write(t, 1, "one", listed)
	must(t, w.Checkpoint(ctx, []byte("one"), 1, []SegmentID{listed}))
	w.write(t, 2, "two", named)

	next := openServer(t, b, nil).impatient(func() uint64 { return 0 })
	must(t, next.TakeOver(ctx))
	next.collect(t, "before a checkpoint of the new writer", 0, 0)
	next.wantBlock(t, named, []byte("named"))
	own := next.segment(t, []byte("own"))
	must(t, next.Checkpoint(ctx, []byte("one"), 1, []SegmentID{listed})) // does not list what record 2 names
	next.collect(t, "after a checkpoint that is older than the takeover", 0, 0)
	must(t, next.Checkpoint(ctx, []byte("two"), 2, []SegmentID{listed, named}))
	next.collect(t, "after the first checkpoint", 0, 0)
	wantObjects(t, "after the first checkpoint", next, listed, named, orphan, own)
	next.write(t, 3, "three", own)
	must(t, next.Checkpoint(ctx, []byte("three"), 3, []SegmentID{listed, named, own}))
	next.collect(t, "after the second checkpoint", 1, 0)
	wantObjects(t, "in the end", next, listed, named, own)
	late := openServer(t, b, nil)
	for id, data := range map[SegmentID]string{listed: "listed", named: "named", own: "own"} {
		late.wantBlock(t, id, []byte(data))
	}
	must(t, late.Verify(ctx))
}
