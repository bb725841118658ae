package servedgraph

import (
	"encoding/json"
	"slices"
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

// storeActor returns the stored form of an actor. It has an order of its own, because issuers order the groups of each token differently.
func storeActor(a *access.Actor) (json.RawMessage, error) {
	if a == nil {
		return json.RawMessage("null"), nil
	}
	s := &storedActor{ID: a.ID, Tenant: a.Tenant, Source: a.Source, Groups: slices.Sorted(slices.Values(a.Groups)), Agents: slices.Clone(a.Agents)}
	for i := range s.Agents {
		s.Agents[i].Groups = slices.Sorted(slices.Values(s.Agents[i].Groups))
	}
	if a.Scopes != nil {
		s.Scoped, s.Scopes, s.Known = true, slices.Sorted(slices.Values(a.Scopes.Held)), a.Scopes.Known
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

// tokenKey identifies the tokens of one kind: of one actor, with its agents, from one issuer and with the same scopes. The token of another
// application has other scopes, so it neither widens nor renews the rights of a webhook.
func tokenKey(a *access.Actor) string {
	if a == nil {
		return ""
	}
	return a.Key() + "\x00" + a.Tenant + "\x00" + a.Source
}

// hookOwners are the owners of the webhooks of a graph on the server that sends their events. The zero value is ready for use.
type hookOwners struct {
	mu      sync.Mutex
	byToken map[string]*hookOwner // guarded by mu
}

// hookOwner is the owner of webhooks, with tokens of one kind.
type hookOwner struct {
	stored string    // the rights that its webhooks have
	called time.Time // when the call with them was
	waits  bool      // a webhook waits for its next call
	call   string    // the rights of its last call, if they must be stored; empty for none
	kept   time.Time // when the rights of a call were stored last
}

// renewPause is the least time between two calls of an owner that are stored.
const renewPause = time.Minute

// set replaces the owners. Calls that are not stored yet stay.
func (h *hookOwners) set(owners map[string]*hookOwner) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for token, o := range owners {
		if was := h.byToken[token]; was != nil {
			if o.kept = was.kept; was.call != o.stored {
				o.call = was.call
			}
		}
	}
	h.byToken = owners
}

// met notes a call of an actor. It must be stored if the rights are others, if a webhook waits for it, or after a while. The result says
// whether that is due.
func (h *hookOwners) met(a *access.Actor, now time.Time, while time.Duration) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.byToken) == 0 {
		return false
	}
	o := h.byToken[tokenKey(a)]
	if o == nil {
		return false
	}
	stored, err := storeActor(a)
	if err != nil {
		return false
	}
	age := now.Sub(o.called)
	if string(stored) == o.stored && age < while && (!o.waits || age < renewPause) {
		o.call = ""
		return false
	}
	o.call = string(stored)
	return now.Sub(o.kept) >= renewPause
}

// noted returns the rights of the last call with tokens of a kind that are not stored yet, or "".
func (h *hookOwners) noted(token string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if o := h.byToken[token]; o != nil {
		return o.call
	}
	return ""
}

// due returns the calls to store, by the kind of the token.
func (h *hookOwners) due(now time.Time) map[string]string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var calls map[string]string
	for token, o := range h.byToken {
		if o.call != "" && now.Sub(o.kept) >= renewPause {
			if calls == nil {
				calls = map[string]string{}
			}
			calls[token], o.kept = o.call, now
		}
	}
	return calls
}

// noteOwner notes a call of an actor, whatever comes of it, because its token shows the rights that it has now.
func (g *Graph) noteOwner(actor *access.Actor) {
	if g.owners.met(actor, g.now(), g.rightsFor/renewals) {
		g.hookWoken()
	}
}
