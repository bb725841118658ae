package notes_test

import (
	"fmt"
	"testing"

	"github.com/omnigraph-go/omnigraph/gq/value"
)

// BenchmarkForEmpty measures a note on a type with maxRanked nodes, the largest type whose keys are
// ranked. No key resembles the text, so both searches run.
func BenchmarkForEmpty(b *testing.B) {
	pages := make([]string, 100_000-7)
	for i := range pages {
		pages[i] = fmt.Sprintf("example.com/site%d/engine.Page%d.Title", i%7, i)
	}
	g := open(b, pages...)
	for b.Loop() {
		ask(b, g, "$p: String", "match { $x: Page { path: $p } } return { $x.path }", value.OfString("Nothing.Like.It"))
	}
}
