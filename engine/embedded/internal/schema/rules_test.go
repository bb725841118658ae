package schema

import (
	"math"
	"testing"

	"github.com/omnigraph-go/omnigraph/gq/value"
)

func TestSame(t *testing.T) {
	list := func(vs ...value.Value) value.Value { return value.OfList(value.I32, vs) }
	for _, c := range []struct {
		name string
		a, b value.Value
		want bool
	}{
		{"texts", value.OfString("a"), value.OfString("a"), true},
		{"other texts", value.OfString("a"), value.OfString("b"), false},
		{"nulls", value.Null, value.Null, false},
		{"a null", value.Null, value.OfI32(0), false},
		{"zeros", value.OfF64(0), value.OfF64(math.Copysign(0, -1)), true},
		{"blobs", value.OfBlob([]byte{1}), value.OfBlob([]byte{1}), true},
		{"other blobs", value.OfBlob([]byte{1}), value.OfBlob([]byte{2}), false},
		{"lists", list(value.OfI32(1)), list(value.OfI32(1)), true},
		{"other lists", list(value.OfI32(1)), list(value.OfI32(1), value.OfI32(1)), false},
		{"vectors", value.OfVector([]float32{1}), value.OfVector([]float32{1}), true},
	} {
		if got := Same(c.a, c.b); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
