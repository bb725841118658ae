package embedded

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/slow"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// remembered holds the dump of a graph at each of its commits, by commit id.
type remembered map[string]string

// note adds the heads of all branches.
func (r remembered) note(g *Graph) {
	for _, b := range g.branches.byName {
		if s := b.head.Load().snap; b.live.Load() && !b.deleted {
			r[s.Commit.ID] = dump(s)
		}
	}
}

// check reads every commit and compares it with its dump. The commits in `gone` must not be found.
func (r remembered) check(t *testing.T, g *Graph, what string, gone map[string]bool) {
	t.Helper()
	for id, want := range r {
		s, err := g.snapshot(context.Background(), engine.Target{Commit: id})
		missing := (*engine.NotFound)(nil)
		switch {
		case gone[id] && !errors.As(err, &missing):
			t.Fatalf("%s: commit %s is read, error %v, want *engine.NotFound", what, id, err)
		case gone[id]:
		case err != nil:
			t.Fatalf("%s: commit %s: %v", what, id, err)
		case s.Commit.ID != id:
			t.Fatalf("%s: commit %s is read as %s", what, id, s.Commit.ID)
		default:
			if got := dump(s); got != want {
				t.Fatalf("%s: at commit %s the graph is\n%s\nwant\n%s", what, id, got, want)
			}
		}
	}
}

// beyond returns the commits that are not among the last n of any branch's line and are neither
// head nor merge base.
func (r remembered) beyond(t *testing.T, g *Graph, n int) map[string]bool {
	t.Helper()
	gone := map[string]bool{}
	for id := range r {
		gone[id] = true
	}
	for name := range g.branches.byName {
		commits, err := g.Commits(context.Background(), name, engine.CommitRange{Limit: max(n, 1)})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range commits {
			delete(gone, c.ID)
		}
	}
	heads := g.branches.tipIDs()
	for i, a := range heads {
		for _, b := range heads[:i] {
			base, _ := g.history.CommonAncestor(a, b)
			delete(gone, base)
		}
	}
	return gone
}

