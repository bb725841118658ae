package check

import (
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// caller resolves a member of actor(). The first use of a member adds a parameter to the plan, after those that the query
// declares.
func (c *checker) caller(o *syntax.ActorRef) (typed, bool) {
	member := o.Name()
	t, ok := c.claims.TypeOf(member)
	switch {
	case member == "":
		c.fault(BadActor, o.Span(), "write one of "+c.memberList(), "actor() needs the name of a member")
		return typed{}, false
	case !ok:
		help := "its members are " + c.memberList() + "; the configuration maps further claims of a token"
		if n := c.closest(member, c.claims.Members); n != "" {
			help = "did you mean actor()." + n + "?"
		}
		c.fault(BadActor, syntax.SpanOf(*o.Member), help, "actor() has no member %s", member)
		return typed{}, false
	}
	name := plan.CallerName(member)
	i, ok := c.params[name]
	if !ok {
		i = len(c.plan.Params)
		c.params[name] = i
		c.plan.Params = append(c.plan.Params, plan.Param{Name: name, Type: t, Caller: member})
		c.badParams = append(c.badParams, false)
		c.info.Params = append(c.info.Params, Symbol{Span: o.Span()})
	}
	c.info.Params[i].Uses++
	return typed{expr: plan.ParamRef{Index: i}, typ: t}, true
}

// memberList lists the members of actor() for a help line.
func (c *checker) memberList() string {
	names := c.claims.Members()
	more := ""
	if len(names) > maxListed {
		names, more = names[:maxListed], ", …"
	}
	return plan.CallerName(strings.Join(names, ", "+plan.CallerName(""))) + more
}

// callerInCheck reports a check that uses actor(). A check has one outcome for everybody.
func (c *checker) callerInCheck() {
	if first := len(plan.Declared(c.plan.Params)); first < len(c.plan.Params) {
		p, at := &c.plan.Params[first], c.info.Params[first].Span
		c.fault(BadCheck, at, "write the condition for everybody, or remove @must_be_empty", "a check has one outcome for everybody, so it cannot use %s", p.Name)
	}
}
