package plan

import "github.com/omnigraph-go/omnigraph/gq/value"

// The types that results of functions have.
var (
	stringType = value.Of(value.String)
	i32Type    = value.Of(value.I32)
	i64Type    = value.Of(value.I64)
	f64Type    = value.Of(value.F64)
)

// These functions test the types of arguments.
func isString(t value.Type) bool   { return !t.List && t.Kind == value.String }
func isInteger(t value.Type) bool  { return !t.List && t.Kind.IsInteger() }
func isNumber(t value.Type) bool   { return !t.List && t.Kind.IsNumeric() }
func isDateTime(t value.Type) bool { return !t.List && t.Kind == value.DateTime }
func isDuration(t value.Type) bool { return !t.List && t.Kind == value.Duration }
func isList(t value.Type) bool     { return t.List }

// isMoment reports whether t is the type of a point in time.
func isMoment(t value.Type) bool {
	return !t.List && (t.Kind == value.Date || t.Kind == value.DateTime)
}

// anyNullable reports whether one of the types is nullable.
func anyNullable(types []value.Type) bool {
	for _, t := range types {
		if t.Nullable {
			return true
		}
	}
	return false
}

// all reports whether each argument passes its test.
func all(args []value.Type, tests []func(value.Type) bool) bool {
	if len(args) != len(tests) {
		return false
	}
	for i, t := range args {
		if !tests[i](t) {
			return false
		}
	}
	return true
}

// take returns the typing rule of a function whose result has a fixed type and is null only if an
// argument is null.
func take(result value.Type, tests ...func(value.Type) bool) func([]value.Type) (value.Type, bool) {
	return func(args []value.Type) (value.Type, bool) {
		t := result
		t.Nullable = anyNullable(args)
		return t, all(args, tests)
	}
}

// same returns the typing rule of a function whose result has the type of its argument.
func same(test func(value.Type) bool) func([]value.Type) (value.Type, bool) {
	return func(args []value.Type) (value.Type, bool) {
		return value.Type{Kind: args[0].Kind, Nullable: args[0].Nullable}, test(args[0])
	}
}

// shift returns the typing rule of a shift. The result is nullable, because the new time may lie
// outside the years that a time can have.
func shift(moment, by func(value.Type) bool) func([]value.Type) (value.Type, bool) {
	return func(args []value.Type) (value.Type, bool) {
		return value.Of(args[0].Kind).Optional(), moment(args[0]) && by(args[1])
	}
}

// Computed returns the kind in which numbers of two kinds are added, subtracted or multiplied: F64
// if one of them is a float, U64 if both are unsigned and one is a U64, and otherwise I64. It
// reports false for a U64 with a signed integer, and for kinds that are not numeric.
func Computed(a, b value.Kind) (value.Kind, bool) {
	switch {
	case !a.IsNumeric() || !b.IsNumeric():
		return value.Invalid, false
	case a.IsFloat() || b.IsFloat():
		return value.F64, true
	case a != value.U64 && b != value.U64:
		return value.I64, true
	}
	return value.U64, unsigned(a) && unsigned(b)
}

// unsigned reports whether a kind is an unsigned integer.
func unsigned(k value.Kind) bool { return k == value.U32 || k == value.U64 }

// arithmetic returns the typing rule of an arithmetic operator. A result of 32-bit integers always
// fits an I64, except the product of two unsigned integers.
func arithmetic(f Func) func([]value.Type) (value.Type, bool) {
	return func(args []value.Type) (value.Type, bool) {
		a, b := args[0], args[1]
		if a.Kind == value.Decimal || b.Kind == value.Decimal {
			return exact(f, a, b)
		}
		kind, ok := Computed(a.Kind, b.Kind)
		small := a.Kind.Widens(value.I64) && b.Kind.Widens(value.I64) && !(f == Multiply && unsigned(a.Kind) && unsigned(b.Kind))
		partial := !small || f == Modulo
		return value.Type{Kind: kind, Nullable: partial || anyNullable(args)}, ok && isNumber(a) && isNumber(b)
	}
}

// exact is the typing rule of an arithmetic operator of which one operand is a Decimal, and the other a Decimal or an
// integer. A result of more than 38 digits is an error, so it makes no null.
func exact(f Func, a, b value.Type) (value.Type, bool) {
	scale := max(scaleOf(a), scaleOf(b))
	if f == Multiply {
		scale = scaleOf(a) + scaleOf(b)
	}
	if a.List || b.List || scaleOf(a) < 0 || scaleOf(b) < 0 || f == Modulo || scale > value.MaxDigits {
		return value.Type{}, false
	}
	t := value.DecimalOf(value.MaxDigits, scale)
	t.Nullable = a.Nullable || b.Nullable
	return t, true
}

