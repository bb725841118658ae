package store

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// segmentsIn lists the segments in the folder of a cache.
func segmentsIn(t *testing.T, fsys fs.FS, dir string) (ids []SegmentID) {
	t.Helper()
	names, err := fsys.List(dir)
	must(t, err)
	for _, n := range classify(names).segments {
		ids = append(ids, SegmentID(n))
	}
	return ids
}

// eventually collects garbage until f returns true.
func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for range 500 {
		runtime.GC()
		if f() {
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
	t.Fatalf("not within a second: %s", what)
}

// TestCacheBound opens segments under a bound that is large enough for three of them. A mapped file
// must stay, and of the others the least recently used must go first.
func TestCacheBound(t *testing.T) {
	ctx := t.Context()
	b := &object.Memory{}
	w := newShared(t, b)
	var ids []SegmentID
	for i := range 6 {
		ids = append(ids, w.segment(t, bytes.Repeat([]byte{byte(i)}, 5000)))
	}
	w.write(t, 1, "one", ids...)
	must(t, w.Checkpoint(ctx, []byte("one"), 1, ids))
	size := w.Sizes()[ids[0]]

	fsys := fs.NewMem()
	bound := NewCacheBound(3 * size)
	open := func(dir string) *Shared {
		s, err := OpenShared(ctx, SharedOptions{Bucket: b, Prefix: "g/", FS: fsys, Cache: dir, Bound: bound, Patience: 1, Applier: &applied{}})
		must(t, err)
		t.Cleanup(func() { s.Close() })
		return s
	}
	use := func(s *Shared, i int) {
		t.Helper()
		server{Shared: s}.wantBlock(t, ids[i], bytes.Repeat([]byte{byte(i)}, 5000))
	}
	want := func(s *Shared, dir string, places ...int) {
		t.Helper()
		var files []SegmentID
		for _, i := range places {
			files = append(files, ids[i])
		}
		eventually(t, fmt.Sprintf("the cache %s has the segments %v", dir, places), func() bool {
			return slices.Equal(segmentsIn(t, fsys, dir), files) && s.CacheBytes() == int64(len(places))*size
		})
	}
	s := open("one")
	idle := func(n int) func() bool {
		return func() bool {
			bound.mu.Lock()
			defer bound.mu.Unlock()
			return bound.idle.Len() == n
		}
	}
	for i := range 3 {
		use(s, i)
		eventually(t, "the file is not mapped any more", idle(i+1))
	}
	want(s, "one", 0, 1, 2)
	use(s, 0) // the segment 1 is now the least recently used
	eventually(t, "the file is not mapped any more", idle(3))
	use(s, 3)
	want(s, "one", 0, 2, 3)
	mapped := make([]*Segment, 5)
	for i := range mapped {
		var err error
		mapped[i], err = s.OpenSegment(ctx, ids[i])
		must(t, err)
	}
	want(s, "one", 0, 1, 2, 3, 4) // all of them are mapped
	for i, seg := range mapped {
		if data, err := seg.Block("data"); err != nil || data[0] != byte(i) {
			t.Errorf("segment %d: %v", i, err)
		}
	}
	runtime.KeepAlive(mapped)
	clear(mapped)
	eventually(t, "the cache is within its bound", func() bool { return s.CacheBytes() <= 3*size })

	other := open("two")
	for i := range 3 {
		use(other, i)
	}
	want(s, "one")
	want(other, "two", 0, 1, 2)
	must(t, other.Close())
	again := open("two")
	if got := again.CacheBytes(); got != 3*size {
		t.Errorf("an opened cache counts %d bytes; want %d, the files of the process before", got, 3*size)
	}
	use(again, 4)
	use(again, 5)
	eventually(t, "the cache is within its bound", func() bool { return again.CacheBytes() <= 3*size })

	// The files of a closed graph count, and are the first to go.
	must(t, again.Close())
	eventually(t, "no file of the closed graph is mapped", idle(3))
	for i := range 3 {
		use(s, i)
	}
	want(s, "one", 0, 1, 2)
	if files := segmentsIn(t, fsys, "two"); len(files) > 0 {
		t.Errorf("the cache of the closed graph still has the segments %v", files)
	}
}
