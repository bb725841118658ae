package store

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/slow"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

const mb = 1 << 20

// filled is a graph with a checkpoint that lists one large segment.
type filled struct {
	bucket *countingBucket
	id     SegmentID
	object string            // name of the segment's object
	blocks map[string][]byte // the content, by name of the block
}

// newFilled makes the graph. The segment has a long block of n bytes, a compressed one and a short one.
func newFilled(t *testing.T, n int) *filled {
	t.Helper()
	memory := &object.Memory{}
	f := &filled{bucket: &countingBucket{Bucket: memory}, blocks: map[string][]byte{}}
	rng := rand.New(rand.NewPCG(1, 2))
	long := make([]byte, n)
	for i := range long {
		long[i] = byte(rng.Uint32())
	}
	clear(long[3*mb : 4*mb]) // pieces that look like holes
	f.blocks["long"] = long
	f.blocks["packed"] = bytes.Repeat([]byte("a text that repeats, "), 100_000)
	f.blocks["short"] = []byte("short")
	w := newShared(t, memory)
	var err error
	f.id, err = w.WriteSegment(t.Context(), func(w *SegmentWriter) error {
		return errors.Join(w.AddBlock("long", f.blocks["long"]), w.AddCold("packed", f.blocks["packed"], false), w.AddBlock("short", f.blocks["short"]))
	})
	must(t, err)
	w.write(t, 1, "one", f.id)
	must(t, w.Checkpoint(t.Context(), []byte("one"), 1, []SegmentID{f.id}))
	f.object = "g/" + objectName(f.id)
	return f
}

// open opens a server that fetches pieces, and the segment.
func (f *filled) open(t *testing.T, fsys fs.FS, dir string) (*Shared, *Segment) {
	t.Helper()
	s, err := OpenShared(t.Context(), SharedOptions{Bucket: f.bucket, Prefix: "g/", FS: fsys, Cache: dir, Patience: 1, Applier: &applied{}, Whole: 1})
	must(t, err)
	t.Cleanup(func() { s.Close() })
	f.bucket.reads.Store(0)
	seg, err := s.OpenSegment(t.Context(), f.id)
	must(t, err)
	return s, seg
}

// change changes the object of the segment.
func (f *filled) change(t *testing.T, change func([]byte) []byte) {
	t.Helper()
	old, err := f.bucket.Read(t.Context(), f.object, 0, object.Whole)
	must(t, err)
	must(t, f.bucket.Put(t.Context(), f.object, change(bytes.Clone(old))))
}

// want checks a range of a block.
func (f *filled) want(t *testing.T, seg *Segment, block string, from, to int) {
	t.Helper()
	p, err := seg.Pieces(block)
	must(t, err)
	if got, err := p.Range(from, to); err != nil || !bytes.Equal(got, f.blocks[block][from:to]) {
		t.Errorf("bytes %d to %d of %s: wrong, error %v", from, to, block, err)
	}
}

// fillOn runs a test with a cache in memory, and with one of mapped files.
func fillOn(t *testing.T, test func(t *testing.T, f *filled, fsys fs.FS, dir string)) {
	for name, fsys := range map[string]fs.FS{"memory": fs.NewMem(), "files": fs.OS()} {
		t.Run(name, func(t *testing.T) { test(t, newFilled(t, 13*mb+5000), fsys, t.TempDir()) })
	}
}

// TestFill reads parts of a segment.
func TestFill(t *testing.T) {
	slow.Test(t)
	fillOn(t, func(t *testing.T, f *filled, fsys fs.FS, dir string) {
		s, seg := f.open(t, fsys, dir)
		for _, step := range []struct {
			what     string
			from, to int
			reads    int64 // requests so far
		}{
			{"the first piece is fetched with its unit", 0, 1000, 3},
			{"the unit is in the file", 100_000, mb, 3},
			{"a piece is fetched with the pieces before and after it", 5*mb + 200_000, 5*mb + 200_010, 4},
			{"these pieces are in the file", 5 * mb, 6 * mb, 4},
			{"a read of the next piece fetches two units", 6 * mb, 6*mb + 1, 5},
			{"both units are in the file", 7 * mb, 8 * mb, 5},
			{"zeros are no holes", 3 * mb, 4 * mb, 5},
			{"a long range is one request", 9 * mb, 12*mb + 10, 6},
		} {
			f.want(t, seg, "long", step.from, step.to)
			if n := f.bucket.reads.Load(); n != step.reads {
				t.Errorf("%s: %d requests so far, want %d", step.what, n, step.reads)
			}
		}
		f.want(t, seg, "packed", 500_000, 600_000)
		f.want(t, seg, "short", 0, 5)
		if size := s.Sizes()[f.id]; s.CacheBytes() > size*4/5 {
			t.Errorf("the cache has %d of %d bytes", s.CacheBytes(), size)
		}
		must(t, s.Verify(t.Context()))
		for block, want := range f.blocks {
			if got, err := seg.Block(block); err != nil || !bytes.Equal(got, want) {
				t.Errorf("block %s: %d bytes, error %v", block, len(got), err)
			}
		}
		must(t, s.Verify(t.Context()))
		f.bucket.reads.Store(0)
		must(t, seg.Complete(t.Context()))
		if n := f.bucket.reads.Load(); n != 0 {
			t.Errorf("%d requests for a file without holes", n)
		}
	})
}

