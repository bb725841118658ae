package exec

import (
	"cmp"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/gq/value"
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

// TestHeads checks that heads have the order of the keys. If the function `heads` reports that the
// heads are exact, different keys must have different heads.
func TestHeads(t *testing.T) {
	texts := []string{"", "\x00", "a", "a\x00", "ab", "abcdefgh", "abcdefgh\x00", "abcdefghi", "\u00e9", "\xff\xff\xff\xff\xff\xff\xff\xff\xff"}
	floats := []float64{math.Inf(-1), -math.MaxFloat64, -1, -math.SmallestNonzeroFloat64, math.Copysign(0, -1), 0, math.SmallestNonzeroFloat64, 1, math.Inf(1), math.NaN(), -math.NaN()}
	ints := []int64{math.MinInt64, -1, 0, 1, math.MaxInt64}
	vecs := map[string]*column.Vec{}
	add := func(name string, typ value.Type, n int, fill func(v *column.Vec)) {
		for _, nulls := range []bool{false, true} {
			v := new(column.Vec)
			v.Reset(typ.Optional(), n)
			fill(v)
			if nulls {
				v.SetNull(n / 2)
				name += " and null"
			}
			vecs[name] = v
		}
	}
	add("texts", value.Of(value.String), len(texts), func(v *column.Vec) { copy(v.Strings, texts) })
	add("floats", value.Of(value.F64), len(floats), func(v *column.Vec) { copy(v.Floats, floats) })
	add("numbers", value.Of(value.I64), len(ints), func(v *column.Vec) { copy(v.Ints, ints) })
	add("unsigned", value.Of(value.U64), len(ints), func(v *column.Vec) { copy(v.Ints, ints) })
	for name, v := range vecs {
		n := len(v.Strings) + len(v.Floats) + len(v.Ints)
		for _, desc := range []bool{false, true} {
			key, list := &sortKey{vec: v, desc: desc}, make([]entry, n)
			exact := key.heads(list)
			for i, a := range list {
				for k, b := range list {
					want := key.compare(uint32(i), uint32(k))
					if got := cmp.Compare(a.head, b.head); got != want && (got != 0 || exact) {
						t.Errorf("%s, desc %t: the heads of %d and %d compare as %d, the keys as %d", name, desc, i, k, got, want)
					}
				}
			}
		}
	}
}
