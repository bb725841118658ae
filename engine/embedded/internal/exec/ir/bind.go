package ir

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// returned records the properties that sorting and returning the rows will read.
func (b *binder) returned() {
	b.Reads = make([][]int, b.Width())
	read := func(e *Expr) {
		if e != nil && e.Kind == ExprProp && !b.IsShared(e.Var) && !slices.Contains(b.Reads[e.Var], e.Prop) {
			b.Reads[e.Var] = append(b.Reads[e.Var], e.Prop)
		}
	}
	for _, c := range b.Columns {
		read(c.Value)
		for _, f := range c.FieldExprs {
			read(f)
		}
	}
	for _, o := range b.Order {
		read(o.Expr)
	}
}

// binder resolves the names of a read in a schema and checks its types. It does not depend on the
// data.
type binder struct {
	*Query
	*Meter
	ranks bool // expressions may use scores; false inside a condition
	// composes is true while the binder binds a column or a sort key that may compute with
	// aggregates.
	composes bool

	textsOf   map[string][]int // positions in Query.Texts, by the key of a match
	groupedBy map[string][]int // positions in Query.Columns, by the key of an expression
	// extended is true if the read is a copy of that of the plan, to which the binder adds variables.
	extended bool

	walkLinks map[plan.VarID]*Link // the traversals that bind walks, by the variable of the walk
}

// BindRead binds a read to a schema. It ends with a panic when the meter does; see [CatchEnd]. The other errors are a
// *engine.SchemaMismatch, a *engine.Unsupported and a *engine.TooLarge.
func BindRead(q *plan.Query, s *schema.Schema, work *Meter) (*Query, error) {
	bound := &Query{Read: q.Read, Params: q.Params, Schema: s}
	if err := (&binder{Query: bound, Meter: work}).bind(); err != nil {
		return nil, err
	}
	bound.nameSubqueries(q)
	return bound, nil
}

// bind resolves the names of the read and checks its types.
func (b *binder) bind() error {
	if b.Read == nil {
		return Mismatch("the query is not a read")
	}
	for _, v := range b.Read.Vars {
		var over *schema.Interface
		if v.Entity == plan.Interface {
			var err error
			if over, err = b.interfaceOf(v); err != nil {
				return err
			}
			b.Types, b.Over = append(b.Types, over.Type), append(b.Over, over)
			continue
		}
		b.Over = append(b.Over, nil)
		if v.Entity == plan.Walk {
			b.Types = append(b.Types, WalkType)
			continue
		}
		t := b.Schema.Type(v.Entity, v.Type)
		if t == nil {
			return Mismatch("there is no %s type %s", v.Entity, v.Type)
		}
		b.Types = append(b.Types, t)
	}
	if err := b.validate(); err != nil {
		return err
	}
	var err error
	if b.Match, err = b.block(withRankFilters(b.Read)); err != nil {
		return err
	}
	if err := b.optionals(b.Match, b.Read.Match, nil); err != nil {
		return err
	}
	b.ranks = true
	if err := b.projections(); err != nil {
		return err
	}
	for i := range b.Columns {
		if c := &b.Columns[i]; c.Composed && !b.isGrouped(c.Expr) {
			return Mismatch("the column %s computes with aggregates and with a value by which the query does not group its rows", c.Name)
		}
	}
	if err := b.having(); err != nil {
		return err
	}
	if err := b.orders(); err != nil {
		return err
	}
	b.dropping()
	b.groupKey()
	b.returned()
	return nil
}

// keepVar records that the result needs the ordinals of a variable.
func (b *binder) keepVar(v plan.VarID) {
	if !slices.Contains(b.Keep, v) {
		b.Keep = append(b.Keep, v)
	}
}

// projections binds the returned columns.
func (b *binder) projections() error {
	for _, c := range b.Read.Columns {
		b.Step(1)
		out := Projection{Column: c, Agg: -1, Rows: -1}
		var err error
		switch e := c.Expr.(type) {
		case plan.Agg:
			if out, err = b.collectedNodes(out, e); err == nil && out.FieldExprs == nil {
				out.Agg, err = b.aggregate(e, plan.NoVar)
			}
		case plan.Whole, plan.EndNode:
			out, err = b.recordColumn(c, b.keepVar)
		case plan.BlockRows:
			if b.Read.Grouped {
				return Mismatch("the column %s consists of records, and the query groups its rows", c.Name)
			}
			out, err = b.recordColumn(c, b.keepVar)
		default:
			if out.Composed = plan.HasAggregate(e); out.Composed {
				out.Value, err = b.composed(e)
				break
			}
			uses(e, b.keepVar)
			out.Value, err = b.expr(e)
		}
		if err != nil {
			return err
		}
		b.Columns = append(b.Columns, out)
	}
	return nil
}

