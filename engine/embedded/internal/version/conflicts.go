package version

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
)

// FirstConflicts sorts conflicts and returns the first ones: at most `most` of them, or all if it is 0.
func FirstConflicts(all []engine.MergeConflict, most int) []engine.MergeConflict {
	sortConflicts(all)
	if most > 0 && len(all) > most {
		return slices.Clip(slices.Clone(all[:most]))
	}
	return all
}

// sortConflicts puts conflicts into a fixed order.
func sortConflicts(all []engine.MergeConflict) {
	slices.SortStableFunc(all, func(a, b engine.MergeConflict) int {
		if c := int(a.Kind) - int(b.Kind); c != 0 {
			return c
		}
		if c := strings.Compare(b.Entity, a.Entity); c != 0 {
			return c // nodes first
		}
		return strings.Compare(a.Type+"\x00"+a.ID, b.Type+"\x00"+b.ID)
	})
}
