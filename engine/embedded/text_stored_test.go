package embedded

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index/textindex"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// TestLoadStoresTexts loads texts of a searchable property. The close, or on a server the next
// checkpoint, must store the index of the texts. A search after a reopen then must not build an
// index. An index that the schema does not declare must be stored only after a search has built it.
func TestLoadStoresTexts(t *testing.T) {
	ctx := context.Background()
	const notes = 30
	for _, test := range []struct {
		name                  string
		declared              bool // the property is declared with @index
		rows                  uint32
		checkpoint, searching bool // before the close
		closing               time.Duration
		stored                bool
	}{
		{"closing", true, notes, false, false, time.Minute, true},
		{"closing without time for it", true, notes, false, false, 1, false},
		{"a checkpoint", true, notes, true, false, 1, true},
		{"too few texts", true, notes + 1, false, false, time.Minute, false},
		{"not declared", false, notes, true, false, time.Minute, false},
		{"not declared, but searched", false, notes, false, true, time.Minute, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			fsys, opts, schema := fs.NewMem(), Options{quiet: true, indexed: test.rows, closingTexts: test.closing}, people()
			note := schema.Nodes[1]
			note.Unique = nil
			if note.Index = [][]string{{"text", "kind"}}; test.declared {
				note.Index = append(note.Index, []string{"text"})
			}
			note.Properties = append(slices.Clone(note.Properties), prop("kind", value.Type{Kind: value.String, Enum: []string{"a"}, Nullable: true}))
			note.Index = append(note.Index, []string{"kind"})
			schema.Index()
			g, err := Create(ctx, fsys, dir, "// notes", schema, opts)
			must(t, err)
			var b strings.Builder
			for i := range notes {
				fmt.Fprintf(&b, `{"type":"Note","data":{"id":"n%d","text":"hello number %d"}}`+"\n", i, i)
			}
			_, err = g.Load(ctx, strings.NewReader(b.String()), engine.LoadOptions{Mode: engine.Append})
			must(t, err)
			if test.searching {
				_, err := search(g, "hello")
				must(t, err)
			}
			if test.checkpoint {
				must(t, g.checkpoints.make(ctx))
			}
			must(t, g.Close())
			g, err = Open(ctx, fsys, dir, opts)
			must(t, err)
			defer g.Close()
			rows, err := search(g, "hello")
			must(t, err)
			if n := strings.Count(rows, "hello"); n != notes {
				t.Errorf("%d notes have the word, want %d", n, notes)
			}
			if got := buildsTexts(g); got == test.stored {
				t.Errorf("the first search has built an index: %t", got)
			}
			must(t, g.Verify(ctx))
		})
	}
}

func prop(name string, t value.Type) *catalog.Property { return &catalog.Property{Name: name, Type: t} }

// buildsTexts reports whether the notes have a text index that is only in memory.
func buildsTexts(g *Graph) bool {
	notes := g.branches.main.head.Load().snap.Tables()[1]
	return slices.ContainsFunc(notes.Unstored(1), func(x version.Unstored) bool {
		_, text := x.(*textindex.Text)
		return text
	})
}
