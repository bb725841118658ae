package engine

import "strings"

// MaxAgents is the largest number of agents in the name of an actor.
const MaxAgents = 8

// via stands between the names of an actor and of its agents. The name of an actor in a token has no blank, so the
// text cannot be a part of one.
const via = " via "

// JoinActor returns the name under which a call by an agent is stored and counted: that of the actor for whom the agent
// acts, and those of the agents, the current one first. An example is "ada via bot". Without agents it is the name of the actor.
func JoinActor(actor string, agents ...string) string {
	if len(agents) == 0 {
		return actor
	}
	return actor + via + strings.Join(agents, via)
}

// SplitActor splits a name that JoinActor made. The author of a commit or a proposal is the first of the names. Another text, such as
// one with a blank in a name, is the name of an actor without agents.
func SplitActor(name string) (actor string, agents []string) {
	if !strings.Contains(name, via) {
		return name, nil
	}
	parts := strings.Split(name, via)
	if len(parts) > MaxAgents+1 {
		return name, nil
	}
	for _, p := range parts {
		if p == "" || strings.ContainsAny(p, " \t\r\n") {
			return name, nil
		}
	}
	return parts[0], parts[1:]
}
