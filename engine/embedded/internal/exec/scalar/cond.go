package scalar

import (
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Flip returns the operator for exchanged operands. ok is false if there is none.
func Flip(op plan.Op) (plan.Op, bool) {
	switch op {
	case plan.Eq, plan.Ne:
		return op, true
	case plan.Lt:
		return plan.Gt, true
	case plan.Le:
		return plan.Ge, true
	case plan.Gt:
		return plan.Lt, true
	case plan.Ge:
		return plan.Le, true
	case plan.Contains, plan.StartsWith, plan.In, plan.Matches:
	}
	return op, false
}

// Holds reports whether a comparison is true.
func Holds(op plan.Op, a, b value.Value) bool {
	if a.IsNull() || b.IsNull() {
		return false
	}
	if op == plan.In {
		op, a, b = plan.Contains, b, a
	}
	if op == plan.Contains && a.IsList() {
		for _, e := range a.Elems() {
			if c, ok := value.Compare(e, b); ok && c == 0 || !ok && value.Equal(e, b) && e.Kind() == value.Blob {
				return true
			}
		}
		return false
	}
	if a.Kind() == value.String && b.Kind() == value.String && !a.IsList() && !b.IsList() {
		return column.TextHolds(op, a.Str(), b.Str())
	}
	c, ok := value.Compare(a, b)
	return ok && HoldsOrder(op, c < 0, c == 0)
}

// HoldsOrder reports whether the comparison op of two values is true. The arguments `less` and
// `equal` say whether the left value is less than the right value, or equal to it.
func HoldsOrder(op plan.Op, less, equal bool) bool {
	switch op {
	case plan.Eq:
		return equal
	case plan.Ne:
		return !equal
	case plan.Lt:
		return less
	case plan.Le:
		return less || equal
	case plan.Gt:
		return !less && !equal
	case plan.Ge:
		return !less
	case plan.Contains, plan.StartsWith, plan.In, plan.Matches:
	}
	return false
}
