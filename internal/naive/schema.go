package naive

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// mapping maps the types and properties of a schema to their names in an earlier schema.
type mapping map[plan.Entity]map[string]typeMapping

// typeMapping is the part of a mapping for one type. A type that starts without entities
// has no typeMapping.
type typeMapping struct {
	was   string                  // the name in the earlier schema
	props map[string]string       // new names to old names
	types map[string][]value.Type // by new name: the types that the values had, from the earlier schema's on
	start map[string]value.Value  // by new name of a property without an old one: its first value in the entities
	fills map[string]bool         // by the same name: whether its present @backfill gave the entities their values
	ends  [2]endMapping           // of the source and the target of an edge type
}

// begin sets the first value of a property, unless no entity can have it, and whether its @backfill gave others.
func (tw typeMapping) begin(p *catalog.Property, v value.Value, fills bool) {
	if v.IsNull() && !p.Type.Nullable {
		v = defaultOf(p)
	}
	tw.start[p.Name], tw.fills[p.Name] = v, fills
}

// defaultOf returns the default of a property, or null.
func defaultOf(p *catalog.Property) value.Value {
	if p.Default == nil {
		return value.Null
	}
	return p.Default.Value
}

// ancestor is a schema from which another schema descends.
type ancestor struct {
	digest  string          // of the ancestor
	schema  *catalog.Schema // its types
	mapping mapping         // from the ancestor to the descendant
}

// shape holds the attributes that node types and edge types have in common.
type shape struct {
	kind   plan.Entity          // node or edge
	name   string               // of the type
	was    string               // name given by @rename_from
	edge   *catalog.Edge        // the edge type; nil for a node type
	props  []*catalog.Property  // the properties in schema order
	unique [][]string           // names of the properties of each unique rule
	card   *catalog.Cardinality // of an edge type; nil without bounds
}

// shapes returns the shapes of all types, nodes first.
func shapes(s *catalog.Schema) (all []shape) {
	for _, n := range s.Nodes {
		all = append(all, shape{kind: plan.Node, name: n.Name, was: n.RenameFrom, props: n.Properties, unique: n.Unique})
	}
	for _, e := range s.Edges {
		all = append(all, shape{kind: plan.Edge, name: e.Name, was: e.RenameFrom, edge: e, props: e.Properties, unique: e.Unique, card: e.Card})
	}
	return all
}

// shapeOf returns a type by name. It ignores the case of the names of edge types.
func shapeOf(s *catalog.Schema, kind plan.Entity, name string) (shape, bool) {
	for _, t := range shapes(s) {
		if t.kind == kind && (t.name == name || kind == plan.Edge && strings.EqualFold(t.name, name)) {
			return t, true
		}
	}
	return shape{}, false
}

// renamedFrom returns the old name of a member with the given name and @rename_from. `before` returns the @rename_from
// of an old member, and whether there is such a member; `same` compares two names.
func renamedFrom(name, from string, same func(a, b string) bool, before func(name string) (from string, ok bool)) string {
	earlier, kept := before(name)
	if _, exists := before(from); from == "" || kept && (!exists || same(earlier, from)) {
		return name
	}
	return from
}

// mappingBetween matches the types and properties of two schemas. catalog.Diff must have found no rename that cannot be
// honoured.
func mappingBetween(from, to *catalog.Schema, anew map[string]bool) mapping {
	w := mapping{plan.Node: {}, plan.Edge: {}}
	for _, now := range shapes(to) {
		same := func(a, b string) bool { return a == b || now.kind == plan.Edge && strings.EqualFold(a, b) }
		was := renamedFrom(now.name, now.was, same, func(name string) (string, bool) {
			t, ok := shapeOf(from, now.kind, name)
			return t.was, ok
		})
		old, ok := shapeOf(from, now.kind, was)
		if !ok || anew[now.kind.String()+now.name] {
			continue
		}
		tw := typeMapping{was: old.name, props: map[string]string{}, types: map[string][]value.Type{}, start: map[string]value.Value{}, fills: map[string]bool{}}
		if now.kind == plan.Edge {
			tw.ends = endMappings(from, to, old.edge, now.edge, w)
			if slices.ContainsFunc(tw.ends[:], func(m endMapping) bool { return m.moved && len(m.types) == 0 }) {
				continue
			}
		}
		for _, p := range now.props {
			before := func(name string) (string, bool) {
				for _, q := range old.props {
					if q.Name == name {
						return q.RenameFrom, true
					}
				}
				return "", false
			}
			was := renamedFrom(p.Name, p.RenameFrom, func(a, b string) bool { return a == b }, before)
			if _, ok := before(was); ok && !remade(old.props, now.props, was, p) {
				tw.props[p.Name] = was
				tw.types[p.Name] = []value.Type{scalarOf(old.props, was), scalarOf(now.props, p.Name)}
			} else {
				tw.begin(p, defaultOf(p), p.Backfill != nil)
			}
		}
		w[now.kind][now.name] = tw
	}
	return w
}

