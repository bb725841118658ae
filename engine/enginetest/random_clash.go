package enginetest

import (
	"bytes"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// This file draws merges of two branches that have changed the same part of the graph. Independent steps seldom do that.

// drawClash sometimes draws steps that change the same part of the graph on two branches, and then merge the two. The two
// branches have the same schema.
func (d *drawer) drawClash(p *pair) []step {
	if !d.rare.percent(8) {
		return nil
	}
	branches := p.branches()
	source := pick(d.rare, branches)
	p.branch = p.named(source)
	p.follow()
	d.schema = p.schema
	d.see(p.knownIDs())
	others := slices.DeleteFunc(branches, func(name string) bool { return name == source || !p.fits(name) })
	if len(others) == 0 {
		return nil
	}
	target := pick(d.rare, others)
	var theirs, ours step
	var ok bool
	switch d.rare.IntN(4) {
	case 0:
		theirs, ours, ok = d.drawDeletedEnd()
	case 1:
		theirs, ours, ok = d.drawGoneEnd()
	case 2:
		theirs, ours, ok = d.drawRenamed()
	default:
		theirs, ours, ok = d.drawTwoUpdates()
	}
	if !ok {
		return nil
	}
	theirs.branch, ours.branch = onBranch(source), onBranch(target)
	return []step{theirs, ours, {branching: &branching{source: source, target: target, resolve: d.rare.percent(50)}}}
}

// fits reports whether a branch has the schema of the current branch.
func (p *pair) fits(name string) bool {
	s, err := p.model.Schema(p.ctx, engine.Target{Branch: p.named(name)})
	return err == nil && bytes.Equal(catalog.Encode(s.Catalog), catalog.Encode(p.schema))
}

// onBranch returns the value of step.branch for a branch.
func onBranch(name string) string {
	if name == engine.MainBranch {
		return ""
	}
	return name
}

// drawEdgeAt draws a load of an edge with an interface at an end. The result `at` is the end: true for the target. The other
// results are the type and the id of the node there.
func (d *drawer) drawEdgeAt() (load step, e *catalog.Edge, at bool, typ, id string, ok bool) {
	edges := slices.DeleteFunc(slices.Clone(d.schema.Edges), func(e *catalog.Edge) bool { return !e.HasInterfaceEnd() })
	if len(edges) == 0 {
		return load, nil, false, "", "", false
	}
	e = pick(d.rare, edges)
	at = e.ToInterface
	if typ = d.typeAt(e, at); typ == "" {
		return load, nil, false, "", "", false
	}
	id = d.nodeID(typ)
	node := nodeJSON(typ, jsonText(id))
	from, to := node, d.endJSON(e, true)
	if at {
		from, to = d.endJSON(e, false), node
	}
	return step{load: d.edgeLineAt(e, from, to), mode: engine.Merge}, e, at, typ, id, true
}

// drawDeletedEnd draws the deletion of a node, and a load of an edge at the node. The edge has an interface at this end.
func (d *drawer) drawDeletedEnd() (theirs, ours step, ok bool) {
	load, _, _, typ, id, ok := d.drawEdgeAt()
	if !ok {
		return theirs, ours, false
	}
	return step{query: newMutation(d.schema).remove(typ, "id", plan.Eq, id).query()}, load, true
}

// drawGoneEnd draws a schema in which a node type has left the interface at an end of edges, and a load of an edge at a node
// of that type.
func (d *drawer) drawGoneEnd() (theirs, ours step, ok bool) {
	load, e, at, typ, _, ok := d.drawEdgeAt()
	if !ok || !d.evolving {
		return theirs, ours, false
	}
	s, err := catalog.Decode(catalog.Encode(d.schema))
	must(err)
	face, _ := e.End(at)
	n := s.Node(typ)
	n.Implements = slices.DeleteFunc(n.Implements, func(name string) bool { return name == face })
	s.Index()
	return step{migration: &migration{schema: s, allow: true}}, load, true
}

// drawRenamed draws a schema with another name for a node type, and a load of nodes of that type.
func (d *drawer) drawRenamed() (theirs, ours step, ok bool) {
	if !d.evolving {
		return theirs, ours, false
	}
	s, err := catalog.Decode(catalog.Encode(d.schema))
	must(err)
	i := d.rare.IntN(len(s.Nodes))
	d.rename(s, s.Nodes[i])
	s.Index()
	n := d.schema.Nodes[i]
	lines := d.nodeLine(n) + "\n" + d.nodeLine(n)
	return step{migration: &migration{schema: s, allow: true}}, step{load: lines, mode: engine.Merge}, true
}

// drawTwoUpdates draws two updates of one node, each of another property.
func (d *drawer) drawTwoUpdates() (theirs, ours step, ok bool) {
	n := pick(d.rare, d.schema.Nodes)
	var names []string
	for _, p := range n.Properties {
		if !n.IsKey(p.Name) {
			names = append(names, p.Name)
		}
	}
	if len(names) < 2 {
		return theirs, ours, false
	}
	id := d.nodeID(n.Name)
	d.rare.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	update := func(name string) step {
		w := &writeDraw{drawer: d, mutationPlan: newMutation(d.schema)}
		props := w.exprs(plan.Node, n.Name, set{name: d.value(n.Name, n.Property(name))})
		w.alter(plan.Node, n.Name, props, w.pred(plan.Node, n.Name, "id", plan.Eq, id))
		return step{query: w.query(), args: w.args}
	}
	return update(names[0]), update(names[1]), true
}
