package mutate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

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
	id       string // of a node, or the given one of an edge
	from, to value.Value
	rule     int           // the unique rule that identifies an edge without a given id
	tuple    []value.Value // by property: the values for the rule
	made     string        // the id of such an edge, if it did not exist when the statement was evaluated
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
		id := u.id
		switch {
		case id != "":
		case exists:
			id = w.Tx.Table(t).ID(ord)
		default:
			u.made = u.newID(w, t)
			id = u.made
		}
		if len(rows) > 1 {
			if err := once.add(t, id, u.set); err != nil {
				return nil, err
			}
		}
		a.rows[i] = u
		if s.As != nil {
			w.named[*s.As][i] = id
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
		if err := u.identify(w, t, s); err != nil {
			return 0, false, err
		}
		ord, exists = u.edge(w, t)
		return ord, exists, nil
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

// identify evaluates what identifies the edge of an upsert: the given id, or the values of the first unique rule with src and
// dst and without a null.
func (u *upserted) identify(w *Write, t *schema.Type, s plan.Insert) (err error) {
	if s.ID != nil {
		u.id, err = w.givenID(t, s.ID)
		return err
	}
	u.tuple = make([]value.Value, len(t.Props))
	null := ""
	for u.rule = range t.Unique {
		if !t.IdentifiesEdges(u.rule) {
			continue
		}
		complete := true
		for _, p := range t.Tuples[u.rule] {
			if p == schema.Source || p == schema.Target {
				continue
			}
			at := slices.IndexFunc(s.Set, func(a plan.Assign) bool { return a.Name == t.Props[p].Name })
			if at >= 0 && u.tuple[p].IsNull() {
				if _, u.tuple[p], err = w.assignment(t, s.Set[at]); err != nil {
					return err
				}
			}
			if u.tuple[p].IsNull() {
				null = cmp.Or(null, fmt.Sprintf("and %s of its @unique(%s) is null", t.Props[p].Name, t.UniqueNames(u.rule)))
				complete = false
			} else if err := t.CheckValue(p, u.tuple[p]); err != nil {
				return err
			}
		}
		if complete {
			return nil
		}
	}
	return &engine.ConstraintViolation{Entity: "edge", Type: t.Name, Property: "id", Rule: "required",
		Detail: fmt.Sprintf("the id is missing, %s, so a second upsert would double the edge; assign id, or write insert", null)}
}

// edge finds the edge of an upsert. An edge with a given id may have other ends.
func (u *upserted) edge(w *Write, t *schema.Type) (ord uint32, ok bool) {
	table := w.Tx.Table(t)
	if u.id != "" {
		return table.Lookup(u.id)
	}
	src, hasSrc := w.Tx.Table(w.endType(t, "from")).Lookup(u.from.Str())
	dst, hasDst := w.Tx.Table(w.endType(t, "to")).Lookup(u.to.Str())
	if !hasSrc || !hasDst {
		return 0, false
	}
	if fault.On(fault.EndIgnored) {
		if edges := w.edgesAt(table, false, u.from.Str()); len(edges) > 0 {
			return edges[0], true
		}
	}
	return version.FindTuple(table, u.rule, src, dst, func(p int) value.Value { return u.tuple[p] })
}

// newID returns the id that the edge of an upsert without a given id gets if it is new.
func (u *upserted) newID(w *Write, t *schema.Type) string {
	id := w.Tx.Schema().EdgeID(t, u.rule, u.from.Str(), u.to.Str(), func(p int) value.Value { return u.tuple[p] })
	if _, taken := w.Tx.Table(t).Lookup(id); taken {
		return w.NewID()
	}
	return id
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
			ord, exists = u.edge(w, a.t)
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
	if exists && u.id != "" && a.Entity == plan.Edge {
		if err := u.checkEnds(w, a.t, ord); err != nil {
			return version.Row{}, err
		}
	}
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
	if row.ID == "" {
		row.ID = u.made
		if _, taken := w.Tx.Table(a.t).Lookup(row.ID); taken || row.ID == "" {
			row.ID = u.newID(w, a.t) // an earlier row or statement changed what there is
		}
	}
	var err error
	if row.Src, err = w.endpoint(a.t, "from", u.from); err != nil {
		return row, err
	}
	row.Dst, err = w.endpoint(a.t, "to", u.to)
	return row, err
}

// checkEnds returns a *engine.KeyConflict if an edge with a given id has other ends than the upsert gives.
func (u *upserted) checkEnds(w *Write, t *schema.Type, ord uint32) error {
	table := w.Tx.Table(t)
	from, to := w.endID(table, ord, false), w.endID(table, ord, true)
	if from == u.from.Str() && to == u.to.Str() {
		return nil
	}
	_, from = w.endType(t, "from").Label(from)
	_, to = w.endType(t, "to").Label(to)
	return &engine.KeyConflict{Entity: "edge", Type: t.Name, ID: u.id, Moved: true, From: strings.Clone(from), To: strings.Clone(to)}
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
