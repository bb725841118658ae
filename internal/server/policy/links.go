package policy

import (
	"github.com/cedar-policy/cedar-go/types"

	"github.com/omnigraph-go/omnigraph/internal/server/access"
)

// link is one actor of a call, about whom the policy is asked: the subject, or an agent that acts for it. Each link must be
// allowed.
type link struct {
	id     string
	groups []string      // of the link in the token
	as     types.String  // subjectLink or agentLink; "" means subjectLink
	agent  *access.Agent // the agent that acts; nil without one
	also   []string      // further groups of the policy that the link is in, for questions about groups
}

// The values of context.link.
const (
	subjectLink types.String = "subject" // the actor of the call, for whom agents may act
	agentLink   types.String = "agent"   // an actor that acts for another
)

// links returns the questions that decide about a call of an actor. With an agent they are two: may the subject do this
// through the agent, and may the agent do it for another? With several agents, each one that is asked about adds two. So another agent
// never allows more.
func (p *Policy) links(actor *access.Actor) []link {
	if actor == nil {
		return []link{{}}
	}
	asked := actor.Agents
	if !p.earlier && len(asked) > 1 {
		asked = asked[:1]
	}
	if len(asked) == 0 {
		return []link{{id: actor.ID, groups: actor.Groups}}
	}
	var all []link
	for i := range asked {
		all = append(all, link{actor.ID, actor.Groups, subjectLink, &asked[i], nil}, link{asked[i].ID, asked[i].Groups, agentLink, &asked[i], nil})
	}
	return all
}

// refusal says in words that the link is not allowed. It is "" without agents.
func (l link) refusal() string {
	switch {
	case l.agent == nil:
		return ""
	case l.as == agentLink:
		return l.id + " as an agent"
	}
	return l.id + " through " + l.agent.ID
}

// addLink adds the attributes of a link to a context.
func (p *Policy) addLink(to types.RecordMap, l link) {
	if l.as == "" {
		l.as = subjectLink
	}
	var groups, agents []types.Value
	if l.agent != nil {
		id := uid(actorType, l.agent.ID)
		agents = append(agents, id)
		if e, ok := p.entitiesFor(link{id: l.agent.ID, groups: l.agent.Groups}).Get(id); ok {
			for g := range e.Parents.All() {
				groups = append(groups, g)
			}
		}
	}
	to[linkAttr], to[actingAttr] = l.as, types.Boolean(l.agent != nil)
	to[actingGroupsAttr], to[agentsAttr] = types.NewSet(groups...), types.NewSet(agents...)
}
