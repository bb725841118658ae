package access

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/requestinfo"
)

// actorKey is the context key of the actor.
type actorKey struct{}

// WithActor returns a context that carries the actor that sent the request. If ctx is the context of a
// [requestinfo.Info] that has no actor yet, WithActor adds the actor to ctx and returns ctx.
func WithActor(ctx context.Context, a *Actor) context.Context {
	if requestinfo.Attach(ctx, actorKey{}, a) {
		return ctx
	}
	return context.WithValue(ctx, actorKey{}, a)
}

// ActorFrom returns the actor that the context carries, or nil if it carries none. Every
// operation denies a nil actor.
func ActorFrom(ctx context.Context) *Actor {
	a, _ := ctx.Value(actorKey{}).(*Actor)
	return a
}

// Name returns the id of the actor with those of its agents, as [engine.JoinActor] does. It is the key of what belongs to
// the actor: commits, receipts, drafts, page tokens, uploads and decisions. So nothing of an actor belongs to an agent that acts for it, and
// nothing of one agent to another. The name of a nil actor is "".
func (a *Actor) Name() string {
	if a == nil || len(a.Agents) == 0 {
		return IDOf(a)
	}
	return engine.JoinActor(a.ID, a.AgentIDs()...)
}

// AgentIDs returns the ids of the agents of an actor, the current one first.
func (a *Actor) AgentIDs() []string {
	if a == nil {
		return nil
	}
	var ids []string
	for _, agent := range a.Agents {
		ids = append(ids, agent.ID)
	}
	return ids
}

// Key returns the name of an actor with the scopes of its token that the server knows. It is the owner of what a token with other scopes
// must not continue: page tokens and the states of forms. Receipts and drafts have the name alone as their key: a client that
// gets one scope more must find its own writes, and each call is decided with the scopes of its own token.
func (a *Actor) Key() string {
	if a == nil || a.Scopes == nil {
		return a.Name()
	}
	var held []string
	for _, k := range a.Scopes.Known {
		if slices.Contains(a.Scopes.Held, k.Name) {
			held = append(held, k.Name)
		}
	}
	return a.Name() + "\x00" + strings.Join(held, " ")
}

// IDOf returns the id of an actor without its agents, or "" for nil. It identifies whose resources a call uses: an agent
// shares the limits of the actor for whom it acts.
func IDOf(a *Actor) string {
	if a == nil {
		return ""
	}
	return a.ID
}

// Named returns the actor with a name that [Actor.Name] returned. The argument `groups` has the form that GroupsOf returns.
func Named(name string, groups []string) *Actor {
	a := &Actor{}
	var agents []string
	a.ID, agents = engine.SplitActor(name)
	for _, id := range agents {
		a.Agents = append(a.Agents, Agent{ID: id})
	}
	for _, g := range groups {
		at, group, ofAgent := strings.Cut(g, agentGroup)
		i, err := strconv.Atoi(at)
		switch {
		case !ofAgent:
			a.Groups = append(a.Groups, g)
		case err == nil && i >= 0 && i < len(a.Agents):
			a.Agents[i].Groups = append(a.Agents[i].Groups, group)
		}
	}
	return a
}

// agentGroup stands between the index of an agent and a group of it. No group in a token contains it.
const agentGroup = "\x00"

// GroupsOf returns the groups in the token of an actor, and those of its agents, so that they cannot be taken for groups of the
// actor. It returns none if the actor is nil.
func GroupsOf(a *Actor) []string {
	if a == nil {
		return nil
	}
	all := a.Groups
	for i, agent := range a.Agents {
		for _, g := range agent.Groups {
			all = append(all[:len(all):len(all)], strconv.Itoa(i)+agentGroup+g)
		}
	}
	return all
}
