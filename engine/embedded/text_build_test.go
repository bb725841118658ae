package embedded

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs/faultfs"
)

// notesGraph creates a graph of n notes with a text index that the schema declares.
func notesGraph(t *testing.T, fsys fs.FS, opts Options, n int) *Graph {
	t.Helper()
	schema := people()
	note := schema.Nodes[1]
	note.Unique, note.Index = nil, [][]string{{"text"}}
	note.Properties = append(note.Properties[:len(note.Properties):len(note.Properties)], prop("kind", value.Of(value.String).Optional()))
	schema.Index()
	g, err := Create(t.Context(), fsys, dir, "// notes", schema, opts)
	must(t, err)
	must(t, loadText(g, engine.Merge, notes(0, n)))
	return g
}

// notes returns the input lines for the notes with the numbers [from, to).
func notes(from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, `{"type":"Note","data":{"id":"n%05d","text":"hello number %d"}}`+"\n", i, i)
	}
	return b.String()
}

// TestTextBuildLeavesBranchesAlone stops the build of a text index before its file is written.
// Meanwhile it must be possible to create a branch and to make a commit. The states after that
// commit must inherit the index.
func TestTextBuildLeavesBranchesAlone(t *testing.T) {
	var armed atomic.Bool
	reached, release := make(chan struct{}), make(chan struct{})
	mem := fs.NewMem()
	g := notesGraph(t, faultfs.New(mem, func(op faultfs.Op) *faultfs.Fault {
		if op.Kind == faultfs.OpCreate && strings.HasSuffix(op.Name, ".seg.tmp") && armed.CompareAndSwap(true, false) {
			close(reached)
			<-release
		}
		return nil
	}), Options{quiet: true, indexed: 1, textPart: 2000}, 500)
	armed.Store(true)
	done := make(chan error, 2)
	go func() { done <- g.checkpoints.make(context.Background()) }()
	<-reached
	go func() {
		_, err := g.CreateBranch(context.Background(), "side", engine.Target{})
		if err == nil {
			_, err = g.Mutate(context.Background(), insertPerson, engine.Args{str("late"), num(1)}, engine.WriteOptions{})
		}
		if err == nil {
			err = loadText(g, engine.Merge, notes(500, 510))
		}
		done <- err
	}()
	select {
	case err := <-done:
		must(t, err)
	case <-time.After(20 * time.Second):
		t.Error("a branch operation waits for the text index")
	}
	close(release)
	must(t, <-done)
	if g.checkpoints.lacksTexts() {
		t.Error("the head has no text index")
	}
	must(t, g.Verify(t.Context()))
	parts := len(g.branches.main.head.Load().snap.Nodes(1).Text(0).Parts())
	if parts < 5 {
		t.Errorf("the index has %d parts, expected one per 2,000 bytes of text", parts)
	}
	must(t, g.Close())
	g, err := Open(t.Context(), mem, dir, g.opts)
	must(t, err)
	defer g.Close()
	rows, err := search(g, "hello")
	must(t, err)
	if n := strings.Count(rows, "hello"); n != 510 || buildsTexts(g) {
		t.Errorf("after a reopen %d notes have the word; the search has built an index: %t", n, buildsTexts(g))
	}
	must(t, g.Verify(t.Context()))
}

// TestRewriteKeepsTexts makes a rewrite lay out all rows anew. Right after the rewrite, the graph
// must have its text index, and the manifest must list all segments of the index.
func TestRewriteKeepsTexts(t *testing.T) {
	mem := fs.NewMem()
	opts := Options{quiet: true, indexed: 1, sparse: 64, textPart: 2000}
	g := notesGraph(t, mem, opts, 500)
	must(t, loadText(g, engine.Merge, manyPeople(0, 300)))
	must(t, g.checkpoints.make(t.Context()))
	for i := range 100 {
		_, err := g.Mutate(t.Context(), deletePerson, engine.Args{str(fmt.Sprintf("p%06d", i))}, engine.WriteOptions{})
		must(t, err)
	}
	must(t, g.checkpoints.make(t.Context()))
	if n := g.checkpoints.counts.rewrites.Load(); n != 1 || g.checkpoints.lacksTexts() || len(g.checkpoints.newTexts) > 0 {
		t.Errorf("after %d rewrites the graph lacks a text index: %t; %d segments are not listed", n, g.checkpoints.lacksTexts(), len(g.checkpoints.newTexts))
	}
	if parts := len(g.branches.main.head.Load().snap.Nodes(1).Text(0).Parts()); parts != 4 {
		t.Errorf("the index has %d parts, expected 4 of 2,000 bytes of text", parts)
	}
	must(t, g.Close())
	g, err := Open(t.Context(), mem, dir, opts)
	must(t, err)
	defer g.Close()
	rows, err := search(g, "hello")
	must(t, err)
	if n := strings.Count(rows, "hello"); n != 500 || buildsTexts(g) {
		t.Errorf("after a reopen %d notes have the word; the search has built an index: %t", n, buildsTexts(g))
	}
	must(t, g.Verify(t.Context()))
}
