package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/server/policy/protected"
	"github.com/omnigraph-go/omnigraph/internal/strictyaml"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// rule is a rule with resolved names: all of them refer to things that exist.
type rule struct {
	id      string
	permit  bool          // the rule allows; otherwise it denies
	actors  actorSet      // whom the rule applies to
	actions []tool.Action // what the rule allows or denies
	branch  string        // any, protected, unprotected or draft
	via     tool.Via      // "" means any
	queries []string      // nil means all queries
	sources []string      // nil means all sources
	asAgent bool          // only for a link that acts for another
	through string        // only for a subject through an agent of this group; "" means all
	unless  string        // not for the actors of this group; "" means no exception
	part    part          // the part of the graph that the rule is about
	at      diag.Span     // the place of the rule in the file
}

// part is a part of a graph that a rule is about. The zero part is the whole graph.
type part struct {
	types      []string // names of types and interfaces
	properties []string // as Type.property
	rows       string   // a filter; "" means all entities. Then types are not empty
}

// actorSet is the set of actors that a rule applies to.
type actorSet interface{ actorSet() }

type (
	anyActor   struct{} // every actor
	groupActor string   // the actors in the group with this name
	listActor  []string // the actors with these ids
)

// actorSet marks the types that are sets of actors.
func (anyActor) actorSet()   {}
func (groupActor) actorSet() {}
func (listActor) actorSet()  {}

// resolved is a bundle with resolved names.
type resolved struct {
	groups    []string            // groups that rules may name
	groupsOf  map[string][]string // groups by actor
	protected []string            // protected branches, sorted
	// protections maps each branch that changes only by merging proposals to what such a merge
	// needs.
	protections map[string]*tool.Protection
	owners      map[string][]string // owners by actor
	rules       []rule              // in the order of the file
	filters     []protected.Filter  // that rules may name
	unknown     diag.List           // see Policy.UnknownQueries
	faults      diag.List           // of the filters
}

// protect adds protected branches and owners.
func (res *resolved) protect(rules *protected.Rules) {
	res.protections, res.owners, res.filters = map[string]*tool.Protection{}, map[string][]string{}, rules.Filters
	for _, b := range rules.Branches {
		res.protected = append(res.protected, b.Name)
		if b.Needs == nil {
			continue
		}
		need := &tool.Protection{Approvals: b.Needs.Approvals, Checks: b.Needs.Checks, NoOwners: !b.Needs.OwnerApproves}
		if b.Needs.Group != nil {
			need.Group = b.Needs.Group.Key
		}
		res.protections[b.Name] = need
	}
	slices.Sort(res.protected)
	for _, o := range rules.Owned {
		for _, owner := range o.Owners {
			res.owners[o.Actor.Key] = append(res.owners[o.Actor.Key], owner.Key)
		}
	}
}

// resolve resolves the names of a bundle and reports names that refer to nothing.
func resolve(b *bundle, o Options) *resolved {
	res := &resolved{groupsOf: map[string][]string{}}
	for _, g := range b.groups {
		res.groups = append(res.groups, g.name.Key)
		for _, m := range g.members {
			res.groupsOf[m.Key] = append(res.groupsOf[m.Key], g.name.Key)
		}
	}
	b.protected.CheckGroups(res.groups)
	res.protect(&b.protected)
	res.faults = o.checkFilters(res.filters)
	for _, c := range b.rules {
		res.rules = append(res.rules, c.resolve(res, o))
	}
	for _, token := range slices.Sorted(maps.Keys(o.TokenGroups)) {
		if group := o.TokenGroups[token]; b.at != nil && !o.LooseGroups && !slices.Contains(res.groups, group) {
			b.at.Unknown(strictyaml.UnknownName, "group", group, "the mapping for token group "+token, res.groups)
		}
	}
	return res
}