// orders binds the sort keys.
func (b *binder) orders() error {
	for _, o := range b.Read.Order {
		b.Step(1)
		key := orderKey{Agg: -1, Desc: o.Desc}
		if agg, ok := o.Expr.(plan.Agg); ok {
			n, err := b.aggregate(agg, plan.NoVar)
			if err != nil {
				return err
			}
			key.Agg = n
			b.Order = append(b.Order, key)
			continue
		}
		if b.Read.Grouped && !b.isGrouped(o.Expr) {
			return Mismatch("the query orders by an expression that is neither a returned column nor an aggregate")
		}
		ex, err := b.composed(o.Expr)
		if err != nil {
			return err
		}
		key.Expr = ex
		b.Order = append(b.Order, key)
	}
	if b.Read.Grouped && len(b.Fusions) == 0 {
		return nil
	}
	for _, v := range b.Read.Ties {
		if v < 0 || int(v) >= len(b.Types) {
			return Mismatch("there is no variable %d", v)
		}
		b.keepVar(v)
		if !b.Read.Vars[v].Optional {
			continue
		}
		ex, err := b.tieExpr(v)
		if err != nil {
			return err
		}
		if b.TieIDs == nil {
			b.TieIDs = map[plan.VarID]*Expr{}
		}
		b.TieIDs[v] = ex
	}
	return nil
}

// isGrouped reports whether an expression has one value in each group: it holds only constants,
// expressions by which the read groups its rows, and aggregates.
func (b *binder) isGrouped(e plan.Expr) bool {
	switch e := e.(type) {
	case plan.Agg, plan.Lit, plan.ParamRef, plan.Now:
		return true
	case plan.Holds:
		if len(e.Outer) == 0 {
			return true
		}
	case plan.BlockAgg, plan.BlockRows:
		if _, outer, _ := plan.Subquery(e); len(outer) == 0 {
			return true
		}
	}
	if b.groups(e) {
		return true
	}
	if id, ok := e.(plan.ID); ok && b.groups(plan.Whole(id)) {
		return true // rows with equal nodes have equal ids
	}
	parts := plan.Operands(e)
	return len(parts) > 0 && !slices.ContainsFunc(parts, func(p plan.Expr) bool { return !b.isGrouped(p) })
}

// groups reports whether the read groups its rows by an expression.
func (b *binder) groups(e plan.Expr) bool {
	if b.groupedBy == nil {
		b.groupedBy = map[string][]int{}
		for i, c := range b.Columns {
			b.Step(1)
			if key := keyOf(c.Expr); c.IsKey() {
				b.groupedBy[key] = append(b.groupedBy[key], i)
			}
		}
	}
	return slices.ContainsFunc(b.groupedBy[keyOf(e)], func(i int) bool {
		b.Step(1)
		return SameExpr(b.Columns[i].Expr, e)
	})
}

// collectedNodes binds a column if it is a list of nodes. Any other column stays as it is.
func (b *binder) collectedNodes(c Projection, e plan.Agg) (Projection, error) {
	of, nodes := e.CollectedNodes()
	if nodes != (c.Fields != nil) {
		return c, Mismatch("the fields of %s do not fit its expression", c.Name)
	}
	if !nodes {
		return c, nil
	}
	one := c.Column
	one.Expr = of
	record, err := b.recordColumn(one, b.keepVar)
	if err != nil {
		return c, err
	}
	c.FieldExprs = record.FieldExprs
	v := plan.NoVar
	uses(of, func(used plan.VarID) { v = used })
	c.Agg, err = b.aggregate(e, v)
	return c, err
}

// aggregate binds an aggregate and returns its position in b.aggs. Equal aggregates share a
// position. For `nodes` see the field of the aggregate.
func (b *binder) aggregate(e plan.Agg, nodes plan.VarID) (int, error) {
	for i := range b.Aggs {
		b.Step(1)
		if b.Aggs[i].Nodes == nodes && SameExpr(b.Aggs[i].Src, e) {
			return i, nil
		}
	}
	row := e.Func.Row()
	a := Aggregate{Src: e, Type: row.Result(value.Type{}), Slot: b.Vecs, Nodes: nodes}
	b.Vecs++
	a.Bound = plan.NoVar
	if e.Distinct && !row.Distinct {
		return 0, Mismatch("%s does not take distinct", e.Func)
	}
	w, whole := e.Arg.(plan.Whole)
	counts := whole && e.Func == plan.Count && !e.Distinct
	if e.Func == plan.Collect {
		for _, v := range b.Read.Ties {
			b.keepVar(v)
		}
	}
	switch {
	case nodes != plan.NoVar:
	case counts && b.Read.Vars[w.Var].Optional:
		a.Bound = w.Var
		b.keepVar(w.Var)
	case counts:
		a.Rows = true
	default:
		uses(e.Arg, b.keepVar)
		var err error
		if a.Expr, err = b.expr(e.Arg); err != nil {
			return 0, err
		}
		if !row.Arg.Accepts(a.Expr.Type) || whole && !row.Arg.Nodes {
			return 0, Mismatch("%s does not accept a value of type %s", e.Func, a.Expr.Type)
		}
		a.Type = row.Result(a.Expr.Type)
	}
	b.Aggs = append(b.Aggs, a)
	return len(b.Aggs) - 1, nil
}
