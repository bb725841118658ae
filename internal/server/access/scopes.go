package access

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Scope is a scope of OAuth 2.0 and the actions that a token with it may do.
type Scope struct {
	Name    string
	Actions []tool.Action
}

// Scopes are the scopes of a token. They narrow what the policy allows, and decide neither which tools an actor sees
// nor what a policy says. Nil narrows nothing.
type Scopes struct {
	Known []Scope  // the scopes that the server knows; an action that none of them covers is refused
	Held  []string // the scopes in the token
	// Challenge returns the value of WWW-Authenticate for a token that lacks a scope (RFC 6750, section 3). It gets the scopes to
	// ask for: the one that is lacking, if any covers the action, and the known ones of the token, which a client that asks
	// for one more must not lose.
	Challenge func(scopes []string) string
}

// Cover reports whether a scope of the token covers an action. Without a scope for tool.LoadSource, one for tool.Change covers it.
func (s *Scopes) Cover(action tool.Action) bool {
	if s != nil && action == tool.LoadSource && !slices.ContainsFunc(s.Known, func(k Scope) bool { return slices.Contains(k.Actions, action) }) {
		action = tool.Change
	}
	return s == nil || slices.ContainsFunc(s.Known, func(k Scope) bool {
		return slices.Contains(k.Actions, action) && slices.Contains(s.Held, k.Name)
	})
}

// scopes returns the scopes of the actor's token.
func (a *Actor) scopes() *Scopes {
	if a == nil {
		return nil
	}
	return a.Scopes
}

// require returns a *wireerror.InsufficientScope unless a scope of the token covers the action.
func (s *Scopes) require(action tool.Action) error {
	if s.Cover(action) {
		return nil
	}
	lacks := &wireerror.InsufficientScope{Action: action}
	var ask []string
	for _, k := range s.Known {
		switch {
		case slices.Contains(s.Held, k.Name):
			ask = append(ask, k.Name)
		case lacks.Scope == "" && slices.Contains(k.Actions, action):
			lacks.Scope = k.Name
			ask = append(ask, k.Name)
		}
	}
	if lacks.Scope == "" {
		ask = nil
	}
	if s.Challenge != nil {
		lacks.Challenge = s.Challenge(ask)
	}
	return lacks
}

// CheckScopes returns a *wireerror.InsufficientScope for the first grant that no scope of the actor's token covers, or nil.
func CheckScopes(actor *Actor, grants []tool.Grant) error {
	for _, g := range grants {
		if err := actor.scopes().require(g.Action); err != nil {
			return err
		}
	}
	return nil
}

// RequireServer returns a *wireerror.Forbidden if the policy of the server does not allow the actor an action on the
// server, a *wireerror.InsufficientScope if the actor's token lacks a scope for it, or nil. A nil authorizer allows nothing.
func RequireServer(a Authorizer, actor *Actor, action tool.Action) error {
	if a == nil || actor == nil || !a.Allowed(actor, tool.Grant{Action: action}) {
		return &wireerror.Forbidden{Action: action}
	}
	return actor.Scopes.require(action)
}
