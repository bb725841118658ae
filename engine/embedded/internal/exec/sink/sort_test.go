package sink

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
)

func TestSelectFirst(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 500 {
		n := 1 + rng.IntN(200)
		k := 1 + rng.IntN(n)
		rows := make([]entry, n)
		for i, r := range rng.Perm(n) {
			rows[i] = entry{head: uint64(r / 4), row: uint32(r)} // many rows share a head
		}
		compare := func(a, b entry) int { return cmp.Compare(a.row, b.row) }
		selectFirst(rows, k, compare)
		slices.SortFunc(rows[:k], compare)
		slices.SortFunc(rows[k:], compare)
		if !slices.IsSortedFunc(rows, compare) {
			t.Fatalf("the first %d of %d are %v", k, n, rows[:k])
		}
	}
}

// TestPrunes collects rows and counts how many are sorted on the way. For every limit, the
// count must be proportional to the number of rows.
func TestPrunes(t *testing.T) {
	for _, limit := range []int64{0, 1, 100, 5000, 1 << 20, 1 << 40, math.MaxInt64/4 + 1, math.MaxInt64} {
		rows, sorted, total := 0, 0, 4_000_000
		for range total / eval.FrameSize {
			if rows += eval.FrameSize; prunes(rows, limit) {
				sorted += rows
				rows = min(rows, int(limit))
			}
		}
		if sorted > 2*total {
			t.Errorf("limit %d: %d rows are sorted for %d", limit, sorted, total)
		}
	}
}
