package model

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// flow is a place where a query compares the argument of a parameter with a property or id in the
// schema, or assigns the argument to it.
type flow struct {
	entity plan.Entity // says whether typ is a node type or an edge type
	typ    string      // name of the type
	prop   string      // "" if the parameter is used as the id of an entity of the type
	// binds is true if only values that the property can have are useful as arguments. This is so
	// in an assignment, and in an equality or an `in` outside `not` and `any` blocks, because every row
	// must satisfy it.
	binds bool
}

// flows returns the flows of each parameter, keyed by its index in the plan.
func flows(q *plan.Query) map[int][]flow {
	c := &flowCollector{q: q, found: map[int][]flow{}}
	if q.Read != nil {
		c.clauses(q.Read.Match, true)
		for _, col := range q.Read.Columns {
			c.expr(col.Expr)
		}
		c.clauses(q.Read.Having, true)
		for _, o := range q.Read.Order {
			c.expr(o.Expr)
		}
	}
	if q.Mutation != nil {
		c.mutation(q.Mutation)
	}
	return c.found
}

// mutation collects the flows in a mutation. In a block, the variables are those of the block's match.
func (c *flowCollector) mutation(m *plan.Mutation) {
	for _, st := range m.Statements {
		each, ok := st.(plan.ForEach)
		if !ok {
			c.statement(st)
			continue
		}
		if c.list = each.List; each.Read != nil {
			block := &flowCollector{q: &plan.Query{Read: each.Read}, found: c.found}
			block.clauses(each.Read.Match, true)
			for _, o := range each.Read.Order {
				block.expr(o.Expr)
			}
		}
		for _, inner := range each.Statements {
			c.statement(inner)
		}
		c.list = nil
	}
}

// flowCollector collects the flows of a query's parameters.
type flowCollector struct {
	q     *plan.Query
	found map[int][]flow // by index of the parameter
	list  plan.Expr      // the list whose elements the statements use; nil outside of such a block
}

// record adds f to the flows of the parameter e. What a parameter of a computation means is not what the
// result means, so record ignores computations, except those that [plan.Func.KeepsMeaning] names.
func (c *flowCollector) record(e plan.Expr, f flow) {
	switch e := e.(type) {
	case plan.ParamRef:
		c.found[e.Index] = append(c.found[e.Index], f)
	case plan.Apply:
		if f.binds = false; e.Func.KeepsMeaning() {
			for _, a := range e.Args {
				c.record(a, f)
			}
		}
	case plan.Cell:
		if ref, ok := c.list.(plan.ParamRef); ok && c.q.Params[ref.Index].Type.Fields != nil {
			return // the value of a field says nothing about the list
		}
		if c.list != nil {
			c.record(c.list, f)
		}
	case plan.NodeRef:
		if typ, ok := e.Type.(plan.Lit); ok {
			c.record(e.ID, flow{plan.Node, typ.Value.Str(), "", false})
		}
	case plan.KeyOf:
		for _, a := range e.Key {
			c.record(a.Value, flow{plan.Node, e.Node, a.Name, false})
		}
	}
}

// clauses collects the flows in a list of clauses. The argument `outside` is false inside a `not`
// or `any` block.
func (c *flowCollector) clauses(cs []plan.Clause, outside bool) {
	for _, cl := range cs {
		switch cl := cl.(type) {
		case plan.Bind, plan.Traverse:
		case plan.Filter:
			c.cond(cl.Cond, outside)
		case plan.Not, plan.Any, plan.Optional:
			c.clauses(plan.Block(cl), false)
		case plan.Exists, plan.All:
			c.clauses(plan.Block(cl), outside)
		}
	}
}

// cond collects the flows in a condition. The argument `outside` is false inside a `not` or `any` block.
func (c *flowCollector) cond(cond plan.Cond, outside bool) {
	switch cond := cond.(type) {
	case plan.Compare:
		binds := outside && cond.Op == plan.Eq
		c.recordArgument(cond.Left, cond.Right, binds || outside && cond.Op == plan.In)
		c.recordArgument(cond.Right, cond.Left, binds)
		c.expr(cond.Left)
		c.expr(cond.Right)
	case plan.TextMatch:
		c.recordArgument(cond.Prop, cond.Query, false)
	case plan.NullTest:
		c.expr(cond.Expr)
	}
}

