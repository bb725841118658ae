package wireerror

import (
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
)

// TestMergeFault checks that the answer gives the total count if some conflicts are not
// listed.
func TestMergeFault(t *testing.T) {
	for n, count := range map[int]int{1: 0, maxMergeConflicts: 0, maxMergeConflicts + 1: maxMergeConflicts + 1} {
		body := Explain(&engine.MergeConflicts{Conflicts: make([]engine.MergeConflict, n)}).Body
		if len(body.MergeConflicts) != min(n, maxMergeConflicts) || body.MergeConflictCount != count {
			t.Errorf("of %d conflicts %d are listed, and %d counted", n, len(body.MergeConflicts), body.MergeConflictCount)
		}
	}
	if body := Explain(&engine.MergeConflicts{Conflicts: []engine.MergeConflict{{Edges: 3}}}).Body; body.MergeConflicts[0].Edges != 3 {
		t.Errorf("the answer has %d edges, want 3", body.MergeConflicts[0].Edges)
	}
}
