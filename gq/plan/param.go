package plan

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Optional reports whether a call may leave the argument out.
func (p *Param) Optional() bool { return p.Type.Nullable || !p.Default.IsNull() }

// Spelled returns the parameter as a query writes its use: $name, or a member of actor().
func (p *Param) Spelled() string {
	if p.Caller != "" {
		return p.Name
	}
	return "$" + p.Name
}

// Check checks an argument against the bounds and the pattern. The argument has the parameter's
// type or is null. If an element of a list violates them, `at` is the index of the first such
// element; otherwise `at` is -1.
func (p *Param) Check(v value.Value) (at int, err error) {
	switch {
	case v.IsNull():
	case v.IsList():
		for i, e := range v.Elems() {
			if err := p.checkScalar(e); err != nil {
				return i, err
			}
		}
	default:
		return -1, p.checkScalar(v)
	}
	return -1, nil
}

// checkScalar checks an argument that is not a list, or an element of a list.
func (p *Param) checkScalar(v value.Value) error {
	switch {
	case p.Pattern != nil && v.Kind() == value.String:
		return p.Pattern.Check(v)
	case v.Kind().IsNumeric(), v.Kind() == value.Decimal:
		return p.Bounds.Check(v)
	}
	return nil
}

// WithDefaults returns the arguments, with each null argument replaced by the default of its
// parameter. It does not change args. The number of arguments may differ from the number of
// parameters.
func WithDefaults(params []Param, args []value.Value) []value.Value {
	copied := false
	for i := range min(len(params), len(args)) {
		if !args[i].IsNull() || params[i].Default.IsNull() {
			continue
		}
		if !copied {
			args, copied = slices.Clone(args), true
		}
		args[i] = params[i].Default
	}
	return args
}

// LimitOf returns the maximum number of rows that a read with these arguments returns, or NoLimit.
// The arguments must have passed [Param.Check] and include the defaults; see [WithDefaults].
func (r *Read) LimitOf(args []value.Value) int64 {
	if r.LimitBy == nil {
		return r.Limit
	}
	return args[r.LimitBy.Index].Int()
}