// remade reports whether the vectors of a property are of another length, or of another text or model, than those of the
// old property `was`.
func remade(olds, nows []*catalog.Property, was string, p *catalog.Property) bool {
	at := func(list []*catalog.Property, name string) *catalog.Property {
		return list[slices.IndexFunc(list, func(q *catalog.Property) bool { return q.Name == name })]
	}
	old := at(olds, was)
	switch {
	case old.Type.Kind != value.Vector || p.Type.Kind != value.Vector:
		return false
	case old.Type.Dim != p.Type.Dim:
		return true
	case old.Embed == nil || p.Embed == nil:
		return false
	}
	source := at(nows, p.Embed.Source)
	from := renamedFrom(source.Name, source.RenameFrom, func(a, b string) bool { return a == b }, func(name string) (string, bool) {
		for _, q := range olds {
			if q.Name == name {
				return q.RenameFrom, true
			}
		}
		return "", false
	})
	return from != old.Embed.Source || old.Embed.Model != "" && p.Embed.Model != "" && old.Embed.Model != p.Embed.Model
}

// sameEnd reports whether an end of an edge type is the same node type or the same interface in two schemas.
func (w mapping) sameEnd(old, now *catalog.Edge, to bool) bool {
	was, wasInterface := old.End(to)
	is, isInterface := now.End(to)
	if !isInterface {
		is = w[plan.Node][is].was
	}
	return was == is && wasInterface == isInterface
}

// compose combines two mappings: `w` leads from the schema `from` to the schema `middle`, `next` from there to the schema `to`,
// and the result from the first to the last. An edge is carried to `to` if its nodes can be at its ends there, although they may not
// have been able to in `middle`.
func (w mapping) compose(next mapping, from, middle, to *catalog.Schema) mapping {
	out := mapping{plan.Node: {}, plan.Edge: {}}
	for _, kind := range []plan.Entity{plan.Node, plan.Edge} { // the ends of edges need the nodes
		for name, tw := range next[kind] {
			first, ok := w[kind][tw.was]
			if !ok {
				continue
			}
			both := typeMapping{was: first.was, props: map[string]string{}, types: map[string][]value.Type{}, start: map[string]value.Value{}, fills: map[string]bool{}}
			if kind == plan.Edge {
				both.ends = endMappings(from, to, from.Edge(first.was), to.Edge(name), out)
			}
			typ, _ := shapeOf(to, kind, name)
			for _, p := range typ.props {
				was, kept := tw.props[p.Name]
				old, ok := first.props[was]
				switch {
				case !kept:
					both.begin(p, tw.start[p.Name], tw.fills[p.Name])
				case !ok:
					v, _ := castAll(first.start[was], tw.types[p.Name])
					old, _ := shapeOf(middle, kind, tw.was)
					same := slices.ContainsFunc(old.props, func(q *catalog.Property) bool {
						return q.Name == was && q.Backfill != nil && p.Backfill != nil && q.Backfill.Text == p.Backfill.Text
					})
					both.begin(p, v, first.fills[was] && same)
				default:
					both.props[p.Name] = old
					both.types[p.Name] = slices.Concat(first.types[was], tw.types[p.Name])
				}
			}
			out[kind][name] = both
		}
	}
	return out
}

