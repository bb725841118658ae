package version

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/omnigraph-go/omnigraph/engine"
)

// TestPagesInWindows reads the differences between random states in pages, with windows of few ids. All
// pages together must have the changes that a comparison of each entity finds.
func TestPagesInWindows(t *testing.T) {
	s := testSchema(t)
	typ := s.Nodes[1]
	rng := rand.New(rand.NewPCG(1, 2))
	put := func(tx *Txn, name string, version int) {
		row := anyRow(version)
		tx.Put(typ, Row{ID: name, Vals: row})
	}
	for round := range 60 {
		tx := Begin(NewSnapshot(s, first))
		for i := range 40 {
			put(tx, fmt.Sprint("e", rng.IntN(60)), i)
		}
		was := tx.Commit(first)
		tx = Begin(was.Fork())
		for range rng.IntN(60) {
			name := fmt.Sprint("e", rng.IntN(90))
			if ord, there := tx.Table(typ).Lookup(name); there && rng.IntN(2) == 0 {
				tx.Remove(typ, ord)
			} else {
				put(tx, name, rng.IntN(3))
			}
		}
		is := tx.Commit(first)
		var want []string
		counts := engine.ChangeCounts{}
		for _, name := range names(90) {
			a, b := entityOf(was, typ, name), entityOf(is, typ, name)
			switch {
			case !a.there && b.there:
				want, counts.Inserted = append(want, "inserted "+name), counts.Inserted+1
			case a.there && !b.there:
				want, counts.Deleted = append(want, "deleted "+name), counts.Deleted+1
			case a.there && !a.same(&b):
				want, counts.Updated = append(want, "updated "+name), counts.Updated+1
			}
		}
		for _, window := range []int{1, 2, 7, 1000} {
			for _, limit := range []int{1, 3, 0} {
				d, r := Compare(was, is), engine.ChangeRange{Limit: limit}
				var got []string
				for more := true; more; {
					var list []engine.EntityChange
					var err error
					if list, more, err = d.page(t.Context(), &r, window); err != nil {
						t.Fatal(err)
					}
					for i := range list {
						got = append(got, list[i].Kind.String()+" "+list[i].ID)
						r.After = list[i].Position()
					}
					if n := d.Found(); n > window {
						t.Fatalf("round %d: %d ids in memory with a window of %d", round, n, window)
					}
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("round %d, window %d, limit %d (-want +got):\n%s", round, window, limit, diff)
				}
				if tally, err := d.Counts(t.Context()); err != nil || tally.Nodes != counts || tally.Edges != (engine.ChangeCounts{}) {
					t.Fatalf("round %d: counts %+v, %v; want %+v", round, tally, err, counts)
				}
			}
		}
	}
}

// names returns the names of the entities of TestPagesInWindows, in the order of ids.
func names(n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprint("e", i))
	}
	slices.Sort(all)
	return all
}

// TestMergeHonoursContext merges with a context that has ended.
func TestMergeHonoursContext(t *testing.T) {
	s := testSchema(t)
	typ := s.Nodes[1]
	base := NewSnapshot(s, first)
	tx := Begin(base.Fork())
	for i := range 3000 {
		tx.Put(typ, Row{ID: fmt.Sprint("e", i), Vals: anyRow(i)})
	}
	source := tx.Commit(first)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Begin(base.Fork()).Merge(ctx, base, source, MergeOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a merge after the end of its context: %v", err)
	}
	// The context may also end after the search for the changes.
	m := &merge{ctx: ctx, tx: Begin(base.Fork()), puts: make([]mergePut, 2000)}
	for i := range m.puts {
		m.puts[i] = mergePut{t: typ, id: fmt.Sprint("e", i), vals: anyRow(i)}
	}
	if err := m.apply(); !errors.Is(err, context.Canceled) || m.out.Nodes >= 1024 {
		t.Errorf("%d nodes were put, %v", m.out.Nodes, err)
	}
	if _, err := Compare(base, source).Counts(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("counts after the end of the context: %v", err)
	}
	if _, _, err := Compare(base, source).Page(ctx, &engine.ChangeRange{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a page after the end of the context: %v", err)
	}
}
