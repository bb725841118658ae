package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs/faultfs"
)

var tiny = Options{LogSize: minLogSize}

// eachFS runs a test on each kind of file system.
func eachFS(t *testing.T, f func(t *testing.T, fsys fs.FS, dir string)) {
	t.Run("mem", func(t *testing.T) { f(t, fs.NewMem(), "/graph") })
	t.Run("os", func(t *testing.T) { f(t, fs.OS(), filepath.Join(t.TempDir(), "a", "graph")) })
}

func TestReopen(t *testing.T) {
	eachFS(t, func(t *testing.T, fsys fs.FS, dir string) {
		ctx := t.Context()
		opts := tiny
		opts.Manifest = []byte("empty")
		s := create(t, fsys, dir, opts)
		for i := range 40 {
			lsn, err := s.Append(ctx, uint8(i), payload(i))
			if err != nil || lsn != uint64(i+1) {
				t.Fatalf("append %d: lsn %d, %v", i, lsn, err)
			}
		}
		must(t, s.Verify(ctx))
		must(t, s.Close())
		must(t, Verify(ctx, fsys, dir))

		s, rec := reopen(t, fsys, dir, tiny)
		if string(rec.Manifest) != "empty" || rec.ManifestLSN != 0 || len(rec.Records) != 40 {
			t.Fatalf("manifest %q up to %d, %d records", rec.Manifest, rec.ManifestLSN, len(rec.Records))
		}
		for i, r := range rec.Records {
			if r.LSN != uint64(i+1) || r.Kind != uint8(i) || !bytes.Equal(r.Payload, payload(i)) {
				t.Fatalf("record %d is %d of kind %d with %q", i, r.LSN, r.Kind, r.Payload)
			}
		}
		if lsn, err := s.Append(ctx, 0, nil); err != nil || lsn != 41 {
			t.Fatalf("append after reopen: lsn %d, %v", lsn, err)
		}
		must(t, s.Close())
	})
}

func TestSegmentBlocks(t *testing.T) {
	eachFS(t, func(t *testing.T, fsys fs.FS, dir string) {
		ctx := t.Context()
		s := create(t, fsys, dir, tiny)
		defer s.Close()
		blocks := map[string][]byte{}
		for _, n := range []int{0, 1, 63, 64, 65, pieceSize - 1, pieceSize, pieceSize + 1, 3*pieceSize + 100} {
			blocks[fmt.Sprint("block ", n)] = pattern(n)
		}
		id, err := s.WriteSegment(ctx, func(w *SegmentWriter) error {
			for name, data := range blocks {
				if err := w.AddBlock(name, data); err != nil {
					return err
				}
			}
			return nil
		})
		must(t, err)
		seg, err := s.OpenSegment(ctx, id)
		must(t, err)
		if got := len(seg.Blocks()); got != len(blocks) {
			t.Errorf("%d blocks, expected %d", got, len(blocks))
		}
		for name, want := range blocks {
			got, err := seg.Block(name)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: %d bytes, %v", name, len(got), err)
			}
		}
		again, err := s.OpenSegment(ctx, id) // no block is verified yet
		must(t, err)
		for name, want := range blocks {
			p, err := again.Pieces(name)
			must(t, err)
			if p.Len() != len(want) {
				t.Errorf("%s: %d bytes in pieces, expected %d", name, p.Len(), len(want))
			}
			for _, r := range [][2]int{{0, 0}, {0, min(1, len(want))}, {max(0, len(want)-65), len(want)}, {len(want) / 3, len(want) / 2}, {0, len(want)}} {
				if got, err := p.Range(r[0], r[1]); err != nil || !bytes.Equal(got, want[r[0]:r[1]]) {
					t.Errorf("%s, range %v: %d bytes, %v", name, r, len(got), err)
				}
			}
		}
		var notFound *engine.NotFound
		if _, err := seg.Pieces("none"); !errors.As(err, &notFound) {
			t.Errorf("pieces of a missing block: %v", err)
		}
		if _, err := seg.Block("none"); !errors.As(err, &notFound) {
			t.Errorf("a missing block: %v", err)
		}
		must(t, s.Verify(ctx))
		var conflict *engine.Conflict
		_, err = s.WriteSegment(ctx, func(w *SegmentWriter) error {
			return errors.Join(w.AddBlock("a", nil), w.AddBlock("a", nil))
		})
		if !errors.As(err, &conflict) {
			t.Errorf("the same name twice: %v", err)
		}
		noTemps(t, fsys, dir)
	})
}

