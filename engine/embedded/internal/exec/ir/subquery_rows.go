package ir

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// BlockRows is the part of a bound subquery that only a `first` or `collect` block has.
type BlockRows struct {
	First   bool
	Limit   int          // maximum number of records for one row
	Columns []Projection // the fields of a record
	Order   []orderKey   // sort keys, the first one first
	Ties    []tie        // the variables that break ties
	Keep    []plan.VarID // variables whose ordinals the records need
}

// tie is a variable whose ids break ties between the rows of a block.
type tie struct {
	Var plan.VarID
	ID  *Expr // the id, if the variable is optional; else nil
}

// blockRows binds the columns and the order of a `first` or `collect` block.
func (b *binder) blockRows(s *Subquery, e plan.BlockRows) error {
	s.BlockRows = &BlockRows{First: e.First, Limit: int(min(e.Limit, plan.MaxNested+1))}
	if e.First {
		s.Limit = 1
	}
	keep := func(v plan.VarID) {
		if !slices.Contains(s.Keep, v) {
			s.Keep = append(s.Keep, v)
		}
	}
	for _, c := range e.Columns {
		out, err := b.recordColumn(c, keep)
		if err != nil {
			return err
		}
		s.Columns = append(s.Columns, out)
	}
	for _, o := range e.Order {
		b.Step(1)
		uses(o.Expr, keep)
		ex, err := b.expr(o.Expr)
		if err != nil {
			return err
		}
		s.Order = append(s.Order, orderKey{Expr: ex, Agg: -1, Desc: o.Desc})
	}
	for _, v := range e.Ties {
		keep(v)
		t := tie{Var: v}
		if b.Read.Vars[v].Optional {
			var err error
			if t.ID, err = b.tieExpr(v); err != nil {
				return err
			}
		}
		s.Ties = append(s.Ties, t)
	}
	return nil
}

// recordColumn binds a column without aggregates. It calls `keep` for each variable that the column
// needs.
func (b *binder) recordColumn(c plan.Column, keep func(plan.VarID)) (out Projection, err error) {
	b.Step(1)
	out = Projection{Column: c, Agg: -1, Rows: -1}
	uses(c.Expr, keep)
	switch e := c.Expr.(type) {
	case plan.BlockRows:
		out.Rows, err = b.subquery(e)
		return out, err
	case plan.Whole:
		if b.IsShared(e.Var) {
			out.Value = b.ref(e)
		} else if out.Value, err = b.expr(plan.ID(e)); err != nil {
			return out, err
		}
		for i, f := range c.Fields {
			src := plan.Expr(plan.ID(e))
			if i > 0 {
				src = plan.Prop{Var: e.Var, Name: f.Name, Type: f.Type}
			}
			ex, err := b.expr(src)
			if err != nil {
				return out, err
			}
			out.FieldExprs = append(out.FieldExprs, ex)
		}
		return out, nil
	case plan.EndNode:
		if out.Value, err = b.expr(e); err == nil {
			out.FieldExprs, err = b.endFields(e)
		}
		return out, err
	}
	out.Value, err = b.expr(c.Expr)
	return out, err
}

// member binds a field of a record. Its block then returns only this field.
func (b *binder) member(e plan.Member, out *Expr) error {
	rows := e.Of.(plan.BlockRows)
	at := slices.IndexFunc(rows.Columns, func(c plan.Column) bool { return c.Name == e.Name })
	rows.Columns = rows.Columns[at : at+1]
	var err error
	if out.Subquery, err = b.subquery(rows); err != nil {
		return err
	}
	out.Kind, out.Type = ExprMember, b.Subqueries[out.Subquery].Columns[0].Value.Type.Optional()
	if out.Type.Kind != e.Type.Kind || out.Type.List != e.Type.List {
		return Mismatch("the field %s is of type %s, expected %s", e.Name, out.Type, e.Type)
	}
	return nil
}

// RowBytes returns the bytes that each gathered row takes.
func (s *BlockRows) RowBytes() int { return 4 * (len(s.Keep) + 2) }
