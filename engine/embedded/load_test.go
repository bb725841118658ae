package embedded

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/newid"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// segments counts the segment files of a graph.
func segments(t *testing.T, fsys fs.FS) int {
	t.Helper()
	names, err := fsys.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, name := range names {
		if strings.HasSuffix(name, ".seg") {
			n++
		}
	}
	return n
}

// TestLoadLeavesNothing runs loads that make no commit. Afterwards there must be no segment files.
func TestLoadLeavesNothing(t *testing.T) {
	fsys := fs.NewMem()
	g := create(t, fsys, Options{InlineBytes: -1, quiet: true})
	text := manyPeople(0, 50)
	if err := loadText(g, engine.Merge, text); err != nil {
		t.Fatal(err)
	}
	before := segments(t, fsys)
	if before == 0 {
		t.Fatal("a large load stores no segment")
	}
	// The load stores the nodes before it finds an edge to a missing node.
	err := loadText(g, engine.Merge, manyPeople(100, 50)+`{"edge":"Knows","from":"p100","to":"nobody","data":{}}`+"\n")
	if !errors.As(err, new(*engine.LoadErrors)) {
		t.Errorf("an edge to nobody: %v", err)
	}
	nodes, _, _ := strings.Cut(text, `{"edge"`)
	// The same rows again change nothing.
	if err := loadText(g, engine.Merge, nodes); err != nil {
		t.Fatal(err)
	}
	res, err := g.Load(t.Context(), strings.NewReader(manyPeople(200, 50)), engine.LoadOptions{WriteOptions: engine.WriteOptions{DryRun: true}})
	if err != nil || res.Commit != nil {
		t.Errorf("a dry run: %+v, %v", res, err)
	}
	_, err = g.Load(t.Context(), strings.NewReader(manyPeople(300, 50)), engine.LoadOptions{WriteOptions: engine.WriteOptions{IfCommit: "01ARZ3NDEKTSV4RRFFQ69G5FAV"}})
	if !errors.As(err, new(*engine.PreconditionFailed)) {
		t.Errorf("a load on another head: %v", err)
	}
	if after := segments(t, fsys); after != before {
		t.Errorf("%d segments, want %d", after, before)
	}
	if err := g.Verify(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestNewIDs checks the ids that a large load makes.
func TestNewIDs(t *testing.T) {
	g := create(t, fs.NewMem(), Options{quiet: true})
	last := g.ids.Next()
	for _, n := range []int{3, newid.LongRun, 70_000} {
		next := g.ids.Run(n)
		first := ""
		for i := range n {
			id := string(next(nil))
			if len(id) != 26 || id <= last {
				t.Fatalf("id %d of %d is %s, after %s", i, n, id, last)
			}
			if last = id; i == 0 {
				first = id
			}
		}
		if n >= newid.LongRun && first[:20] != last[:20] {
			t.Errorf("%d ids from %s to %s", n, first, last)
		}
		if id := g.ids.Next(); id <= last {
			t.Errorf("%s comes after %s", id, last)
		} else {
			last = id
		}
	}
}

// TestTextIndexWithinLimits searches with a memory bound that the index exceeds, then with a
// cancelled context, and then without limits. After a failed build of the index, the next search
// must try again.
func TestTextIndexWithinLimits(t *testing.T) {
	g := openPosts(t, 2000)
	q := ranked(relevanceOf, value.Of(value.String), 5, false)
	search := func(ctx context.Context) error {
		res, err := g.Query(ctx, q, engine.Args{str("w1x w2x")}, engine.Target{})
		if err != nil {
			return err
		}
		defer res.Close()
		_, err = drain(ctx, res)
		return err
	}
	budget := g.opts.QueryMemory
	g.opts.QueryMemory = 100_000
	wantError[*engine.TooLarge](t, "an index past the memory of a query", search(t.Context()))
	g.opts.QueryMemory = budget
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := search(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a search that is cancelled: %v", err)
	}
	if err := search(t.Context()); err != nil {
		t.Error(err)
	}
	g.opts.QueryMemory = 100_000
	if err := search(t.Context()); err != nil {
		t.Errorf("a search in an index that exists: %v", err)
	}
}

// TestOverwriteAfterDeletedEdges deletes all edges of a type and then overwrites their nodes. The
// nodes then have new numbers. The stored index of the edges must not keep the old numbers.
func TestOverwriteAfterDeletedEdges(t *testing.T) {
	fsys := fs.NewMem()
	opts := Options{quiet: true, indexed: 1, sparse: 1 << 20, InlineBytes: -1}
	g := create(t, fsys, opts)
	const ada, bob = `{"type":"Person","data":{"name":"ada"}}`, `{"type":"Person","data":{"name":"bob"}}`
	must(t, loadText(g, engine.Merge, ada+"\n"+bob+"\n"+`{"edge":"Knows","from":"ada","to":"bob"}`))
	must(t, g.checkpoints.make(t.Context()))
	_, err := g.Mutate(t.Context(), deletePerson, engine.Args{str("ada")}, engine.WriteOptions{})
	must(t, err)
	must(t, loadText(g, engine.Overwrite, `{"type":"Person","data":{"name":"cy"}}`))
	must(t, g.checkpoints.make(t.Context()))
	must(t, g.Close())
	g, err = Open(t.Context(), fsys, dir, opts)
	must(t, err)
	must(t, g.Verify(t.Context()))
	must(t, g.Close())
}
