package operations

import (
	"context"
	"fmt"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
)

// counting counts the states that are asked for.
type counting struct {
	engine.Graph
	asked int
}

func (g *counting) Snapshot(_ context.Context, at engine.Target) (*engine.Snapshot, error) {
	g.asked++
	return &engine.Snapshot{Nodes: []engine.TypeCount{{Count: 2}, {Count: 3}}, Edges: []engine.TypeCount{{Count: int64(len(at.Commit))}}}, nil
}

// TestSizes asks for the sizes of more commits than are remembered.
func TestSizes(t *testing.T) {
	g, known := &counting{}, &Sizes{}
	want := size{nodes: 5, edges: 4}
	for range 2 {
		if got, err := known.at(t.Context(), g, "0000"); got != want || err != nil || g.asked != 1 {
			t.Fatalf("the size is %v, %v after %d states, want %v after 1", got, err, g.asked, want)
		}
	}
	for i := range maxSizes {
		if _, err := known.at(t.Context(), g, fmt.Sprintf("%05d", i)); err != nil {
			t.Fatal(err)
		}
	}
	if len(known.of) != maxSizes {
		t.Errorf("%d sizes are remembered, want %d", len(known.of), maxSizes)
	}
}
