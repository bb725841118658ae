package version

import (
	"context"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
)

// Uncarried lists the entities of dropped types that one side of a merge put or changed since the
// merge base. A dropped type is a type of the base that has no entry in c. Such a change conflicts
// with the removal of its type (DeleteVsUpdate). Both snapshots have the schema that the carry
// starts from. The parameter `message` is the text of each conflict. The only possible error is that of the
// context.
func Uncarried(ctx context.Context, base, side *Snapshot, c *Carry, message string) (out []engine.MergeConflict, err error) {
	for _, part := range []struct {
		carries []TypeCarry
		tables  []*Table
		before  []*Table
	}{{c.Nodes, side.nodes, base.nodes}, {c.Edges, side.edges, base.edges}} {
		for i, t := range part.tables {
			if slices.ContainsFunc(part.carries, func(tc TypeCarry) bool { return tc.From == i }) {
				continue
			}
			ids, err := changedIDs(ctx, part.before[i], t)
			if err != nil {
				return nil, err
			}
			for _, id := range ids {
				was, is := entityOf(base, t.Type, id), entityOf(side, t.Type, id)
				if is.there && !(was.there && was.same(&is)) {
					out = append(out, engine.MergeConflict{Kind: engine.DeleteVsUpdate, Entity: t.Type.Entity.String(), Type: t.Type.Name, ID: strings.Clone(id), Message: message})
				}
			}
		}
	}
	sortConflicts(out)
	return out, nil
}
