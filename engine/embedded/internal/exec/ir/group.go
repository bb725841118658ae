package ir

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// grouping describes the group key of a program's rows.
type grouping struct {
	Keyed bool       // whether groups have a key
	By    plan.VarID // the only variable that the key depends on, or NoVar
	Whole bool       // rows with equal keys have the same entity of the variable `by`
}

// groupKey analyzes the key of a grouped read.
func (b *binder) groupKey() {
	g := &b.grouping
	g.By = plan.NoVar
	single := true
	var props []int
	for i := range b.Columns {
		c := &b.Columns[i]
		if !c.VariesByGroup() {
			continue
		}
		g.Keyed = true
		by := c.Value.Var
		switch c.Value.Kind {
		case ExprProp, ExprID:
		case ExprApply:
			by = soleVar(c.Value.Src)
		default:
			by = plan.NoVar
		}
		if by != plan.NoVar && (b.Read.Vars[by].Optional || b.IsShared(by)) {
			by = plan.NoVar
		}
		if by == plan.NoVar || g.By != plan.NoVar && g.By != by {
			single = false
			continue
		}
		g.By = by
		if c.Value.Kind == ExprApply {
			continue
		}
		if c.Value.Kind == ExprID {
			g.Whole = true
		} else {
			props = append(props, c.Value.Prop)
		}
	}
	if !single {
		g.By = plan.NoVar
	}
	if g.By == plan.NoVar {
		g.Whole = false
		return
	}
	key := b.Types[g.By].Key
	g.Whole = g.Whole || len(key) > 0 && !slices.ContainsFunc(key, func(p int) bool { return !slices.Contains(props, p) })
}
