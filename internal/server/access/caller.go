package access

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// CallerOf returns an actor as queries see it. The agents of an actor do not count. The groups are sorted, because issuers order those of
// the next token differently. The caller of a nil actor has no id, no groups and no claims.
func CallerOf(a *Actor) tool.Caller {
	if a == nil {
		return tool.Caller{}
	}
	groups := a.Groups
	if !slices.IsSorted(groups) {
		groups = slices.Sorted(slices.Values(groups))
	}
	return tool.Caller{ID: a.ID, Groups: groups, Claims: a.Claims}
}

// CallerArgs returns the arguments of the parameters that say who the caller is, in their order, for an actor. The parameters
// are those of a plan; CallerArgs ignores those that the query declares.
func CallerArgs(a *Actor, params []plan.Param) engine.Args {
	c := CallerOf(a)
	return c.Args(params)
}
