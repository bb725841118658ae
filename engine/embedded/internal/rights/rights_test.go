package rights

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
)

// TestDropped makes parts for several callers and expects which of them are kept.
func TestDropped(t *testing.T) {
	c := &catalog.Schema{Nodes: []*catalog.Node{{Name: "Person"}}}
	c.Index()
	typed, err := schema.New("// source", "sha256:0", c)
	if err != nil {
		t.Fatal(err)
	}
	now := time.UnixMicro(1)
	p := &Parts{Now: func() time.Time { return now }}
	state := version.NewSnapshot(typed, engine.Commit{Branch: engine.MainBranch})
	read := func(digest string) *Part {
		t.Helper()
		part, err := p.Of(t.Context(), States{Of: state}, &engine.Rights{Digest: digest, Nodes: map[string]*engine.TypeRights{"Person": {None: true}}})
		if err != nil {
			t.Fatal(err)
		}
		return part
	}
	kept := func(step string, want ...string) {
		t.Helper()
		if got := slices.Sorted(maps.Keys(*p.holders.Load())); !slices.Equal(got, want) {
			t.Errorf("%s: the parts of %q are kept, want %q", step, got, want)
		}
	}
	a := read("a")
	now = now.Add(maxIdle / 2)
	read("b")
	kept("both in use", "a", "b")
	now = now.Add(maxIdle * 3 / 4)
	read("c")
	kept("a was not used for long", "b", "c")
	if read("a") == a {
		t.Error("a part that was dropped is found")
	}
	now = now.Add(maxIdle)
	if again := read("a"); read("a") != again {
		t.Error("a part is made twice")
	}
	read("b")
	now = now.Add(time.Second)
	read("d")
	kept("only a and b were used", "a", "b", "d")
	for _, h := range *p.holders.Load() {
		h.bytes.Store(10)
	}
	p.MaxBytes = 25
	now = now.Add(time.Second)
	read("b")
	read("d")
	read("e") // needs no memory
	kept("the memory is enough for two", "b", "d", "e")

	for range 3 {
		read("b")
		read("e")
		read(fmt.Sprint("other", now.UnixMicro())) // needs no memory
		now = now.Add(time.Second)
	}
	for _, digest := range []string{"b", "d", "e"} {
		(*p.holders.Load())[digest].bytes.Store(10)
		read(digest)
	}
	read("f")
	if left := *p.holders.Load(); left["b"] == nil || left["d"] != nil || left["e"] == nil {
		t.Errorf("of three that were all used now, these are kept: %q", slices.Sorted(maps.Keys(left)))
	}
}
