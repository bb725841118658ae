package ir

import "github.com/omnigraph-go/omnigraph/gq/plan"

// Test is a bound condition that keeps or removes a row as a whole: a block, or a filter inside an `any`
// or `all` block.
type Test struct {
	Src   plan.Clause // a Filter, Not, Exists, Any or All
	Drops bool        // whether the arguments of a run can drop the clause
	Cond  *Cond       // of a Filter
	Block *Block      // of a Not or Exists
	Of    []*Test     // of an Any or All
}

// blockTest binds a filter or a block as a test.
func (b *binder) blockTest(c plan.Clause) (*Test, error) {
	b.Step(1)
	out := &Test{Src: c, Drops: plan.Dropped(c, nil)}
	var err error
	switch c := c.(type) {
	case plan.Filter:
		out.Cond, err = b.cond(c.Cond)
	case plan.Not, plan.Exists:
		out.Block, err = b.block(plan.Block(c))
	case plan.Any, plan.All:
		for _, inner := range plan.Block(c) {
			t, err := b.blockTest(inner)
			if err != nil {
				return nil, err
			}
			out.Of = append(out.Of, t)
		}
	case plan.Bind, plan.Traverse, plan.Optional:
		err = Mismatch("an any or all block contains a clause that binds a variable")
	}
	return out, err
}