// recordArgument records a flow from arg, if it is an argument, to the property or id that the
// expression `with` denotes. A parameter that is compared with a value computed from a property, such as a
// count or a length, is not a value of the property.
func (c *flowCollector) recordArgument(with, arg plan.Expr, binds bool) {
	switch with := with.(type) {
	case plan.Prop:
		v := c.q.Read.Vars[with.Var]
		c.record(arg, flow{v.Entity, v.Type, with.Name, binds})
	case plan.ID:
		v := c.q.Read.Vars[with.Var]
		c.record(arg, flow{v.Entity, v.Type, "", false})
	}
}

// expr searches a column or sort key for arguments.
func (c *flowCollector) expr(e plan.Expr) {
	switch e := e.(type) {
	case plan.Agg:
		c.expr(e.Arg)
	case plan.Matched:
		c.cond(e.Match, false)
	case plan.BM25:
		c.recordArgument(e.Prop, e.Query, false)
	case plan.Nearest:
		c.recordArgument(e.Prop, e.Vector, false)
	case plan.RRF:
		c.expr(e.First)
		c.expr(e.Second)
	case plan.Apply:
		for _, o := range e.Args {
			c.expr(o)
		}
	case plan.BlockAgg, plan.BlockRows:
		match, _, _ := plan.Subquery(e)
		c.clauses(match, false)
		for _, r := range plan.Results(e) {
			c.expr(r)
		}
	case plan.Member: // the block belongs to a column
	case plan.Test:
		c.cond(e.Cond, false)
	case plan.Holds:
		c.clauses([]plan.Clause{e.Block}, false)
	case plan.Lit, plan.ParamRef, plan.Prop, plan.ID, plan.Endpoint, plan.EndNode, plan.Origin, plan.WalkPart, plan.Whole, plan.Now, plan.Old, plan.KeyOf, plan.Cell, plan.NodeRef:
	}
}

// statement collects the flows in a statement.
func (c *flowCollector) statement(st plan.Statement) {
	assign := func(entity plan.Entity, typ string, set []plan.Assign) {
		for _, a := range set {
			c.record(a.Value, flow{entity, typ, a.Name, true})
		}
	}
	where := func(entity plan.Entity, typ string, p plan.Pred) {
		switch p.Name {
		case "id":
			c.record(p.Value, flow{entity, typ, "", false})
		case "from", "to":
			if entity == plan.Edge {
				c.record(p.Value, flow{entity, typ, "@" + p.Name, false})
				return
			}
			fallthrough
		default:
			c.record(p.Value, flow{entity, typ, p.Name, p.Op == plan.Eq || p.Op == plan.In})
		}
	}
	switch st := st.(type) {
	case plan.Insert:
		if st.Entity == plan.Edge {
			c.record(st.From, flow{st.Entity, st.Type, "@from", false})
			c.record(st.To, flow{st.Entity, st.Type, "@to", false})
		}
		if st.ID != nil {
			c.record(st.ID, flow{st.Entity, st.Type, "", false})
		}
		assign(st.Entity, st.Type, st.Set)
	case plan.Update, plan.Delete:
		entity, typ := plan.Target(st)
		set, preds := plan.Written(st)
		assign(entity, typ, set)
		for _, p := range preds {
			where(entity, typ, p)
		}
	case plan.ForEach:
	}
}

// inherit sets the attributes of a parameter that follow from the schema and the parameter's flows.
// It combines their limits with the parameter's own @range and @check, and returns the combined
// bounds.
func (b *builder) inherit(p *Param, own *plan.Param, fl []flow) interval {
	for _, f := range fl {
		if p.Doc != "" {
			break
		}
		p.Doc = b.flowDoc(f)
	}
	if p.Doc == "" && own.Node != "" {
		p.Doc = b.idDoc(own.Node)
	}
	if p.Doc == "" && own.Interface != "" {
		p.Doc = sharedDoc(own.Interface)
	}
	bounds := interval{own.Bounds.Min, own.Bounds.Max}
	if own.Pattern != nil && ecmaSafe(own.Pattern.String()) {
		p.Pattern = own.Pattern.String()
	}
	b.inheritEnum(p, fl)
	if p.Type.List || p.Type.Kind == value.Vector {
		fl = nil // the limits of a property are not those of the elements
	}
	for _, f := range fl {
		if !f.binds || f.entity != plan.Node {
			continue
		}
		node := b.schema.Node(f.typ)
		for _, r := range node.Ranges {
			if r.Property == f.prop {
				bounds.narrow(r)
			}
		}
		for _, ck := range node.Checks {
			if ck.Property == f.prop && p.Pattern == "" && ecmaSafe(ck.Pattern) {
				p.Pattern = ck.Pattern
			}
		}
	}
	if bounds.empty() {
		bounds = interval{own.Bounds.Min, own.Bounds.Max}
	}
	b.applyBounds(p, bounds)
	return bounds
}

