package eval

import (
	"math"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/scalar"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// TestHoldsAgree checks that comparing a whole batch of values gives the same result as comparing
// them one by one.
func TestHoldsAgree(t *testing.T) {
	vals := []value.Value{value.OfI32(-1), value.OfI32(5), value.OfI64(1 << 40), value.OfU32(1 << 31), value.OfU64(1 << 63), value.OfF32(0.5), value.OfF64(5),
		value.OfF64(math.NaN()), value.OfString("a"), value.OfString("ab"), value.OfBool(true), value.OfDate(5), value.OfDateTime(5)}
	for _, a := range vals {
		vec := newVec(a)
		for _, b := range vals {
			for op := plan.Eq; op <= plan.StartsWith; op++ {
				got := len(testConst(op, vec, b, 2, nil)) == 1
				if want := scalar.Holds(op, a, b); got != want {
					t.Errorf("%s %s %s: as a vector %t, as values %t", value.Text(a), op, value.Text(b), got, want)
				}
			}
		}
	}
}

// newVec returns a vector that holds a value and a null.
func newVec(v value.Value) *column.Vec {
	vec := new(column.Vec)
	vec.Reset(v.Type().Optional(), 2)
	vec.Set(0, v)
	vec.Set(1, v)
	vec.SetNull(1)
	return vec
}
