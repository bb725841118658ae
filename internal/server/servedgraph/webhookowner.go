package servedgraph

import (
	"encoding/json"
	"sync"
	"time"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/claims"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
)

// storedActor is an actor with the rights of a token, as the state of a watch keeps it. A nil one is an actor without a name.
type storedActor struct {
	ID     string                     `json:"id"`
	Tenant string                     `json:"tenant,omitempty"`
	Source string                     `json:"source,omitempty"`
	Groups []string                   `json:"groups,omitempty"`
	Agents []access.Agent             `json:"agents,omitempty"`
	Claims map[string]json.RawMessage `json:"claims,omitempty"`
	Scoped bool                       `json:"scoped,omitempty"` // whether the scopes of the token narrow what the actor may do
	Scopes []string                   `json:"scopes,omitempty"` // those in the token
	Known  []access.Scope             `json:"known,omitempty"`  // those that the server knew
}

// storeActor returns the stored form of an actor.
func storeActor(a *access.Actor) (json.RawMessage, error) {
	if a == nil {
		return json.RawMessage("null"), nil
	}
	s := &storedActor{ID: a.ID, Tenant: a.Tenant, Source: a.Source, Groups: a.Groups, Agents: a.Agents}
	if a.Scopes != nil {
		s.Scoped, s.Scopes, s.Known = true, a.Scopes.Held, a.Scopes.Known
	}
	for name, v := range a.Claims {
		if s.Claims == nil {
			s.Claims = map[string]json.RawMessage{}
		}
		s.Claims[name] = encoding.ValueJSON(v, encoding.Options{})
	}
	return encoding.JSON(s)
}

// restoreActor returns the actor of a stored form. A claim whose type has changed is absent, as in a token without it.
func restoreActor(stored json.RawMessage, types plan.Claims) (*access.Actor, error) {
	var s *storedActor
	if err := json.Unmarshal(stored, &s); err != nil || s == nil {
		return nil, err
	}
	a := &access.Actor{ID: s.ID, Tenant: s.Tenant, Source: s.Source, Groups: s.Groups, Agents: s.Agents}
	if s.Scoped {
		a.Scopes = &access.Scopes{Known: s.Known, Held: s.Scopes, Challenge: func([]string) string { return "" }}
	}
	for name, text := range s.Claims {
		var v any
		if err := json.Unmarshal(text, &v); err != nil {
			return nil, err
		}
		if t, ok := types[name]; ok {
			if claim, ok := claims.FromJSON(v, t); ok {
				if a.Claims == nil {
					a.Claims = map[string]value.Value{}
				}
				a.Claims[name] = claim
			}
		}
	}
	return a, nil
}

// hookOwners are the owners of the webhooks of a graph on the server that sends their events. The zero value is ready for use.
type hookOwners struct {
	mu     sync.Mutex
	byName map[string]*hookOwner // guarded by mu
}

// hookOwner is the owner of webhooks.
type hookOwner struct {
	stored string    // the rights that its webhooks have
	called time.Time // when the call with them was
	call   string    // the rights of a call that is not stored yet; empty for none
}

// set replaces the owners. Calls that are not stored yet stay.
func (h *hookOwners) set(owners map[string]*hookOwner) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for name, o := range owners {
		if was := h.byName[name]; was != nil {
			o.call = was.call
		}
	}
	h.byName = owners
}

// met notes a call of an actor. It reports whether the call must be stored: one with the same rights after a while, and one with others,
// of another token, at most each minute.
func (h *hookOwners) met(a *access.Actor, now time.Time, while time.Duration) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	o := h.byName[a.Name()]
	if o == nil || now.Sub(o.called) < min(while, time.Minute) {
		return false
	}
	stored, err := storeActor(a)
	if err != nil || string(stored) == o.stored && now.Sub(o.called) < while {
		return false
	}
	o.call = string(stored)
	return true
}

// take returns the calls that are not stored yet, by the name of the owner, and forgets them.
func (h *hookOwners) take() map[string]string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var calls map[string]string
	for name, o := range h.byName {
		if o.call != "" {
			if calls == nil {
				calls = map[string]string{}
			}
			calls[name], o.call = o.call, ""
		}
	}
	return calls
}
