package embedded

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// TestManyBranches makes 10,000 branches, with and without a commit on each. They must add less
// than 110 MB to the memory of the graph: in the log, stored, and opened again. Creating or
// deleting a branch must not visit the others.
func TestManyBranches(t *testing.T) {
	n, limit := 10_000, int64(110e6)
	if raced {
		n, limit = 300, 1<<40
	}
	for _, write := range []bool{false, true} {
		t.Run(fmt.Sprintf("written %t", write), func(t *testing.T) {
			ctx := context.Background()
			fsys := fs.NewMem()
			opts := Options{quiet: true, LogSize: 1 << 20, MaxBranches: -1}
			g, err := Create(ctx, fsys, dir, "", people(), opts)
			must(t, err)
			must(t, loadText(g, engine.Merge, manyPeople(0, 3000)))
			must(t, g.checkpoints.make(ctx))
			empty := heapInUse()
			check := func(when string) {
				t.Helper()
				grown := heapInUse() - empty
				t.Logf("%s: %.1f MB", when, float64(grown)/1e6)
				if grown > limit {
					t.Errorf("%s, %d branches take %d bytes", when, n, grown)
				}
			}
			manyBranches(t, g, n, write, false)
			check("in the log")
			must(t, g.checkpoints.make(ctx))
			check("stored")
			must(t, g.Close())
			start := clock.Now()
			g, err = Open(ctx, fsys, dir, opts)
			must(t, err)
			defer func() { g.Close() }()
			t.Logf("opened in %s", clock.Since(start))
			check("opened again")
			// If these calls looped over all branches, they would allocate memory, or take a second
			// in total.
			start = clock.Now()
			for i := range 200 {
				name := fmt.Sprint("x", i)
				_, err := g.CreateBranch(ctx, name, engine.Target{})
				must(t, err)
				must(t, g.DeleteBranch(ctx, name))
			}
			if took := clock.Since(start); took > 2*time.Second {
				t.Errorf("200 branches were made and deleted in %s", took)
			}
			all, err := g.Branches(ctx)
			must(t, err)
			if len(all) != n+1 || all[0].Name != "b00000" || all[n].Name != "main" {
				t.Errorf("%d branches, want %d in name order", len(all), n+1)
			}
			if write {
				got, err := answer(g, personByName, engine.Args{str("b000077")}, "b00007")
				must(t, err)
				if got == "" {
					t.Error("the commit of a branch is gone")
				}
			}
		})
	}
}

// TestBranchLimit checks that a branch above the limit is refused, and that a graph with more
// branches still opens and lets branches be deleted.
func TestBranchLimit(t *testing.T) {
	ctx := context.Background()
	fsys := fs.NewMem()
	g := create(t, fsys, Options{quiet: true, MaxBranches: 3})
	make := func(name string) error {
		_, err := g.CreateBranch(ctx, name, engine.Target{})
		return err
	}
	full := func(name string, limit int64) {
		t.Helper()
		var large *engine.TooLarge
		if err := make(name); !errors.As(err, &large) || large.Resource != "live branches" || large.Limit != limit || large.Actual != 4 || large.Hint == "" {
			t.Errorf("%+v, want a *engine.TooLarge of 4 live branches over %d", err, limit)
		}
	}
	must(t, make("a"))
	must(t, make("b"))
	full("c", 3)
	must(t, g.DeleteBranch(ctx, "a"))
	must(t, make("c"))
	must(t, g.Close())
	g, err := Open(ctx, fsys, dir, Options{quiet: true, MaxBranches: 2})
	must(t, err)
	defer g.Close()
	full("d", 2)
	must(t, g.DeleteBranch(ctx, "b"))
	must(t, g.DeleteBranch(ctx, "c"))
	must(t, make("d"))
}