// scaleOf returns the number of digits after the point of the values of a type, or -1 if they are neither Decimals nor
// integers.
func scaleOf(t value.Type) int {
	switch {
	case t.Kind == value.Decimal:
		return t.Scale()
	case t.Kind.IsInteger():
		return 0
	}
	return -1
}

// division is the typing rule of the operator /. The result is a float.
func division(args []value.Type) (value.Type, bool) {
	return f64Type.Optional(), isNumberOrDecimal(args[0]) && isNumberOrDecimal(args[1])
}

// isNumberOrDecimal reports whether a type has a nearest float for each value.
func isNumberOrDecimal(t value.Type) bool {
	return isNumber(t) || !t.List && t.Kind == value.Decimal
}

// wholeOf is the typing rule of round, floor and ceil. A Decimal keeps its digits after the point, and may get one more before it.
func wholeOf(args []value.Type) (value.Type, bool) {
	t, ok := same(isNumberOrDecimal)(args)
	if t.Kind == value.Decimal {
		t.Dim = value.DecimalOf(min(args[0].Precision()+1, value.MaxDigits), args[0].Scale()).Dim
	}
	return t, ok
}

// absolute is the typing rule of abs. For a signed integer the result is nullable, because the
// least one has no absolute value of its type.
func absolute(args []value.Type) (value.Type, bool) {
	t, ok := same(isNumberOrDecimal)(args)
	t.Dim = args[0].Dim
	t.Nullable = t.Nullable || t.Kind == value.I32 || t.Kind == value.I64
	return t, ok
}

// dateOf is the typing rule of date.
func dateOf(args []value.Type) (value.Type, bool) {
	t := args[0]
	return value.Type{Kind: value.Date, Nullable: t.Nullable || t.Kind == value.String}, isMoment(t) || isString(t)
}

// toString is the typing rule of string.
func toString(args []value.Type) (value.Type, bool) {
	t := args[0]
	return value.Type{Kind: value.String, Nullable: t.Nullable || t.Kind.IsFloat()}, !t.List && t.Kind.IsComparable()
}

// toInt is the typing rule of int.
func toInt(args []value.Type) (value.Type, bool) {
	t := args[0]
	certain := t.Kind == value.I64 || t.Kind.IsInteger() && t.Kind.Widens(value.I64)
	return value.Type{Kind: value.I64, Nullable: t.Nullable || !certain}, isNumberOrDecimal(t) || isString(t)
}

// toFloat is the typing rule of float.
func toFloat(args []value.Type) (value.Type, bool) {
	t := args[0]
	return value.Type{Kind: value.F64, Nullable: t.Nullable || t.Kind == value.String}, isNumberOrDecimal(t) || isString(t)
}

// Common returns the type of an expression whose value is one of the arguments. If all arguments
// have the same type, it is that type. If they are numbers of several kinds, it is the kind that
// [Computed] returns for them. Common reports false if there is no such type. The result is not
// nullable.
func Common(args []value.Type) (value.Type, bool) {
	t := value.Type{Kind: args[0].Kind, List: args[0].List, Dim: args[0].Dim}
	if !t.Kind.IsComparable() {
		return t, false
	}
	for _, a := range args[1:] {
		switch {
		case a.Kind == value.Decimal && t.Kind == value.Decimal:
			if a.List != t.List || a.Scale() != t.Scale() {
				return t, false
			}
			t.Dim = max(t.Dim, a.Dim) // the larger precision
		case a.Kind == t.Kind && a.List == t.List:
		case a.List || t.List:
			return t, false
		default:
			kind, ok := Computed(t.Kind, a.Kind)
			if !ok {
				return t, false
			}
			t.Kind = kind
		}
	}
	return t, true
}

// coalesce is the typing rule of the function coalesce. The result is nullable only if the last
// argument is.
func coalesce(args []value.Type) (value.Type, bool) {
	t, ok := Common(args)
	t.Nullable = args[len(args)-1].Nullable
	return t, ok
}

// choose is the typing rule of the function if.
func choose(args []value.Type) (value.Type, bool) {
	t, ok := Common(args[1:])
	t.Nullable = len(args) == 2 || anyNullable(args[1:])
	return t, ok && args[0].Kind == value.Bool && !args[0].List
}
