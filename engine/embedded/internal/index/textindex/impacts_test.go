package textindex

import (
	"math/rand/v2"
	"testing"
)

// TestImpactsFrom compares the two ways to select impacts with a loop over the impacts.
func TestImpactsFrom(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for n := 1; n <= blockSize; n++ {
		for range 200 {
			impacts, least := make([]byte, n, n+readAhead), uint8(r.IntN(256))
			var want uint64
			for i := range impacts {
				if impacts[i] = uint8(r.IntN(256)); r.IntN(4) == 0 {
					impacts[i] = least
				}
				if impacts[i] >= least {
					want |= 1 << i
				}
			}
			if got := impactsFromGo(impacts, least); got != want {
				t.Fatalf("impactsFromGo(%v, %d) is %b, want %b", impacts, least, got, want)
			}
			if got := impactsFrom(impacts, least); got != want {
				t.Fatalf("impactsFrom(%v, %d) is %b, want %b", impacts, least, got, want)
			}
		}
	}
}
