package embedded

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/slow"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// synchronising loads lines in the mode sync, with approval.
func synchronising(branch, source, text string, approve int64) deed {
	return deed{"Load", func(g *Graph) error {
		_, err := synchronise(g, branch, source, text, approve)
		return err
	}}
}

// synchronise loads lines in the mode sync.
func synchronise(g *Graph, branch, source, text string, approve int64) (*engine.LoadResult, error) {
	return g.Load(context.Background(), strings.NewReader(text), engine.LoadOptions{Mode: engine.Sync, WriteOptions: on(branch),
		Sync: engine.SyncOptions{Source: source, Types: []string{"Person", "Knows"}, Yield: []string{"Person.age", "Person.city"}, ApproveDeletes: approve}})
}

// exported returns the export of a branch.
func exported(t *testing.T, g *Graph, branch string) string {
	t.Helper()
	var b strings.Builder
	must1(g.Export(t.Context(), &b, engine.Target{Branch: branch}, engine.ExportOptions{}))
	return b.String()
}

// sources returns the export of the main branch, which says which sources claim an entity.
func sources(g *Graph) string {
	var b strings.Builder
	must1(g.Export(context.Background(), &b, engine.Target{}, engine.ExportOptions{}))
	return b.String()
}

// TestSyncManyLetGo synchronises an input that is large enough for segments and lets go of many entities at the same time. The
// operations are more than a record takes, so they go to segments of their own.
func TestSyncManyLetGo(t *testing.T) {
	slow.Test(t)
	ctx := t.Context()
	mem := fs.NewMem()
	o := Options{Now: testClock, quiet: true, InlineBytes: 4096}
	feed := func(from, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `{"type":"Person","data":{"name":"%s%06d"}}`+"\n", strings.Repeat("x", 1000), from+i)
		}
		return b.String()
	}
	const half = 20_000 // entities, of a kilobyte each
	g := create(t, mem, o)
	must1(synchronise(g, "", "crm", feed(0, 2*half), 0))
	res := must1(synchronise(g, "", "crm", feed(0, half)+feed(2*half, half/2), half))
	if res.Sync.Deleted != half || res.Effects.Nodes.Inserted != half/2 {
		t.Fatalf("the sync deleted %d and inserted %d", res.Sync.Deleted, res.Effects.Nodes.Inserted)
	}
	persons := func(g *Graph) uint32 { return g.branches.main.head.Load().snap.Nodes(0).Live() }
	if n := persons(g); n != half+half/2 {
		t.Fatalf("%d persons after the sync", n)
	}
	must(t, g.Close())
	again := must1(Open(ctx, mem, dir, o))
	defer again.Close()
	if n := persons(again); n != half+half/2 {
		t.Fatalf("%d persons after a reopen", n)
	}
	must(t, again.Verify(ctx))
}

// TestSyncBulk synchronises inputs that are large enough for segments, and that let go of entities at the same time. It opens a
// copy of the folder, which replays the log, and the folder after a checkpoint.
func TestSyncBulk(t *testing.T) {
	for _, o := range []Options{crashOptions, {Now: testClock, quiet: true, InlineBytes: 4096}, {Now: testClock, quiet: true}} {
		home := filepath.Join(t.TempDir(), "graph")
		g := must1(Create(t.Context(), fs.OS(), home, "// people", people(), o))
		sync := func(source, text string, approve, released, deleted int64) *engine.LoadResult {
			t.Helper()
			res := must1(synchronise(g, "", source, text, approve))
			if res.Sync.Released != released || res.Sync.Deleted != deleted {
				t.Errorf("the sync released %d and deleted %d, expected %d and %d", res.Sync.Released, res.Sync.Deleted, released, deleted)
			}
			return res
		}
		sync("crm", manyPeople(0, 400), 0, 0, 0)
		if res := sync("crm", manyPeople(0, 400), 0, 0, 0); res.Commit != nil {
			t.Errorf("the same input commits %+v", res.Effects)
		}
		must(t, loading("", engine.Merge, manyPeople(390, 300)).do(g)) // a bulk load keeps the sources
		sync("crm", manyPeople(10, 390)+manyPeople(1000, 200), 0, 0, 20)
		must(t, synchronising("", "erp", manyPeople(300, 20), 0).do(g))
		sync("crm", manyPeople(40, 260)+manyPeople(1000, 400), 0, 39, 220) // p000399 has an edge of the merge
		want := exported(t, g, "")
		if n := strings.Count(want, `"sources":"+crm:age,city"`); n != 260+400+1 {
			t.Errorf("%d persons belong to crm alone, expected 661", n)
		}
		copied := filepath.Join(t.TempDir(), "copy")
		must(t, os.CopyFS(copied, os.DirFS(home)))
		replayed := must1(Open(t.Context(), fs.OS(), copied, o))
		if got := exported(t, replayed, ""); got != want {
			t.Errorf("after a replay of the log the graph is\n%s\nwant\n%s", got, want)
		}
		must(t, replayed.Verify(t.Context()))
		must(t, replayed.Close())
		must(t, g.Close())
		g = must1(Open(t.Context(), fs.OS(), home, o))
		if got := exported(t, g, ""); got != want {
			t.Errorf("after a reopen the graph is\n%s\nwant\n%s", got, want)
		}
		must(t, g.Close())
	}
}
