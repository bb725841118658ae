package naive

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// This file contains the parts of the model that are about the ends of edges, which may be nodes of several types.

// endOf returns the type and the id of the node at an end of an edge. The type is "" unless the end is at an interface.
func (e *entity) endOf(to bool) (typ, id string) {
	if to {
		return e.toType, e.to
	}
	return e.fromType, e.from
}

// setEnd sets an end of an edge to a value that part returns.
func (e *entity) setEnd(to bool, v value.Value) {
	typ, id := splitEnd(v)
	if to {
		e.toType, e.to = typ, id
	} else {
		e.fromType, e.from = typ, id
	}
}

// splitEnd returns the type and the id of an end: a record or, without a type, a String. Both are "" for null.
func splitEnd(v value.Value) (typ, id string) {
	if v.IsList() {
		return plan.NodeOf(v)
	}
	return "", textOf(v)
}

// part returns a property or an end of an edge. An end at an interface is a record.
func (e *entity) part(name string) value.Value {
	if e.kind != plan.Edge || name != "from" && name != "to" {
		return e.props[name]
	}
	typ, id := e.endOf(name == "to")
	if typ != "" {
		return plan.OfNode(typ, id)
	}
	return value.OfString(id)
}

// sameEnds reports whether two edges have the same ends.
func sameEnds(a, b *entity) bool {
	return a.from == b.from && a.to == b.to && a.fromType == b.fromType && a.toType == b.toType
}

// node returns the node at an end of an edge, or nil if it does not exist or has a type that cannot be at this end.
func (s *state) node(e *entity, to bool) *entity {
	edge := s.schema.Edge(e.typ)
	name, isInterface := edge.End(to)
	typ, id := e.endOf(to)
	if !isInterface {
		return s.nodes[name][id]
	}
	if !endFits(s.schema, edge, to, typ) {
		return nil
	}
	return s.nodes[typ][id]
}

// endFits reports whether nodes of a type can be at an end of edges.
func endFits(schema *catalog.Schema, edge *catalog.Edge, to bool, typ string) bool {
	return slices.ContainsFunc(schema.EndsAt(edge, to), func(n *catalog.Node) bool { return n != nil && n.Name == typ })
}

// leads reports whether an edge leads from one node to another.
func (ev *evaluation) leads(e, from, to *entity) bool {
	return ev.ends(e, false, from) && ev.ends(e, true, to)
}

// ends reports whether a node is at an end of an edge.
func (ev *evaluation) ends(e *entity, to bool, node *entity) bool {
	edge := ev.state.schema.Edge(e.typ)
	typ, id := e.endOf(to)
	if name, isInterface := edge.End(to); !isInterface {
		typ = name
	} else if ev.g.fault == EndByID {
		typ = node.typ
	}
	return id == node.id && typ == node.typ
}

// loops reports whether an edge leads from a node to itself.
func (ev *evaluation) loops(e *entity) bool {
	source := ev.state.node(e, false)
	return source != nil && source == ev.state.node(e, true)
}

// fitsEnds reports whether the nodes at the ends of a traversal have types that its edges can have there.
func (ev *evaluation) fitsEnds(t plan.Traverse, from, to *entity) bool {
	fits := func(node *entity, target bool) bool {
		return slices.ContainsFunc(t.Edges(), func(name string) bool {
			edge := ev.state.schema.Edge(name)
			return endFits(ev.state.schema, edge, target, node.typ) || t.Undirected && endFits(ev.state.schema, edge, !target, node.typ)
		})
	}
	return fits(from, false) && fits(to, true)
}

// endNode returns the node at an end of an edge as a record, or null for nothing.
func (ev *evaluation) endNode(e plan.EndNode) value.Value {
	edge := ev.env[e.Var]
	if edge == nothing {
		return value.Null
	}
	return plan.OfNode(edge.endOf(e.To))
}

// endCell returns the node at an end of an edge as a record with two fields.
func (ev *evaluation) endCell(e plan.EndNode) cell {
	v := ev.endNode(e)
	if v.IsNull() {
		return cell{}
	}
	return cell{fields: []cell{{value: v.Elems()[0]}, {value: v.Elems()[1]}}}
}

// isNode reports whether an expression is a node in a comparison of nodes.
func isNode(e plan.Expr) bool {
	switch e.(type) {
	case plan.Whole, plan.EndNode:
		return true
	}
	return false
}

// sameNodes compares two nodes: a variable, an end of an edge, an argument, or a node of a given type whose id is an argument. The result is false if one of them is null.
func (ev *evaluation) sameNodes(op plan.Op, a, b plan.Expr) bool {
	l, r := ev.nodeValue(a), ev.nodeValue(b)
	if l.IsNull() || r.IsNull() {
		return false
	}
	return ev.equalNodes(l, r) == (op == plan.Eq)
}

