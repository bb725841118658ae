package mutate

import (
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// upserting is the action of an upsert.
type upserting struct {
	plan.Insert
	t    *schema.Type
	rows []upserted
}

// upserted is an entity to insert or change.
type upserted struct {
	id       string // of a node
	from, to value.Value
	set      []setProp
	derived  []derived // the vectors to compute again if the entity exists
}

// setProp is a property and its new value.
type setProp struct {
	p int // position in the properties of the type
	v value.Value
}

// upsert evaluates an upsert.
func (w *Write) upsert(s plan.Insert, t *schema.Type, rows [][]value.Value) (action, error) {
	a := &upserting{Insert: s, t: t, rows: make([]upserted, len(rows))}
	var once givenOnce
	defer func() { w.old = nil }()
	for i := range rows {
		if err := w.enter(i, rows); err != nil {
			return nil, err
		}
		u := upserted{}
		ord, exists, err := w.upsertTarget(t, s, &u)
		if err != nil {
			return nil, err
		}
		w.old = &oldRow{t: t}
		if exists || fault.On(fault.OldOfAnother) {
			w.old.vals = w.Tx.Table(t).Values(ord)
		}
		for _, as := range s.Set {
			p, v, err := w.assignment(t, as)
			if err != nil {
				return nil, err
			}
			u.set = append(u.set, setProp{p, v})
		}
		u.derived = w.derive(t, s.Set)
		if len(rows) > 1 {
			key := u.id
			if s.Entity == plan.Edge {
				key = u.from.Str() + "\x00" + u.to.Str()
			}
			if err := once.add(t, key, u.set); err != nil {
				return nil, err
			}
		}
		a.rows[i] = u
		if s.As != nil {
			w.named[*s.As][i] = u.id
		}
	}
	return a, nil
}

// upsertTarget evaluates the id of the node or the ids of the ends of the edge, and finds the entity.
func (w *Write) upsertTarget(t *schema.Type, s plan.Insert, u *upserted) (ord uint32, exists bool, err error) {
	if s.Entity == plan.Edge {
		if u.from, err = w.endpointID(t, "from", s.From); err != nil {
			return 0, false, err
		}
		if u.to, err = w.endpointID(t, "to", s.To); err != nil {
			return 0, false, err
		}
		return w.edgeBetween(t, u)
	}
	key := make([]value.Value, len(t.Props))
	for _, k := range t.Key {
		for _, as := range s.Set {
			if as.Name != t.Props[k].Name {
				continue
			}
			if _, key[k], err = w.assignment(t, as); err != nil {
				return 0, false, err
			}
		}
		if err := t.CheckValue(k, key[k]); err != nil {
			return 0, false, err
		}
	}
	u.id = string(t.AppendID(nil, key))
	ord, exists = w.Tx.Table(t).Lookup(u.id)
	return ord, exists, nil
}

// edgeBetween finds the edge of an upsert. An error can come only from w.examined.
func (w *Write) edgeBetween(t *schema.Type, u *upserted) (ord uint32, ok bool, err error) {
	table := w.Tx.Table(t)
	edges := w.edgesAt(table, false, u.from.Str())
	if err := w.examined(len(edges)); err != nil {
		return 0, false, err
	}
	for _, ord := range edges {
		if w.endID(table, ord, true) == u.to.Str() || fault.On(fault.EndIgnored) {
			return ord, true, nil
		}
	}
	return 0, false, nil
}

// apply inserts or changes the entities.
func (a *upserting) apply(w *Write) error {
	for i := range a.rows {
		if err := w.tick(i); err != nil {
			return err
		}
		u := &a.rows[i]
		ord, exists := uint32(0), false
		if a.Entity == plan.Edge {
			var err error
			if ord, exists, err = w.edgeBetween(a.t, u); err != nil {
				return err
			}
		} else {
			ord, exists = w.Tx.Table(a.t).Lookup(u.id)
		}
		row, err := a.row(w, u, ord, exists)
		if err != nil {
			return err
		}
		w.Tx.Put(a.t, row)
		w.count(a.Entity, kindOf(exists), 1)
		if a.As != nil {
			w.named[*a.As][i] = row.ID
		}
	}
	return nil
}

// row returns the row of an entity after the upsert. If the entity exists already, `ord` is its
// ordinal.
func (a *upserting) row(w *Write, u *upserted, ord uint32, exists bool) (version.Row, error) {
	if exists && !fault.On(fault.UpsertReplaces) {
		return changed(w, a.t, ord, u.set, u.derived)
	}
	row := version.Row{ID: u.id, Vals: defaults(a.t)}
	for _, s := range u.set {
		row.Vals[s.p] = s.v
	}
	for _, d := range u.derived {
		row.Vals[d.p] = d.v
	}
	if err := a.t.CheckRow(row.ID, row.Vals); err != nil || a.Entity == plan.Node {
		return row, err
	}
	row.ID = w.NewID()
	var err error
	if row.Src, err = w.endpoint(a.t, "from", u.from); err != nil {
		return row, err
	}
	row.Dst, err = w.endpoint(a.t, "to", u.to)
	return row, err
}

// changed returns the row that an entity has after the assignments in `set`. updateDerived then
// updates the vectors in the list `vectors`.
func changed(w *Write, t *schema.Type, ord uint32, set []setProp, vectors []derived) (version.Row, error) {
	table := w.Tx.Table(t)
	row := version.Row{ID: table.ID(ord), Vals: make([]value.Value, len(t.Props))}
	if t.Entity == plan.Edge && !fault.On(fault.EndsLost) {
		row.Src, row.Dst = table.Ends(ord)
	}
	was := table.Values(ord)
	copy(row.Vals, was)
	for _, s := range set {
		row.Vals[s.p] = s.v
	}
	for _, s := range set {
		if err := t.CheckValue(s.p, row.Vals[s.p]); err != nil {
			err.(*engine.ConstraintViolation).ID = row.ID
			return row, err
		}
	}
	if err := w.updateDerived(t, vectors, was, row.Vals); err != nil {
		err.(*engine.ConstraintViolation).ID = row.ID
		return row, err
	}
	return row, nil
}
