package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/slow"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
	"github.com/omnigraph-go/omnigraph/internal/storage/sharedlog"
)

// applied is an Applier that lists what it received.
type applied struct {
	mu     sync.Mutex
	events []string
	refuse string // content of a record for which Apply fails once
	hold   *Hold  // of the last state
}

func (a *applied) note(format string, args ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.events = append(a.events, fmt.Sprintf(format, args...))
}

func (a *applied) Load(_ context.Context, _ *Shared, found *Recovered) error {
	a.hold = found.Hold
	a.note("load %s up to %d, segments %v", found.Manifest, found.ManifestLSN, found.Segments)
	for _, r := range found.Records {
		a.note("then %d %d %s", r.LSN, r.Kind, r.Payload)
	}
	return nil
}

func (a *applied) Apply(_ context.Context, r Record) error {
	if a.refuse == string(r.Payload) {
		a.refuse = ""
		return fmt.Errorf("a segment of the record cannot be fetched: %w", sharedlog.ErrUnavailable)
	}
	a.note("apply %d %d %s", r.LSN, r.Kind, r.Payload)
	return nil
}

func (a *applied) Publish() {}

// take returns the events since the last call, one a line.
func (a *applied) take() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	text := strings.Join(a.events, "\n")
	a.events = nil
	return text
}

// server is one server of a test of shared storage.
type server struct {
	*Shared
	*applied
	fsys *fs.Mem
}

// openServer opens shared storage with a cache in fsys, which is new if it is nil.
func openServer(t *testing.T, b object.Bucket, fsys *fs.Mem) server {
	t.Helper()
	if fsys == nil {
		fsys = fs.NewMem()
	}
	s := server{applied: &applied{}, fsys: fsys}
	var err error
	s.Shared, err = OpenShared(t.Context(), SharedOptions{Bucket: b, Prefix: "g/", FS: fsys, Cache: "cache", Patience: 1, Applier: s.applied})
	must(t, err)
	t.Cleanup(func() { s.Shared.Close() })
	return s
}

// newShared makes a graph in a bucket and returns its writer.
func newShared(t *testing.T, b object.Bucket) server {
	t.Helper()
	s := openServer(t, b, nil)
	must(t, s.TakeOver(t.Context()))
	must(t, s.Checkpoint(t.Context(), []byte("empty"), 0, nil))
	return s
}

// write appends a record.
func (s server) write(t *testing.T, kind uint8, text string, segments ...SegmentID) *Ticket {
	t.Helper()
	ticket, err := s.Enqueue(kind, []byte(text), segments...)
	must(t, err)
	must(t, s.Wait(ticket))
	return ticket
}

// segment writes a segment with one block.
func (s server) segment(t *testing.T, data []byte) SegmentID {
	t.Helper()
	id, err := s.WriteSegment(t.Context(), func(w *SegmentWriter) error { return w.AddBlock("data", data) })
	must(t, err)
	return id
}

// wantBlock checks the block of a segment.
func (s server) wantBlock(t *testing.T, id SegmentID, want []byte) {
	t.Helper()
	seg, err := s.OpenSegment(t.Context(), id)
	must(t, err)
	if got, err := seg.Block("data"); err != nil || !bytes.Equal(got, want) {
		t.Errorf("segment %d holds %d bytes, error %v; want %d bytes", id, len(got), err, len(want))
	}
}

func wantEvents(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: the server received\n%s\nwant\n%s", what, got, want)
	}
}

