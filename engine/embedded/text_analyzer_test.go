package embedded

import (
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index/textindex"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// TestIndexOfEarlierAnalyzer opens a graph whose text index has the tokens of an earlier analyzer. A checkpoint
// in the background must build the index anew, without a search or a commit.
func TestIndexOfEarlierAnalyzer(t *testing.T) {
	mem := fs.NewMem()
	opts := Options{quiet: true, indexed: 1, textPart: 2000}
	textindex.Analyzer--
	g := notesGraph(t, mem, opts, 500)
	must(t, g.checkpoints.make(t.Context()))
	must(t, loadText(g, engine.Append, notes(500, 502)))
	must(t, g.Close())
	textindex.Analyzer++

	hasOld := func(g *Graph) bool { return g.branches.main.head.Load().snap.Nodes(1).HasOldTexts(1) }
	opts.quiet = false
	g, err := Open(t.Context(), mem, dir, opts)
	must(t, err)
	for end := clock.Now().Add(20 * time.Second); g.checkpoints.counts.checkpoints.Load() == 0; time.Sleep(time.Millisecond) {
		if clock.Now().After(end) {
			t.Fatal("no checkpoint has built the index")
		}
	}
	must(t, g.Close())
	opts.quiet = true
	g, err = Open(t.Context(), mem, dir, opts)
	must(t, err)
	defer g.Close()
	if hasOld(g) {
		t.Error("the index is still that of an earlier analyzer")
	}
	rows, err := search(g, "hello")
	must(t, err)
	if n := strings.Count(rows, "hello"); n != 502 || buildsTexts(g) {
		t.Errorf("%d notes have the word; the search has built an index: %t", n, buildsTexts(g))
	}
	must(t, g.Verify(t.Context()))

	// A graph that makes no checkpoint until its end searches the texts, and then stores the new index too.
	textindex.Analyzer++
	defer func() { textindex.Analyzer-- }()
	must(t, g.Close())
	g, err = Open(t.Context(), mem, dir, opts)
	must(t, err)
	if !hasOld(g) {
		t.Error("the index is not that of another analyzer")
	}
	rows, err = search(g, "hello")
	must(t, err)
	if n := strings.Count(rows, "hello"); n != 502 || hasOld(g) {
		t.Errorf("%d notes have the word; the index is still old: %t", n, hasOld(g))
	}
	must(t, g.Close())
}
