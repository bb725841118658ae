package enginetest

import (
	"fmt"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// maxProduct limits the number of assignments that the model must try for a read.
const maxProduct = 4000

// readDraw is a read that is being drawn.
type readDraw struct {
	*drawer
	*readPlan
	args    engine.Args                  // arguments of the read
	product int                          // product, over all variables, of the number of entities
	outer   []plan.VarID                 // variables that are bound outside `not` blocks
	ranked  bool                         // the read gets a limit; nearest and rrf require one
	holding bool                         // the drawn clauses belong to a block whose truth is a value
	nesting int                          // number of subqueries around the clauses that are drawn
	ends    map[plan.VarID][2]plan.VarID // by the variable of a walk: its ends

	byOrigin plan.Expr // the drawn fact about an origin; nil for none
}

// drawRead draws a read with its arguments.
func (d *drawer) drawRead() (*plan.Query, engine.Args) {
	q, args := d.drawTimelessRead()
	return q, d.drawValid(q, args)
}

// drawTimelessRead draws a read that is about no time, with its arguments.
func (d *drawer) drawTimelessRead() (*plan.Query, engine.Args) {
	if d.percent(8) {
		return d.drawCount()
	}
	if d.params.percent(4) {
		if q, args, ok := d.drawEndLists(); ok {
			return q, args
		}
	}
	r := &readDraw{drawer: d, readPlan: newRead(d.schema), product: 1}
	start := r.bound(r.start(d.schema.Nodes))
	r.outer = []plan.VarID{start}
	clauses := []plan.Clause{plan.Bind{Var: start}}
	most := 3
	if d.percent(35) {
		most = 0 // so that variables remain for subqueries
	}
	for range max(0, d.between(-1, most)) {
		clauses = append(clauses, r.clause(&r.outer, 0)...)
	}
	var blocks []plan.Clause
	if d.percent(30) {
		blocks = r.optionals()
		clauses = append(clauses, blocks...)
	}
	for range d.IntN(3) {
		clauses = append(clauses, r.filter(r.outer))
	}
	if d.percent(35) {
		clauses = append(clauses, r.condition(0))
	}
	if d.percent(15) {
		clauses = append(clauses, r.subqueryFilter())
	}
	if d.percent(6) {
		if c, ok := r.scoreFilter(); ok {
			clauses = append(clauses, c)
		}
	}
	if d.percent(25) {
		clauses = append(clauses, r.not(0))
	}
	d.Shuffle(len(clauses), func(i, j int) { clauses[i], clauses[j] = clauses[j], clauses[i] })
	inOrder(clauses, blocks)
	r.match(r.drawOrigin(clauses)...)
	switch draw := d.IntN(100); {
	case draw < 33:
		r.aggregates()
	case draw < 40:
		r.distinct()
	default:
		r.columns()
	}
	r.showOrigin()
	if d.percent(20) {
		r.having()
	}
	if r.ranked || d.percent(40) {
		r.drawLimit()
	}
	return r.query(), r.args
}

// fresh declares a variable of a node type.
func (r *readDraw) fresh(typ string) plan.VarID { return r.bound(plan.Node, typ) }

// bound declares a variable that ranges over a node type or an interface.
func (r *readDraw) bound(kind plan.Entity, typ string) plan.VarID {
	r.product *= max(1, r.size(kind, typ))
	return r.declare(r.name(), kind, typ)
}

// name draws the name of the next variable. Sometimes it is the anonymous one. Otherwise the first
// letter is random, so that the variables are not declared in the order of their names.
func (r *readDraw) name() string {
	if r.percent(10) {
		return "_"
	}
	return fmt.Sprintf("%c%d", 'a'+rune(r.IntN(26)), len(r.q.Read.Vars))
}

// affordable reports whether the read may bind another variable of a type. The number of rows is at
// most the product of the numbers of entities of all variables, and affordable limits that product.
func (r *readDraw) affordable(kind plan.Entity, typ string) bool {
	return r.product*max(1, r.size(kind, typ)) <= maxProduct && len(r.q.Read.Vars) < 6
}

// clause draws a binding or a traversal, which may add variables to the scope.
func (r *readDraw) clause(scope *[]plan.VarID, depth int) []plan.Clause {
	if depth == 0 && r.percent(12) {
		if kind, typ := r.start(r.schemaNodes()); r.affordable(kind, typ) {
			v := r.bound(kind, typ)
			*scope = append(*scope, v)
			return []plan.Clause{plan.Bind{Var: v}}
		}
	}
	if c := r.narrow(scope); c != nil {
		return c
	}
	var choices []plan.Traverse
	var nodes []plan.VarID
	for _, v := range *scope {
		if r.q.Read.Vars[v].Entity.IsNode() {
			nodes = append(nodes, v)
		}
	}
	for _, v := range nodes {
		for _, e := range r.drawer.schema.Edges {
			if r.fitsEnd(v, e, false) {
				choices = append(choices, plan.Traverse{Edge: e.Name, From: v, To: plan.NoVar})
			}
			if r.fitsEnd(v, e, true) {
				choices = append(choices, plan.Traverse{Edge: e.Name, From: plan.NoVar, To: v})
			}
		}
	}
	if len(choices) == 0 {
		return nil
	}
	t := pick(r.drawer, choices)
	edge := r.drawer.schema.Edge(t.Edge)
	if edge.HasInterfaceEnd() {
		return r.sharedHop(t, edge, nodes, scope)
	}
	fromType, toType := r.alternatives(&t, edge)
	for end, typ := range map[*plan.VarID]string{&t.From: fromType, &t.To: toType} {
		if *end == plan.NoVar {
			v, ok := r.otherEnd(nodes, typ, t.Or == nil)
			if !ok {
				return nil
			}
			*end = v
			if !slices.Contains(*scope, v) {
				*scope = append(*scope, v)
			}
		}
	}
	t.EdgeVar, t.Min, t.Max = plan.NoVar, 1, 1
	if !t.Walk {
		t.Undirected = edge.From == edge.To && r.percent(25)
	}
	switch {
	case t.Walk: // the method alternatives has drawn the walk
	case t.Or != nil:
	case r.percent(25) && r.affordable(plan.Edge, t.Edge):
		r.product *= max(1, len(r.ids[key(plan.Edge, t.Edge)]))
		t.EdgeVar = r.edge(r.name(), t.Edge)
		*scope = append(*scope, t.EdgeVar)
	case edge.From == edge.To && r.percent(45), r.percent(8):
		t.Walk = true
	}
	if t.Walk {
		least := 0
		if t.From == t.To {
			least = 1
		}
		t.Min = r.between(least, 3)
		t.Max = t.Min + r.IntN(3)
		r.bindWalk(&t, scope)
	}
	clauses := []plan.Clause{t}
	for _, v := range []plan.VarID{t.From, t.To} {
		if r.percent(20) {
			clauses = append(clauses, plan.Bind{Var: v})
		}
	}
	return clauses
}

// otherEnd draws the other end of a traversal: a variable in scope or a new one. It may be over an interface only if
// `one` is true, that is, if the traversal follows one edge type.
func (r *readDraw) otherEnd(nodes []plan.VarID, typ string, one bool) (plan.VarID, bool) {
	if r.percent(25) || !r.affordable(plan.Node, typ) {
		for _, i := range r.Perm(len(nodes)) {
			if r.fits(nodes[i], typ) && (one || !r.shared(nodes[i])) {
				return nodes[i], true
			}
		}
	}
	if !r.affordable(plan.Node, typ) {
		return plan.NoVar, false
	}
	return r.fresh(typ), true
}

// not draws a `not` block that refers to an outer variable.
func (r *readDraw) not(depth int) plan.Clause {
	return plan.Not{Match: r.block(depth)}
}

// filter draws a condition on a variable in scope.
func (r *readDraw) filter(scope []plan.VarID) plan.Clause {
	if r.percent(12) {
		if c, ok := r.computedFilter(scope); ok {
			return c
		}
	}
	v := pick(r.drawer, scope)
	declared := r.q.Read.Vars[v]
	switch {
	case declared.Entity == plan.Walk:
		return r.walkFilter(v)
	case declared.Entity == plan.Interface && r.percent(20):
		return r.typeFilter(v)
	case declared.Entity == plan.Interface && r.percent(20):
		if c, ok := r.sameNode(scope); ok {
			return c
		}
	}
	if declared.Entity.IsNode() && r.percent(10) {
		if c, ok := r.argumentFilter(v); ok {
			return c
		}
	}
	if declared.Optional && r.percent(15) {
		return plan.Filter{Cond: plan.NullTest{Expr: id(v), Not: r.percent(40)}}
	}
	props := properties(r.drawer.schema, declared.Entity, declared.Type)
	if r.percent(20) || len(props) == 0 {
		return r.idFilter(v, scope)
	}
	p := pick(r.drawer, props)
	for range 2 {
		if p.Type.Kind != value.String || p.Type.Enum != nil {
			p = pick(r.drawer, props) // prefer strings, which have the most operators
		}
	}
	left := r.prop(v, p.Name)
	if p.Type.Kind != value.Blob && r.percent(6) {
		return plan.Filter{Cond: plan.NullTest{Expr: left, Not: r.percent(50)}}
	}
	wild, wordy := r.wild[declared.Type+"."+p.Name], r.hasWords(declared.Type, p)
	switch {
	case !p.Type.Kind.IsComparable():
		return r.idFilter(v, scope)
	case p.Type.List && p.Type.Kind == value.String && r.percent(40):
		return plan.Filter{Cond: r.compare(left, plan.Contains, stringType, r.part())}
	case p.Type.List:
		return plan.Filter{Cond: r.compare(left, plan.Contains, p.Type.Elem(), r.scalar(p.Type.Elem(), wild, wordy))}
	case wordy && r.percent(60):
		return plan.Filter{Cond: r.textMatch(left)}
	case r.percent(15):
		return plan.Filter{Cond: r.in(left, p.Type.Required(), func() value.Value { return r.scalar(p.Type, wild, wordy) })}
	case p.Type.Kind == value.String && r.percent(15):
		return plan.Filter{Cond: r.matches(left)}
	case p.Type.Kind == value.String && r.percent(45):
		return plan.Filter{Cond: r.compare(left, pick(r.drawer, []plan.Op{plan.Contains, plan.StartsWith}), stringType, r.part())}
	case p.Type.Kind == value.DateTime && r.percent(10):
		return where(left, r.op(), plan.Now{})
	case r.percent(25):
		if right, ok := r.comparableProp(scope, p); ok {
			return where(left, r.op(), right)
		}
	}
	return plan.Filter{Cond: r.compare(left, r.op(), p.Type.Required(), r.scalar(p.Type, wild, wordy))}
}

// part draws a substring or prefix to search for.
func (r *readDraw) part() value.Value {
	return value.OfString(pick(r.drawer, []string{"", "a", "A", "b", "d c", "é", "re", "red", "p", "."}))
}

// textMatch draws a text match on a property.
func (r *readDraw) textMatch(p plan.Prop) plan.TextMatch {
	queries := map[plan.TextKind][]string{
		plan.Search: {"foxes red", "blue running", "red box", "blue fox", "running boxes", "rux", "the", "", "f\u00f3x", "fo\u0301xes", "fox’s", "RÉD", "фокс", "thé"},
		plan.Phrase: {"red fox", "fox red", "foxes run", "running red fox", "the fox", "blue", "box blue", "fox box", "f\u00f3x’s blue", "red bo\u0301x"},
		plan.Fuzzy:  {"fxo", "bxo", "rux", "red", "blues", "rat", "foxglov", "documentaton", "runnin", "f\u00f3xs", "foxglvoe"},
	}
	kind := pick(r.drawer, []plan.TextKind{plan.Search, plan.Phrase, plan.Fuzzy})
	m := text(kind, p, pick(r.drawer, queries[kind]))
	if m.Kind == plan.Fuzzy && r.percent(60) {
		m.MaxEdits = plan.Lit{Value: value.OfI64(int64(r.IntN(3)))}
	}
	return m
}

// op draws a comparison.
func (r *readDraw) op() plan.Op {
	return pick(r.drawer, []plan.Op{plan.Eq, plan.Eq, plan.Ne, plan.Lt, plan.Le, plan.Gt, plan.Ge})
}

// compare returns a comparison of `left` with a literal or a parameter that has the given value. It
// sometimes swaps the two sides.
func (r *readDraw) compare(left plan.Expr, op plan.Op, t value.Type, v value.Value) plan.Compare {
	c := r.compareRight(left, op, t, v)
	if op < plan.Contains && r.percent(15) {
		c.Left, c.Right = c.Right, c.Left
	}
	return c
}

// compareRight draws a comparison of `left` with the literal v, or with a parameter.
func (r *readDraw) compareRight(left plan.Expr, op plan.Op, t value.Type, v value.Value) plan.Compare {
	c := plan.Compare{Op: op, Left: left, Right: plan.Lit{Value: v}, Unless: plan.NoParam}
	if r.percent(50) {
		return c
	}
	if p, ok := left.(plan.Prop); ok && r.wildProp(p) && r.percent(60) {
		t = pick(r.drawer, []value.Type{i64Type, u64Type, f64Type})
		v = literal(pick(r.drawer, []int{1 << 53, 1<<53 + 1}), t)
	} else if t.Kind.IsNumeric() && op != plan.Contains && r.percent(40) {
		t = pick(r.drawer, numericTypes)
		v = r.scalar(t, true, false)
	}
	t.Enum = nil // parameters have plain types
	return r.withParam(c, t, v)
}

// wildProp reports whether a property may have values that a float64 cannot represent.
func (r *readDraw) wildProp(p plan.Prop) bool {
	return !p.Type.List && p.Type.Kind.JSON() == value.JSONWide && r.wild[r.q.Read.Vars[p.Var].Type+"."+p.Name]
}

// idFilter draws a condition on the id of an entity or on an endpoint of an edge.
func (r *readDraw) idFilter(v plan.VarID, scope []plan.VarID) plan.Clause {
	declared := r.q.Read.Vars[v]
	var left plan.Expr = id(v)
	have := r.idsOf(declared.Entity, declared.Type)
	if declared.Entity == plan.Edge && r.percent(50) {
		e := r.drawer.schema.Edge(declared.Type)
		to := r.percent(50)
		if end, ok := endExpr(e, v, to).(plan.EndNode); ok {
			return r.endFilter(end, scope)
		}
		end := plan.Endpoint{Var: v, To: to}
		left, have = end, r.ids[key(plan.Node, e.From)]
		if end.To {
			have = r.ids[key(plan.Node, e.To)]
		}
	}
	if other := pick(r.drawer, scope); r.q.Read.Vars[other].Entity != plan.Walk && r.percent(35) {
		return where(left, r.op(), id(other))
	}
	x := "n1"
	if len(have) > 0 {
		x = pick(r.drawer, have)
	}
	if r.percent(15) {
		return plan.Filter{Cond: r.in(left, stringType, func() value.Value {
			if len(have) > 0 && r.percent(80) {
				return value.OfString(pick(r.drawer, have))
			}
			return value.OfString("n1")
		})}
	}
	op := r.op()
	if r.percent(40) {
		op = plan.Eq // engines use an index for equality of ids
	}
	return plan.Filter{Cond: r.compare(left, op, stringType, value.OfString(x))}
}

// comparableProp draws a property in scope that can be compared with p.
func (r *readDraw) comparableProp(scope []plan.VarID, p *catalog.Property) (plan.Prop, bool) {
	for _, i := range r.Perm(len(scope)) {
		v := r.q.Read.Vars[scope[i]]
		for _, o := range properties(r.drawer.schema, v.Entity, v.Type) {
			if comparable(o.Type) && (o.Type.Kind == p.Type.Kind || o.Type.Kind.IsNumeric() && p.Type.Kind.IsNumeric()) && r.percent(60) {
				return r.prop(scope[i], o.Name), true
			}
		}
	}
	return plan.Prop{}, false
}

// columns draws the columns and the order of a read without aggregates.
func (r *readDraw) columns() {
	for range r.between(1, 4) {
		if r.percent(15) {
			r.ret(r.blockRows())
		} else {
			r.ret(r.column())
		}
	}
	if e, ok := r.member(); ok && r.percent(40) {
		if r.percent(50) {
			r.ret(e)
		} else {
			r.sort(plan.Order{Expr: e, Desc: r.percent(50)})
		}
	}
	if r.percent(35) {
		r.ranking()
	}
	for range r.IntN(3) {
		e := r.sortable()
		r.sort(plan.Order{Expr: e, Desc: r.percent(50)})
	}
}

// column draws the expression of a column.
func (r *readDraw) column() plan.Expr {
	if r.percent(25) {
		if e, ok := r.computedColumn(); ok {
			return e
		}
	}
	v := pick(r.drawer, r.outer)
	declared := r.q.Read.Vars[v]
	if declared.Entity == plan.Walk {
		return r.walkPart(v, plan.WalkFact(r.IntN(3)))
	}
	switch draw := r.IntN(100); {
	case draw < 20 && declared.Entity.IsNode():
		return whole(v)
	case draw < 20:
		return r.end(v, draw < 10)
	case draw < 25:
		return plan.Lit{Value: r.scalar(pick(r.drawer, scalarTypes), true, false)}
	case draw < 60:
		for _, p := range properties(r.drawer.schema, declared.Entity, declared.Type) {
			if r.hasWords(declared.Type, p) && r.percent(45) {
				return plan.Matched{Match: r.textMatch(r.prop(v, p.Name))}
			}
			if p.Type.Kind != value.Blob && r.percent(40) {
				return r.prop(v, p.Name)
			}
		}
	}
	return id(v)
}

// sortable draws an expression with values that have an order.
func (r *readDraw) sortable() plan.Expr {
	if r.percent(15) {
		if e, ok := r.computedColumn(); ok {
			return e
		}
	}
	v := pick(r.drawer, r.outer)
	declared := r.q.Read.Vars[v]
	if declared.Entity == plan.Walk {
		return r.walkPart(v, plan.WalkHops)
	}
	for _, p := range properties(r.drawer.schema, declared.Entity, declared.Type) {
		if comparable(p.Type) && r.percent(50) {
			return r.prop(v, p.Name)
		}
	}
	return id(v)
}

// aggregates draws the columns and the order of a read with aggregates.
func (r *readDraw) aggregates() {
	var exprs []plan.Expr
	for range r.IntN(3) {
		if r.percent(15) {
			exprs = append(exprs, r.column())
		} else {
			exprs = append(exprs, r.sortable())
		}
	}
	for range r.between(1, 3) {
		exprs = append(exprs, r.aggregate())
	}
	if r.percent(15) {
		if s, ok := r.score(true); ok {
			exprs = append(exprs, pick(r.drawer, []plan.Expr{s, agg(plan.Max, s), agg(plan.Count, s)}))
		}
	}
	if r.percent(30) {
		if e, ok := r.composed(exprs); ok {
			exprs = append(exprs, e)
		}
	}
	exprs = append(exprs, r.argumentTests()...)
	r.Shuffle(len(exprs), func(i, j int) { exprs[i], exprs[j] = exprs[j], exprs[i] })
	r.ret(exprs...)
	if r.percent(15) {
		if e, ok := r.composed(exprs); ok {
			r.sort(plan.Order{Expr: e, Desc: r.percent(50)})
		}
	}
	for range r.IntN(3) {
		switch e := pick(r.drawer, exprs).(type) {
		case plan.Whole, plan.EndNode:
		case plan.Prop:
			if comparable(e.Type) {
				r.sort(plan.Order{Expr: e, Desc: r.percent(50)})
			}
		default:
			if !r.typeOf(e).List {
				r.sort(plan.Order{Expr: e, Desc: r.percent(50)})
			}
		}
	}
}

// mayFold draws whether median may have a Decimal.
func (r *readDraw) mayFold(f plan.AggFunc, t value.Type) bool {
	return f != plan.Median || t.Kind != value.Decimal || r.decimals.percent(50)
}

// aggregate draws an aggregate.
func (r *readDraw) aggregate() plan.Expr {
	if r.percent(20) {
		if e, ok := r.computed(r.outer).apply(1); ok && len(variables(e)) > 0 {
			var funcs []plan.AggFunc
			for _, row := range plan.Aggregates {
				if row.Arg.Accepts(e.Type) && r.mayFold(row.Func, e.Type) {
					funcs = append(funcs, row.Func)
				}
			}
			return r.perhapsDistinct(agg(pick(r.drawer, funcs), e))
		}
	}
	v := pick(r.drawer, r.outer)
	declared := r.q.Read.Vars[v]
	if declared.Entity == plan.Walk {
		return r.perhapsDistinct(agg(pick(r.drawer, []plan.AggFunc{plan.Count, plan.Sum, plan.Min, plan.Max, plan.Collect}), r.walkPart(v, plan.WalkHops)))
	}
	for _, p := range properties(r.drawer.schema, declared.Entity, declared.Type) {
		wild := r.wild[declared.Type+"."+p.Name] && p.Type.Kind.IsNumeric()
		if !comparable(p.Type) || !wild && !r.percent(50) {
			continue
		}
		prop := r.prop(v, p.Name)
		var funcs []plan.AggFunc
		for _, row := range plan.Aggregates {
			if row.Arg.Accepts(p.Type) && r.mayFold(row.Func, p.Type) {
				funcs = append(funcs, row.Func)
			}
		}
		if wild {
			funcs = append(funcs, plan.Sum, plan.Avg, plan.Sum, plan.Sum, plan.Avg, plan.Sum) // more sums; they must not round
		}
		return r.perhapsDistinct(agg(pick(r.drawer, funcs), prop))
	}
	var arg plan.Expr = id(v)
	if declared.Entity == plan.Edge && r.percent(40) {
		if end := r.aggregatedEnd(v); isEndNode(end) {
			return r.overEnds(end)
		} else {
			arg = end
		}
	}
	if declared.Entity.IsNode() {
		arg = whole(v)
	}
	if r.percent(25) {
		list := r.perhapsDistinct(agg(plan.Collect, arg))
		if r.percent(20) {
			return sizeOf(list)
		}
		return list
	}
	return r.perhapsDistinct(count(arg))
}

// schemaNodes returns the node types of the current schema.
func (r *readDraw) schemaNodes() []*catalog.Node { return r.drawer.schema.Nodes }
