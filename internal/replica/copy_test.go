package replica

import (
	"errors"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// TestCopy copies a graph that a server writes, to a second graph of the same storage and to a folder, and
// back. The server must stay the writer. A copy onto an existing graph must be refused.
func TestCopy(t *testing.T) {
	b, add := people(t)
	s := serve(t, b, "one", 0)
	if err := insert(s, add, "ann"); err != nil {
		t.Fatal(err)
	}
	epoch := s.State().Epoch
	c := command(t, b)
	v, err := c.View(t.Context(), "people", engine.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if needed, err := s.Graph.storage.needed(t.Context(), "people"); err != nil || needed == 0 || needed != v.Needs() {
		t.Errorf("the servers know that the checkpoint %d is needed, %v; want %d", needed, err, v.Needs())
	}
	if sign, err := ReadSign(t.Context(), b, "command"); err != nil || sign.Graphs["people"] != (GraphSign{Role: Reader, Needs: v.Needs()}) {
		t.Errorf("the sign of the command is %+v, %v", sign, err)
	}
	if err := insert(s, add, "bob"); err != nil { // after the moment of the View
		t.Fatal(err)
	}
	var exists *engine.Conflict
	if _, err := c.Copy(t.Context(), "people", v, "", engine.OpenOptions{}); !errors.As(err, &exists) {
		t.Errorf("a copy onto the graph itself: %v", err)
	}
	made, err := c.Copy(t.Context(), "second", v, "", engine.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := insert(made, add, "cat"); err != nil {
		t.Error(err)
	}
	dir := t.TempDir()
	folder, err := v.CopyToDir(t.Context(), fs.OS(), dir, embedded.Options{}, "")
	if err != nil {
		t.Fatal(err)
	}
	for name, g := range map[string]engine.Graph{"in the storage": made, "in a folder": folder} {
		want := map[engine.Graph]int64{made: 2, folder: 1}[g]
		if snap, err := g.Snapshot(t.Context(), engine.Target{}); err != nil || snap.Nodes[0].Count != want {
			t.Errorf("the copy %s: %+v, %v; want %d persons", name, snap, err, want)
		}
	}
	if err := errors.Join(made.Close(), folder.Close(), v.Close()); err != nil {
		t.Fatal(err)
	}
	back, err := embedded.ViewDir(t.Context(), fs.OS(), dir, embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	third, err := c.Copy(t.Context(), "third", back, "", engine.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(third.Close(), back.Close(), c.Node.Leave(t.Context())); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadSign(t.Context(), b, "command"); !errors.Is(err, object.ErrNotFound) {
		t.Errorf("the command has ended; the error for its sign is %v", err)
	}
	if ids, err := c.Graphs(t.Context()); err != nil || len(ids) != 3 {
		t.Errorf("the storage has the graphs %v, %v", ids, err)
	}
	if state := s.State(); state.Role != Writer || state.Epoch != epoch {
		t.Errorf("after the copies the server is %+v; want the writer of epoch %d", state, epoch)
	}
	if n := s.count(t); n != 2 {
		t.Errorf("%d persons in the source, want 2", n)
	}
	var missing *engine.NotFound
	if _, err := c.View(t.Context(), "lost", engine.OpenOptions{}); !errors.As(err, &missing) {
		t.Errorf("a view of a missing graph: %v", err)
	}
}
