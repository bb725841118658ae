package enginetest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// writeDraw is a mutation that is being drawn.
type writeDraw struct {
	*drawer
	*mutationPlan
	args engine.Args // arguments of the mutation
	// unnamed is the type of the one entity that the mutation inserts without an id, in the form
	// that [key] returns. It is empty if the mutation inserts none.
	unnamed string
	// named says that each insert has an explicit id. A mutation that deletes could remove an
	// unnamed entity again, and then the model could not learn its id from the engine.
	named bool
	// hidden lists the variables of inserts in blocks that have ended. Statements after such a
	// block cannot use them.
	hidden []plan.VarID
}

// drawMutation draws a mutation with its arguments. It also returns the field `unnamed` of
// [writeDraw].
func (d *drawer) drawMutation() (*plan.Query, engine.Args, string) {
	w := &writeDraw{drawer: d, mutationPlan: newMutation(d.schema)}
	deletes := 0 // percentage of statements that delete
	switch draw := d.IntN(100); {
	case draw < 30:
		deletes = 100
	case draw < 50:
		deletes = 50
	}
	w.named = deletes > 0
	for range d.between(1, 3) {
		switch {
		case d.percent(22):
			w.drawBlock()
		case d.percent(deletes):
			w.drawDelete()
		default:
			w.drawChange()
		}
	}
	w.drawReturns()
	q, args := nameCaller(w.query(), w.args)
	return q, args, w.unnamed
}

// drawChange adds an insert, an update or a deletion to the mutation.
func (w *writeDraw) drawChange() {
	switch draw := w.IntN(100); {
	case draw < 35:
		n := pick(w.drawer, w.drawer.schema.Nodes)
		if n.Key != nil && len(w.ids[n.Name]) >= maxNodes {
			w.drawUpdate()
			return
		}
		props := w.exprs(plan.Node, n.Name, w.properties(plan.Node, n.Name))
		if n.Key == nil && !w.leavesID(plan.Node, n.Name) {
			props["id"] = w.expr(value.OfString(w.entityID(plan.Node, n.Name)), stringType)
		}
		if n.Key != nil && w.percent(40) {
			w.upsert(n.Name, w.withOld(plan.Node, n.Name, props))
		} else {
			w.insert(n.Name, props)
			w.drawNew()
		}
		w.drawName()
	case draw < 70:
		e := w.edgeType()
		if len(identifying(e)) > 0 && w.percent(60) && w.leavesID(plan.Edge, e.Name) {
			props := w.withOld(plan.Edge, e.Name, w.exprs(plan.Edge, e.Name, w.properties(plan.Edge, e.Name)))
			w.relink(e.Name, w.endOf(e, false, w.drawEnd), w.endOf(e, true, w.drawEnd), props)
			return
		}
		props := w.exprs(plan.Edge, e.Name, w.properties(plan.Edge, e.Name))
		if !w.leavesID(plan.Edge, e.Name) {
			props["id"] = w.expr(value.OfString(w.entityID(plan.Edge, e.Name)), stringType)
		}
		w.link(e.Name, w.endOf(e, false, w.drawEnd), w.endOf(e, true, w.drawEnd), props)
		w.drawUpsert()
		w.drawNew()
		w.drawName()
	default:
		w.drawUpdate()
	}
}

// drawUpsert sometimes makes the last statement, an insert of an edge with an explicit id, an upsert.
func (w *writeDraw) drawUpsert() {
	if w.last().ID != nil && w.rare.percent(35) {
		w.onlyUpsert()
	}
}

// drawNew sometimes makes the last statement fail if the entity exists, if it is an insert.
func (w *writeDraw) drawNew() {
	if !w.last().Upsert && w.rare.percent(15) {
		w.onlyNew()
	}
}

// leavesID decides whether an insert has no id. Only one insert in a mutation may have none, so
// that the model can adopt the id that the engine chooses.
func (w *writeDraw) leavesID(kind plan.Entity, typ string) bool {
	room := maxNodes
	if kind == plan.Edge {
		room = maxEdges
	}
	if w.named || w.unnamed != "" || len(w.ids[key(kind, typ)]) >= room || !w.percent(30) {
		return false
	}
	w.unnamed = key(kind, typ)
	return true
}

// exprs turns each value into a literal or a parameter. A number sometimes becomes a number of
// another kind.
func (w *writeDraw) exprs(kind plan.Entity, typ string, props set) set {
	for _, name := range sortedKeys(props) {
		v := props[name].(value.Value)
		if omits(w.drawer, kind, typ, name) {
			delete(props, name)
			continue
		}
		t := propertyType(w.drawer.schema, kind, typ, name)
		enum := t.Enum
		t.Enum = nil // parameters have plain types
		switch {
		case v.IsNull():
			props[name] = w.argument(v, t.Optional())
			continue
		case enum != nil && !slices.Contains(enum, v.Str()):
			props[name] = w.argument(v, t) // the type checker would reject v as a literal
			continue
		}
		if w.percent(12) {
			if e, ok := w.computedValue(t); ok {
				props[name] = e
				continue
			}
		}
		if t.Kind.IsNumeric() && !t.List && w.percent(10) {
			t = pick(w.drawer, numericTypes)
			props[name] = w.argument(w.scalar(t, w.percent(30), false), t)
			continue
		}
		props[name] = w.expr(v, t)
	}
	return props
}

