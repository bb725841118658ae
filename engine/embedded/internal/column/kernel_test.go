package column

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

var kernelOps = []plan.Op{plan.Eq, plan.Ne, plan.Lt, plan.Le, plan.Gt, plan.Ge, plan.Contains, plan.StartsWith}

// kernelPools holds edge cases of each storage.
var kernelPools = map[value.Storage][]value.Value{
	value.InBits:    {value.OfBool(false), value.OfBool(true)},
	value.InInt32:   {value.OfI32(0), value.OfI32(-1), value.OfI32(7), value.OfI32(math.MinInt32), value.OfI32(math.MaxInt32)},
	value.InInt64:   {value.OfI64(0), value.OfI64(-1), value.OfI64(7), value.OfI64(math.MinInt64), value.OfI64(math.MaxInt64), value.OfI64(math.MaxUint32 + 1)},
	value.InUint32:  {value.OfU32(0), value.OfU32(7), value.OfU32(math.MaxInt32), value.OfU32(math.MaxInt32 + 1), value.OfU32(math.MaxUint32)},
	value.InUint64:  {value.OfU64(0), value.OfU64(7), value.OfU64(math.MaxInt64 + 1), value.OfU64(math.MaxUint64)},
	value.InFloat32: {value.OfF32(0), value.OfF32(float32(math.Copysign(0, -1))), value.OfF32(7.5), value.OfF32(float32(math.NaN())), value.OfF32(float32(math.Inf(1))), value.OfF32(float32(math.Inf(-1)))},
	value.InFloat64: {value.OfF64(0), value.OfF64(math.Copysign(0, -1)), value.OfF64(7.5), value.OfF64(math.NaN()), value.OfF64(math.Inf(1)), value.OfF64(math.Inf(-1)), value.OfF64(math.SmallestNonzeroFloat64)},
	value.InBytes:   {decimal(-1), decimal(0), decimal(7)},
	value.InText:    {value.OfString(""), value.OfString("a"), value.OfString("ab"), value.OfString("b"), value.OfString("äb")},
}

// decimal returns a Decimal with two digits after the point.
func decimal(hundredths int64) value.Value {
	v, _ := value.OfDecimal(big.NewInt(hundredths), 2)
	return v
}

// kernelValues holds edge cases of each kind that can be compared.
var kernelValues = func() map[value.Kind][]value.Value {
	all := map[value.Kind][]value.Value{}
	for _, k := range value.Kinds() {
		if !k.IsComparable() {
			continue
		}
		all[k] = slices.Clone(kernelPools[k.Storage()])
		for i, v := range all[k] {
			if k.HasBits() {
				all[k][i] = value.OfBits(k, v.Bits())
			}
		}
	}
	return all
}()

// holdsByValue compares two values; it is the reference for the kernels.
func holdsByValue(op plan.Op, a, b value.Value) bool {
	if a.IsNull() || b.IsNull() {
		return false
	}
	if a.Kind() == value.String {
		return TextHolds(op, a.Str(), b.Str())
	}
	c, ok := value.Compare(a, b)
	if !ok {
		return false
	}
	switch op {
	case plan.Eq:
		return c == 0
	case plan.Ne:
		return c != 0
	case plan.Lt:
		return c < 0
	case plan.Le:
		return c <= 0
	case plan.Gt:
		return c > 0
	case plan.Ge:
		return c >= 0
	case plan.Contains, plan.StartsWith:
	}
	return false
}

func TestKernelsCompareAsValuesDo(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	tried := 0
	for kind, values := range kernelValues {
		for _, shape := range []struct {
			n     int
			nulls bool
			plain bool // texts without a dictionary
		}{{5, false, true}, {64, true, false}, {1000, false, false}, {1000, true, false}, {900, true, true}} {
			b := NewBuilder(value.Of(kind))
			var all []value.Value
			for i := range shape.n {
				v := values[rng.IntN(len(values))]
				if shape.plain && kind == value.String {
					v = value.OfString(v.Str() + fmt.Sprint(i%(shape.n-1)))
				}
				if shape.nulls && rng.IntN(5) == 0 {
					v = value.Null
				}
				if err := b.Append(v); err != nil {
					t.Fatal(err)
				}
				all = append(all, v)
			}
			c := b.Finish(nil)
			for other, constants := range kernelValues {
				for _, op := range kernelOps {
					if !HasKernel(op, value.Of(kind), value.Of(other)) {
						continue
					}
					for _, x := range slices.Concat(constants, all[:3]) {
						if x.IsNull() || x.Kind() != other {
							continue
						}
						tried++
						checkKernel(t, c, all, op, x)
					}
				}
			}
		}
	}
	if tried < 1000 {
		t.Errorf("only %d comparisons were tried", tried)
	}
}

func checkKernel(t *testing.T, c *Column, all []value.Value, op plan.Op, x value.Value) {
	t.Helper()
	var k Kernel
	k.Prepare(c, op, x)
	for first := 0; first < len(all); first += 256 {
		n := min(256, len(all)-first)
		sel := make([]uint64, (n+63)/64)
		for i := range n {
			if i%7 != 3 {
				sel[i/64] |= 1 << (i % 64)
			}
		}
		k.Narrow(uint32(first), sel)
		for i := range len(sel) * 64 {
			want := i < n && i%7 != 3 && holdsByValue(op, all[first+i], x)
			if got := sel[i/64]>>(i%64)&1 != 0; got != want {
				t.Fatalf("%s: row %d of %d, %s %s %s: found %t, expected %t", c.typ, first+i, len(all), value.Text(all[first+i]), op, value.Text(x), got, want)
			}
		}
	}
}

func TestBetween32AgreesWithGo(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	x := make([]int32, 64*9)
	for i := range x {
		x[i] = int32(rng.Uint32()) >> (rng.IntN(3) * 14)
	}
	for range 200 {
		lo, width := rng.Uint32()>>rng.IntN(32), rng.Uint32()>>rng.IntN(32)
		got, want := make([]uint64, 9), make([]uint64, 9)
		between32(got, x, lo, width)
		between32Go(want, x, lo, width)
		if !slices.Equal(got, want) {
			t.Fatalf("lo %d, width %d: found %x, expected %x", lo, width, got, want)
		}
	}
}