// TestCheckpoint checks which files of a store exist after each checkpoint.
func TestCheckpoint(t *testing.T) {
	eachFS(t, func(t *testing.T, fsys fs.FS, dir string) {
		ctx := t.Context()
		s := create(t, fsys, dir, tiny)
		named, orphan, failed := segment(t, s, 1), segment(t, s, 2), segment(t, s, 3)
		for i := range 40 {
			var ids []SegmentID
			if i == 0 {
				ids = []SegmentID{named}
			}
			_, err := s.Append(ctx, 0, payload(i), ids...)
			must(t, err)
		}
		must(t, s.RemoveSegment(failed))
		wantFiles(t, fsys, dir, "after 40 records", 0, 2, 1)
		var conflict *engine.Conflict
		if err := s.RemoveSegment(named); !errors.As(err, &conflict) {
			t.Errorf("removing a segment in use: %v", err)
		}

		must(t, s.Checkpoint(ctx, []byte("one"), 40, []SegmentID{named}))
		wantFiles(t, fsys, dir, "after the first checkpoint", 3, 2, 1)
		next := segment(t, s, 4)
		_, err := s.Append(ctx, 0, []byte("names next"), next)
		must(t, err)
		must(t, s.Checkpoint(ctx, []byte("two"), 40, nil))
		wantFiles(t, fsys, dir, "after a checkpoint before the last record", 3, 2, 1)

		for _, bad := range []uint64{42, 39} {
			if err := s.Checkpoint(ctx, nil, bad, nil); !errors.As(err, &conflict) {
				t.Errorf("checkpoint up to %d: %v", bad, err)
			}
		}
		must(t, s.Close())

		s, rec := reopen(t, fsys, dir, tiny)
		if string(rec.Manifest) != "two" || rec.ManifestLSN != 40 || len(rec.Records) != 1 || rec.Records[0].LSN != 41 {
			t.Fatalf("recovered %+v", rec)
		}
		must(t, s.Checkpoint(ctx, []byte("two again"), 40, nil))
		seg, err := s.OpenSegment(ctx, next)
		must(t, err)
		must(t, s.Checkpoint(ctx, []byte("three"), 41, nil))
		wantFiles(t, fsys, dir, "after the last checkpoint", 3, 0, 1)
		if data, err := seg.Block("data"); err != nil || !bytes.Equal(data, pattern(4)) {
			t.Errorf("a removed segment that is open: %d bytes, %v", len(data), err)
		}
		must(t, s.Close())
		s, _ = reopen(t, fsys, dir, tiny)
		if again := segment(t, s, 5); again <= orphan || again <= next {
			t.Errorf("segment number %d is used again", again)
		}
		must(t, s.Close())
	})
}

// TestRecycledFiles fills recycled log files. The old frames in them must not reappear.
func TestRecycledFiles(t *testing.T) {
	mem := fs.NewMem()
	s := create(t, mem, "/g", tiny)
	n := 0
	for round := range 20 {
		for range 30 {
			_, err := s.Append(t.Context(), 0, payload(n))
			must(t, err)
			n++
		}
		must(t, s.Checkpoint(t.Context(), nil, uint64(n-round%7), nil))
		must(t, s.Verify(t.Context()))
		must(t, s.Close())
		var rec *Recovered
		s, rec = reopen(t, mem, "/g", tiny)
		if len(rec.Records) != round%7 {
			t.Fatalf("round %d: %d records", round, len(rec.Records))
		}
	}
	must(t, s.Close())
}

func TestRecordSizes(t *testing.T) {
	eachFS(t, func(t *testing.T, fsys fs.FS, dir string) {
		s := create(t, fsys, dir, tiny)
		sizes := []int{0, 1, 7, 8, 9, 4096 - frameHeaderSize, 4096, 100_000, 3, MaxPayload, 5}
		for _, n := range sizes {
			_, err := s.Append(t.Context(), 0, pattern(n))
			must(t, err)
		}
		var large *engine.TooLarge
		if _, err := s.Append(t.Context(), 0, make([]byte, MaxPayload+1)); !errors.As(err, &large) {
			t.Errorf("a record of more than the limit: %v", err)
		}
		must(t, s.Close())
		s, rec := reopen(t, fsys, dir, tiny)
		for i, n := range sizes {
			if !bytes.Equal(rec.Records[i].Payload, pattern(n)) {
				t.Errorf("the record of %d bytes differs from the written one", n)
			}
		}
		must(t, s.Checkpoint(t.Context(), nil, uint64(len(sizes)), nil))
		must(t, s.Close())
	})
}