// resolve returns the rule with resolved names, and reports names that refer to nothing. The rule may name
// the groups of res, to which resolve adds the unknown queries that the options allow.
func (c *ruleClause) resolve(res *resolved, o Options) rule {
	groups := res.groups
	r := rule{id: c.id, permit: c.permit, branch: c.branch, via: tool.Via(c.via), at: c.at.Span()}
	switch {
	case c.any:
		r.actors = anyActor{}
	case c.group != nil:
		if !slices.Contains(groups, c.group.Key) {
			c.group.At.Unknown(strictyaml.UnknownName, "group", c.group.Key, "rule "+c.id, groups)
		}
		r.actors = groupActor(c.group.Key)
	default:
		var ids listActor
		for _, e := range c.ids {
			ids = append(ids, e.Key)
		}
		r.actors = ids
	}
	r.asAgent = c.asAgent
	if c.through != nil {
		if !slices.Contains(groups, c.through.Key) {
			c.through.At.Unknown(strictyaml.UnknownName, "group", c.through.Key, "rule "+c.id, groups)
		}
		r.through = c.through.Key
	}
	if c.unless != nil {
		if !slices.Contains(groups, c.unless.Key) {
			c.unless.At.Unknown(strictyaml.UnknownName, "group", c.unless.Key, "rule "+c.id, groups)
		}
		r.unless = c.unless.Key
	}
	for _, e := range c.actions {
		row, ok := rowOf(tool.Action(e.Key))
		switch {
		case !ok:
			e.At.Unknown(strictyaml.UnknownName, "action", e.Key, "rule "+c.id, actionNames())
			continue
		case row.Server() && o.Graph != "":
			e.At.Fault(strictyaml.Contradicts, fmt.Sprintf("%s is an action on the server, but this policy applies to graph %s", e.Key, o.Graph),
				"move the rule to a file that applies to cluster")
		case !row.Server() && o.Graph == "":
			e.At.Fault(strictyaml.Contradicts, fmt.Sprintf("%s is an action on a graph, but this policy applies to the server", e.Key),
				"move the rule to a file that applies to graphs")
		}
		r.actions = append(r.actions, row.Action)
	}
	c.checkScopes(r.actions)
	r.part = c.resolvePart(res, o, r.actions)
	for _, q := range c.queries {
		switch {
		case o.AnyQuery || slices.Contains(o.Queries, q.Key):
		case o.UnknownQueries:
			// The rule keeps the name: without any, it would be about every query.
			res.unknown = append(res.unknown, unknownQuery(q.Key, "rule "+c.id, q.At.Span(), o.Queries))
		default:
			q.At.Unknown(strictyaml.UnknownName, "query", q.Key, "rule "+c.id, o.Queries)
			continue
		}
		r.queries = append(r.queries, q.Key)
	}
	for _, s := range c.sources {
		if engine.CheckSource(s.Key) != nil {
			s.At.Fault(strictyaml.BadValue, fmt.Sprintf("%.80q is not the name of a source", s.Key),
				fmt.Sprintf("write 1 to %d letters a to z and A to Z, digits, _ - and ., as --source has it", engine.MaxSourceName))
			continue
		}
		r.sources = append(r.sources, s.Key)
	}
	return r
}

// checkScopes reports each scope that some action of the rule does not support.
func (c *ruleClause) checkScopes(actions []tool.Action) {
	for _, s := range scopeKeys {
		n := c.scopes[s.scope]
		if n == nil {
			continue
		}
		var without []string
		for _, a := range actions {
			if row, _ := rowOf(a); scopesOf(row)&s.scope == 0 && !(s.scope == queriesScope && c.via == string(tool.Stored) && row.ByVia()) {
				without = append(without, string(a))
			}
		}
		if len(without) == 0 {
			continue
		}
		help := "it applies only to " + strings.Join(actionsWith(s.scope), ", ")
		if len(without) < len(actions) {
			help = "write a separate rule for " + strings.Join(without, ", ")
		}
		n.Fault(strictyaml.Contradicts, fmt.Sprintf("%s does not apply to %s", s.key, strings.Join(without, ", ")), help)
	}
}

// actionsWith lists the actions that support a scope.
func actionsWith(s scope) []string {
	var names []string
	for _, r := range tool.Actions() {
		if scopesOf(&r)&s != 0 {
			names = append(names, string(r.Action))
		}
	}
	return names
}
