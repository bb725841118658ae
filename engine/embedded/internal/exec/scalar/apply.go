package scalar

import (
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Numbers adds, subtracts or multiplies the first n numbers of two vectors. It works only if
// neither vector has nulls and both store their numbers in the same way as the result. Otherwise it
// does nothing and returns false.
func Numbers(fn plan.Func, a, b, out *column.Vec, at, n int) bool {
	if a.Valid != nil || b.Valid != nil {
		return false
	}
	switch {
	case out.Type.Kind == value.F64 && a.Type.Kind.IsFloat() && b.Type.Kind.IsFloat():
		x, y, z := a.Floats[:n], b.Floats[:n], out.Floats[at:at+n]
		for i := range z {
			r := 0.0
			switch fn {
			case plan.Add:
				r = x[i] + y[i]
			case plan.Subtract:
				r = x[i] - y[i]
			default:
				r = x[i] * y[i]
			}
			if z[i] = r + positiveZero; r-r != 0 { // infinite, or not a number
				out.SetNull(at + i)
			}
		}
		return true
	case out.Type.Kind == value.I64 && a.Type.Kind.Storage().IsSigned() && b.Type.Kind.Storage().IsSigned():
		x, y, z := a.Ints[:n], b.Ints[:n], out.Ints[at:at+n]
		for i := range z {
			var r int64
			var ok bool
			switch fn {
			case plan.Add:
				r, ok = addInts(x[i], y[i])
			case plan.Subtract:
				r, ok = subtractInts(x[i], y[i])
			default:
				r, ok = multiplyInts(x[i], y[i])
			}
			if z[i] = r; !ok {
				out.SetNull(at + i)
			}
		}
		return true
	}
	return false
}
