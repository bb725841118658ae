package naive

import (
	"maps"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// This file contains the part of the model that is about rights: a caller with rights meets a copy of the graph from which
// everything hidden was removed.

// place identifies an entity in any state.
type place struct {
	kind    plan.Entity
	typ, id string
}

// rightsOf returns what the rights say of a type, or nil.
func rightsOf(r *engine.Rights, kind plan.Entity, typ string) *engine.TypeRights {
	switch {
	case r == nil:
		return nil
	case kind == plan.Edge:
		return r.Edges[typ]
	}
	return r.Nodes[typ]
}

// eachType calls f with each type of a state.
func (s *state) eachType(f func(kind plan.Entity, typ string)) {
	for _, n := range s.schema.Nodes {
		f(plan.Node, n.Name)
	}
	for _, e := range s.schema.Edges {
		f(plan.Edge, e.Name)
	}
}

// hiddenIn returns the entities of a state that are not allowed in it.
func (g *Graph) hiddenIn(s *state, r *engine.Rights) map[place]bool {
	hidden := map[place]bool{}
	s.eachType(func(kind plan.Entity, typ string) {
		of := rightsOf(r, kind, typ)
		if of == nil {
			return
		}
		passes := func(f *engine.RowFilter, id string) bool { return g.passing(s, f)[id] }
		for id := range s.of(kind, typ) {
			allowed := !of.None && !slices.ContainsFunc(of.All, func(f *engine.RowFilter) bool { return !passes(f, id) }) &&
				!slices.ContainsFunc(of.Any, func(list []*engine.RowFilter) bool {
					return !slices.ContainsFunc(list, func(f *engine.RowFilter) bool { return passes(f, id) })
				})
			if !allowed && (g.fault != HiddenKept || len(id)%2 == 0) {
				hidden[place{kind, typ, id}] = true
			}
		}
	})
	return hidden
}

// passing returns the ids of the entities of a state that pass a filter. None passes if the filter does not fit the schema.
func (g *Graph) passing(s *state, f *engine.RowFilter) map[string]bool {
	passed := map[string]bool{}
	r, err := g.evaluate(f.Entities, f.Args, s, "", now(), nil)
	if err != nil {
		return passed
	}
	rows, err := r.(*result).rows()
	if err != nil {
		return passed
	}
	for _, row := range rows {
		passed[row[0].value.Str()] = true
	}
	return passed
}

// states returns the other states in which an entity of the state of a commit must be allowed, if it exists there.
func (g *Graph) states(commit string) (others []*state) {
	head := g.lines[engine.MainBranch].head.ID
	for _, id := range []string{head, g.lowest(commit, head)} {
		if id != commit && g.fault != BranchOpensDoor {
			others = append(others, g.commits[id].state)
		}
	}
	return others
}

// hidden returns the entities of the state of a commit that are not allowed.
func (g *Graph) hidden(s *state, commit string, r *engine.Rights) map[place]bool {
	return g.hiddenWith(s, g.states(commit), r)
}

// hiddenWith returns the entities of a state that are not allowed in it, or in one of others that has them.
func (g *Graph) hiddenWith(s *state, others []*state, r *engine.Rights) map[place]bool {
	hidden := g.hiddenIn(s, r)
	for _, other := range others {
		for at := range g.hiddenIn(other, r) {
			if of := s.of(at.kind, at.typ); of[at.id] != nil {
				hidden[at] = true
			}
		}
	}
	return hidden
}

// visible returns the state of a commit without everything that is hidden.
func (g *Graph) visible(s *state, commit string, r *engine.Rights) *state {
	return g.without(s, g.hidden(s, commit, r))
}

// without returns a state without entities, and without the edges at them.
func (g *Graph) without(s *state, hidden map[place]bool) *state {
	seen := s.clone()
	for at := range hidden {
		delete(seen.of(at.kind, at.typ), at.id)
	}
	for _, byID := range seen.edges {
		for id, e := range byID {
			if g.fault != HiddenEndKept && (seen.node(e, false) == nil || seen.node(e, true) == nil) {
				delete(byID, id)
			}
		}
	}
	return seen
}

// adopt makes the changes of a write on a part of the graph in the whole of it.
func (t *tx) adopt(opts engine.WriteOptions) {
	if t.whole == nil {
		return
	}
	seen, done := t.before, t.after
	t.before, t.after = t.whole, t.whole.clone()
	seen.eachType(func(kind plan.Entity, typ string) {
		for id, e := range seen.of(kind, typ) {
			left := done.of(kind, typ)[id] != nil
			if !left {
				delete(t.after.of(kind, typ), id)
			}
			if kind == plan.Node && (!left || t.removed[[2]string{typ, id}]) { // it may have been inserted again
				t.cascade(e, seen, opts.Writes)
			}
		}
		for id, e := range done.of(kind, typ) {
			was := seen.of(kind, typ)[id]
			if was == nil && t.whole.of(kind, typ)[id] != nil {
				t.errs = append(t.errs, &engine.KeyConflict{Entity: kind.String(), Type: typ, ID: id})
			} else if e = keepHidden(was, e, rightsOf(opts.Reads, kind, typ)); !sameEntity(was, e) {
				t.after.of(kind, typ)[id] = e
			}
		}
	})
}

// keepHidden returns the entity with the values of the hidden properties that it had before the write.
func keepHidden(was, is *entity, of *engine.TypeRights) *entity {
	if was == nil || of == nil || len(of.Properties) == 0 {
		return is
	}
	kept := *is
	kept.props = maps.Clone(is.props)
	for _, p := range of.Properties {
		if delete(kept.props, p); !was.props[p].IsNull() {
			kept.props[p] = was.props[p]
		}
	}
	return &kept
}

// cascade deletes the hidden edges at a deleted node, if the caller may change all edges of their types.
func (t *tx) cascade(node *entity, seen *state, writes *engine.Rights) {
	for typ, byID := range t.whole.edges {
		for id, e := range byID {
			if seen.edges[typ][id] != nil || t.whole.node(e, false) != node && t.whole.node(e, true) != node {
				continue
			}
			if rightsOf(writes, plan.Edge, typ) != nil {
				t.errs = append(t.errs, &engine.NotAllowed{Entity: "node", Type: node.typ, ID: node.id})
			}
			delete(t.after.edges[typ], id)
			t.touch(e)
		}
	}
}

// checkRights checks that the caller may change each entity that the write changes, as it was and as it becomes.
func (t *tx) checkRights(r *engine.Rights) {
	if r == nil {
		return
	}
	g, head := t.g, t.line.head.ID
	before, after := g.hidden(t.before, head, r), g.hiddenIn(t.after, r)
	for _, other := range g.states(head) {
		for at := range g.hiddenIn(other, r) {
			after[at] = true
		}
	}
	t.after.eachType(func(kind plan.Entity, typ string) {
		of := rightsOf(r, kind, typ)
		if of == nil {
			return
		}
		olds, news := t.before.of(kind, typ), t.after.of(kind, typ)
		check := func(id string) {
			was, is, at := olds[id], news[id], place{kind, typ, id}
			if sameEntity(was, is) {
				return
			}
			bad := was != nil && before[at] && g.fault != WriteAsItWas || is != nil && after[at] && g.fault != WriteAsItBecomes
			for _, p := range of.Properties {
				bad = bad || is != nil && changes(t.after, was, is, p)
			}
			if bad {
				t.errs = append(t.errs, &engine.NotAllowed{Entity: kind.String(), Type: typ, ID: id})
			}
		}
		for id := range olds {
			check(id)
		}
		for id := range news {
			if olds[id] == nil {
				check(id)
			}
		}
	})
}

// changes reports whether a write gives an entity a value of a property: another one than before or, in a new entity, another one than its
// default and null.
func changes(s *state, was, is *entity, name string) bool {
	if was != nil {
		return !value.Equal(was.props[name], is.props[name])
	}
	var p *catalog.Property
	if is.kind == plan.Edge {
		p = s.schema.Edge(is.typ).Property(name)
	} else {
		p = s.schema.Node(is.typ).Property(name)
	}
	v := is.props[name]
	return p != nil && !v.IsNull() && (p.Default == nil || !value.Equal(v, p.Default.Value))
}

// checkRead refuses a plan that names a hidden property.
func checkRead(q *plan.Query, r *engine.Rights) error {
	for _, u := range q.Uses {
		if of := rightsOf(r, u.Entity, u.Type); of != nil && slices.Contains(of.Properties, u.Property) {
			return &engine.SchemaMismatch{Detail: "it has no property " + u.Property}
		}
	}
	return nil
}

// shown returns the properties of a type that are not hidden.
func shown(props []*catalog.Property, r *engine.Rights, kind plan.Entity, typ string) []*catalog.Property {
	of := rightsOf(r, kind, typ)
	return slices.DeleteFunc(slices.Clone(props), func(p *catalog.Property) bool { return of.Hides(p.Name) })
}

// hides reports whether nothing of a type may be read, so that a line cannot name it.
func (l *load) hides(k typeKey) bool {
	none := func(kind plan.Entity, typ string) bool {
		of := rightsOf(l.opts.Reads, kind, typ)
		return of != nil && of.None
	}
	if k.kind == plan.Node {
		return none(plan.Node, k.name)
	}
	edge := l.after.schema.Edge(k.name)
	from, fromInterface := edge.End(false)
	to, toInterface := edge.End(true)
	return none(plan.Edge, k.name) || !fromInterface && none(plan.Node, from) || !toInterface && none(plan.Node, to)
}