// since returns the names that the types and properties of the state's schema have in an earlier
// schema. It returns nil if the two schemas are equal. The result `ok` is false if the earlier
// schema is not an ancestor.
func (s *state) since(digest string) (w mapping, ok bool) {
	if s.digest == digest {
		return nil, true
	}
	for _, a := range s.ancestors {
		if a.digest == digest {
			return a.mapping, true
		}
	}
	return nil, false
}

// carried migrates the state to the schema of another state, and returns the result.
func (s *state) carried(to *state, w mapping, fault Fault) *state {
	if w == nil {
		return s
	}
	out := newState(to.source, to.schema)
	out.ancestors = to.ancestors
	for _, now := range shapes(to.schema) {
		tw, ok := w[now.kind][now.name]
		if !ok {
			continue
		}
		for id, e := range s.of(now.kind, tw.was) {
			c := &entity{kind: e.kind, typ: now.name, id: id, props: map[string]value.Value{}, claims: e.claims.renamed(s.schema, e, tw.props), made: e.made, changed: e.changed}
			if e.kind == plan.Edge && !c.carry(e, tw.ends, fault) {
				continue
			}
			for _, p := range now.props {
				start := tw.start[p.Name]
				if _, mapped := tw.props[p.Name]; !mapped && fault == LatestDefault {
					start = defaultOf(p)
				}
				if !start.IsNull() {
					c.props[p.Name] = start
				}
				v, has := e.props[tw.props[p.Name]]
				if !has || fault == RenameLoses && tw.props[p.Name] != p.Name {
					continue
				}
				if v, ok := castAll(v, tw.types[p.Name]); ok {
					c.props[p.Name] = v
				}
			}
			out.of(now.kind, now.name)[id] = c
		}
	}
	return out
}

// permit decides on the steps that depend on the stored data, and returns the types that start
// without entities.
func permit(s *state, to *catalog.Schema, steps []catalog.Step) (anew map[string]bool) {
	anew = map[string]bool{}
	for i := range steps {
		step := &steps[i]
		if step.Reason == "" || step.Code == catalog.AmbiguousRename {
			continue
		}
		kind := plan.Node
		if step.Kind == catalog.EdgeType {
			kind = plan.Edge
		}
		was := step.Type
		for _, other := range steps {
			if other.Kind == step.Kind && other.Type == step.Type && (other.Code == catalog.RenameNode || other.Code == catalog.RenameEdge) {
				was = other.Was
			}
		}
		old, _ := shapeOf(s.schema, kind, was)
		empty := len(s.of(kind, old.name)) == 0
		switch step.Code {
		case catalog.MakeRequired, catalog.NarrowEnum:
			step.Reason = ""
		case catalog.ChangeType, catalog.ChangeKey, catalog.ChangeEndpoints:
			if empty {
				step.Reason = ""
				anew[kind.String()+step.Type] = true
			}
		default:
			if empty {
				step.Reason = ""
			}
		}
	}
	return anew
}

