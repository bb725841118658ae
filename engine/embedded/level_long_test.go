package embedded

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/slow"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// TestMemoryLevel makes many small commits, all with idempotency keys: loads, merges of
// branches that are then deleted, and nodes that are made and deleted. With and without
// checkpoints, only the commit's place in the history and its receipt may remain in memory after a
// commit. At the end the data must be the same.
func TestMemoryLevel(t *testing.T) {
	slow.Test(t)
	for name, quiet := range map[string]bool{"with checkpoints": false, "without": true} {
		t.Run(name, func(t *testing.T) { testMemoryLevel(t, quiet) })
	}
}

func testMemoryLevel(t *testing.T, quiet bool) {
	const (
		// The first commits also allocate memory that a process allocates only once, such as the
		// encoders of segments.
		warm    = 6_000
		commits = 20_000
		writers = 8
		// In bytes per commit: 75 in the history, 120 for a receipt, and 15 for the name of its
		// branch, which one commit in seven has. The rest is a margin.
		most = 300
	)
	g, err := Create(t.Context(), fs.OS(), t.TempDir(), "// people", people(), Options{Now: testClock, quiet: quiet, CheckpointBytes: 4 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if err := loadText(g, engine.Merge, manyPeople(0, 200)); err != nil {
		t.Fatal(err)
	}
	w := steadyWriters{Graph: g}
	w.run(t, warm, writers)
	before := heapAfterCheckpoint(t, g)
	w.run(t, commits, writers)
	made := w.commits.Load() - warm
	after := heapAfterCheckpoint(t, g)
	t.Logf("%d commits, heap %d KiB, then %d KiB: %d bytes a commit", made, before>>10, after>>10, (after-before)/made)
	if took := (after - before) / made; took > most {
		t.Errorf("%d commits left %d bytes each in memory, expected at most %d", made, took, most)
	}
}

// heapAfterCheckpoint returns the bytes of live heap after a checkpoint.
func heapAfterCheckpoint(t *testing.T, g *Graph) int64 {
	t.Helper()
	if err := g.checkpoints.make(t.Context()); err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	runtime.GC() // the second collection empties the pools
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// steadyWriters change a graph repeatedly without adding data to it.
type steadyWriters struct {
	*Graph
	commits, calls atomic.Int64
}

var (
	noteText   = plan.Assign{Name: "text", Type: value.Of(value.String).Optional(), Value: plan.ParamRef{Index: 0}}
	insertNote = &plan.Query{Params: []plan.Param{{Name: "text", Type: value.Of(value.String)}},
		Mutation: &plan.Mutation{Statements: []plan.Statement{plan.Insert{Type: "Note", Set: []plan.Assign{noteText}}}}}
	deleteNote = &plan.Query{Params: insertNote.Params, Mutation: &plan.Mutation{Statements: []plan.Statement{
		plan.Delete{Type: "Note", Where: []plan.Pred{{Name: "text", Type: noteText.Type, Op: plan.Eq, Value: plan.ParamRef{Index: 0}}}}}}}
)

func (w *steadyWriters) run(t *testing.T, commits int64, writers int) {
	t.Helper()
	end := w.commits.Load() + commits
	var group sync.WaitGroup
	for i := range writers {
		group.Go(func() {
			for w.commits.Load() < end {
				if err := w.round(t, i); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// round makes seven commits.
func (w *steadyWriters) round(t *testing.T, writer int) error {
	ctx := t.Context()
	name := fmt.Sprintf("w%d/b%d", writer, w.calls.Add(1))
	opts := func(branch string) engine.WriteOptions {
		w.commits.Add(1)
		return engine.WriteOptions{Branch: branch, Actor: "writer", IdempotencyKey: fmt.Sprint("key ", w.calls.Add(1))}
	}
	load := func(branch, text string) error {
		_, err := w.Load(ctx, strings.NewReader(text), engine.LoadOptions{WriteOptions: opts(branch)})
		return err
	}
	var lines strings.Builder
	for i := range 5 {
		fmt.Fprintf(&lines, `{"type":"Note","data":{"id":"w%d-%d","text":"%s %d"}}`+"\n", writer, i, name, i)
	}
	if err := load("", lines.String()); err != nil {
		return err
	}
	if _, err := w.CreateBranch(ctx, name, engine.Target{}); err != nil {
		return err
	}
	if err := load(name, fmt.Sprintf(`{"type":"Note","data":{"id":"w%d-b","text":"%s"}}`+"\n", writer, name)); err != nil {
		return err
	}
	if _, err := w.Merge(ctx, name, "", engine.MergeOptions{Actor: "writer", IdempotencyKey: opts("").IdempotencyKey}); err != nil {
		return err
	}
	if err := w.DeleteBranch(ctx, name); err != nil {
		return err
	}
	for _, q := range []*plan.Query{insertNote, deleteNote, insertNote, deleteNote} {
		if _, err := w.Mutate(ctx, q, engine.Args{str(name + " once")}, opts("")); err != nil {
			return err
		}
	}
	return nil
}
