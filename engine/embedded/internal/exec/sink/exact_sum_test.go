package sink

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestExactSum compares sums with arbitrary-precision sums, and with sums in another order.
func TestExactSum(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		n := rng.IntN(40)
		xs := make([]float64, n)
		exact := new(big.Float).SetPrec(4000)
		for i := range xs {
			xs[i] = math.Ldexp(rng.Float64()-0.5, rng.IntN(200)-100)
			if i > 0 && rng.IntN(4) == 0 {
				xs[i] = -xs[i-1]
			}
			exact.Add(exact, new(big.Float).SetFloat64(xs[i]))
		}
		want, _ := exact.Float64()
		var a, b exactSum
		for i := range xs {
			a.add(xs[i])
			b.add(xs[n-1-i])
		}
		if a.value() != want || b.value() != want {
			t.Fatalf("sum of %v is %v, backwards %v, want %v", xs, a.value(), b.value(), want)
		}
	}
}

func TestExactSumOfIntegers(t *testing.T) {
	var s exactSum
	s.addInt(math.MaxInt64)
	s.addInt(math.MaxInt64)
	s.addInt(math.MinInt64)
	s.addInt(math.MinInt64)
	if s.value() != -2 {
		t.Errorf("got %v, want -2", s.value())
	}
	s.addUint(math.MaxUint64)
	if want := float64(math.MaxUint64); s.value() != want {
		t.Errorf("got %v, want %v", s.value(), want)
	}
	s.add(math.Inf(1))
	if !math.IsInf(s.value(), 1) {
		t.Errorf("got %v, want +Inf", s.value())
	}
}
