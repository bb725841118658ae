package lint

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/check"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
	"github.com/omnigraph-go/omnigraph/internal/gq/work"
)

// The rules about what a read matches and returns.

// unusedBinding reports variables that occur only once.
func unusedBinding(p *queryPass) {
	if p.Plan.Read == nil {
		return
	}
	c := p.components()
	for id, sym := range p.Info.Vars {
		v := p.Plan.Read.Vars[id]
		switch {
		case v.Name == "_" || sym.Uses > 0:
		case v.Entity == plan.Edge:
			p.report(sym.Span, "remove $"+v.Name+": unless you want one row for each parallel edge", nil, "edge binding $%s is never used", v.Name)
		case v.Entity == plan.Walk:
			p.report(sym.Span, "remove $"+v.Name+":", nil, "the walk $%s is never used", v.Name)
		case c.alone(plan.VarID(id)): // the cross product is the real fault
		default:
			p.report(sym.Span, "write $_ to test only that a node exists", nil, "$%s is bound and never used", v.Name)
		}
	}
}

// components groups the variables that are bound outside blocks. Two variables are in one group if
// a clause connects them.
type components struct {
	// root maps each variable to another variable of its group; only a root maps to itself.
	root []plan.VarID
	size map[plan.VarID]int // root to the number of variables in its group
	// many lists the roots of the groups that can have several rows, in ascending order.
	many []plan.VarID
}

// find returns the root of a variable's group, and shortens the path to it in the field `root`.
func (c *components) find(id plan.VarID) plan.VarID {
	for c.root[id] != id {
		c.root[id] = c.root[c.root[id]]
		id = c.root[id]
	}
	return id
}

// alone reports whether a variable is the only one of its group, and whether this group is one of
// several groups that can have several rows. A read combines each row of one such group with each
// row of the others.
func (c *components) alone(id plan.VarID) bool {
	if c.size[c.find(id)] != 1 || len(c.many) < 2 {
		return false
	}
	_, found := slices.BinarySearch(c.many, id)
	return found
}

// inner reports whether a block inside the match binds the variable.
func (p *queryPass) inner(id plan.VarID) bool {
	p.in.Meter.Step(1)
	return p.Info.Vars[id].Inner
}

// components groups the variables of a read.
func (p *queryPass) components() *components {
	r := p.Plan.Read
	c := &components{root: make([]plan.VarID, len(r.Vars)), size: map[plan.VarID]int{}}
	for i := range c.root {
		c.root[i] = plan.VarID(i)
	}
	for _, cl := range r.Match {
		first := plan.NoVar
		varsOf(cl, func(id plan.VarID) {
			p.in.Meter.Step(1)
			if first == plan.NoVar {
				first = id
			}
			// The smaller index becomes the root, so that a root is the first variable of its
			// group in source order.
			a, b := c.find(first), c.find(id)
			c.root[max(a, b)] = min(a, b)
		})
	}
	pins := atMostOne(p.in.Meter, p.in.Schema, r, p.inner)
	open := map[plan.VarID]bool{} // roots of the groups with a variable that is not pinned
	for id := range r.Vars {
		if v := plan.VarID(id); !p.inner(v) {
			c.size[c.find(v)]++
			open[c.find(v)] = open[c.find(v)] || !pins[v]
		}
	}
	for id := range r.Vars {
		if v := plan.VarID(id); c.find(v) == v && !p.inner(v) && open[v] {
			c.many = append(c.many, v)
		}
	}
	return c
}

// crossProduct reports bindings that nothing connects.
func crossProduct(p *queryPass) {
	if p.Plan.Read == nil {
		return
	}
	c := p.components()
	if len(c.many) < 2 {
		return
	}
	for _, v := range c.many[1:] {
		p.report(p.Info.Vars[v].Span, "connect them with a traversal or a comparison, or write two queries", nil,
			"nothing connects %s with %s, so every node of one is combined with every node of the other", p.varName(v), p.varName(c.many[0]))
	}
}

// varName returns the name of a variable for messages.
func (p *queryPass) varName(id plan.VarID) string {
	v := p.Plan.Read.Vars[id]
	return fmt.Sprintf("$%s (%s)", v.Name, v.Type)
}

// OneRow reports whether a read yields at most one row, whatever its limit is. `info` has the facts of its
// variables.
func OneRow(s *catalog.Schema, r *plan.Read, info *check.Info) bool {
	return singleRow(nil, s, r, func(id plan.VarID) bool { return info.Vars[id].Inner })
}

// oneRow reports whether a read yields at most one row.
func (p *queryPass) oneRow() bool {
	return singleRow(p.in.Meter, p.in.Schema, p.Plan.Read, p.inner)
}