// inheritEnum uses the enum that all binding flows share. If two enums differ, the parameter stays
// a plain String, because neither describes its values.
func (b *builder) inheritEnum(p *Param, fl []flow) {
	var shared *Enum
	for _, f := range fl {
		e := b.enums[propKey{f.entity, f.typ, f.prop}]
		switch {
		case e == nil || !f.binds:
		case shared == nil:
			shared = e
		case !slices.Equal(shared.Names(), e.Names()):
			return
		}
	}
	if shared != nil && p.Type.Kind == value.String {
		p.Enum, p.Type.Enum = shared, shared.Names()
	}
}

// flowDoc describes the place that a flow leads to: a property by its description, and an id by the
// type that has it.
func (b *builder) flowDoc(f flow) string {
	typ := f.typ
	switch f.prop {
	case "":
		if f.entity == plan.Edge {
			return "The id of " + one(typ) + " edge."
		}
		if f.entity == plan.Interface {
			return "The id of " + one(typ) + " node."
		}
	case "@from", "@to":
		e := b.schema.Edge(typ)
		if e == nil {
			return ""
		}
		shared := false
		if typ, shared = e.End(f.prop == "@to"); shared {
			return sharedDoc(typ)
		}
	default:
		if p := b.property(f.entity, f.typ, f.prop); p != nil {
			return p.Description
		}
		return ""
	}
	return b.idDoc(typ)
}

// sharedDoc describes a node of an interface.
func sharedDoc(name string) string {
	return "The type and the id of a node that implements " + name + "."
}

// idDoc describes the id of a node.
func (b *builder) idDoc(typ string) string {
	doc := "The id of " + one(typ)
	if n := b.schema.Node(typ); n != nil && len(n.Key) == 1 {
		doc += ": its " + n.Key[0]
	}
	return doc + "."
}

// interval is the intersection of ranges. A nil end has no limit.
type interval struct{ lo, hi *value.Value }

// narrow intersects the interval with a range.
func (i *interval) narrow(r catalog.Range) {
	if r.Min != nil && (i.lo == nil || less(*i.lo, *r.Min)) {
		i.lo = r.Min
	}
	if r.Max != nil && (i.hi == nil || less(*r.Max, *i.hi)) {
		i.hi = r.Max
	}
}

// empty reports whether no value lies in the interval.
func (i interval) empty() bool { return i.lo != nil && i.hi != nil && less(*i.hi, *i.lo) }

// less reports whether a is less than b. It returns false for values that cannot be compared.
func less(a, b value.Value) bool {
	c, ok := value.Compare(a, b)
	return ok && c < 0
}

// applyBounds limits a parameter to an interval. It ignores an interval that is unlimited or empty.
func (b *builder) applyBounds(p *Param, i interval) {
	if i.lo == nil && i.hi == nil || i.empty() {
		return
	}
	switch p.Type.Kind.JSON() {
	case value.JSONNum:
		if i.lo != nil {
			p.Minimum = value.Text(*i.lo)
		}
		if i.hi != nil {
			p.Maximum = value.Text(*i.hi)
		}
	default: // these are encoded as strings, which a schema cannot bound
		s := rangeText(i.lo, i.hi)
		if p.Type.List {
			s = "each element is " + s
		}
		s = strings.ToUpper(s[:1]) + s[1:] + "."
		p.Doc = strings.TrimSpace(p.Doc + " " + s)
	}
}

// rangeText describes bounds. At least one of the bounds must be set.
func rangeText(lo, hi *value.Value) string {
	switch {
	case lo == nil:
		return "at most " + value.Text(*hi)
	case hi == nil:
		return "at least " + value.Text(*lo)
	}
	return "from " + value.Text(*lo) + " to " + value.Text(*hi)
}
