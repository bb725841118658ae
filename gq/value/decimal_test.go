package value

import (
	"math/big"
	"slices"
	"strings"
	"testing"
)

// nines is the longest number that a Decimal has.
var nines = strings.Repeat("9", MaxDigits)

func TestDecimalText(t *testing.T) {
	for _, tt := range []struct {
		text             string
		precision, scale int
		want             string // the canonical text; "" for a refusal
		detail           string // a part of the error
	}{
		{"12.5", 4, 2, "12.50", ""},
		{"-12.5", 4, 2, "-12.50", ""},
		{"+12.5", 4, 2, "12.50", ""},
		{"0", 4, 2, "0.00", ""},
		{"-0.00", 4, 2, "0.00", ""},
		{"0.01", 2, 2, "0.01", ""},
		{"-0.01", 2, 2, "-0.01", ""},
		{".5", 2, 2, "", "write digits"},
		{"5.", 2, 1, "", "write digits"},
		{"", 2, 1, "", "write digits"},
		{"-", 2, 1, "", "write digits"},
		{"+-1", 2, 1, "", "write digits"},
		{"1e2", 5, 1, "", "write digits"},
		{"NaN", 5, 1, "", "write digits"},
		{" 1", 5, 1, "", "write digits"},
		{"1,5", 5, 1, "", "write digits"},
		{"١", 5, 1, "", "write digits"},
		{"007", 3, 0, "7", ""},
		{"12.500", 4, 2, "12.50", ""},
		{"12.505", 4, 2, "", "more than 2 digits after the point"},
		{"100", 4, 2, "", "more than 2 digits before the point"},
		{"99.99", 4, 2, "99.99", ""},
		{"-100", 4, 2, "", "no place"},
		{"1", 1, 1, "", "no place"},
		{nines, 38, 0, nines, ""},
		{"-" + nines, 38, 0, "-" + nines, ""},
		{nines + "9", 38, 0, "", "more than 38 digits"},
		{"0." + nines, 38, 38, "0." + nines, ""},
		{"-0." + nines, 38, 38, "-0." + nines, ""},
		{"1", 38, 38, "", "more than 38 digits"},
		{strings.Repeat("0", 300), 38, 0, "", "longer than 200 bytes"},
	} {
		typ := DecimalOf(tt.precision, tt.scale)
		v, err := ParseDecimal(tt.text, typ)
		switch {
		case tt.want == "" && (err == nil || !strings.Contains(err.Error(), tt.detail)):
			t.Errorf("%q as %s: found the error %v, want one with %q", tt.text, typ, err, tt.detail)
		case tt.want == "":
		case err != nil:
			t.Errorf("%q as %s: %v", tt.text, typ, err)
		case Text(v) != tt.want || v.Scale() != tt.scale || v.Kind() != Decimal:
			t.Errorf("%q as %s became %s of %s, want %s", tt.text, typ, Text(v), v.Type(), tt.want)
		}
	}
}

// TestDecimalOrder checks that payloads of one scale have the order of the numbers, and that the payload has one form.
func TestDecimalOrder(t *testing.T) {
	var list []Value
	add := func(n *big.Int) {
		for _, m := range []*big.Int{n, new(big.Int).Neg(n)} {
			if v, ok := OfDecimal(m, 2); ok {
				list = append(list, v)
			}
		}
	}
	for shift := range uint(127) {
		n := new(big.Int).Lsh(big.NewInt(1), shift)
		add(n)
		add(new(big.Int).Sub(n, big.NewInt(1)))
		add(new(big.Int).Add(n, big.NewInt(1)))
	}
	largest := new(big.Int).Sub(powers[MaxDigits], big.NewInt(1))
	add(largest)
	if _, ok := OfDecimal(powers[MaxDigits], 2); ok {
		t.Error("a number of 39 digits is a Decimal")
	}
	for _, a := range list {
		again, err := ParseDecimal(Text(a), DecimalOf(MaxDigits, 2))
		if err != nil || again.Raw() != a.Raw() {
			t.Errorf("%s is read as %v, %v", Text(a), again, err)
		}
		for _, b := range list {
			want := a.Unscaled().Cmp(b.Unscaled())
			if got, ok := Compare(a, b); !ok || got != want || strings.Compare(a.Raw(), b.Raw()) != want || Equal(a, b) != (want == 0) {
				t.Fatalf("%s and %s compare as %d, want %d", Text(a), Text(b), got, want)
			}
		}
	}
}

