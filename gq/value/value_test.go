package value

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestCompare(t *testing.T) {
	cases := []struct {
		a, b  Value
		order int
		ok    bool
	}{
		{OfString("a"), OfString("b"), -1, true},
		{OfString("é"), OfString("z"), 1, true}, // by bytes
		{OfBool(false), OfBool(true), -1, true},
		{OfI32(-1), OfU64(math.MaxUint64), -1, true},
		{OfI64(math.MinInt64), OfI64(math.MaxInt64), -1, true},
		{OfU64(1 << 63), OfI64(math.MaxInt64), 1, true},
		{OfU64(1 << 63), OfF64(1 << 63), 0, true},
		{OfI64(math.MinInt64), OfF64(-(1 << 63)), 0, true},
		{OfI64(1<<53 + 1), OfF64(1 << 53), 1, true}, // equal if the integer were rounded to a float
		{OfF64(1 << 53), OfI64(1<<53 + 1), -1, true},
		{OfI32(-2), OfF64(-1.5), -1, true},
		{OfI32(-1), OfF64(-1.5), 1, true},
		{OfI32(0), OfF64(math.Copysign(0, -1)), 0, true},
		{OfU64(math.MaxUint64), OfF64(math.Inf(1)), -1, true},
		{OfI64(math.MinInt64), OfF64(math.Inf(-1)), 1, true},
		{OfF32(0.5), OfF64(0.5), 0, true},
		{OfF64(math.NaN()), OfF64(math.NaN()), 0, false},
		{OfI32(1), OfF64(math.NaN()), 0, false},
		{OfDate(3), OfDate(4), -1, true},
		{OfDateTime(-1), OfDateTime(0), -1, true},
		{OfDate(0), OfDateTime(0), 0, false},
		{OfString("1"), OfI32(1), 0, false},
		{Null, Null, 0, false},
		{Null, OfI32(0), 0, false},
		{OfList(I32, nil), OfList(I32, nil), 0, false},
		{OfVector([]float32{1}), OfVector([]float32{1}), 0, false},
	}
	for _, c := range cases {
		if order, ok := Compare(c.a, c.b); order != c.order || ok != c.ok {
			t.Errorf("Compare(%v %v, %v %v) = %d, %v; want %d, %v", c.a.Kind(), c.a.Bits(), c.b.Kind(), c.b.Bits(), order, ok, c.order, c.ok)
		}
		if order, ok := Compare(c.b, c.a); order != -c.order || ok != c.ok {
			t.Errorf("with the operands swapped: %d, %v", order, ok)
		}
	}
}

// TestCompareNumbers compares random numbers of all kinds with exact rationals.
func TestCompareNumbers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	interesting := []uint64{0, 1, 1 << 31, 1<<31 - 1, 1 << 32, 1 << 53, 1<<53 + 1, 1 << 63, 1<<63 - 1, math.MaxUint64}
	draw := func() (Value, *big.Rat) {
		bits := rng.Uint64() >> rng.IntN(64)
		if rng.IntN(2) == 0 {
			bits = interesting[rng.IntN(len(interesting))] + rng.Uint64N(3) - 1
		}
		switch rng.IntN(6) {
		case 0:
			return OfI32(int32(bits)), new(big.Rat).SetInt64(int64(int32(bits)))
		case 1:
			return OfI64(int64(bits)), new(big.Rat).SetInt64(int64(bits))
		case 2:
			return OfU32(uint32(bits)), new(big.Rat).SetInt64(int64(uint32(bits)))
		case 3:
			return OfU64(bits), new(big.Rat).SetInt(new(big.Int).SetUint64(bits))
		case 4:
			f := float32(int64(bits)) + float32(rng.IntN(4))/4
			return OfF32(f), new(big.Rat).SetFloat64(float64(f))
		default:
			f := float64(int64(bits)) + float64(rng.IntN(4))/4
			return OfF64(f), new(big.Rat).SetFloat64(f)
		}
	}
	for range 200_000 {
		a, ra := draw()
		b, rb := draw()
		order, ok := Compare(a, b)
		if !ok || order != ra.Cmp(rb) {
			t.Fatalf("Compare(%v %s, %v %s) = %d, %v; want %d", a.Kind(), ra, b.Kind(), rb, order, ok, ra.Cmp(rb))
		}
	}
}

