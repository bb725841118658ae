package enginetest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
)

// RunOpen tests that an engine makes graphs, keeps them while they are closed, and opens them
// again. The function `place` returns a new place that holds no graph.
func RunOpen(t *testing.T, e engine.Engine, place func(t testing.TB) string) {
	now := time.Date(2030, 2, 3, 4, 5, 6, 0, time.UTC)
	opts := engine.OpenOptions{Now: func() time.Time { return now }, MaxBranches: 2}
	schema := people()
	create := func(t *testing.T, at string) engine.Graph {
		t.Helper()
		g, err := e.Create(t.Context(), at, sourceText, schema, opts)
		if err != nil {
			t.Fatalf("create: %v", err)
		}
		return g
	}
	open := func(t *testing.T, at string) engine.Graph {
		t.Helper()
		g, err := e.Open(t.Context(), at, opts)
		if err != nil {
			t.Fatalf("open: %v", err)
		}
		return g
	}
	closed := func(t *testing.T, g engine.Graph) {
		t.Helper()
		if err := g.Close(); err != nil {
			t.Fatalf("close: %v", err)
		}
	}

	t.Run("a closed graph keeps its data", func(t *testing.T) {
		at := place(t)
		g := create(t, at)
		loaded, err := g.Load(t.Context(), strings.NewReader(crowd), engine.LoadOptions{})
		if err != nil {
			t.Fatalf("load: %v", err)
		}
		if _, err := g.CreateBranch(t.Context(), "side", engine.Target{}); err != nil {
			t.Fatalf("create a branch: %v", err)
		}
		before := exported(t, g)
		closed(t, g)
		g = open(t, at)
		defer closed(t, g)
		if after := exported(t, g); after != before {
			t.Errorf("export after opening again:\n%s\nwant:\n%s", after, before)
		}
		head, err := g.Commit(t.Context(), loaded.Head.ID)
		if err != nil || head.Seq != loaded.Head.Seq || !head.Time.Equal(loaded.Head.Time) {
			t.Errorf("commit %+v, error %v; want %+v", head, err, loaded.Head)
		}
		branches, err := g.Branches(t.Context())
		if err != nil || len(branches) != 2 || branches[1].Name != "side" || branches[1].Head.ID != loaded.Head.ID {
			t.Errorf("branches %+v, error %v; want main and side at %s", branches, err, loaded.Head.ID)
		}
		s, err := g.Schema(t.Context(), engine.Target{})
		if err != nil || s.Source != sourceText {
			t.Errorf("schema %+v, error %v; want the source %q", s, err, sourceText)
		}
		if err := g.Verify(t.Context()); err != nil {
			t.Errorf("verify: %v", err)
		}
	})
	t.Run("options", func(t *testing.T) {
		g := create(t, place(t))
		defer closed(t, g)
		res, err := g.Load(t.Context(), strings.NewReader(crowd), engine.LoadOptions{})
		if err != nil || !res.Head.Time.Equal(now) {
			t.Fatalf("load: error %v, time %v; want %v", err, res.Head.Time, now)
		}
		if _, err := g.CreateBranch(t.Context(), "one", engine.Target{}); err != nil {
			t.Errorf("create the second of two branches: %v", err)
		}
		var large *engine.TooLarge
		if _, err := g.CreateBranch(t.Context(), "two", engine.Target{}); !errors.As(err, &large) {
			t.Errorf("create a branch too many: error %v (%T); want a *engine.TooLarge", err, err)
		}
	})
	t.Run("an empty place has no graph", func(t *testing.T) {
		g, err := e.Open(t.Context(), place(t), opts)
		var missing *engine.NotFound
		if !errors.As(err, &missing) || g != nil {
			t.Errorf("open: graph %v, error %v (%T); want a nil graph and a *engine.NotFound", g, err, err)
		}
	})
	t.Run("a place holds one graph", func(t *testing.T) {
		at := place(t)
		closed(t, create(t, at))
		g, err := e.Create(t.Context(), at, sourceText, schema, opts)
		var conflict *engine.Conflict
		if !errors.As(err, &conflict) || g != nil {
			t.Errorf("create again: graph %v, error %v (%T); want a nil graph and a *engine.Conflict", g, err, err)
		}
		closed(t, open(t, at))
	})
	t.Run("a closed graph answers no calls", func(t *testing.T) {
		g := create(t, place(t))
		closed(t, g)
		var gone *engine.Unavailable
		if _, err := g.Snapshot(t.Context(), engine.Target{}); !errors.As(err, &gone) {
			t.Errorf("snapshot: error %v (%T); want a *engine.Unavailable", err, err)
		}
		if err := g.Verify(t.Context()); !errors.As(err, &gone) {
			t.Errorf("verify: error %v (%T); want a *engine.Unavailable", err, err)
		}
		if n := g.Stats().Commits; n != 1 {
			t.Errorf("stats: %d commits; want 1", n)
		}
	})
	t.Run("an ended context stops both calls", func(t *testing.T) {
		at := place(t)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := e.Create(ended, at, sourceText, schema, opts); !errors.Is(err, context.Canceled) {
			t.Errorf("create: error %v; want %v", err, context.Canceled)
		}
		closed(t, create(t, at)) // a call that was interrupted can be repeated
		if _, err := e.Open(ended, at, opts); !errors.Is(err, context.Canceled) {
			t.Errorf("open: error %v; want %v", err, context.Canceled)
		}
		closed(t, open(t, at))
	})
}

// exported returns the export of main.
func exported(t *testing.T, g engine.Graph) string {
	t.Helper()
	var out strings.Builder
	if _, err := g.Export(t.Context(), &out, engine.Target{}, engine.ExportOptions{}); err != nil {
		t.Fatalf("export: %v", err)
	}
	return out.String()
}
