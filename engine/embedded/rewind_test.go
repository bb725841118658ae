package embedded

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/slow"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// TestRestoreScripts makes new graphs of each commit of the scripts that compare the past. The head of
// main must have the content that the commit had, the history before it must be readable, and the
// new graph must accept writes. A commit with a state that a cleanup removed must be refused.
func TestRestoreScripts(t *testing.T) {
	slow.Test(t)
	restored, refused := 0, 0
	for _, s := range scripts() {
		if !s.past {
			continue
		}
		fsys := fs.NewMem()
		g := create(t, fsys, crashOptions)
		was := remembered{}
		was.note(g)
		for i, d := range s.deeds {
			if err := d.do(g); err != nil {
				t.Fatalf("%s: deed %d: %v", s.name, i+1, err)
			}
			was.note(g)
			if i%6 != 5 && i != len(s.deeds)-1 {
				continue
			}
			v := viewDir(t, fsys)
			for id, want := range was {
				if err := v.Readable(t.Context(), id); err != nil {
					var missing *engine.NotFound
					if _, own := g.snapshot(t.Context(), engine.Target{Commit: id}); own == nil || !errors.As(err, &missing) {
						t.Fatalf("%s, deed %d: commit %s: %v", s.name, i+1, id, err)
					}
					if _, err := v.CopyToDir(t.Context(), fs.NewMem(), dir, crashOptions, id); !errors.As(err, &missing) {
						t.Fatalf("%s, deed %d: restoring the removed state %s: %v", s.name, i+1, id, err)
					}
					refused++
					continue
				}
				restored++
				checkRestored(t, v, id, want, fmt.Sprintf("%s, deed %d, commit %s", s.name, i+1, id))
			}
			if err := v.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if restored < 60 || refused < 20 {
		t.Errorf("%d states were restored and %d refused", restored, refused)
	}
}

// checkRestored restores the state of a commit in a folder and in shared storage.
func checkRestored(t *testing.T, v *View, id, want, what string) {
	t.Helper()
	ctx := context.Background()
	fsys, bucket := fs.NewMem(), &object.Memory{}
	folder, err := v.CopyToDir(ctx, fsys, dir, crashOptions, id)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	shared, err := v.CopyToShared(ctx, placeIn(bucket), crashOptions, id)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if err := errors.Join(v.Check(ctx, folder, id), v.Check(ctx, shared, id), folder.Close(), shared.Close()); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if folder, err = Open(ctx, fsys, dir, crashOptions); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if shared, err = OpenShared(ctx, placeIn(bucket), crashOptions); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	for _, g := range []*Graph{folder, shared} {
		branches, err := g.Branches(ctx)
		if err != nil || len(branches) != 1 || branches[0].Name != engine.MainBranch || branches[0].Head.ID != id {
			t.Fatalf("%s: the branches are %+v, %v", what, branches, err)
		}
		if got := dump(g.branches.main.head.Load().snap); got != want {
			t.Fatalf("%s: the graph is\n%s\nwant\n%s", what, got, want)
		}
		if left := must1(g.Proposals(ctx, engine.ProposalRange{})); len(left) > 0 {
			t.Fatalf("%s: %d proposals are left", what, len(left))
		}
		g.history.Line(id, func(c engine.Commit) bool {
			own, other := v.Readable(ctx, c.ID), error(nil)
			_, other = g.snapshot(ctx, engine.Target{Commit: c.ID})
			if (own == nil) != (other == nil) {
				t.Fatalf("%s: the earlier commit %s: %v; in the source %v", what, c.ID, other, own)
			}
			return true
		})
		useCopy(t, g, what)
	}
}

// TestCommitAt checks which commit a time selects.
func TestCommitAt(t *testing.T) {
	fsys := fs.NewMem()
	g := create(t, fsys, crashOptions)
	for _, name := range []string{"ann", "bob", "cat"} {
		if err := insert("", name, 1).do(g); err != nil {
			t.Fatal(err)
		}
	}
	v := viewDir(t, fsys)
	all := must1(g.Commits(t.Context(), "", engine.CommitRange{}))
	for i, c := range all {
		for _, at := range []time.Time{c.Time, c.Time.Add(time.Nanosecond)} {
			if got, err := v.At(t.Context(), "", at); err != nil || got.ID != c.ID {
				t.Errorf("at %v: %v, %v; want %s", at, got.ID, err, c.ID)
			}
		}
		before, err := v.At(t.Context(), "main", c.Time.Add(-time.Nanosecond))
		if i+1 < len(all) && (err != nil || before.ID != all[i+1].ID && !all[i+1].Time.Equal(c.Time)) {
			t.Errorf("before %v: %v, %v; want %s", c.Time, before.ID, err, all[i+1].ID)
		}
	}
	var missing *engine.NotFound
	if _, err := v.At(t.Context(), "", all[len(all)-1].Time.Add(-time.Second)); !errors.As(err, &missing) {
		t.Errorf("before the first commit: %v", err)
	}
	if _, err := v.At(t.Context(), "side", all[0].Time); !errors.As(err, &missing) {
		t.Errorf("on a missing branch: %v", err)
	}
}
