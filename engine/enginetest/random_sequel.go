package enginetest

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// drawSequel sometimes draws statements that follow a statement on the same branch, and whose effect on the same entities independent
// statements seldom have. It takes its random numbers from d.sequels.
func (d *drawer) drawSequel(s step) []step {
	switch {
	case s.mode == engine.Sync && s.load != "" && s.sync.Source != "" && d.sequels.percent(40):
		return []step{d.drawShorter(s)}
	case s.query != nil && s.query.Mutation != nil && d.sequels.percent(20):
		return d.drawNamesake(s.branch)
	}
	return nil
}

// drawShorter draws a sync that follows another one by the same source, which lets go of some of the entities.
func (d *drawer) drawShorter(s step) step {
	lines := slices.DeleteFunc(strings.Split(s.load, "\n"), func(string) bool { return d.sequels.percent(25) })
	next := step{branch: s.branch, load: strings.Join(lines, "\n"), mode: engine.Sync, sync: s.sync, approved: true}
	next.sync.Cascade = d.sequels.percent(50)
	return next
}

// drawNamesake draws an edge at a node, where the edge has an interface at this end, and the deletion of a node of another type
// with the same id.
func (d *drawer) drawNamesake(branch string) []step {
	for range 5 {
		load, e, at, typ, id, ok := d.drawEdgeAt()
		if !ok {
			return nil
		}
		others := slices.DeleteFunc(typesAt(d.schema, e.Name, at), func(other string) bool {
			return other == typ || !slices.Contains(d.ids[key(plan.Node, other)], id)
		})
		if len(others) > 0 {
			load.branch = branch
			return []step{load, {branch: branch, query: newMutation(d.schema).remove(pick(d.sequels, others), "id", plan.Eq, id).query()}}
		}
	}
	return nil
}
