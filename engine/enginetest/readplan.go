package enginetest

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// readPlan builds the plan of a read.
type readPlan struct {
	schema *catalog.Schema // schema of the graph to read
	q      *plan.Query     // the plan
	built  bool            // `query` has been called
}

// newRead returns an empty plan of a read.
func newRead(schema *catalog.Schema) *readPlan {
	return &readPlan{schema: schema, q: &plan.Query{Name: "read", Read: &plan.Read{Limit: plan.NoLimit}}}
}

// node declares a node variable that ranges over its type.
func (p *readPlan) node(name, typ string) plan.VarID { return p.declare(name, plan.Node, typ) }

// edge declares an edge variable.
func (p *readPlan) edge(name, typ string) plan.VarID { return p.declare(name, plan.Edge, typ) }

// declare adds a variable.
func (p *readPlan) declare(name string, kind plan.Entity, typ string) plan.VarID {
	p.q.Read.Vars = append(p.q.Read.Vars, plan.Var{Name: name, Entity: kind, Type: typ})
	return plan.VarID(len(p.q.Read.Vars) - 1)
}

// bind declares a node variable and binds it.
func (p *readPlan) bind(name, typ string) plan.VarID {
	v := p.node(name, typ)
	p.match(plan.Bind{Var: v})
	return v
}

// match adds clauses to the match.
func (p *readPlan) match(clauses ...plan.Clause) *readPlan {
	p.q.Read.Match = append(p.q.Read.Match, clauses...)
	return p
}

// param declares a parameter.
func (p *readPlan) param(name string, t value.Type) plan.ParamRef {
	p.q.Params = append(p.q.Params, plan.Param{Name: name, Type: t})
	return plan.ParamRef{Index: len(p.q.Params) - 1}
}

// prop returns the property of a variable.
func (p *readPlan) prop(v plan.VarID, name string) plan.Prop {
	return plan.Prop{Var: v, Name: name, Type: propertyType(p.schema, p.q.Read.Vars[v].Entity, p.q.Read.Vars[v].Type, name)}
}

// ret adds columns named c0, c1 and so on.
func (p *readPlan) ret(exprs ...plan.Expr) *readPlan {
	for _, e := range exprs {
		p.column(fmt.Sprintf("c%d", len(p.q.Read.Columns)), e)
	}
	return p
}

// column adds a column to the result.
func (p *readPlan) column(name string, e plan.Expr) {
	p.q.Read.Columns = append(p.q.Read.Columns, p.columnOf(name, e))
}

// columnOf returns a column.
func (p *readPlan) columnOf(name string, e plan.Expr) plan.Column {
	c := plan.Column{Name: name, Expr: e, Type: p.typeOf(e)}
	if w, ok := e.(plan.Whole); ok {
		v := p.q.Read.Vars[w.Var]
		c.Fields = wholeFields(properties(p.schema, v.Entity, v.Type))
		c.Type.Nullable = p.q.Read.Vars[w.Var].Optional
	}
	if end, ok := e.(plan.EndNode); ok {
		c.Fields = p.endFields(end)
		c.Type.Nullable = p.q.Read.Vars[end.Var].Optional
	}
	if b, ok := e.(plan.BlockRows); ok {
		c.Fields = b.Fields()
	}
	if a, ok := e.(plan.Agg); ok {
		switch of, _ := a.CollectedNodes(); of := of.(type) {
		case plan.Whole:
			v := p.q.Read.Vars[of.Var]
			c.Fields = wholeFields(properties(p.schema, v.Entity, v.Type))
		case plan.EndNode:
			c.Fields = p.endFields(of)
		}
	}
	return c
}

// having adds conditions on the rows of the result.
func (p *readPlan) having(conds ...plan.Clause) *readPlan {
	p.q.Read.Having = append(p.q.Read.Having, conds...)
	return p
}

// orderBy adds an ascending sort key.
func (p *readPlan) orderBy(e plan.Expr) *readPlan { return p.sort(plan.Order{Expr: e}) }

// orderDesc adds a descending sort key.
func (p *readPlan) orderDesc(e plan.Expr) *readPlan {
	return p.sort(plan.Order{Expr: e, Desc: true})
}

