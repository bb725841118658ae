package mutate

import (
	"fmt"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// updating is the action of an update.
type updating struct {
	t    *schema.Type
	rows []updated
}

// updated is an entity to update.
type updated struct {
	id      string
	set     []setProp
	derived []derived // the vectors to compute again
}

// update evaluates an update. If the new values use old ones, it evaluates them for each entity,
// otherwise only once for each row.
func (w *Write) update(s plan.Update, rows [][]value.Value) (action, error) {
	a := &updating{t: w.Tx.Schema().Type(s.Entity, s.Type)}
	perEntity := false
	for _, as := range s.Set {
		perEntity = perEntity || plan.UsesOld(as.Value)
		if p, _ := a.t.Prop(as.Name); slices.Contains(a.t.Key, p) {
			return nil, &engine.ConstraintViolation{Entity: "node", Type: a.t.Name, Property: as.Name, Rule: "key", Detail: "a key property cannot be changed; insert another node and delete this one"}
		}
	}
	var once givenOnce
	defer func() { w.old = nil }()
	for i := range rows {
		if err := w.enter(i, rows); err != nil {
			return nil, err
		}
		ords, err := w.matches(a.t, s.Where)
		if err != nil {
			return nil, err
		}
		var set []setProp
		var vectors []derived
		table := w.Tx.Table(a.t)
		for n, ord := range ords {
			if err := w.tick(n); err != nil {
				return nil, err
			}
			if n == 0 || perEntity && !fault.On(fault.OldShared) {
				w.old = &oldRow{t: a.t, vals: table.Values(ord)}
				if set, err = w.sets(a.t, s.Set); err != nil {
					return nil, err
				}
				vectors = w.derive(a.t, s.Set)
			}
			id := table.ID(ord)
			if len(rows) > 1 {
				if once.has(id) {
					if err := once.add(a.t, id, set); err != nil {
						return nil, err
					}
					continue
				}
				_ = once.add(a.t, id, set) // an entity's first row cannot conflict
			}
			a.rows = append(a.rows, updated{id, set, vectors})
		}
	}
	return a, nil
}

// sets evaluates the assignments of an update.
func (w *Write) sets(t *schema.Type, list []plan.Assign) ([]setProp, error) {
	set := make([]setProp, len(list))
	for i, a := range list {
		p, v, err := w.assignment(t, a)
		if err != nil {
			return nil, err
		}
		set[i] = setProp{p, v}
	}
	return set, nil
}

// apply updates the entities that an earlier statement of the same ForEach has not deleted.
func (a *updating) apply(w *Write) error {
	for i, u := range a.rows {
		if err := w.tick(i); err != nil {
			return err
		}
		ord, ok := w.Tx.Table(a.t).Lookup(u.id)
		if !ok {
			continue
		}
		row, err := changed(w, a.t, ord, u.set, u.derived)
		if err != nil {
			return err
		}
		w.Tx.Put(a.t, row)
		w.count(a.t.Entity, engine.Updated, 1)
	}
	return nil
}

// deleting is the action of a delete.
type deleting struct {
	t   *schema.Type
	ids []string // ids of the entities to delete, without duplicates
}

// delete evaluates a delete.
func (w *Write) delete(s plan.Delete, rows [][]value.Value) (action, error) {
	a := &deleting{t: w.Tx.Schema().Type(s.Entity, s.Type)}
	seen := map[uint32]bool{}
	for i := range rows {
		if err := w.enter(i, rows); err != nil {
			return nil, err
		}
		ords, err := w.matches(a.t, s.Where)
		if err != nil {
			return nil, err
		}
		for _, ord := range ords {
			if len(rows) > 1 && seen[ord] {
				continue
			}
			if len(rows) > 1 {
				seen[ord] = true
			}
			a.ids = append(a.ids, w.Tx.Table(a.t).ID(ord))
		}
	}
	return a, nil
}

// apply deletes the entities.
func (a *deleting) apply(w *Write) error {
	for i, id := range a.ids {
		if err := w.tick(i); err != nil {
			return err
		}
		ord, ok := w.Tx.Table(a.t).Lookup(id)
		if !ok {
			continue // an earlier statement of the same ForEach deleted it
		}
		w.count(plan.Edge, engine.Deleted, w.Tx.Delete(a.t, ord))
		w.count(a.t.Entity, engine.Deleted, 1)
	}
	return nil
}

// givenOnce finds rows that give one property of an entity different values. Its zero value is empty.
type givenOnce struct {
	first map[string][]setProp // by entity: the values that the first row assigns
}

// has reports whether an earlier row changes the entity.
func (g *givenOnce) has(entity string) bool {
	_, ok := g.first[entity]
	return ok
}

// add records the values that a row assigns. The error is a *engine.ConstraintViolation if an
// earlier row assigns other values.
func (g *givenOnce) add(t *schema.Type, entity string, set []setProp) error {
	first, ok := g.first[entity]
	if !ok {
		if g.first == nil {
			g.first = map[string][]setProp{}
		}
		g.first[entity] = set
		return nil
	}
	for i, s := range set {
		if other := first[i]; !value.Equal(other.v, s.v) && !fault.On(fault.ConflictUnseen) {
			return &engine.ConstraintViolation{Entity: t.Entity.String(), Type: t.Name, ID: entity, Property: t.Props[s.p].Name, Rule: "conflict",
				Detail: fmt.Sprintf("two rows give the property the values %s and %s; make the match yield one row for each entity", shown(other.v), shown(s.v))}
		}
	}
	return nil
}

// shown returns a value as text for a message.
func shown(v value.Value) string { return plan.SpellerOf(&plan.Query{}).Plain(plan.Lit{Value: v}) }

// allOf returns the values of all properties as assignments.
func allOf(vals []value.Value) []setProp {
	set := make([]setProp, len(vals))
	for p, v := range vals {
		set[p] = setProp{p, v}
	}
	return set
}
