package embedded

import (
	"fmt"
	"runtime"
	"testing"
	"weak"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// TestStatesGo checks that a state that is neither a head nor an anchor is garbage-collected:
// no later state, receipt or deleted branch refers to it.
func TestStatesGo(t *testing.T) {
	g := create(t, fs.NewMem(), Options{Now: testClock, quiet: true})
	write := func(branch string, i int) {
		t.Helper()
		opts := engine.WriteOptions{Branch: branch, Actor: "a", IdempotencyKey: fmt.Sprint("key ", i)}
		if _, err := g.Mutate(t.Context(), insertPerson, engine.Args{str(fmt.Sprint("p", i)), num(i)}, opts); err != nil {
			t.Fatal(err)
		}
	}
	head := func(branch string) (weak.Pointer[version.Snapshot], weak.Pointer[version.Table]) {
		t.Helper()
		b, err := g.branches.find(branch)
		if err != nil {
			t.Fatal(err)
		}
		s := b.head.Load().snap
		return weak.Make(s), weak.Make(s.Nodes(0))
	}
	gone := func(what string, s weak.Pointer[version.Snapshot], tab weak.Pointer[version.Table]) {
		t.Helper()
		runtime.GC()
		if s.Value() != nil {
			t.Errorf("%s: the state is in memory", what)
		}
		if tab.Value() != nil {
			t.Errorf("%s: its table is in memory", what)
		}
	}
	write("", 0)
	s, tab := head("")
	write("", 1)
	write("", 2)
	gone("a state before the head", s, tab)

	if _, err := g.CreateBranch(t.Context(), "b", engine.Target{}); err != nil {
		t.Fatal(err)
	}
	write("b", 3)
	s, tab = head("b")
	if _, err := g.Merge(t.Context(), "b", "", engine.MergeOptions{Actor: "a", IdempotencyKey: "merge"}); err != nil {
		t.Fatal(err)
	}
	if err := g.DeleteBranch(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	write("", 4)
	gone("the head of a branch that is deleted", s, tab)

	// The state of an anchor stays in memory until it is stored. The state of an anchor of a
	// deleted branch must not stay longer.
	if _, err := g.CreateBranch(t.Context(), "c", engine.Target{}); err != nil {
		t.Fatal(err)
	}
	write("c", 5)
	s, tab = head("c")
	c, err := g.branches.find("c")
	if err != nil {
		t.Fatal(err)
	}
	g.retention.mu.Lock()
	g.retention.anchorLocked(c, c.tip)
	g.retention.mu.Unlock()
	c = nil
	if _, err := g.Merge(t.Context(), "c", "", engine.MergeOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := g.DeleteBranch(t.Context(), "c"); err != nil {
		t.Fatal(err)
	}
	if err := g.checkpoints.make(t.Context()); err != nil {
		t.Fatal(err)
	}
	gone("an anchor that is stored, of a branch that is deleted", s, tab)
}
