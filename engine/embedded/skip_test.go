package embedded

import (
	"context"
	"slices"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// TestSkip checks that the rows after skipped rows are the same as in a full read, within a
// batch and across batches.
func TestSkip(t *testing.T) {
	ctx := context.Background()
	g := create(t, fs.NewMem(), Options{})
	if err := loadText(g, engine.Merge, manyPeople(0, 10_000)); err != nil {
		t.Fatal(err)
	}
	type skipper interface {
		engine.Result
		Skip(n int) int
	}
	open := func() skipper {
		r, err := g.Query(ctx, allPeople, nil, engine.Target{})
		if err != nil {
			t.Fatal(err)
		}
		return r.(skipper)
	}
	names := func(r engine.Result) (all []string) {
		defer r.Close()
		for {
			b, err := r.Next(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if b == nil {
				return all
			}
			for _, s := range b.Columns[0].Strings {
				all = append(all, string([]byte(s)))
			}
		}
	}
	whole := names(open())
	for _, n := range []int{0, 1, 4095, 4096, 4097, 9_999, 10_000} {
		r := open()
		if got := r.Skip(n); got != n {
			t.Errorf("skipped %d of %d", got, n)
		}
		if got := names(r); !slices.Equal(got, whole[n:]) {
			t.Errorf("after %d rows come %d others than in the whole", n, len(got))
		}
		if got := r.Skip(1); got != 0 {
			t.Errorf("skipped %d rows of a closed result", got)
		}
	}
	r := open()
	defer r.Close()
	b, err := r.Next(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if got, left := r.Skip(1<<30), len(whole)-b.Len; got != left {
		t.Errorf("skipped %d rows past the end, want %d", got, left)
	}
	if b, err := r.Next(ctx); b != nil || err != nil {
		t.Errorf("rows after the end: %v, %v", b, err)
	}
}
