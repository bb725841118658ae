package ir

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Subquery is a bound subquery. The steps of its block run for all rows of a frame at once. Each
// row that the steps yield has a marker: the number of the frame's row for which the steps found
// it. The marker serves as the number of the group in an aggregate.
type Subquery struct {
	Src   plan.Expr    // a BlockAgg or a BlockRows
	Name  string       // the text of the subquery, for errors
	Block *Block       // its clauses
	Outer []plan.VarID // variables that are bound outside of the block
	Agg   Aggregate    // of a BlockAgg
	*BlockRows
}

// subqueryNames is the maximum length, in bytes, of the text of a subquery in an error.
const subqueryNames = 80

// subquery binds a subquery. The result is its position in Query.Subqueries.
func (b *binder) subquery(e plan.Expr) (_ int, err error) {
	ranks, composes := b.ranks, b.composes
	b.ranks, b.composes = false, false
	defer func() { b.ranks, b.composes = ranks, composes }()
	match, outer, _ := plan.Subquery(e)
	s := &Subquery{Src: e, Outer: outer}
	if s.Block, err = b.block(match); err != nil {
		return 0, err
	}
	if err := b.optionals(s.Block, match, outer); err != nil {
		return 0, err
	}
	switch e := e.(type) {
	case plan.BlockAgg:
		err = b.blockAgg(s, e)
	case plan.BlockRows:
		err = b.blockRows(s, e)
	}
	b.Subqueries = append(b.Subqueries, s)
	b.Computes = true
	return len(b.Subqueries) - 1, err
}

// blockAgg binds an aggregate over the matches of a block.
func (b *binder) blockAgg(s *Subquery, e plan.BlockAgg) error {
	row := e.Func.Row()
	s.Agg = Aggregate{Src: plan.Agg{Func: e.Func, Distinct: e.Distinct, Arg: e.Arg}, Bound: plan.NoVar, Nodes: plan.NoVar, Type: row.Result(value.Type{})}
	w, whole := e.Arg.(plan.Whole)
	counts := whole && e.Func == plan.Count && !e.Distinct
	switch {
	case e.Arg == nil:
		s.Agg.Rows = true
		return nil
	case counts && b.Read.Vars[w.Var].Optional:
		s.Agg.Bound = w.Var
		return nil
	case counts:
		s.Agg.Rows = true
		return nil
	}
	var err error
	if s.Agg.Expr, err = b.expr(e.Arg); err != nil {
		return err
	}
	if !row.Arg.Accepts(s.Agg.Expr.Type) {
		return Mismatch("%s does not accept a value of type %s", e.Func, s.Agg.Expr.Type)
	}
	s.Agg.Type = row.Result(s.Agg.Expr.Type)
	return nil
}

// checkSubquery checks the names in a subquery. The block may use only the variables that it binds or that the
// plan lists as bound outside.
func (b *binder) checkSubquery(e plan.Expr) error {
	match, list, _ := plan.Subquery(e)
	bound := map[plan.VarID]bool{}
	for _, v := range list {
		if v < 0 || int(v) >= len(b.Types) {
			return Mismatch("there is no variable %d", v)
		}
		bound[v] = true
	}
	if err := b.matchClauses(match, bound); err != nil {
		return err
	}
	for _, c := range match {
		if err := b.closed(c, bound); err != nil {
			return err
		}
	}
	for _, r := range plan.Results(e) {
		if err := b.checkNames(r); err != nil {
			return err
		}
		var err error
		uses(r, func(v plan.VarID) {
			if !bound[v] {
				err = Mismatch("a subquery returns $%s, which is not bound there", b.Read.Vars[v].Name)
			}
		})
		if err != nil {
			return err
		}
	}
	switch e := e.(type) {
	case plan.BlockAgg:
		row := e.Func.Row()
		switch {
		case row == nil || !row.Block:
			return Mismatch("there is no aggregate %d over a block", uint8(e.Func))
		case e.Arg == nil && (e.Func != plan.Count || e.Distinct), e.Distinct && !row.Distinct:
			return Mismatch("the block of %s returns no value, or a distinct one", e.Func)
		}
	case plan.BlockRows:
		if e.Limit < 0 || len(e.Columns) == 0 {
			return Mismatch("a block has no columns, or its limit is negative")
		}
		for _, v := range e.Ties {
			if v < 0 || int(v) >= len(b.Types) || !bound[v] || b.Types[v].Entity == plan.Walk {
				return Mismatch("a block breaks ties by variable %d, which is not bound there", v)
			}
		}
		for _, c := range e.Columns {
			b.Step(1)
			if _, rows := c.Expr.(plan.BlockRows); rows != (c.Fields != nil) {
				if !isNode(c.Expr) || c.Fields == nil {
					return Mismatch("the fields of %s do not fit its expression", c.Name)
				}
			}
		}
	}
	return nil
}

// checkMember checks the names in a field of a record.
func (b *binder) checkMember(e plan.Member) error {
	rows, ok := e.Of.(plan.BlockRows)
	if !ok || !rows.First {
		return Mismatch("the field %s is not one of a record", e.Name)
	}
	if !slices.ContainsFunc(rows.Columns, func(c plan.Column) bool { return c.Name == e.Name && c.Fields == nil }) {
		return Mismatch("a record has no field %s that is a value", e.Name)
	}
	return b.checkSubquery(rows)
}
