package embedded

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/fs"
)

// remembered is what a graph was at each of its commits.
type remembered map[string]string

// note takes note of the heads of all branches.
func (r remembered) note(g *Graph) {
	for _, b := range g.lines.branches {
		if s := b.head.Load().snap; b.live.Load() && !b.deleted {
			r[s.Commit.ID] = dump(s)
		}
	}
}

// check reads every commit, and wants those that are gone to be not found.
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

// beyond lists the commits that are not among the first n of a branch's line, no head
// and no merge base.
func (r remembered) beyond(t *testing.T, g *Graph, n int) map[string]bool {
	t.Helper()
	gone := map[string]bool{}
	for id := range r {
		gone[id] = true
	}
	for name := range g.lines.branches {
		commits, err := g.Commits(context.Background(), name, engine.CommitRange{Limit: n})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range commits {
			delete(gone, c.ID)
		}
	}
	for _, base := range g.lines.bases {
		delete(gone, base.Commit.ID)
	}
	return gone
}

// TestPast reads every commit of a history after each of its steps, and opened again.
func TestPast(t *testing.T) {
	for _, again := range []bool{false, true} {
		t.Run(fmt.Sprintf("opened again %t", again), func(t *testing.T) {
			ctx := context.Background()
			fsys := fs.NewMem()
			g := create(t, fsys, crashOptions)
			was := remembered{}
			was.note(g)
			for i, step := range history() {
				if err := step(g); err != nil {
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