// TestSharedFollows checks what servers receive that follow a writer, open the storage later, and
// take over.
func TestSharedFollows(t *testing.T) {
	ctx := t.Context()
	b := &object.Memory{}
	w := newShared(t, b)
	f := openServer(t, b, nil)
	wantEvents(t, "opening", f.take(), "load empty up to 0, segments []")
	w.write(t, 1, "one")
	w.write(t, 2, "two")
	must(t, f.CatchUp(ctx))
	wantEvents(t, "two records", f.take(), "apply 1 1 one\napply 2 2 two")
	if more, err := f.Next(ctx); more || err != nil {
		t.Errorf("next at the end: %t, %v", more, err)
	}

	id := w.segment(t, []byte("rows"))
	w.write(t, 3, "three", id)
	must(t, w.Checkpoint(ctx, []byte("up to two"), 2, []SegmentID{id}))
	w.write(t, 4, "four")
	must(t, f.CatchUp(ctx))
	wantEvents(t, "a checkpoint", f.take(), "apply 3 3 three\napply 4 4 four")
	late := openServer(t, b, nil)
	wantEvents(t, "opening later", late.take(), fmt.Sprintf("load up to two up to 2, segments [%d]\nthen 3 3 three\napply 4 4 four", id))

	must(t, w.Rewrite(ctx, []byte("anew"), 3, []SegmentID{id}))
	must(t, f.CatchUp(ctx))
	wantEvents(t, "a rewrite", f.take(), fmt.Sprintf("load anew up to 3, segments [%d]\nthen 4 4 four", id))
	if f.Durable() != 4 || w.Durable() != 4 {
		t.Errorf("durable up to %d and %d, want 4", f.Durable(), w.Durable())
	}

	must(t, w.CatchUp(ctx)) // the writer is still the writer
	must(t, late.TakeOver(ctx))
	wantEvents(t, "the candidate", late.take(), fmt.Sprintf("load anew up to 3, segments [%d]\nthen 4 4 four", id))
	if next := late.segment(t, []byte("more")); next <= id || next/epochSegments != id/epochSegments+1 {
		t.Errorf("the first segments of two epochs have the numbers %d and %d", id, next)
	}
	if got := late.write(t, 5, "five").LSN; got != 5 {
		t.Errorf("the first record of the new writer has LSN %d, want 5", got)
	}
	ticket, err := w.Enqueue(6, []byte("six"))
	must(t, err)
	var lost *engine.Unavailable
	if err := w.Wait(ticket); !errors.As(err, &lost) || !w.MustReopen() || w.Failure() == nil {
		t.Errorf("a write of the former writer: %v; must reopen %t, failure %v", err, w.MustReopen(), w.Failure())
	}
	must(t, f.CatchUp(ctx))
	wantEvents(t, "after the takeover", f.take(), "apply 5 5 five")
	must(t, openServer(t, b, nil).TakeOver(ctx))
	if err := late.CatchUp(ctx); !errors.As(err, &lost) || !late.MustReopen() {
		t.Errorf("a writer that looks whether it still is the writer: %v, must reopen %t", err, late.MustReopen())
	}
	if _, err := f.Enqueue(1, nil); !errors.As(err, &lost) {
		t.Errorf("a write of a reader: %v", err)
	}
}

// TestSharedApplyFails lets the second record of a group fail once. The server must begin anew with
// the checkpoint, and must not apply the first record twice.
func TestSharedApplyFails(t *testing.T) {
	ctx := t.Context()
	b := &object.Memory{}
	w := newShared(t, b)
	f := openServer(t, b, nil)
	f.take()
	var last *Ticket
	for _, text := range []string{"one", "two", "three"} {
		var err error
		last, err = w.Enqueue(1, []byte(text))
		must(t, err)
	}
	must(t, w.Wait(last))
	f.refuse = "two"
	var unavailable *engine.Unavailable
	if err := f.CatchUp(ctx); !errors.As(err, &unavailable) {
		t.Errorf("a record that cannot be applied: %v", err)
	}
	wantEvents(t, "the first attempt", f.take(), "apply 1 1 one")
	must(t, f.CatchUp(ctx))
	wantEvents(t, "the second attempt", f.take(), "load empty up to 0, segments []\napply 1 1 one\napply 2 1 two\napply 3 1 three")
	must(t, f.TakeOver(ctx))
	must(t, f.Checkpoint(ctx, []byte("tail"), 0, nil))
	wantEvents(t, "another server", openServer(t, b, nil).take(), "load tail up to 0, segments []\nthen 1 1 one\nthen 2 1 two\nthen 3 1 three")
}

