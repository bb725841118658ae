package embedded

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// TestVerifyBesideAll verifies a graph while cleanups, rewrites and checkpoints run, loads
// fail, and branches begin at commits of the past.
func TestVerifyBesideAll(t *testing.T) {
	ctx := context.Background()
	g := create(t, fs.NewMem(), crashOptions)
	must(t, loadText(g, engine.Merge, manyPeople(0, 60)))
	must(t, loadText(g, engine.Merge, `{"type":"Note","data":{"id":"n1","text":"hello"}}`))
	var wg sync.WaitGroup
	var stop atomic.Bool
	turns := map[string]*atomic.Int64{}
	loop := func(what string, f func(i int) error) {
		turns[what] = new(atomic.Int64)
		n := turns[what]
		wg.Go(func() {
			for i := 0; !stop.Load(); i++ {
				if err := f(i); err != nil {
					t.Errorf("%s: %v", what, err)
					return
				}
				n.Add(1)
			}
		})
	}
	gone := func(err error) error {
		if missing := (*engine.NotFound)(nil); errors.As(err, &missing) {
			return nil
		}
		return err
	}
	loop("verify", func(int) error { return g.Verify(ctx) })
	loop("cleanup", func(i int) error {
		_, err := g.Cleanup(ctx, engine.CleanupOptions{KeepCommits: 3 + i%5})
		return err
	})
	loop("checkpoint", func(int) error { return g.checkpoints.make(ctx) })
	loop("write", func(i int) error {
		if err := loadText(g, engine.Merge, fmt.Sprintf(`{"type":"Note","data":{"id":"t%d","text":"hello %d"}}`, i%50, i)); err != nil {
			return err
		}
		if _, err := search(g, "hello"); err != nil {
			return err
		}
		if i%7 == 0 {
			return loadText(g, engine.Merge, manyPeople(i%90, 30))
		}
		_, err := g.Mutate(ctx, deletePerson, engine.Args{str(fmt.Sprintf("p%06d", i%120))}, engine.WriteOptions{})
		return err
	})
	loop("failing load", func(i int) error {
		err := loadText(g, engine.Merge, manyPeople(i%90, 30)+`{"edge":"Knows","from":"nobody","to":"none"}`)
		if bad := (*engine.LoadErrors)(nil); !errors.As(err, &bad) {
			return fmt.Errorf("it does not fail: %w", err)
		}
		return nil
	})
	loop("branch of the past", func(int) error {
		line, err := g.Commits(ctx, "", engine.CommitRange{Limit: 6})
		if err != nil {
			return err
		}
		at := line[len(line)-1].ID
		if _, err := g.Changes(ctx, at, engine.ChangeRange{}); gone(err) != nil {
			return err
		}
		if _, err := g.CreateBranch(ctx, "side", engine.Target{Commit: at}); err != nil {
			return gone(err)
		}
		return g.DeleteBranch(ctx, "side")
	})
	time.Sleep(time.Second)
	stop.Store(true)
	wg.Wait()
	for what, n := range turns {
		if n.Load() == 0 {
			t.Errorf("%s: it never ended", what)
		}
	}
	must(t, g.Verify(ctx))
}
