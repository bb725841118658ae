package embedded

import (
	"errors"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// TestCollectedNodesInBatches collects more nodes than one batch may have records. The engine must then put fewer rows
// into each batch.
func TestCollectedNodesInBatches(t *testing.T) {
	g := create(t, fs.NewMem(), Options{})
	const people = 350
	if err := loadText(g, engine.Merge, crowdOf(people)); err != nil {
		t.Fatal(err)
	}
	r, err := g.Query(t.Context(), compiled(t, "match { $p: Person $q: Person } return { $p.name, collect($q) as l }"), nil, engine.Target{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	rows, batches := 0, 0
	for {
		b, err := r.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if b == nil {
			break
		}
		l := &b.Columns[1]
		if n := int(l.Offsets[b.Len]); n > plan.MaxNested || n != people*b.Len {
			t.Fatalf("a batch of %d rows has %d nodes", b.Len, n)
		}
		for i := range b.Len {
			first, last := int(l.Offsets[i]), int(l.Offsets[i+1])-1
			if a, z := l.Fields[0].Value(first).Str(), l.Fields[0].Value(last).Str(); a != "p000000" || z != "p000349" {
				t.Fatalf("row %d has the nodes from %s to %s", rows+i, a, z)
			}
		}
		rows, batches = rows+b.Len, batches+1
	}
	if rows != people || batches < 2 {
		t.Errorf("%d rows in %d batches", rows, batches)
	}
}

// TestCollectedNodesOfOneRow collects more nodes into one row than it may have records.
func TestCollectedNodesOfOneRow(t *testing.T) {
	g := create(t, fs.NewMem(), Options{})
	if err := loadText(g, engine.Merge, crowdOf(plan.MaxCollected)); err != nil {
		t.Fatal(err)
	}
	for lists, large := range map[int]bool{plan.MaxNested / plan.MaxCollected: false, plan.MaxNested/plan.MaxCollected + 1: true} {
		columns := make([]string, lists)
		for i := range columns {
			columns[i] = "collect($p) as l" + string(rune('a'+i))
		}
		r, err := g.Query(t.Context(), compiled(t, "match { $p: Person } return { "+strings.Join(columns, ", ")+" }"), nil, engine.Target{})
		if err == nil {
			_, err = drain(t.Context(), r)
		}
		var tooLarge *engine.TooLarge
		if got := errors.As(err, &tooLarge); got != large || err != nil && !got || got && !strings.HasPrefix(tooLarge.Resource, "nested records in one row, at last of l") {
			t.Errorf("%d lists of %d nodes: %v", lists, plan.MaxCollected, err)
		}
	}
}
