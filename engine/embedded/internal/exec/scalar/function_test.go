package scalar

import (
	"testing"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// TestFunctions checks that the table `functions` implements every operator and function, except
// the functions that accept null.
func TestFunctions(t *testing.T) {
	if len(functions) != len(plan.Functions) {
		t.Errorf("%d evaluations for %d functions", len(functions), len(plan.Functions))
	}
	for i, row := range plan.Functions {
		if int(row.Func) != i || (functions[i] == nil) != TakesNull(row.Func) {
			t.Errorf("row %d, %s: number %d, evaluation %v", i, row.Func, row.Func, functions[i] != nil)
		}
	}
}

// TestNumbers compares the results of operators on vectors with their results on single values.
func TestNumbers(t *testing.T) {
	ints := []int64{0, 1, -1, 2, -7, 1 << 31, 1<<62 + 1, -1 << 63, 1<<63 - 1}
	for _, f := range []plan.Func{plan.Add, plan.Subtract, plan.Multiply} {
		for _, x := range ints {
			for _, y := range ints {
				single, err := Call(f, value.Of(value.I64), []value.Value{value.OfI64(x), value.OfI64(y)})
				a, b, out := vecOf(value.I64, value.OfI64(x)), vecOf(value.I64, value.OfI64(y)), vecOf(value.I64, value.OfI64(0))
				if !Numbers(f, a, b, out, 0, 1) {
					t.Fatal("vectors of I64 are not computed")
				}
				if got := out.Value(0); !value.Equal(got, single) || got.IsNull() != (err == ErrRange) {
					t.Errorf("%d %s %d is %v in a vector, and %v, %v alone", x, f, y, got, single, err)
				}
			}
		}
	}
}

// vecOf returns a vector of one value.
func vecOf(k value.Kind, v value.Value) *column.Vec {
	vec := &column.Vec{}
	vec.Reset(value.Of(k), 1)
	vec.Set(0, v)
	return vec
}
