package wireerror

import (
	"fmt"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
)

// maxMergeConflicts is the maximum number of conflicts in one answer.
const maxMergeConflicts = 100

// mergeFault returns the fault for a merge with conflicts. It lists the first maxMergeConflicts of
// them.
func mergeFault(e *engine.MergeConflicts) *Fault {
	f := callers(Conflicted, client.CodeConflict, e)
	f.Body.Message = fmt.Sprintf("the branches conflict in %d places, and nothing was merged; settle each on one of the branches, then merge again", len(e.Conflicts))
	if len(e.Conflicts) > maxMergeConflicts {
		f.Body.MergeConflictCount = len(e.Conflicts)
	}
	for _, c := range e.Conflicts[:min(len(e.Conflicts), maxMergeConflicts)] {
		f.Body.MergeConflicts = append(f.Body.MergeConflicts, client.MergeConflict{
			Kind: c.Kind.String(), EntityKind: c.Entity, TypeName: c.Type, ID: c.ID, Property: c.Property, Message: c.Message, Edges: c.Edges,
		})
	}
	return f
}
