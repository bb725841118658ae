package planner

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
)

// traverse returns the part that all steps for a link have in common. If the argument `back` is
// true, the steps follow the edges backwards.
func (pl *planner) traverse(s *scope, l *ir.Link, back bool) exec.Traversal {
	tr := exec.Traversal{Link: l, Back: back, Near: l.From, Far: l.To, Vars: slices.Clip(s.vars), ID: pl.frame()}
	if back {
		tr.Near, tr.Far = l.To, l.From
	}
	return tr
}

// addExpand adds the step that binds the other end of a traversal.
func (pl *planner) addExpand(s *scope, l *ir.Link, back bool) {
	tr := pl.traverse(s, l, back)
	switch {
	case l.Same:
		s.pipe.Steps = append(s.pipe.Steps, &exec.Identify{Traversal: tr, Both: false})
	case l.Explores():
		s.pipe.Steps = append(s.pipe.Steps, pl.explore(tr, false))
	case tr.Walk:
		s.pipe.Steps = append(s.pipe.Steps, &exec.Reach{Traversal: tr, Both: false, Set: 0})
	default:
		s.pipe.Steps = append(s.pipe.Steps, &exec.Expand{Traversal: tr})
	}
	s.bind(tr.Far)
	s.bind(l.EdgeVar)
}

// check returns the step for a traversal with both ends bound.
func (pl *planner) check(s *scope, l *ir.Link) exec.Step {
	tr := pl.traverse(s, l, false)
	switch {
	case l.Same:
		return &exec.Identify{Traversal: tr, Both: true}
	case l.Explores():
		return pl.explore(tr, true)
	case tr.Walk:
		return &exec.Reach{Traversal: tr, Both: true, Set: pl.frame()}
	case l.OrTypes != nil:
		return &exec.CheckAlternatives{Traversal: tr}
	}
	return &exec.Check{Traversal: tr}
}
