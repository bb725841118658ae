package enginetest

import (
	"bytes"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
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
	var theirs, ours []step
	one := func(a, b step, ok bool) {
		if ok {
			theirs, ours = []step{a}, []step{b}
		}
	}
	merge := &branching{source: source, target: target, resolve: d.rare.percent(50)}
	switch d.rare.IntN(9) {
	case 7, 8:
		theirs, ours = d.drawFilled()
	case 0:
		one(d.drawDeletedEnd())
	case 1:
		one(d.drawGoneEnd())
	case 2:
		one(d.drawRenamed())
	case 3:
		one(d.drawTwoUpdates())
	case 4:
		one(d.drawKept())
		merge.resolve, merge.turn = true, d.rare.IntN(3)
	default:
		theirs, ours = d.drawColumn()
	}
	if len(theirs) == 0 {
		return nil
	}
	if d.rare.percent(50) {
		theirs, ours = ours, theirs
	}
	steps := []step{}
	for _, s := range theirs {
		s.branch = onBranch(source)
		steps = append(steps, s)
	}
	for _, s := range ours {
		s.branch = onBranch(target)
		steps = append(steps, s)
	}
	return append(steps, step{branching: merge})
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
	update := func(name string) step { return d.setProperty(plan.Node, n.Name, id, n.Property(name)) }
	return update(names[0]), update(names[1]), true
}

// drawKept draws the deletion of a node and an update of the same node. The merge resolves the conflict.
func (d *drawer) drawKept() (theirs, ours step, ok bool) {
	n := pick(d.rare, d.schema.Nodes)
	name, ok := d.freeProperty(n.Properties, n.Key)
	have := d.ids[key(plan.Node, n.Name)]
	if !ok || len(have) == 0 {
		return theirs, ours, false
	}
	id := pick(d.rare, have)
	return step{query: newMutation(d.schema).remove(n.Name, "id", plan.Eq, id).query()}, d.setProperty(plan.Node, n.Name, id, n.Property(name)), true
}

// drawColumn draws one or two schemas that change a property of a type, and writes to this property: an update of an
// entity, a load, or both.
func (d *drawer) drawColumn() (theirs, ours []step) {
	if !d.evolving {
		return nil, nil
	}
	s, err := catalog.Decode(catalog.Encode(d.schema))
	must(err)
	kind, typ, load := plan.Node, "", ""
	var props *[]*catalog.Property
	var keep []string // the properties that must stay
	if len(s.Edges) > 0 && d.rare.percent(40) {
		e := pick(d.rare, s.Edges)
		kind, typ, props, load = plan.Edge, e.Name, &e.Properties, d.edgeLine(d.schema.Edge(e.Name))
		keep = slices.Concat(e.Unique...)
	} else {
		n := pick(d.rare, s.Nodes)
		typ, props, load = n.Name, &n.Properties, d.nodeLine(d.schema.Node(n.Name))
		keep = slices.Concat(append(n.Unique, n.Key, shared(s, n))...)
		for _, r := range n.Ranges {
			keep = append(keep, r.Property)
		}
		for _, c := range n.Checks {
			keep = append(keep, c.Property)
		}
		n.Index = nil
	}
	name, ok := d.freeProperty(*props, keep)
	if !ok {
		return nil, nil
	}
	at := slices.IndexFunc(*props, func(p *catalog.Property) bool { return p.Name == name })
	p := (*props)[at]
	ours = []step{{load: load, mode: engine.Merge}}
	if have := d.ids[key(kind, typ)]; len(have) > 0 {
		ours = append(ours, d.setProperty(kind, typ, pick(d.rare, have), p))
	}
	ours = ours[d.rare.IntN(len(ours)):]
	apply := func() {
		mendValidities(s)
		next, err := catalog.Decode(catalog.Encode(s))
		must(err)
		theirs = append(theirs, step{migration: &migration{schema: next, allow: true, hard: d.rare.percent(20)}})
	}
	drop := func() {
		*props = slices.DeleteFunc(*props, func(q *catalog.Property) bool { return p == q })
		apply()
	}
	rename := func() {
		changed := *p
		changed.Name, changed.RenameFrom = d.fresh("p"), p.Name
		(*props)[at], p = &changed, &changed
		apply()
	}
	switch d.rare.IntN(8) {
	case 7:
		kinds := castable(p.Type)
		if kinds == nil {
			return nil, nil
		}
		changed := *p
		changed.Type.Kind, changed.Type.Enum = pick(d.rare, kinds), nil
		changed.Default, changed.Backfill = nil, nil
		(*props)[at] = &changed
		apply()
	case 6:
		d.swap(s)
		apply()
	case 0:
		rename()
	case 1:
		rename()
		drop()
	case 2:
		drop()
		again := property(name, p.Type.Optional())
		*props = append(*props, again)
		apply()
	case 3:
		for _, t := range []value.Type{i64Type, u64Type, f64Type} {
			if t.List, t.Nullable = p.Type.List, p.Type.Nullable; catalog.Widens(p.Type, t) && theirs == nil {
				changed := *p
				changed.Type, changed.Default, changed.Backfill = t, nil, nil
				(*props)[at] = &changed
				apply()
			}
		}
	default:
		drop()
	}
	return theirs, ours
}

// freeProperty draws a property that is not one of `keep`, and without which the type still has a property. The type
// has no embeddings.
func (d *drawer) freeProperty(props []*catalog.Property, keep []string) (name string, ok bool) {
	var names []string
	for _, p := range props {
		if p.Embed != nil {
			return "", false
		}
		if !slices.Contains(keep, p.Name) {
			names = append(names, p.Name)
		}
	}
	if len(names) == 0 || len(props) < 2 {
		return "", false
	}
	return pick(d.rare, names), true
}

// setProperty draws an update of one property of an entity.
func (d *drawer) setProperty(kind plan.Entity, typ, id string, p *catalog.Property) step {
	w := &writeDraw{drawer: d, mutationPlan: newMutation(d.schema)}
	props := w.exprs(kind, typ, set{p.Name: d.value(typ, p)})
	w.alter(kind, typ, props, w.pred(kind, typ, "id", plan.Eq, id))
	return step{query: w.query(), args: w.args}
}
