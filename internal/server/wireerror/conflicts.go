package wireerror

import (
	"fmt"

	"github.com/omnigraph-go/omnigraph/engine"
)

// WireMergeConflict is one conflict that prevents a merge.
type WireMergeConflict struct {
	Kind       string `json:"kind"`        // divergent_update, …
	EntityKind string `json:"entity_kind"` // node or edge
	TypeName   string `json:"type_name"`
	ID         string `json:"id"`
	Property   string `json:"property,omitempty"`
	Message    string `json:"message"`
}

// maxMergeConflicts is the maximum number of conflicts in one answer.
const maxMergeConflicts = 100

func mergeFault(e *engine.MergeConflicts) *Fault {
	f := callers(Conflicted, Conflict, e)
	f.Body.Error = fmt.Sprintf("the branches conflict in %d places, and nothing was merged; settle each on one of the branches, then merge again", len(e.Conflicts))
	if len(e.Conflicts) > maxMergeConflicts {
		f.Body.MergeConflictCount = len(e.Conflicts)
	}
	for _, c := range e.Conflicts[:min(len(e.Conflicts), maxMergeConflicts)] {
		f.Body.MergeConflicts = append(f.Body.MergeConflicts, WireMergeConflict{
			Kind: c.Kind.String(), EntityKind: c.Entity, TypeName: c.Type, ID: c.ID, Property: c.Property, Message: c.Message,
		})
	}
	return f
}
