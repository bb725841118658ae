package enginetest

import (
	"fmt"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// This file draws who makes commits, and reads of the origins of entities. The random numbers are those of d.origins. The reads of the
// whole state after each write show the origins too, except times, which differ between the two graphs.

// byline is the actor and the tool of a write.
type byline struct{ actor, tool string }

// drawByline draws the actor and the tool of step i. A step with an idempotency key has the actor "act", because a repeated call must
// have the same actor.
func (d *drawer) drawByline(s *step, i int) {
	s.by.tool = fmt.Sprint("tool", i)
	if n := d.origins.IntN(4); n > 0 && s.key == "" {
		s.by.actor = fmt.Sprint("act", n)
	}
}

// name returns the actor.
func (b byline) name() string {
	if b.actor == "" {
		return "act"
	}
	return b.actor
}

// comparedFacts are the facts about origins whose values are equal in the engine and the model. Proposals have other ids in each.
var comparedFacts = []plan.OriginFact{plan.OriginActor, plan.OriginSource, plan.OriginTool, plan.OriginMadeBy}

// origins returns the facts about the origin of an entity that the two graphs have in common.
func origins(v plan.VarID) (list []plan.Expr) {
	for _, f := range comparedFacts {
		list = append(list, plan.Origin{Var: v, Fact: f})
	}
	for _, f := range []plan.OriginFact{plan.OriginProposal, plan.OriginAt} {
		list = append(list, plan.Test{Cond: plan.NullTest{Expr: plan.Origin{Var: v, Fact: f}}})
	}
	ordered := plan.Compare{Op: plan.Le, Left: plan.Origin{Var: v, Fact: plan.OriginMadeAt}, Right: plan.Origin{Var: v, Fact: plan.OriginAt}, Unless: plan.NoParam}
	return append(list, plan.Test{Cond: ordered})
}

// factsText returns the facts of a commit that both graphs have in common.
func factsText(c *engine.Commit) string {
	return fmt.Sprintf("%q %q %q %q, a proposal: %t", c.Actor, c.Tool, c.Source, c.Approvers, c.Proposal != "")
}

// drawOrigin adds a filter, a column or a sort key about an origin to some reads.
func (r *readDraw) drawOrigin(clauses []plan.Clause) []plan.Clause {
	o := r.drawer.origins
	if o == nil || !o.percent(15) {
		return clauses
	}
	v := pick(o, r.outer)
	if r.q.Read.Vars[v].Entity == plan.Walk {
		return clauses
	}
	e := plan.Origin{Var: v, Fact: pick(o, comparedFacts)}
	if o.percent(60) {
		actor := pick(o, []string{"act", "act1", "act2", "tool3", "s1"})
		clauses = append(clauses, where(e, pick(o, []plan.Op{plan.Eq, plan.Ne, plan.Ge}), actor))
	}
	r.byOrigin = e
	return clauses
}

// showOrigin adds the drawn origin to the columns and the order of a read.
func (r *readDraw) showOrigin() {
	if e, ok := r.byOrigin.(plan.Origin); ok {
		r.ret(e)
		if r.drawer.origins.percent(50) {
			r.sort(plan.Order{Expr: e, Desc: r.drawer.origins.percent(50)})
		}
	}
}
