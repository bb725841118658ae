package exec

import (
	"math"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
)

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