// TestSharedReloads checks that a server loads a checkpoint of the same layout after the number of
// records in SharedOptions.Reload.
func TestSharedReloads(t *testing.T) {
	ctx := t.Context()
	b := &object.Memory{}
	w := newShared(t, b)
	f := openServer(t, b, nil)
	f.opts.Reload = 3
	f.take()
	for i, want := range []string{"apply 1 7 a\napply 2 7 b", "apply 3 7 a\napply 4 7 b\nload second up to 4, segments []", "apply 5 7 a\napply 6 7 b"} {
		w.write(t, 7, "a")
		w.write(t, 7, "b")
		must(t, w.Checkpoint(ctx, []byte([]string{"first", "second", "third"}[i]), w.Durable(), nil))
		must(t, f.CatchUp(ctx))
		wantEvents(t, fmt.Sprintf("round %d", i), f.take(), want)
	}
}

// openWhole opens shared storage with a cache that fetches whole segments.
func openWhole(t *testing.T, b object.Bucket, fsys *fs.Mem) server {
	t.Helper()
	s := openServer(t, b, fsys)
	s.opts.Whole = 1 << 40
	return s
}

// TestSharedCache damages the cache and the storage. The cache fetches whole segments.
func TestSharedCache(t *testing.T) {
	slow.Test(t)
	ctx := t.Context()
	data := bytes.Repeat([]byte("segment "), (fetchPart+4096)/8) // two parts
	begin := func(t *testing.T) (*object.Memory, SegmentID, string) {
		b := &object.Memory{}
		w := newShared(t, b)
		id := w.segment(t, data)
		w.write(t, 1, "one", id)
		must(t, w.Checkpoint(ctx, []byte("one"), 1, []SegmentID{id}))
		return b, id, "g/" + objectName(id)
	}
	replace := func(t *testing.T, b *object.Memory, name string, change func([]byte) []byte) {
		old, err := b.Read(ctx, name, 0, object.Whole)
		must(t, err)
		must(t, b.Put(ctx, name, change(bytes.Clone(old))))
	}

	t.Run("a file that a process left is used again", func(t *testing.T) {
		b, id, name := begin(t)
		f := openWhole(t, b, nil)
		f.wantBlock(t, id, data)
		must(t, f.Shared.Close())
		must(t, b.Delete(ctx, name))
		openWhole(t, b, f.fsys).wantBlock(t, id, data)
	})
	t.Run("a file that does not match the checkpoint is fetched anew", func(t *testing.T) {
		b, id, _ := begin(t)
		f := openWhole(t, b, nil)
		f.wantBlock(t, id, data)
		must(t, f.Shared.Close())
		path := filename("cache", uint64(id), segmentExt)
		must(t, f.fsys.Remove(path))
		file, err := f.fsys.Create(path)
		must(t, err)
		_, err = file.WriteAt([]byte("this is no segment"), 0)
		must(t, errors.Join(err, file.Close()))
		openWhole(t, b, f.fsys).wantBlock(t, id, data)
	})
	t.Run("an emptied cache is filled again", func(t *testing.T) {
		b, id, _ := begin(t)
		f := openWhole(t, b, nil)
		f.wantBlock(t, id, data)
		must(t, f.fsys.Remove(filename("cache", uint64(id), segmentExt)))
		f.wantBlock(t, id, data)
	})
	t.Run("damaged objects", func(t *testing.T) {
		for _, at := range []int{0, 70, len(data) / 2, len(data) + 80} {
			b, id, name := begin(t)
			replace(t, b, name, func(old []byte) []byte { old[at] ^= 1; return old })
			f := openWhole(t, b, nil)
			_, err := f.OpenSegment(ctx, id)
			var corrupt *engine.Corrupt
			if !errors.As(err, &corrupt) || corrupt.Object != name {
				t.Errorf("byte %d: %v, want a *engine.Corrupt that names %s", at, err, name)
			}
			names, err := f.fsys.List("cache")
			must(t, err)
			if slices.ContainsFunc(names, func(name string) bool { return name != lockName }) {
				t.Errorf("byte %d: the cache has %v", at, names)
			}
		}
	})
	t.Run("another segment under the name", func(t *testing.T) {
		b, id, name := begin(t)
		w := openWhole(t, b, nil)
		must(t, w.TakeOver(ctx))
		replace(t, b, name, func([]byte) []byte {
			other, err := b.Read(ctx, "g/"+objectName(w.segment(t, []byte("other"))), 0, object.Whole)
			must(t, err)
			return other
		})
		var corrupt *engine.Corrupt
		if err := w.Verify(ctx); !errors.As(err, &corrupt) || corrupt.Object != name {
			t.Errorf("verify: %v, want a *engine.Corrupt that names %s", err, name)
		}
		if _, err := openWhole(t, b, nil).OpenSegment(ctx, id); !errors.As(err, &corrupt) {
			t.Errorf("open: %v", err)
		}
	})
	t.Run("a missing object", func(t *testing.T) {
		b, id, name := begin(t)
		must(t, b.Delete(ctx, name))
		f := openWhole(t, b, nil)
		var missing *engine.Unavailable
		if _, err := f.OpenSegment(ctx, id); !errors.As(err, &missing) || !strings.Contains(missing.Reason, name) {
			t.Errorf("open: %v, want a *engine.Unavailable that names %s", err, name)
		}
		var corrupt *engine.Corrupt
		if err := f.Verify(ctx); !errors.As(err, &corrupt) || corrupt.Object != name {
			t.Errorf("verify: %v, want a *engine.Corrupt that names %s", err, name)
		}
	})
	t.Run("an object that ends too soon", func(t *testing.T) {
		for _, size := range []int{0, 100, fetchPart, fetchPart + 1000} {
			b, id, name := begin(t)
			replace(t, b, name, func(old []byte) []byte { return old[:size] })
			var corrupt *engine.Corrupt
			if _, err := openWhole(t, b, nil).OpenSegment(ctx, id); !errors.As(err, &corrupt) || corrupt.Object != name {
				t.Errorf("%d bytes: %v, want a *engine.Corrupt that names %s", size, err, name)
			}
		}
	})
	t.Run("parts are read at the same time", func(t *testing.T) {
		b, id, name := begin(t)
		f := openWhole(t, &meetingBucket{Bucket: b, name: name, both: make(chan struct{})}, nil)
		f.wantBlock(t, id, data)
	})
	t.Run("callers share a fetch", func(t *testing.T) {
		b, id, _ := begin(t)
		reads := &countingBucket{Bucket: b}
		f := openWhole(t, reads, nil)
		before := reads.reads.Load()
		var callers sync.WaitGroup
		for range 16 {
			callers.Go(func() { f.wantBlock(t, id, data) })
		}
		callers.Wait()
		if n := reads.reads.Load() - before; n != 2 {
			t.Errorf("%d reads for a segment of two parts, want 2", n)
		}
	})
}

