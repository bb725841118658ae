package infer

import (
	"fmt"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/value"
)

// places says how the numbers of a column are written.
type places struct {
	values int64 // numbers so far
	scale  int   // digits after the point of each
	whole  int   // the most digits before it
	zeros  int64 // numbers whose fraction ends in 0
	varies bool  // some value has another number of digits after the point, none, or is written otherwise
}

// add adds a value. The fraction of a number begins after the given sign.
func (p *places) add(text string, sign byte) {
	whole, fraction, ok := strings.Cut(strings.TrimLeft(text, "+-"), string(sign))
	digits := 0
	for i := range len(whole) {
		if whole[i] >= '0' && whole[i] <= '9' {
			digits++
		}
	}
	if !ok || digits == 0 || fraction == "" || strings.Trim(fraction, "0123456789") != "" || p.values > 0 && len(fraction) != p.scale {
		p.varies = true
		return
	}
	p.values++
	p.scale, p.whole = len(fraction), max(p.whole, digits)
	if fraction[len(fraction)-1] == '0' {
		p.zeros++
	}
}

// maxPlaces is the largest number of digits after the point that amounts of money and quantities commonly have. More of them look like a
// measurement, as coordinates do.
const maxPlaces = 4

// decimal returns a Decimal for a column of floats that were written with a fixed number of digits after the point, and the evidence. A
// program that writes floats leaves zeros at the end out, so 12.50 beside 12.75 says that the digits are meant.
func (c *column) decimal(f *form) (*form, string) {
	if c.declared != nil || f.typ.Kind != value.F64 || f.typ.List {
		return nil, ""
	}
	p, sign := &c.places[0], "point"
	if f.column.Number == "1.234,56" || f.column.Number == "1 234,56" {
		p, sign = &c.places[1], "comma"
	}
	if p.varies || p.zeros == 0 || p.scale < 2 || p.scale > maxPlaces {
		return nil, ""
	}
	for _, precision := range []int{12, 18, value.MaxDigits} {
		if p.whole+p.scale <= precision {
			d := newForm(value.DecimalOf(precision, p.scale), f.column)
			return &d, fmt.Sprintf("each of %s values has %d digits after the %s, also where they end in 0", count(p.values), p.scale, sign)
		}
	}
	return nil, ""
}
