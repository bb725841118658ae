package dataimport

import (
	"cmp"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/dataimport/record"
)

// conversion is a row of TestConvert. If err is set, the value does not convert.
type conversion struct {
	typ    value.Type
	column Column
	in     record.Value
	want   string // as JSON of a load
	err    string
}

func of(k value.Kind) value.Type { return value.Of(k) }

func num(s string) record.Value { return record.Value{Kind: record.Number, Raw: []byte(s)} }

func TestConvert(t *testing.T) {
	txt := record.OfText
	amsterdam := Column{Zone: "Europe/Amsterdam"}
	tests := []conversion{
		{of(value.String), Column{}, txt(" a "), `" a "`, ""},
		{of(value.String), Column{Trim: true}, txt(" a "), `"a"`, ""},
		{of(value.String), Column{}, txt(""), `""`, ""},
		{of(value.String), Column{}, num("007"), `"007"`, ""},
		{of(value.String), Column{Null: []string{"N/A", ""}}, txt(""), `null`, ""},
		{of(value.String), Column{}, record.Value{Kind: record.Bool}, "", "found true or false, expected String"},

		{of(value.I64), Column{}, txt("9007199254740993"), "9007199254740993", ""},
		{of(value.I64), Column{}, txt(" 1200.0 "), "1200", ""},
		{of(value.I64), Column{}, num("1.2e3"), "1200", ""},
		{of(value.I64), Column{}, txt("1.25"), "", "the number has a fraction, and the property takes whole numbers; write round: integer in the map to round it"},
		{of(value.I64), Column{Round: "integer"}, txt("-199.5"), "-200", ""},
		{of(value.I64), Column{Round: "integer"}, txt("0.49"), "0", ""},
		{of(value.I32), Column{}, txt("2147483648"), "", "the number is out of range of I32"},
		{of(value.U32), Column{}, txt("-1"), "", "the number is out of range of U32"},
		{of(value.I64), Column{}, txt(""), "null", ""},
		{of(value.I64), Column{}, txt("1,234"), "", `the text could be two numbers; say which in the map: 1234 with number: "1,234.56", or 1.234 with number: "1.234,56", or 1.234 with number: "1 234,56"`},
		{of(value.I64), Column{}, txt("soon"), "", "expected a number"},
		{of(value.F64), Column{Number: "1.234,56"}, txt("-1.234,56"), "-1234.56", ""},
		{of(value.F64), Column{Number: "1.234,56"}, txt("1234,5"), "1234.5", ""},
		{of(value.F64), Column{Number: "1.234,56"}, txt("12.34"), "", `expected a number as the map says: groups of three digits with "." between them, and "," before the fraction`},
		{of(value.F64), Column{Number: "1 234,56"}, txt("1 234 567,5"), "1234567.5", ""},
		{of(value.F64), Column{}, txt("NaN"), "", "expected a number"},
		{of(value.F64), Column{}, txt("1e999"), "", "expected a number"},
		{of(value.F32), Column{}, num("1e39"), "", "the number is out of range of F32"},

		{of(value.Bool), Column{}, txt("TRUE"), "true", ""},
		{of(value.Bool), Column{}, num("1"), "", "expected true or false; write in the map which texts stand for them, such as true: [t, yes] and false: [f, no]"},
		{of(value.Bool), Column{True: []string{"1"}, False: []string{"0"}}, num("0"), "false", ""},

		{of(value.Date), Column{}, txt("2024-02-29"), `"2024-02-29"`, ""},
		{of(value.Date), Column{}, txt("2024-02-29 00:00:00"), `"2024-02-29"`, ""},
		{of(value.Date), Column{}, txt("2024-02-29 00:00:01"), "", "the day has a time, which a Date does not keep; set a DateTime, or leave the time out in the source"},
		{of(value.Date), Column{}, txt("03/04/2024"), "", `the text could be two days; say which in the map: 3 April 2024 with date: "02/01/2006", or 4 March 2024 with date: "01/02/2006"`},
		{of(value.Date), Column{}, txt("25/12/2024"), "", `expected a day such as 2006-01-02; in the map the text is 25 December 2024 with date: "02/01/2006"`},
		{of(value.Date), Column{Date: "02/01/2006"}, txt("31/12/1872"), `"1872-12-31"`, ""},
		{of(value.Date), Column{Date: "02/01/2006"}, txt("31/02/1872"), "", `expected a day as date: "02/01/2006" in the map says: day out of range`},

		{of(value.DateTime), Column{}, txt("2024-05-01T10:00:00+02:00"), `"2024-05-01T08:00:00.000Z"`, ""},
		{of(value.DateTime), Column{}, txt("2024-05-01 10:00:00.25+02"), `"2024-05-01T08:00:00.250Z"`, ""},
		{of(value.DateTime), Column{}, txt("2024-05-01t10:00:00z"), `"2024-05-01T10:00:00.000Z"`, ""},
		{of(value.DateTime), Column{}, txt("2024-05-01 10:00:00"), "", "the time has no zone; say in the map in which zone it is, such as zone: UTC or zone: Europe/Amsterdam"},
		{of(value.DateTime), amsterdam, txt("2024-05-01 10:00:00"), `"2024-05-01T08:00:00.000Z"`, ""},
		{of(value.DateTime), amsterdam, txt("2024-03-31 02:30:00"), "", "the clocks in Europe/Amsterdam skip this time, when summer time begins; mend it in the source"},
		{of(value.DateTime), amsterdam, txt("2024-10-27 02:30:00"), "", "the clocks in Europe/Amsterdam show this time twice, when summer time ends: it could be 2024-10-27T00:30:00Z or 2024-10-27T01:30:00Z; write the offset in the source"},
		{of(value.DateTime), amsterdam, txt("2024-10-27 01:59:59"), `"2024-10-26T23:59:59.000Z"`, ""},
		{of(value.DateTime), amsterdam, txt("2024-10-27 03:00:00"), `"2024-10-27T02:00:00.000Z"`, ""},
		{of(value.DateTime), Column{Round: "second"}, txt("2024-05-01T10:00:00.5Z"), `"2024-05-01T10:00:01.000Z"`, ""},
		{of(value.DateTime), Column{Time: "02.01.2006 15:04", Zone: "UTC"}, txt("01.05.2024 10:00"), `"2024-05-01T10:00:00.000Z"`, ""},
		{of(value.DateTime), Column{}, num("1714557600"), "", "a number could be several times; say which in the map: 2024-05-01T10:00:00Z with time: unix, or 1970-01-20T20:15:57Z with time: unix_ms, or 1970-01-01T00:28:34Z with time: unix_us"},
		{of(value.DateTime), Column{Time: "unix"}, num("1714557600.25"), `"2024-05-01T10:00:00.250Z"`, ""},
		{of(value.DateTime), Column{Time: "unix_ms"}, txt("-1"), `"1969-12-31T23:59:59.999Z"`, ""},
		{of(value.DateTime), Column{}, txt("2024-05-01T10:00:00.1234560000Z"), `"2024-05-01T10:00:00.123456Z"`, ""},
		{of(value.DateTime), Column{}, txt("2024-05-01T10:00:00.1234560000001Z"), "", "the time has digits that a DateTime does not keep; write round: microsecond in the map to round it"},
		{of(value.DateTime), Column{Round: "microsecond"}, txt("2024-05-01T10:00:00.1234567Z"), `"2024-05-01T10:00:00.123457Z"`, ""},
		{of(value.DateTime), Column{Time: "unix_us"}, txt("-1"), `"1969-12-31T23:59:59.999999Z"`, ""},
		{of(value.DateTime), Column{}, record.Value{Kind: record.Instant, Time: time.Unix(1, 1)}, "", "the time has digits that a DateTime does not keep; write round: microsecond in the map to round it"},

		{of(value.Duration), Column{}, txt("PT1H30M"), `"PT1H30M"`, ""},
		{of(value.Duration), Column{}, record.Value{Kind: record.Span, Span: time.Second}, `"PT1S"`, ""},
		{of(value.Duration), Column{Unit: "ms"}, num("1500.5"), `"PT1.5005S"`, ""},
		{of(value.Duration), Column{Unit: "ns"}, num("-0.5"), "", "the duration has digits below the nanosecond, which a Duration does not keep"},
		{of(value.Duration), Column{Unit: "h"}, num("1e30"), "", "the duration is out of range"},
		{of(value.Duration), Column{}, num("5"), "", "the map does not say in which unit the number is; add unit: ms, or another one of ns, us, ms, s, m, h"},
		{of(value.Blob), Column{}, txt("AAEC"), "", "the map does not say how the text writes bytes; add bytes: base64 or bytes: hex"},
		{of(value.Blob), Column{Bytes: "hex"}, txt(`\x0001`), `"AAE="`, ""},

		{value.Type{Kind: value.String, List: true}, Column{List: ";"}, txt("a;b"), `["a","b"]`, ""},
		{value.Type{Kind: value.I64, List: true}, Column{List: "json"}, txt("[1, 2]"), "[1,2]", ""},
		{value.Type{Kind: value.I64, List: true}, Column{}, txt("1;2"), "", "found a text, expected a list; write in the map what is between the elements, such as list: \";\", or list: json"},
		{value.Type{Kind: value.I64, List: true}, Column{List: ";"}, txt("1;;2"), "", "element 2: a list cannot hold null"},
		{value.Type{Kind: value.Vector, Dim: 2}, Column{List: "json"}, txt("[0.5,1]"), "[0.5,1]", ""},
		{value.Type{Kind: value.Vector, Dim: 2}, Column{List: "json"}, txt("[0.5]"), "", "found 1 numbers, expected 2"},
		{value.Type{Kind: value.String, Enum: []string{"red", "blue"}}, Column{}, txt("green"), "", "expected one of red, blue"},
	}
	for _, tt := range tests {
		k, err := NewConverter(tt.typ, &tt.column)
		if err != nil {
			t.Errorf("%s, %+v: %v", tt.typ, tt.column, err)
			continue
		}
		v, err := k.Convert(&tt.in)
		got, fault := "", ""
		if err != nil {
			fault = err.Error()
		} else {
			got = string(JSON(v))
		}
		if got != tt.want || fault != tt.err {
			t.Errorf("%s %q to %s:\nfound    %s%s\nexpected %s%s", tt.in.Kind, tt.in.String(), tt.typ, got, fault, tt.want, tt.err)
		}
	}
}

