package naive

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// backfill evaluates @backfill for the entities of types that the mapping w takes over, for properties that it does not.
// An expression sees the values of the backfills that it reads.
func (t *tx) backfill(w mapping) error {
	for _, typ := range shapes(t.after.schema) {
		taken, ok := w[typ.kind][typ.name]
		if !ok {
			continue
		}
		order, plans, err := fillings(typ.props, func(p *catalog.Property) bool {
			_, had := taken.props[p.Name]
			return !had
		})
		if err != nil {
			return err
		}
		for _, p := range order {
			q := plans[p.Name]
			update := q.Mutation.Statements[0].(plan.Update)
			for _, e := range t.after.clone().sorted(typ.kind, typ.name) {
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

// fillings returns the properties with a @backfill for which `filled` returns true, each behind those that its expression reads, and the
// plans by property.
func fillings(props []*catalog.Property, filled func(*catalog.Property) bool) (order []*catalog.Property, plans map[string]*plan.Query, err error) {
	reads := map[string]map[string]bool{} // by a property to fill: the properties that its expression reads
	plans = map[string]*plan.Query{}
	for _, p := range props {
		if p.Backfill == nil || !filled(p) {
			continue
		}
		q, err := plan.Decode(string(p.Backfill.Plan))
		if err != nil {
			return nil, nil, &engine.SchemaMismatch{Detail: err.Error()}
		}
		plans[p.Name], reads[p.Name] = q, map[string]bool{}
		plan.WalkExpr(q.Mutation.Statements[0].(plan.Update).Set[0].Value, func(e plan.Expr) {
			if old, ok := e.(plan.Old); ok {
				reads[p.Name][old.Name] = true
			}
		})
	}
	for len(reads) > 0 {
		p := nextFilled(props, reads)
		delete(reads, p.Name)
		order = append(order, p)
	}
	return order, plans, nil
}

// nextFilled returns the first property to fill whose expression reads none of the others, or the first one.
func nextFilled(props []*catalog.Property, reads map[string]map[string]bool) *catalog.Property {
	var first *catalog.Property
	for _, p := range props {
		own, left := reads[p.Name]
		if !left {
			continue
		}
		ready := true
		for name := range own {
			_, waits := reads[name]
			ready = ready && !waits
		}
		if ready {
			return p
		}
		if first == nil {
			first = p
		}
	}
	return first
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
	order, plans, err := fillings(typ.props, func(p *catalog.Property) bool { return m.filling[is.kind][is.typ].fills[p.Name] })
	if err != nil {
		return is
	}
	unedited := cloneProps(was.props)
	for _, p := range order {
		q := plans[p.Name]
		run := &writing{tx: &tx{g: m.g, after: m.after}, query: q, old: unedited}
		v := run.assigned(is.kind, is.typ, p.Name, q.Mutation.Statements[0].(plan.Update).Set[0].Value)
		if exact, err := convert(v, p.Type); err == nil {
			v = exact
		}
		if run.undefined || v.IsNull() {
			continue
		}
		if unedited[p.Name] = v; !value.Equal(v, is.props[p.Name]) {
			continue
		}
		delete(out.props, p.Name)
		if first, has := was.props[p.Name]; has {
			out.props[p.Name] = first
		}
	}
	return &out
}

// fillIn adds the defaults of the properties that an insert does not assign.
func (w *writing) fillIn(s plan.Insert, props map[string]value.Value) {
	for _, p := range w.properties(s.Entity, s.Type) {
		if p.Default != nil && !slices.ContainsFunc(s.Set, func(a plan.Assign) bool { return a.Name == p.Name }) && w.g.fault != DefaultForgotten {
			props[p.Name] = p.Default.Value
		}
	}
}
