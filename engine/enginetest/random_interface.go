package enginetest

import (
	"fmt"
	"slices"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// This file draws interfaces, and the parts of reads that use variables over interfaces.

// drawInterfaces adds interfaces to some schemas. Some of the node types implement them.
func (d *drawer) drawInterfaces(s *catalog.Schema) {
	if d.params.percent(50) {
		return
	}
	for i, name := range []string{"Food", "Sweet"}[:d.params.between(1, 2)] {
		face := &catalog.Interface{Name: name, Properties: []*catalog.Property{}}
		for k := range d.params.IntN(4) {
			face.Properties = append(face.Properties, d.sharedProperty(name, fmt.Sprintf("s%d%d", i, k)))
		}
		s.Interfaces = append(s.Interfaces, face)
		for _, n := range s.Nodes {
			if d.params.percent(80) {
				d.implement(n, face)
			}
			n.Index = someIndex(n.Properties)
		}
	}
	s.Index()
}

// sharedProperty draws a property of an interface. It is no Vector, because reads search the vectors of one type
// only.
func (d *drawer) sharedProperty(face, name string) *catalog.Property {
	p := d.params.drawProperty(face, 0)
	for p.Type.Kind == value.Vector {
		p = d.params.drawProperty(face, 0)
	}
	p.Name = name
	d.wild[face+"."+name] = d.params.wild[face+".p0"]
	return p
}

// implement makes a node type implement an interface. It adds the properties of the interface to the type.
func (d *drawer) implement(n *catalog.Node, face *catalog.Interface) {
	n.Implements = append(n.Implements, face.Name)
	for _, p := range face.Properties {
		if slices.ContainsFunc(n.Properties, func(own *catalog.Property) bool { return own.Name == p.Name }) {
			continue
		}
		c := *p
		n.Properties = append(n.Properties, &c)
		d.wild[n.Name+"."+p.Name] = d.wild[face.Name+"."+p.Name]
	}
}

// evolveInterfaces sometimes makes a node type implement an interface, or no longer implement it. It also removes
// the interfaces from the node types that the other changes of the schema made unfit for them.
func (d *drawer) evolveInterfaces(s *catalog.Schema) {
	for _, face := range s.Interfaces {
		n := pick(d.params, s.Nodes)
		change := 25
		if d.branching && slices.ContainsFunc(s.Edges, func(e *catalog.Edge) bool {
			return e.FromInterface && e.From == face.Name || e.ToInterface && e.To == face.Name
		}) {
			change = 45 // a merge then also meets edges whose end has left the interface
		}
		switch i := slices.Index(n.Implements, face.Name); {
		case !d.params.percent(change):
		case i >= 0:
			n.Implements = slices.Delete(n.Implements, i, i+1)
		default:
			d.implement(n, face)
		}
	}
	s.Index()
	for _, n := range s.Nodes {
		n.Implements = slices.DeleteFunc(n.Implements, func(name string) bool {
			return slices.ContainsFunc(s.Interface(name).Properties, func(p *catalog.Property) bool {
				own := n.Property(p.Name)
				return own == nil || !own.Type.Equal(p.Type)
			})
		})
	}
}

// size returns the number of entities that a variable can stand for.
func (d *drawer) size(kind plan.Entity, typ string) int {
	if kind != plan.Interface {
		return len(d.ids[key(kind, typ)])
	}
	n := 0
	for _, t := range d.schema.Implementers(typ) {
		n += len(d.ids[key(plan.Node, t.Name)])
	}
	return n
}

// idsOf returns the ids of the entities of a type. For an interface it returns those of one of the types that
// implement it.
func (r *readDraw) idsOf(kind plan.Entity, typ string) []string {
	if kind == plan.Interface {
		types := r.drawer.schema.Implementers(typ)
		if len(types) == 0 {
			return nil
		}
		kind, typ = plan.Node, pick(r.drawer, types).Name
	}
	return r.ids[key(kind, typ)]
}

// start draws the type of a node variable: a node type or an interface.
func (r *readDraw) start(types []*catalog.Node) (plan.Entity, string) {
	if faces := r.drawer.schema.Interfaces; len(faces) > 0 && r.percent(45) {
		return plan.Interface, pick(r.drawer, faces).Name
	}
	return plan.Node, pick(r.drawer, types).Name
}

// fits reports whether the nodes of a variable can have a node type.
func (r *readDraw) fits(v plan.VarID, node string) bool {
	declared := r.q.Read.Vars[v]
	if declared.Entity == plan.Interface {
		return slices.Contains(r.drawer.schema.Node(node).Implements, declared.Type)
	}
	return declared.Entity == plan.Node && declared.Type == node
}

// shared reports whether a variable is over an interface. It reports false for plan.NoVar.
func (r *readDraw) shared(v plan.VarID) bool {
	return v != plan.NoVar && r.q.Read.Vars[v].Entity == plan.Interface
}

// narrow draws a variable of a node type, and a condition that it is the same node as a variable over an
// interface in the scope. It returns nil if it draws none.
func (r *readDraw) narrow(scope *[]plan.VarID) []plan.Clause {
	for _, v := range *scope {
		if !r.shared(v) || !r.percent(20) {
			continue
		}
		types := r.drawer.schema.Nodes
		if all := r.drawer.schema.Implementers(r.q.Read.Vars[v].Type); len(all) > 0 && r.percent(90) {
			types = all
		}
		typ := pick(r.drawer, types).Name
		if !r.affordable(plan.Node, typ) {
			return nil
		}
		one := r.fresh(typ)
		*scope = append(*scope, one)
		return []plan.Clause{plan.Bind{Var: one}, r.compareNodes(one, v, plan.Eq)}
	}
	return nil
}

// sameNode draws a comparison of two nodes. The result `ok` is false if no variable in scope is over an interface.
func (r *readDraw) sameNode(scope []plan.VarID) (c plan.Clause, ok bool) {
	var nodes []plan.VarID
	for _, v := range scope {
		if r.q.Read.Vars[v].Entity.IsNode() {
			nodes = append(nodes, v)
		}
	}
	if !slices.ContainsFunc(nodes, r.shared) {
		return nil, false
	}
	op := plan.Eq
	a, b := pick(r.drawer, nodes), pick(r.drawer, nodes)
	if r.percent(45) {
		op = plan.Ne
		// Nodes of an interface and of a type are seldom drawn together.
		other := slices.IndexFunc(nodes, func(v plan.VarID) bool { return !r.shared(v) })
		if a = nodes[slices.IndexFunc(nodes, r.shared)]; r.shared(b) && other >= 0 {
			a = nodes[other]
		}
	}
	return r.compareNodes(a, b, op), true
}

// compareNodes returns a comparison of two nodes. It sometimes swaps them.
func (r *readDraw) compareNodes(a, b plan.VarID, op plan.Op) plan.Clause {
	if r.percent(30) {
		a, b = b, a
	}
	return where(whole(a), op, whole(b))
}

// typeFilter draws a condition on the type of a node.
func (r *readDraw) typeFilter(v plan.VarID) plan.Clause {
	name := value.OfString(pick(r.drawer, r.schemaNodes()).Name)
	return plan.Filter{Cond: r.compare(r.prop(v, catalog.TypeProperty), r.op(), stringType, name)}
}

// readKind returns the kind of a read for the outcomeCounts.
func readKind(r *plan.Read) string {
	if slices.ContainsFunc(r.Vars, func(v plan.Var) bool { return v.Entity == plan.Interface }) {
		return "read over an interface"
	}
	return "read"
}

// argumentNode draws a parameter that is a node of an interface, or the id of a node of a type, with its argument.
// The result `node` is the operand of a comparison with the node. The result `ok` is false if no type implements an interface.
func (r *readDraw) argumentNode() (node plan.Expr, ref plan.ParamRef, nullable, ok bool) {
	faces := r.drawer.schema.Interfaces
	if len(faces) == 0 {
		return nil, ref, false, false
	}
	face := pick(r.drawer, faces).Name
	var types []string
	for _, n := range r.drawer.schema.Implementers(face) {
		types = append(types, n.Name)
	}
	if len(types) == 0 {
		return nil, ref, false, false
	}
	id := "none"
	if ids := r.idsOf(plan.Interface, face); len(ids) > 0 && r.percent(90) {
		id = pick(r.drawer, ids)
	}
	typ := pick(r.drawer, types)
	v, t, isID := plan.OfNode(typ, id), plan.NodeType(types), r.percent(40)
	if isID {
		v, t = value.OfString(id), stringType
	}
	if nullable = r.percent(30); nullable {
		t = t.Optional()
		if r.percent(50) {
			v = value.Null
		}
	}
	ref = r.param(fmt.Sprintf("x%d", len(r.q.Params)), t)
	r.args = append(r.args, v)
	if isID {
		r.q.Params[ref.Index].Node = typ
		return nodeRef(typ, ref), ref, nullable, true
	}
	r.q.Params[ref.Index].Interface = face
	return ref, ref, nullable, true
}

// sameAsArgument draws a comparison of a node with a parameter that is a node. Sometimes it is
// dropped if the argument is null; then `drops` is true. The result `ok` is false if it draws none.
func (r *readDraw) sameAsArgument(v plan.VarID) (c plan.Compare, drops, ok bool) {
	node, ref, nullable, ok := r.argumentNode()
	if !ok {
		return c, false, false
	}
	c = plan.Compare{Op: plan.Eq, Left: whole(v), Right: node, Unless: plan.NoParam}
	if r.percent(35) {
		c.Op = plan.Ne
	}
	if drops = nullable && r.percent(60); drops {
		c.Unless = ref.Index
	}
	return c, drops, true
}

// argumentFilter draws a condition on a parameter that is a node of an interface: a comparison with a node, or a test
// for null.
func (r *readDraw) argumentFilter(v plan.VarID) (plan.Clause, bool) {
	if r.percent(15) {
		_, ref, _, ok := r.argumentNode()
		return plan.Filter{Cond: plan.NullTest{Expr: ref, Not: r.percent(50)}}, ok
	}
	c, _, ok := r.sameAsArgument(v)
	return plan.Filter{Cond: c}, ok
}

// argumentTests returns columns with comparisons of the nodes in scope with parameters that are nodes of interfaces.
func (r *readDraw) argumentTests() (columns []plan.Expr) {
	for _, v := range r.outer {
		if !r.q.Read.Vars[v].Entity.IsNode() || !r.percent(6) {
			continue
		}
		if c, drops, ok := r.sameAsArgument(v); ok && !drops {
			columns = append(columns, plan.Test{Cond: c})
		}
	}
	return columns
}
