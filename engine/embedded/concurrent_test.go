package embedded

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// TestConcurrent runs sixteen writers and four readers concurrently with checkpoints. The sequence
// numbers of commits must have no gaps, a reader must never see fewer persons than before, and all
// persons must be there when the graph is opened again.
func TestConcurrent(t *testing.T) {
	const writers, each = 16, 40
	ctx := context.Background()
	fsys := fs.NewMem()
	g := create(t, fsys, Options{LogSize: 1 << 16, CheckpointBytes: 4096, InlineBytes: 2048, Failed: func(err error) { t.Errorf("checkpoint: %v", err) }})
	var writing, reading sync.WaitGroup
	seqs := make(chan uint64, writers*each)
	for w := range writers {
		writing.Go(func() {
			for i := range each {
				c, err := g.Mutate(ctx, insertPerson, engine.Args{str(fmt.Sprintf("w%02d-%03d", w, i)), num(i)}, engine.WriteOptions{})
				if err != nil {
					t.Error(err)
					return
				}
				seqs <- c.Commit.Seq
				if w == 0 && i%10 == 0 {
					if err := loadText(g, engine.Merge, manyPeople(i*100, 30)); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	done := make(chan struct{})
	for range 4 {
		reading.Go(func() {
			seen := 0
			for {
				select {
				case <-done:
					return
				default:
				}
				r, err := g.Query(ctx, allPeople, nil, engine.Target{})
				if err != nil {
					t.Error(err)
					return
				}
				n, err := drain(ctx, r)
				if err != nil || n < seen {
					t.Errorf("a reader saw %d persons after %d, error %v", n, seen, err)
					return
				}
				seen = n
			}
		})
	}
	writing.Wait()
	close(done)
	reading.Wait()
	close(seqs)
	taken := map[uint64]bool{}
	for s := range seqs {
		if taken[s] {
			t.Errorf("two commits have number %d", s)
		}
		taken[s] = true
	}
	head := g.branches.main.head.Load().snap
	if want := uint64(1 + writers*each + 4); head.Commit.Seq != want {
		t.Errorf("the head has number %d, want %d", head.Commit.Seq, want)
	}
	want := dump(head)
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(ctx, fsys, dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if got := dump(again.branches.main.head.Load().snap); got != want {
		t.Errorf("after a reopen the graph has %d bytes of dump, want %d", len(got), len(want))
	}
}

// TestSnapshotIsolation keeps a result open during a later commit and after the graph is
// closed.
func TestSnapshotIsolation(t *testing.T) {
	ctx := context.Background()
	g := create(t, fs.NewMem(), Options{LogSize: 8192})
	if err := loadText(g, engine.Merge, manyPeople(0, 3000)); err != nil {
		t.Fatal(err)
	}
	r, err := g.Query(ctx, allPeople, nil, engine.Target{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Mutate(ctx, deletePerson, engine.Args{str("p002999")}, engine.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	if n, err := drain(ctx, r); n != 3000 || err != nil {
		t.Errorf("the result has %d rows, error %v; want 3000", n, err)
	}
	if err := r.Close(); err != nil {
		t.Errorf("closing twice: %v", err)
	}
}