// ApplySchema migrates every entity to the new schema.
func (g *Graph) ApplySchema(ctx context.Context, source string, schema *catalog.Schema, opts engine.SchemaOptions) (*engine.SchemaChange, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	body := fmt.Sprint("schema ", opts.AllowDataLoss, opts.Hard, source, string(catalog.Encode(schema)))
	t, first, err := g.begin(opts.WriteOptions, body)
	if err != nil {
		return nil, err
	}
	if first != nil {
		return first.schema, nil
	}
	if opts.IfSchema != "" && opts.IfSchema != t.before.digest {
		return nil, &engine.Conflict{Reason: "the branch has another schema; read it again"}
	}
	m := catalog.Diff(t.before.schema, schema)
	if opts.Hard {
		m = m.Hard()
	}
	anew := permit(t.before, schema, m.Steps)
	out := &engine.SchemaChange{Steps: m.Steps, Supported: m.Supported(), Destructive: m.Destructive(), From: t.before.digest, To: catalog.Digest(schema)}
	pick := func(f func(catalog.Step) bool) []catalog.Step {
		return slices.DeleteFunc(slices.Clone(m.Steps), func(s catalog.Step) bool { return !f(s) })
	}
	switch {
	case opts.DryRun:
	case !out.Supported:
		return nil, &engine.UnsupportedMigration{Steps: pick(func(s catalog.Step) bool { return s.Reason != "" })}
	case out.Destructive && !opts.AllowDataLoss && g.fault != DataLossAllowed:
		return nil, &engine.DataLoss{Steps: pick(catalog.Step.Destructive)}
	}
	if out.Supported {
		next := newState(source, schema)
		w := mappingBetween(t.before.schema, schema, anew)
		if g.fault != CastUnchecked {
			t.inexact(w, schema)
		}
		if next.ancestors = t.before.ancestors; next.digest != t.before.digest {
			next.ancestors = []ancestor{{t.before.digest, t.before.schema, w}}
			for _, a := range t.before.ancestors {
				next.ancestors = append(next.ancestors, ancestor{a.digest, a.schema, a.mapping.compose(w, a.schema, t.before.schema, schema)})
			}
		}
		t.after, t.carriesAll = t.before.carried(next, w, g.fault), true
		t.lose(t.before, w)
		if g.fault != BackfillForgotten {
			if err := t.backfill(w); err != nil {
				return nil, err
			}
		}
		if g.fault != SchemaUnchecked {
			t.recheck()
		}
	}
	if out.Commit, err = t.commit(opts.WriteOptions); err != nil {
		return nil, err
	}
	out.Head = t.line.head
	t.line.keep(opts.WriteOptions, out.Commit, outcome{body: body, schema: out})
	return out, nil
}

// inexact reports the values of the state before that the new schema's types do not have.
func (t *tx) inexact(w mapping, to *catalog.Schema) {
	for _, typ := range shapes(to) {
		taken := w[typ.kind][typ.name]
		for _, e := range t.before.sorted(typ.kind, taken.was) {
			name := typ.name
			for i, end := range taken.ends {
				if node, _ := e.endOf(i == 1); end.moved && end.now(node) == "" {
					t.violation(&entity{kind: e.kind, typ: name, id: e.id}, []string{"from", "to"}[i], "endpoint", "no node of this type can be there")
				}
			}
			for now, was := range taken.props {
				if v, has := e.props[was]; has {
					if _, ok := castAll(v, taken.types[now]); !ok {
						t.violation(&entity{kind: e.kind, typ: typ.name, id: e.id}, now, "type", "the new type does not have the value")
					}
				}
			}
		}
	}
}

// recheck checks every entity by itself, and marks all edges as touched so that commit checks the
// cardinalities.
func (t *tx) recheck() {
	for _, typ := range shapes(t.after.schema) {
		for _, e := range t.after.sorted(typ.kind, typ.name) {
			t.values(e, t.violation)
			if e.kind == plan.Edge {
				t.touch(e)
			}
		}
	}
}

// values reports the values of an entity that its type does not allow.
func (t *tx) values(e *entity, report func(e *entity, property, rule, detail string)) {
	scratch := &tx{g: t.g, after: t.after, lines: map[*entity]int64{}}
	scratch.build(e.kind, e.typ, e.id, e.props)
	for _, err := range scratch.errs {
		v := err.(*engine.ConstraintViolation)
		report(e, v.Property, v.Rule, v.Detail)
	}
}

// align migrates the states of a merge to one schema. It is the later of the schemas of the two
// sides, and must descend from the earlier one.
func (m *merge) align(source, target string) error {
	m.uncarriedEdges = map[[2]string]bool{}
	fault := Sound
	if m.g.fault == LatestDefault {
		fault = m.g.fault
	}
	from, to := m.source, m.before
	diverge := &engine.SchemasDiverge{Source: source, Target: target, SourceSchema: from.digest, TargetSchema: to.digest, BaseSchema: m.base.digest}
	down, targetDescends := to.since(from.digest)
	up, sourceDescends := from.since(to.digest)
	if sourceDescends && down != nil && to.digest == m.base.digest {
		targetDescends = false
	}
	side, older, last := to, from, down
	switch {
	case targetDescends:
	case sourceDescends:
		side, older, last = from, to, up
	default:
		return diverge
	}
	w, ok := side.since(m.base.digest)
	if !ok {
		return diverge
	}
	base := m.base.carried(side, w, fault)
	if last != nil {
		v, ok := older.since(m.base.digest)
		if !ok {
			return diverge
		}
		m.filling = v
		m.uncarried(m.base.carried(older, v, fault), older, last)
	}
	m.base, m.filling = base, w
	if side == to {
		m.source = from.carried(to, last, fault)
		return nil
	}
	m.mapping = last
	m.after = to.carried(from, last, fault)
	if last != nil {
		m.lose(to, last)
	}
	m.adopted = m.after.clone()
	return nil
}