// endingBucket ends a context when it is read.
type endingBucket struct {
	object.Bucket
	end context.CancelFunc
}

func (b endingBucket) Read(ctx context.Context, name string, offset, length int64) ([]byte, error) {
	b.end()
	return b.Bucket.Read(ctx, name, offset, length)
}

// TestCompleteEnds ends the context of Complete during its first requests.
func TestCompleteEnds(t *testing.T) {
	f := newFilled(t, 5*unitPieces*mostUnits*pieceSize)
	_, seg := f.open(t, fs.NewMem(), t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	f.bucket.reads.Store(0)
	f.bucket.Bucket = endingBucket{f.bucket.Bucket, cancel}
	if err := seg.Complete(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
	if n := f.bucket.reads.Load(); n > fetchRequests {
		t.Errorf("%d requests, want those that had begun, at most %d", n, fetchRequests)
	}
}

// TestFillAtOnce reads random ranges in many goroutines.
func TestFillAtOnce(t *testing.T) {
	f := newFilled(t, 13*mb+5000)
	_, seg := f.open(t, fs.OS(), t.TempDir())
	var readers sync.WaitGroup
	for i := range 16 {
		readers.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(i), 7))
			for range 40 {
				block := []string{"long", "packed", "short"}[rng.IntN(3)]
				n := len(f.blocks[block])
				from := rng.IntN(n)
				f.want(t, seg, block, from, from+rng.IntN(min(n-from, 300_000))+1)
			}
			if i > 1 {
				return
			}
			if got, err := seg.Block("long"); err != nil || !bytes.Equal(got, f.blocks["long"]) {
				t.Errorf("the long block: %d bytes, error %v", len(got), err)
			}
		})
	}
	readers.Wait()
	if n := f.bucket.reads.Load(); n > 2+16 {
		t.Errorf("%d requests for a header, a footer and 16 units", n)
	}
}

// TestFillAgain opens a cache whose files have holes.
func TestFillAgain(t *testing.T) {
	slow.Test(t)
	fillOn(t, func(t *testing.T, f *filled, fsys fs.FS, dir string) {
		s, seg := f.open(t, fsys, dir)
		f.want(t, seg, "long", 5*mb, 6*mb)
		must(t, s.Close())
		f.want(t, seg, "long", 7*mb, 8*mb) // an open result reads on after Close

		// The process ends here, and a fault of the disk damages a piece.
		file, err := fsys.OpenWrite(filename(dir, uint64(f.id), segmentExt))
		must(t, err)
		_, err = file.WriteAt([]byte("damage"), segmentHeaderSize+5*mb+100_000)
		must(t, errors.Join(err, file.Close()))
		s, seg = f.open(t, fsys, dir)
		if n := f.bucket.reads.Load(); n != 0 {
			t.Errorf("%d requests to open the segment, want 0", n)
		}
		if err := s.Verify(t.Context()); err == nil {
			t.Error("Verify does not find the damaged piece")
		}
		f.want(t, seg, "long", 5*mb, 6*mb)
		f.want(t, seg, "long", 11*mb, 12*mb)
		must(t, s.Verify(t.Context()))

		// The object is gone: what was read stays readable.
		must(t, f.bucket.Delete(t.Context(), f.object))
		f.want(t, seg, "long", 11*mb, 12*mb)
		p, err := seg.Pieces("long")
		must(t, err)
		var missing *engine.Unavailable
		if _, err := p.Range(9*mb, 10*mb); !errors.As(err, &missing) || !strings.Contains(missing.Reason, f.object) {
			t.Errorf("a missing object: %v, want a *engine.Unavailable that names %s", err, f.object)
		}
	})
}

