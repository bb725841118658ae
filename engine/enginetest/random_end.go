package enginetest

import (
	"fmt"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// This file draws edges with an interface at an end.

// drawEnds puts an interface at some ends of edge types.
func (d *drawer) drawEnds(s *catalog.Schema, edges []*catalog.Edge) {
	for _, e := range edges {
		if len(s.Interfaces) == 0 || !d.params.percent(55) {
			continue
		}
		if face := pick(d.params, s.Interfaces).Name; d.params.percent(65) {
			e.To, e.ToInterface = face, true
		}
		if face := pick(d.params, s.Interfaces).Name; d.params.percent(40) {
			e.From, e.FromInterface = face, true
		}
		if e.FromInterface && e.ToInterface && d.params.percent(60) {
			e.From = e.To
		}
		if e.ToInterface && d.params.percent(25) {
			e.Unique = append(e.Unique, []string{"dst"})
		}
		if e.FromInterface && d.params.percent(20) {
			e.Unique = append(e.Unique, []string{"src"})
		}
		if e.FromInterface && d.params.percent(40) {
			e.Card = &catalog.Cardinality{Max: d.params.between(1, 2)}
		}
	}
}

// typeAt draws the type of a node at an end of edges. It prefers a type with nodes. The result is "" if no type implements
// the interface there.
func (d *drawer) typeAt(e *catalog.Edge, to bool) string {
	types := typesAt(d.schema, e.Name, to)
	if len(types) == 0 {
		return ""
	}
	typ := pick(d, types)
	for range 3 {
		if len(d.ids[key(plan.Node, typ)]) > 0 {
			break
		}
		typ = pick(d, types)
	}
	return typ
}

// twin draws a node for an end of edges whose id a node of another type has, too. The result `ok` is false if it draws none.
func (d *drawer) twin(e *catalog.Edge, to bool) (typ, id string, ok bool) {
	if !d.percent(40) {
		return "", "", false
	}
	types := typesAt(d.schema, e.Name, to)
	var all [][2]string
	for _, t := range types {
		for _, id := range d.ids[key(plan.Node, t)] {
			if slices.ContainsFunc(types, func(o string) bool { return o != t && slices.Contains(d.ids[key(plan.Node, o)], id) }) {
				all = append(all, [2]string{t, id})
			}
		}
	}
	if len(all) == 0 {
		return "", "", false
	}
	found := pick(d, all)
	return found[0], found[1], true
}

// populated reports whether there are nodes for an end of edges.
func (d *drawer) populated(e *catalog.Edge, to bool) bool {
	return slices.ContainsFunc(typesAt(d.schema, e.Name, to), func(typ string) bool { return len(d.ids[key(plan.Node, typ)]) > 0 })
}

// endJSON draws an end of an edge in a line of a load. It is rarely of the wrong form or type.
func (d *drawer) endJSON(e *catalog.Edge, to bool) string {
	name, isInterface := e.End(to)
	if !isInterface {
		return jsonText(d.nodeID(name))
	}
	typ := d.typeAt(e, to)
	if typ == "" || d.percent(1) {
		typ = pick(d, d.schema.Nodes).Name
	}
	id := jsonText(d.nodeID(typ))
	if t, twin, ok := d.twin(e, to); ok {
		typ, id = t, jsonText(twin)
	}
	if d.percent(1) {
		return id
	}
	return nodeJSON(typ, id)
}

// nodeJSON returns a node at an end of an edge that is an interface, in a line of a load. The parameter `id` is JSON.
func nodeJSON(typ, id string) string { return fmt.Sprintf(`{"type":%s,"id":%s}`, jsonText(typ), id) }

// fitsEnd reports whether some nodes of a variable can be at an end of edges.
func (r *readDraw) fitsEnd(v plan.VarID, e *catalog.Edge, to bool) bool {
	return slices.ContainsFunc(typesAt(r.drawer.schema, e.Name, to), func(typ string) bool { return r.fits(v, typ) })
}

// sharedHop completes a traversal of an edge with an interface at an end. One end of the traversal is still open.
func (r *readDraw) sharedHop(t plan.Traverse, edge *catalog.Edge, nodes []plan.VarID, scope *[]plan.VarID) []plan.Clause {
	open, to := &t.From, false
	if t.To == plan.NoVar {
		open, to = &t.To, true
	}
	if r.percent(25) {
		for _, i := range r.Perm(len(nodes)) {
			if r.fitsEnd(nodes[i], edge, to) {
				*open = nodes[i]
				break
			}
		}
	}
	if *open == plan.NoVar {
		kind, typ := plan.Node, r.typeAt(edge, to)
		if name, isInterface := edge.End(to); isInterface && (typ == "" || r.percent(50)) {
			kind, typ = plan.Interface, name
		}
		if !r.affordable(kind, typ) {
			return nil
		}
		*open = r.bound(kind, typ)
		*scope = append(*scope, *open)
	}
	t.EdgeVar, t.Min, t.Max = plan.NoVar, 1, 1
	t.Undirected = edge.EndName(false) == edge.EndName(true) && r.percent(25)
	for _, e := range r.drawer.schema.Edges {
		alike := e.EndName(false) == edge.EndName(false) && e.EndName(true) == edge.EndName(true)
		if e.Name != edge.Name && alike && r.percent(30) {
			t.Or = append(t.Or, e.Name)
		}
	}
	switch {
	case t.Or == nil && r.percent(35) && r.affordable(plan.Edge, t.Edge):
		r.product *= max(1, len(r.ids[key(plan.Edge, t.Edge)]))
		t.EdgeVar = r.edge(r.name(), t.Edge)
		*scope = append(*scope, t.EdgeVar)
	case r.percent(35):
		t.Walk = true
		t.Min = r.between(boolInt(t.From == t.To), 3)
		t.Max = t.Min + r.IntN(3)
		r.bindWalk(&t, scope)
	}
	return []plan.Clause{t}
}

// endFilter draws a condition on the node at an end of an edge.
func (r *readDraw) endFilter(end plan.EndNode, scope []plan.VarID) plan.Clause {
	if r.percent(10) {
		return plan.Filter{Cond: plan.NullTest{Expr: end, Not: r.percent(60)}}
	}
	var nodes []plan.Expr
	for _, v := range scope {
		switch declared := r.q.Read.Vars[v]; {
		case declared.Entity.IsNode():
			nodes = append(nodes, whole(v))
		case declared.Entity == plan.Edge:
			for _, to := range []bool{false, true} {
				if _, isInterface := r.drawer.schema.Edge(declared.Type).End(to); isInterface {
					nodes = append(nodes, endExpr(r.drawer.schema.Edge(declared.Type), v, to))
				}
			}
		}
	}
	op := pick(r.drawer, []plan.Op{plan.Eq, plan.Eq, plan.Ne})
	if len(nodes) == 0 || r.percent(35) {
		node, ref, nullable, ok := r.argumentNode()
		if !ok {
			return notNull(end)
		}
		c := plan.Compare{Op: op, Left: end, Right: node, Unless: plan.NoParam}
		if nullable && r.percent(60) {
			c.Unless = ref.Index
		}
		return plan.Filter{Cond: c}
	}
	if other := pick(r.drawer, nodes); r.percent(50) {
		return where(other, op, end)
	} else {
		return where(end, op, other)
	}
}

// aggregatedEnd draws an end of an edge variable, for an aggregate. It prefers an end at an interface. It takes its
// random numbers from params, so that the rest of the statements of a seed does not depend on it.
func (r *readDraw) aggregatedEnd(v plan.VarID) plan.Expr {
	e, to := r.drawer.schema.Edge(r.q.Read.Vars[v].Type), r.params.percent(50)
	if end := endExpr(e, v, to); isEndNode(end) {
		return end
	}
	return endExpr(e, v, !to)
}

// drawEndLists draws a read of all edges of a type with an interface at an end, which gathers the nodes there. Few other
// reads gather several edges at one node in a group. The result `ok` is false if the schema has no such edge type.
func (d *drawer) drawEndLists() (q *plan.Query, args engine.Args, ok bool) {
	var edges []*catalog.Edge
	for _, e := range d.schema.Edges {
		if e.HasInterfaceEnd() && d.populated(e, false) && d.populated(e, true) {
			edges = append(edges, e)
		}
	}
	if len(edges) == 0 {
		return nil, nil, false
	}
	edge := pick(d, edges)
	r := &readDraw{drawer: d, readPlan: newRead(d.schema), product: 1}
	a, b := r.endVar(r.name(), edge, false), r.endVar(r.name(), edge, true)
	e := r.edge(r.name(), edge.Name)
	t := over(a, e, edge.Name, b)
	r.product = len(d.ids[key(plan.Edge, edge.Name)])
	r.outer = []plan.VarID{a, b, e}
	if d.percent(20) {
		r.q.Read.Vars[b].Optional, r.q.Read.Vars[e].Optional = true, true
		r.match(plan.Bind{Var: a}, plan.Optional{Match: []plan.Clause{t}})
	} else {
		r.match(t)
	}
	if d.percent(25) {
		r.match(r.filter(r.outer))
	}
	for range d.between(1, 2) {
		r.ret(r.overEnds(r.aggregatedEnd(e)))
	}
	switch draw := d.IntN(100); {
	case draw < 20:
		r.ret(r.aggregatedEnd(e))
	case draw < 40:
		r.ret(r.sortable())
	}
	if d.percent(20) {
		r.drawLimit()
	}
	return r.query(), r.args, true
}

// overEnds draws an aggregate of the nodes at an end of edges at an interface.
func (r *readDraw) overEnds(end plan.Expr) plan.Expr {
	if r.params.percent(25) {
		return r.perhapsDistinct(count(end))
	}
	list := r.perhapsDistinct(agg(plan.Collect, end))
	if r.params.percent(20) {
		return sizeOf(list)
	}
	return list
}

// isEndNode reports whether an end of an edge is at an interface.
func isEndNode(end plan.Expr) bool {
	_, ok := end.(plan.EndNode)
	return ok
}

// endOf draws an end of an edge that a mutation inserts. The function `id` draws the id of a node of a type.
func (w *writeDraw) endOf(e *catalog.Edge, to bool, id func(typ string) any) any {
	name, isInterface := e.End(to)
	if !isInterface {
		return id(name)
	}
	typ := w.typeAt(e, to)
	switch {
	case typ == "":
		return nodeRef(pick(w.drawer, w.drawer.schema.Nodes).Name, "n1")
	case w.percent(20):
		return w.nodeArgument(name, typ, typesAt(w.drawer.schema, e.Name, to))
	}
	if t, twin, ok := w.twin(e, to); ok {
		return nodeRef(t, w.expr(value.OfString(twin), stringType))
	}
	return nodeRef(typ, id(typ))
}

// nodeArgument declares a parameter that is a node of an interface, and draws an argument of a type.
func (w *writeDraw) nodeArgument(face, typ string, types []string) plan.ParamRef {
	p := w.param(fmt.Sprintf("x%d", len(w.q.Params)), plan.NodeType(types))
	w.q.Params[p.Index].Interface = face
	w.args = append(w.args, plan.OfNode(typ, w.nodeID(typ)))
	return p
}

// endPredicate draws the predicate of an update or a delete for an end of edges.
func (w *writeDraw) endPredicate(e *catalog.Edge, to bool) (string, plan.Op, any) {
	name, op := "from", plan.Eq
	if to {
		name = "to"
	}
	face, isInterface := e.End(to)
	if !isInterface {
		return name, op, w.expr(value.OfString(w.nodeID(face)), stringType)
	}
	if w.percent(25) {
		op = plan.Ne
	}
	typ := w.typeAt(e, to)
	if typ == "" {
		return name, op, nodeRef(pick(w.drawer, w.drawer.schema.Nodes).Name, "n1")
	}
	if w.percent(35) {
		return name, op, w.nodeArgument(face, typ, typesAt(w.drawer.schema, e.Name, to))
	}
	return name, op, nodeRef(typ, w.expr(value.OfString(w.nodeID(typ)), stringType))
}
