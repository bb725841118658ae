// Package scalar computes the operators, functions and comparisons of single values.
package scalar

import (
	"errors"
	"math/big"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// The reasons why an operator or a function has no result. In a read the result is then null.
var (
	ErrZero  = errors.New("divides by zero")
	ErrRange = errors.New("has a result that is out of range")
)

// ErrDigits is the reason why an operator on Decimals has no result. A read fails with it.
var ErrDigits error = &engine.TooLarge{Resource: "digits of a Decimal", Limit: value.MaxDigits, Actual: value.MaxDigits + 1}

// function computes the result of an operator or a function. The parameter `typ` is the type of the
// result. No argument is null: a function for which TakesNull returns true has an implementation
// elsewhere. The error is ErrZero, ErrRange or a *engine.TooLarge.
type function func(typ value.Type, args []value.Value) (value.Value, error)

// functions contains the implementation of each operator and function, by its number. If and
// Coalesce have none here, because they choose between their arguments.
var functions = [...]function{
	plan.Add: arithmetic((*big.Int).Add, addInts, addUints, func(a, b float64) float64 { return a + b }), plan.Subtract: arithmetic((*big.Int).Sub, subtractInts, subtractUints, func(a, b float64) float64 { return a - b }),
	plan.Multiply: arithmetic(nil, multiplyInts, multiplyUints, func(a, b float64) float64 { return a * b }),
	plan.Divide:   divide, plan.Modulo: modulo, plan.Concat: concat,

	plan.AddDays: shift(dayMicros, +1), plan.AddHours: shift(hourMicros, +1), plan.AddMinutes: shift(minuteMicros, +1), plan.AddSeconds: shift(secondMicros, +1),
	plan.SubtractDays: shift(dayMicros, -1), plan.SubtractHours: shift(hourMicros, -1), plan.SubtractMinutes: shift(minuteMicros, -1), plan.SubtractSeconds: shift(secondMicros, -1),
	plan.AddDuration: shiftDuration(+1), plan.SubtractDuration: shiftDuration(-1),

	plan.Lower: lower, plan.Upper: upper, plan.Trim: trim, plan.Length: runeCount, plan.Substring: substring,
	plan.Abs: abs, plan.Round: round, plan.Floor: floor, plan.Ceil: ceil,
	plan.Year: year, plan.Month: month, plan.Day: day, plan.Hour: hour, plan.Weekday: weekday,
	plan.DateOf: dateOf, plan.DaysBetween: daysBetween, plan.SecondsBetween: secondsBetween,
	plan.Size: size, plan.ToString: toString, plan.ToInt: toInt, plan.ToFloat: toFloat,
	plan.Coalesce: nil, plan.If: nil,
}

// TakesNull reports whether a function may have a result although an argument is null.
func TakesNull(f plan.Func) bool { return f == plan.Coalesce || f == plan.If }

// MakesText reports whether a function makes a text that shares no memory with its arguments.
func MakesText(f plan.Func) bool {
	return f == plan.Concat || f == plan.Lower || f == plan.Upper || f == plan.ToString
}

// Call applies an operator or a function to values. If one of them is null, the result is null, unless TakesNull(f).
func Call(f plan.Func, typ value.Type, args []value.Value) (value.Value, error) {
	switch f {
	case plan.Coalesce:
		for _, v := range args {
			if !v.IsNull() {
				return Widen(v, typ.Kind), nil
			}
		}
		return value.Null, nil
	case plan.If:
		switch {
		case args[0].Bool():
			return Widen(args[1], typ.Kind), nil
		case len(args) == 3:
			return Widen(args[2], typ.Kind), nil
		}
		return value.Null, nil
	}
	for _, v := range args {
		if v.IsNull() {
			return value.Null, nil
		}
	}
	return functions[f](typ, args)
}

// tooLong returns the error for a text of n bytes that the operator + would make.
func tooLong(n int) error {
	return &engine.TooLarge{Resource: "bytes of a text that + makes", Limit: plan.MaxText, Actual: int64(n)}
}