// singleRow reports whether a read, or the match of a block, has at most one row. The function `inner` reports whether a
// variable is bound inside a block.
func singleRow(m *work.Meter, s *catalog.Schema, r *plan.Read, inner func(plan.VarID) bool) bool {
	if r.Grouped {
		keys := slices.ContainsFunc(r.Columns, func(c plan.Column) bool { return !plan.HasAggregate(c.Expr) })
		if !keys {
			return true
		}
	}
	pins := atMostOne(m, s, r, inner)
	for id := range r.Vars {
		if !pins[plan.VarID(id)] && !inner(plan.VarID(id)) {
			return false
		}
	}
	return true
}

// noLimit reports reads without a limit.
func noLimit(p *queryPass) {
	if r := p.Plan.Read; r != nil && r.Limit == plan.NoLimit && !p.oneRow() {
		p.report(syntax.SpanOf(p.Syntax.Name), "add a limit at the end, such as limit 100", nil, "%s has no limit", p.Plan.Name)
	}
}

// limitNoOrder reports a limit without an order.
func limitNoOrder(p *queryPass) {
	if r := p.Plan.Read; r != nil && r.Limit > 1 && len(r.Order) == 0 && !p.oneRow() {
		at := *p.Syntax.Body.(*syntax.Read).Limit
		p.report(syntax.SpanOf(at), "add an order: order { … }", nil, "without an order, limit %s keeps the rows with the smallest ids", at.Value)
	}
}

// searchNotRanked reports a read that searches but does not sort by a score. The report points at
// the first `search` or `match_text` that is outside all blocks.
func searchNotRanked(p *queryPass) {
	r := p.Plan.Read
	if r == nil || r.Grouped || slices.ContainsFunc(r.Order, func(o plan.Order) bool { return isScore(o.Expr) }) || p.oneRow() {
		return
	}
	kept := slices.ContainsFunc(r.Match, func(c plan.Clause) bool {
		f, ok := c.(plan.Filter)
		if !ok {
			return false
		}
		text, ok := f.Cond.(plan.TextMatch)
		return ok && text.Kind != plan.Fuzzy
	})
	if !kept {
		return
	}
	for _, c := range p.Syntax.Body.(*syntax.Read).Match {
		text, ok := c.(*syntax.TextClause)
		if !ok || text.Op != nil {
			continue
		}
		call := text.Call.(*syntax.Call)
		if call.Name.Value == plan.Fuzzy.String() {
			continue
		}
		prop := call.Args[0].(*syntax.PropRef)
		p.report(text.Span(), fmt.Sprintf("begin the order with bm25(%s.%s, …)", prop.Var.Value, prop.Prop.Value), nil,
			"the rows of %s are not ordered by relevance", call.Name.Value)
		return
	}
}

// isScore reports whether an expression ranks rows by a text or a vector.
func isScore(e plan.Expr) bool {
	_, relevance := e.(plan.BM25)
	_, distance := e.(plan.Nearest)
	_, fused := e.(plan.RRF)
	return relevance || distance || fused
}

// sides calls `visit` twice: with the operands of a comparison as written, and with the operands
// swapped.
func sides(c plan.Compare, visit func(one, other plan.Expr)) {
	visit(c.Left, c.Right)
	visit(c.Right, c.Left)
}

// unknownEnumValue reports comparisons of an enum with a text that is not one of its values.
func unknownEnumValue(p *queryPass) {
	for _, c := range p.Info.Compares {
		sides(c.Cond, func(one, other plan.Expr) {
			prop, ok := one.(plan.Prop)
			if !ok || prop.Type.Enum == nil {
				return
			}
			lit, ok := other.(plan.Lit)
			if ok && c.Cond.Op == plan.In && lit.Value.IsList() {
				for _, e := range lit.Value.Elems() {
					if e.Kind() == value.String && !slices.Contains(prop.Type.Enum, e.Str()) {
						p.report(c.Span, diag.DidYouMean(e.Str(), prop.Type.Enum), nil, "%s is %s, so it is never %q", prop.Name, prop.Type.Required(), e.Str())
					}
				}
				return
			}
			if !ok || lit.Value.Kind() != value.String || lit.Value.IsList() {
				return
			}
			if (c.Cond.Op == plan.Eq || c.Cond.Op == plan.Ne) && !slices.Contains(prop.Type.Enum, lit.Value.Str()) {
				p.report(c.Span, diag.DidYouMean(lit.Value.Str(), prop.Type.Enum), nil, "%s is %s, so it is never %q",
					prop.Name, prop.Type.Required(), lit.Value.Str())
			}
		})
	}
}

