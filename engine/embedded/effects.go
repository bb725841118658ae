package embedded

import (
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/logrecord"
)

// The receipts of mutations and loads keep the effects in the two lists of numbers by type, which begin with an entry
// for each kind of change. In the receipt of a mutation, more entries follow for the nodes: one with the number of
// replaced nodes, and one for each of the first ones with its type and id. In that of a load, the numbers
// of entities in the input follow, by type. A receipt without the entries for the kinds of change is from a program that
// did not store effects.

// replacedName is the name of the entry with the number of replaced nodes.
const replacedName = "replaced"

// packEffects stores the effects of a mutation in its receipt.
func packEffects(r *logrecord.Receipt, e *engine.WriteEffects) {
	r.NodeIns, r.EdgeIns = packCounts(&e.Nodes), packCounts(&e.Edges)
	if e.Replaced > 0 {
		r.NodeIns = append(r.NodeIns, engine.TypeCount{Type: replacedName, Count: e.Replaced})
	}
	for _, at := range e.ReplacedFirst {
		r.NodeIns = append(r.NodeIns, engine.TypeCount{Type: at.Entity + "/" + at.Type + "/" + at.ID})
	}
}

// packCounts returns the entries for the kinds of change.
func packCounts(c *engine.ChangeCounts) []engine.TypeCount {
	return []engine.TypeCount{{Type: engine.Inserted.String(), Count: c.Inserted}, {Type: engine.Updated.String(), Count: c.Updated}, {Type: engine.Deleted.String(), Count: c.Deleted}}
}

// unpackCounts returns the numbers by kind of change with which a list of a receipt begins, and the entries after them.
// If the list has no such numbers, `ok` is false.
func unpackCounts(list []engine.TypeCount) (c engine.ChangeCounts, rest []engine.TypeCount, ok bool) {
	if len(list) < 3 || list[0].Type != engine.Inserted.String() {
		return c, list, false
	}
	return engine.ChangeCounts{Inserted: list[0].Count, Updated: list[1].Count, Deleted: list[2].Count}, list[3:], true
}

// packLoad stores the result of a load in its receipt.
func packLoad(r *logrecord.Receipt, res *engine.LoadResult) {
	r.NodeIns, r.EdgeIns = append(packCounts(&res.Effects.Nodes), res.Nodes...), append(packCounts(&res.Effects.Edges), res.Edges...)
}

// load returns the result of the load that made the commit.
func (r *receiptOfCommit) load() *engine.LoadResult {
	res := &engine.LoadResult{Commit: &r.Commit, Head: r.Commit}
	e, ok := &engine.WriteEffects{}, false
	e.Nodes, res.Nodes, ok = unpackCounts(r.Receipt.NodeIns)
	e.Edges, res.Edges, _ = unpackCounts(r.Receipt.EdgeIns)
	if ok {
		res.Effects = e
	}
	return res
}

// unpackEffects returns the effects of a mutation from its receipt, or nil if the receipt has none.
func unpackEffects(r *logrecord.Receipt) *engine.WriteEffects {
	nodes, replaced, ok := unpackCounts(r.NodeIns)
	if !ok {
		return nil
	}
	edges, _, _ := unpackCounts(r.EdgeIns)
	e := &engine.WriteEffects{Nodes: nodes, Edges: edges}
	for _, c := range replaced {
		if parts := strings.SplitN(c.Type, "/", 3); len(parts) == 3 {
			e.ReplacedFirst = append(e.ReplacedFirst, engine.ChangePosition{Entity: parts[0], Type: parts[1], ID: parts[2]})
		} else {
			e.Replaced = c.Count
		}
	}
	return e
}
