package naive

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// backfill evaluates @backfill for the entities of types that the mapping w takes over, for properties that it does not.
// All expressions see the entities as they were before.
func (t *tx) backfill(w mapping) error {
	before := t.after.clone()
	for _, typ := range shapes(t.after.schema) {
		taken, ok := w[typ.kind][typ.name]
		if !ok {
			continue
		}
		for _, p := range typ.props {
			if _, had := taken.props[p.Name]; had || p.Backfill == nil {
				continue
			}
			q, err := plan.Decode(string(p.Backfill.Plan))
			if err != nil {
				return &engine.SchemaMismatch{Detail: err.Error()}
			}
			update := q.Mutation.Statements[0].(plan.Update)
			for _, e := range before.sorted(typ.kind, typ.name) {
				run := &writing{tx: t, query: q, instant: now(), old: e.props}
				v := run.assigned(typ.kind, typ.name, p.Name, update.Set[0].Value)
				if v.IsNull() {
					continue
				}
				filled := t.after.of(typ.kind, typ.name)[e.id]
				c := *filled
				c.props = cloneProps(filled.props)
				if exact, err := convert(v, p.Type); err == nil {
					v = exact
				}
				c.props[p.Name] = v
				t.after.of(typ.kind, typ.name)[e.id] = &c
			}
		}
	}
	return nil
}

// unfilled returns an entity of a side of a merge without the values that @backfill gave it since the base, where it is `was`. The
// two have the given schema.
func (m *merge) unfilled(schema *catalog.Schema, was, is *entity) *entity {
	if was == nil || is == nil || m.g.fault == BackfillIsEdit {
		return is
	}
	out := *is
	out.props = cloneProps(is.props)
	typ, _ := shapeOf(schema, is.kind, is.typ)
	for _, p := range typ.props {
		if !m.filling[is.kind][is.typ].fills[p.Name] {
			continue
		}
		q, err := plan.Decode(string(p.Backfill.Plan))
		if err != nil || m.readsAdded(is, q) {
			continue
		}
		run := &writing{tx: &tx{g: m.g, after: m.after}, query: q, old: was.props}
		v := run.assigned(is.kind, is.typ, p.Name, q.Mutation.Statements[0].(plan.Update).Set[0].Value)
		if exact, err := convert(v, p.Type); err == nil {
			v = exact
		}
		if run.undefined || v.IsNull() || !value.Equal(v, is.props[p.Name]) {
			continue
		}
		delete(out.props, p.Name)
		if first, has := was.props[p.Name]; has {
			out.props[p.Name] = first
		}
	}
	return &out
}

// readsAdded reports whether the expression of a @backfill reads a property that was added since the base.
func (m *merge) readsAdded(is *entity, q *plan.Query) (reads bool) {
	plan.WalkExpr(q.Mutation.Statements[0].(plan.Update).Set[0].Value, func(e plan.Expr) {
		if old, ok := e.(plan.Old); ok {
			_, added := m.filling[is.kind][is.typ].start[old.Name]
			reads = reads || added
		}
	})
	return reads
}

// fillIn adds the defaults of the properties that an insert does not assign.
func (w *writing) fillIn(s plan.Insert, props map[string]value.Value) {
	for _, p := range w.properties(s.Entity, s.Type) {
		if p.Default != nil && !slices.ContainsFunc(s.Set, func(a plan.Assign) bool { return a.Name == p.Name }) && w.g.fault != DefaultForgotten {
			props[p.Name] = p.Default.Value
		}
	}
}