// notOptional reports each condition that has an optional parameter but does not end with ?. It
// ignores the parameters that the query tests for null, and those of actor(): without a claim, a condition usually hides rows on purpose.
func notOptional(p *queryPass) {
	tested := p.nullTested()
	for _, c := range p.Info.Compares {
		if c.Cond.Unless != plan.NoParam || c.Operand {
			continue
		}
		for _, e := range []plan.Expr{c.Cond.Left, c.Cond.Right} {
			if param, ok := p.nullParam(e); ok && !tested[param] && p.Plan.Params[param].Caller == "" {
				p.report(c.Span, "end the condition with ? to ignore it when the parameter is left out", nil, "the query returns no rows when the optional $%s is left out", p.Plan.Params[param].Name)
				break
			}
		}
	}
}

// constantFilter reports each condition whose result does not depend on the row.
func constantFilter(p *queryPass) {
	constantNullTest(p)
	for _, c := range p.Info.Compares {
		_, litL := c.Cond.Left.(plan.Lit)
		_, litR := c.Cond.Right.(plan.Lit)
		if litL && litR {
			p.report(c.Span, "compare a property, or remove it", nil, "the comparison has two literals, so its result is constant")
			continue
		}
		if ofLiterals(c.Cond.Left) && ofLiterals(c.Cond.Right) {
			p.report(c.Span, "compare a property, or remove it", nil, "the comparison computes only with literals, so its result is constant")
			continue
		}
		if _, computed := c.Cond.Left.(plan.Apply); computed && (c.Cond.Op == plan.Ne || c.Cond.Op == plan.Lt || c.Cond.Op == plan.Gt) &&
			reflect.DeepEqual(c.Cond.Left, c.Cond.Right) {
			p.report(c.Span, "compare it with something else", nil, "the two sides of the comparison are the same, so it is never true")
			continue
		}
		l, okL := c.Cond.Left.(plan.Prop)
		r, okR := c.Cond.Right.(plan.Prop)
		if !okL || !okR || l.Var != r.Var || l.Name != r.Name {
			continue
		}
		switch c.Cond.Op {
		case plan.Eq, plan.Le, plan.Ge, plan.Contains, plan.StartsWith:
			if !l.Type.Nullable && !p.Plan.Read.Vars[l.Var].Optional {
				p.report(c.Span, "remove it", nil, "%s is compared with itself, which is always true", l.Name)
			}
		case plan.In, plan.Matches: // the checker does not allow a property on both sides
		case plan.Ne, plan.Lt, plan.Gt:
			p.report(c.Span, "compare it with something else", nil, "%s is compared with itself, which is never true", l.Name)
		}
	}
}

// ofLiterals reports whether an expression is a literal or computes only with literals.
func ofLiterals(e plan.Expr) bool {
	only := true
	plan.WalkExpr(e, func(e plan.Expr) {
		switch e.(type) {
		case plan.Lit, plan.Apply, plan.Test:
		default:
			only = false
		}
	})
	return only
}

// constantNullTest reports each test for null of a value that is never null.
func constantNullTest(p *queryPass) {
	for _, t := range p.Info.NullTests {
		reason, constant := "", false
		switch e := t.Cond.Expr.(type) {
		case plan.Prop:
			reason, constant = e.Name+" is required", !e.Type.Nullable && !p.Plan.Read.Vars[e.Var].Optional
		case plan.ID:
			reason, constant = "id is required", !p.Plan.Read.Vars[e.Var].Optional
		case plan.Endpoint:
			reason, constant = endName(e.To)+" is required", !p.Plan.Read.Vars[e.Var].Optional
		case plan.EndNode:
			reason, constant = endName(e.To)+" is required", !p.Plan.Read.Vars[e.Var].Optional
		case plan.WalkPart:
			reason, constant = "a walk has "+e.Fact.String(), !p.Plan.Read.Vars[e.Var].Optional
		case plan.ParamRef:
			param := p.Plan.Params[e.Index]
			reason, constant = param.Spelled()+" is required", !param.Type.Nullable
		case plan.Test, plan.Holds, plan.Matched:
			reason, constant = "a condition is true or false", true
		default: // any other expression can be null
		}
		if !constant {
			continue
		}
		if t.Cond.Not {
			p.report(t.Span, "remove it", nil, "%s, so it is never null and the test always holds", reason)
		} else {
			p.report(t.Span, "test an optional property or parameter", nil, "%s, so it is never null and the test never holds", reason)
		}
	}
}

// endName returns the name of an end of an edge: to if `to` is set, and from otherwise.
func endName(to bool) string {
	if to {
		return "to"
	}
	return "from"
}

// notEqualNull reports != on nullable properties.
func notEqualNull(p *queryPass) {
	for _, c := range p.Info.Compares {
		if c.Cond.Op != plan.Ne || c.Operand {
			continue
		}
		for _, e := range []plan.Expr{c.Cond.Left, c.Cond.Right} {
			if prop, ok := e.(plan.Prop); ok && prop.Type.Nullable {
				p.report(c.Span, "", nil, "rows without %s are left out, because != is never true for null", prop.Name)
				break
			}
		}
	}
}
