package server

import (
	"strings"
	"sync"

	"github.com/omnigraph-go/omnigraph/server/access"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// decisionCache caches the decisions of an authorizer that always decides the same question the
// same way, as a compiled policy does. Each call asks several questions, and the next call of
// the same tool by the same actor asks them again.
type decisionCache struct {
	access.Authorizer

	mu   sync.RWMutex
	seen map[question]bool
}

// question holds all inputs of a decision. The branch of its grant is a class of branches, so
// that a list of thousands of branches takes one decision per class.
type question struct {
	actor, groups, tenant, source string
	grant                         tool.Grant
}

// The bounds of the cache: the number of decisions, and the total bytes of the names in one
// question. Allowed clears a full cache and does not cache a question with longer names. Both
// bounds are needed because callers choose branch names.
const (
	maxDecisions = 8192
	maxKeptName  = 256
)

func (r *decisionCache) Allowed(actor *access.Actor, g tool.Grant) bool {
	if actor == nil {
		return r.Authorizer.Allowed(actor, g)
	}
	q := question{actor: actor.ID, groups: strings.Join(actor.Groups, "\x00"), tenant: actor.Tenant, source: actor.Source, grant: g}
	q.grant.Branch = r.BranchClass(g.Branch)
	r.mu.RLock()
	allowed, ok := r.seen[q]
	r.mu.RUnlock()
	if ok {
		return allowed
	}
	allowed = r.Authorizer.Allowed(actor, g)
	if len(q.actor)+len(q.groups)+len(q.grant.Branch)+len(g.Query) > maxKeptName {
		return allowed
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen == nil || len(r.seen) >= maxDecisions {
		r.seen = map[question]bool{}
	}
	r.seen[q] = allowed
	return allowed
}