func TestText(t *testing.T) {
	cases := []struct {
		v    Value
		want string
	}{
		{OfString("a\"b"), `a"b`},
		{OfBool(true), "true"},
		{OfI32(-7), "-7"},
		{OfU64(math.MaxUint64), "18446744073709551615"},
		{OfF64(math.Copysign(0, -1)), "0"},
		{OfF64(0.1), "0.1"},
		{OfF32(0.1), "0.1"},
		{OfF64(1e21), "1e+21"},
		{OfF64(123456789), "123456789"},
		{OfDate(0), "1970-01-01"},
		{OfDate(-1), "1969-12-31"},
		{OfDateTime(-1), "1969-12-31T23:59:59.999999Z"},
		{OfDateTime(-1000), "1969-12-31T23:59:59.999Z"},
		{OfBlob([]byte{0xff}), "/w=="},
	}
	for _, c := range cases {
		if got := Text(c.v); got != c.want {
			t.Errorf("Text of %v: %q, want %q", c.v.Type(), got, c.want)
		}
	}
}

func TestTypeString(t *testing.T) {
	for _, c := range []struct {
		t    Type
		want string
	}{
		{Of(String).Optional(), "String?"},
		{Type{Kind: I32, List: true}, "[I32]"},
		{Type{Kind: Date, List: true, Nullable: true}, "[Date]?"},
		{Type{Kind: Vector, Dim: 4}, "Vector(4)"},
		{Type{Kind: String, Enum: []string{"a", "b"}}, "enum(a, b)"},
	} {
		if got := c.t.String(); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
	for _, k := range Kinds() {
		if got, ok := KindOf(k.String()); ok != (k != Vector && k != Decimal) || ok && got != k {
			t.Errorf("KindOf(%s) = %v, %v", k, got, ok)
		}
	}
}

func TestDates(t *testing.T) {
	for _, s := range []string{"0001-01-01", "1969-12-31", "1970-01-01", "2024-02-29", "9999-12-31"} {
		d, err := ParseDate(s)
		if err != nil || d.String() != s {
			t.Errorf("%s reads as %s, %v", s, d, err)
		}
	}
	for _, s := range []string{"", "2023-02-29", "2024-1-1", "0000-12-31", "10000-01-01", "2024-01-01T00:00:00Z", "24-01-01"} {
		if d, err := ParseDate(s); err == nil {
			t.Errorf("%q reads as %s", s, d)
		}
	}
	first, _ := ParseDate("0001-01-01")
	last, _ := ParseDate("9999-12-31")
	for n, ok := range map[int64]bool{int64(first): true, int64(first) - 1: false, int64(last): true, int64(last) + 1: false} {
		if _, err := DateFromDays(n); (err == nil) != ok {
			t.Errorf("day %d: %v", n, err)
		}
	}
}

func TestDateTimes(t *testing.T) {
	for s, want := range map[string]string{
		"2024-05-01T12:30:00Z":              "2024-05-01T12:30:00.000Z",
		"2024-05-01T12:30:00+02:00":         "2024-05-01T10:30:00.000Z",
		"1969-12-31T23:59:59.999000Z":       "1969-12-31T23:59:59.999Z",
		"2024-05-01t12:30:00.5z":            "2024-05-01T12:30:00.500Z",
		"2024-05-01t12:30:00-02:30":         "2024-05-01T15:00:00.000Z",
		"9999-12-31T23:59:59.999Z":          "9999-12-31T23:59:59.999Z",
		"0001-01-01T00:00:00Z":              "0001-01-01T00:00:00.000Z",
		"2024-05-01T12:30:00.120000000000Z": "2024-05-01T12:30:00.120Z",
		"2024-05-01T12:30:00.1234Z":         "2024-05-01T12:30:00.123400Z",
		"1969-12-31t23:59:59.9999990z":      "1969-12-31T23:59:59.999999Z",
		"9999-12-31T23:59:59.999999Z":       "9999-12-31T23:59:59.999999Z",
		"0001-01-01T00:00:00.000001Z":       "0001-01-01T00:00:00.000001Z",
	} {
		got, err := ParseDateTime(s)
		if err != nil || got.String() != want {
			t.Errorf("%s reads as %s, %v; want %s", s, got, err, want)
		}
		if back, err := DateTimeFrom(got.Time()); err != nil || back != got {
			t.Errorf("%s changes when it is converted to time.Time and back", s)
		}
		if v := OfDateTime(got); OfCode(DateTime, v.Code()) != v {
			t.Errorf("%s changes when it is converted to its code and back", s)
		}
		if millis := int64(OfDateTime(got).Code()); len(got.String()) == len("0000-00-00T00:00:00.000Z") && millis != got.Time().UnixMilli() {
			t.Errorf("the code of %s is %d", s, millis)
		}
	}
	for _, s := range []string{"", "2024-05-01", "2024-05-01 12:30:00Z", "2024-05-01T12:30:00", "0000-01-01T00:00:00Z", "9999-12-31T23:59:59-01:00",
		"2024-05-01T12:30:00,5Z", "2024-05-01T1:30:00Z", "2024-05-01T12:30:00.Z", "2024-05-01T12:30:60Z", "2024-05-01T12:30:00+24:00", "2024-05-01T12:30:00+00:60", "2024-05-01T12:30:00.5", "2024-05-01T12:30:00+0a:00", "2024-05-01_12:30:00Z"} {
		if got, err := ParseDateTime(s); err == nil {
			t.Errorf("%q reads as %s", s, got)
		}
	}
	for _, s := range []string{"2024-05-01T12:30:00.1234569Z", "1969-12-31t23:59:59.9999999z", "2024-05-01T12:30:00.123456789Z", "2024-05-01T12:30:00.0000000001Z", "2024-05-01T12:30:00.0000001+02:00"} {
		if got, err := ParseDateTime(s); !errors.Is(err, ErrTooFine) || !strings.Contains(err.Error(), s) {
			t.Errorf("%q reads as %s, %v", s, got, err)
		}
		if _, err := ParseInstant(s); err != nil {
			t.Error(err)
		}
		if err := new(DateTimeValue).UnmarshalJSON([]byte(strconv.Quote(s))); !errors.Is(err, ErrTooFine) {
			t.Errorf("the JSON of %s: %v", s, err)
		}
	}
}

func TestDateTimeFrom(t *testing.T) {
	zone := time.FixedZone("", 3600)
	if got, err := DateTimeFrom(time.Date(1969, 12, 31, 23, 59, 59, 999_001e3, zone)); err != nil || got.String() != "1969-12-31T22:59:59.999001Z" {
		t.Errorf("%s, %v", got, err)
	}
	for _, ns := range []int{1, 999, 999_999, 1_000_001} {
		if got, err := DateTimeFrom(time.Date(2024, 5, 1, 0, 0, 0, ns, time.UTC)); !errors.Is(err, ErrTooFine) {
			t.Errorf("%d ns: %s, %v", ns, got, err)
		}
	}
	if got, err := DateTimeFrom(time.Date(9999, 12, 31, 23, 59, 59, 0, time.FixedZone("", -3600))); err == nil {
		t.Errorf("the year 10000 is %s", got)
	}
}

func TestJSON(t *testing.T) {
	b, err := json.Marshal([]any{BlobValue("hi"), DateValue(0), DateTimeOf(time.Unix(0, 0))})
	if want := `["aGk=","1970-01-01","1970-01-01T00:00:00.000Z"]`; err != nil || string(b) != want {
		t.Errorf("%s, %v; want %s", b, err, want)
	}
}

func TestAccessorsPanic(t *testing.T) {
	for name, f := range map[string]func(){
		"Str of I32":     func() { OfI32(1).Str() },
		"Int of U64":     func() { OfU64(1).Int() },
		"Float of null":  func() { Null.Float() },
		"Elems of I32":   func() { OfI32(1).Elems() },
		"Int of a list":  func() { OfList(I32, nil).Int() },
		"Text of a list": func() { Text(OfList(I32, nil)) },
		"Text of null":   func() { Text(Null) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s does not panic", name)
				}
			}()
			f()
		}()
	}
}