// meetingBucket answers the reads of an object only after two of them have begun.
type meetingBucket struct {
	object.Bucket
	name  string
	begun atomic.Int64
	both  chan struct{} // closed after the second read has begun
}

func (b *meetingBucket) Read(ctx context.Context, name string, offset, length int64) ([]byte, error) {
	if name == b.name {
		if b.begun.Add(1) == 2 {
			close(b.both)
		}
		select {
		case <-b.both:
		case <-time.After(10 * time.Second):
			return nil, errors.New("a second read has not begun")
		}
	}
	return b.Bucket.Read(ctx, name, offset, length)
}

// countingBucket counts reads.
type countingBucket struct {
	object.Bucket
	reads atomic.Int64
}

func (b *countingBucket) Read(ctx context.Context, name string, offset, length int64) ([]byte, error) {
	b.reads.Add(1)
	return b.Bucket.Read(ctx, name, offset, length)
}

// TestSharedSegments checks which segments a checkpoint and RemoveSegment remove.
func TestSharedSegments(t *testing.T) {
	ctx := t.Context()
	b := &object.Memory{}
	w := newShared(t, b)
	unused, named, kept := w.segment(t, []byte("unused")), w.segment(t, []byte("named")), w.segment(t, []byte("kept"))
	w.write(t, 1, "one", named, kept)
	var conflict *engine.Conflict
	if err := w.RemoveSegment(named); !errors.As(err, &conflict) {
		t.Errorf("removing a segment that a record names: %v", err)
	}
	must(t, w.RemoveSegment(unused))
	var missing *engine.NotFound
	if err := w.RemoveSegment(unused); !errors.As(err, &missing) {
		t.Errorf("removing a segment twice: %v", err)
	}
	if _, err := b.Read(ctx, "g/"+objectName(unused), 0, 1); !errors.Is(err, object.ErrNotFound) {
		t.Errorf("the object of a removed segment: %v", err)
	}
	must(t, w.Checkpoint(ctx, nil, 1, []SegmentID{kept}))
	if sizes := w.Sizes(); len(sizes) != 1 || sizes[kept] == 0 {
		t.Errorf("after the checkpoint the segments are %v, want %d", sizes, kept)
	}
	w.wantBlock(t, named, []byte("named")) // for a read that began before: its object is still there
	must(t, w.Verify(ctx))
	var early *engine.Conflict
	if err := w.Checkpoint(ctx, nil, 2, nil); !errors.As(err, &early) {
		t.Errorf("a checkpoint of a record that does not exist: %v", err)
	}
	if err := w.Checkpoint(ctx, nil, 0, nil); !errors.As(err, &early) {
		t.Errorf("a checkpoint before the last one: %v", err)
	}
}

