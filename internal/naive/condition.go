package naive

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/pattern"
)

// dropped reports whether a clause is dropped; see [plan.Dropped].
func (ev *evaluation) dropped(c plan.Clause) bool {
	if _, block := c.(plan.Filter); !block && ev.g.fault == BlockNeverDropped {
		return false
	}
	return ev.g.fault != OptionalKept && plan.Dropped(c, func(param int) bool { return ev.args[param].IsNull() })
}

// blockHolds reports whether a Not, Exists, Any or All holds in the environment. A dropped block
// holds.
func (ev *evaluation) blockHolds(c plan.Clause) bool {
	if ev.dropped(c) {
		return true
	}
	switch c := c.(type) {
	case plan.Not:
		return !ev.matches(c.Match)
	case plan.Exists:
		return ev.matches(c.Match)
	case plan.Any:
		return slices.ContainsFunc(c.Conds, func(c plan.Clause) bool {
			return (ev.g.fault == DroppedHoldsInAny || !ev.dropped(c)) && ev.holds(c)
		})
	case plan.All:
		if ev.g.fault == AllIsAny {
			return slices.ContainsFunc(c.Conds, ev.holds)
		}
		return !slices.ContainsFunc(c.Conds, func(c plan.Clause) bool { return !ev.holds(c) })
	case plan.Bind, plan.Traverse, plan.Filter:
	}
	panic("naive: the clause contains no others")
}

// in reports whether an element of the list equals the value.
func (g *Graph) in(v, list value.Value) bool {
	elems := list.Elems()
	if g.fault == InFirstOnly && len(elems) > 1 {
		elems = elems[:1]
	}
	return slices.ContainsFunc(elems, func(e value.Value) bool { return g.compare(plan.Eq, v, e) })
}

// matchesPattern reports whether a part of the text matches the pattern.
func (g *Graph) matchesPattern(text, source string) bool {
	if g.fault == PatternAnchored {
		source = "^(?:" + source + ")$"
	}
	p, err := pattern.Compile(source)
	if err != nil {
		panic("naive: patterns must be checked before the read: " + err.Error())
	}
	return p.Match(text, nil)
}

// checkPatterns returns a *engine.BadArgument if a condition uses an argument as a pattern and the
// argument is not a valid pattern. It returns the error for the first such parameter.
func checkPatterns(q *plan.Query, args engine.Args) error {
	bad := map[int]error{}
	visit := func(c plan.Cond) {
		cmp, ok := c.(plan.Compare)
		if !ok || cmp.Op != plan.Matches {
			return
		}
		ref, ok := cmp.Right.(plan.ParamRef)
		if !ok || args[ref.Index].IsNull() {
			return
		}
		if _, err := pattern.Compile(args[ref.Index].Str()); err != nil {
			bad[ref.Index] = err
		}
	}
	if q.Read != nil {
		q.Read.WalkConds(visit)
	}
	if q.Mutation != nil {
		for _, st := range q.Mutation.Statements {
			for _, e := range plan.StatementExprs(st) {
				plan.ExprConds(e, visit)
			}
		}
	}
	for i, p := range q.Params {
		if err := bad[i]; err != nil {
			return &engine.BadArgument{Param: p.Name, Detail: err.Error()}
		}
	}
	return nil
}

// truth returns the value of a block that is an expression. Its outer variables must be bound.
func (ev *evaluation) truth(e plan.Holds) bool {
	inner := *ev
	inner.members = nil
	inner.env = slices.Clone(ev.env)
	if _, ok := e.Block.(plan.Exists); ok && ev.g.fault == ValueInnerUnbound {
		clear(inner.env)
	}
	if n, ok := e.Block.(plan.Not); ok && ev.g.fault == ValueNegated {
		return inner.matches(n.Match)
	}
	return inner.blockHolds(e.Block)
}