func TestEqual(t *testing.T) {
	list := func(vs ...Value) Value { return OfList(I32, vs) }
	nan := OfF64(math.NaN())
	for _, c := range []struct {
		a, b Value
		want bool
	}{
		{Null, Null, true},
		{nan, nan, true},
		{OfI32(1), OfI64(1), false},
		{OfBlob([]byte("a")), OfString("a"), false},
		{list(OfI32(1)), list(OfI32(1)), true},
		{list(OfI32(1)), list(OfI32(2)), false},
		{list(), Null, false},
		{OfVector([]float32{1, 2}), OfVector([]float32{1, 2}), true},
		{OfVector([]float32{0}), OfVector([]float32{float32(math.Copysign(0, -1))}), false},
	} {
		if Equal(c.a, c.b) != c.want || Equal(c.b, c.a) != c.want {
			t.Errorf("Equal(%v, %v) is not %v", c.a.Type(), c.b.Type(), c.want)
		}
	}
}

func FuzzDateTime(f *testing.F) {
	f.Add("2024-05-01T12:30:00.123Z")
	f.Add("0001-01-01T00:00:00+23:59")
	f.Add("2024-02-30")
	f.Fuzz(func(t *testing.T, s string) {
		if dt, err := ParseDateTime(s); err == nil {
			if again, err := ParseDateTime(dt.String()); err != nil || again != dt {
				t.Errorf("%q reads as %s, which reads as %s, %v", s, dt, again, err)
			}
		}
		if d, err := ParseDate(s); err == nil && d.String() != s {
			t.Errorf("%q reads as %s", s, d)
		}
	})
}
