package check

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// mutation checks and lowers the statements of a mutation.
func (c *checker) mutation(m *syntax.Mutation) {
	c.plan.Mutation = &plan.Mutation{}
	for _, st := range m.Statements {
		switch st := st.(type) {
		case *syntax.Insert:
			c.insert(st)
		case *syntax.Update:
			c.update(st)
		case *syntax.Delete:
			c.delete(st)
		}
	}
}

// target is the type that a statement writes. Either node or edge is set.
type target struct {
	entity plan.Entity   // node or edge
	name   string        // of the type
	node   *catalog.Node // set for a node type
	edge   *catalog.Edge // set for an edge type
}

// target resolves the type that a statement writes, and reports an error if there is none.
func (c *checker) target(t syntax.Token) (target, bool) {
	if n := c.schema.Node(t.Value); n != nil {
		c.useType(plan.Node, n.Name, true)
		return target{plan.Node, n.Name, n, nil}, true
	}
	if e := c.schema.Edge(t.Value); e != nil {
		c.useType(plan.Edge, e.Name, true)
		return target{plan.Edge, e.Name, nil, e}, true
	}
	if types, ok := c.implementers(t.Value); ok {
		help := "no node type implements it"
		if types != "" {
			help = "name a type that implements it: " + types
		}
		c.fault(UnknownTarget, syntax.SpanOf(t), help, "%s is an interface, but a mutation must name a node or edge type", t.Value)
		return target{}, false
	}
	names := func() []string {
		names := nodeNames(c.schema)
		for _, e := range c.schema.Edges {
			names = append(names, e.Name)
		}
		return names
	}
	c.fault(UnknownTarget, syntax.SpanOf(t), c.suggest(t.Value, names), "unknown type %s", t.Value)
	return target{}, false
}

// properties returns the properties of the type.
func (t target) properties() []*catalog.Property {
	if t.node != nil {
		return t.node.Properties
	}
	return t.edge.Properties
}

// property returns a property of the type, or nil if there is none.
func (t target) property(name string) *catalog.Property {
	if t.node != nil {
		return t.node.Property(name)
	}
	return t.edge.Property(name)
}

// builtinNames lists the names that the entity has in addition to its properties: either the names
// that an insert can assign, or the names that a predicate can use.
func (t target) builtinNames(insert bool) []string {
	switch {
	case t.edge != nil:
		return []string{"id", "from", "to"}
	case insert && t.node.Key != nil:
		return nil
	}
	return []string{"id"}
}

// insert checks and lowers an insert.
func (c *checker) insert(st *syntax.Insert) {
	t, ok := c.target(st.Type)
	if !ok {
		return
	}
	ins := plan.Insert{Entity: t.entity, Type: t.name}
	if len(st.Set) == 0 {
		c.fault(UnknownTarget, st.Span(), "", "the insert of %s assigns no property", t.name)
		return
	}
	assigned := map[string]bool{}
	for _, a := range st.Set {
		name := a.Name.Value
		if !c.checkOnce(a, assigned) {
			continue
		}
		if t.property(name) == nil && slices.Contains(t.builtinNames(true), name) {
			own := &catalog.Property{Name: name, Type: value.Of(value.String)}
			v, ok := c.assigned(a.Value, own)
			ok = ok && c.endRef(v, t, name, a.Value.Source().Span())
			switch {
			case !ok:
			case name == "id":
				ins.ID = v
			case name == "from":
				ins.From = v
			case name == "to":
				ins.To = v
			}
			continue
		}
		if as, ok := c.assign(a, t, true); ok {
			ins.Set = append(ins.Set, as)
		}
	}
	c.checkComplete(st, t, assigned)
	c.plan.Mutation.Statements = append(c.plan.Mutation.Statements, ins)
}

// checkComplete reports the required properties and endpoints that an insert leaves out.
func (c *checker) checkComplete(st *syntax.Insert, t target, assigned map[string]bool) {
	at := syntax.SpanOf(st.Type)
	if t.edge != nil {
		for _, end := range []string{"from", "to"} {
			if !assigned[end] {
				c.fault(Missing, at, "add "+end+": …, with the id of a node", "the insert of %s does not assign %s", t.name, end)
			}
		}
	}
	for _, p := range t.properties() {
		if p.Type.Nullable || assigned[p.Name] || p.Embed != nil && assigned[p.Embed.Source] {
			continue
		}
		c.fault(Missing, at, "add "+p.Name+": …, with a value of type "+p.Type.String(), "the insert of %s does not assign the required property %s", t.name, p.Name)
	}
}

// checkOnce reports an error and returns false if the property is already assigned.
func (c *checker) checkOnce(a *syntax.Assign, assigned map[string]bool) bool {
	c.step(1)
	if assigned[a.Name.Value] {
		c.fault(AssignedTwice, syntax.SpanOf(a.Name), "", "%s is assigned twice", a.Name.Value)
		return false
	}
	assigned[a.Name.Value] = true
	return true
}

