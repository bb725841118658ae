package value

import (
	"math"
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
	} {
		got, ok := Cast(c.v, c.to)
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
		if can := c.v.Kind().CastsTo(c.to); can == CastsAll && !ok || can == CastsNone && ok {
			t.Errorf("%s to %s: CastsTo says %d", c.v.Kind(), c.to, can)
		}
	}
	if v, ok := Cast(OfList(String, []Value{OfString("1"), OfString("2")}), I64); !ok || !Equal(v, OfList(I64, []Value{OfI64(1), OfI64(2)})) {
		t.Errorf("a list: %v %t", v, ok)
	}
	if _, ok := Cast(OfList(String, []Value{OfString("1"), OfString("x")}), I64); ok {
		t.Error("a list with a text that is no number was cast")
	}
	if v, ok := Cast(Null, I64); !ok || !v.IsNull() {
		t.Error("null was not kept")
	}
}