// TestEveryKind converts the example of each kind.
func TestEveryKind(t *testing.T) {
	for _, kind := range value.Kinds() {
		typ, c := value.Of(kind), Column{}
		list, err := record.ParseList([]byte("["+cmp.Or(kind.Example(), "[1,2]")+"]"), 9) // the example of a Vector depends on its length
		if err != nil {
			t.Fatal(kind, err)
		}
		switch kind {
		case value.Blob:
			c.Bytes = "base64"
		case value.Vector:
			typ.Dim = len(list[0].Elems)
		case value.Decimal:
			typ = value.DecimalOf(12, 2)
		}
		k, err := NewConverter(typ, &c)
		if err != nil {
			t.Fatal(kind, err)
		}
		if v, err := k.Convert(&list[0]); err != nil || v.Kind() != kind {
			t.Errorf("%s: %s became %v, %v; convert the kind in Converter.scalar", kind, kind.Example(), v, err)
		}
	}
}

func TestColumnOptions(t *testing.T) {
	tests := []struct {
		typ    value.Type
		column Column
		want   string
	}{
		{of(value.I64), Column{Date: "2006-01-02"}, "date does not apply to the type I64"},
		{of(value.Date), Column{Round: "second"}, "round: second does not apply to the type Date"},
		{of(value.Date), Column{Date: "dd/mm/yyyy"}, `date is "dd/mm/yyyy", which has no day, month and year; write the day 2006-01-02 as the source writes it, such as "02/01/2006"`},
		{of(value.DateTime), Column{Zone: "Amsterdam"}, `the zone "Amsterdam" is unknown; write a name such as UTC or Europe/Amsterdam`},
		{of(value.F64), Column{Number: "1,234"}, `number is "1,234", which does not say whether the mark is before the fraction or between thousands; write the number 1234.56 as the source writes it`},
		{of(value.F64), Column{Number: "1234"}, `number is "1234", expected the number 1234.56 as the source writes it, such as "1.234,56", "1,234.56" or "1234,56"`},
		{of(value.Bool), Column{True: []string{"t"}}, "true and false belong together; write both"},
	}
	for _, tt := range tests {
		if _, err := NewConverter(tt.typ, &tt.column); err == nil || err.Error() != tt.want {
			t.Errorf("found %v, expected %s", err, tt.want)
		}
	}
}