// TestMergeBaseStates makes, writes, cross-merges and deletes branches, reclaims the past, rewrites
// tables and opens the graph again. After each round, every pair of branches must have the state of
// its lowest common ancestor, also if that state is not in memory.
func TestMergeBaseStates(t *testing.T) {
	ctx := context.Background()
	rounds := 12
	if raced || testing.Short() {
		rounds = 4
	}
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 1))
			fsys := fs.NewMem()
			g := create(t, fsys, crashOptions)
			defer func() { g.Close() }()
			was := remembered{}
			was.note(g)
			names := []string{"main"}
			any := func() string { return names[rng.IntN(len(names))] }
			made, merges, rebuilt := 0, 0, 0
			step := func() error {
				switch k := rng.IntN(20); {
				case k < 3 && len(names) < 14:
					at := engine.Target{Branch: any()}
					if k == 0 { // begins at a commit of the past
						commits, err := g.Commits(ctx, at.Branch, engine.CommitRange{Limit: 6})
						if err != nil {
							return err
						}
						at = engine.Target{Commit: commits[rng.IntN(len(commits))].ID}
					}
					name := fmt.Sprint("b", made)
					made++
					_, err := g.CreateBranch(ctx, name, at)
					var gone *engine.NotFound
					if errors.As(err, &gone) {
						return nil // a cleanup has reclaimed the commit
					}
					names = append(names, name)
					return err
				case k == 3 && len(names) > 6:
					i := 1 + rng.IntN(len(names)-1)
					name := names[i]
					names = append(names[:i], names[i+1:]...)
					return g.DeleteBranch(ctx, name)
				case k < 9:
					a, b := any(), any()
					if a == b {
						return nil
					}
					merges++
					_, err := g.Merge(ctx, a, b, engine.MergeOptions{})
					var conflicts *engine.MergeConflicts
					if errors.As(err, &conflicts) {
						return nil
					}
					return err
				case k < 12:
					_, err := g.Mutate(ctx, deletePerson, engine.Args{str(fmt.Sprint("p", rng.IntN(30)))}, engine.WriteOptions{Branch: any()})
					return err
				default:
					_, err := g.Mutate(ctx, insertPerson, engine.Args{str(fmt.Sprint("p", rng.IntN(30))), num(rng.IntN(3))}, engine.WriteOptions{Branch: any()})
					return err
				}
			}
			for round := range rounds {
				for range 60 {
					must(t, step())
					was.note(g)
				}
				switch round % 4 {
				case 0:
					must(t, g.checkpoints.make(ctx))
				case 1:
					_, err := g.Cleanup(ctx, engine.CleanupOptions{KeepCommits: rng.IntN(4)})
					must(t, err)
				case 2:
					must(t, g.Close())
					var err error
					g, err = Open(ctx, fsys, dir, crashOptions)
					must(t, err)
				}
				for i, a := range names {
					for _, b := range names[:i] {
						if rng.IntN(4) == 0 {
							g.branches.mu.Lock()
							g.branches.bases.keepOnly(nil)
							g.branches.mu.Unlock()
							rebuilt++
						}
						base, err := baseOf(g, a, b)
						if err != nil {
							t.Fatalf("round %d: the merge base of %s and %s: %v", round, a, b, err)
						}
						one, other := g.branches.byName[a].tip.snap.Commit.ID, g.branches.byName[b].tip.snap.Commit.ID
						if id, _ := g.history.CommonAncestor(one, other); id != base.Commit.ID {
							t.Fatalf("round %d: the merge base of %s and %s is %s, want %s", round, a, b, base.Commit.ID, id)
						}
						if got := dump(base); got != was[base.Commit.ID] {
							t.Fatalf("round %d: the merge base of %s and %s is\n%s\nwant\n%s", round, a, b, got, was[base.Commit.ID])
						}
					}
				}
			}
			must(t, g.Verify(ctx))
			if merges == 0 || rebuilt == 0 {
				t.Errorf("%d merges, and %d times no state in memory", merges, rebuilt)
			}
		})
	}
}

// TestBranchesApart opens branches that begin at different commits of main, some before a
// checkpoint and some after it. Each branch must have its rows and find them by name.
func TestBranchesApart(t *testing.T) {
	ctx := context.Background()
	fsys := fs.NewMem()
	opts := Options{quiet: true, indexed: 1}
	g := create(t, fsys, opts)
	must(t, loadText(g, engine.Merge, manyPeople(0, 200)))
	must(t, g.checkpoints.make(ctx))
	for part := range 4 {
		for i := range 90 {
			name := fmt.Sprintf("b%d-%02d", part, i)
			_, err := g.Mutate(ctx, insertPerson, engine.Args{str("main-" + name), num(i)}, engine.WriteOptions{})
			must(t, err)
			if i%5 > 0 {
				continue
			}
			_, err = g.CreateBranch(ctx, name, engine.Target{})
			must(t, err)
			// A row of an earlier part is updated in some branches and deleted in others.
			former := engine.Args{str(fmt.Sprintf("main-b%d-01", max(0, part-1)))}
			if i%2 == 0 {
				_, err = g.Mutate(ctx, deletePerson, former, engine.WriteOptions{Branch: name})
			} else if i%3 == 0 {
				_, err = g.Mutate(ctx, insertPerson, append(former, num(99)), engine.WriteOptions{Branch: name})
			}
			must(t, err)
			_, err = g.Mutate(ctx, insertPerson, engine.Args{str(name), num(i)}, engine.WriteOptions{Branch: name})
			must(t, err)
		}
		must(t, g.checkpoints.make(ctx))
	}
	answers := func(g *Graph) string {
		all := ""
		for _, b := range g.branches.sorted {
			for _, name := range []string{"p000007", "main-b0-01", "main-b1-01", "main-b2-02", "main-b3-59", b.name} {
				got, err := answer(g, personByName, engine.Args{str(name)}, b.name)
				must(t, err)
				all += b.name + " " + name + ": " + got + "\n"
			}
		}
		return all + dumpAll(g)
	}
	want := answers(g)
	must(t, g.Close())
	g, err := Open(ctx, fsys, dir, opts)
	must(t, err)
	defer g.Close()
	if got := answers(g); got != want {
		t.Errorf("after a reopen the graph is\n%s\nwant\n%s", got, want)
	}
	must(t, g.Verify(ctx))
}
