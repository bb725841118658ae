package ir

import (
	"fmt"

	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// Block is a bound block of clauses: the match of a read, or of a `not` or `exists` block. The order
// of its clauses has no meaning, except that it breaks ties between equally good steps.
type Block struct {
	Vars  []plan.VarID // the variables of the bindings and traversals, in clause order
	Links []*Link      // the traversals
	Conds []*Cond      // the filters
	Tests []*Test      // the blocks inside this one, except `optional` blocks

	Optionals []*Optional // the `optional` blocks, in source order; only in the match of a read
}

// Link is a bound traversal. Its ends are variables of node types or of reference types, unless the link is general.
type Link struct {
	plan.Traverse
	src plan.Traverse // the traversal in the plan, whose ends may be variables over interfaces
	// Same is true if the link is no traversal, but says that From, a variable over an interface, and To, a
	// variable of a node type, are the same node.
	Same     bool
	narrows  []*Link // the links of the ends that are variables over interfaces
	EdgeType int     // index of the edge type
	OrTypes  []int   // indexes of the further edge types; nil for none
	// general is true if an interface is at an end of an edge type, and the link is a walk or its edge types have different
	// ends. The ends of the link are then the variables of the plan, and the step explore follows it.
	general bool
}

// block binds the clauses of a block.
func (b *binder) block(clauses []plan.Clause) (*Block, error) {
	out := &Block{}
	for _, c := range clauses {
		b.Step(1)
		switch c := c.(type) {
		case plan.Bind:
			out.Vars = append(out.Vars, c.Var)
		case plan.Traverse:
			l := b.walkLinks[c.EdgeVar] // nil unless the traversal binds a walk
			if l == nil {
				var err error
				if l, err = b.link(c); err != nil {
					return nil, err
				}
			}
			out.Links = append(append(out.Links, l), l.narrows...)
			out.Vars = append(out.Vars, c.From, c.To, c.EdgeVar)
			for _, n := range l.narrows {
				out.Vars = append(out.Vars, n.To)
			}
		case plan.Filter:
			if l := b.sameNode(c.Cond, clauses); l != nil {
				out.Links = append(out.Links, l)
				out.Vars = append(out.Vars, l.From, l.To)
				continue
			}
			bound, err := b.cond(c.Cond)
			if err != nil {
				return nil, err
			}
			out.Conds = append(out.Conds, bound)
		case plan.Not, plan.Exists, plan.Any, plan.All:
			t, err := b.blockTest(c)
			if err != nil {
				return nil, err
			}
			out.Tests = append(out.Tests, t)
		case plan.Optional: // see binder.optionals
		}
	}
	return out, nil
}

// link binds a traversal.
func (b *binder) link(c plan.Traverse) (*Link, error) {
	t := b.Schema.Type(plan.Edge, c.Edge)
	if t == nil {
		return nil, Mismatch("there is no edge type %s", c.Edge)
	}
	if general, err := b.isGeneral(c, t); general || err != nil {
		if err != nil {
			return nil, err
		}
		return b.alternatives(&Link{Traverse: c, src: c, EdgeType: t.Index, general: true})
	}
	src := c
	c, narrows, err := b.narrowed(c, t)
	if err != nil {
		return nil, err
	}
	if c.Or != nil {
		return b.alternatives(&Link{Traverse: c, src: src, narrows: narrows, EdgeType: t.Index})
	}
	if b.Types[c.From].Index != t.From || b.Types[c.To].Index != t.To {
		return nil, Mismatch("edge %s does not lead from %s to %s", t.Name, b.Types[c.From].Name, b.Types[c.To].Name)
	}
	return &Link{Traverse: c, src: src, narrows: narrows, EdgeType: t.Index}, nil
}

// Explores reports whether a link needs the step explore.
func (l *Link) Explores() bool {
	return l.general || l.Walk && (l.OrTypes != nil || l.EdgeVar != plan.NoVar)
}

// IsPlain reports whether a traversal leads from a node to each of its neighbours once, and binds nothing else.
func (l *Link) IsPlain() bool {
	return !l.Same && !l.Walk && l.EdgeVar == plan.NoVar && len(l.narrows) == 0 && !l.general && l.From != l.To
}

// Between returns the link with the variables that replace its ends.
func (l *Link) Between(same []plan.VarID) *Link {
	if same[l.From] == l.From && same[l.To] == l.To {
		return l
	}
	moved := *l
	moved.From, moved.To = same[l.From], same[l.To]
	return &moved
}

// Key returns a text that two links have in common only if they have the same rows.
func (l *Link) Key() string {
	if !l.IsPlain() && (l.Same || l.Walk || l.EdgeVar != plan.NoVar || len(l.narrows) > 0 || l.general) {
		return fmt.Sprintf("link %p", l)
	}
	from, to := l.From, l.To
	if l.Undirected && from > to {
		from, to = to, from
	}
	return fmt.Sprint("link ", l.EdgeType, l.OrTypes, l.Undirected, " ", from, " ", to)
}
