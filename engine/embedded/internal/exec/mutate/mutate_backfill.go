package mutate

import (
	"context"
	"fmt"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Backfill evaluates the expressions of @backfill for the entities that the schema change of the transaction takes over,
// and writes the values. The function `added` reports whether the change adds property p of type t to such entities. The
// expressions of a row see the row as the change left it, with the values of the backfills that they read. Backfill returns at
// most `limit` violations: an entity for which an expression fails, has no value that the property allows, or is null
// although the property is required and has no default. The error is a *engine.SchemaMismatch or that of the context.
func Backfill(ctx context.Context, tx *version.Txn, now value.Value, added func(t *schema.Type, p int) bool, limit int) (bad []*engine.ConstraintViolation, err error) {
	for _, table := range tx.Base().Tables() {
		set, err := backfillsOf(tx.Schema(), table.Type, added)
		if err != nil {
			return nil, err
		}
		if set == nil {
			continue
		}
		set = inOrder(set)
		w := &Write{Tx: tx, Now: now, ctx: ctx, query: &plan.Query{}}
		ords := uint32(table.Ordinals())
		for ord := range ords {
			if err := w.tick(int(ord)); err != nil {
				return nil, err
			}
			if !table.Alive(ord) {
				continue
			}
			faults, err := w.backfill(table, ord, set)
			if err != nil {
				return nil, err
			}
			if bad = append(bad, faults...); len(bad) >= limit {
				return bad[:limit], nil
			}
		}
	}
	return bad, nil
}

// Filled returns a function that evaluates the expressions of @backfill of a type of the schema s for an entity with the
// given values, in which the added properties have their defaults. The result is nil if there are none, or if none of them
// has a value. The time of the schema change is not known, so now() is null. An expression sees the values of the backfills that it
// reads: those of an entity that nobody edited since. The function `filled` reports whether a @backfill gave a property its values.
func Filled(ctx context.Context, s *schema.Schema, filled func(t *schema.Type, p int) bool) version.Filled {
	sets := map[*schema.Type][]plan.Assign{}
	return func(t *schema.Type, vals []value.Value) (out []value.Value) {
		set, known := sets[t]
		if !known {
			set, _ = backfillsOf(s, t, filled) // an expression of another version gives no values
			set = inOrder(set)
			sets[t] = set
		}
		if len(set) == 0 {
			return nil
		}
		row := slices.Clone(vals)
		w := &Write{ctx: ctx, query: &plan.Query{}, old: &oldRow{t: t, vals: row}}
		for _, a := range set {
			if p, v, err := w.assignment(t, a); err == nil && !v.IsNull() {
				row[p], out = v, row
			}
		}
		return out
	}
}

// backfillsOf returns the assignments of the backfills of a type.
func backfillsOf(s *schema.Schema, t *schema.Type, added func(t *schema.Type, p int) bool) (set []plan.Assign, err error) {
	for p, prop := range t.Props {
		if prop.Backfill == nil || !added(t, p) {
			continue
		}
		a, err := backfillOf(s, t, prop.Name, string(prop.Backfill.Plan))
		if err != nil {
			return nil, err
		}
		set = append(set, a)
	}
	return set, nil
}

// inOrder sorts assignments so that each stands behind those whose properties it reads. It takes time in proportion to their size.
func inOrder(set []plan.Assign) (sorted []plan.Assign) {
	left := make(map[string]plan.Assign, len(set)) // by property: those that the walk has not reached
	for _, a := range set {
		left[a.Name] = a
	}
	var add func(name string)
	add = func(name string) {
		a, ok := left[name]
		if !ok {
			return // sorted already; a cycle ends here too, but no schema that compiles has one
		}
		delete(left, name)
		plan.WalkExpr(a.Value, func(e plan.Expr) {
			if old, ok := e.(plan.Old); ok {
				add(old.Name)
			}
		})
		sorted = append(sorted, a)
	}
	for _, a := range set {
		add(a.Name)
	}
	return sorted
}

// backfillOf returns the assignment of an encoded @backfill of a property.
func backfillOf(s *schema.Schema, t *schema.Type, property, encoded string) (plan.Assign, error) {
	q, err := plan.Decode(encoded)
	if err != nil {
		return plan.Assign{}, ir.Mismatch("@backfill of %s.%s: apply the source of the schema with this version: %v", t.Name, property, err)
	}
	if err := ir.CheckUses(q, s); err != nil {
		return plan.Assign{}, err
	}
	var set []plan.Assign
	if q.Mutation != nil && len(q.Mutation.Statements) == 1 {
		if up, ok := q.Mutation.Statements[0].(plan.Update); ok && up.Entity == t.Entity && up.Type == t.Name {
			set = up.Set
		}
	}
	if len(set) != 1 || set[0].Name != property {
		return plan.Assign{}, ir.Mismatch("@backfill of %s.%s is not one assignment to it", t.Name, property)
	}
	m := &mutationBinder{query: q, schema: s, old: t}
	if _, err := m.operandType(set[0].Value); err != nil {
		return plan.Assign{}, err
	}
	return set[0], checkPropType(t, property, set[0].Type)
}

// backfill writes the values of the expressions `set` for one entity, in their order.
func (w *Write) backfill(table *version.Table, ord uint32, set []plan.Assign) (bad []*engine.ConstraintViolation, err error) {
	t := table.Type
	row := version.Row{ID: table.ID(ord), Claims: table.Claims(ord), Stamp: table.Stamp(ord), Vals: slices.Clone(table.Values(ord))}
	if t.Entity == plan.Edge {
		row.Src, row.Dst = table.Ends(ord)
	}
	w.old = &oldRow{t: t, vals: row.Vals} // so that an expression sees the values of those before it
	fault := func(a plan.Assign, err error) bool {
		v, ok := err.(*engine.ConstraintViolation)
		if ok {
			v.ID = version.Detached(value.OfString(row.ID)).Str()
			v.Detail = fmt.Sprintf("the @backfill of %s: %s", a.Name, v.Detail)
			bad = append(bad, v)
		}
		return ok
	}
	for _, a := range set {
		p, v, err := w.assignment(t, a)
		if err == nil && !v.IsNull() {
			row.Vals[p] = v
		}
		if err == nil {
			err = t.CheckValue(p, row.Vals[p])
		}
		if err != nil && !fault(a, err) {
			return nil, err
		}
	}
	if len(bad) == 0 {
		w.Tx.PutCarried(t, row)
	}
	return bad, nil
}
