package column

import (
	"testing"

	"github.com/omnigraph-go/omnigraph/gq/value"
)

func TestNull(t *testing.T) {
	for name, vals := range samples() {
		t.Run(name, func(t *testing.T) {
			want := make([]value.Value, 70)
			c := Null(vals[0].Type(), len(want))
			same(t, "null", c, want)
			stored := c.Stored()
			same(t, "stored", stored, want)
			if stored.Stored() != stored {
				t.Error("a column with all its arrays is made anew")
			}
			desc, blocks := encode(t, stored)
			decoded, _, err := Decode(desc, "c", blocks)
			if err != nil {
				t.Fatal(err)
			}
			same(t, "decoded", decoded, want)
		})
	}
}

// TestNullForgets gathers nulls into a used vector. The old values must not stay, because
// they may point into released memory.
func TestNullForgets(t *testing.T) {
	var vec Vec
	vec.Reset(value.Of(value.String), 2)
	vec.Strings[0], vec.Strings[1] = "kept", "gone"
	Null(value.Of(value.String), 5).Gather(&vec, 1, []uint32{3})
	if vec.Strings[0] != "kept" || vec.Strings[1] != "" || vec.IsNull(0) || !vec.IsNull(1) {
		t.Errorf("%q, null %t %t", vec.Strings, vec.IsNull(0), vec.IsNull(1))
	}
}

func TestMapped(t *testing.T) {
	list := func(vs ...value.Value) value.Value { return value.OfList(vs[0].Kind(), vs) }
	for _, c := range []struct{ from, to value.Value }{
		{value.OfI32(-5), value.OfI64(-5)},
		{value.OfI32(-1 << 31), value.OfF64(-1 << 31)},
		{value.OfU32(1<<32 - 1), value.OfI64(1<<32 - 1)},
		{value.OfU32(1<<32 - 1), value.OfU64(1<<32 - 1)},
		{value.OfU32(7), value.OfF64(7)},
		{value.OfF32(0.1), value.OfF64(float64(float32(0.1)))},
		{list(value.OfI32(-1), value.OfI32(2)), list(value.OfI64(-1), value.OfI64(2))},
	} {
		widen := func(v value.Value) value.Value { return value.Widen(v, c.to.Kind()) }
		wide, err := build(t, []value.Value{c.from, value.Null, c.from}, nil).Mapped(c.to.Type(), widen)
		if err != nil {
			t.Fatal(err)
		}
		same(t, c.from.Type().String()+" to "+c.to.Type().String(), wide, []value.Value{c.to, value.Null, c.to})
		null, err := Null(c.from.Type(), 3).Mapped(c.to.Type(), widen)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "nulls", null, make([]value.Value, 3))
	}
}
