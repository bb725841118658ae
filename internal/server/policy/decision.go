package policy

import (
	"maps"
	"slices"

	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

var _ access.Explainer = (*Policy)(nil)

// Decision implements access.Explainer. It returns the findings of [Policy.Explain] in the types of
// package access, which do not depend on package diag.
func (p *Policy) Decision(actor *access.Actor, g tool.Grant) access.Decision {
	e := p.Explain(actor, g)
	d := access.Decision{Allowed: e.Allowed, Unanswerable: e.Unanswerable}
	if e.Refused != "" && e.Unanswerable == "" {
		d.Unanswerable = "it is not allowed to " + e.Refused
	}
	if e.Protected {
		d.Unanswerable = "the branch changes only by merging proposals, and the actor lacks protection_bypass"
	}
	place := func(r Rule) access.Rule {
		return access.Rule{ID: r.ID, Deny: r.Deny, File: r.At.File, Line: r.At.Start.Line}
	}
	for _, r := range e.Deciding {
		d.Deciding = append(d.Deciding, place(r))
	}
	for _, r := range e.Near {
		d.Near = append(d.Near, access.NearRule{Rule: place(r.Rule), Missing: r.Part})
	}
	return d
}

// Actors implements access.Explainer. It returns the actors that groups and rules name, sorted. For
// a policy that was written in Cedar, it returns none.
func (p *Policy) Actors() []string {
	if p.source == nil {
		return nil
	}
	named := map[string]bool{}
	for actor := range p.source.groupsOf {
		named[actor] = true
	}
	for _, r := range p.source.rules {
		if list, ok := r.actors.(listActor); ok {
			for _, actor := range list {
				named[actor] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(named))
}