// TestFillDamaged reads an object that is damaged.
func TestFillDamaged(t *testing.T) {
	slow.Test(t)
	f := newFilled(t, 13*mb+5000)
	size := 0
	f.change(t, func(b []byte) []byte { size = len(b); b[segmentHeaderSize+10*mb] ^= 1; return b })
	_, seg := f.open(t, fs.NewMem(), "cache")
	p, err := seg.Pieces("long")
	must(t, err)
	f.want(t, seg, "long", 10*mb+pieceSize, 11*mb) // the damaged piece is fetched with these, and is no fault of theirs
	var corrupt *engine.Corrupt
	for range 2 { // the second read asks the storage again
		if _, err := p.Range(10*mb, 10*mb+1); !errors.As(err, &corrupt) {
			t.Errorf("a damaged piece: %v, want a *engine.Corrupt", err)
		}
	}
	f.want(t, seg, "long", 11*mb, 12*mb)
	f.change(t, func(b []byte) []byte { b[segmentHeaderSize+10*mb] ^= 1; return b })
	f.want(t, seg, "long", 10*mb, 11*mb)

	for name, change := range map[string]func([]byte) []byte{
		"header":       func(b []byte) []byte { b[0] ^= 1; return b },
		"footer":       func(b []byte) []byte { b[size-100] ^= 1; return b },
		"end is lost":  func(b []byte) []byte { return b[:size-1] },
		"half is lost": func(b []byte) []byte { return b[:size/2] },
	} {
		f := newFilled(t, 13*mb+5000)
		f.change(t, change)
		s, err := OpenShared(t.Context(), SharedOptions{Bucket: f.bucket, Prefix: "g/", FS: fs.NewMem(), Cache: "cache", Patience: 1, Applier: &applied{}, Whole: 1})
		must(t, err)
		if _, err := s.OpenSegment(t.Context(), f.id); !errors.As(err, &corrupt) || corrupt.Object != f.object {
			t.Errorf("%s: %v, want a *engine.Corrupt that names %s", name, err, f.object)
		}
		must(t, s.Close())
	}
}

// failingBucket refuses reads while `fails` is set.
type failingBucket struct {
	object.Bucket
	mu    sync.Mutex
	fails bool
}

func (b *failingBucket) set(fails bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fails = fails
}

func (b *failingBucket) Read(ctx context.Context, name string, offset, length int64) ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fails {
		return nil, errors.New("the storage is down")
	}
	return b.Bucket.Read(ctx, name, offset, length)
}

// TestFillFails reads pieces while the storage does not answer, and later.
func TestFillFails(t *testing.T) {
	f := newFilled(t, 13*mb+5000)
	down := &failingBucket{Bucket: f.bucket.Bucket}
	f.bucket.Bucket = down
	_, seg := f.open(t, fs.NewMem(), "cache")
	down.set(true)
	var readers sync.WaitGroup
	for range 8 {
		readers.Go(func() {
			var unavailable *engine.Unavailable
			if _, err := seg.Block("long"); !errors.As(err, &unavailable) {
				t.Errorf("%v, want a *engine.Unavailable", err)
			}
		})
	}
	readers.Wait()
	down.set(false)
	if got, err := seg.Block("long"); err != nil || !bytes.Equal(got, f.blocks["long"]) {
		t.Errorf("when the storage answers again: %d bytes, error %v", len(got), err)
	}
}

// TestFillCopies copies a graph whose segment is not complete in the cache of its server.
func TestFillCopies(t *testing.T) {
	slow.Test(t)
	f := newFilled(t, 13*mb+5000)
	s, _ := f.open(t, fs.NewMem(), "cache")
	image := &Image{Manifest: []byte("one"), Listed: []SegmentID{f.id}, From: s}
	fsys := fs.NewMem()
	made, _, err := CreateFrom(t.Context(), fsys, "copy", Options{}, image)
	must(t, err)
	must(t, made.Verify(t.Context()))
	seg, err := made.OpenSegment(t.Context(), f.id)
	must(t, err)
	f.want(t, seg, "long", 0, len(f.blocks["long"]))
	must(t, made.Close())
}
