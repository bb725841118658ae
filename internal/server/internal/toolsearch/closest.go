package toolsearch

import (
	"cmp"
	"slices"
	"strings"
)

// Closest compares a text with the names of the entries in the list `among`. It returns the indexes
// of the n entries with the most similar names, the closest first. It returns fewer only if the
// list is shorter.
func (x *Index) Closest(s string, among []int, n int) []int {
	wanted := contentWords(s)
	likeness := make(map[int]float64, len(among))
	for _, i := range among {
		name := x.folded[i].name
		sum := dice(strings.Join(wanted, " "), name)
		for _, w := range wanted {
			best := 0.0
			for part := range strings.FieldsSeq(name) {
				best = max(best, dice(w, part))
			}
			sum += best
		}
		likeness[i] = sum
	}
	order := slices.Clone(among)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(likeness[b], likeness[a]) })
	return order[:min(n, len(order))]
}

// dice returns how much of two texts consists of the same pairs of adjacent bytes, from 0 to 1.
func dice(a, b string) float64 {
	if len(a) < 2 || len(b) < 2 {
		return 0
	}
	same := 0
	for i := range len(a) - 1 {
		if strings.Contains(b, a[i:i+2]) {
			same++
		}
	}
	return 2 * float64(min(same, len(b)-1)) / float64(len(a)+len(b)-2)
}
