package embedded

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// TestAnchorIsLaidOutAnew begins a branch at a state of the past that was restored from an
// anchor before a rewrite. The rewrite then replaced the anchor with another form and removed
// its segments.
func TestAnchorIsLaidOutAnew(t *testing.T) {
	ctx := context.Background()
	fsys := fs.NewMem()
	opts := Options{quiet: true, sparse: 8, indexed: 1}
	g := create(t, fsys, opts)
	must(t, loadText(g, engine.Merge, manyPeople(0, 100)))
	must(t, g.checkpoints.make(ctx))
	for i := range 32 {
		_, err := g.Mutate(ctx, deletePerson, engine.Args{str(fmt.Sprintf("p%06d", i))}, engine.WriteOptions{})
		must(t, err)
	}
	// A cleanup stores the state, with the unused rows that deleted entities leave, and makes the
	// head an anchor.
	_, err := g.Cleanup(ctx, engine.CleanupOptions{})
	must(t, err)
	_, err = g.CreateBranch(ctx, "side", engine.Target{})
	must(t, err)
	// At first the branch `side` has too few holes for a rewrite.
	was := remembered{}
	_, err = g.Load(ctx, strings.NewReader(manyPeople(100, 10)), engine.LoadOptions{Mode: engine.Merge, WriteOptions: engine.WriteOptions{Branch: "side"}})
	must(t, err)
	was.note(g)
	few := g.branches.byName["side"].tip.snap.Commit.ID
	for i := range 3 {
		_, err := g.Mutate(ctx, deletePerson, engine.Args{str(fmt.Sprintf("p%06d", 100+i))}, engine.WriteOptions{Branch: "side"})
		must(t, err)
	}
	was.check(t, g, "before the rewrite", nil)
	layout := g.branches.main.tip.snap
	must(t, g.checkpoints.make(ctx))
	if g.branches.main.tip.snap.Nodes(0).Ordinals() == layout.Nodes(0).Ordinals() {
		t.Fatal("nothing was laid out anew")
	}
	_, err = g.CreateBranch(ctx, "again", engine.Target{Commit: few})
	must(t, err)
	must(t, g.checkpoints.make(ctx))
	was.check(t, g, "after the rewrite", nil)
	must(t, g.Close())
	g, err = Open(ctx, fsys, dir, opts)
	must(t, err)
	defer g.Close()
	was.check(t, g, "opened again", nil)
	must(t, g.Verify(ctx))
}
