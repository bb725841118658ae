package embedded

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/enginetest"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

func TestOpen(t *testing.T) {
	folder := func(t testing.TB) string { return filepath.Join(t.TempDir(), "graph") }
	t.Run("disk", func(t *testing.T) { enginetest.RunOpen(t, Engine{}, folder) })
	t.Run("memory", func(t *testing.T) { enginetest.RunOpen(t, Engine{FS: fs.NewMem()}, folder) })
}

// TestOpenDir opens a missing graph, makes it, and opens it again with another schema. The other
// schema must not replace the stored one.
func TestOpenDir(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "graph")
	_, err := OpenDir(t.Context(), dir)
	wantError[*engine.NotFound](t, "open a folder without a graph", err)
	schema, faults := gq.CompileSchema(gq.Source{Name: "schema.pg", Text: "node Person {\n  name: String @key\n}\n"})
	must(t, faults.Err())
	g, err := OpenDir(t.Context(), dir, OrCreate("first", schema), With(Options{MaxBranches: 1}))
	must(t, err)
	_, err = OpenDir(t.Context(), dir)
	wantError[*engine.Unavailable](t, "open a graph that is open", err)
	_, err = g.CreateBranch(t.Context(), "side", engine.Target{})
	wantError[*engine.TooLarge](t, "make a branch too many", err)
	must(t, g.Close())
	g, err = OpenDir(t.Context(), dir, OrCreate("second", schema))
	must(t, err)
	s, err := g.Schema(t.Context(), engine.Target{})
	must(t, err)
	if s.Source != "first" {
		t.Errorf("the source of the schema is %q, want the stored one, %q", s.Source, "first")
	}
	must(t, g.Close())
	g, err = OpenDir(t.Context(), dir, With(Options{InlineBytes: 1}))
	must(t, err)
	_, err = g.Load(t.Context(), strings.NewReader(`{"type":"Person","data":{"name":"ada"}}`), engine.LoadOptions{Mode: engine.Append})
	must(t, err)
	must(t, g.checkpoints.make(t.Context()))
	must(t, g.Close())
	segments, err := filepath.Glob(filepath.Join(dir, "*.seg"))
	must(t, err)
	if len(segments) == 0 {
		t.Fatal("a checkpoint leaves no segment")
	}
	for _, name := range segments {
		must(t, os.Remove(name))
	}
	_, err = OpenDir(t.Context(), dir, OrCreate("fourth", schema))
	wantError[*engine.Corrupt](t, "open a graph without its segments", err)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := OpenDir(ended, dir, OrCreate("third", schema)); !errors.Is(err, context.Canceled) {
		t.Errorf("open with a context that has ended: %v", err)
	}
}
