package infer

import (
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/dataimport"
	"github.com/omnigraph-go/omnigraph/internal/dataimport/record"
)

// TestDecimals infers the types of columns of numbers with fractions.
func TestDecimals(t *testing.T) {
	for _, tt := range []struct{ name, values, want string }{
		{"prices", "12.50 3.75 100.00", "Decimal(12, 2)"},
		{"whole amounts beside others", "7.00 8.25", "Decimal(12, 2)"},
		{"signs", "-12.50 +3.75", "Decimal(12, 2)"},
		{"rates", "1.0850 1.0912", "Decimal(12, 4)"},
		{"large", "123456789012.50", "Decimal(18, 2)"},
		{"largest", "12345678901234567890123456789012345.50", "Decimal(38, 2)"},
		{"with commas", "1.234,50 2,75 10,00", "Decimal(12, 2)"},
		{"no zero at an end, as floats are written", "12.25 3.75", "F64"},
		{"floats", "12.5 3.75", "F64"},
		{"one digit", "12.5 3.0", "F64"},
		{"coordinates", "52.370200 4.895190", "F64"},
		{"an exponent", "12.50 1e-3", "F64"},
		{"a whole number beside", "12.50 3", "F64"},
		{"whole numbers", "12.00 3.00", "I64"},
		{"codes", "012.50 x", "String"},
	} {
		c := &column{table: &table{}, name: "c", forms: formsOf(), texts: map[string]int64{}, tokens: map[string]int64{}}
		for text := range strings.FieldsSeq(tt.values) {
			v := record.OfText(text)
			c.add(&v)
		}
		c.finish()
		got := "String"
		if c.typ != nil {
			got = c.typ.typ.String()
			for text := range strings.FieldsSeq(tt.values) {
				v := record.OfText(text)
				k, err := dataimport.NewConverter(c.typ.typ, &c.typ.column)
				if err == nil {
					_, err = k.Convert(&v)
				}
				if err != nil {
					t.Errorf("%s: %v", tt.name, err)
				}
			}
		}
		if got != tt.want {
			t.Errorf("%s: found %s, expected %s", tt.name, got, tt.want)
		}
		if strings.HasPrefix(got, "Decimal") != strings.Contains(c.note, "digits after the") {
			t.Errorf("%s: the evidence is %q", tt.name, c.note)
		}
	}
}
