package policy

import (
	"strconv"
	"strings"
	"sync"

	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// decisions is the decision cache of a policy. A policy does not change, so it decides the same
// question the same way each time. Each call asks several questions, and the next call of the same
// tool by the same actor asks them again. A decision takes time in proportion to the rules about
// the action: bench/runs/server.md has the figures with and without the cache.
type decisions struct {
	mu       sync.RWMutex
	cached   map[question]bool   // guarded by mu
	allowing map[question]string // the rules behind decisions that allow; guarded by mu
}

// question holds all inputs of a decision. Its branch is a class of branches. So a list of
// thousands of branches needs only one decision for each class.
type question struct {
	actor, groups string     // the id with those of its agents; the names of the groups of the token, joined
	branch        string     // the class of the branch
	grant         tool.Grant // the permission that the actor needs, without its branch
}

// The bounds of the cache: the number of decisions, and the total bytes of the names in one
// question. A full cache is cleared, and a question with longer names is not cached. Both bounds
// are needed because callers choose branch names.
const (
	maxDecisions = 8192 // number of decisions in the cache
	maxNames     = 256  // bytes of the names in a question
)

// Allowed implements access.Authorizer. It denies by default, and a rule that forbids overrides
// rules that permit. It also denies a request that no rule can answer.
func (p *Policy) Allowed(actor *access.Actor, g tool.Grant) bool {
	if actor == nil {
		return false
	}
	q := questionOf(p, actor, g)
	if allowed, ok := p.decisions.of(q); ok {
		return allowed
	}
	allowed := p.decide(actor, g)
	p.decisions.keep(q, allowed)
	return allowed
}

// Allowing implements access.Explainer.
func (p *Policy) Allowing(actor *access.Actor, g tool.Grant) string {
	q := questionOf(p, actor, g)
	p.decisions.mu.RLock()
	rules, ok := p.decisions.allowing[q]
	p.decisions.mu.RUnlock()
	if ok {
		return rules
	}
	e := p.Explain(actor, g)
	if !e.Allowed {
		return ""
	}
	var names []string
	for _, r := range e.Deciding {
		names = append(names, r.ID)
	}
	rules = strings.Join(names, " ")
	if q.fits() {
		d := &p.decisions
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.allowing == nil || len(d.allowing) >= maxDecisions {
			d.allowing = map[question]string{}
		}
		d.allowing[q] = rules
	}
	return rules
}

// questionOf returns the question whether an actor has a grant.
func questionOf(p *Policy, actor *access.Actor, g tool.Grant) question {
	q := question{actor: actor.Name(), groups: groupsKey(actor), branch: p.BranchClass(g.Branch.Name()), grant: g}
	q.grant.Branch = tool.Branch{}
	return q
}

// fits reports whether a cache may keep the question.
func (q *question) fits() bool {
	return len(q.actor)+len(q.groups)+len(q.branch)+len(q.grant.Query)+len(q.grant.Source) <= maxNames
}

// groupsKey joins the names of the groups of a token, and of those of its agents. Each is quoted, so that two lists never have one
// key: callers choose the groups of an explanation.
func groupsKey(actor *access.Actor) string {
	var key []byte
	for _, g := range access.GroupsOf(actor) {
		key = strconv.AppendQuote(key, g)
	}
	return string(key)
}

// of returns a cached decision.
func (d *decisions) of(q question) (allowed, ok bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	allowed, ok = d.cached[q]
	return allowed, ok
}

// keep caches a decision.
func (d *decisions) keep(q question, allowed bool) {
	if !q.fits() {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cached == nil || len(d.cached) >= maxDecisions {
		d.cached = map[question]bool{}
	}
	d.cached[q] = allowed
}
