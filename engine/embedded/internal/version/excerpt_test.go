package version

import (
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
)

// TestExcerptBytes expects that an excerpt is charged for the bases of its edges only if they are neither those of the whole state nor those of
// another excerpt.
func TestExcerptBytes(t *testing.T) {
	s, _ := indexed(t)
	without := func(last *Excerpt, ids ...string) *Excerpt {
		t.Helper()
		hidden := NewSelection(s)
		hidden.Nodes[0] = engine.NewBitmap(int(s.nodes[0].next)) // empty: the type has a filter that hides nothing
		hidden.Edges[0] = engine.NewBitmap(int(s.edges[0].next))
		for _, id := range ids {
			ord, ok := s.edges[0].Lookup(id)
			if !ok {
				t.Fatalf("there is no edge %s", id)
			}
			hidden.Edges[0].Set(int(ord))
		}
		x, err := s.Excerpt(t.Context(), hidden, last)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	all := without(nil)
	var rows int64 // without the bases
	for i, t := range all.Snapshot.Tables() {
		if t != s.Tables()[i] {
			rows += 4*int64(t.next) + 8*int64(len(t.alive)+len(t.home))
		}
	}
	kept := without(nil, "e0")
	bases := kept.Bytes(nil) - rows
	if bases <= 0 {
		t.Fatalf("the bases without an edge need %d bytes", bases)
	}
	later := without(kept, "e0", "late")
	edges := rows - 4*int64(s.nodes[0].next) - 8*int64(len(all.Snapshot.nodes[0].alive)+len(all.Snapshot.nodes[0].home))
	for _, c := range []struct {
		name      string
		of        *Excerpt
		others    []*Excerpt
		wantBytes int64
	}{
		{"with the bases of the state", all, nil, rows},
		{"with the bases of no other excerpt", later, []*Excerpt{all}, rows + bases},
		{"with the bases of another excerpt", later, []*Excerpt{kept}, edges},
		{"with the bases of an excerpt before the last one", later, []*Excerpt{kept, all}, edges},
	} {
		if got := c.of.Bytes(c.others); got != c.wantBytes {
			t.Errorf("an excerpt %s needs %d bytes, want %d", c.name, got, c.wantBytes)
		}
	}
}