// TestDecodeShared cuts and extends the state in a checkpoint.
func TestDecodeShared(t *testing.T) {
	records := []Record{{LSN: 8, Kind: 1, Payload: []byte("one")}, {LSN: 9, Kind: 2}, {LSN: 10, Kind: 3, Payload: []byte("three")}}
	m := manifest{upTo: 7, next: 3, payload: []byte("payload"), segments: []manifestEntry{{id: 2, size: 100, crc: 5}}}
	whole := encodeShared(m, records)
	got, back, err := decodeShared(whole)
	if err != nil || got.upTo != 7 || string(got.payload) != "payload" || len(got.segments) != 1 || len(back) != len(records) {
		t.Fatalf("decoded %+v, %d records, %v", got, len(back), err)
	}
	for i, r := range back {
		if want := records[i]; r.LSN != want.LSN || r.Kind != want.Kind || !bytes.Equal(r.Payload, want.Payload) {
			t.Errorf("record %d is %+v, want %+v", i, r, want)
		}
	}
	manifestEnd := len(encodeShared(m, nil))
	for n := range whole {
		_, back, err := decodeShared(whole[:n])
		var corrupt *engine.Corrupt
		switch {
		case err != nil && !errors.As(err, &corrupt):
			t.Errorf("%d of %d bytes: %v (%T)", n, len(whole), err, err)
		case err == nil && (n < manifestEnd || len(back) >= len(records)):
			t.Errorf("%d of %d bytes: no error", n, len(whole))
		}
	}
	for i := range manifestEnd {
		damaged := bytes.Clone(whole)
		damaged[i] ^= 1
		if _, _, err := decodeShared(damaged); err == nil {
			t.Errorf("byte %d of the manifest is damaged: no error", i)
		}
	}
}
