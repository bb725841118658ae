package naive

import (
	"math"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// apply evaluates an operator or a function. It calls `eval` for each argument that it needs. If
// the result does not exist or is out of range, `undefined` is true and `v` is null.
func (g *Graph) apply(e plan.Apply, eval func(plan.Expr) value.Value) (v value.Value, undefined bool) {
	switch e.Func {
	case plan.If:
		branch := e.Args[1:2]
		if !eval(e.Args[0]).Bool() {
			branch = e.Args[2:]
		}
		for _, a := range branch {
			return inKind(eval(a), e.Type.Kind), false
		}
		return value.Null, false
	case plan.Coalesce:
		for _, a := range e.Args {
			v := eval(a)
			if g.fault == CoalesceLast {
				v = eval(e.Args[len(e.Args)-1])
			}
			if !v.IsNull() {
				return inKind(v, e.Type.Kind), false
			}
		}
		return value.Null, false
	}
	// All operands are evaluated, also after one that is null: an assignment fails if any of them has
	// no result.
	var args []value.Value
	for _, a := range e.Args {
		v := eval(a)
		if v.IsNull() && g.fault == NullIsZero && e.Func <= plan.Modulo {
			v = value.OfI64(0)
		}
		args = append(args, v)
	}
	if slices.ContainsFunc(args, value.Value.IsNull) {
		return value.Null, false
	}
	switch {
	case e.Func <= plan.Modulo:
		return g.arithmetic(e.Func, e.Type.Kind, args[0], args[1])
	case e.Func == plan.Concat:
		return value.OfString(args[0].Str() + args[1].Str()), false
	case e.Func <= plan.SubtractDuration:
		return shifted(e.Func, args[0], args[1])
	case e.Func <= plan.Substring:
		return g.text(e.Func, args), false
	case e.Func <= plan.Ceil:
		return g.rounded(e.Func, args[0])
	case e.Func <= plan.SecondsBetween:
		return g.time(e.Func, args), false
	}
	return converted(e.Func, args[0]), false
}

// inKind converts a number to a numeric kind that can represent it. It returns every other value
// unchanged.
func inKind(v value.Value, to value.Kind) value.Value {
	switch {
	case v.IsNull() || v.IsList() || !v.Kind().IsNumeric() || v.Kind() == to:
		return v
	case to == value.F64:
		return value.OfF64(toFloat(v))
	case to == value.U64:
		return value.OfU64(v.Uint())
	}
	return value.OfI64(v.Int())
}

// integer returns an integer as a big.Int, which cannot overflow.
func integer(v value.Value) *big.Int {
	if v.Kind() == value.U64 {
		return new(big.Int).SetUint64(v.Uint())
	}
	return big.NewInt(v.Int())
}

// arithmetic applies an operator to two numbers. It computes with integers of any size, and then
// checks that the result fits its kind.
func (g *Graph) arithmetic(f plan.Func, kind value.Kind, a, b value.Value) (value.Value, bool) {
	if kind == value.F64 {
		x, y := toFloat(a), toFloat(b)
		r := map[plan.Func]func() float64{
			plan.Add: func() float64 { return x + y }, plan.Subtract: func() float64 { return x - y }, plan.Multiply: func() float64 { return x * y },
			plan.Divide: func() float64 { return x / y }, plan.Modulo: func() float64 { return math.Mod(x, y) },
		}[f]()
		if f == plan.Divide && g.fault == DivisionCut {
			r = math.Trunc(r)
		}
		if math.IsNaN(r) || math.IsInf(r, 0) {
			return value.Null, true
		}
		return value.OfF64(unsignedZero(r)), false
	}
	if kind == value.Decimal {
		return exactly(f, a, b)
	}
	x, y, r := integer(a), integer(b), new(big.Int)
	switch f {
	case plan.Add:
		r.Add(x, y)
	case plan.Subtract:
		r.Sub(x, y)
	case plan.Multiply:
		r.Mul(x, y)
	default:
		if y.Sign() == 0 {
			return value.Null, true
		}
		if r.Rem(x, y); g.fault == RemainderFloored && r.Sign()*y.Sign() < 0 {
			r.Add(r, y)
		}
	}
	switch {
	case g.fault == OverflowWraps:
		wrapped := new(big.Int).And(r, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
		return value.OfBits(kind, wrapped), false
	case kind == value.U64 && r.IsUint64():
		return value.OfU64(r.Uint64()), false
	case kind == value.I64 && r.IsInt64():
		return value.OfI64(r.Int64()), false
	}
	return value.Null, true
}

// exactly applies an operator to two numbers of which one is a Decimal.
func exactly(f plan.Func, a, b value.Value) (value.Value, bool) {
	r, scale := new(big.Rat), max(places(a), places(b))
	switch f {
	case plan.Add:
		r.Add(exact(a), exact(b))
	case plan.Subtract:
		r.Sub(exact(a), exact(b))
	default:
		r.Mul(exact(a), exact(b))
		scale = places(a) + places(b)
	}
	v, err := decimal(r.FloatString(scale), value.DecimalOf(value.MaxDigits, scale))
	return v, err != nil
}

// places returns the number of digits after the point in the text of an integer or a Decimal.
func places(v value.Value) int {
	_, fraction, _ := strings.Cut(value.Text(v), ".")
	return len(fraction)
}

// shifted moves a Date or DateTime by a number of units or by a Duration.
func shifted(f plan.Func, v, by value.Value) (value.Value, bool) {
	units := map[string]int64{"days": 24 * 60 * 60 * 1e6, "hours": 60 * 60 * 1e6, "minutes": 60 * 1e6, "seconds": 1e6}
	row := f.Row()
	step := integer(by)
	switch {
	case v.Kind() == value.Date:
	case row.Unit != "":
		step.Mul(step, big.NewInt(units[row.Unit]))
	}
	if row.Name == "-" {
		step.Neg(step)
	}
	if row.Unit == "" {
		step.Div(step, big.NewInt(int64(time.Microsecond))) // rounds down
	}
	step.Add(step, big.NewInt(v.Int()))
	if !step.IsInt64() {
		return value.Null, true
	}
	if v.Kind() == value.Date {
		d, err := value.DateFromDays(step.Int64())
		if err != nil {
			return value.Null, true
		}
		return value.OfDate(d), false
	}
	t, err := value.DateTimeFromMicros(step.Int64())
	if err != nil {
		return value.Null, true
	}
	return value.OfDateTime(t), false
}

// text computes a function whose first argument is a text.
func (g *Graph) text(f plan.Func, args []value.Value) value.Value {
	s := args[0].Str()
	runes := []rune(s)
	switch f {
	case plan.Lower:
		return value.OfString(strings.Map(unicode.ToLower, s))
	case plan.Upper:
		return value.OfString(strings.Map(unicode.ToUpper, s))
	case plan.Trim:
		return value.OfString(strings.TrimFunc(s, unicode.IsSpace))
	case plan.Length:
		if g.fault == LengthInBytes {
			return value.OfI32(int32(len(s)))
		}
		return value.OfI32(int32(len(runes)))
	}
	start := integer(args[1])
	end := new(big.Int).Add(start, integer(args[2]))
	var part []rune
	for i, r := range runes {
		at := big.NewInt(int64(i))
		if g.fault == SubstringFromOne {
			at = big.NewInt(int64(i) + 1)
		}
		if at.Cmp(start) >= 0 && at.Cmp(end) < 0 {
			part = append(part, r)
		}
	}
	return value.OfString(string(part))
}

// rounded computes abs, round, floor or ceil.
func (g *Graph) rounded(f plan.Func, v value.Value) (value.Value, bool) {
	if v.Kind() == value.Decimal {
		return roundedDecimal(f, v)
	}
	if !v.Kind().IsFloat() {
		if f != plan.Abs {
			return v, false
		}
		r := new(big.Int).Abs(integer(v))
		switch {
		case v.Kind() == value.I32 && r.Cmp(big.NewInt(math.MaxInt32)) > 0, v.Kind() == value.I64 && !r.IsInt64():
			return value.Null, true
		}
		return value.OfBits(v.Kind(), r.Uint64()), false
	}
	x := v.Float()
	switch f {
	case plan.Abs:
		x = math.Abs(x)
	case plan.Round:
		if x = math.Round(x); g.fault == RoundHalfEven {
			x = math.RoundToEven(v.Float())
		}
	case plan.Floor:
		x = math.Floor(x)
	default:
		x = math.Ceil(x)
	}
	return value.OfBits(v.Kind(), math.Float64bits(unsignedZero(x))), false
}

// roundedDecimal computes abs, round, floor or ceil of a Decimal, from its text.
func roundedDecimal(f plan.Func, v value.Value) (value.Value, bool) {
	text := value.Text(v)
	negative := strings.HasPrefix(text, "-")
	if f == plan.Abs {
		text = strings.TrimPrefix(text, "-")
	} else {
		whole, fraction, _ := strings.Cut(text, ".")
		step := 0
		switch {
		case strings.Trim(fraction, "0") == "":
		case f == plan.Round && fraction[0] >= '5', f == plan.Floor && negative, f == plan.Ceil && !negative:
			step = 1
		}
		n, _ := new(big.Int).SetString(strings.TrimPrefix(whole, "-"), 10)
		text = n.Add(n, big.NewInt(int64(step))).String()
		if negative {
			text = "-" + text
		}
	}
	r, err := decimal(text, value.DecimalOf(value.MaxDigits, v.Scale()))
	return r, err != nil
}

// unsignedZero returns 0 for −0. It returns every other number unchanged.
func unsignedZero(x float64) float64 {
	if x == 0 {
		return 0
	}
	return x
}

// time computes a function of points in time.
func (g *Graph) time(f plan.Func, args []value.Value) value.Value {
	if args[0].Kind() == value.String {
		v, err := value.Date.Parse(args[0].Str())
		if err != nil {
			return value.Null
		}
		return v
	}
	var at []time.Time
	for _, v := range args {
		if v.Kind() == value.Date {
			at = append(at, time.Unix(v.Int()*24*60*60, 0).UTC())
		} else {
			at = append(at, time.UnixMicro(v.Int()).UTC())
		}
	}
	day := func(t time.Time) int64 {
		return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC).Unix() / (24 * 60 * 60)
	}
	t := at[0]
	n := 0
	switch f {
	case plan.Year:
		n = t.Year()
	case plan.Month:
		n = int(t.Month())
	case plan.Day:
		n = t.Day()
	case plan.Hour:
		n = t.Hour()
	case plan.Weekday:
		if n = int(t.Weekday()); n == 0 {
			n = 7
		}
		if g.fault == WeekFromSunday {
			n = n%7 + 1
		}
	case plan.DateOf:
		return value.OfDate(value.DateValue(day(t)))
	case plan.DaysBetween:
		n = int(day(at[1]) - day(t))
		if g.fault == DaysReversed {
			n = -n
		}
	default:
		seconds := new(big.Int).Sub(big.NewInt(at[1].UnixMicro()), big.NewInt(t.UnixMicro()))
		return value.OfI64(seconds.Quo(seconds, big.NewInt(1e6)).Int64())
	}
	return value.OfI32(int32(n))
}

// number matches the texts that the functions int and float can convert.
var number = regexp.MustCompile(`^[-+]?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

// converted computes size and the conversions.
func converted(f plan.Func, v value.Value) value.Value {
	switch {
	case f == plan.Size:
		return value.OfI32(int32(len(v.Elems())))
	case f == plan.ToString && v.Kind().IsFloat() && (math.IsNaN(v.Float()) || math.IsInf(v.Float(), 0)):
		return value.Null
	case f == plan.ToString:
		return value.OfString(value.Text(v))
	case v.Kind() == value.String && !number.MatchString(v.Str()):
		return value.Null
	case f == plan.ToFloat && v.Kind() == value.String:
		x, _, err := big.ParseFloat(v.Str(), 10, 2000, big.ToNearestEven)
		if err != nil {
			return value.Null
		}
		r, _ := x.Float64()
		if math.IsInf(r, 0) {
			return value.Null
		}
		return value.OfF64(unsignedZero(r))
	case f == plan.ToFloat:
		return value.OfF64(toFloat(v))
	case v.Kind() == value.String:
		if n, ok := new(big.Int).SetString(v.Str(), 10); ok && n.IsInt64() {
			return value.OfI64(n.Int64())
		}
		x := converted(plan.ToFloat, v)
		if x.IsNull() {
			return x
		}
		v = x
	}
	if v.Kind() == value.Decimal {
		whole, _, _ := strings.Cut(value.Text(v), ".")
		n, _ := new(big.Int).SetString(whole, 10)
		if n.IsInt64() {
			return value.OfI64(n.Int64())
		}
		return value.Null
	}
	if !v.Kind().IsFloat() {
		if n := integer(v); n.IsInt64() {
			return value.OfI64(n.Int64())
		}
		return value.Null
	}
	if math.IsNaN(v.Float()) || math.IsInf(v.Float(), 0) {
		return value.Null
	}
	n, _ := new(big.Float).SetFloat64(v.Float()).Int(nil)
	if !n.IsInt64() {
		return value.Null
	}
	return value.OfI64(n.Int64())
}