// TestManyElements converts texts with as many elements as a list may have, and with one more. Nothing is made of the elements of the latter.
func TestManyElements(t *testing.T) {
	for _, c := range []struct{ list, open, one, more, end string }{{";", "", "1", ";1", ""}, {"json", "[", "1", ",1", "]"}, {"json", "[[", "1", ",1", "]]"}, {"json", `["`, ",", ",", `"]`}} {
		of := value.Type{Kind: value.String, List: true}
		k, err := NewConverter(of, &Column{List: c.list})
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{maxElements, maxElements + 1} {
			in := record.OfText(c.open + c.one + strings.Repeat(c.more, n-1) + c.end)
			list, err := k.elements(&in)
			switch nested := c.open == "[["; {
			case c.more == ",":
				if err != nil || len(list) != 1 {
					t.Errorf("%d commas in a text: %d elements, %v", n, len(list), err)
				}
			case n > maxElements || nested:
				if err == nil || !strings.Contains(err.Error(), "1048576") {
					t.Errorf("list: %s with %d elements: %d elements, %v", c.list, n, len(list), err)
				}
			case err != nil || len(list) != n || cap(list) > 2*n:
				t.Errorf("list: %s with %d elements: %d elements, %v", c.list, n, len(list), err)
			}
		}
	}
}

