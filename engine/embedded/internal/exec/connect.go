package exec

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// connectGain is the share of the cost of the usual steps that connected steps may cost.
const connectGain = 0.5

// connected replaces the steps of the body by steps that bind each variable over a traversal from the variables before,
// where there is one, if those cost less. The usual choice of the next step is greedy: it begins at every node that is
// found by an index, and then makes a row for each combination of the nodes that it reached from each side.
func (pl *planner) connected() error {
	if !pl.read.Grouped || !pl.body.startsAgain() {
		return nil
	}
	was := *pl.arrangement
	s := pl.scope(pl.match, nil)
	s.connected = true
	p, err := pl.pipeIn(pl.match, s)
	if err != nil {
		return err
	}
	if p.cost() >= connectGain*was.body.cost() {
		*pl.arrangement = was
		return nil
	}
	pl.body = p
	return nil
}

// startsAgain reports whether a step after the first one finds nodes in another way than over a traversal.
func (p *pipe) startsAgain() bool {
	return len(p.steps) > 1 && slices.ContainsFunc(p.steps[1:], func(s step) bool {
		switch s.(type) {
		case *scan, *lookup, *probe, *sorted:
			return true
		}
		return false
	})
}

// isOpen reports whether a traversal joins a bound variable with an unbound one.
func (s *scope) isOpen() bool {
	return slices.ContainsFunc(s.links, func(l *link) bool {
		return l.From != plan.NoVar && s.bound(l.From) != s.bound(l.To)
	})
}
