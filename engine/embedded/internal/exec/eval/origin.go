package eval

import (
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// origins finds the facts of commits.
type origins struct {
	of              *version.Origins // nil if no commit is known
	makers, changes found
	proposals       func(number uint32) string // see ancestry.History.Proposals; nil until it is asked for
	number          uint32                     // the commit for which proposals was called last
	proposal        string                     // what it returned
}

// found has the facts of a commit. It keeps those of the last one, because rows that lie together often have the same commit.
type found struct {
	number uint32 // of the last commit; 0 for none
	last   version.Origin
	known  bool // `last` is that of the commit
}

// find returns the facts of a commit.
func (f *found) find(of *version.Origins, number uint32) (*version.Origin, bool) {
	if number == 0 || of == nil {
		return nil, false
	}
	if number != f.number {
		f.number = number
		f.last, f.known = of.Origin(number)
	}
	return &f.last, f.known
}

// evalOrigin evaluates a fact about the origin of a variable's entities for the rows of a frame. All facts are null for an entity that
// the transaction has changed which reads it.
func (ev *Evaluator) evalOrigin(e *ir.Expr, f *Frame, vec *column.Vec) {
	vec.Reset(e.Type, f.N)
	s := ev.Shared(e.Var)
	table := ev.Tables[e.Var]
	for i, ord := range f.Cols[e.Var][:f.N] {
		if s != nil {
			var k int
			k, ord = s.place(ord)
			table = s.Tables[k]
		}
		stamp := table.Stamp(ord)
		vec.Set(i, ev.originFact(stamp.Made, stamp.Changed, e.Fact))
	}
}

// originFact returns a fact about the origin of an entity from the numbers of the commits that made and changed it.
func (ev *Evaluator) originFact(made, changed uint32, fact plan.OriginFact) value.Value {
	o, ok := ev.changes.find(ev.of, changed)
	switch {
	case fact.Made() && ok:
		o, ok = ev.makers.find(ev.of, made)
	case fact == plan.OriginProposal && ok:
		if ev.proposals == nil {
			ev.proposals, ev.origins.number = ev.of.Proposals(ev.Snap.Commit.ID), 0
		}
		if changed != ev.origins.number {
			ev.origins.number, ev.proposal = changed, ev.proposals(changed)
		}
		return text(ev.proposal)
	}
	if !ok {
		return value.Null
	}
	return factOf(o, fact)
}

// factOf returns a fact of a commit other than its proposal.
func factOf(o *version.Origin, f plan.OriginFact) value.Value {
	switch f {
	case plan.OriginAt, plan.OriginMadeAt:
		return value.OfDateTime(value.DateTimeOf(o.Time))
	case plan.OriginActor, plan.OriginMadeBy:
		return text(o.Actor)
	case plan.OriginSource:
		return text(o.Source)
	case plan.OriginTool:
		return text(o.Tool)
	case plan.OriginProposal:
	}
	return value.Null
}

// text returns a text, or null for an empty one.
func text(s string) value.Value {
	if s == "" {
		return value.Null
	}
	return value.OfString(s)
}

// Origins returns the commits in the origins of rows, for an evaluator that helps this one.
func (ev *Evaluator) Origins() *version.Origins { return ev.of }
