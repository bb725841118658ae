package policy

import (
	"slices"

	"github.com/cedar-policy/cedar-go/types"

	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Callers says which actors the policy allows a set of grants.
type Callers struct {
	Any    bool     // true if the policy allows them to actors that it does not name
	Groups []string // if Any is false: the groups whose members have them, sorted
	Actors []string // if Any is false: the actors outside those groups that have them, sorted
	Except []string // if Any is true: the actors that do not have them, sorted
}

// unnamed is the name of an actor to which no rule can refer, because the name of an actor contains
// no space.
const unnamed = "an unnamed actor"

// Callers says which actors and groups have all of the grants. It considers only the actors and
// groups that the policy names.
func (p *Policy) Callers(grants ...tool.Grant) Callers {
	all := func(actor string, group string) bool {
		return !slices.ContainsFunc(grants, func(g tool.Grant) bool { return !p.decideIn(actor, group, g) })
	}
	c := Callers{Any: all(unnamed, "")}
	actors := p.namedActors()
	if c.Any {
		for _, actor := range actors {
			if !all(actor, "") {
				c.Except = append(c.Except, actor)
			}
		}
		return c
	}
	for _, group := range p.groups {
		if all(unnamed, group) {
			c.Groups = append(c.Groups, group)
		}
	}
	for _, actor := range actors {
		inGroup := slices.ContainsFunc(c.Groups, func(group string) bool { return p.isMember(actor, group) })
		if !inGroup && all(actor, "") {
			c.Actors = append(c.Actors, actor)
		}
	}
	return c
}

// decideIn decides about a grant for an actor as if the actor were also in the group `group`. If
// `group` is empty, the actor has only its own groups.
func (p *Policy) decideIn(actor, group string, g tool.Grant) bool {
	l := link{id: actor}
	if group != "" {
		l.also = []string{group}
	}
	req, ok := p.request(l, g)
	if !ok {
		return false
	}
	allowed, _ := p.byAction[g.Action].authorize(p.entitiesFor(l), req)
	return allowed
}

// namedActors returns the actors that rules or groups name, sorted.
func (p *Policy) namedActors() []string {
	var names []string
	add := func(id types.EntityUID) {
		if id.Type == actorType {
			names = append(names, string(id.ID))
		}
	}
	for id := range p.entities.actors {
		add(id)
	}
	for _, c := range p.all {
		for _, id := range mentions(c.policy).entities {
			add(id)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// isMember reports whether the policy lists an actor as a member of a group.
func (p *Policy) isMember(actor, group string) bool {
	return p.entities.actors[uid(actorType, actor)].Parents.Contains(uid(groupType, group))
}
