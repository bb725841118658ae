package auth

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
)

// actClaim is the claim that names the agent which acts for the subject (RFC 8693, section 4.1). A further such claim in it names the
// agent that acted before.
const actClaim = "act"

// agents returns the agents of a token, the current one first. Each is named like the subject, by the same claim and with the same prefix,
// and has the groups that stand next to its name. A chain that is not understood in full rejects the token, which would otherwise count
// as its subject alone or lose an agent.
func (v *OIDC) agents(all map[string]any, subject string) ([]access.Agent, error) {
	var agents []access.Agent
	var names []string
	claim, acts := all[actClaim]
	if !acts && entraAgent(all) {
		return nil, &Rejected{"is of an agent identity of Entra ID for a user, and does not say in a claim act who acts"}
	}
	for path := actClaim; acts; path = claimAt(path, actClaim) {
		act, ok := claim.(map[string]any)
		switch {
		case !ok:
			return nil, &Rejected{"has a claim " + path + " that is not an object"}
		case len(agents) == engine.MaxAgents:
			return nil, &Rejected{fmt.Sprintf("names more than %d agents in the claim act", engine.MaxAgents)}
		}
		if issuer, said := act["iss"]; said && issuer != v.o.Issuer {
			return nil, &Rejected{"names an actor of another issuer in the claim " + claimAt(path, "iss")}
		}
		id, err := v.name(act, path)
		if err != nil {
			return nil, err
		}
		groups, err := v.groups(act, path)
		if err != nil {
			return nil, err
		}
		agents, names = append(agents, access.Agent{ID: id, Groups: groups}), append(names, id)
		claim, acts = act[actClaim]
	}
	if err := checkAgents(subject, names); err != nil {
		return nil, &Rejected{err.Error()}
	}
	return agents, nil
}

// checkAgents checks that nobody in a chain acts for itself. The agents may take turns.
func checkAgents(subject string, agents []string) error {
	for i, id := range agents {
		if id == subject || i > 0 && id == agents[i-1] {
			return errors.New("says that an actor acts for itself")
		}
	}
	return nil
}

// entraAgent reports whether a token of Entra ID is of an agent identity that acts for somebody else. Such a token has no claim act: the
// value 11 among the facets means an agent identity, of the client in xms_act_fct and of the subject in xms_sub_fct.
func entraAgent(all map[string]any) bool {
	isAgent := func(claim string) bool {
		facets, ok := all[claim].(string)
		return slices.Contains(strings.Fields(facets), "11") || all[claim] != nil && !ok && claim == "xms_act_fct" // unreadable
	}
	return isAgent("xms_act_fct") && !isAgent("xms_sub_fct")
}
