package load

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestByHead compares the radix sort of heads with a stable sort that compares them.
func TestByHead(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, mask := range []uint64{0, 0xff, 0x3f_00_00_00_07, 0xff << 56, 1<<64 - 1} {
		for _, n := range []int{0, 1, 2, 300, 5000} {
			items := make([]item, n)
			for i := range items {
				items[i] = item{rng.Uint64() & mask, uint32(i)}
			}
			want := slices.Clone(items)
			slices.SortStableFunc(want, func(x, y item) int { return cmp.Compare(x.head, y.head) })
			if got := byHead(items); !slices.Equal(got, want) {
				t.Errorf("%d items with heads below the mask %x are not in order", n, mask)
			}
		}
	}
}
