package plan

import (
	"fmt"

	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Func is an operator or a function of an expression. Plans encode its number, so a number never
// gets another meaning.
type Func uint8

// The operators and functions.
const (
	Add      Func = 0 // + of numbers
	Subtract Func = 1 // - of numbers
	Multiply Func = 2 // * of numbers
	Divide   Func = 3 // / of numbers; the result is an F64
	Modulo   Func = 4 // the remainder, with the sign of the dividend
	Concat   Func = 5 // + of Strings

	// The shifts of a point in time. The second argument is the number of units, or a Duration.
	AddDays          Func = 6
	AddHours         Func = 7  // adds a number of hours
	AddMinutes       Func = 8  // adds a number of minutes
	AddSeconds       Func = 9  // adds a number of seconds
	AddDuration      Func = 10 // adds a Duration
	SubtractDays     Func = 11 // subtracts a number of days
	SubtractHours    Func = 12 // subtracts a number of hours
	SubtractMinutes  Func = 13 // subtracts a number of minutes
	SubtractSeconds  Func = 14 // subtracts a number of seconds
	SubtractDuration Func = 15 // subtracts a Duration

	// The functions; Function.Doc says what each of them returns.
	Lower          Func = 16 // a text in lower case
	Upper          Func = 17 // a text in upper case
	Trim           Func = 18 // a text without white space at its ends
	Length         Func = 19 // number of code points in a text
	Substring      Func = 20 // a part of a text
	Abs            Func = 21 // a number without its sign
	Round          Func = 22 // rounds to a whole number
	Floor          Func = 23 // rounds down to a whole number
	Ceil           Func = 24 // rounds up to a whole number
	Year           Func = 25 // the year of a time
	Month          Func = 26 // the month of a time, from 1 to 12
	Day            Func = 27 // the day of the month of a time
	Hour           Func = 28 // the hour of a time, from 0 to 23
	Weekday        Func = 29 // the day of the week, from 1 for Monday
	DateOf         Func = 30 // the Date of a time or a text
	DaysBetween    Func = 31 // number of calendar days between two times
	SecondsBetween Func = 32 // number of whole seconds between two times
	Size           Func = 33 // number of elements in a list
	ToString       Func = 34 // the text of a scalar
	ToInt          Func = 35 // the I64 of a number or a text
	ToFloat        Func = 36 // the F64 of a number or a text
	Coalesce       Func = 37 // the first argument that is not null
	If             Func = 38
)

// MaxText is the maximum length, in bytes, of a String that the operator + returns. A longer result
// is an *engine.TooLarge.
const MaxText = 16 << 20

// Apply is the result of an operator or a function. Except for Coalesce and If, it is null if an
// argument is null. It is also null if there is no result or the result does not fit its type, as
// in a division by zero; in an assignment, this is an error instead.
type Apply struct {
	Func Func       // the operator or function
	Args []Expr     // its arguments, in order
	Type value.Type // type of the result
}

// Test is the result of a condition, as a Bool. It is never null.
type Test struct{ Cond Cond }

// KeepsMeaning reports whether the result means what one of the arguments means: it is the argument itself,
// or its text in another spelling.
func (f Func) KeepsMeaning() bool { return f == Coalesce || f == Lower || f == Upper || f == Trim }

// expr implements Expr.
func (Apply) expr() {}
func (Test) expr()  {}

// Operands returns the expressions that an Apply, a Test, a KeyOf or a Member computes with, in source
// order. It returns nil for every other expression.
func Operands(e Expr) []Expr {
	switch e := e.(type) {
	case Apply:
		return e.Args
	case Test:
		return CondOperands(e.Cond)
	case KeyOf:
		list := make([]Expr, len(e.Key))
		for i, member := range e.Key {
			list[i] = member.Value
		}
		return list
	case NodeRef:
		return []Expr{e.Type, e.ID}
	case Member:
		return []Expr{e.Of}
	case Lit, ParamRef, Prop, ID, Endpoint, EndNode, Origin, WalkPart, Whole, Now, Agg, Matched, BM25, Nearest, RRF, Holds, Old, Cell, BlockAgg, BlockRows:
	}
	return nil
}

// HasAggregate reports whether an expression is an aggregate or computes with one.
func HasAggregate(e Expr) bool {
	if _, ok := e.(Agg); ok {
		return true
	}
	for _, o := range Operands(e) {
		if HasAggregate(o) {
			return true
		}
	}
	return false
}

// Form is the way in which the language writes an operator or a function.
type Form uint8

// The forms.
const (
	Call  Form = iota // name(a, b)
	Infix             // a + b
	Shift             // a + days(b)
)

// Function describes an operator or a function to the checker, the engines and the documentation.
// An engine adds the evaluation.
type Function struct {
	Func  Func   // identifies the function
	Name  string // name of a Call; symbol of an Infix or a Shift
	Unit  string // for a Shift by a number of units: the unit, such as days
	Form  Form   // how a query writes it
	Least int    // minimum number of arguments
	Most  int    // maximum number of arguments, or AnyNumber
	// Result returns the type of the result for arguments of the given types. It reports false if
	// the function does not take them.
	Result func(args []value.Type) (value.Type, bool)
	Usage  string // for a Call: the call with the names of its arguments
	Takes  string // for a Call: the types of its arguments, in words
	Doc    string // a verb phrase whose subject is the function
}

// AnyNumber is the value of Function.Most if the function takes any number of arguments.
const AnyNumber = -1

// Functions lists the operators and functions in the order of their numbers.
var Functions = []Function{
	{Func: Add, Name: "+", Form: Infix, Least: 2, Most: 2, Result: arithmetic(Add)},
	{Func: Subtract, Name: "-", Form: Infix, Least: 2, Most: 2, Result: arithmetic(Subtract)},
	{Func: Multiply, Name: "*", Form: Infix, Least: 2, Most: 2, Result: arithmetic(Multiply)},
	{Func: Divide, Name: "/", Form: Infix, Least: 2, Most: 2, Result: division},
	{Func: Modulo, Name: "%", Form: Infix, Least: 2, Most: 2, Result: arithmetic(Modulo)},
	{Func: Concat, Name: "+", Form: Infix, Least: 2, Most: 2, Result: take(stringType, isString, isString)},

	{Func: AddDays, Name: "+", Unit: "days", Form: Shift, Least: 2, Most: 2, Result: shift(isMoment, isInteger)},
	{Func: AddHours, Name: "+", Unit: "hours", Form: Shift, Least: 2, Most: 2, Result: shift(isDateTime, isInteger)},
	{Func: AddMinutes, Name: "+", Unit: "minutes", Form: Shift, Least: 2, Most: 2, Result: shift(isDateTime, isInteger)},
	{Func: AddSeconds, Name: "+", Unit: "seconds", Form: Shift, Least: 2, Most: 2, Result: shift(isDateTime, isInteger)},
	{Func: AddDuration, Name: "+", Form: Infix, Least: 2, Most: 2, Result: shift(isDateTime, isDuration)},
	{Func: SubtractDays, Name: "-", Unit: "days", Form: Shift, Least: 2, Most: 2, Result: shift(isMoment, isInteger)},
	{Func: SubtractHours, Name: "-", Unit: "hours", Form: Shift, Least: 2, Most: 2, Result: shift(isDateTime, isInteger)},
	{Func: SubtractMinutes, Name: "-", Unit: "minutes", Form: Shift, Least: 2, Most: 2, Result: shift(isDateTime, isInteger)},
	{Func: SubtractSeconds, Name: "-", Unit: "seconds", Form: Shift, Least: 2, Most: 2, Result: shift(isDateTime, isInteger)},
	{Func: SubtractDuration, Name: "-", Form: Infix, Least: 2, Most: 2, Result: shift(isDateTime, isDuration)},

	{Func: Lower, Name: "lower", Least: 1, Most: 1, Result: take(stringType, isString), Usage: "lower(text)", Takes: "a String",
		Doc: "changes letters to lower case"},
	{Func: Upper, Name: "upper", Least: 1, Most: 1, Result: take(stringType, isString), Usage: "upper(text)", Takes: "a String",
		Doc: "changes letters to upper case"},
	{Func: Trim, Name: "trim", Least: 1, Most: 1, Result: take(stringType, isString), Usage: "trim(text)", Takes: "a String",
		Doc: "removes white space from both ends"},
	{Func: Length, Name: "length", Least: 1, Most: 1, Result: take(i32Type, isString), Usage: "length(text)", Takes: "a String",
		Doc: "counts the code points"},
	{Func: Substring, Name: "substring", Least: 3, Most: 3, Result: take(stringType, isString, isInteger, isInteger),
		Usage: "substring(text, start, count)", Takes: "a String and two integers",
		Doc: "returns the code points at the positions from start to start + count - 1, counted from 0; a position outside of the text has none"},
	{Func: Abs, Name: "abs", Least: 1, Most: 1, Result: absolute, Usage: "abs(number)", Takes: "a number or a Decimal",
		Doc: "removes the sign"},
	{Func: Round, Name: "round", Least: 1, Most: 1, Result: wholeOf, Usage: "round(number)", Takes: "a number or a Decimal",
		Doc: "rounds to a whole number, and a half away from zero"},
	{Func: Floor, Name: "floor", Least: 1, Most: 1, Result: wholeOf, Usage: "floor(number)", Takes: "a number or a Decimal",
		Doc: "rounds down to a whole number"},
	{Func: Ceil, Name: "ceil", Least: 1, Most: 1, Result: wholeOf, Usage: "ceil(number)", Takes: "a number or a Decimal",
		Doc: "rounds up to a whole number"},
	{Func: Year, Name: "year", Least: 1, Most: 1, Result: take(i32Type, isMoment), Usage: "year(time)", Takes: "a Date or DateTime",
		Doc: "returns the year, in UTC"},
	{Func: Month, Name: "month", Least: 1, Most: 1, Result: take(i32Type, isMoment), Usage: "month(time)", Takes: "a Date or DateTime",
		Doc: "returns the month, from 1 to 12, in UTC"},
	{Func: Day, Name: "day", Least: 1, Most: 1, Result: take(i32Type, isMoment), Usage: "day(time)", Takes: "a Date or DateTime",
		Doc: "returns the day of the month, in UTC"},
	{Func: Hour, Name: "hour", Least: 1, Most: 1, Result: take(i32Type, isDateTime), Usage: "hour(time)", Takes: "a DateTime",
		Doc: "returns the hour, from 0 to 23, in UTC"},
	{Func: Weekday, Name: "weekday", Least: 1, Most: 1, Result: take(i32Type, isMoment), Usage: "weekday(time)", Takes: "a Date or DateTime",
		Doc: "returns the day of the week, from 1 for Monday to 7 for Sunday, in UTC"},
	{Func: DateOf, Name: "date", Least: 1, Most: 1, Result: dateOf, Usage: "date(value)", Takes: "a DateTime, Date or String",
		Doc: "returns the day, in UTC; it is null for a String that is not written as YYYY-MM-DD"},
	{Func: DaysBetween, Name: "days_between", Least: 2, Most: 2, Result: take(i32Type, isMoment, isMoment),
		Usage: "days_between(from, to)", Takes: "two values that are Dates or DateTimes",
		Doc: "counts the calendar days from the first to the second, in UTC; it is negative if the second is earlier"},
	{Func: SecondsBetween, Name: "seconds_between", Least: 2, Most: 2, Result: take(i64Type, isDateTime, isDateTime),
		Usage: "seconds_between(from, to)", Takes: "two DateTimes",
		Doc: "returns the seconds from the first to the second, without their fraction"},
	{Func: Size, Name: "size", Least: 1, Most: 1, Result: take(i32Type, isList), Usage: "size(list)", Takes: "a list",
		Doc: "counts the elements"},
	{Func: ToString, Name: "string", Least: 1, Most: 1, Result: toString, Usage: "string(value)", Takes: "a scalar",
		Doc: "returns the text that the value has in a key; it is null for a number that is not finite"},
	{Func: ToInt, Name: "int", Least: 1, Most: 1, Result: toInt, Usage: "int(value)", Takes: "a number, a Decimal or a String",
		Doc: "cuts a number, or the number that a text writes, towards zero to an I64; it is null if there is none"},
	{Func: ToFloat, Name: "float", Least: 1, Most: 1, Result: toFloat, Usage: "float(value)", Takes: "a number, a Decimal or a String",
		Doc: "converts a number, or the number that a text writes, to an F64; it is null if there is none"},
	{Func: Coalesce, Name: "coalesce", Least: 2, Most: AnyNumber, Result: coalesce, Usage: "coalesce(a, b, …)",
		Takes: "values of one type, or numbers", Doc: "returns the first argument that is not null"},
	{Func: If, Name: "if", Least: 2, Most: 3, Result: choose, Usage: "if(condition, a, b)",
		Takes: "a condition, and then one or two values of one type, or numbers",
		Doc:   "returns a if the condition is true, and else b, or null without b"},
}

// Row returns the description of the function, or nil if there is no such function.
func (f Func) Row() *Function {
	if int(f) < len(Functions) {
		return &Functions[f]
	}
	return nil
}

// String returns the function as messages show it, such as +, + days or lower.
func (f Func) String() string {
	row := f.Row()
	switch {
	case row == nil:
		return fmt.Sprintf("function %d", uint8(f))
	case row.Unit != "":
		return row.Name + " " + row.Unit
	}
	return row.Name
}

// FunctionNamed returns the function of the form Call that has the given name, or nil if there is
// none.
func FunctionNamed(name string) *Function {
	for i := range Functions {
		if Functions[i].Form == Call && Functions[i].Name == name {
			return &Functions[i]
		}
	}
	return nil
}

// FunctionNames returns the names of the functions of the form Call.
func FunctionNames() []string {
	var names []string
	for i := range Functions {
		if Functions[i].Form == Call {
			names = append(names, Functions[i].Name)
		}
	}
	return names
}

// ShiftBy returns the function for an operator, + or -, followed by a unit of time, such as +
// days(3). It returns nil if there is none.
func ShiftBy(operator, unit string) *Function {
	for i := range Functions {
		if f := &Functions[i]; f.Form == Shift && f.Name == operator && f.Unit == unit {
			return f
		}
	}
	return nil
}

// InfixOf returns the function for an operator between operands of two types, and the type of its result. It returns nil if there is none.
func InfixOf(operator string, operands []value.Type) (*Function, value.Type) {
	for i := range Functions {
		if f := &Functions[i]; f.Form == Infix && f.Name == operator {
			if t, ok := f.Result(operands); ok {
				return f, t
			}
		}
	}
	return nil, value.Type{}
}

// Units lists the units of time that queries write around a number: days, hours, minutes and
// seconds.
func Units() []string {
	var names []string
	for i := range Functions {
		if f := &Functions[i]; f.Form == Shift && f.Name == "+" {
			names = append(names, f.Unit)
		}
	}
	return names
}

// TakesArgs reports whether a call of the function may have n arguments.
func (f *Function) TakesArgs(n int) bool { return n >= f.Least && (f.Most == AnyNumber || n <= f.Most) }
