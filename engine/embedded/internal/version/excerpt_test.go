package version

import (
	"slices"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
)

// without returns an excerpt of a state without some of its edges. The type of their sources has a filter that hides nothing.
func without(t *testing.T, s *Snapshot, last *Excerpt, ids ...string) *Excerpt {
	t.Helper()
	hidden := NewSelection(s)
	hidden.Nodes[0] = engine.NewBitmap(int(s.nodes[0].next))
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

// TestExcerptBytes expects that an excerpt is charged for the bases of its edges only if they are neither those of the whole state nor those of
// another excerpt.
func TestExcerptBytes(t *testing.T) {
	s, _ := indexed(t)
	all := without(t, s, nil)
	var rows int64 // without the bases
	for i, t := range all.Snapshot.Tables() {
		if t != s.Tables()[i] {
			rows += 4*int64(t.next) + 8*int64(len(t.alive)+len(t.home))
		}
	}
	kept := without(t, s, nil, "e0")
	bases := kept.Bytes(nil) - rows
	if bases <= 0 {
		t.Fatalf("the bases without an edge need %d bytes", bases)
	}
	later := without(t, s, kept, "e0", "late")
	edges := rows - 4*int64(s.nodes[0].next) - 8*int64(len(all.Snapshot.nodes[0].alive)+len(all.Snapshot.nodes[0].home))
	listed := 8 * int64(len(later.Snapshot.edges[0].listed))
	for _, c := range []struct {
		name      string
		of        *Excerpt
		others    []*Excerpt
		wantBytes int64
	}{
		{"with the bases of the state", all, nil, rows},
		{"with the bases of no other excerpt", later, []*Excerpt{all}, rows + bases + listed},
		{"with the bases of another excerpt", later, []*Excerpt{kept}, edges + listed},
		{"with the bases of an excerpt before the last one", later, []*Excerpt{kept, all}, edges + listed},
	} {
		if got := c.of.Bytes(c.others); got != c.wantBytes {
			t.Errorf("an excerpt %s needs %d bytes, want %d", c.name, got, c.wantBytes)
		}
	}
}

// TestKeptBases derives an excerpt from one without the edge e0, and expects whether it shares its bases, and whether they have live edges only.
func TestKeptBases(t *testing.T) {
	s, _ := indexed(t)
	kept := without(t, s, nil, "e0")
	for _, c := range []struct {
		name         string
		hidden       []string
		shared, live bool
	}{
		{"the same edges", []string{"e0"}, true, true},
		{"without an edge of a level", []string{"e0", "later1"}, true, true},
		{"without an edge of the overlay", []string{"e0", "late"}, true, true},
		{"without one more edge of the base", []string{"e0", "e2"}, true, false},
		{"without two more edges of the base", []string{"e0", "e2", "e3"}, false, true},
		{"with the edge", nil, false, true},
		{"with the edge instead of another one", []string{"e2"}, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			// The second excerpt is derived from the first one, whose bases may have dead edges.
			for i, last := 0, kept; i < 2; i++ {
				x := without(t, s, last, c.hidden...)
				table, of := x.Snapshot.edges[0], last.Snapshot.edges[0]
				if shared := table.out.SameBase(&of.out) && table.in.SameBase(&of.in); shared != c.shared && i == 0 || !shared && i > 0 {
					t.Errorf("excerpt %d shares the bases: %t", i, shared)
				}
				if table.BaseLive() != c.live {
					t.Errorf("excerpt %d has bases of live edges only: %t, want %t", i, table.BaseLive(), c.live)
				}
				for _, side := range []struct{ kept, whole *index.Adjacency }{{table.Out(), s.edges[0].Out()}, {table.In(), s.edges[0].In()}} {
					for node := range max(s.nodes[0].next, s.nodes[1].next) {
						var got, want []uint32
						edges, _ := side.kept.Base(node)
						for _, e := range edges {
							if c.live || table.Alive(e) {
								got = append(got, e)
							}
						}
						edges, _ = side.whole.Base(node)
						for _, e := range edges {
							if table.Alive(e) {
								want = append(want, e)
							}
						}
						if !slices.Equal(got, want) {
							t.Errorf("excerpt %d: node %d has the edges %d, want %d", i, node, got, want)
						}
					}
				}
				last = x
			}
		})
	}
}

// TestDeadListed compares the edges that bases list with those that live.
func TestDeadListed(t *testing.T) {
	set := func(n int, without ...int) engine.Bitmap {
		s := engine.NewBitmap(n)
		for i := range n {
			if !slices.Contains(without, i) {
				s.Set(i)
			}
		}
		return s
	}
	for _, c := range []struct {
		name          string
		listed, alive engine.Bitmap
		n             uint32
		dead          int
		share         bool
	}{
		{"no edges", set(0), set(0), 0, 0, true},
		{"all live", set(100), set(200), 100, 0, true},
		{"one dies", set(100), set(200, 70), 100, 1, true},
		{"a later one dies", set(100), set(100, 99), 99, 0, true},
		{"a sixteenth dies", set(64), set(64, 0, 9, 40, 63), 64, 4, true},
		{"more die", set(64), set(64, 0, 9, 40, 62, 63), 64, 5, false},
		{"one comes to life", set(100, 80), set(100), 100, 0, false},
		{"a later one comes to life", set(100, 80), set(100), 80, 0, true},
	} {
		if dead, share := deadListed(c.listed, c.alive, c.n); dead != c.dead || share != c.share {
			t.Errorf("%s: %d dead, share %t; want %d, %t", c.name, dead, share, c.dead, c.share)
		}
	}
}
