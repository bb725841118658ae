package plan_test

import (
	"testing"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// TestInterval checks the first and the last microsecond of valid times.
func TestInterval(t *testing.T) {
	const day = 86400_000_000
	date := func(n int64) plan.Expr { return plan.Lit{Value: value.OfDate(value.DateValue(n))} }
	for _, test := range []struct {
		name        string
		valid       plan.Valid
		first, last int64 // both 0 for a period that ends at or before its start
	}{
		{"at a day", plan.Valid{From: date(2)}, 2 * day, 2 * day},
		{"before 1970", plan.Valid{From: date(-2)}, -2 * day, -2 * day},
		{"at a parameter", plan.Valid{From: plan.ParamRef{Index: 0}}, 7, 7},
		{"now", plan.Valid{From: plan.Now{}}, 9, 9},
		{"during days", plan.Valid{From: date(2), To: date(3)}, 2 * day, 3*day - 1},
		{"from now", plan.Valid{From: plan.Now{}, To: date(1)}, 9, day - 1},
		{"one microsecond", plan.Valid{From: plan.ParamRef{Index: 0}, To: plan.Lit{Value: value.OfDateTime(8)}}, 7, 7},
		{"no time", plan.Valid{From: date(2), To: date(2)}, 0, 0},
		{"backwards", plan.Valid{From: date(3), To: plan.Now{}}, 0, 0},
	} {
		first, last, err := test.valid.Interval([]value.Value{value.OfDateTime(7)}, value.OfDateTime(9))
		if first != test.first || last != test.last || (err != nil) != (first == 0) {
			t.Errorf("%s: got %d to %d, %v; want %d to %d", test.name, first, last, err, test.first, test.last)
		}
	}
}
