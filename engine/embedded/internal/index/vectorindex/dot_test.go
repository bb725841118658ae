package vectorindex

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestDots(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for dim := DotStep; dim <= 5*DotStep; dim += DotStep {
		for n := range 9 {
			most := math.MaxInt16
			codes, y := make([]int8, n*dim), make([]int16, dim)
			extreme := n%3 == 0
			for i := range codes {
				if codes[i] = int8(r.IntN(255) - 127); extreme {
					codes[i] = -127
				}
			}
			for i := range y {
				if y[i] = int16(r.IntN(2*most+1) - most); extreme {
					y[i] = int16(most)
				}
			}
			got, want, plain := make([]int32, n), make([]int32, n), make([]int32, n)
			for i := range want {
				for k := range y {
					want[i] += int32(codes[i*dim+k]) * int32(y[k])
				}
			}
			Dots(got, codes, y)
			dotsGo(plain, codes, y)
			if !slices.Equal(got, want) || !slices.Equal(plain, want) {
				t.Fatalf("%d vectors of %d components: found %v and %v, expected %v", n, dim, got, plain, want)
			}
		}
	}
}
