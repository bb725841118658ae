package ancestry

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/logrecord"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/slow"
)

// drawHistory makes a history of n commits with random parents. The numbers of a commit and its
// parent differ by at most `back`. The parameter `merges` is the percentage of commits with a
// second parent.
func drawHistory(rng *rand.Rand, n, back, merges int) *History {
	h := new(History)
	for i := range n {
		c := engine.Commit{ID: commitID(i), Seq: 1}
		if i > 0 {
			c.Parents = append(c.Parents, commitID(max(0, i-1-rng.IntN(back))))
			if rng.IntN(100) < merges {
				c.Parents = append(c.Parents, commitID(max(0, i-1-rng.IntN(back))))
			}
		}
		_ = h.Add(logrecord.Commit{Commit: c}, 0)
	}
	return h
}

// naiveBases calls CommonAncestor for every pair of heads.
func naiveBases(h *History, heads []string) []string {
	var all []string
	for i := range heads {
		for j := range i {
			if id, ok := h.CommonAncestor(heads[i], heads[j]); ok {
				all = append(all, id)
			}
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	slices.Reverse(all)
	return all
}

// TestMergeBases draws histories: some are trees, and in others nearly every commit is a merge. The
// walk from all heads must find the same as one walk for each pair of heads.
func TestMergeBases(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	crossed := 0
	for i := range 3000 {
		n := 2 + rng.IntN(80)
		h := drawHistory(rng, n, 1+rng.IntN(12), []int{0, 10, 40, 90}[i%4])
		var heads []string
		for range 1 + rng.IntN(12) {
			heads = append(heads, commitID(rng.IntN(n)))
		}
		want := naiveBases(h, heads)
		if len(want) >= len(heads) {
			crossed++ // more bases than a tree can have
		}
		if got := h.MergeBases(heads); !slices.Equal(got, want) {
			t.Fatalf("history %d, heads %v: bases %v, want %v", i, heads, got, want)
		}
		id := commitID(rng.IntN(n))
		var lowest []string
		for _, head := range heads {
			if base, ok := h.CommonAncestor(id, head); ok && !slices.Contains(lowest, base) {
				lowest = append(lowest, base)
			}
		}
		slices.Sort(lowest)
		if got := h.LowestWith(id, heads); !slices.Equal(got, lowest) {
			t.Fatalf("history %d, commit %s with %v: %v, want %v", i, id, heads, got, lowest)
		}
	}
	if crossed < 20 {
		t.Errorf("%d of the histories have more bases than a tree could have, want at least 20", crossed)
	}
}

// TestMergeBasesBound checks that no base is missing when the number of pairs in memory
// reaches its bound.
func TestMergeBasesBound(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	more := 0
	for i := range 500 {
		n := 2 + rng.IntN(80)
		h := drawHistory(rng, n, 8, 90)
		var heads []string
		for range 12 {
			heads = append(heads, commitID(rng.IntN(n)))
		}
		got, want := h.mergeBases(heads, 3), naiveBases(h, heads)
		for _, id := range want {
			if !slices.Contains(got, id) {
				t.Fatalf("history %d, heads %v: bases %v, want %v too", i, heads, got, id)
			}
		}
		more += len(got) - len(want)
	}
	if more == 0 {
		t.Error("the bound was never reached")
	}
}

// TestMergeBasesOfMany bounds the time for 10,000 branches in typical forms of a
// repository: all started from one commit, each from its own, all merged, each updated from
// main.
func TestMergeBasesOfMany(t *testing.T) {
	slow.Test(t)
	const n = 10_000
	for _, c := range []struct {
		name  string
		build func(add func(parents ...int) int) (heads []int)
		want  int
	}{
		{"from one commit", func(add func(...int) int) (heads []int) {
			root := add()
			for range n {
				heads = append(heads, add(root))
			}
			return heads
		}, 1},
		{"each from its own", func(add func(...int) int) (heads []int) {
			main := add()
			for range n {
				heads = append(heads, add(main))
				main = add(main)
			}
			return append(heads, main)
		}, n},
		{"all merged", func(add func(...int) int) (heads []int) {
			root := add()
			main := add(root)
			for range n {
				heads = append(heads, add(root))
				main = add(main, heads[len(heads)-1])
			}
			return append(heads, main)
		}, n + 1},
		{"each updated from main", func(add func(...int) int) (heads []int) {
			root := add()
			main := add(root)
			for range n {
				heads = append(heads, add(add(root), main))
				main = add(main)
			}
			return append(heads, main)
		}, n},
	} {
		t.Run(c.name, func(t *testing.T) {
			var h History
			made := 0
			heads := c.build(func(parents ...int) int {
				commit := engine.Commit{ID: commitID(made), Seq: 1}
				for _, p := range parents {
					commit.Parents = append(commit.Parents, commitID(p))
				}
				h.Add(logrecord.Commit{Commit: commit}, 0)
				made++
				return made - 1
			})
			var ids []string
			for _, i := range heads {
				ids = append(ids, commitID(i))
			}
			start := clock.Now()
			got := h.MergeBases(ids)
			took := clock.Since(start)
			t.Log(fmt.Sprint(len(got), " bases in ", took))
			if len(got) != c.want {
				t.Errorf("%d bases, want %d", len(got), c.want)
			}
			if took > 20*time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
}
