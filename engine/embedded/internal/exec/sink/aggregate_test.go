package sink

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// TestFolds checks that every aggregate except count and collect has a fold. Another aggregate without a
// fold would return the number of its values.
func TestFolds(t *testing.T) {
	for _, a := range plan.Aggregates {
		if got := newFold[a.Func] != nil; got != (a.Func != plan.Count && a.Func != plan.Collect) {
			t.Errorf("%s has a fold: %t", a.Name, got)
		}
	}
	if len(newFold) != len(plan.Aggregates)-2 {
		t.Errorf("%d folds for %d aggregates", len(newFold), len(plan.Aggregates))
	}
}

// medianOf returns the median of values of one type. It folds them as one group, a few in each
// frame.
func medianOf(t *testing.T, b *eval.Budget, vals ...value.Value) float64 {
	t.Helper()
	m := &medians{}
	m.grow()
	n := int64(0)
	for some := range slices.Chunk(vals, 3) {
		vec := new(column.Vec)
		vec.Reset(vals[0].Type().Optional(), len(some))
		for i, v := range some {
			if vec.Set(i, v); v.IsNull() {
				vec.SetNull(i)
			} else {
				n++
			}
		}
		if err := m.add(b, vec, make([]uint32, len(some))); err != nil {
			t.Fatal(err)
		}
	}
	out := new(column.Vec)
	out.Reset(value.Of(value.F64), 1)
	m.set(out, 0, 0, n)
	return out.Floats[0]
}

func TestMedian(t *testing.T) {
	f, nan, inf, largest, least := value.OfF64, math.NaN(), math.Inf(1), math.MaxFloat64, math.SmallestNonzeroFloat64
	for _, c := range []struct {
		want float64
		vals []value.Value
	}{
		{5, []value.Value{f(5)}},
		{2, []value.Value{f(9), f(2), f(-1)}},
		{3, []value.Value{f(9), value.Null, f(4), f(2), f(-1)}},
		{0, []value.Value{f(math.Copysign(0, -1))}},
		{largest, []value.Value{f(largest), f(largest)}},
		{-largest, []value.Value{f(-largest), f(-largest)}},
		{2 * least, []value.Value{f(least), f(2 * least)}}, // 1.5 units round to the even number
		{inf, []value.Value{f(1), f(inf)}},
		{nan, []value.Value{f(inf), f(-inf)}},
		{inf, []value.Value{f(nan), f(-inf), f(inf)}}, // NaN sorts last
		{nan, []value.Value{f(nan), f(1)}},
		{-0.5, []value.Value{value.OfI32(math.MinInt32), value.OfI32(math.MaxInt32)}},
		{math.MinInt64, []value.Value{value.OfI64(math.MinInt64), value.OfI64(math.MinInt64)}},
		{math.MaxUint64, []value.Value{value.OfU64(math.MaxUint64), value.OfU64(math.MaxUint64)}},
		{1 << 63, []value.Value{value.OfU64(math.MaxUint64), value.OfU64(1 << 63), value.OfU64(1)}},
		{0.25, []value.Value{value.OfF32(0.25)}},
	} {
		if got := medianOf(t, &eval.Budget{}, c.vals...); got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("the median of %v is %v, expected %v", c.vals, got, c.want)
		}
	}
}

// TestMedianSpends compares medians of random numbers with the medians of the sorted numbers. The
// fold must spend memory for each value.
func TestMedianSpends(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 500 {
		vals := make([]value.Value, 1+rng.IntN(300))
		sorted := make([]int64, len(vals))
		for i := range vals {
			sorted[i] = int64(rng.Uint64()) >> rng.IntN(64)
			vals[i] = value.OfI64(sorted[i])
		}
		slices.Sort(sorted)
		var sum exactSum
		sum.addInt(sorted[(len(sorted)-1)/2])
		sum.addInt(sorted[len(sorted)/2])
		b := &eval.Budget{}
		if got, want := medianOf(t, b, vals...), sum.value()/2; got != want {
			t.Fatalf("the median of %d numbers is %v, expected %v", len(vals), got, want)
		}
		if b.Spent < 8*int64(len(vals)) {
			t.Fatalf("%d numbers spent %d bytes", len(vals), b.Spent)
		}
	}
	vec := new(column.Vec)
	vec.Reset(value.Of(value.I64).Optional(), 2)
	vec.Set(0, value.OfI64(1))
	vec.Set(1, value.OfI64(1))
	vec.SetNull(1)
	if err := (&medians{keys: make([][]uint64, 1)}).add(&eval.Budget{Limit: 100}, vec, make([]uint32, 2)); err != nil {
		t.Errorf("two values do not fit 100 bytes: %v", err)
	}
	if err := (&medians{keys: make([][]uint64, 1)}).add(&eval.Budget{Limit: 10}, vec, make([]uint32, 2)); err == nil {
		t.Error("two values fit 10 bytes")
	}
}