// sort adds a sort key.
func (p *readPlan) sort(o plan.Order) *readPlan {
	p.q.Read.Order = append(p.q.Read.Order, o)
	return p
}

// limit sets the maximum number of rows.
func (p *readPlan) limit(n int64) *readPlan { p.q.Read.Limit = n; return p }

// query completes the plan, unless an earlier call did, and returns it.
func (p *readPlan) query() *plan.Query {
	if !p.built {
		p.built = true
		complete(p.schema, p.q)
	}
	return p.q
}

// complete sets the fields of a plan that follow from the others: Grouped, Ties and Uses.
func complete(schema *catalog.Schema, q *plan.Query) {
	q.Uses = uses(schema, q)
	if q.Read == nil {
		return
	}
	retie(q.Read)
}

// retie sets Grouped and Ties of a read. Grouped stays set for a read that returns each combination of its columns
// once.
func retie(r *plan.Read) {
	r.Grouped = r.Grouped || slices.ContainsFunc(r.Columns, func(c plan.Column) bool { return plan.HasAggregate(c.Expr) })
	r.Ties = tieOrder(r, slices.DeleteFunc(binders(r.Match), func(v plan.VarID) bool { return v == plan.NoVar || r.Vars[v].Entity == plan.Walk }))
}

// tieOrder puts the variables in `ties` into the order in which they break ties, and removes
// duplicates.
func tieOrder(r *plan.Read, ties []plan.VarID) []plan.VarID {
	slices.SortFunc(ties, func(a, b plan.VarID) int {
		x, y := r.Vars[a].Name, r.Vars[b].Name
		if (x == "_") != (y == "_") {
			if x == "_" {
				return 1
			}
			return -1
		}
		return cmp.Or(cmp.Compare(x, y), cmp.Compare(a, b))
	})
	return slices.Compact(ties)
}

// typeOf returns the type of the values of an expression.
func (p *readPlan) typeOf(e plan.Expr) value.Type {
	switch e := e.(type) {
	case plan.Lit:
		return e.Value.Type()
	case plan.ParamRef:
		return p.q.Params[e.Index].Type
	case plan.Prop:
		return e.Type
	case plan.ID, plan.Endpoint:
		return value.Of(value.String)
	case plan.WalkPart:
		return e.Fact.Type()
	case plan.Origin:
		return e.Fact.Type()
	case plan.Now:
		return value.Of(value.DateTime)
	case plan.Matched:
		return value.Of(value.Bool)
	case plan.BM25, plan.Nearest, plan.RRF:
		return value.Of(value.F64)
	case plan.Apply:
		return e.Type
	case plan.Test, plan.Holds:
		return value.Of(value.Bool)
	case plan.BlockAgg:
		arg := value.Type{}
		if e.Arg != nil {
			arg = p.typeOf(e.Arg)
		}
		return e.Func.Row().Result(arg)
	case plan.BlockRows:
		return e.Type()
	case plan.Member:
		return e.Type
	case plan.Agg:
		return e.Func.Row().Result(p.typeOf(e.Arg))
	case plan.Whole, plan.EndNode:
		return value.Type{}
	}
	panic(fmt.Sprintf("enginetest: unexpected expression %T", e))
}

// wholeFields returns the fields of a whole node: its id and its properties, without blobs.
func wholeFields(props []*catalog.Property) []plan.Field {
	fields := []plan.Field{{Name: "id", Type: value.Of(value.String)}}
	for _, p := range props {
		if p.Type.Kind != value.Blob {
			fields = append(fields, plan.Field{Name: p.Name, Type: p.Type})
		}
	}
	return fields
}

// propertyType returns the type of a property of the node or edge type `typ`.
func propertyType(schema *catalog.Schema, kind plan.Entity, typ, name string) value.Type {
	var p *catalog.Property
	switch kind {
	case plan.Node:
		p = schema.Node(typ).Property(name)
	case plan.Interface:
		p = schema.Interface(typ).Property(name)
	default:
		p = schema.Edge(typ).Property(name)
	}
	if p == nil {
		panic("enginetest: " + typ + " has no property " + name)
	}
	return p.Type
}

