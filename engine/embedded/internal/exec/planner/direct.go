package planner

import (
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// firstLookup finds out whether the read begins with a lookup by an argument.
func (pl *planner) firstLookup() (k exec.FirstLookup) {
	l, ok := pl.Body.Steps[0].(*exec.Lookup)
	if !ok || l.Ahead == nil {
		return exec.FirstLookup{}
	}
	id, ok := l.Exprs[0].Src.(plan.ParamRef)
	if !ok || l.Exprs[0].Form != ir.PlainForm {
		return exec.FirstLookup{}
	}
	l.Early = true
	k = exec.FirstLookup{Lookup: l, Node: pl.Types[l.Var].Index, Param: id.Index}
	k.Direct = len(pl.Body.Steps) == 1 && !pl.Read.Grouped && len(pl.Read.Having) == 0 && len(pl.Fusions)+len(pl.Drops)+len(pl.Texts)+len(pl.Lists)+len(pl.Patterns) == 0
	k.Single = k.Direct
	property := func(e *ir.Expr) bool { return e != nil && (e.Kind == ir.ExprProp || e.Kind == ir.ExprID) }
	for i := range pl.Columns {
		c := &pl.Columns[i]
		k.Direct = k.Direct && property(c.Value) && c.FieldExprs == nil && c.Agg < 0 && !c.Composed
		k.Single = k.Single && k.Direct && c.Value.Kind == ir.ExprProp && !c.Value.Optional && !c.Value.Type.List
	}
	for _, o := range pl.Order {
		k.Direct = k.Direct && property(o.Expr)
	}
	k.Single = k.Single && k.Direct
	return k
}