func TestDecimalScales(t *testing.T) {
	of := func(s string, scale int) Value {
		v, err := ParseDecimal(s, DecimalOf(MaxDigits, scale))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, tt := range []struct {
		a, b Value
		want int
	}{
		{of("1.5", 1), of("1.50", 2), 0}, {of("1.5", 1), of("1.51", 2), -1}, {of("-1.5", 1), of("-1.51", 2), 1},
		{of(nines, 0), of("0."+nines, 38), 1}, {of("0", 0), of("0", 38), 0},
	} {
		if got, ok := Compare(tt.a, tt.b); !ok || got != tt.want {
			t.Errorf("%s and %s compare as %d", Text(tt.a), Text(tt.b), got)
		}
		if got, _ := Compare(tt.b, tt.a); got != -tt.want {
			t.Errorf("%s and %s compare as %d", Text(tt.b), Text(tt.a), got)
		}
	}
	if v, ok := of("1.50", 2).Rescale(1); !ok || Text(v) != "1.5" {
		t.Errorf("1.50 with one digit is %v, %v", v, ok)
	}
	if _, ok := of("1.51", 2).Rescale(1); ok {
		t.Error("1.51 was cut to one digit")
	}
	if _, ok := of(nines, 0).Rescale(1); ok {
		t.Error("38 digits took another one")
	}
	if f := of("-12.5", 2).Float64(); f != -12.5 {
		t.Errorf("-12.50 is the float %v", f)
	}
}

// TestRawDecimal checks that no payload makes an accessor panic: plans and records may come from elsewhere.
func TestRawDecimal(t *testing.T) {
	for _, raw := range []string{"", "\x02", "\xff\x81\x01", "\x02\x81", "\x02\x7f\xff", strings.Repeat("\xff", 40)} {
		v := OfRaw(Decimal, raw)
		_ = Text(v)
		_, _ = Compare(v, OfRaw(Decimal, "\x01\x80"))
		_ = DecimalOf(10, 2).CheckDecimal(v)
	}
}

func TestDecimalTypes(t *testing.T) {
	for _, tt := range []struct {
		typ     Type
		name    string
		example string
	}{
		{DecimalOf(12, 2), "Decimal(12, 2)", `"1.00"`}, {DecimalOf(1, 0), "Decimal(1, 0)", `"1"`}, {DecimalOf(38, 38), "Decimal(38, 38)", `"0.1` + strings.Repeat("0", 37) + `"`},
	} {
		if tt.typ.String() != tt.name || tt.typ.Example() != tt.example {
			t.Errorf("found %s with the example %s, want %s and %s", tt.typ, tt.typ.Example(), tt.name, tt.example)
		}
		if _, err := ParseDecimal(strings.Trim(tt.example, `"`), tt.typ); err != nil {
			t.Error(err)
		}
	}
	bad := [][2]int{{0, 0}, {39, 0}, {2, 3}, {2, -1}}
	if slices.ContainsFunc(bad, func(n [2]int) bool { return IsDecimal(n[0], n[1]) }) || !IsDecimal(1, 0) || !IsDecimal(38, 38) {
		t.Error("IsDecimal accepts a type without values, or refuses one")
	}
}

func FuzzDecimal(f *testing.F) {
	for _, s := range []string{"12.50", "-0.01", "+7", nines, "1e5", "0." + nines, "--1", "00012.300"} {
		f.Add(s, 38, 2)
	}
	f.Fuzz(func(t *testing.T, s string, precision, scale int) {
		if !IsDecimal(precision, scale) {
			return
		}
		typ := DecimalOf(precision, scale)
		v, err := ParseDecimal(s, typ)
		if err != nil {
			return
		}
		want, ok := new(big.Rat).SetString(s)
		if !ok {
			t.Fatalf("%q became %s", s, Text(v))
		}
		if got, ok := new(big.Rat).SetString(Text(v)); !ok || got.Cmp(want) != 0 || Text(v) != want.FloatString(scale) {
			t.Fatalf("%q became %s", s, Text(v))
		}
		again, err := ParseDecimal(Text(v), typ)
		if err != nil || !Equal(v, again) {
			t.Fatalf("%s became %v, %v", Text(v), again, err)
		}
	})
}
