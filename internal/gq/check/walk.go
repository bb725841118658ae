package check

import (
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// This file checks the variables of walks, as in $a $w:knows{1,6} $b.

// walkVar declares the variable that a traversal binds to its walk.
func (c *checker) walkVar(t syntax.Token, st *step, sc *scope) plan.VarID {
	id := c.newVar(t, plan.Walk, "", sc)
	if c.walks == nil {
		c.walks = map[plan.VarID]*step{}
	}
	c.walks[id] = st
	return id
}

// walkPart resolves a fact about the walk that the variable `id` is bound to.
func (c *checker) walkPart(o *syntax.PropRef, id plan.VarID, sc *scope) (typed, bool) {
	fact, ok := plan.WalkFactNamed(o.Prop.Value)
	if !ok {
		help := c.suggest(o.Prop.Value, plan.WalkFactNames)
		if help == "" {
			help = "a walk has " + strings.Join(plan.WalkFactNames(), ", ")
		}
		c.fault(Unbound, syntax.SpanOf(o.Prop), help, "a walk has no property %s", o.Prop.Value)
		return typed{}, false
	}
	st := c.walks[id]
	if st.from == plan.NoVar || st.to == plan.NoVar {
		return typed{}, false
	}
	sc.use(o.Var.Value[1:], st.from, st.to)
	return typed{expr: plan.WalkPart{Var: id, Fact: fact, From: st.from, To: st.to}, typ: c.nullable(id, fact.Type(), sc)}, true
}

// use records that blocks use the variables `ids` of enclosing blocks. It starts at the block `s`
// and goes outwards until it reaches the block that binds the variable `name`.
func (s *scope) use(name string, ids ...plan.VarID) {
	for at := s; at != nil; at = at.outer {
		if _, ok := at.vars[name]; ok {
			return
		}
		for _, id := range ids {
			at.outerVars[id] = true // find has made the map when it looked up the name
		}
	}
}
