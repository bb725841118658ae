package planner

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// connectGain is the share of the cost of the usual steps that connected steps may cost.
const connectGain = 0.5

// costlyRows is the cost of the usual steps, in rows, from which the planner also tries steps from each variable. A trial
// costs about as much as the first plan.
const costlyRows = 20_000

// mostStarts is the largest number of variables from which the planner tries steps.
const mostStarts = 16

// connected replaces the steps of the body by steps that bind each variable over a traversal from the variables before,
// where there is one, if those cost less. The usual choice of the next step is greedy: it begins at every node that is
// found by an index, and then makes a row for each combination of the nodes that it reached from each side. In a cycle it
// also prefers many small steps to the traversal that closes the cycle soon.
func (pl *planner) connected() error {
	if !pl.Read.Grouped {
		return nil
	}
	if startsAgain(pl.Body) {
		if err := pl.connectedFrom(plan.NoVar); err != nil {
			return err
		}
	}
	nodes := pl.nodesOf(pl.Match)
	if len(pl.Match.Links) < len(nodes) || len(nodes) > mostStarts {
		return nil // without a cycle, the order matters less
	}
	for _, v := range nodes {
		if costOf(pl.Body) < costlyRows {
			return nil
		}
		if err := pl.connectedFrom(v); err != nil {
			return err
		}
	}
	return nil
}

// nodesOf returns the variables of a block that stand for nodes, each once.
func (pl *planner) nodesOf(b *ir.Block) []plan.VarID {
	var nodes []plan.VarID
	for _, v := range b.Vars {
		if v != plan.NoVar && pl.Types[v].Entity == plan.Node && !slices.Contains(nodes, v) {
			nodes = append(nodes, v)
		}
	}
	return nodes
}

// expandedRow is the cost of a row that a traversal makes and a later step removes.
const expandedRow = 0.1

// following estimates the share of the rows of a traversal to the variable `to` that remain after the steps which can
// follow at once: traversals that lead to at most one node, and checks of traversals between bound variables.
func (pl *planner) following(s *scope, l *ir.Link, to plan.VarID) float64 {
	share, with := 1.0, []plan.VarID{to}
	bound := func(v plan.VarID) bool { return s.bound(v) || slices.Contains(with, v) }
	done := []*ir.Link{l}
	for i := 0; i < len(s.links); i++ {
		next := s.links[i]
		pl.Step(1)
		if slices.Contains(done, next) || !bound(next.From) && !bound(next.To) {
			continue
		}
		if bound(next.From) && bound(next.To) {
			share *= pl.fanout(next, false) / max(1, float64(pl.live(next.To)))
			done = append(done, next)
			continue
		}
		far, back := next.To, bound(next.To)
		if back {
			far = next.From
		}
		if n := pl.fanout(next, back); n <= 1 {
			share *= n * pl.accessPath(s, far).share
			with, done = append(with, far), append(done, next)
			i = -1 // the variable may close other traversals
		}
	}
	return share
}

// connectedFrom replaces the steps of the body by connected steps that begin at a variable, or at any if it is NoVar, if
// those cost less.
func (pl *planner) connectedFrom(start plan.VarID) error {
	was := *pl.Arrangement
	s := pl.scope(pl.Match, nil)
	s.connected, s.start = true, start
	p, err := pl.pipeIn(pl.Match, s)
	if err != nil {
		return err
	}
	if costOf(p) >= connectGain*costOf(was.Body) {
		*pl.Arrangement = was
		return nil
	}
	pl.Body = p
	return nil
}

// startsAgain reports whether a step after the first one finds nodes in another way than over a traversal.
func startsAgain(p *exec.Pipe) bool {
	return len(p.Steps) > 1 && slices.ContainsFunc(p.Steps[1:], func(s exec.Step) bool {
		switch s.(type) {
		case *exec.Scan, *exec.Lookup, *exec.Probe, *exec.Sorted:
			return true
		}
		return false
	})
}

// isOpen reports whether a traversal joins a bound variable with an unbound one.
func (s *scope) isOpen() bool {
	return slices.ContainsFunc(s.links, func(l *ir.Link) bool {
		return l.From != plan.NoVar && s.bound(l.From) != s.bound(l.To)
	})
}
