package ir

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// Optional is a bound `optional` block, with the conditions of the match that wait for it.
type Optional struct {
	Block *Block
	Binds []plan.VarID // variables that the block binds; they are null in a row without a match
	Conds []*Cond      // filters outside of the block that use its variables and those of no later block
	Tests []*Test      // blocks outside of the block that do so
}

// optionals binds the `optional` blocks among the clauses of a block; that block is the match of
// the read or of a subquery. A condition of the block that uses optional variables moves to the
// last `optional` block that binds one of these variables. The list `outer` has the variables that
// are bound outside of the block.
func (b *binder) optionals(into *Block, clauses []plan.Clause, outer []plan.VarID) error {
	last := map[plan.VarID]int{} // by optional variable: the number of its block
	for _, c := range clauses {
		o, ok := c.(plan.Optional)
		if !ok {
			continue
		}
		inner, err := b.block(o.Match)
		if err != nil {
			return err
		}
		bound := &Optional{Block: inner}
		for _, v := range inner.Vars {
			if v == plan.NoVar || !b.Read.Vars[v].Optional || slices.Contains(outer, v) {
				continue
			}
			if _, earlier := last[v]; !earlier {
				last[v] = len(into.Optionals)
				bound.Binds = append(bound.Binds, v)
			}
		}
		into.Optionals = append(into.Optionals, bound)
	}
	if len(last) == 0 {
		return nil
	}
	conds, tests := into.Conds, into.Tests
	into.Conds, into.Tests = nil, nil
	for _, c := range conds {
		if at := b.latest(last, c.Vars); at >= 0 {
			into.Optionals[at].Conds = append(into.Optionals[at].Conds, c)
		} else {
			into.Conds = append(into.Conds, c)
		}
	}
	for _, t := range tests {
		if at := b.latest(last, b.mentions(nil, t)); at >= 0 {
			into.Optionals[at].Tests = append(into.Optionals[at].Tests, t)
		} else {
			into.Tests = append(into.Tests, t)
		}
	}
	return nil
}

// latest returns the greatest number that `last` has for one of the variables, or -1.
func (b *binder) latest(last map[plan.VarID]int, vars []plan.VarID) int {
	at := -1
	for _, v := range vars {
		b.Step(1)
		if n, ok := last[v]; ok {
			at = max(at, n)
		}
	}
	return at
}

// mentions appends the variables of a test to `vars`, including the variables in its blocks.
func (b *binder) mentions(vars []plan.VarID, t *Test) []plan.VarID {
	b.Step(1)
	if t.Cond != nil {
		vars = append(vars, t.Cond.Vars...)
	}
	for _, inner := range t.Of {
		vars = b.mentions(vars, inner)
	}
	if t.Block == nil {
		return vars
	}
	vars = append(vars, t.Block.Vars...)
	for _, c := range t.Block.Conds {
		vars = append(vars, c.Vars...)
	}
	for _, inner := range t.Block.Tests {
		vars = b.mentions(vars, inner)
	}
	return vars
}
