package embedded

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/fs"
	"github.com/omnigraph-go/omnigraph/internal/golden"
)

// TestFormat2 opens a graph whose manifest and records are of format 2: those before
// changes of schema. It goes on with one, and is opened once more.
func TestFormat2(t *testing.T) {
	ctx := context.Background()
	g, home := openFixture(t, "format2")
	golden.Check(t, filepath.Join("testdata", "format2.golden"), []byte(dumpAll(g)+"\n"))
	again := engine.WriteOptions{IdempotencyKey: "k", Actor: "tester"}
	before := g.main.head.Load().snap.Commit.ID
	if c, err := g.Mutate(ctx, insertPerson, engine.Args{str("bob"), num(31)}, again); err != nil || c.Head.ID != before {
		t.Errorf("a call with a receipt of format 2 is answered %+v, %v", c, err)
	}
	if err := applySchema("side", townsfolk(), false).do(g); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Merge(ctx, "side", "main", engine.MergeOptions{}); err != nil {
		t.Fatal(err)
	}
	staysTheSame(t, g, home, dumpAll)
}

// TestFormat1 opens a graph whose manifest and records are of format 1: those before
// branches, history and receipts. It goes on with branches, and is opened once more.
func TestFormat1(t *testing.T) {
	ctx := context.Background()
	g, home := openFixture(t, "format1")
	golden.Check(t, filepath.Join("testdata", "format1.golden"), []byte(dump(g.main.head.Load().snap)+"\n"))
	commits, err := g.Commits(ctx, "", engine.CommitRange{})
	if err != nil || len(commits) != 3 || commits[0].Seq != 10 || commits[2].Seq != 8 {
		t.Errorf("commits %+v, %v; want the one of the manifest and the two after it", commits, err)
	}
	if _, err := g.CreateBranch(ctx, "side", engine.Target{}); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Mutate(ctx, insertPerson, engine.Args{str("zoe"), num(1)}, engine.WriteOptions{Branch: "side"}); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Merge(ctx, "side", "main", engine.MergeOptions{}); err != nil {
		t.Fatal(err)
	}
	staysTheSame(t, g, home, dumpAll)
}

// TestFormat3 opens a graph of format 3, with stored indexes, history, and branches of two
// schemas. It goes on, and is opened once more.
func TestFormat3(t *testing.T) {
	ctx := context.Background()
	whole := script{past: true}
	g, home := openFixture(t, "format3")
	must(t, g.Verify(ctx))
	golden.Check(t, filepath.Join("testdata", "format3.golden"), []byte(whole.dump(g)+"\n"))
	_, err := g.Merge(ctx, "side", "main", engine.MergeOptions{})
	must(t, err)
	_, err = search(g, "hello")
	must(t, err)
	staysTheSame(t, g, home, whole.dump)
}

// TestFormat4 opens a graph of format 4, which lists no merge bases and has files with
// several segments. Its branches have merged one another. It goes on, and is opened once
// more.
func TestFormat4(t *testing.T) {
	ctx := context.Background()
	whole := script{past: true}
	g, home := openFixture(t, "format4")
	must(t, g.Verify(ctx))
	parts := 0
	for _, b := range g.lines.sorted {
		for _, table := range b.head.Load().snap.Tables() {
			for _, s := range table.Segs {
				if fileOf(s.Name) != s.Name {
					parts++
				}
			}
		}
	}
	if parts == 0 {
		t.Error("no branch has a segment that shares its file")
	}
	golden.Check(t, filepath.Join("testdata", "format4.golden"), []byte(whole.dump(g)+"\n"))
	_, err := g.Merge(ctx, "four", "one", engine.MergeOptions{})
	must(t, err)
	_, err = g.Merge(ctx, "three", "main", engine.MergeOptions{})
	must(t, err)
	staysTheSame(t, g, home, whole.dump)
}

// fixtureOptions open the graphs under testdata with a clock that stands shortly after the
// last of them was written, so that their idempotency keys have not expired.
func fixtureOptions() Options {
	o := crashOptions
	o.Now = func() time.Time { return time.Date(2026, time.November, 20, 16, 0, 0, 0, time.UTC) }
	return o
}

// openFixture opens a copy of a graph that is kept under testdata, in a folder of its own.
func openFixture(t *testing.T, name string) (g *Graph, home string) {
	t.Helper()
	home = filepath.Join(t.TempDir(), "graph")
	must(t, os.CopyFS(home, os.DirFS(filepath.Join("testdata", name))))
	g, err := Open(t.Context(), fs.OS(), home, fixtureOptions())
	must(t, err)
	return g, home
}

// staysTheSame makes a checkpoint, opens the graph again, and wants it whole and unchanged.
func staysTheSame(t *testing.T, g *Graph, home string, dump func(*Graph) string) {
	t.Helper()
	ctx := context.Background()
	must(t, g.checkpoint(ctx))
	want := dump(g)
	must(t, g.Verify(ctx))
	must(t, g.Close())
	g, err := Open(ctx, fs.OS(), home, fixtureOptions())
	must(t, err)
	defer g.Close()
	if got := dump(g); got != want {
		t.Errorf("opened again the graph is\n%s\nwant\n%s", got, want)
	}
	must(t, g.Verify(ctx))
}
