package exec

import "github.com/omnigraph-go/omnigraph/gq/plan"

// block is a bound block of clauses: the match of a read, or of a `not` or `exists` block. The order
// of its clauses has no meaning, except that it breaks ties between equally good steps.
type block struct {
	vars  []plan.VarID // the variables of the bindings and traversals, in clause order
	links []*link      // the traversals
	conds []*cond      // the filters
	tests []*test      // the blocks inside this one, except `optional` blocks

	optionals []*optional // the `optional` blocks, in source order; only in the match of a read
}

// link is a bound traversal. Its ends are variables of node types or of reference types, unless the link is general.
type link struct {
	plan.Traverse
	src plan.Traverse // the traversal in the plan, whose ends may be variables over interfaces
	// same is true if the link is no traversal, but says that From, a variable over an interface, and To, a
	// variable of a node type, are the same node.
	same    bool
	narrows []*link // the links of the ends that are variables over interfaces
	edge    int     // index of the edge type
	or      []int   // indexes of the further edge types; nil for none
	// general is true if an interface is at an end of an edge type, and the link is a walk or its edge types have different
	// ends. The ends of the link are then the variables of the plan, and the step explore follows it.
	general bool
}

// block binds the clauses of a block.
func (b *binder) block(clauses []plan.Clause) (*block, error) {
	out := &block{}
	for _, c := range clauses {
		b.step(1)
		switch c := c.(type) {
		case plan.Bind:
			out.vars = append(out.vars, c.Var)
		case plan.Traverse:
			l := b.walkLinks[c.EdgeVar] // nil unless the traversal binds a walk
			if l == nil {
				var err error
				if l, err = b.link(c); err != nil {
					return nil, err
				}
			}
			out.links = append(append(out.links, l), l.narrows...)
			out.vars = append(out.vars, c.From, c.To, c.EdgeVar)
			for _, n := range l.narrows {
				out.vars = append(out.vars, n.To)
			}
		case plan.Filter:
			if l := b.sameNode(c.Cond, clauses); l != nil {
				out.links = append(out.links, l)
				out.vars = append(out.vars, l.From, l.To)
				continue
			}
			bound, err := b.cond(c.Cond)
			if err != nil {
				return nil, err
			}
			out.conds = append(out.conds, bound)
		case plan.Not, plan.Exists, plan.Any, plan.All:
			t, err := b.blockTest(c)
			if err != nil {
				return nil, err
			}
			out.tests = append(out.tests, t)
		case plan.Optional: // see binder.optionals
		}
	}
	return out, nil
}

// link binds a traversal.
func (b *binder) link(c plan.Traverse) (*link, error) {
	t := b.Schema.Type(plan.Edge, c.Edge)
	if t == nil {
		return nil, mismatch("there is no edge type %s", c.Edge)
	}
	if general, err := b.isGeneral(c, t); general || err != nil {
		if err != nil {
			return nil, err
		}
		return b.alternatives(&link{Traverse: c, src: c, edge: t.Index, general: true})
	}
	src := c
	c, narrows, err := b.narrowed(c, t)
	if err != nil {
		return nil, err
	}
	if c.Or != nil {
		return b.alternatives(&link{Traverse: c, src: src, narrows: narrows, edge: t.Index})
	}
	if b.types[c.From].Index != t.From || b.types[c.To].Index != t.To {
		return nil, mismatch("edge %s does not lead from %s to %s", t.Name, b.types[c.From].Name, b.types[c.To].Name)
	}
	return &link{Traverse: c, src: src, narrows: narrows, edge: t.Index}, nil
}
