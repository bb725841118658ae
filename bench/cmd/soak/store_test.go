package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// TestCompare compares a store of a few notes and a branch with two ledgers: a correct one, and one
// with an acknowledged write that the store lacks.
func TestCompare(t *testing.T) {
	const source = "node Note {\n  slug: String @key\n  text: String\n}\n"
	schema, faults := gq.CompileSchema(gq.Source{Name: "schema.pg", Text: source})
	if faults.HasErrors() {
		t.Fatal(faults)
	}
	dir := filepath.Join(t.TempDir(), "store")
	g, err := embedded.Create(t.Context(), fs.OS(), dir, source, schema, embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	l := newLedger()
	for _, slug := range []string{"a", "b"} {
		res, err := g.Load(t.Context(), strings.NewReader(`{"type":"Note","data":{"slug":"`+slug+`","text":"of `+slug+`"}}`), engine.LoadOptions{Mode: engine.Append})
		if err != nil {
			t.Fatal(err)
		}
		if slug == "a" {
			l.note(slug, "of a", true)
			continue
		}
		l.share(slug, write{commit: res.Commit.ID, text: "of b"})
	}
	if _, err := g.CreateBranch(t.Context(), "draft", engine.Target{}); err != nil {
		t.Fatal(err)
	}
	l.branch("draft", made, true)
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	if lost, checked, err := compare(t.Context(), dir, l); err != nil || len(lost) > 0 || checked != 3 {
		t.Errorf("of %d keys %q differ, %v", checked, lost, err)
	}
	l.note("c", "acknowledged and lost", true)
	l.note("a", absent, true)
	if lost, _, err := compare(t.Context(), dir, l); err != nil || len(lost) != 2 || !strings.Contains(lost[0], "note a") || !strings.Contains(lost[1], "note c") {
		t.Errorf("differing are %q, %v", lost, err)
	}
}