// expr turns a value into a literal or an argument. A null is always an argument.
func (w *writeDraw) expr(v value.Value, t value.Type) any {
	if !v.IsNull() && w.percent(60) {
		return v
	}
	return w.argument(v, t)
}

// argument declares a parameter of type t with the argument v.
func (w *writeDraw) argument(v value.Value, t value.Type) plan.ParamRef {
	p := w.param(fmt.Sprintf("x%d", len(w.q.Params)), t)
	w.args = append(w.args, w.annotate(&w.q.Params[p.Index], v))
	return p
}

// drawUpdate adds an update of nodes or edges to the mutation.
func (w *writeDraw) drawUpdate() {
	kind, typ, key := plan.Node, "", []string(nil)
	if w.percent(35) {
		kind, typ = plan.Edge, pick(w.drawer, w.drawer.schema.Edges).Name
	} else {
		n := pick(w.drawer, w.drawer.schema.Nodes)
		typ, key = n.Name, n.Key
	}
	props := w.properties(kind, typ)
	for _, k := range key {
		delete(props, k)
	}
	for _, name := range sortedKeys(props) {
		if w.percent(40) && len(props) > 1 {
			delete(props, name)
		}
	}
	if len(props) == 0 {
		return
	}
	w.alter(kind, typ, w.withOld(kind, typ, w.exprs(kind, typ, props)), w.predicates(kind, typ)...)
}

// drawDelete adds a deletion of nodes or edges to the mutation.
func (w *writeDraw) drawDelete() {
	kind, typ := plan.Edge, pick(w.drawer, w.drawer.schema.Edges).Name
	if w.percent(40) {
		kind, typ = plan.Node, pick(w.drawer, w.drawer.schema.Nodes).Name
	}
	w.add(plan.Delete{Entity: kind, Type: typ, Where: w.predicates(kind, typ)})
}

// predicate draws the predicate of an update or a delete, usually one that holds for few entities.
func (w *writeDraw) predicate(kind plan.Entity, typ string) (string, plan.Op, any) {
	if w.percent(15) {
		name, _, x := w.predicate(kind, typ)
		if v, ok := x.(value.Value); ok && !v.IsList() && v.Kind() == value.String {
			elems := []value.Value{v}
			if have := w.ids[key(kind, typ)]; name == "id" && len(have) > 0 {
				elems = append(elems, value.OfString(pick(w.drawer, have)))
			}
			return name, plan.In, w.expr(value.OfList(value.String, elems), value.Type{Kind: value.String, List: true})
		}
		return name, plan.Eq, x
	}
	op := pick(w.drawer, []plan.Op{plan.Eq, plan.Eq, plan.Eq, plan.Ne, plan.Lt, plan.Le, plan.Gt, plan.Ge})
	if kind == plan.Edge && w.percent(40) {
		return w.endPredicate(w.drawer.schema.Edge(typ), !w.percent(50))
	}
	for _, p := range properties(w.drawer.schema, kind, typ) {
		if comparable(p.Type) && w.percent(35) {
			v := w.value(typ, p)
			t := p.Type
			t.Enum = nil
			return p.Name, op, w.expr(v, t)
		}
	}
	if have := w.ids[key(kind, typ)]; len(have) > 0 && w.percent(90) {
		if w.branching && w.rare.percent(40) {
			have = have[:1] // so that both sides of a merge often change the same entity
		}
		return "id", op, w.expr(value.OfString(pick(w.drawer, have)), stringType)
	}
	return "id", plan.Eq, w.expr(value.OfString("n1"), stringType)
}

// drawLoad draws a load.
func (d *drawer) drawLoad() step {
	bad := 0
	if d.percent(20) {
		bad = 30
	}
	s := step{mode: d.mode(), lastWins: d.rare.percent(30)}
	d.loading = s.mode
	s.load = strings.Join(d.loadLines(d.between(1, 7), bad), "\n")
	d.loading = engine.Append
	if s.mode == engine.Sync {
		d.drawSync(&s)
		s.sync.Source = pick(d.rare, []string{"crm", "crm", "erp", "hr"})
		if d.rare.percent(75) {
			s.load = d.drawFeed(s.load)
		}
		if d.rare.percent(35) {
			d.drawFollowed(&s)
		}
	}
	return s
}