// hop returns a traversal of one edge.
func hop(from plan.VarID, edge string, to plan.VarID) plan.Traverse {
	return plan.Traverse{From: from, To: to, Edge: edge, EdgeVar: plan.NoVar, Min: 1, Max: 1}
}

// over returns a traversal of one edge that binds the edge to the variable `e`.
func over(from plan.VarID, e plan.VarID, edge string, to plan.VarID) plan.Traverse {
	t := hop(from, edge, to)
	t.EdgeVar = e
	return t
}

// walk returns a traversal with bounds on the number of edges.
func walk(from plan.VarID, edge string, low, high int, to plan.VarID) plan.Traverse {
	t := hop(from, edge, to)
	t.Walk, t.Min, t.Max = true, low, high
	return t
}

// or returns t as a traversal that may also follow edges of further types.
func or(t plan.Traverse, edges ...string) plan.Traverse { t.Or = edges; return t }

// walkVar declares a variable for a walk.
func (p *readPlan) walkVar(name string) plan.VarID { return p.declare(name, plan.Walk, "") }

// along binds the walk t to the variable `w`. It returns the bound traversal, and expressions for
// the length of the walk and for the ids and types of its nodes from t.From to t.To.
func along(t plan.Traverse, w plan.VarID) (bound plan.Traverse, hops, nodes, types plan.Expr) {
	t.EdgeVar = w
	part := func(f plan.WalkFact) plan.Expr { return plan.WalkPart{Var: w, Fact: f, From: t.From, To: t.To} }
	return t, part(plan.WalkHops), part(plan.WalkNodes), part(plan.WalkTypes)
}

// maybe returns an `optional` block. The variables that its clauses are the first to bind become
// optional.
func (p *readPlan) maybe(clauses ...plan.Clause) plan.Optional {
	for _, v := range binders(clauses) {
		if v != plan.NoVar && !slices.Contains(binders(p.q.Read.Match), v) {
			p.q.Read.Vars[v].Optional = true
		}
	}
	return plan.Optional{Match: clauses}
}

// exists returns a block that holds if its clauses have a match.
func exists(clauses ...plan.Clause) plan.Exists { return plan.Exists{Match: clauses} }

// isNull returns a filter that keeps the rows in which an expression is null.
func isNull(e plan.Expr) plan.Filter { return plan.Filter{Cond: plan.NullTest{Expr: e}} }

// notNull returns a filter that keeps the rows in which an expression is not null.
func notNull(e plan.Expr) plan.Filter { return plan.Filter{Cond: plan.NullTest{Expr: e, Not: true}} }

// where returns a filter. A Go value on the right becomes a literal of the left side's kind.
func where(left plan.Expr, op plan.Op, right any) plan.Filter {
	return plan.Filter{Cond: plan.Compare{Op: op, Left: left, Right: expression(right, left), Unless: plan.NoParam}}
}

// text returns a text match with a literal query.
func text(kind plan.TextKind, p plan.Prop, words string) plan.TextMatch {
	return plan.TextMatch{Kind: kind, Prop: p, Query: plan.Lit{Value: value.OfString(words)}}
}

// expression returns x as an expression. A plain value becomes a literal of the same type as the
// expression `beside`.
func expression(x any, beside plan.Expr) plan.Expr {
	if e, ok := x.(plan.Expr); ok {
		return e
	}
	t := value.Of(value.String)
	if p, ok := beside.(plan.Prop); ok {
		t = p.Type.Elem()
	}
	return plan.Lit{Value: literal(x, t)}
}

// id returns the id of a variable's entity.
func id(v plan.VarID) plan.ID { return plan.ID{Var: v} }

// whole returns the whole entity of a variable.
func whole(v plan.VarID) plan.Whole { return plan.Whole{Var: v} }

// count counts the values of e.
func count(e plan.Expr) plan.Agg { return plan.Agg{Func: plan.Count, Arg: e} }

// distinct makes an aggregate count equal values once.
func distinct(a plan.Agg) plan.Agg { a.Distinct = true; return a }

// agg applies the aggregate function f to e.
func agg(f plan.AggFunc, e plan.Expr) plan.Agg { return plan.Agg{Func: f, Arg: e} }
