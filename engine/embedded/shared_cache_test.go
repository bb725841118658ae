package embedded

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// TestCacheBound exports all commits of a graph on three servers: the writer, a reader without a bound
// on its cache, and a reader whose cache is smaller than one segment. All must return the same. The
// bounded cache must give up what the exports read, as soon as nothing has it mapped.
func TestCacheBound(t *testing.T) {
	ctx := t.Context()
	b := &object.Memory{}
	opts := Options{Now: testClock, quiet: true, InlineBytes: -1, indexed: 1}
	g := createShared(t, placeIn(b), opts)
	for i := range 3 * keptStates {
		if err := loading("", engine.Overwrite, manyPeople(1000*i, 200)).do(g); err != nil {
			t.Fatal(err)
		}
		if err := g.checkpoints.make(ctx); err != nil {
			t.Fatal(err)
		}
	}
	commits, err := g.Commits(ctx, engine.MainBranch, engine.CommitRange{})
	if err != nil {
		t.Fatal(err)
	}
	bounded := placeIn(b)
	bounded.Bound = NewCacheBound(1)
	free, tight := follow(t, placeIn(b), opts), follow(t, bounded, opts)
	for _, c := range commits {
		var texts []string
		for _, eg := range []engine.Graph{g, free, tight} {
			var text strings.Builder
			if _, err := eg.Export(ctx, &text, engine.Target{Commit: c.ID}, engine.ExportOptions{}); err != nil {
				t.Fatalf("export of commit %d: %v", c.Seq, err)
			}
			texts = append(texts, text.String())
		}
		if texts[0] != texts[1] || texts[0] != texts[2] {
			t.Fatalf("the exports of commit %d differ: %d, %d and %d bytes", c.Seq, len(texts[0]), len(texts[1]), len(texts[2]))
		}
		if want := fmt.Sprintf(`"p%06d"`, 1000*(int(c.Seq)-2)); c.Seq > 1 && !strings.Contains(texts[2], want) {
			t.Fatalf("the export of commit %d lacks %s", c.Seq, want)
		}
	}
	// The head and the last states that were restored stay mapped.
	want := free.CacheBytes() * (keptStates + 4) / (3 * keptStates)
	for range 500 {
		if runtime.GC(); tight.CacheBytes() <= want {
			break
		}
		time.Sleep(2 * time.Millisecond)
	}
	if got := tight.CacheBytes(); got > want || got == 0 {
		t.Errorf("the bounded cache has %d bytes, and the other one %d; want at most %d", got, free.CacheBytes(), want)
	}
	if err := tight.Verify(ctx); err != nil {
		t.Error(err)
	}
}
