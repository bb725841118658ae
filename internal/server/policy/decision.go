package policy

import (
	"maps"
	"slices"

	"github.com/cedar-policy/cedar-go"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

var _ access.Explainer = (*Policy)(nil)

// Decision implements access.Explainer. It returns the findings of [Policy.Explain] in the types of
// package access, which do not depend on package diag.
func (p *Policy) Decision(actor *access.Actor, g tool.Grant) access.Decision {
	e := p.Explain(actor, g)
	d := access.Decision{Allowed: e.Allowed, Reason: e.Unanswerable}
	if e.Refused != "" && e.Unanswerable == "" {
		d.Reason = e.Refused + " is not allowed to do it"
	}
	if e.Protected {
		d.Reason = "the branch changes only by merging proposals, and the actor lacks protection_bypass"
	}
	for _, r := range e.Deciding {
		d.Deciding = append(d.Deciding, place(r))
	}
	for _, r := range e.Near {
		d.Near = append(d.Near, access.NearRule{Rule: place(r.Rule), Missing: r.Part})
	}
	return d
}

// place returns a rule in the type of package access.
func place(r Rule) access.Rule {
	return access.Rule{ID: r.ID, Deny: r.Deny, File: r.At.File, Line: r.At.Start.Line}
}

// Parts implements access.Explainer. It asks about the same links as [Policy.Rights].
func (p *Policy) Parts(actor *access.Actor, g tool.Grant, schema *engine.Schema) []access.Part {
	set := p.byAction[g.Action]
	if set == nil || !set.narrowed {
		return nil
	}
	ruleOf := map[cedar.PolicyID]access.Rule{}
	for _, c := range set.all {
		ruleOf[c.id] = place(c.rule())
	}
	names := func(rules []cedar.PolicyID) (names []string) {
		for _, rule := range rules {
			names = append(names, p.rowsOf[rule])
		}
		return names
	}
	nodes, edges := kinds(schema.Catalog)
	parts := make([]access.Part, len(nodes)+len(edges))
	for _, l := range p.links(actor) {
		a, ok := p.asker(l, g)
		if !ok {
			return nil
		}
		for i, k := range slices.Concat(nodes, edges) {
			entity := plan.Node
			if i >= len(nodes) {
				entity = plan.Edge
			}
			part, shown := &parts[i], a.shown(k)
			part.Type, part.Without, part.NotRows = k.name, joined(part.Without, shown.hidden), joined(part.NotRows, names(shown.notIn))
			if rows := names(shown.any); rows != nil {
				part.Rows = append(part.Rows, joined(nil, rows))
			}
			for _, id := range shown.rules {
				part.Rules = joined(part.Rules, []access.Rule{ruleOf[id]})
			}
			switch {
			case shown.none && len(shown.rules) == 0:
				part.Hidden, part.Reason = true, "no rule allows it"
			case !shown.none && p.shape(shown, schema, entity, k.name).hidden():
				part.Hidden, part.Reason = true, "a filter does not fit the schema"
			}
			part.Hidden = part.Hidden || shown.none
		}
	}
	for i := range parts {
		slices.Sort(parts[i].Without)
	}
	return parts
}

// hidden reports whether nothing of the type is shown.
func (s *shape) hidden() bool { return s != nil && s.none }

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
