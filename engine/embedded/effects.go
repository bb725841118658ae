package embedded

import (
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
)

// The receipt of a load has numbers by type. The receipt of a mutation uses the same two lists for the effects of the
// mutation: an entry for each kind of change with its number and, for the nodes, one with the number of
// replaced nodes, and one for each of the first ones with its type and id. A receipt without these entries is
// from a program that did not store effects.

// replacedName is the name of the entry with the number of replaced nodes.
const replacedName = "replaced"

// packEffects stores the effects of a mutation in its receipt.
func packEffects(r *version.Receipt, e *engine.WriteEffects) {
	pack := func(c *engine.ChangeCounts) []engine.TypeCount {
		return []engine.TypeCount{{Type: engine.Inserted.String(), Count: c.Inserted}, {Type: engine.Updated.String(), Count: c.Updated}, {Type: engine.Deleted.String(), Count: c.Deleted}}
	}
	r.NodeIns, r.EdgeIns = pack(&e.Nodes), pack(&e.Edges)
	if e.Replaced > 0 {
		r.NodeIns = append(r.NodeIns, engine.TypeCount{Type: replacedName, Count: e.Replaced})
	}
	for _, at := range e.ReplacedFirst {
		r.NodeIns = append(r.NodeIns, engine.TypeCount{Type: at.Entity + "/" + at.Type + "/" + at.ID})
	}
}

// unpackEffects returns the effects of a mutation from its receipt, or nil if the receipt has none.
func unpackEffects(r *version.Receipt) *engine.WriteEffects {
	if len(r.NodeIns) < 3 || len(r.EdgeIns) < 3 {
		return nil
	}
	unpack := func(c []engine.TypeCount) engine.ChangeCounts {
		return engine.ChangeCounts{Inserted: c[0].Count, Updated: c[1].Count, Deleted: c[2].Count}
	}
	e := &engine.WriteEffects{Nodes: unpack(r.NodeIns), Edges: unpack(r.EdgeIns)}
	for _, c := range r.NodeIns[3:] {
		if parts := strings.SplitN(c.Type, "/", 3); len(parts) == 3 {
			e.ReplacedFirst = append(e.ReplacedFirst, engine.ChangePosition{Entity: parts[0], Type: parts[1], ID: parts[2]})
		} else {
			e.Replaced = c.Count
		}
	}
	return e
}
