package enginetest

import (
	"math"
	"slices"

	"github.com/omnigraph-go/omnigraph/gq/value"
)

// drawnKind says how often the random comparison draws a kind, and which values.
type drawnKind struct {
	kind  value.Kind    // the kind that the other fields are about
	share int           // relative share of this kind among scalar properties
	keys  int           // relative share of this kind among members of keys
	pool  []value.Value // the few values to draw from, so that keys, unique rules and comparisons often meet equal values
	wild  []value.Value // extremes of a numeric kind, for properties that may have them
}

// minusZero is -0, which equals 0 and has another text.
var minusZero = math.Copysign(0, -1)

// drawnKinds has one row per kind. Blob and Vector have shares of their own in drawProperty.
var drawnKinds = []drawnKind{
	{value.String, 2, 2, poolOf(value.OfString, "a", "b", "ab", "Ab", "ba", "B", "d c", "éb", "\"q\\"), nil},
	{value.Bool, 1, 1, poolOf(value.OfBool, false, true), nil},
	{value.I32, 2, 1, poolOf(value.OfI32, 0, 1, 2, 3, 4), poolOf(value.OfI32, math.MinInt32, -1, math.MaxInt32)},
	{value.I64, 1, 1, poolOf(value.OfI64, 0, 1, 2, 3, 4), poolOf(value.OfI64, math.MinInt64, -1, 1<<53, 1<<53+1, 1<<53+1, math.MaxInt64)},
	{value.U32, 1, 0, poolOf(value.OfU32, 0, 1, 2, 3, 4), poolOf(value.OfU32, math.MaxUint32)},
	{value.U64, 1, 1, poolOf(value.OfU64, 0, 1, 2, 3, 4), poolOf(value.OfU64, 1<<53, 1<<53+1, 1<<63, math.MaxUint64)},
	{value.F32, 1, 0, poolOf(value.OfF32, -1.5, -0.25, 0, 0.25, 0.5, 1, 2, 3), poolOf(value.OfF32, 0.1, -1e30, 1<<24)},
	{value.F64, 1, 1, poolOf(value.OfF64, -1.5, -0.25, 0, 0.25, 0.5, 1, 2, 3), poolOf(value.OfF64, 0.1, 1e300, 1<<53, 1<<53, -1e-7)},
	{value.Date, 1, 1, parsed(value.Date, "1969-12-31", "1970-01-01", "1970-01-02", "2024-02-29", "9999-12-31"), nil},
	{value.DateTime, 1, 1, parsed(value.DateTime, "1969-12-31T23:59:59.999Z", "1970-01-01T00:00:00.000Z", "2024-02-29T12:00:00.001Z", "2024-02-29T12:00:00.001001Z", "2024-02-29T12:00:00.002Z"), nil},
	{value.Blob, 0, 0, poolOf(func(s string) value.Value { return value.OfBlob([]byte(s)) }, "a", "b", "ab", "Ab", "ba", "B", "d c", "é", "\"q\\"), nil},
	{value.Vector, 0, 0, vectors(), nil},
	{value.Decimal, 2, 1, decimals("-999999999.999", "-2.500", "-0.001", "0", "0.001", "0.25", "2.5", "300", "999999999.999"), nil},
	{value.Duration, 1, 1, parsed(value.Duration, "-PT2562047H47M16.854775808S", "-PT0.0000005S", "PT0S", "PT0.000000001S", "PT1M30S", "PT36H", "PT2562047H47M16.854775807S"), nil},
}

// poolOf returns the values that `of` makes from the elements of a list.
func poolOf[T any](of func(T) value.Value, list ...T) []value.Value {
	all := make([]value.Value, len(list))
	for i, x := range list {
		all[i] = of(x)
	}
	return all
}

// parsed returns the values of literals of a kind.
func parsed(k value.Kind, list ...string) []value.Value {
	return poolOf(func(s string) value.Value { return literalText(s, k) }, list...)
}

// decimalType is the type of the Decimals that the random comparison draws.
var decimalType = value.DecimalOf(12, 3)

// typeOfKind returns the type of the values of a kind that are drawn.
func typeOfKind(k value.Kind) value.Type {
	if k == value.Decimal {
		return decimalType
	}
	return value.Of(k)
}

// decimals returns values of decimalType.
func decimals(list ...string) []value.Value {
	return poolOf(func(s string) value.Value {
		v, err := value.ParseDecimal(s, decimalType)
		if err != nil {
			panic(err)
		}
		return v
	}, list...)
}

// vectors returns vectors with two components. Some of the vectors are short.
func vectors() (all []value.Value) {
	for x := -1; x <= 2; x++ {
		for y := range 4 {
			all = append(all, value.OfVector([]float32{float32(x), float32(y) / 3}))
		}
	}
	return all
}

// The types to draw from for scalar properties, for members of keys and for numeric parameters. A
// type occurs in a list as often as the row of its kind says.
var (
	scalarTypes  = drawnTypes(func(k drawnKind) int { return k.share })
	keyTypes     = drawnTypes(func(k drawnKind) int { return k.keys })
	numericTypes = drawnTypes(func(k drawnKind) int { return boolInt(k.kind.IsNumeric()) })
)

// drawnTypes repeats the type of each kind as often as `count` says.
func drawnTypes(count func(drawnKind) int) (types []value.Type) {
	for _, k := range drawnKinds {
		types = append(types, slices.Repeat([]value.Type{typeOfKind(k.kind)}, count(k))...)
	}
	return types
}

// sentences are the values of properties that text matches search.
var sentences = poolOf(value.OfString, "red foxes run", "the red fox", "a running fox, red", "blue boxes", "of the", "foxglove runs", "Blue fox box",
	"the f\u00f3xes’ r\u00e9d box", "fo\u0301x’s bl\u00fce", "ＲＥＤ Фо\u0306кс", "running documentation of th\u00e9 boxes")

// scalar draws a value of a kind from its pool. If `wild` is true, the value may be extreme.
func (d *drawer) scalar(t value.Type, wild, wordy bool) value.Value {
	wild = wild && d.percent(50)
	if t.Enum != nil {
		return value.OfString(pick(d, t.Enum))
	}
	i := slices.IndexFunc(drawnKinds, func(k drawnKind) bool { return k.kind == t.Kind })
	switch row := drawnKinds[i]; {
	case t.Kind == value.String && wordy && d.percent(80):
		return pick(d, sentences)
	case wild && row.wild != nil:
		return pick(d, row.wild)
	default:
		v := pick(d, row.pool)
		if t.Kind.IsFloat() && v.Float() == 0 && d.percent(40) {
			return literal(minusZero, t)
		}
		if t.Kind == value.Decimal {
			var fits bool
			if v, fits = value.Cast(v, t); !fits {
				v, _ = value.Cast(value.OfI32(0), t)
			}
		}
		if t.Kind == value.Vector {
			v = resized(v, t)
		}
		return v
	}
}
