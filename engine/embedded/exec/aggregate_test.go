package exec

import (
	"testing"

	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// TestFolds checks that every aggregate but count has a fold, so that no aggregate of the
// language returns the number of its values by mistake.
func TestFolds(t *testing.T) {
	for _, a := range plan.Aggregates {
		if got := folds[a.Func] != nil; got != (a.Func != plan.Count) {
			t.Errorf("%s has a fold: %t", a.Name, got)
		}
	}
	if len(folds) != len(plan.Aggregates)-1 {
		t.Errorf("%d folds for %d aggregates", len(folds), len(plan.Aggregates))
	}
}