// TestPast reads every commit of a history after each of its steps, and once more after a
// reopen.
func TestPast(t *testing.T) {
	for _, again := range []bool{false, true} {
		t.Run(fmt.Sprintf("opened again %t", again), func(t *testing.T) {
			ctx := context.Background()
			fsys := fs.NewMem()
			g := create(t, fsys, crashOptions)
			was := remembered{}
			was.note(g)
			for i, step := range history() {
				if err := step.do(g); err != nil {
					t.Fatalf("step %d: %v", i, err)
				}
				was.note(g)
				if again {
					if err := g.Close(); err != nil {
						t.Fatal(err)
					}
					var err error
					if g, err = Open(ctx, fsys, dir, crashOptions); err != nil {
						t.Fatalf("step %d: %v", i, err)
					}
					t.Cleanup(func() { g.Close() })
				}
				gone := map[string]bool{}
				if n, ok := map[int]int{reclaiming: 5, reclaiming + 4: 2, reclaiming + 6: 1}[i]; ok {
					gone = was.beyond(t, g, n)
				}
				was.check(t, g, fmt.Sprintf("after step %d", i), gone)
				for id := range gone {
					delete(was, id)
				}
			}
			if err := g.Verify(ctx); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestPastAtRandom runs random operations on branches in random order. Between them it reads
// commits of all branches, also after a crash and a reopen.
func TestPastAtRandom(t *testing.T) {
	slow.Test(t)
	for seed := range uint64(12) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			walk := &randomPast{T: t, r: rand.New(rand.NewPCG(seed, 7)), fsys: fs.NewMem(), was: remembered{}, gone: map[string]bool{}}
			walk.g = create(t, walk.fsys, crashOptions)
			walk.was.note(walk.g)
			for step := range 250 {
				if err := walk.step(); err != nil {
					t.Fatalf("step %d: %v", step, err)
				}
				walk.was.note(walk.g)
				walk.read(step)
			}
			if err := walk.g.Verify(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
}

type randomPast struct {
	*testing.T
	r    *rand.Rand
	fsys *fs.Mem
	g    *Graph
	was  remembered
	gone map[string]bool // commits reclaimed by a cleanup
	n    int
}

// step runs one random operation. A refusal because of the graph's state is not an error.
func (w *randomPast) step() error {
	ctx, g := context.Background(), w.g
	branch := w.branch()
	opts := engine.WriteOptions{Branch: branch}
	person := engine.Args{str(fmt.Sprint("p", w.r.IntN(30))), num(w.r.IntN(90))}
	w.n++
	var err error
	switch k := w.r.IntN(40); {
	case k < 12:
		_, err = g.Mutate(ctx, insertPerson, person, opts)
	case k < 16:
		_, err = g.Mutate(ctx, connect, engine.Args{person[0], str(fmt.Sprint("p", w.r.IntN(30))), str(fmt.Sprint("k", w.r.IntN(20)))}, opts)
		missing, taken := (*engine.ConstraintViolation)(nil), (*engine.KeyConflict)(nil)
		if errors.As(err, &missing) || errors.As(err, &taken) {
			err = nil
		}
	case k < 22:
		_, err = g.Mutate(ctx, deletePerson, person[:1], opts)
	case k < 25:
		_, err = g.Load(ctx, strings.NewReader(manyPeople(w.r.IntN(20), 20)), engine.LoadOptions{WriteOptions: opts})
	case k < 26:
		_, err = g.Load(ctx, strings.NewReader(manyPeople(w.r.IntN(20), 20)), engine.LoadOptions{WriteOptions: opts, Mode: engine.Overwrite})
	case k < 29:
		from := engine.Target{Branch: branch}
		if w.r.IntN(2) == 0 {
			from = engine.Target{Commit: w.readable()}
		}
		if len(g.branches.byName) < 5 {
			_, err = g.CreateBranch(ctx, fmt.Sprint("b", w.n), from)
			if missing := (*engine.NotFound)(nil); errors.As(err, &missing) && missing.What == notKept && missing.Name != from.Commit {
				err = nil // it needs a merge base that a cleanup has reclaimed
			}
		}
	case k < 32:
		if other := w.branch(); other != branch {
			_, err = g.Merge(ctx, branch, other, engine.MergeOptions{})
			if conflicts := (*engine.MergeConflicts)(nil); errors.As(err, &conflicts) {
				err = nil
			}
		}
	case k < 33:
		if branch != engine.MainBranch {
			err = g.DeleteBranch(ctx, branch)
		}
	case k < 36:
		err = g.checkpoints.make(ctx)
	case k < 37:
		keep := w.r.IntN(8)
		dry, dryErr := g.Cleanup(ctx, engine.CleanupOptions{KeepCommits: keep, DryRun: true})
		done, doneErr := g.Cleanup(ctx, engine.CleanupOptions{KeepCommits: keep})
		if err = errors.Join(dryErr, doneErr); err == nil {
			if dry.Commits != done.Commits || dry.Kept != done.Kept {
				err = fmt.Errorf("a dry run of a cleanup reports %+v, the cleanup %+v", dry, done)
			}
			w.was.note(g)
			for id := range w.was.beyond(w.T, g, keep) {
				w.gone[id] = true
			}
		}
	case k < 38:
		w.fsys = w.fsys.Crash(w.r.Uint64())
		g.Close()
		err = w.open()
	default:
		if err = g.Close(); err == nil {
			err = w.open()
		}
	}
	return err
}

func (w *randomPast) open() error {
	g, err := Open(context.Background(), w.fsys, dir, crashOptions)
	if err == nil {
		w.g = g
		w.Cleanup(func() { g.Close() })
	}
	return err
}

func (w *randomPast) branch() string {
	names := slices.Sorted(maps.Keys(w.g.branches.byName))
	return names[w.r.IntN(len(names))]
}

// live returns the ancestors of the heads.
func (w *randomPast) live() map[string]bool {
	live := map[string]bool{}
	w.g.history.Ancestors(w.g.branches.heads(), "", func(n int) bool {
		live[w.g.history.At(n).ID] = true
		return true
	})
	return live
}

// readable draws a random commit that must be readable.
func (w *randomPast) readable() string {
	live := w.live()
	var ids []string
	for id := range live {
		if !w.gone[id] {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids[w.r.IntN(len(ids))]
}

// read reads some commits, and occasionally all.
func (w *randomPast) read(step int) {
	live := w.live()
	part, gone := remembered{}, map[string]bool{}
	for id, want := range w.was {
		if w.r.IntN(10) == 0 || step%50 == 49 {
			part[id], gone[id] = want, w.gone[id] || !live[id]
		}
	}
	part.check(w.T, w.g, fmt.Sprint("after step ", step), gone)
}
