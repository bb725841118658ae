package mutate

import (
	"fmt"
	"testing"

	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// TestInOrder sorts assignments of which each is written as its property and the one that it reads. With the long chains it ends only if the time
// does not grow with the cube of their length.
func TestInOrder(t *testing.T) {
	var forward, back [][2]string
	for i := range 20_000 {
		forward = append(forward, [2]string{fmt.Sprint("p", i), fmt.Sprint("p", i+1)})
		back = append(back, [2]string{fmt.Sprint("p", i), fmt.Sprint("p", i-1)})
	}
	for name, set := range map[string][][2]string{
		"nothing is read that is set": {{"a", "x"}, {"b", "y"}, {"c", "x"}},
		"two read one":                {{"a", "c"}, {"b", "c"}, {"c", "x"}},
		"a chain forwards":            forward,
		"a chain back":                back,
	} {
		t.Run(name, func(t *testing.T) {
			var given []plan.Assign
			for _, a := range set {
				given = append(given, plan.Assign{Name: a[0], Value: plan.Old{Name: a[1]}})
			}
			sorted := inOrder(given)
			at := map[string]int{}
			for i, a := range sorted {
				at[a.Name] = i
			}
			if len(sorted) != len(set) || len(at) != len(set) {
				t.Fatalf("%d assignments to %d properties, want %d", len(sorted), len(at), len(set))
			}
			for _, a := range set {
				if before, ok := at[a[1]]; ok && before > at[a[0]] {
					t.Errorf("%s stands before %s, which it reads", a[0], a[1])
				}
			}
		})
	}
}