// uncarried reports a conflict for each change by a side of the merge to an entity whose type the mapping `w` drops,
// or to a property that it drops.
func (m *merge) uncarried(base, side *state, w mapping) {
	for _, typ := range shapes(side.schema) {
		name, taken := "", typeMapping{}
		for now, tw := range w[typ.kind] {
			if tw.was == typ.name {
				name, taken = now, tw
			}
		}
		for _, e := range side.sorted(typ.kind, typ.name) {
			e = m.unfilled(side.schema, base.of(typ.kind, typ.name)[e.id], e)
			if unedited(base.of(typ.kind, typ.name)[e.id], e) {
				continue
			}
			if name == "" {
				m.conflict(engine.DeleteVsUpdate, typ.kind, typ.name, e.id, "")
				continue
			}
			if typ.kind == plan.Edge && !(&entity{kind: plan.Edge}).carry(e, taken.ends, Sound) {
				m.conflict(engine.DeleteVsUpdate, typ.kind, name, e.id, "")
				m.uncarriedEdges[[2]string{name, e.id}] = true
				continue
			}
			m.dropped(base.of(typ.kind, typ.name)[e.id], e, name, taken)
		}
	}
}

// dropped reports a conflict for each value that a side of the merge gave to a property that the schema of the other
// side dropped, or whose new type there does not have the value. `was` is the entity in the base, or nil. The type has the given name and mapping in that schema.
func (m *merge) dropped(was, is *entity, name string, taken typeMapping) {
	for property, v := range is.props {
		if was != nil {
			if before, ok := was.props[property]; ok && value.Equal(before, v) {
				continue
			}
		}
		lost := true
		for now, was := range taken.props {
			if was == property {
				_, exact := castAll(v, taken.types[now])
				lost = !exact
			}
		}
		if lost && m.g.fault != MergeDropsEdits {
			m.conflict(engine.DeleteVsUpdate, is.kind, name, is.id, property)
		}
	}
}

// broken reports a conflict for a value of an entity that the entity's type does not allow.
func (m *merge) broken(e *entity, property, rule, detail string) {
	m.conflict(engine.ValueConstraintViolation, e.kind, e.typ, e.id, property)
}

// hadUniqueRule reports whether the target already had this unique rule, with properties of the
// same types.
func (m *merge) hadUniqueRule(typ shape, names []string) bool {
	if m.mapping == nil {
		return true
	}
	tw, ok := m.mapping[typ.kind][typ.name]
	if !ok {
		return true
	}
	old, _ := shapeOf(m.before.schema, typ.kind, tw.was)
	was := make([]string, len(names))
	for i, name := range names {
		if was[i] = name; typ.kind == plan.Edge && (name == "src" || name == "dst") {
			continue
		}
		was[i] = tw.props[name]
		if !scalarOf(old.props, was[i]).Equal(scalarOf(typ.props, name)) {
			return false
		}
	}
	return slices.ContainsFunc(old.unique, func(u []string) bool { return slices.Equal(u, was) })
}

// scalarOf returns the kind and the digits of a property's type. The kind is Invalid if there is no such property.
func scalarOf(props []*catalog.Property, name string) value.Type {
	for _, p := range props {
		if p.Name == name {
			return value.Type{Kind: p.Type.Kind, Dim: p.Type.Dim}
		}
	}
	return value.Type{}
}

// bounded reports whether the target already had the same bounds on the number of edges.
func (m *merge) bounded(e *catalog.Edge) bool {
	tw, ok := m.mapping[plan.Edge][e.Name]
	if m.mapping == nil || !ok {
		return true
	}
	old := m.before.schema.Edge(tw.was)
	return old.Card != nil && *old.Card == *e.Card
}
