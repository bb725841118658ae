package naive

import (
	"maps"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// setPosition stores the position of a source.
func (l *line) setPosition(c *engine.SourceChanges) {
	if l.positions == nil {
		l.positions = map[string]string{}
	}
	l.positions[c.Source] = c.Position
}

// changed reads the members delete and was of a line. It reports whether the line deletes an entity.
func (l *load) changed(m members, it *item) (isDelete bool, errs []*engine.LineError) {
	if l.opts.Changes == nil {
		return false, nil
	}
	if l.opts.Mode == engine.Sync && (m["delete"] != nil || m["was"] != nil) {
		return true, fault("delete", "a copy has every row")
	}
	for name, id := range map[string]*string{"delete": &it.gone, "was": &it.was} {
		if raw, ok := m[name]; ok {
			var err error
			if *id, err = jsonString(raw); err != nil || *id == "" {
				errs = append(errs, fault(name, "the id is missing")...)
			}
		}
	}
	if m["delete"] == nil {
		return false, errs
	}
	if raw, isNode := m["type"]; isNode {
		return true, append(errs, l.node(raw, it)...)
	}
	s, err := jsonString(m["edge"])
	if err != nil || l.after.schema.Edge(s) == nil {
		return true, append(errs, fault("edge", "there is no edge type %s", m["edge"])...)
	}
	it.typeKey = typeKey{plan.Edge, l.after.schema.Edge(s).Name}
	return true, errs
}

// takeAway deletes an entity, which may be nil. A load that claims its lines takes away only what its source alone has made.
func (l *load) takeAway(e *entity) {
	if e == nil {
		return
	}
	if !l.adds() {
		l.remove(e)
		return
	}
	source := l.opts.Sync.Source
	alone := func(e *entity) bool {
		return e.claims["created"] && slices.Equal(e.claims.sources(), []string{source})
	}
	var at []*entity
	keep := false
	if e.kind == plan.Node {
		for _, typ := range l.after.schema.Edges {
			for _, edge := range l.after.sorted(plan.Edge, typ.Name) {
				if l.endsAtRemoved(edge, false, e) || l.endsAtRemoved(edge, true, e) {
					at, keep = append(at, edge), keep || !alone(edge)
				}
			}
		}
	}
	switch {
	case !e.claims["source "+source]:
	case !alone(e) && l.g.fault != FollowedDeletesAll:
		stays := *e
		stays.props, stays.claims = maps.Clone(e.props), e.claims.without(source).pruned()
		l.release(e.kind, e.typ, stays.props, e.claims, stays.claims)
		l.put(&stays)
		l.synced.Released++
	case keep:
		l.synced.Kept++
		l.synced.KeptFirst = append(l.synced.KeptFirst, engine.ChangePosition{Entity: "node", Type: e.typ, ID: e.id})
	default:
		l.synced.Deleted++
		l.synced.Cascaded += int64(len(at))
		l.remove(e)
	}
}

// change applies the deletes, and then the moves, of a load that has no faults so far.
func (l *load) change() {
	var rest, nodes []item
	for _, it := range l.items {
		switch {
		case it.gone == "":
			rest = append(rest, it)
		case it.typeKey.kind == plan.Node:
			nodes = append(nodes, it)
		case len(l.errs) == 0:
			l.takeAway(l.after.of(it.typeKey.kind, it.typeKey.name)[it.gone])
		}
	}
	for _, it := range nodes { // their edges are gone
		if len(l.errs) == 0 {
			l.takeAway(l.after.of(it.typeKey.kind, it.typeKey.name)[it.gone])
		}
	}
	l.items = rest
	l.cutKept()
	if len(l.errs) > 0 {
		return
	}
	now := map[*entity]*entity{}
	lines := map[*entity]int64{}
	for _, it := range l.items {
		old := l.after.of(it.typeKey.kind, it.typeKey.name)[it.was]
		if it.was == "" || old == nil || now[old] != nil {
			continue
		}
		e := *old
		e.props, e.id = maps.Clone(old.props), it.id
		if n := l.after.schema.Node(it.typeKey.name); it.typeKey.kind == plan.Node && n.Key != nil {
			if e.id = keyID(n, it.props); e.id == it.was {
				continue
			}
			for _, k := range n.Key {
				e.props[k] = it.props[k]
			}
		}
		now[old], lines[&e] = &e, it.line
	}
	var edges []*entity
	for _, typ := range l.after.schema.Edges {
		for _, edge := range l.after.sorted(plan.Edge, typ.Name) {
			e := *edge
			if now[edge] != nil {
				e = *now[edge]
			}
			moved := now[edge] != nil
			for old, fresh := range now {
				if old.kind == plan.Edge {
					continue
				}
				if l.endsAtRemoved(edge, false, old) {
					e.from, moved = fresh.id, true
				}
				if l.endsAtRemoved(edge, true, old) {
					e.to, moved = fresh.id, true
				}
			}
			if moved {
				l.touch(edge)
				delete(l.after.of(plan.Edge, edge.typ), edge.id)
				edges = append(edges, &e)
			}
		}
	}
	for old := range now {
		if old.kind == plan.Node {
			delete(l.after.of(plan.Node, old.typ), old.id)
		}
	}
	for old, fresh := range now {
		if old.kind != plan.Node {
			continue
		}
		if l.after.of(plan.Node, old.typ)[fresh.id] != nil {
			l.errs = append(l.errs, &engine.LineError{Line: lines[fresh], Err: &engine.KeyConflict{Entity: "node", Type: old.typ, ID: fresh.id}})
			continue
		}
		l.put(fresh)
	}
	for _, e := range edges {
		l.put(e)
	}
	l.effects = engine.WriteEffects{}
}
