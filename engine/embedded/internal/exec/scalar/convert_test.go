package scalar

import (
	"math"
	"testing"

	"github.com/omnigraph-go/omnigraph/gq/value"
)

func TestConvert(t *testing.T) {
	fails := value.Null
	for _, c := range []struct {
		in   value.Value
		to   value.Kind
		want value.Value
	}{
		{value.OfI32(-5), value.F64, value.OfF64(-5)},
		{value.OfU64(math.MaxUint64), value.F64, value.OfF64(math.MaxUint64)},
		{value.OfF64(1e300), value.F32, fails},
		{value.OfF64(0.1), value.F32, value.OfF32(0.1)},
		{value.OfF64(3), value.I32, value.OfI32(3)},
		{value.OfF64(3.5), value.I32, fails},
		{value.OfF64(math.NaN()), value.I32, fails},
		{value.OfF64(1 << 63), value.I64, fails},
		{value.OfF64(1 << 63), value.U64, value.OfU64(1 << 63)},
		{value.OfF64(-(1 << 63)), value.I64, value.OfI64(math.MinInt64)},
		{value.OfI64(-1), value.U64, fails},
		{value.OfI64(1 << 31), value.I32, fails},
		{value.OfI64(1 << 31), value.U32, value.OfU32(1 << 31)},
		{value.OfU64(1 << 63), value.I64, fails},
		{value.OfString("x"), value.I32, value.OfString("x")},
		{value.OfList(value.I32, []value.Value{value.OfI32(1)}), value.F64, value.OfList(value.F64, []value.Value{value.OfF64(1)})},
	} {
		got, err := Convert(c.in, c.to)
		if (err != nil) != c.want.IsNull() || !value.Equal(got, c.want) {
			t.Errorf("%v as %s is %v, error %v; want %v", c.in, c.to, got, err, c.want)
		}
	}
}
