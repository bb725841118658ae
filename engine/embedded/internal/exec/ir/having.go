package ir

import "github.com/omnigraph-go/omnigraph/gq/plan"

// havingNames checks the conditions on the rows of the result. The function `result` checks an expression of the
// result.
func (b *binder) havingNames(list []plan.Clause, result func(plan.Expr) error) error {
	for _, c := range list {
		b.Step(1)
		switch c := c.(type) {
		case plan.Filter:
			if err := b.condition(c.Cond); err != nil {
				return err
			}
			for _, e := range plan.Operands(plan.Test(c)) {
				if err := result(e); err != nil {
					return err
				}
			}
		case plan.Any, plan.All:
			if err := b.havingNames(plan.Block(c), result); err != nil {
				return err
			}
		default:
			return Mismatch("having contains a clause that is not a condition on columns")
		}
	}
	return nil
}

// having binds the conditions on the rows of the result.
func (b *binder) having() error {
	b.composes = b.Read.Grouped
	defer func() { b.composes = false }()
	for _, c := range b.Read.Having {
		t, err := b.blockTest(c)
		if err != nil {
			return err
		}
		if err := b.checkHaving(t); err != nil {
			return err
		}
		b.Havings = append(b.Havings, t)
	}
	return nil
}

// checkHaving checks that each condition has one value for each row of the result, and keeps the variables
// that it uses.
func (b *binder) checkHaving(t *Test) error {
	for _, inner := range t.Of {
		if err := b.checkHaving(inner); err != nil {
			return err
		}
	}
	if t.Cond == nil {
		return nil
	}
	f := t.Src.(plan.Filter)
	for _, e := range plan.Operands(plan.Test(f)) {
		if b.Read.Grouped && !b.isGrouped(e) {
			return Mismatch("having uses an expression that is neither a returned column nor an aggregate")
		}
		usesRow(e, b.keepVar)
	}
	return nil
}
