package naive

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// upsert evaluates an upsert.
func (w *writing) upsert(s plan.Insert) func() {
	w.old = nil
	target := w.keyedNode
	if s.Entity == plan.Edge {
		target = w.givenEdge
	}
	find, made, ends := target(s)
	if find == nil {
		return func() {}
	}
	at, key := w.at, ""
	if e := find(w.seen); e != nil {
		key = e.id
		if w.g.fault != OldIsNull {
			w.old = e.props
		}
	} else {
		key = made(w.seen)
	}
	set := w.set(s.Entity, s.Type, s.Set)
	w.agrees(s.Entity, s.Type, key, s.Set, set)
	w.name(s, key)
	return func() {
		id, props := key, map[string]value.Value{}
		old := find(w.after)
		w.count(s.Entity, writes(old))
		if old != nil {
			id = old.id
			if s.Entity == plan.Edge && !sameEnds(old, ends) && w.g.fault != EdgeMoves {
				w.errs = append(w.errs, &engine.KeyConflict{Entity: "edge", Type: s.Type, ID: id, Moved: true})
			}
			if w.g.fault != UpsertReplaces {
				props = cloneProps(old.props)
			}
		} else {
			if w.after.of(s.Entity, s.Type)[id] != nil {
				id = made(w.after)
			}
			w.fillIn(s, props)
		}
		if s.Entity == plan.Edge {
			w.endpoints(ends)
		}
		e := w.build(s.Entity, s.Type, id, merged(props, s.Set, set))
		if e == nil {
			return
		}
		if s.Entity == plan.Edge {
			e.from, e.to, e.fromType, e.toType = ends.from, ends.to, ends.fromType, ends.toType
		}
		if s.As != nil {
			w.named[*s.As][at] = e.id
		}
		w.put(e)
	}
}

// keyedNode returns how an upsert finds its node, and the id of a new one. The functions are nil if the key is not valid.
func (w *writing) keyedNode(s plan.Insert) (find func(*state) *entity, made func(*state) string, none *entity) {
	n := w.after.schema.Node(s.Type)
	props := w.parts(s, n.IsKey)
	if len(props) < len(n.Key) { // build reports what is wrong with the key
		set := w.set(s.Entity, s.Type, s.Set)
		w.fillIn(s, set)
		w.build(s.Entity, s.Type, "", set)
		return nil, nil, nil
	}
	id := keyID(n, props)
	return func(st *state) *entity { return st.of(s.Entity, s.Type)[id] }, func(*state) string { return id }, nil
}

// givenEdge returns how an upsert finds its edge, the id of a new one, and an entity with its ends. The functions are nil if the
// upsert does not identify an edge.
func (w *writing) givenEdge(s plan.Insert) (find func(*state) *entity, made func(*state) string, ends *entity) {
	ends = &entity{kind: plan.Edge, typ: s.Type}
	w.assignEnds(s, ends)
	if s.ID != nil {
		id := w.givenID(s)
		return func(st *state) *entity { return st.of(s.Entity, s.Type)[id] }, func(*state) string { return id }, ends
	}
	typ := w.after.schema.Edge(s.Type)
	props := w.parts(s, func(name string) bool {
		return slices.ContainsFunc(typ.Unique, func(u []string) bool {
			return slices.Contains(u, "src") && slices.Contains(u, "dst") && slices.Contains(u, name)
		})
	})
	others, ok := identity(typ, props)
	if !ok {
		w.endpoints(ends)
		w.build(s.Entity, s.Type, "", w.set(s.Entity, s.Type, s.Set)) // reports values that do not fit
		var broken error = &engine.ConstraintViolation{Entity: "edge", Type: s.Type, Property: "id", Rule: "required", Detail: "nothing identifies the edge"}
		if !slices.ContainsFunc(typ.Unique, func(u []string) bool { return slices.Contains(u, "src") && slices.Contains(u, "dst") }) {
			broken = &engine.SchemaMismatch{Detail: "no rule identifies edges of type " + s.Type}
		}
		w.errs = append(w.errs, broken)
		return nil, nil, nil
	}
	from, to := ends.part("from"), ends.part("to")
	find = func(st *state) *entity { return st.edgeWith(s.Type, from, to, others, props) }
	made = func(st *state) string {
		id := derivedID(s.Type, from, to, others, props)
		if st.of(s.Entity, s.Type)[id] != nil {
			return w.g.newID()
		}
		return id
	}
	return find, made, ends
}

// parts returns the values other than null that a statement assigns to some of the properties, if they are valid.
func (w *writing) parts(s plan.Insert, wanted func(name string) bool) map[string]value.Value {
	props := map[string]value.Value{}
	for _, a := range s.Set {
		if wanted(a.Name) {
			v := w.assigned(s.Entity, s.Type, a.Name, a.Value)
			if v, err := convert(v, a.Type); err == nil && !v.IsNull() {
				props[a.Name] = v
			}
		}
	}
	return props
}