// equalNodes reports whether two records stand for the same node.
func (ev *evaluation) equalNodes(a, b value.Value) bool {
	at, aid := plan.NodeOf(a)
	bt, bid := plan.NodeOf(b)
	return aid == bid && (at == bt || ev.g.fault == TypesIgnored)
}

// nodeValue returns a node in a comparison of nodes as a record, or null.
func (ev *evaluation) nodeValue(e plan.Expr) value.Value {
	switch e := e.(type) {
	case plan.EndNode:
		return ev.endNode(e)
	case plan.Whole:
		if n := ev.env[e.Var]; n != nothing {
			return plan.OfNode(n.typ, n.id)
		}
		return value.Null
	case plan.NodeRef:
		id := ev.eval(e.ID)
		if id.IsNull() {
			return value.Null
		}
		return plan.OfNode(ev.eval(e.Type).Str(), id.Str())
	}
	return ev.eval(e)
}

// sourceKey identifies a source of edges of a type. The type of the node is "" unless the sources are of an interface.
func sourceKey(edge *catalog.Edge, node *entity) (typ, id string) {
	if edge.FromInterface {
		return node.typ, node.id
	}
	return "", node.id
}

// sources returns the nodes at which edges of a type may begin.
func (s *state) sources(edge *catalog.Edge) (all []*entity) {
	for _, n := range s.schema.EndsAt(edge, false) {
		all = append(all, s.sorted(plan.Node, n.Name)...)
	}
	return all
}

// outgoing returns the edges of a type that begin at a node.
func (t *tx) outgoing(edge *catalog.Edge, source *entity) (all []*entity) {
	for _, e := range t.after.sorted(plan.Edge, edge.Name) {
		if t.after.node(e, false) == source || t.g.fault == CardByID && e.from == source.id {
			all = append(all, e)
		}
	}
	return all
}

// endsChanged adds the values of an edge's ends, and the types of the nodes there, to a change.
func endsChanged(c *engine.EntityChange, e *entity) {
	c.From, c.To, c.FromType, c.ToType = e.from, e.to, e.fromType, e.toType
}

// endMapping leads from an end of an edge type to that end in an earlier schema.
type endMapping struct {
	types       map[string]string // the node types that may be there, to their names in the earlier schema
	was         string            // the node type that was there; "" for an interface
	isInterface bool              // there is an interface now
	moved       bool              // something else was there
}

// endMappings returns the mappings of the two ends of an edge type.
func endMappings(from, to *catalog.Schema, old, now *catalog.Edge, w mapping) (ends [2]endMapping) {
	for i, target := range []bool{false, true} {
		m := endMapping{types: map[string]string{}, moved: !w.sameEnd(old, now, target)}
		if name, isInterface := old.End(target); !isInterface {
			m.was = name
		}
		_, m.isInterface = now.End(target)
		for _, n := range to.EndsAt(now, target) {
			if tm, ok := w[plan.Node][n.Name]; ok && endFits(from, old, target, tm.was) {
				m.types[n.Name] = tm.was
			}
		}
		ends[i] = m
	}
	return ends
}

// now returns the name of a node type of the earlier schema at this end, or "" if its nodes cannot be there any more. The
// parameter is "" for an end at a node type.
func (m endMapping) now(was string) string {
	if was == "" {
		was = m.was
	}
	for now, old := range m.types {
		if old == was {
			return now
		}
	}
	return ""
}

// carry sets the ends of an edge in a new schema to those of the edge in the earlier schema. It reports whether
// nodes of their types can still be there.
func (e *entity) carry(was *entity, ends [2]endMapping, fault Fault) bool {
	for i, target := range []bool{false, true} {
		typ, id := was.endOf(target)
		is := ends[i].now(typ)
		if is == "" && (fault != LeaverKeepsEdges || ends[i].moved) {
			return false
		}
		if is == "" {
			is = typ
		}
		if ends[i].isInterface {
			e.setEnd(target, plan.OfNode(is, id))
		} else {
			e.setEnd(target, value.OfString(id))
		}
	}
	return true
}

// lose records the sources that lose edges because of a change of the schema. The mapping `w` leads from the schema
// of the state `from` to that of t.after.
func (t *tx) lose(from *state, w mapping) {
	t.lost = map[[3]string]bool{}
	for _, edge := range t.after.schema.Edges {
		tm, ok := w[plan.Edge][edge.Name]
		if !ok {
			continue
		}
		for id, e := range from.edges[tm.was] {
			if t.after.edges[edge.Name][id] != nil {
				continue
			}
			source := ""
			if tm.ends[0].isInterface {
				source = tm.ends[0].now(e.fromType)
			}
			t.lost[[3]string{edge.Name, source, e.from}] = true
		}
	}
}
