package sharedlog_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/storage/object"
	"github.com/omnigraph-go/omnigraph/internal/storage/sharedlog"
)

// clocked returns options with a clock that the caller sets.
func clocked(b object.Bucket, retention time.Duration, now *time.Time) sharedlog.Options {
	o := options(b, &texts{})
	o.Retention, o.Now = retention, func() time.Time { return *now }
	return o
}

// announce stores a checkpoint and condemns segments with it.
func announce(t *testing.T, w *sharedlog.Writer, condemned ...uint64) {
	t.Helper()
	appendAll(t, w, "x")
	c := stored(t, w, []byte("x"))
	must(t, w.Announce(t.Context(), c, condemned))
}

// storeSegments stores segments with the given numbers.
func storeSegments(t *testing.T, b object.Bucket, numbers ...uint64) {
	t.Helper()
	for _, n := range numbers {
		must(t, b.Create(t.Context(), "graph/"+sharedlog.SegmentName(n), []byte("rows")))
	}
}

// wantSegments checks which segments are stored.
func wantSegments(t *testing.T, what string, b object.Bucket, want ...uint64) {
	t.Helper()
	got, err := options(b, nil).Segments(t.Context())
	must(t, err)
	if !slices.Equal(got, want) {
		t.Errorf("%s: the storage has the segments %v; want %v", what, got, want)
	}
}

// TestCollectSegments follows condemned segments over time. A server that opened the log only after
// the condemnation must delete them, too.
func TestCollectSegments(t *testing.T) {
	var b object.Memory
	now := time.UnixMilli(1_000_000_000_000)
	o := clocked(&b, 24*time.Hour, &now)
	f, err := sharedlog.Open(t.Context(), o)
	must(t, err)
	w, err := f.TakeOver(t.Context())
	must(t, err)
	storeSegments(t, &b, 1, 2, 3, 4, 5, 9)
	announce(t, w, 1, 3, 2)
	now = now.Add(time.Minute)
	announce(t, w, 9) // shares the condemnation of the first announcement
	now = now.Add(12 * time.Hour)
	announce(t, w, 4)

	late, err := sharedlog.Open(t.Context(), clocked(&b, 24*time.Hour, &now))
	must(t, err)
	collect := func(want int) {
		t.Helper()
		if n, err := collect(t.Context(), late, nil); n.Segments != want || err != nil {
			t.Errorf("collected %+v, %v; want %d segments", n, err, want)
		}
	}
	now = now.Add(12*time.Hour - time.Second)
	collect(0)
	now = now.Add(time.Second)
	collect(4)
	wantSegments(t, "a day after the second announcement", &b, 4, 5)
	if got := names(t, &b, "log/"); got[0] != "log/00000000000000000001" || got[1] != "log/00000000000000000005" {
		t.Errorf("the log begins with %v; want the takeover and the announcement that the second checkpoint does not cover", got[:2])
	}
	collect(0) // it has deleted them already
	now = now.Add(12 * time.Hour)
	collect(1)
	wantSegments(t, "a day after the third announcement", &b, 5)
	if got := names(t, &b, "checkpoint/"); len(got) != 1 {
		t.Errorf("%d checkpoints; want the one in force", len(got))
	}
	open(t, &b).want(t, "x")
}

// TestPinnedSegments lets a server need a checkpoint that another one has replaced.
func TestPinnedSegments(t *testing.T) {
	var b object.Memory
	now := time.UnixMilli(1_000_000_000_000)
	f, err := sharedlog.Open(t.Context(), clocked(&b, time.Hour, &now))
	must(t, err)
	w, err := f.TakeOver(t.Context())
	must(t, err)
	storeSegments(t, &b, 1, 2)
	announce(t, w)
	first := w.Covered()
	announce(t, w, 1)
	second := w.Covered()
	now = now.Add(2 * time.Hour)
	collect := func(what string, oldest uint64, err error, want sharedlog.Collected) {
		t.Helper()
		n, got := collect(t.Context(), f, func(context.Context) (uint64, error) { return oldest, err })
		if n.Segments != want.Segments || n.Pinned != want.Pinned || !errors.Is(got, err) {
			t.Errorf("%s: collected %+v, %v; want %+v, %v", what, n, got, want, err)
		}
	}
	collect("no answer", 0, errors.New("no answer"), sharedlog.Collected{})
	collect("a server needs the first checkpoint", first, nil, sharedlog.Collected{Pinned: 1})
	collect("a server needs the second checkpoint", second, nil, sharedlog.Collected{Segments: 1})
	wantSegments(t, "after the need ended", &b, 2)

	announce(t, w, 2)
	now = now.Add(25*time.Hour - time.Second)
	collect("within a day after the retention", first, nil, sharedlog.Collected{Pinned: 1})
	now = now.Add(time.Second)
	collect("a day after the retention", first, nil, sharedlog.Collected{Segments: 1})
	wantSegments(t, "in the end", &b)
}

// TestOrphans checks which segments a writer finds that no checkpoint needs.
func TestOrphans(t *testing.T) {
	var b object.Memory
	one := open(t, &b)
	w := one.takeOver(t)
	const epoch = sharedlog.SegmentsPerEpoch
	storeSegments(t, &b, epoch+1, epoch+2, epoch+3)
	announce(t, w, epoch+2)
	two := open(t, &b)
	w = two.takeOver(t)
	storeSegments(t, &b, 2*epoch+1)
	announce(t, w)
	stored, err := options(&b, nil).Segments(t.Context())
	must(t, err)
	got := w.Orphans(stored, func(number uint64) bool { return number == epoch+1 })
	if want := []uint64{epoch + 3}; !slices.Equal(got, want) {
		t.Errorf("the orphans are %v; want %v: one segment is known, one is condemned, one is of this epoch", got, want)
	}
}
