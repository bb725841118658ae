package version

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// sizes returns the number of entries of each level of a table's indexes.
func (t *Table) sizes() (all []int) {
	for _, l := range t.levels {
		all = append(all, l.entries)
	}
	return all
}

// TestLevels commits edges and nodes in rounds, and stores the state after each round. The levels
// of the indexes must have the expected numbers of entries. A state that is opened from the stored
// levels must have the same entities.
func TestLevels(t *testing.T) {
	entries, full := index.LevelEntries, index.FullLevel
	defer func() { index.LevelEntries, index.FullLevel = entries, full }()
	index.LevelEntries, index.FullLevel = 9, 2000
	s := testSchema(t)
	nodes, edges := s.Nodes[1], s.Edges[0]
	files := memory{}
	made := 0
	grow := func(base *Snapshot, n int) *Snapshot {
		t.Helper()
		tx := Begin(base)
		for range n {
			tx.Put(nodes, Row{ID: fmt.Sprintf("n%06d", made), Vals: anyRow(made)})
			tx.Put(edges, Row{ID: fmt.Sprintf("e%06d", made), Src: uint32(made % 4), Dst: uint32(made / 2), Vals: []value.Value{value.OfI32(int32(made))}})
			made++
		}
		return tx.Commit(first)
	}
	pairs := Begin(NewSnapshot(s, first))
	for i := range 4 {
		vals := []value.Value{value.OfString(fmt.Sprint("p", i)), value.OfI32(int32(i))}
		pairs.Put(s.Nodes[0], Row{ID: string(s.Nodes[0].AppendID(nil, vals)), Vals: vals})
	}
	base := grow(pairs.Commit(first), 500)
	for i, c := range []struct {
		new  int
		want []int
	}{
		{0, []int{500}},
		{9, []int{500}}, // stays in the overlay
		{1, []int{500, 10}},
		{10, []int{500, 20}},
		{10, []int{500, 30}},
		{100, []int{630}},
		{100, []int{630, 100}},
		{25, []int{630, 100, 25}},
		{1400, []int{2155}},
		{800, []int{2155, 800}},
		{200, []int{2155, 800, 200}},
		{1, []int{2155, 800, 200}},
		{9, []int{2155, 800, 200, 10}},
		{40, []int{2155, 800, 200, 50}},
		{2000, []int{2155, 3050}},
		{600, []int{2155, 3050, 600}}, // a full level stays
	} {
		base = grow(base, c.new)
		var payload []byte
		base, payload = store(t, base, files)
		for _, table := range []*Table{base.nodes[1], base.edges[0]} {
			if got := table.sizes(); !slices.Equal(got, c.want) {
				t.Fatalf("round %d: the levels of %s have the sizes %d, expected %d", i, table.Type.Name, got, c.want)
			}
			if n := table.overlay(); n > index.LevelEntries {
				t.Errorf("round %d: the overlay of %s has %d entries", i, table.Type.Name, n)
			}
		}
		m, err := ReadManifest(payload, decode(t), files)
		if err != nil {
			t.Fatalf("round %d: %v", i, err)
		}
		opened := m.Branches[0].Head
		if got := opened.edges[0].sizes(); !slices.Equal(got, c.want) {
			t.Errorf("round %d: opened, the levels have the sizes %d, expected %d", i, got, c.want)
		}
		if a, b := content(base), content(opened); !maps.Equal(a, b) {
			t.Fatalf("round %d: the opened state has other entities", i)
		}
		for _, state := range []*Snapshot{base, opened} {
			var v Verifier
			if err := v.Verify(context.Background(), state); err != nil {
				t.Fatalf("round %d: %v", i, err)
			}
		}
		if i%2 > 0 {
			base = opened
		}
	}
	for number := len(base.nodes[1].levels); number <= index.MaxLevels; number++ {
		index.FullLevel = 1
		base, _ = store(t, grow(base, 10), files)
		want := number + 1
		if number == index.MaxLevels {
			want = 1 // all levels are merged
		}
		if got := len(base.nodes[1].levels); got != want {
			t.Fatalf("with %d levels, a checkpoint leaves %d, expected %d", number, got, want)
		}
	}
}

// TestLevelOfUpdates updates, deletes and adds entities while a checkpoint stores a level of their
// indexes. The state that goes on from the stored one must be intact.
func TestLevelOfUpdates(t *testing.T) {
	defer lowLevels()()
	s := testSchema(t)
	files := memory{}
	base, _ := store(t, change(t, s).Commit(first), files)
	for round := range 5 {
		tx := Begin(base)
		for i := range 4 {
			tx.Put(s.Nodes[1], Row{ID: fmt.Sprint("any", i), Vals: anyRow(10*round + i)})
			tx.Put(s.Nodes[1], Row{ID: fmt.Sprint("new", round, i), Vals: anyRow(100 + 10*round + i)})
		}
		captured := tx.Commit(first)
		tx = Begin(captured)
		tx.Put(s.Nodes[1], Row{ID: fmt.Sprint("new", round, 1), Vals: anyRow(200 + round)})
		tx.Put(s.Nodes[1], Row{ID: fmt.Sprint("late", round), Vals: anyRow(300 + round)})
		if ord, ok := tx.Table(s.Nodes[1]).Lookup(fmt.Sprint("new", round, 2)); ok {
			tx.Delete(s.Nodes[1], ord)
		}
		later := tx.Commit(first)
		want := content(later)
		var c Checkpoint
		for _, table := range captured.Tables() {
			f, ok, err := c.Flush(table)
			if err != nil {
				t.Fatal(err)
			}
			if ok {
				name := fmt.Sprint("flush", len(files))
				files[name] = map[string][]byte{}
				if err := f.Segment.Blocks(table.Type, func(block string, data []byte) error {
					files[name][block] = slices.Clone(data)
					return nil
				}); err != nil {
					t.Fatal(err)
				}
				f.Segment.Name = name
			}
		}
		c.Snapshot(captured)
		base = c.Adopt(captured, later)
		if n := len(base.nodes[1].levels); n < 2 {
			t.Fatalf("round %d: there are %d levels", round, n)
		}
		if got := content(base); !maps.Equal(got, want) {
			t.Fatalf("round %d: the state is\n%v\nwant\n%v", round, got, want)
		}
		var v Verifier
		if err := v.Verify(context.Background(), base); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
	}
	again, payload := store(t, base, files)
	m, err := ReadManifest(payload, decode(t), files)
	if err != nil {
		t.Fatal(err)
	}
	if got := content(m.Branches[0].Head); !maps.Equal(got, content(again)) {
		t.Error("the opened state has other entities")
	}
}
