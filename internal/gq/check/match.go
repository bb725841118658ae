package check

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// scope holds the variables of one block.
type scope struct {
	outer    *scope                // of the surrounding block; nil for the whole match
	vars     map[string]plan.VarID // by name, without $
	optional bool                  // the block is an `optional` block
	subquery bool                  // the block is that of a subquery
	own      []plan.VarID          // of a subquery: its own variables and those of its `optional` blocks
	// outerVars is the set of the variables of enclosing blocks that the block refers to.
	outerVars map[plan.VarID]bool
}

// find looks up a variable, in the innermost scope first.
func (s *scope) find(name string) (plan.VarID, bool) {
	for at := s; at != nil; at = at.outer {
		id, ok := at.vars[name]
		if !ok {
			continue
		}
		for in := s; in != at; in = in.outer {
			if in.outerVars == nil {
				in.outerVars = map[plan.VarID]bool{}
			}
			in.outerVars[id] = true
		}
		return id, true
	}
	return 0, false
}

// names returns the names of the visible variables, without $.
func (s *scope) names() []string {
	var names []string
	for at := s; at != nil; at = at.outer {
		names = slices.AppendSeq(names, maps.Keys(at.vars))
	}
	return names
}

// step is a traversal. The direction of the traversal may not be known yet.
type step struct {
	src      *syntax.Traversal // the traversal in the source
	edges    []*catalog.Edge   // the alternatives; nil if one of them is unknown
	from, to plan.VarID        // the left and the right end, as written
	edgeVar  plan.VarID        // the variable of the edge or of the walk, or plan.NoVar
	reversed bool              // the edges lead from right to left
	done     bool              // the direction is decided
}

// block resolves the variables of a block and then lowers its clauses. Except for
// `optional` blocks, the order of clauses has no meaning. Bindings are therefore resolved before
// traversals, traversals before `optional` blocks, and these before conditions.
func (c *checker) block(clauses []syntax.Clause, sc *scope) []plan.Clause {
	c.requiredEnds(clauses)
	anonymous := map[*syntax.Binding]plan.VarID{}
	for _, cl := range clauses {
		if b, ok := cl.(*syntax.Binding); ok {
			anonymous[b] = c.bind(b, sc)
		}
	}
	steps := c.declareSteps(clauses, sc)
	c.directTraversals(steps)
	optionals := c.optionals(clauses, sc)
	out := make([]plan.Clause, 0, len(clauses))
	c.step(len(clauses))
	for _, cl := range clauses {
		switch cl := cl.(type) {
		case *syntax.Binding:
			out = append(out, plan.Bind{Var: anonymous[cl]})
			out = append(out, c.inline(cl, anonymous[cl])...)
		case *syntax.Traversal:
			if t, ok := c.traverse(steps[cl]); ok {
				out = append(out, t)
			}
		case *syntax.TextClause, *syntax.Filter, *syntax.Not, *syntax.Exists, *syntax.Any, *syntax.All:
			if cond, ok := c.condition(cl, sc); ok {
				out = append(out, cond)
			}
		case *syntax.Optional:
			if o, ok := optionals[cl]; ok {
				out = append(out, o)
			}
		}
	}
	return out
}

// newVar adds a variable. `typ` is "" if the type is not known yet.
func (c *checker) newVar(t syntax.Token, entity plan.Entity, typ string, sc *scope) plan.VarID {
	id := plan.VarID(len(c.read.Vars))
	name := t.Value[1:]
	c.read.Vars = append(c.read.Vars, plan.Var{Name: name, Entity: entity, Type: typ, Optional: sc.optional})
	rows := sc // the scope that yields the rows with the variable
	if sc.optional {
		rows = sc.outer
	}
	rows.own = append(rows.own, id)
	c.info.Vars = append(c.info.Vars, Symbol{Span: syntax.SpanOf(t), Inner: rows.outer != nil})
	if name != "_" {
		sc.vars[name] = id
	}
	return id
}

