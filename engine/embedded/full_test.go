package embedded

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs/faultfs"
)

// fullDisk is a disk that can be filled and emptied.
type fullDisk struct {
	fs    fs.FS
	home  string
	fill  func(t *testing.T)
	empty func(t *testing.T)
}

// quota returns a disk that, while it is full, refuses to create files and fails long writes
// after a third of their bytes. Short writes succeed, because they go to the log file in use,
// whose blocks are allocated already.
func quota(*testing.T) *fullDisk {
	var full atomic.Bool
	return &fullDisk{
		fs: faultfs.New(fs.NewMem(), func(op faultfs.Op) *faultfs.Fault {
			if full.Load() && (op.Kind == faultfs.OpCreate || op.Kind == faultfs.OpWrite && op.Len > 4096) {
				return &faultfs.Fault{Err: syscall.ENOSPC, Write: op.Len / 3}
			}
			return nil
		}),
		home: dir, fill: func(*testing.T) { full.Store(true) }, empty: func(*testing.T) { full.Store(false) },
	}
}

// eventually waits until f returns true, for at most 10 seconds.
func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for range 1000 {
		if f() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("after 10 seconds this is still not true: %s", what)
}

// TestFullDisk fills the disk of a graph in use. Writes must be refused with a *engine.Unavailable
// and leave nothing behind, reads must continue, and the graph must report a failure. When there is
// space again, the same graph must accept writes without another Open. A later Open must find
// exactly the acknowledged writes.
func TestFullDisk(t *testing.T) {
	for name, disk := range map[string]func(*testing.T) *fullDisk{"quota": quota, "tmpfs": tmpfs} {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			d := disk(t)
			opts := crashOptions
			opts.LogFailed = func(err error) { t.Errorf("the log failed: %v", err) }
			g, err := Create(ctx, d.fs, d.home, "// people", people(), opts)
			must(t, err)
			defer g.Close()
			var acked []string
			n := 0
			insert := func() error {
				n++
				name := fmt.Sprint("p", n)
				_, err := g.Mutate(ctx, insertPerson, engine.Args{str(name), num(n)}, engine.WriteOptions{})
				if err == nil {
					acked = append(acked, name)
				}
				return err
			}
			for range 3 {
				for range 20 {
					must(t, insert())
				}
				must(t, g.checkpoints.make(ctx))
				d.fill(t)
				refused := 0
				for range 400 {
					err := insert()
					if err == nil {
						continue // the log file in use still has space
					}
					var gone *engine.Unavailable
					if !errors.As(err, &gone) || !engine.IsRetryable(err) || !errors.Is(err, syscall.ENOSPC) {
						t.Fatalf("%v (%T), want *engine.Unavailable because there is no space", err, err)
					}
					if refused++; refused == 50 {
						break
					}
				}
				if refused < 50 {
					t.Fatalf("%d writes were refused: the disk is not full", refused)
				}
				// The disk may have space for less than a log file, so the load needs more than that.
				if err := loadText(g, engine.Append, manyPeople(10_000*n, 5000)); !errors.Is(err, syscall.ENOSPC) {
					t.Errorf("a load: %v, want it to be refused because there is no space", err)
				}
				if err := g.Failure(); err == nil || g.MustReopen() {
					t.Errorf("the graph says %v, must reopen %t", err, g.MustReopen())
				}
				if s, err := g.Snapshot(ctx, engine.Target{}); err != nil || s.Nodes[0].Count != int64(len(acked)) {
					t.Fatalf("%+v, %v; want %d persons", s, err, len(acked))
				}
				d.empty(t)
				eventually(t, "the graph takes writes", func() bool { return g.Failure() == nil })
			}
			must(t, insert())
			must(t, g.Verify(ctx))
			must(t, g.Close())
			g, err = Open(ctx, d.fs, d.home, crashOptions)
			must(t, err)
			defer g.Close()
			must(t, g.Verify(ctx))
			for _, p := range acked {
				if got, err := answer(g, personByName, engine.Args{str(p)}, ""); err != nil || got == "" {
					t.Errorf("%s was acknowledged and is lost: %v", p, err)
				}
			}
			if s, err := g.Snapshot(ctx, engine.Target{}); err != nil || s.Nodes[0].Count != int64(len(acked)) {
				t.Errorf("%+v, %v; want %d persons", s, err, len(acked))
			}
		})
	}
}

// TestOpenCloseOnFullDisk opens and closes a graph on a full disk. Both must succeed.
func TestOpenCloseOnFullDisk(t *testing.T) {
	for name, disk := range map[string]func(*testing.T) *fullDisk{"quota": quota, "tmpfs": tmpfs} {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			d := disk(t)
			g, err := Create(ctx, d.fs, d.home, "// people", people(), crashOptions)
			must(t, err)
			must(t, loadText(g, engine.Append, manyPeople(0, 300)))
			g.checkpoints.logged.Store(closeBytes + 1) // so that Close makes a checkpoint
			d.fill(t)
			must(t, g.Close())
			g, err = Open(ctx, d.fs, d.home, crashOptions)
			must(t, err)
			if s, err := g.Snapshot(ctx, engine.Target{}); err != nil || s.Nodes[0].Count != 300 {
				t.Errorf("%+v, %v; want 300 persons", s, err)
			}
			must(t, g.Close())
		})
	}
}
