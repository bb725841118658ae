package embedded

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// TestMergeLooksBeforeItLocks tests that a merge with rights to a part looks at all changes before it blocks other merges and the writers of
// the target.
func TestMergeLooksBeforeItLocks(t *testing.T) {
	ctx := context.Background()
	g, err := Create(ctx, fs.NewMem(), dir, "// people", people(), Options{quiet: true})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if _, err := g.CreateBranch(ctx, "side", engine.Target{}); err != nil {
		t.Fatal(err)
	}
	lines := strings.NewReader(`{"type":"Person","data":{"name":"ann","age":1,"city":"c"}}`)
	if _, err := g.Load(ctx, lines, engine.LoadOptions{WriteOptions: engine.WriteOptions{Branch: "side"}, Mode: engine.Merge}); err != nil {
		t.Fatal(err)
	}
	reads := &engine.Rights{Digest: "no notes", Nodes: map[string]*engine.TypeRights{"Note": {None: true}}}
	g.layout.Merging.Lock()
	merged := make(chan error, 1)
	go func() {
		_, err := g.Merge(ctx, "side", "main", engine.MergeOptions{ReadsSource: reads, ReadsTarget: reads})
		merged <- err
	}()
	looked := func() bool {
		g.compared.mu.Lock()
		defer g.compared.mu.Unlock()
		return slices.ContainsFunc(g.compared.kept, func(c comparison) bool { return strings.HasPrefix(c.key, "seen/") })
	}
	deadline := clock.Now().Add(20 * time.Second)
	for !looked() && clock.Now().Before(deadline) {
		time.Sleep(time.Millisecond)
	}
	if !looked() {
		t.Error("the merge does not look at its changes before it has the lock")
	}
	g.layout.Merging.Unlock()
	if err := <-merged; err != nil {
		t.Error(err)
	}
}
