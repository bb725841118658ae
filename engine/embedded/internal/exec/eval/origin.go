package eval

import (
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// origins finds the facts of commits. It keeps those of the last one, because rows that lie together often have the same commit.
type origins struct {
	of     func(number uint32) (version.Origin, bool) // nil if no commit is known
	number uint32                                     // of the last commit; 0 for none
	last   version.Origin
	known  bool // `last` is that of the commit
}

// find returns the facts of a commit.
func (o *origins) find(number uint32) (*version.Origin, bool) {
	if number == 0 || o.of == nil {
		return nil, false
	}
	if number != o.number {
		o.number = number
		o.last, o.known = o.of(number)
	}
	return &o.last, o.known
}

// evalOrigin evaluates a fact about the origin of a variable's entities for the rows of a frame.
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
		number := stamp.Changed
		if e.Fact.Made() {
			number = stamp.Made
		}
		v := value.Null
		if o, ok := ev.origins.find(number); ok {
			v = originFact(o, e.Fact)
		}
		vec.Set(i, v)
	}
}

// originFact returns a fact of a commit.
func originFact(o *version.Origin, f plan.OriginFact) value.Value {
	text := ""
	switch f {
	case plan.OriginAt, plan.OriginMadeAt:
		return value.OfDateTime(value.DateTimeOf(o.Time))
	case plan.OriginActor, plan.OriginMadeBy:
		text = o.Actor
	case plan.OriginProposal:
		text = o.Proposal
	case plan.OriginSource:
		text = o.Source
	case plan.OriginTool:
		text = o.Tool
	}
	if text == "" {
		return value.Null
	}
	return value.OfString(text)
}

// Origin returns the function that finds the facts of commits, for an evaluator that helps this one.
func (ev *Evaluator) Origin() func(number uint32) (version.Origin, bool) { return ev.origins.of }
