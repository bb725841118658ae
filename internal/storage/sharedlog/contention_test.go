package sharedlog_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
	"github.com/omnigraph-go/omnigraph/internal/storage/sharedlog"
)

// TestContention runs several servers in goroutines. They take the log from each other, announce
// checkpoints and collect the log. The log must have every record exactly once.
func TestContention(t *testing.T) {
	folder, err := object.NewFolder(fs.OS(), t.TempDir())
	must(t, err)
	for name, b := range map[string]object.Bucket{"memory": &object.Memory{}, "folder": folder} {
		t.Run(name, func(t *testing.T) {
			const servers, each = 4, 15
			var group sync.WaitGroup
			for i := range servers {
				group.Go(func() {
					for j := range each {
						if err := storeOnce(t.Context(), b, fmt.Sprintf("%d-%d", i, j), j%4 == 0); err != nil {
							t.Error(err)
						}
					}
				})
			}
			group.Wait()
			records := open(t, b).state.records
			if sorted := slices.Compact(slices.Sorted(slices.Values(records))); len(records) != servers*each || len(sorted) != servers*each {
				t.Errorf("the log has %d records, %d of them different; want %d", len(records), len(sorted), servers*each)
			}
		})
	}
}

// storeOnce takes over the log again and again until it has stored the record. If `checkpoint` is
// true, it then makes and announces a checkpoint and collects the log.
func storeOnce(ctx context.Context, b object.Bucket, record string, checkpoint bool) error {
	for range 1000 {
		state := &texts{}
		o := options(b, state)
		o.Patience = time.Minute
		f, err := sharedlog.Open(ctx, o)
		if err != nil {
			return err
		}
		if slices.Contains(state.records, record) {
			return nil
		}
		w, err := f.TakeOver(ctx)
		if err == nil {
			err = w.Append(ctx, [][]byte{[]byte(record)})
		}
		if err == nil && checkpoint {
			var c *sharedlog.Checkpoint
			if c, err = w.Capture(); err == nil {
				err = c.Store(ctx, state.encode())
			}
			if err == nil {
				err = w.Announce(ctx, c, nil)
			}
			if err == nil {
				_, err = collect(ctx, f, nil)
			}
		}
		if err != nil && !errors.Is(err, sharedlog.ErrLost) && !errors.Is(err, sharedlog.ErrBehind) {
			return err
		}
	}
	return fmt.Errorf("record %s was not stored in 1000 attempts", record)
}
