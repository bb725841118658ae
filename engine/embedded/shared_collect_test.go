package embedded

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// TestCollectedPast removes the past of a graph while a follower still reads it. The follower must be
// able to read the past as long as the collector heeds its need, and must never take a deleted
// segment for damage.
func TestCollectedPast(t *testing.T) {
	ctx := t.Context()
	var f *Follower
	heeded := true
	at := placeIn(&object.Memory{})
	at.Retention, at.Needed = -1, func(context.Context) (uint64, error) {
		if f == nil || !heeded {
			return 0, nil
		}
		return f.Needs(), nil
	}
	opts := Options{Now: testClock, quiet: true, InlineBytes: -1, indexed: 1}
	g := createShared(t, at, opts)
	for i := range 6 {
		if err := errors.Join(loading("", engine.Overwrite, manyPeople(1000*i, 100)).do(g), g.checkpoints.make(ctx)); err != nil {
			t.Fatal(err)
		}
	}
	commits, err := g.Commits(ctx, engine.MainBranch, engine.CommitRange{})
	if err != nil {
		t.Fatal(err)
	}
	f = follow(t, placeIn(at.Bucket), opts)
	export := func(eg engine.Graph, c engine.Commit) (string, error) {
		var text strings.Builder
		_, err := eg.Export(ctx, &text, engine.Target{Commit: c.ID}, engine.ExportOptions{})
		return text.String(), err
	}
	head, old, older := commits[0], commits[2], commits[4]
	want, err := export(g, old)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Cleanup(ctx, engine.CleanupOptions{KeepCommits: 1}); err != nil {
		t.Fatal(err)
	}
	collect := func() Collected {
		t.Helper()
		n, err := g.Collect(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := collect(); n.Pinned == 0 {
		t.Errorf("collected %+v while the follower needs what the cleanup removed", n)
	}
	if got, err := export(f, old); got != want || err != nil {
		t.Errorf("the follower exports %d bytes of an old commit, error %v; want %d bytes", len(got), err, len(want))
	}
	heeded = false
	if n := collect(); n.Segments == 0 {
		t.Errorf("collected %+v without a need", n)
	}
	var gone *engine.Unavailable
	if _, err := export(f, older); !errors.As(err, &gone) {
		t.Errorf("an export of a commit whose segments are deleted: %v; want a *engine.Unavailable", err)
	}
	if err := f.CatchUp(ctx); err != nil {
		t.Fatal(err)
	}
	var missing *engine.NotFound
	if _, err := export(f, older); !errors.As(err, &missing) || !missing.Reclaimed {
		t.Errorf("after the follower has read the log: %v; want a *engine.NotFound of a reclaimed commit", err)
	}
	wantHead, err := export(g, head)
	if err != nil {
		t.Fatal(err)
	}
	for who, eg := range map[string]engine.Graph{"the follower": f, "a new follower": follow(t, placeIn(at.Bucket), opts)} {
		if got, err := export(eg, head); got != wantHead || err != nil {
			t.Errorf("%s exports %d bytes of the head, error %v; want %d bytes", who, len(got), err, len(wantHead))
		}
		if err := eg.Verify(ctx); err != nil {
			t.Errorf("%s: %v", who, err)
		}
	}
	if err := g.Verify(ctx); err != nil {
		t.Error(err)
	}
}
