package version

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
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
	for round := range 16 {
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
		for i := range 4 * 3 {
			window, limit, counted := []int{1, 2, 7, 1000}[i%4], []int{1, 3, 0}[i/4], round%2 == 1
			d, r := Compare(was, is), engine.ChangeRange{Limit: limit}
			if counted { // the pages then skip and end early
				if _, err := d.Counts(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(want, pagesOf(t, d, r, window)); diff != "" {
				t.Fatalf("round %d, window %d, limit %d, counted %v (-want +got):\n%s", round, window, limit, counted, diff)
			}
			for _, kind := range []engine.ChangeKind{engine.Inserted, engine.Updated, engine.Deleted} {
				r.Kinds = []engine.ChangeKind{kind}
				some := slices.DeleteFunc(slices.Clone(want), func(line string) bool { return !strings.HasPrefix(line, kind.String()+" ") })
				if got := pagesOf(t, d, r, window); !slices.Equal(got, some) {
					t.Fatalf("round %d, window %d, limit %d, counted %v: the pages of %s entities are %v, want %v", round, window, limit, counted, kind, got, some)
				}
			}
			var h engine.ChangeHash
			hashed, err := Compare(was, is).Digest(t.Context(), &h, window)
			if err != nil {
				t.Fatal(err)
			}
			found, err := d.Counts(t.Context())
			if err != nil || !reflect.DeepEqual(found, hashed) || found.Nodes != counts || found.Edges != (engine.ChangeCounts{}) {
				t.Fatalf("round %d: counts %+v and %+v, %v; want %+v", round, found, hashed, err, counts)
			}
			var whole engine.ChangeHash
			list, _, err := Compare(was, is).Page(t.Context(), &engine.ChangeRange{})
			if err != nil {
				t.Fatal(err)
			}
			for i := range list {
				whole.Change(&list[i])
			}
			if a, b := h.Sum(), whole.Sum(); a != b {
				t.Fatalf("round %d: the digest is %s, that of the list %s", round, a, b)
			}
		}
	}
}

// pagesOf reads the changes in pages, and lists their kinds and ids.
func pagesOf(t *testing.T, d *Difference, r engine.ChangeRange, window int) (all []string) {
	t.Helper()
	for more := true; more; {
		var list []engine.EntityChange
		var err error
		if list, more, err = d.page(t.Context(), &r, window); err != nil {
			t.Fatal(err)
		}
		for i := range list {
			all = append(all, list[i].Kind.String()+" "+list[i].ID)
			r.After = list[i].Position()
		}
		if n := d.Found(); n > window {
			t.Fatalf("%d candidates in memory with a window of %d", n, window)
		}
	}
	return all
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
