package embedded

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs/faultfs"
)

// TestIndexOfThePast begins a branch at an anchor that stays in memory and shares its indexes with
// later heads. Those indexes were stored after the anchor, and removed when the head got new ones.
// The graph must be intact when it is opened again.
func TestIndexOfThePast(t *testing.T) {
	ctx := context.Background()
	defer func(full int) { index.FullLevel = full }(index.FullLevel)
	index.FullLevel = 1 << 20 // so that the checkpoints replace the index
	fsys := fs.NewMem()
	opts := Options{InlineBytes: 4000, quiet: true, indexed: 200}
	g := create(t, fsys, opts)
	if err := loadText(g, engine.Merge, manyPeople(0, 100)); err != nil {
		t.Fatal(err)
	}
	first := g.branches.main.tip.snap
	was := remembered{}
	was.note(g)
	checkpoint := func(what string) {
		t.Helper()
		if err := g.checkpoints.make(ctx); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	checkpoint("the anchor")
	people := 100
	grow := func(to int) {
		t.Helper()
		for ; people < to; people += 20 {
			if err := loadText(g, engine.Merge, manyPeople(people, 20)); err != nil {
				t.Fatal(err)
			}
		}
	}
	stored := func() string {
		names := g.branches.main.tip.snap.Nodes(0).Stored()
		if rows := len(g.branches.main.tip.snap.Nodes(0).Segs); len(names) > rows {
			return names[rows]
		}
		return ""
	}
	grow(300)
	checkpoint("enough people for an index")
	before := stored()
	grow(1700)
	checkpoint("another index")
	if after := stored(); before == "" || after == before {
		t.Fatalf("the index is in segment %q, then %q", before, after)
	}
	id, err := segmentID(before)
	if err != nil {
		t.Fatal(err)
	}
	if _, there := g.store.Sizes()[id]; there {
		t.Fatalf("segment %s is still there", before)
	}
	if _, err := g.CreateBranch(ctx, "side", engine.Target{Commit: first.Commit.ID}); err != nil {
		t.Fatal(err)
	}
	checkpoint("the branch")
	was.note(g)
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	g, err = Open(ctx, fsys, dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	was.check(t, g, "opened again", nil)
	if err := g.Verify(ctx); err != nil {
		t.Error(err)
	}
}

// TestTextIndexOfAFailedManifest keeps a state of the past. The text index of the state was stored
// for a manifest, but writing the manifest failed. The state must be read back without a stored
// index.
func TestTextIndexOfAFailedManifest(t *testing.T) {
	ctx := context.Background()
	mem := fs.NewMem()
	failing := false
	opts := Options{InlineBytes: 400, quiet: true, indexed: 1}
	g := create(t, faultfs.New(mem, func(op faultfs.Op) *faultfs.Fault {
		if failing && op.Kind == faultfs.OpRename && strings.Contains(op.Name, "manifest") {
			return &faultfs.Fault{Err: errors.New("lost")}
		}
		return nil
	}), opts)
	note := func(text string) {
		t.Helper()
		must(t, loadText(g, engine.Merge, `{"type":"Note","data":{"id":"`+text+`","text":"hello `+text+`"}}`))
		_, err := search(g, "hello")
		must(t, err)
	}
	note("one")
	failing = true
	if err := g.checkpoints.make(ctx); err == nil {
		t.Fatal("the manifest did not fail")
	}
	failing = false
	// These rows are too large for a record, so their commit becomes an anchor.
	must(t, loadText(g, engine.Merge, manyPeople(0, 20)))
	was := remembered{}
	was.note(g)
	id := g.branches.main.tip.snap.Commit.ID
	if !g.retention.anchored(id) {
		t.Fatal("the load is no anchor")
	}
	note("two")
	note("three")
	must(t, g.checkpoints.make(ctx))
	must(t, g.Close())
	g, err := Open(ctx, mem, dir, opts)
	must(t, err)
	defer g.Close()
	was.check(t, g, "opened again", nil)
	must(t, g.Verify(ctx))
}

// TestCloseStoresIndexes closes a graph after a load. The load writes little to the log. The next
// Open must read the stored indexes instead of building them.
func TestCloseStoresIndexes(t *testing.T) {
	fsys := fs.NewMem()
	opts := Options{InlineBytes: 4000, quiet: true, indexed: 200}
	g := create(t, fsys, opts)
	must(t, loadText(g, engine.Merge, manyPeople(0, 1000)))
	must(t, g.Close())
	g, err := Open(t.Context(), fsys, dir, opts)
	must(t, err)
	people := g.branches.main.tip.snap.Nodes(0)
	if names := people.Stored(); len(names) != len(people.Segs)+1 {
		t.Errorf("the table of persons is stored in %q, which does not include its indexes", names)
	}
	made := g.checkpoints.counts.checkpoints.Load()
	must(t, g.Close())
	if n := g.checkpoints.counts.checkpoints.Load(); n != made {
		t.Error("closing a graph whose indexes are stored makes a checkpoint")
	}
}
