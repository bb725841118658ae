package embedded

import (
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// TestCommitIsShown asks a follower for a commit while the follower is about to make it the head of
// its branch. The answer must wait until readers of the branch see the commit.
func TestCommitIsShown(t *testing.T) {
	ctx := t.Context()
	bucket, err := object.NewFolder(fs.NewMem(), "bucket")
	if err != nil {
		t.Fatal(err)
	}
	writer := createShared(t, placeIn(bucket), crashOptions)
	if err := loadText(writer, engine.Merge, manyPeople(0, 2)); err != nil {
		t.Fatal(err)
	}
	f := follow(t, placeIn(bucket), crashOptions)
	reader := caughtUp(t, f)
	made, err := writer.Mutate(ctx, addTwo, engine.Args{str("zoe"), str("p000000"), str("z")}, engine.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}

	main := reader.branches.main
	main.mu.Lock() // no commit becomes the head until the test unlocks it
	replayed := make(chan error, 1)
	go func() { replayed <- f.CatchUp(ctx) }()
	for deadline := clock.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		if _, known := reader.history.Number(made.Commit.ID); known {
			break
		}
		if clock.Now().After(deadline) {
			main.mu.Unlock()
			t.Fatal("for 20 seconds the follower did not read the commit")
		}
	}
	head := make(chan string, 1)
	go func() {
		if _, err := reader.Commit(ctx, made.Commit.ID); err != nil {
			head <- err.Error()
			return
		}
		head <- main.head.Load().snap.Commit.ID
	}()
	time.Sleep(10 * time.Millisecond)
	main.mu.Unlock()
	if got := <-head; got != made.Commit.ID {
		t.Errorf("after Commit(%s) the head is %s", made.Commit.ID, got)
	}
	if err := <-replayed; err != nil {
		t.Error(err)
	}
}