// bind declares the variable of a binding.
func (c *checker) bind(b *syntax.Binding, sc *scope) plan.VarID {
	at := syntax.SpanOf(b.Type)
	entity, typ := plan.Node, ""
	if n := c.schema.Node(b.Type.Value); n != nil {
		typ = n.Name
	} else if i := c.schema.Interface(b.Type.Value); i != nil {
		entity, typ = plan.Interface, i.Name
		if names, _ := c.implementers(typ); names == "" {
			c.fault(UnknownNode, at, "bind the variable to a node type", "%s is an interface that no node type implements", typ)
		}
	} else if e := c.schema.Edge(b.Type.Value); e != nil {
		c.fault(UnknownNode, at, "bind an edge in its traversal: $a "+b.Var.Value+":"+lowerFirst(e.Name)+" $b", "%s is an edge", e.Name)
	} else {
		c.fault(UnknownNode, at, c.suggest(b.Type.Value, c.typeNames), "unknown node type %s", b.Type.Value)
	}
	if typ != "" {
		c.useType(entity, typ, false)
	}
	id, ok := sc.find(b.Var.Value[1:])
	if !ok {
		return c.newVar(b.Var, entity, typ, sc)
	}
	c.info.Vars[id].Uses++
	v := &c.read.Vars[id]
	switch {
	case !v.Entity.IsNode():
		c.fault(EdgeBindingMisuse, syntax.SpanOf(b.Var), "", "%s binds %s", b.Var.Value, withArticle(v.Entity))
	case v.Type == "":
		v.Entity, v.Type = entity, typ
	case typ != "" && (v.Type != typ || v.Entity != entity):
		other := b.Var.Value + "2"
		c.fault(WrongEndpoint, at, "bind another variable and compare the two: "+other+": "+typ+"  "+other+" = "+b.Var.Value, "%s is already bound as %s", b.Var.Value, v.Type)
	}
	return id
}

// declareSteps declares the variables of a block's traversals. It declares edge bindings first,
// so that any traversal can use an edge binding as its endpoint, in any order.
func (c *checker) declareSteps(clauses []syntax.Clause, sc *scope) map[*syntax.Traversal]*step {
	steps := map[*syntax.Traversal]*step{}
	for _, cl := range clauses {
		t, ok := cl.(*syntax.Traversal)
		if !ok {
			continue
		}
		st := &step{src: t, edgeVar: plan.NoVar}
		steps[t] = st
		st.edges = c.alternatives(t, sc)
		if t.EdgeVar != nil {
			st.edgeVar = c.edgeVar(*t.EdgeVar, st, sc)
		}
	}
	for _, cl := range clauses {
		if t, ok := cl.(*syntax.Traversal); ok {
			steps[t].from = c.endpoint(t.From, sc)
			steps[t].to = c.endpoint(t.To, sc)
		}
	}
	return steps
}

// edgeVar declares the variable that a traversal binds to its edge or to its walk.
func (c *checker) edgeVar(t syntax.Token, st *step, sc *scope) plan.VarID {
	if _, taken := sc.find(t.Value[1:]); taken {
		c.fault(EdgeBindingMisuse, syntax.SpanOf(t), "use another name", "%s is already bound", t.Value)
		return plan.NoVar
	}
	if st.src.Bounds != nil {
		return c.walkVar(t, st, sc)
	}
	typ := ""
	if len(st.edges) == 1 {
		typ = st.edges[0].Name
	}
	return c.newVar(t, plan.Edge, typ, sc)
}

// endpoint resolves the variable at an end of a traversal, and declares it if it is new.
func (c *checker) endpoint(t syntax.Token, sc *scope) plan.VarID {
	id, ok := sc.find(t.Value[1:])
	if !ok {
		return c.newVar(t, plan.Node, "", sc)
	}
	c.info.Vars[id].Uses++
	if v := c.read.Vars[id]; !v.Entity.IsNode() {
		c.fault(EdgeBindingMisuse, syntax.SpanOf(t), "", "%s binds %s, so it cannot be the end of a traversal", t.Value, withArticle(v.Entity))
		return plan.NoVar
	}
	return id
}

// withArticle returns the name of an entity with its article, for messages.
func withArticle(e plan.Entity) string {
	if e == plan.Edge {
		return "an " + e.String()
	}
	return "a " + e.String()
}

