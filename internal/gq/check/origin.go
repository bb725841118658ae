package check

import (
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// origin resolves a fact about the origin of an entity.
func (c *checker) origin(o *syntax.OriginRef, sc *scope) (typed, bool) {
	name := o.Var.Value[1:]
	call := syntax.OriginFunction + "(" + o.Var.Value + ")"
	if o.Fact == nil {
		c.fault(Unbound, o.Span(), "write one of "+call+"."+strings.Join(plan.OriginFactNames(), ", ."), "%s needs the name of a fact", call)
		return typed{}, false
	}
	fact, ok := plan.OriginFactNamed(o.Fact.Value)
	if !ok {
		help := c.suggest(o.Fact.Value, plan.OriginFactNames)
		if help == "" {
			help = "its facts are " + strings.Join(plan.OriginFactNames(), ", ")
		}
		c.fault(Unbound, syntax.SpanOf(*o.Fact), help, "an origin has no fact %s", o.Fact.Value)
		return typed{}, false
	}
	id, ok := plan.NoVar, false
	if sc != nil {
		id, ok = sc.find(name)
	}
	if !ok {
		if _, isParam := c.params[name]; isParam || sc == nil {
			c.fault(Unbound, syntax.SpanOf(o.Var), "bind a node or an edge in match", "%s is not bound to a node or an edge, so it has no origin", o.Var.Value)
			return typed{}, false
		}
		c.unbound(o.Var, sc)
		return typed{}, false
	}
	c.info.Vars[id].Uses++
	switch v := c.read.Vars[id]; {
	case v.Entity == plan.Walk:
		c.fault(EdgeBindingMisuse, syntax.SpanOf(o.Var), "bind an edge or a node of the walk", "%s binds a walk, which has no origin", o.Var.Value)
		return typed{}, false
	case v.Type == "":
		return typed{}, false
	}
	return typed{expr: plan.Origin{Var: id, Fact: fact}, typ: fact.Type()}, true
}
