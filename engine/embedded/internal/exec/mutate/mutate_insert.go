package mutate

import (
	"cmp"
	"fmt"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// insertion is the action of an insert.
type insertion struct {
	plan.Insert
	t    *schema.Type
	rows []newEntity
}

// newEntity is an entity to insert.
type newEntity struct {
	id       string        // its id
	vals     []value.Value // by property
	from, to value.Value   // the ids of an edge's ends
}

// insert evaluates an insert or an upsert.
func (w *Write) insert(s plan.Insert, rows [][]value.Value) (action, error) {
	t := w.Tx.Schema().Type(s.Entity, s.Type)
	if s.As != nil {
		w.named[*s.As] = make([]string, len(rows))
	}
	if s.Upsert {
		return w.upsert(s, t, rows)
	}
	a := &insertion{Insert: s, t: t, rows: make([]newEntity, len(rows))}
	var once givenOnce
	for i := range rows {
		if err := w.enter(i, rows); err != nil {
			return nil, err
		}
		e, err := w.newEntity(t, s)
		if err == nil && t.Key != nil && len(rows) > 1 {
			err = once.add(t, e.id, allOf(e.vals))
		}
		if err != nil {
			return nil, err
		}
		a.rows[i] = e
		if s.As != nil {
			w.named[*s.As][i] = e.id
		}
	}
	return a, nil
}

// newEntity evaluates an insert for the current row.
func (w *Write) newEntity(t *schema.Type, s plan.Insert) (e newEntity, err error) {
	e.vals = defaults(t)
	for _, a := range s.Set {
		p, v, err := w.assignment(t, a)
		if err != nil {
			return e, err
		}
		e.vals[p] = v
	}
	w.embedded(t, s.Set, e.vals)
	if s.ID != nil {
		if e.id, err = w.givenID(t, s.ID); err != nil {
			return e, err
		}
	}
	if err := t.CheckRow(e.id, e.vals); err != nil {
		return e, err
	}
	if t.Key != nil {
		id := string(t.AppendID(nil, e.vals))
		if e.id != "" && e.id != id {
			return e, &engine.ConstraintViolation{Entity: "node", Type: t.Name, ID: e.id, Property: "id", Rule: "key", Detail: fmt.Sprintf("the key determines the id %q", id)}
		}
		e.id = id
		return e, nil
	}
	if e.id == "" {
		e.id = w.NewID()
	}
	if s.Entity == plan.Edge {
		if e.from, err = w.endpointID(t, "from", s.From); err != nil {
			return e, err
		}
		e.to, err = w.endpointID(t, "to", s.To)
	}
	return e, err
}

// givenID evaluates the id that a statement assigns.
func (w *Write) givenID(t *schema.Type, x plan.Expr) (string, error) {
	id, err := w.computed(t, "id", x)
	if err != nil {
		return "", err
	}
	if !id.IsNull() && (id.Kind() != value.String || id.IsList()) {
		return "", &engine.ConstraintViolation{Entity: t.Entity.String(), Type: t.Name, Property: "id", Rule: "type", Detail: fmt.Sprintf("found a value of type %s, expected String", id.Type())}
	}
	if id.IsNull() || id.Str() == "" {
		return "", &engine.ConstraintViolation{Entity: t.Entity.String(), Type: t.Name, Property: "id", Rule: "required", Detail: "the id is empty; give one, or leave it out"}
	}
	return id.Str(), nil
}

// defaults returns the values of an entity to which a statement assigns nothing.
func defaults(t *schema.Type) []value.Value {
	vals := make([]value.Value, len(t.Props))
	for p := range vals {
		vals[p] = t.Default(p)
	}
	return vals
}

// apply inserts the entities.
func (a *insertion) apply(w *Write) error {
	for i, e := range a.rows {
		if err := w.tick(i); err != nil {
			return err
		}
		row := version.Row{ID: e.id, Vals: e.vals}
		if a.Entity == plan.Edge {
			var err error
			if row.Src, err = w.endpoint(a.t, "from", e.from); err != nil {
				return err
			}
			if row.Dst, err = w.endpoint(a.t, "to", e.to); err != nil {
				return err
			}
		}
		_, exists := w.Tx.Table(a.t).Lookup(row.ID)
		if exists && (a.t.Key == nil || a.New) {
			return &engine.KeyConflict{Entity: a.t.Entity.String(), Type: a.t.Name, ID: row.ID, Keyed: a.t.Key != nil}
		}
		w.Tx.Put(a.t, row)
		w.count(a.Entity, kindOf(exists), 1)
		if exists {
			w.Effects.Replace(engine.ChangePosition{Entity: a.Entity.String(), Type: a.t.Name, ID: row.ID})
		}
	}
	return nil
}

// endType returns the type of the node at the end "from" or "to" of an edge.
func (w *Write) endType(t *schema.Type, end string) *schema.Type {
	if end == "to" {
		return w.Tx.Schema().Nodes[t.To]
	}
	return w.Tx.Schema().Nodes[t.From]
}

// noEndpoint returns the error for an end of an edge that is not a node.
func noEndpoint(t *schema.Type, end, detail string) error {
	return &engine.ConstraintViolation{Entity: "edge", Type: t.Name, Property: end, Rule: "endpoint", Detail: detail}
}

// endRef returns the id of the entity at an end at an interface, from the value that stands for its node. The id of another
// value is that of no entity.
func endRef(end *schema.Type, v value.Value) value.Value {
	if end.CheckEnd(v) != "" {
		return value.OfString("")
	}
	return value.OfString(end.EndID(v))
}

// endpointID evaluates the id of the entity at one end of an edge.
func (w *Write) endpointID(t *schema.Type, end string, e plan.Expr) (value.Value, error) {
	of := w.endType(t, end)
	node := of.Name
	if of.Of != nil {
		node = "that implements " + of.Of.Type.Name
	}
	if e == nil {
		return value.Null, noEndpoint(t, end, "the endpoint is missing; give the id of a node "+node)
	}
	id, err := w.computed(t, end, e)
	switch {
	case err != nil:
		return value.Null, err
	case id.IsNull():
		return value.Null, noEndpoint(t, end, "the endpoint is null, expected the id of a node "+node)
	case of.Of != nil:
		if wrong := of.CheckEnd(id); wrong != "" {
			return value.Null, noEndpoint(t, end, wrong)
		}
		return endRef(of, id), nil
	case id.Kind() != value.String || id.IsList():
		return value.Null, noEndpoint(t, end, fmt.Sprintf("found a value of type %s, expected the id of a node %s", id.Type(), node))
	}
	return id, nil
}

// endpoint finds the entity at one end of an edge. It creates a reference that does not exist yet.
func (w *Write) endpoint(t *schema.Type, end string, id value.Value) (uint32, error) {
	nt := w.endType(t, end)
	ord, ok := w.Tx.LookupEnd(nt, id.Str())
	if !ok {
		typ, nodeID := nt.Label(id.Str())
		help := cmp.Or(w.Tx.Schema().Type(plan.Node, typ).IDForm(nodeID), "insert it first")
		return 0, noEndpoint(t, end, fmt.Sprintf("node %s %q does not exist; %s", typ, nodeID, help))
	}
	return ord, nil
}
