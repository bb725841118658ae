package main

import (
	"github.com/omnigraph-go/omnigraph/client"
)

// proposedRow is a row of the report of a proposal's changes.
type proposedRow struct {
	changeRow
	Effect string `json:"effect"`
}

// proposedReport returns the report of the changes of a proposal.
func proposedReport(a *client.ProposalChanges) *report {
	var counted client.ChangesAnswer // the changes that the merge makes
	r := &report{doc: a, columns: columns("op", "entity", "effect", "property", "before", "after"), objects: rowsOf(a.Changes)}
	there, kept := int64(0), int64(0)
	for i := range a.Changes {
		c := &a.Changes[i]
		switch c.Effect {
		case client.EffectThere:
			there++
		case client.EffectKept:
			kept++
		default:
			counted.Changes = append(counted.Changes, c.EntityChange)
		}
		for _, row := range rowsOfChange(&c.EntityChange) {
			r.rows = append(r.rows, proposedRow{row.(changeRow), c.Effect})
		}
	}
	compared := "from the target, commit " + a.TargetCommitID + ", to the result of the merge"
	if a.Compares == client.BaseToSource {
		compared = "from the merge base to the source, because the merge has no result yet; see omnigraph proposal show"
	}
	r.note = changesReport(&counted).note + "; " + compared
	if there > 0 {
		r.note += "; " + plural(there, "change") + " already there"
	}
	if kept > 0 {
		r.note += "; " + plural(kept, "change") + " lost, because a resolution keeps the target"
	}
	return r
}