// directTraversals determines the direction of every traversal. A known type at either end
// determines it. The remaining traversals are read from left to right, one at a time, because each
// may determine the types of others. Those of edges whose ends can have one type come last.
func (c *checker) directTraversals(steps map[*syntax.Traversal]*step) {
	order := slices.SortedFunc(maps.Values(steps), func(a, b *step) int {
		return cmp.Compare(a.src.From.Pos.Offset, b.src.From.Pos.Offset)
	})
	c.open = map[plan.VarID][]given{}
	defer c.settle()
	touching := map[plan.VarID][]*step{}
	for _, st := range order {
		for _, id := range [2]plan.VarID{st.from, st.to} {
			if id != plan.NoVar && c.read.Vars[id].Type == "" {
				touching[id] = append(touching[id], st)
			}
		}
	}
	// Look at a traversal again only after the type of one of its ends has become known, or has narrowed
	// from an interface to a node type.
	ready := slices.Clone(order)
	shared := map[plan.VarID]bool{} // the variables that have an interface, so that their steps were looked at again
	woken := func(st *step) {
		for _, id := range [2]plan.VarID{st.from, st.to} {
			if id == plan.NoVar || c.read.Vars[id].Type == "" {
				continue
			}
			_, open := c.open[id]
			if open && shared[id] {
				continue
			}
			ready = append(ready, touching[id]...)
			if shared[id] = open; !open {
				delete(touching, id)
			}
		}
	}
	// Leave traversals of edges whose two ends can have one type to the end: the others may give their variables types.
	slices.SortStableFunc(order, func(a, b *step) int { return cmp.Compare(c.chained(a), c.chained(b)) })
	for _, open := range order {
		for len(ready) > 0 {
			st := ready[0]
			ready = ready[1:]
			c.step(1)
			if !st.done && c.decideDirection(st) {
				woken(st)
			}
		}
		if !open.done {
			c.setDirection(open, false)
			woken(open)
		}
	}
}

// decideDirection sets the direction of a traversal if the known types determine it, and reports
// whether it did. A traversal is reversed if no alternative leads from left to right between the known types,
// but one leads from right to left.
func (c *checker) decideDirection(st *step) bool {
	if st.edges == nil || st.from == plan.NoVar || st.to == plan.NoVar {
		st.done = true
		return true
	}
	left, right := c.read.Vars[st.from].Type, c.read.Vars[st.to].Type
	switch {
	case !slices.ContainsFunc(st.edges, func(e *catalog.Edge) bool { return !isLoop(e) }):
		c.setDirection(st, false)
	case st.hasInterfaceEnd(), c.read.Vars[st.from].Entity == plan.Interface, c.read.Vars[st.to].Entity == plan.Interface:
		return c.interfaceDirection(st)
	case left != "":
		starts := slices.ContainsFunc(st.edges, func(e *catalog.Edge) bool { return e.From == left })
		c.setDirection(st, !starts && slices.ContainsFunc(st.edges, func(e *catalog.Edge) bool { return e.To == left }))
	case right != "":
		ends := slices.ContainsFunc(st.edges, func(e *catalog.Edge) bool { return e.To == right })
		c.setDirection(st, !ends && slices.ContainsFunc(st.edges, func(e *catalog.Edge) bool { return e.From == right }))
	default:
		return false
	}
	return true
}

// setDirection sets the direction of a traversal and the types of its ends.
func (c *checker) setDirection(st *step, reversed bool) {
	st.done, st.reversed = true, reversed
	for i, id := range [2]plan.VarID{st.from, st.to} {
		want := st.ends(i == 0)
		t := st.src.From
		if i == 1 {
			t = st.src.To
		}
		if len(want) == 1 && c.give(id, given{want[0], st, t}) {
			continue
		}
		if len(st.edges) > 1 || c.mayEnd(id, want[0]) {
			continue // alternativesFit checks the ends of alternatives
		}
		e, v := st.edges[0], c.read.Vars[id]
		c.fault(WrongEndpoint, syntax.SpanOf(t), c.noEnd(v, t, want[0]), "%s is a %s, but %s goes from %s to %s",
			t.Value, v.Type, st.src.EdgeNames(), e.From, e.To)
	}
}

