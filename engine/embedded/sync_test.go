package embedded

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
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

// TestSyncCost measures a sync beside a merge, and the bytes of the memberships.
func TestSyncCost(t *testing.T) {
	if os.Getenv("SYNC_ROWS") == "" {
		t.Skip("set SYNC_ROWS to the number of persons")
	}
	var n int
	must1(fmt.Sscan(os.Getenv("SYNC_ROWS"), &n))
	text := manyPeople(0, n)
	changed := strings.Replace(text, `"age":1,`, `"age":2,`, 100)
	size := map[bool]int64{}
	for _, synced := range []bool{false, true} {
		home := filepath.Join(t.TempDir(), "graph")
		g := must1(Create(t.Context(), fs.OS(), home, "// people", people(), Options{}))
		for i, lines := range []string{text, text, changed, changed[:len(changed)*9/10][:strings.LastIndexByte(changed[:len(changed)*9/10], '\n')+1]} {
			start := time.Now()
			var res *engine.LoadResult
			var err error
			if synced {
				res, err = synchronise(g, "", "crm", lines, 0)
			} else if i < 3 {
				res, err = g.Load(t.Context(), strings.NewReader(lines), engine.LoadOptions{Mode: engine.Merge})
			} else {
				continue
			}
			must(t, err)
			t.Logf("sync %t, load %d: %v, commit %t, %+v", synced, i, time.Since(start).Round(time.Millisecond), res.Commit != nil, res.Sync)
			if i == 0 {
				must(t, g.checkpoints.make(t.Context()))
				for _, s := range must1(os.ReadDir(home)) {
					size[synced] += must1(s.Info()).Size()
				}
				for _, table := range g.branches.main.head.Load().snap.Tables() {
					for _, s := range table.Segs {
						if s.Claims != nil {
							t.Logf("%s: %d rows, %.2f bytes of memberships a row", table.Type.Name, s.N, float64(s.Claims.StoredBytes())/float64(s.N))
						}
					}
				}
			}
		}
		must(t, g.Close())
	}
	t.Logf("the folder has %d bytes, and %d with the memberships", size[false], size[true])
}