// FuzzConvert checks that each converted text is valid for a load, and that conversion does not panic.
func FuzzConvert(f *testing.F) {
	for _, s := range []string{"1,234.5", "03/04/2024", "2024-10-27 02:30:00", "-1e-300", "[1,2]", "−5", "0001-01-01", "99999999999999999999"} {
		f.Add(s)
	}
	columns := []Column{{}, {Number: "1.234,56", Zone: "Europe/Amsterdam", Time: "unix_us", Date: "2/1/2006", List: "json"}, {Round: "integer", List: ";", Zone: "America/New_York"}}
	f.Fuzz(func(t *testing.T, s string) {
		for _, kind := range value.Kinds() {
			for _, c := range columns {
				typ := value.Type{Kind: kind, List: c.List != "" && kind != value.Vector, Dim: 2}
				fit := c
				for _, drop := range []func(){func() {}, func() { fit.Round = "" }, func() { fit.Number = "" }, func() { fit.Zone, fit.Time = "", "" }, func() { fit.Date = "" }} {
					drop()
					k, err := NewConverter(typ, &fit)
					if err != nil {
						continue
					}
					in := record.OfText(s)
					if v, err := k.Convert(&in); err == nil && !v.IsNull() && v.IsList() != typ.List {
						t.Errorf("%q became %v", s, v)
					}
				}
			}
		}
	})
}