// traverse lowers a traversal, and checks its direction and bounds.
func (c *checker) traverse(st *step) (plan.Traverse, bool) {
	t := plan.Traverse{From: st.from, To: st.to, EdgeVar: st.edgeVar, Undirected: st.src.Undirected, Min: 1, Max: 1}
	if st.edges != nil {
		t.Edge = st.edges[0].Name
		for _, e := range st.edges[1:] {
			t.Or = append(t.Or, e.Name)
		}
	}
	if st.reversed {
		t.From, t.To = t.To, t.From
	}
	ok := st.edges != nil
	for i, e := range st.edges {
		if st.src.Undirected && !isLoop(e) {
			c.fault(UnlikeEndpoints, syntax.SpanOf(st.src.Edges()[i]), "write it without < >",
				"%s goes from %s to %s, two different types, so it can be followed in one direction only", st.src.Edges()[i].Value, e.From, e.To)
			ok = false
		}
	}
	if !c.bounds(st, &t) {
		return t, false
	}
	if ok && len(st.edges) > 1 {
		ok = c.alternativesFit(st, t)
	}
	return t, ok
}

// bounds lowers the bounds of a traversal. It returns false if the traversal cannot be lowered.
func (c *checker) bounds(st *step, t *plan.Traverse) bool {
	b := st.src.Bounds
	if b == nil {
		if st.src.EdgeVar != nil && len(st.src.Edges()) > 1 {
			c.fault(EdgeBindingMisuse, syntax.SpanOf(*st.src.EdgeVar), "remove "+st.src.EdgeVar.Value+":, write {1,1} after the edges to bind the walk, or write a query for each edge",
				"a traversal of several edges cannot bind its edge")
			return false
		}
		return true
	}
	if b.Max == nil {
		c.fault(BadOperand, b.Span(), "write {"+b.Min.Value+",5}", "the hop bounds have no maximum")
		return false
	}
	t.Walk = true
	t.Min, _ = syntax.Small(b.Min)
	t.Max, _ = syntax.Small(*b.Max)
	switch {
	case t.Min == 0 && t.From == t.To && t.From != plan.NoVar:
		c.fault(BadOperand, syntax.SpanOf(b.Min), fmt.Sprintf("write {1,%d}", max(1, t.Max)),
			"a walk from %s back to itself must have at least 1 hop, but the minimum is 0", st.src.From.Value)
	case t.Max < t.Min:
		c.fault(BadOperand, b.Span(), "", "the minimum of %d hops is above the maximum of %d", t.Min, t.Max)
	case t.Max > plan.MaxHops:
		c.fault(BadOperand, syntax.SpanOf(*b.Max), fmt.Sprintf("write {%d,%d}", min(t.Min, plan.MaxHops), plan.MaxHops),
			"the maximum of %d hops is above the limit of %d", t.Max, plan.MaxHops)
	case len(st.edges) == 1 && st.src.EdgeVar == nil && !c.chains(st.edges[0]) && t.Min <= 1 && t.Max >= 1:
		// Edges of this type cannot be chained, so the walk matches the same pairs as a single traversal.
		t.Walk, t.Min, t.Max = false, 1, 1
	}
	return true
}

// inline lowers the conditions in the braces of a binding.
func (c *checker) inline(b *syntax.Binding, id plan.VarID) []plan.Clause {
	v := c.read.Vars[id]
	if v.Type == "" || v.Type != b.Type.Value {
		return nil
	}
	n := c.nodeType(v)
	var out []plan.Clause
	for _, m := range b.Props {
		c.step(1)
		p := n.find(m.Name.Value)
		if p == nil {
			help := c.suggest(m.Name.Value, func() []string { return propNames(n.props) })
			if m.Name.Value == "id" {
				help = "write it as a filter: " + b.Var.Value + ".id = …"
			}
			c.fault(UnknownInline, syntax.SpanOf(m.Name), help, "%s has no property %s", n.name, m.Name.Value)
			continue
		}
		c.useNodeProp(n, p)
		if cmp, ok := c.inlineCompare(m, p, id); ok {
			c.info.Compares = append(c.info.Compares, Comparison{Span: m.Span(), Cond: cmp})
			out = append(out, plan.Filter{Cond: cmp})
		}
	}
	return out
}
