package diag

import (
	"strings"
	"unicode/utf8"
)

// maxCompared is the maximum length of a name that Closest compares, in code points. A comparison
// takes time in proportion to the product of the two lengths, and longer names are rarely
// misspelt.
const maxCompared = 64

// Closest returns the candidate that was most likely meant by `name`, or "" if no candidate is
// close. It ignores case. At most a third of the letters may be wrong, missing, extra or swapped
// with a neighbour; in a name of two or more letters, one such letter is always allowed. Of several
// equally close candidates, Closest returns the first.
func Closest(name string, candidates []string) string {
	letters := utf8.RuneCountInString(name)
	if letters > maxCompared {
		return ""
	}
	best, bestDist := "", max(min(letters-1, 1), letters/3)+1
	lower := []rune(strings.ToLower(name))
	for _, c := range candidates {
		if d := distance(lower, []rune(strings.ToLower(c)), bestDist); d < bestDist {
			best, bestDist = c, d
		}
	}
	return best
}

// DidYouMean returns the help line for a misspelt name, or "" if no candidate is close or the
// name is a candidate in a wrong place.
func DidYouMean(name string, candidates []string) string {
	if n := Closest(name, candidates); n != "" && n != name {
		return "did you mean " + n + "?"
	}
	return ""
}

// OneSlip reports whether two words differ in one letter that is wrong, missing, extra or swapped with a
// neighbour.
func OneSlip(a, b string) bool { return distance([]rune(a), []rune(b), 2) == 1 }

// distance returns the optimal string alignment distance (Damerau's distance without crossing
// edits), or `limit` if the distance is at least `limit`.
func distance(a, b []rune, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	before, prev, cur := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], before[j-2]+1)
			}
		}
		before, prev, cur = prev, cur, before
	}
	return min(prev[len(b)], limit)
}
