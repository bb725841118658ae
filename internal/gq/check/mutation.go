package check

import (
	"cmp"
	"slices"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// mutation checks and lowers a mutation.
func (c *checker) mutation(m *syntax.Mutation) {
	c.plan.Mutation = &plan.Mutation{}
	c.read = &plan.Read{} // has the variables of the inserts, and the columns of the mutation
	c.names = &scope{vars: map[string]plan.VarID{}}
	c.plan.Mutation.Statements = c.statements(m.Statements)
	c.returns(m)
	c.plan.Mutation.Vars = c.read.Vars
}

// statements checks and lowers statements.
func (c *checker) statements(list []syntax.Statement) []plan.Statement {
	var out []plan.Statement
	for _, st := range list {
		c.step(1)
		var lowered plan.Statement
		ok := false
		switch st := st.(type) {
		case *syntax.Insert:
			lowered, ok = c.insert(st)
		case *syntax.Update:
			lowered, ok = c.update(st)
		case *syntax.Delete:
			lowered, ok = c.delete(st)
		case *syntax.MatchBlock:
			lowered, ok = c.matchBlock(st)
		case *syntax.ListBlock:
			lowered, ok = c.listBlock(st)
		}
		if ok {
			out = append(out, lowered)
		}
	}
	return out
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

// insert checks and lowers an insert or an upsert.
func (c *checker) insert(st *syntax.Insert) (plan.Insert, bool) {
	t, ok := c.target(st.Type)
	if !ok {
		return plan.Insert{}, false
	}
	ins := plan.Insert{Entity: t.entity, Type: t.name, Upsert: st.Upsert(), New: st.New}
	if len(st.Set) == 0 {
		c.fault(UnknownTarget, st.Span(), "", "the %s of %s assigns no property", st.Verb.Value, t.name)
		return ins, false
	}
	own := t.builtinNames(true)
	var selects []string
	if ins.Upsert {
		selects = c.checkUpsert(st, t)
	}
	assigned := map[string]bool{}
	for _, a := range st.Set {
		name := a.Name.Value
		if !c.checkOnce(a, assigned) {
			continue
		}
		if t.property(name) == nil && slices.Contains(own, name) {
			v, ok := c.idValue(a.Value, t, name)
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
		as, ok := c.assign(a, t, own, ins.Upsert)
		if !ok {
			continue
		}
		if slices.Contains(selects, name) && plan.UsesOld(as.Value) {
			if t.node != nil {
				c.fault(BadUpsert, a.Value.Source().Span(), "assign the key without a name of a property", "the key property %s of an upsert is computed from a value of the node, but the key selects the node", name)
			} else {
				c.fault(BadUpsert, a.Value.Source().Span(), "assign it without a name of a property, or assign id", "the property %s of an upsert is computed from a value of the edge, but its @unique with src and dst selects the edge", name)
			}
			continue
		}
		ins.Set = append(ins.Set, as)
	}
	c.checkComplete(st, t, assigned)
	c.checkEmbedded(t, ins.Set, syntax.SpanOf(st.Type))
	ins.As = c.nameInsert(st, t)
	return ins, true
}

// checkUpsert returns the assigned properties that select the entity of an upsert: the key of a node or, for an edge without an
// id, members of unique rules with src and dst. It reports an upsert that cannot find an existing entity.
func (c *checker) checkUpsert(st *syntax.Insert, t target) (selects []string) {
	at := syntax.SpanOf(st.Type)
	if t.node != nil {
		if len(t.node.Key) == 0 {
			c.fault(BadUpsert, at, "write insert, or add @key to a property in the schema", "%s has no key, so an upsert cannot find the node", t.name)
		}
		return t.node.Key
	}
	assigns := func(name string) bool {
		return slices.ContainsFunc(st.Set, func(a *syntax.Assign) bool { return a.Name.Value == name })
	}
	if t.property("id") == nil && assigns("id") {
		return nil
	}
	lacking := ""
	for _, rule := range t.edge.Unique {
		if !slices.Contains(rule, "src") || !slices.Contains(rule, "dst") {
			continue
		}
		all, certain := true, true
		for _, name := range rule {
			if name == "src" || name == "dst" {
				continue
			}
			if !assigns(name) {
				lacking, all = cmp.Or(lacking, name), false
			}
			certain = certain && !t.property(name).Type.Nullable
		}
		if !all {
			continue
		}
		for _, name := range rule {
			if name != "src" && name != "dst" {
				selects = append(selects, name)
			}
		}
		if lacking = ""; certain {
			return selects
		}
	}
	switch {
	case selects != nil:
	case lacking != "":
		c.fault(BadUpsert, at, "assign "+lacking+" or id", "the upsert of %s assigns neither id nor %s, so it cannot find the edge", t.name, lacking)
	default:
		c.fault(BadUpsert, at, "write insert, assign id, or add @unique(src, dst) to the edge in the schema", "%s may have several edges between two nodes, so an upsert cannot find the edge", t.name)
	}
	return selects
}

// nameInsert declares the variable of an insert. It returns nil if the insert has no variable.
func (c *checker) nameInsert(st *syntax.Insert, t target) *plan.VarID {
	if st.Name == nil {
		return nil
	}
	name, at := st.Name.Value[1:], syntax.SpanOf(*st.Name)
	_, taken := c.names.find(name)
	_, param := c.params[name]
	switch {
	case name == "_":
		c.fault(DuplicateName, at, "give the variable a name, or remove $_ =", "$_ cannot name an insert")
		return nil
	case taken || param || c.each.has(name):
		c.fault(DuplicateName, at, "use another name", "$%s is already the name of a parameter or of another entity", name)
		return nil
	}
	id := plan.VarID(len(c.read.Vars))
	c.read.Vars = append(c.read.Vars, plan.Var{Name: name, Entity: t.entity, Type: t.name})
	c.info.Vars = append(c.info.Vars, Symbol{Span: at, Inner: c.each != nil})
	c.names.vars[name] = id
	return &id
}

// checkComplete reports the required properties and endpoints that an insert leaves out.
func (c *checker) checkComplete(st *syntax.Insert, t target, assigned map[string]bool) {
	at := syntax.SpanOf(st.Type)
	if t.edge != nil {
		for _, end := range []string{"from", "to"} {
			if !assigned[end] {
				c.fault(Missing, at, "add "+end+": …, with the id of a node", "the %s of %s does not assign %s", st.Verb.Value, t.name, end)
			}
		}
	}
	for _, p := range t.properties() {
		if p.Type.Nullable || p.Default != nil || assigned[p.Name] || p.Embed != nil && assigned[p.Embed.Source] {
			continue
		}
		c.fault(Missing, at, "add "+p.Name+": …, with a value of type "+p.Type.String(), "the %s of %s does not assign the required property %s", st.Verb.Value, t.name, p.Name)
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

// assign resolves the assignment of a property. The list `own` has further names that the statement
// may assign. If `old` is true, a name in the value stands for the old value of a property.
func (c *checker) assign(a *syntax.Assign, t target, own []string, old bool) (plan.Assign, bool) {
	p := t.property(a.Name.Value)
	at := syntax.SpanOf(a.Name)
	if p == nil {
		help := c.suggest(a.Name.Value, func() []string { return slices.Concat(propNames(t.properties()), own) })
		if t.node != nil && a.Name.Value == "id" {
			help = "the id is computed from the key, and a mutation cannot assign it"
		}
		c.fault(UnknownAssigned, at, help, "%s has no property %s that can be assigned", t.name, a.Name.Value)
		return plan.Assign{}, false
	}
	c.useProp(t.entity, t.name, p, true)
	if old {
		c.old = &t
	}
	v, ok := c.assigned(a.Value, p)
	c.old = nil
	if ok && p.Type.Kind == value.Blob && !isParam(v) {
		c.fault(UnknownAssigned, a.Value.Source().Span(), "declare a parameter of type Blob, or write blobs with a load", "%s is a Blob, and its value must be a parameter", p.Name)
		return plan.Assign{}, false
	}
	return plan.Assign{Name: p.Name, Type: p.Type, Value: v}, ok
}

// isParam reports whether an expression is a parameter.
func isParam(e plan.Expr) bool {
	_, ok := e.(plan.ParamRef)
	return ok
}

// checkEmbedded reports an assignment to a property from whose text a vector is embedded, if the
// new text depends on stored data. A mutation computes its vectors before it reads stored data.
func (c *checker) checkEmbedded(t target, set []plan.Assign, at diag.Span) {
	value := func(name string) plan.Expr {
		for _, a := range set {
			if a.Name == name {
				return a.Value
			}
		}
		return nil
	}
	for _, p := range t.properties() {
		if p.Embed == nil || value(p.Name) != nil {
			continue
		}
		text := value(p.Embed.Source)
		if text != nil && usesStored(text, c.each != nil && c.each.list) {
			c.fault(BadValue, at, "assign "+p.Name+" too, or pass the text as a parameter",
				"the vector %s is computed from %s before the mutation reads stored values, but the new %s depends on them", p.Name, p.Embed.Source, p.Embed.Source)
		}
	}
}

// usesStored reports whether an expression depends on an entity of the graph. If `list` is true,
// the rows of the statement are the elements of a list.
func usesStored(e plan.Expr, list bool) bool {
	uses := false
	plan.WalkExpr(e, func(e plan.Expr) {
		switch e.(type) {
		case plan.Cell:
			uses = uses || !list
		case plan.Old, plan.ID:
			uses = true
		default: // the other expressions depend on the arguments alone
		}
	})
	return uses
}

// update checks and lowers an update.
func (c *checker) update(st *syntax.Update) (plan.Update, bool) {
	t, ok := c.target(st.Type)
	if !ok {
		return plan.Update{}, false
	}
	up := plan.Update{Entity: t.entity, Type: t.name}
	if len(st.Set) == 0 {
		c.fault(UnknownTarget, st.Span(), "", "the update of %s assigns no property", t.name)
	}
	assigned := map[string]bool{}
	for _, a := range st.Set {
		name := a.Name.Value
		switch {
		case !c.checkOnce(a, assigned):
			continue
		case t.node != nil && t.node.IsKey(name):
			c.fault(Immutable, syntax.SpanOf(a.Name), "delete the node and insert another", "%s is part of the key, and a key cannot be updated", name)
			continue
		case t.edge != nil && t.property(name) == nil && (name == "from" || name == "to"):
			c.fault(Immutable, syntax.SpanOf(a.Name), "delete the edge and insert another", "the ends of an edge cannot be updated")
			continue
		}
		if as, ok := c.assign(a, t, nil, true); ok {
			up.Set = append(up.Set, as)
		}
	}
	c.checkEmbedded(t, up.Set, syntax.SpanOf(st.Type))
	up.Where = c.predicates(st.Where, t)
	return up, true
}

// delete checks and lowers a delete.
func (c *checker) delete(st *syntax.Delete) (plan.Delete, bool) {
	t, ok := c.target(st.Type)
	if !ok {
		return plan.Delete{}, false
	}
	c.mayDelete(t)
	return plan.Delete{Entity: t.entity, Type: t.name, Where: c.predicates(st.Where, t)}, true
}

// mayDelete marks the variables of the inserts whose entities a delete may remove.
func (c *checker) mayDelete(t target) {
	for i := range c.read.Vars {
		v := &c.read.Vars[i]
		gone := v.Entity == t.entity && v.Type == t.name
		if v.Entity == plan.Edge && t.node != nil {
			e := c.schema.Edge(v.Type)
			node := nodeEnd{name: t.name}
			gone = c.meet(endOf(e, false), node) || c.meet(endOf(e, true), node)
		}
		v.Optional = v.Optional || gone
	}
}

// predicates checks and lowers the conditions of an update or delete.
func (c *checker) predicates(list []*syntax.Pred, t target) []plan.Pred {
	out := make([]plan.Pred, len(list))
	for i, p := range list {
		c.step(1)
		out[i] = c.predicate(p, t)
	}
	return out
}

// predicate checks and lowers one condition of an update or delete.
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
	if end, shared := t.sharedEnd(name); shared && prop == nil {
		return c.endPredicate(p, pred, t, end)
	}
	if e, found, ok := c.node(p.Value, t, name, prop == nil); found {
		if ok && pred.Op == plan.In {
			c.fault(Incomparable, p.Value.Source().Span(), "write = before one node", "the right side of in is a node, want a list")
		}
		pred.Value = e
		return pred
	}
	left, right := typed{typ: pred.Type}, typed{}
	ok := true
	switch v := p.Value.(type) {
	case *syntax.Literal, *syntax.Now, *syntax.ActorRef, *syntax.VarRef, *syntax.PropRef, *syntax.NodeKey:
		want := pred.Type.Elem()
		want.List = pred.Op == plan.In
		c.wanting(paramType(want), func() { right, ok = c.operand(p.Value, nil) })
	case *syntax.Binary, *syntax.Comparison, *syntax.Call:
		right, ok = c.argument(v, nil)
	case *syntax.AliasRef, *syntax.Condition, *syntax.Subquery, *syntax.FieldRef, *syntax.OriginRef:
		panic("check: the parser accepted an expression as a value")
	}
	if ok && c.comparable(&left, &right, pred.Op, at, p.Value.Source().Span(), p.Span()) && (prop != nil || c.endRef(right.expr, t, name, p.Value.Source().Span())) {
		pred.Value = right.expr
	}
	return pred
}
