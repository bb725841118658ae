package sharedlog_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/storage/object"
	"github.com/omnigraph-go/omnigraph/internal/storage/sharedlog"
)

// readingBucket notes the names of the objects that are read from another bucket.
type readingBucket struct {
	object.Bucket
	names []string
}

func (b *readingBucket) Read(ctx context.Context, name string, offset, length int64) ([]byte, error) {
	b.names = append(b.names, strings.TrimPrefix(name, "graph/"))
	return b.Bucket.Read(ctx, name, offset, length)
}

// count returns the number of reads of objects with a prefix.
func (b *readingBucket) count(prefix string) (n int) {
	for _, name := range b.names {
		if strings.HasPrefix(name, prefix) {
			n++
		}
	}
	return n
}

// rolling returns a writer that makes roll-ups of n log objects, and options for other servers.
func rolling(t *testing.T, b object.Bucket, n int) (node, *sharedlog.Writer, func(object.Bucket) (sharedlog.Options, *texts)) {
	t.Helper()
	with := func(b object.Bucket) (sharedlog.Options, *texts) {
		state := &texts{}
		o := options(b, state)
		o.RollUp, o.Recheck = n, time.Hour
		return o, state
	}
	o, state := with(b)
	f, err := sharedlog.Open(t.Context(), o)
	must(t, err)
	first := node{f, state}
	return first, first.takeOver(t), with
}

// appendRolling stores n records, each in a group of its own, and the roll-ups that become due.
func appendRolling(t *testing.T, w *sharedlog.Writer, from, n int) (records []string) {
	t.Helper()
	for i := range n {
		r := fmt.Sprint("record ", from+i)
		appendAll(t, w, r)
		if r := w.RollUp(); r != nil {
			must(t, r.Store(t.Context()))
		}
		records = append(records, r)
	}
	return records
}

// TestRollUp opens a log of a takeover and 199 groups, which has three roll-ups of 64 log objects.
func TestRollUp(t *testing.T) {
	var b object.Memory
	first, w, with := rolling(t, &b, 64)
	records := appendRolling(t, w, 0, 199)
	first.want(t, records...)
	if got, want := names(t, &b, "rollup/"), []string{
		"rollup/00000000000000000064-00000000000000000001",
		"rollup/00000000000000000128-00000000000000000065",
		"rollup/00000000000000000192-00000000000000000129",
	}; !slices.Equal(got, want) {
		t.Errorf("the roll-ups are %q; want %q", got, want)
	}
	open := func(what string, rollUps, logObjects int) {
		t.Helper()
		reads := &readingBucket{Bucket: &b}
		o, state := with(reads)
		f, err := sharedlog.Open(t.Context(), o)
		must(t, err)
		node{f, state}.want(t, records...)
		if r, l := reads.count("rollup/"), reads.count("log/"); r != rollUps || l != logObjects {
			t.Errorf("%s: the server read %d roll-ups and %d log objects; want %d and %d", what, r, l, rollUps, logObjects)
		}
	}
	// Four log objects before the list, eight after the last roll-up, and the end of the log.
	open("three roll-ups", 3, 4+8+1)
	must(t, b.Delete(t.Context(), "graph/rollup/00000000000000000128-00000000000000000065"))
	open("a missing roll-up", 2, 4+64+8+1)
	must(t, b.Put(t.Context(), "graph/rollup/00000000000000000128-00000000000000000065", []byte("damaged")))
	open("a damaged roll-up", 3, 4+64+8+1)
	other, err := b.Read(t.Context(), "graph/rollup/00000000000000000192-00000000000000000129", 0, object.Whole)
	must(t, err)
	must(t, b.Put(t.Context(), "graph/rollup/00000000000000000128-00000000000000000065", other))
	open("a roll-up of other log objects", 3, 4+64+8+1)

	// The checkpoint covers all log objects, so their roll-ups go with them.
	c := stored(t, w, first.state.encode())
	must(t, w.Announce(t.Context(), c, nil))
	n, err := collect(t.Context(), first.Follower, nil)
	must(t, err)
	if got := names(t, &b, "rollup/"); len(got) > 0 || n.LogObjects != 199+3 {
		t.Errorf("after a checkpoint, %q are left, and %d objects of the log were deleted; want no roll-up and 202", got, n.LogObjects)
	}
	records = append(records, appendRolling(t, w, 199, 70)...)
	if got, want := names(t, &b, "rollup/"), []string{"rollup/00000000000000000264-00000000000000000201"}; !slices.Equal(got, want) {
		t.Errorf("after a checkpoint of 200 log objects, the roll-ups are %q; want %q", got, want)
	}
	open("a roll-up after a checkpoint", 1, 4+7+1)
}

// TestRollUpAfterTakeover lets a server take over before the former writer has made a roll-up. The new
// writer's first roll-up contains the log objects of the former one.
func TestRollUpAfterTakeover(t *testing.T) {
	var b object.Memory
	_, w, with := rolling(t, &b, 8)
	records := appendRolling(t, w, 0, 6)
	o, state := with(&b)
	f, err := sharedlog.Open(t.Context(), o)
	must(t, err)
	second := node{f, state}
	w = second.takeOver(t)
	records = append(records, appendRolling(t, w, 6, 1)...)
	second.want(t, records...)
	if got, want := names(t, &b, "rollup/"), []string{"rollup/00000000000000000009-00000000000000000001"}; !slices.Equal(got, want) {
		t.Errorf("the roll-ups are %q; want %q", got, want)
	}
	o, state = with(&b)
	f, err = sharedlog.Open(t.Context(), o)
	must(t, err)
	node{f, state}.want(t, records...)
}

// TestStaleRollUp stores a roll-up only after its log objects were collected. Nobody reads it, and the
// next garbage collection deletes it.
func TestStaleRollUp(t *testing.T) {
	var b object.Memory
	first, w, with := rolling(t, &b, 4)
	lagging, state := with(&b)
	lagging.Recheck = time.Nanosecond
	f, err := sharedlog.Open(t.Context(), lagging)
	must(t, err)
	for i := range 3 {
		appendAll(t, w, fmt.Sprint("record ", i))
	}
	late := w.RollUp()
	checkpoint(t, w, first)
	_, err = collect(t.Context(), first.Follower, nil)
	must(t, err)
	must(t, late.Store(t.Context()))
	wantIs(t, f.CatchUp(t.Context()), sharedlog.ErrBehind)
	if len(state.records) > 0 {
		t.Errorf("the server applied %q from a roll-up of collected log objects", state.records)
	}
	appendAll(t, w, "record 3")
	checkpoint(t, w, first)
	_, err = collect(t.Context(), first.Follower, nil)
	must(t, err)
	if got := names(t, &b, "rollup/"); len(got) > 0 {
		t.Errorf("the roll-ups %q are left", got)
	}
}
