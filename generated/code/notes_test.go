package code_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/generated/code"
)

// TestAddNoteAgain adds a note, repeats the call, and moves the note to another symbol.
func TestAddNoteAgain(t *testing.T) {
	ctx := t.Context()
	g := openGraph(ctx)
	defer g.Close()
	const symbol = `{"type":"Symbol","data":{"path":"%s","name":"F","kind":"func","exported":true,"line":1,"words":"f"}}` + "\n"
	if _, err := g.Load(ctx, strings.NewReader(fmt.Sprintf(symbol+symbol, "m.F", "m.G")), engine.LoadOptions{Mode: engine.Append}); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		note       code.AddNoteParams
		ofF, ofG   []string
		whatItDoes string
	}{
		{code.AddNoteParams{Slug: "n", Symbol: "m.F", Text: "first"}, []string{"first"}, nil, "inserts"},
		{code.AddNoteParams{Slug: "n", Symbol: "m.F", Text: "first"}, []string{"first"}, nil, "repeats"},
		{code.AddNoteParams{Slug: "n", Symbol: "m.F", Text: "second"}, []string{"second"}, nil, "replaces"},
		{code.AddNoteParams{Slug: "n", Symbol: "m.G", Text: "second"}, nil, []string{"second"}, "moves"},
	} {
		if _, err := code.AddNote(ctx, g, tt.note); err != nil {
			t.Fatalf("a call that %s the note: %v", tt.whatItDoes, err)
		}
		for path, want := range map[string][]string{"m.F": tt.ofF, "m.G": tt.ofG} {
			rows, err := code.NotesAbout(ctx, g, code.NotesAboutParams{Symbol: path})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, row := range rows {
				got = append(got, row.Text)
			}
			if !slices.Equal(got, want) {
				t.Errorf("after a call that %s the note, %s has the notes %q, expected %q", tt.whatItDoes, path, got, want)
			}
		}
	}
}