// assign resolves the assignment of a property.
func (c *checker) assign(a *syntax.Assign, t target, insert bool) (plan.Assign, bool) {
	p := t.property(a.Name.Value)
	at := syntax.SpanOf(a.Name)
	switch {
	case p == nil:
		var own []string
		if insert {
			own = t.builtinNames(true)
		}
		help := c.suggest(a.Name.Value, func() []string { return slices.Concat(propNames(t.properties()), own) })
		if t.node != nil && a.Name.Value == "id" {
			help = "the id is computed from the key, and a mutation cannot assign it"
		}
		c.fault(UnknownAssigned, at, help, "%s has no property %s that can be assigned", t.name, a.Name.Value)
		return plan.Assign{}, false
	case p.Type.Kind == value.Blob:
		c.fault(UnknownAssigned, at, "write blobs with a load", "%s is a Blob, and a mutation cannot assign blobs", p.Name)
		return plan.Assign{}, false
	}
	c.useProp(t.entity, t.name, p, true)
	v, ok := c.assigned(a.Value, p)
	return plan.Assign{Name: p.Name, Type: p.Type, Value: v}, ok
}

// assigned resolves the value that is assigned to a property.
func (c *checker) assigned(o syntax.Operand, p *catalog.Property) (plan.Expr, bool) {
	switch o := o.(type) {
	case *syntax.Literal:
		v, ok := c.assignable(o, p.Type, p.Name, BadValue)
		return plan.Lit{Value: v}, ok
	case *syntax.Now:
		return plan.Now{}, c.checkFit(value.Of(value.DateTime), p.Type, p, o.Span())
	case *syntax.VarRef:
		t, ok := c.param(o.Tokens[0])
		return t.expr, ok && c.checkFit(t.typ, p.Type, p, o.Span())
	case *syntax.Binary, *syntax.Comparison, *syntax.Call:
		return c.computed(o, func(from value.Type, at diag.Span) bool { return c.checkFit(from, p.Type, p, at) })
	case *syntax.PropRef, *syntax.AliasRef, *syntax.Condition, *syntax.Subquery, *syntax.FieldRef:
	}
	panic("check: the parser accepted an expression as a value")
}

// update checks and lowers an update.
func (c *checker) update(st *syntax.Update) {
	t, ok := c.target(st.Type)
	if !ok {
		return
	}
	if t.edge != nil {
		c.fault(Immutable, syntax.SpanOf(st.Type), "delete the edge and insert another", "%s is an edge, and an edge cannot be updated", t.name)
		return
	}
	up := plan.Update{Type: t.name}
	if len(st.Set) == 0 {
		c.fault(UnknownTarget, st.Span(), "", "the update of %s assigns no property", t.name)
	}
	assigned := map[string]bool{}
	for _, a := range st.Set {
		if !c.checkOnce(a, assigned) {
			continue
		}
		if t.node.IsKey(a.Name.Value) {
			c.fault(Immutable, syntax.SpanOf(a.Name), "delete the node and insert another", "%s is part of the key, and a key cannot be updated", a.Name.Value)
			continue
		}
		if as, ok := c.assign(a, t, false); ok {
			up.Set = append(up.Set, as)
		}
	}
	up.Where = c.predicate(st.Where, t)
	c.plan.Mutation.Statements = append(c.plan.Mutation.Statements, up)
}

// delete checks and lowers a delete.
func (c *checker) delete(st *syntax.Delete) {
	if t, ok := c.target(st.Type); ok {
		del := plan.Delete{Entity: t.entity, Type: t.name, Where: c.predicate(st.Where, t)}
		c.plan.Mutation.Statements = append(c.plan.Mutation.Statements, del)
	}
}

// predicate checks and lowers the condition of an update or delete.
func (c *checker) predicate(p *syntax.Pred, t target) plan.Pred {
	name := p.Name.Value
	pred := plan.Pred{Name: name, Op: operators[p.Op.Value], Type: value.Of(value.String)}
	at := syntax.SpanOf(p.Name)
	prop := t.property(name)
	switch {
	case prop == nil && !slices.Contains(t.builtinNames(false), name):
		names := func() []string { return slices.Concat(propNames(t.properties()), t.builtinNames(false)) }
		c.fault(UnknownAssigned, at, c.suggest(name, names), "%s has no property %s", t.name, name)
		return pred
	case prop != nil && prop.Type.Kind == value.Blob:
		c.fault(UnknownAssigned, at, "", "%s is a Blob, and where cannot test blobs", name)
		return pred
	case prop != nil:
		c.useProp(t.entity, t.name, prop, false)
		pred.Type = prop.Type
	}
	left, right := typed{typ: pred.Type}, typed{}
	ok := true
	switch v := p.Value.(type) {
	case *syntax.Literal, *syntax.Now:
		right, ok = c.operand(v, nil)
	case *syntax.VarRef:
		right, ok = c.param(v.Tokens[0])
	case *syntax.Binary, *syntax.Comparison, *syntax.Call:
		right, ok = c.argument(v, nil)
	case *syntax.PropRef, *syntax.AliasRef, *syntax.Condition, *syntax.Subquery, *syntax.FieldRef:
		panic("check: the parser accepted an expression as a value")
	}
	if ok && c.comparable(&left, &right, pred.Op, at, p.Value.Source().Span(), p.Span()) && (prop != nil || c.endRef(right.expr, t, name, p.Value.Source().Span())) {
		pred.Value = right.expr
	}
	return pred
}