// TestOrder runs goroutines that enqueue records while they hold a lock of the test, and wait after
// they have released it. The log must have the records in the order of the enqueue calls.
func TestOrder(t *testing.T) {
	eachFS(t, func(t *testing.T, fsys fs.FS, dir string) {
		s := create(t, fsys, dir, Options{LogSize: 1 << 16})
		var mu sync.Mutex
		var order []string
		var wg sync.WaitGroup
		for g := range 16 {
			wg.Go(func() {
				for i := range 50 {
					text := fmt.Sprint(g, "/", i)
					mu.Lock()
					ticket, err := s.Enqueue(1, []byte(text))
					order = append(order, text)
					mu.Unlock()
					if err == nil {
						err = s.Wait(ticket)
					}
					if err != nil {
						t.Error(err)
					} else if s.Durable() < ticket.LSN {
						t.Errorf("record %d is acknowledged, %d are durable", ticket.LSN, s.Durable())
					}
				}
			})
		}
		for range 20 {
			must(t, s.Verify(t.Context()))
		}
		wg.Wait()
		for i := range 3 {
			_, err := s.Enqueue(1, fmt.Append(nil, "not waited for ", i))
			must(t, err)
			order = append(order, fmt.Sprint("not waited for ", i))
		}
		must(t, s.Close())
		_, err := s.Enqueue(1, nil)
		wantUnavailable(t, err, "closed")
		s, rec := reopen(t, fsys, dir, tiny)
		defer s.Close()
		if len(rec.Records) != len(order) {
			t.Fatalf("%d records, expected %d", len(rec.Records), len(order))
		}
		for i, r := range rec.Records {
			if string(r.Payload) != order[i] {
				t.Fatalf("record %d is %q, expected %q", r.LSN, r.Payload, order[i])
			}
		}
	})
}

// TestPoison makes a sync fail. The synced record may or may not be durable. The record after it
// must not have been written, and the log must accept no more records.
func TestPoison(t *testing.T) {
	mem := fs.NewMem()
	failing := false
	faulty := faultfs.New(mem, func(op faultfs.Op) *faultfs.Fault {
		if failing && op.Kind == faultfs.OpSync {
			failing = false
			return &faultfs.Fault{Err: syscall.EIO}
		}
		return nil
	})
	s := create(t, faulty, "/g", tiny)
	a, err := s.Enqueue(1, pattern(3000))
	must(t, err)
	b, err := s.Enqueue(1, pattern(3001))
	must(t, err)
	failing = true
	var lost *engine.Indeterminate
	if err := s.Wait(a); !errors.As(err, &lost) || !errors.Is(err, syscall.EIO) {
		t.Errorf("the record that was written: %v", err)
	}
	err = s.Wait(b)
	wantUnavailable(t, err, "log")
	if errors.As(err, &lost) || !errors.Is(err, syscall.EIO) {
		t.Errorf("the record that was not written: %v", err)
	}
	_, err = s.Append(t.Context(), 1, nil)
	wantUnavailable(t, err, "open the graph again")
	must(t, s.Close())
	s, rec := reopen(t, mem, "/g", tiny)
	if len(rec.Records) > 1 {
		t.Errorf("%d records, expected the first at most", len(rec.Records))
	}
	_, err = s.Append(t.Context(), 1, nil)
	must(t, err)
	must(t, s.Close())
}

// TestOtherLogSize opens a store with a different log file size than it was created with.
func TestOtherLogSize(t *testing.T) {
	mem := fs.NewMem()
	s := create(t, mem, "/g", tiny)
	n := 0
	for _, size := range []int64{minLogSize, 3 * minLogSize, 5000, minLogSize} {
		for range 60 {
			_, err := s.Append(t.Context(), 1, payload(n))
			must(t, err)
			n++
		}
		must(t, s.Checkpoint(t.Context(), nil, uint64(n-20), nil))
		must(t, s.Close())
		var rec *Recovered
		s, rec = reopen(t, mem, "/g", Options{LogSize: size})
		if len(rec.Records) != 20 {
			t.Fatalf("%d records", len(rec.Records))
		}
	}
	must(t, s.Close())
}

