package value

import (
	"math"
	"strings"
	"testing"
)

// TestCast casts values to other kinds. The text "-" stands for a value that the kind does not have.
func TestCast(t *testing.T) {
	parse := func(k Kind, text string) Value {
		v, err := k.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	dec := func(text string) Value {
		_, fraction, _ := strings.Cut(text, ".")
		v, err := ParseDecimal(text, DecimalOf(MaxDigits, len(fraction)))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, c := range []struct {
		v    Value
		to   Kind
		want string
	}{
		{OfI32(-7), I64, "-7"}, {OfI32(-7), U32, "-"}, {OfI32(7), U32, "7"}, {OfU32(math.MaxUint32), I32, "-"},
		{OfI64(1 << 53), F64, "9007199254740992"}, {OfI64(1<<53 + 1), F64, "-"}, {OfI64(1 << 24), F32, "16777216"}, {OfI64(1<<24 + 1), F32, "-"},
		{OfU64(math.MaxUint64), I64, "-"}, {OfU64(math.MaxUint64), F64, "-"}, {OfU64(1 << 63), F64, "9223372036854776000"}, {OfU64(9), I32, "9"},
		{OfI64(math.MinInt64), U64, "-"}, {OfI64(math.MinInt64), F64, "-9223372036854776000"}, {OfI64(math.MaxInt64), F64, "-"},
		{OfF64(3), I32, "3"}, {OfF64(3.5), I32, "-"}, {OfF64(1e18), I64, "1000000000000000000"}, {OfF64(1e19), I64, "-"}, {OfF64(1e19), U64, "10000000000000000000"},
		{OfF64(0.5), F32, "0.5"}, {OfF64(0.1), F32, "-"}, {OfF64(1e300), F32, "-"}, {OfF32(0.1), F64, "0.10000000149011612"},
		{OfF64(math.NaN()), I32, "-"}, {OfF64(math.Inf(1)), I64, "-"}, {OfF64(math.Copysign(0, -1)), I32, "0"},
		{OfI32(5), String, "5"}, {OfF64(0.1), String, "0.1"}, {OfBool(true), String, "true"}, {parse(Date, "2026-01-02"), String, "2026-01-02"},
		{parse(Date, "2026-01-02"), DateTime, "2026-01-02T00:00:00.000Z"}, {parse(DateTime, "2026-01-02T00:00:00Z"), Date, "2026-01-02"},
		{parse(DateTime, "2026-01-02T00:00:01Z"), Date, "-"}, {parse(DateTime, "1969-12-31T00:00:00Z"), Date, "1969-12-31"},
		{OfString("12"), I32, "12"}, {OfString("12.0"), I32, "-"}, {OfString(" 12"), I32, "-"}, {OfString(""), I32, "-"}, {OfString("3000000000"), I32, "-"},
		{OfString("1.50"), F64, "1.5"}, {OfString("1e3"), F64, "1000"}, {OfString("0.1"), F32, "0.1"}, {OfString("0.123456789"), F32, "-"},
		{OfString("0.1000000000000000000001"), F64, "-"}, {OfString("1e-400"), F64, "-"}, {OfString("0e-400"), F64, "0"}, {OfString("1e999999999"), F64, "-"},
		{OfString("0x1p4"), F64, "-"}, {OfString("NaN"), F64, "-"}, {OfString("1_0"), F64, "-"}, {OfString("-0.0"), F64, "0"},
		{OfString("true"), Bool, "true"}, {OfString("True"), Bool, "-"}, {OfString("2026-02-30"), Date, "-"}, {OfString("2026-02-03"), Date, "2026-02-03"},
		{OfString("PT90M"), Duration, "PT1H30M"}, {OfBool(true), I32, "-"}, {OfBlob([]byte("a")), String, "-"}, {OfI32(1), Date, "-"},
		{dec("12.50"), String, "12.50"}, {dec("-0.5"), F64, "-0.5"}, {dec("0.10"), F64, "0.1"}, {dec("0.10"), F32, "0.1"}, {dec("0.00"), F64, "0"},
		{dec("9007199254740993"), F64, "-"}, {dec("0.12345678901234567890"), F64, "-"}, {dec("0.123456789"), F32, "-"}, {dec("100000000000000000000000"), F64, "-"},
		{dec("99999999999999991611392.00"), F64, "1e+23"}, {dec("4611686018427387904"), F64, "4611686018427388000"}, {dec("4611686018427388000"), F64, "-"},
		{dec("134217728"), F32, "134217730"}, {dec("134217730"), F32, "-"}, {OfString("4611686018427387904"), F64, "4611686018427388000"},
		{OfString("4611686018427388000"), F64, "4611686018427388000"}, {OfString("4611686018427387905"), F64, "-"}, {OfString("1e+23"), F64, "1e+23"},
		{dec("7.00"), I32, "7"}, {dec("7.01"), I32, "-"}, {dec("-7"), U32, "-"}, {dec("2147483648"), I32, "-"}, {dec("18446744073709551615.0"), U64, "18446744073709551615"},
		{dec("1"), Bool, "-"}, {dec("1"), Date, "-"}, {dec("1"), Blob, "-"},
	} {
		got, ok := Cast(c.v, Of(c.to))
		text := "-"
		if ok {
			if text = Text(got); got.Kind() != c.to {
				t.Errorf("%s as %s has the kind %s", Text(c.v), c.to, got.Kind())
			}
		} else if !got.IsNull() {
			t.Errorf("%s as %s fails with a value", Text(c.v), c.to)
		}
		if text != c.want {
			t.Errorf("%s %s as %s: %s, want %s", c.v.Kind(), Text(c.v), c.to, text, c.want)
		}
		if can := c.v.Type().CastsTo(Of(c.to)); can == CastsAll && !ok || can == CastsNone && ok {
			t.Errorf("%s to %s: CastsTo says %d", c.v.Kind(), c.to, can)
		}
	}
	if v, ok := Cast(OfList(String, []Value{OfString("1"), OfString("2")}), Type{Kind: I64, List: true}); !ok || !Equal(v, OfList(I64, []Value{OfI64(1), OfI64(2)})) {
		t.Errorf("a list: %v %t", v, ok)
	}
	if _, ok := Cast(OfList(String, []Value{OfString("1"), OfString("x")}), Type{Kind: I64, List: true}); ok {
		t.Error("a list with a text that is no number was cast")
	}
	if v, ok := Cast(Null, Of(I64)); !ok || !v.IsNull() {
		t.Error("null was not kept")
	}
}

// TestCastToDecimal casts values to Decimals. The text "-" stands for a value that the type does not have.
func TestCastToDecimal(t *testing.T) {
	dec := func(text string, precision, scale int) Value {
		v, err := ParseDecimal(text, DecimalOf(precision, scale))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, c := range []struct {
		v                Value
		precision, scale int
		want             string
	}{
		{OfI32(-7), 12, 2, "-7.00"}, {OfI32(math.MinInt32), 12, 2, "-2147483648.00"}, {OfI32(999), 5, 2, "999.00"}, {OfI32(1000), 5, 2, "-"}, {OfI32(0), 2, 2, "0.00"}, {OfI32(1), 2, 2, "-"},
		{OfU64(math.MaxUint64), 20, 0, "18446744073709551615"}, {OfU64(math.MaxUint64), 38, 38, "-"}, {OfI64(math.MinInt64), 38, 19, "-9223372036854775808.0000000000000000000"},
		{OfF64(0.1), 5, 2, "0.10"}, {OfF64(0.125), 5, 2, "-"}, {OfF64(0.125), 5, 3, "0.125"}, {OfF64(-1e20), 23, 2, "-100000000000000000000.00"}, {OfF64(1e23), 24, 0, "99999999999999991611392"},
		{OfF64(1 << 62), 19, 0, "4611686018427387904"}, {OfF64(1 << 62), 21, 2, "4611686018427387904.00"}, {OfF32(1 << 27), 12, 2, "134217728.00"}, {OfF32(16777217.5), 12, 2, "16777218.00"},
		{OfF64(1<<51 + 0.5), 17, 1, "2251799813685248.5"}, {OfF32(1<<22 + 0.5), 12, 2, "4194304.50"},
		{OfF64(1e300), 38, 0, "-"}, {OfF64(1e-300), 38, 38, "-"}, {OfF64(math.NaN()), 5, 2, "-"}, {OfF64(math.Inf(-1)), 5, 2, "-"}, {OfF64(math.Copysign(0, -1)), 5, 2, "0.00"},
		{OfF32(0.1), 5, 2, "0.10"}, {OfF64(float64(float32(0.1))), 5, 2, "-"},
		{OfString("12.5"), 5, 2, "12.50"}, {OfString("+12.500"), 5, 2, "12.50"}, {OfString("12.505"), 5, 2, "-"}, {OfString("1e1"), 5, 2, "-"}, {OfString(" 1"), 5, 2, "-"}, {OfString("1000"), 5, 2, "-"}, {OfString(""), 5, 2, "-"},
		{dec("1.5", 5, 2), 6, 3, "1.500"}, {dec("1.5", 5, 2), 3, 1, "1.5"}, {dec("1.55", 5, 2), 3, 1, "-"}, {dec("123.45", 5, 2), 5, 3, "-"}, {dec("23.45", 5, 2), 5, 3, "23.450"},
		{dec("-9.5", 38, 1), 38, 37, "-9.5000000000000000000000000000000000000"}, {dec("10", 38, 0), 38, 38, "-"}, {dec("123.45", 5, 2), 7, 2, "123.45"},
		{OfBool(true), 5, 2, "-"}, {OfDate(1), 5, 2, "-"}, {OfBlob([]byte("1")), 5, 2, "-"},
	} {
		to, text := DecimalOf(c.precision, c.scale), "-"
		got, ok := Cast(c.v, to)
		if ok {
			text = Text(got)
			if err := to.CheckDecimal(got); err != nil {
				t.Error(err)
			}
		} else if !got.IsNull() {
			t.Errorf("%s as %s fails with a value", Text(c.v), to)
		}
		if text != c.want {
			t.Errorf("%s %s as %s: %s, want %s", c.v.Kind(), Text(c.v), to, text, c.want)
		}
		if ok && c.v.Kind().IsFloat() {
			if back, ok := Cast(got, Of(c.v.Kind())); !ok || back.Float() != c.v.Float() {
				t.Errorf("%s as %s, and back: %v %t", Text(c.v), to, back, ok)
			}
		}
		if from := c.v.Type(); from.Kind != Decimal && (from.CastsTo(to) == CastsAll && !ok || from.CastsTo(to) == CastsNone && ok) {
			t.Errorf("%s to %s: CastsTo says %d", from, to, from.CastsTo(to))
		}
	}
	for _, c := range []struct {
		from, to Type
		want     Castable
	}{
		{DecimalOf(5, 2), DecimalOf(5, 2), CastsAll}, {DecimalOf(5, 2), DecimalOf(6, 2), CastsAll}, {DecimalOf(5, 2), DecimalOf(6, 3), CastsAll},
		{DecimalOf(5, 2), DecimalOf(5, 3), CastsSome}, {DecimalOf(5, 2), DecimalOf(4, 1), CastsSome}, {DecimalOf(5, 2), DecimalOf(38, 1), CastsSome},
		{Of(I32), DecimalOf(10, 0), CastsAll}, {Of(U32), DecimalOf(12, 2), CastsAll}, {Of(I32), DecimalOf(11, 2), CastsSome},
		{Of(I64), DecimalOf(19, 0), CastsAll}, {Of(U64), DecimalOf(19, 0), CastsSome}, {Of(U64), DecimalOf(20, 0), CastsAll},
		{Of(F32), DecimalOf(38, 19), CastsSome}, {Of(F64), DecimalOf(38, 19), CastsSome}, {DecimalOf(1, 0), Of(I32), CastsSome}, {DecimalOf(1, 0), Of(String), CastsAll},
		{Of(Vector), DecimalOf(1, 0), CastsNone}, {DecimalOf(1, 0), Of(Date), CastsNone}, {Type{Kind: I32, List: true}, DecimalOf(10, 0), CastsNone},
	} {
		if got := c.from.CastsTo(c.to); got != c.want {
			t.Errorf("%s to %s: %d, want %d", c.from, c.to, got, c.want)
		}
	}
}
