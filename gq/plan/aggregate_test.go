package plan_test

import (
	"testing"

	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// TestAggregates checks that the index of each row is the number of its function, and that the
// numbers in encoded plans have not changed.
func TestAggregates(t *testing.T) {
	seen := map[string]bool{}
	for i, a := range plan.Aggregates {
		if int(a.Func) != i {
			t.Errorf("row %d has the number %d", i, a.Func)
		}
		if a.Name == "" || a.Doc == "" || a.Arg == nil || a.Result == nil || seen[a.Name] {
			t.Errorf("row %d lacks a field, or another row has its name: %+v", i, a)
		}
		seen[a.Name] = true
		if found := plan.AggregateNamed(a.Name); found == nil || found.Func != a.Func {
			t.Errorf("%s finds %+v", a.Name, found)
		}
	}
	for name, number := range map[string]plan.AggFunc{"count": 0, "sum": 1, "avg": 2, "min": 3, "max": 4} {
		if number.String() != name {
			t.Errorf("number %d is %s, expected %s", uint8(number), number, name)
		}
	}
	unknown := plan.AggFunc(len(plan.Aggregates))
	if unknown.Row() != nil || plan.AggregateNamed("none") != nil {
		t.Errorf("found %+v and %+v", unknown.Row(), plan.AggregateNamed("none"))
	}
}
