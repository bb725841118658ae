package exec

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// binder resolves the names of a read in a schema and checks its types. It does not depend on the
// data.
type binder struct {
	*query
	*meter
	ranks bool // expressions may use scores; false inside a condition
	// composes is true while the binder binds a column or a sort key that may compute with
	// aggregates.
	composes bool

	textsOf   map[string][]int // positions in query.texts, by the key of a match
	groupedBy map[string][]int // positions in query.columns, by the key of an expression
	// extended is true if the read is a copy of that of the plan, to which the binder adds variables.
	extended bool

	walkLinks map[plan.VarID]*link // the traversals that bind walks, by the variable of the walk
}

// bindRead binds a read to a schema. It ends with a panic when the meter does; see [catchEnd]. The other errors are a
// *engine.SchemaMismatch, a *engine.Unsupported and a *engine.TooLarge.
func bindRead(q *plan.Query, s *version.Schema, work *meter) (*query, error) {
	bound := &query{read: q.Read, params: q.Params, Schema: s}
	if err := (&binder{query: bound, meter: work}).bind(); err != nil {
		return nil, err
	}
	bound.nameSubqueries(q)
	return bound, nil
}

// bind resolves the names of the read and checks its types.
func (b *binder) bind() error {
	if b.read == nil {
		return mismatch("the query is not a read")
	}
	for _, v := range b.read.Vars {
		var over *version.Interface
		if v.Entity == plan.Interface {
			var err error
			if over, err = b.interfaceOf(v); err != nil {
				return err
			}
			b.types, b.over = append(b.types, over.Type), append(b.over, over)
			continue
		}
		b.over = append(b.over, nil)
		if v.Entity == plan.Walk {
			b.types = append(b.types, walkType)
			continue
		}
		t := b.Schema.Type(v.Entity, v.Type)
		if t == nil {
			return mismatch("there is no %s type %s", v.Entity, v.Type)
		}
		b.types = append(b.types, t)
	}
	if err := b.shape(); err != nil {
		return err
	}
	var err error
	if b.match, err = b.block(withRankFilters(b.read)); err != nil {
		return err
	}
	if err := b.optionals(b.match, b.read.Match, nil); err != nil {
		return err
	}
	b.ranks = true
	if err := b.projections(); err != nil {
		return err
	}
	for i := range b.columns {
		if c := &b.columns[i]; c.composed && !b.isGrouped(c.Expr) {
			return mismatch("the column %s computes with aggregates and with a value by which the query does not group its rows", c.Name)
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
	if !slices.Contains(b.keep, v) {
		b.keep = append(b.keep, v)
	}
}

// projections binds the returned columns.
func (b *binder) projections() error {
	for _, c := range b.read.Columns {
		b.step(1)
		out := projection{Column: c, agg: -1, rows: -1}
		var err error
		switch e := c.Expr.(type) {
		case plan.Agg:
			if out, err = b.collectedNodes(out, e); err == nil && out.fields == nil {
				out.agg, err = b.aggregate(e, plan.NoVar)
			}
		case plan.Whole, plan.EndNode:
			out, err = b.recordColumn(c, b.keepVar)
		case plan.BlockRows:
			if b.read.Grouped {
				return mismatch("the column %s consists of records, and the query groups its rows", c.Name)
			}
			out, err = b.recordColumn(c, b.keepVar)
		default:
			if out.composed = plan.HasAggregate(e); out.composed {
				out.ex, err = b.composed(e)
				break
			}
			uses(e, b.keepVar)
			out.ex, err = b.expr(e)
		}
		if err != nil {
			return err
		}
		b.columns = append(b.columns, out)
	}
	return nil
}

// orders binds the sort keys.
func (b *binder) orders() error {
	for _, o := range b.read.Order {
		b.step(1)
		key := orderKey{agg: -1, desc: o.Desc}
		if agg, ok := o.Expr.(plan.Agg); ok {
			if !b.read.Grouped {
				return mismatch("the query orders by the aggregate %s, but returns no aggregate", agg.Func)
			}
			n, err := b.aggregate(agg, plan.NoVar)
			if err != nil {
				return err
			}
			key.agg = n
			b.order = append(b.order, key)
			continue
		}
		if b.read.Grouped && !b.isGrouped(o.Expr) {
			return mismatch("the query orders by an expression that is neither a returned column nor an aggregate")
		}
		ex, err := b.composed(o.Expr)
		if err != nil {
			return err
		}
		key.ex = ex
		b.order = append(b.order, key)
	}
	if b.read.Grouped && len(b.fusions) == 0 {
		return nil
	}
	for _, v := range b.read.Ties {
		if v < 0 || int(v) >= len(b.types) {
			return mismatch("there is no variable %d", v)
		}
		b.keepVar(v)
		if !b.read.Vars[v].Optional {
			continue
		}
		ex, err := b.tieExpr(v)
		if err != nil {
			return err
		}
		if b.tieIDs == nil {
			b.tieIDs = map[plan.VarID]*expr{}
		}
		b.tieIDs[v] = ex
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
		for i, c := range b.columns {
			b.step(1)
			if key := keyOf(c.Expr); c.isKey() {
				b.groupedBy[key] = append(b.groupedBy[key], i)
			}
		}
	}
	return slices.ContainsFunc(b.groupedBy[keyOf(e)], func(i int) bool {
		b.step(1)
		return sameExpr(b.columns[i].Expr, e)
	})
}

// collectedNodes binds a column if it is a list of nodes. Any other column stays as it is.
func (b *binder) collectedNodes(c projection, e plan.Agg) (projection, error) {
	of, nodes := e.CollectedNodes()
	if nodes != (c.Fields != nil) {
		return c, mismatch("the fields of %s do not fit its expression", c.Name)
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
	c.fields = record.fields
	v := plan.NoVar
	uses(of, func(used plan.VarID) { v = used })
	c.agg, err = b.aggregate(e, v)
	return c, err
}

// aggregate binds an aggregate and returns its position in b.aggs. Equal aggregates share a
// position. For `nodes` see the field of the aggregate.
func (b *binder) aggregate(e plan.Agg, nodes plan.VarID) (int, error) {
	for i := range b.aggs {
		b.step(1)
		if b.aggs[i].nodes == nodes && sameExpr(b.aggs[i].src, e) {
			return i, nil
		}
	}
	row := e.Func.Row()
	a := aggregate{src: e, typ: row.Result(value.Type{}), slot: b.vecs, nodes: nodes}
	b.vecs++
	a.bound = plan.NoVar
	if e.Distinct && !row.Distinct {
		return 0, mismatch("%s does not take distinct", e.Func)
	}
	w, whole := e.Arg.(plan.Whole)
	counts := whole && e.Func == plan.Count && !e.Distinct
	if e.Func == plan.Collect {
		for _, v := range b.read.Ties {
			b.keepVar(v)
		}
	}
	switch {
	case nodes != plan.NoVar:
	case counts && b.read.Vars[w.Var].Optional:
		a.bound = w.Var
		b.keepVar(w.Var)
	case counts:
		a.rows = true
	default:
		uses(e.Arg, b.keepVar)
		var err error
		if a.ex, err = b.expr(e.Arg); err != nil {
			return 0, err
		}
		if !row.Arg.Accepts(a.ex.typ) || whole && !row.Arg.Nodes {
			return 0, mismatch("%s does not accept a value of type %s", e.Func, a.ex.typ)
		}
		a.typ = row.Result(a.ex.typ)
	}
	b.aggs = append(b.aggs, a)
	return len(b.aggs) - 1, nil
}