func TestExclusive(t *testing.T) {
	eachFS(t, func(t *testing.T, fsys fs.FS, dir string) {
		ctx := t.Context()
		var notFound *engine.NotFound
		if _, _, err := Open(ctx, fsys, dir, tiny); !errors.As(err, &notFound) {
			t.Errorf("a missing directory: %v", err)
		}
		s := create(t, fsys, dir, tiny)
		_, _, err := Open(ctx, fsys, dir, tiny)
		wantUnavailable(t, err, fmt.Sprint("process ", os.Getpid()))
		wantUnavailable(t, Verify(ctx, fsys, dir), fmt.Sprint("process ", os.Getpid()))
		must(t, s.Close())
		must(t, s.Close())
		var conflict *engine.Conflict
		if _, err := Create(ctx, fsys, dir, tiny); !errors.As(err, &conflict) {
			t.Errorf("creating a store twice: %v", err)
		}
		must(t, fsys.MkdirAll(filepath.Join(dir, "empty")))
		if _, _, err := Open(ctx, fsys, filepath.Join(dir, "empty"), tiny); !errors.As(err, &notFound) {
			t.Errorf("an empty directory: %v", err)
		}
		s, _ = reopen(t, fsys, dir, tiny)
		must(t, s.Close())
	})
}

func TestContext(t *testing.T) {
	mem := fs.NewMem()
	s := create(t, mem, "/g", tiny)
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	_, err := s.WriteSegment(ctx, func(w *SegmentWriter) error {
		cancel()
		return w.AddBlock("a", pattern(100))
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a segment: %v", err)
	}
	if _, err := s.Append(ctx, 0, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a record: %v", err)
	}
	if err := s.Checkpoint(ctx, nil, 0, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a checkpoint: %v", err)
	}
	if s.Durable() != 0 {
		t.Errorf("%d records", s.Durable())
	}
	noTemps(t, mem, "/g")
}

func create(t testing.TB, fsys fs.FS, dir string, opts Options) *Store {
	t.Helper()
	s, err := Create(context.Background(), fsys, dir, opts)
	must(t, err)
	return s
}

func reopen(t testing.TB, fsys fs.FS, dir string, opts Options) (*Store, *Recovered) {
	t.Helper()
	s, rec, err := Open(context.Background(), fsys, dir, opts)
	must(t, err)
	noTemps(t, fsys, dir)
	return s, rec
}

func segment(t testing.TB, s *Store, size int) SegmentID {
	t.Helper()
	id, err := s.WriteSegment(context.Background(), func(w *SegmentWriter) error {
		return w.AddBlock("data", pattern(size))
	})
	must(t, err)
	return id
}

func wantFiles(t *testing.T, fsys fs.FS, dir, when string, free, segments, manifests int) {
	t.Helper()
	names, err := fsys.List(dir)
	must(t, err)
	got := classify(names)
	if len(got.free) != free || len(got.segments) != segments || len(got.manifests) != manifests || len(got.temps) > 0 {
		t.Errorf("%s: %v, expected %d free log files, %d segments, %d manifests", when, names, free, segments, manifests)
	}
}

func noTemps(t testing.TB, fsys fs.FS, dir string) {
	t.Helper()
	names, err := fsys.List(dir)
	must(t, err)
	if temps := classify(names).temps; len(temps) > 0 {
		t.Errorf("left behind: %v", temps)
	}
}

func wantUnavailable(t *testing.T, err error, text string) {
	t.Helper()
	var unavailable *engine.Unavailable
	if !errors.As(err, &unavailable) || !strings.Contains(err.Error(), text) {
		t.Errorf("got %v, expected unavailable with %q", err, text)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// payload returns bytes that identify i.
func payload(i int) []byte { return bytes.Repeat(fmt.Appendf(nil, "record %d;", i), 1+i*7%60) }

// pattern returns n bytes, none of them zero.
func pattern(n int) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(i%251) + 1
	}
	return p
}
