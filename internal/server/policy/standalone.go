package policy

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	build "github.com/cedar-policy/cedar-go/ast"
	"github.com/cedar-policy/cedar-go/types"

	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Standalone returns the policy as a .cedar file that makes the same decisions. It writes the
// groups and protected branches of a bundle into the rules: each rule lists the members of its
// group and the protected branches. A rule that applies to no actor or no branch is left out. A
// group stays a group if a group of tokens maps to it, because the tokens can add members to it.
//
// If the policy was read from a .cedar file, Standalone returns the text of that policy.
func (p *Policy) Standalone() string {
	if p.source == nil {
		return p.CedarText()
	}
	var all policies
	for _, r := range p.source.rules {
		if written, ok := p.standaloneRule(r); ok {
			all = append(all, written)
		}
	}
	var nothing []tool.Action
	for _, a := range actionsOf(p) {
		switch named := all.name(a); {
		case a.Row().IfNamed && Decides(p, a) && !named: // the rules that name it apply to nothing; without them, everyone could do it
			nothing = append(nothing, a)
		case all == nil && !a.Row().IfNamed: // a file must not be empty
			nothing = append(nothing, a)
		}
	}
	if nothing != nil {
		all = append(all, compile(rule{id: "nothing", actors: anyActor{}, actions: nothing}, p.target))
	}
	var b bytes.Buffer
	for _, branch := range slices.Sorted(maps.Keys(p.protections)) {
		fmt.Fprintf(&b, "// In the bundle, branch %s changes only by merging proposals. Say so in cluster.yaml, in protected_branches of the graph.\n", branch)
	}
	for i, c := range all {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.Write(c.policy.MarshalCedar())
		b.WriteByte('\n')
	}
	return b.String()
}

// standaloneRule writes one rule without the bundle's groups and protected branches. It returns
// false if the rule can apply to nothing.
func (p *Policy) standaloneRule(r rule) (compiled, bool) {
	var also []build.Node
	if g, ok := r.actors.(groupActor); ok {
		members := p.members(string(g))
		mapped := slices.Contains(slices.Collect(maps.Values(p.tokenGroups)), string(g))
		switch {
		case len(members) == 0 && !mapped:
			return compiled{}, false
		case !mapped:
			r.actors = listActor(members)
		case len(members) > 0:
			r.actors = anyActor{}
			also = append(also, set(actorType, members).Contains(build.Principal()).Or(build.Principal().In(build.Value(uid(groupType, string(g))))))
		}
	}
	if r.through != "" {
		members := p.members(r.through)
		inGroup := build.Context().Access(actingGroupsAttr).Contains(build.Value(uid(groupType, r.through)))
		isMember := set(actorType, members).ContainsAll(build.Context().Access(agentsAttr)).And(build.Context().Access(actingAttr))
		switch mapped := slices.Contains(slices.Collect(maps.Values(p.tokenGroups)), r.through); {
		case len(members) == 0 && !mapped:
			return compiled{}, false
		case !mapped:
			also = append(also, throughAgent(isMember))
		case len(members) > 0:
			also = append(also, throughAgent(isMember.Or(inGroup)))
		default:
			also = append(also, throughAgent(inGroup))
		}
		r.through = ""
	}
	if members := p.members(r.unless); len(members) > 0 {
		excepted := set(actorType, members).Contains(build.Principal())
		if slices.Contains(slices.Collect(maps.Values(p.tokenGroups)), r.unless) {
			excepted = excepted.Or(build.Principal().In(build.Value(uid(groupType, r.unless))))
		}
		also = append(also, build.Not(excepted))
		r.unless = ""
	} else if !slices.Contains(slices.Collect(maps.Values(p.tokenGroups)), r.unless) {
		r.unless = ""
	}
	branch := r.branch
	if branch != "draft" {
		r.branch = "any"
	}
	names := make([]build.Node, len(p.protected))
	for i, b := range p.protected {
		names[i] = build.String(types.String(b))
	}
	isProtected := build.Set(names...).Contains(build.Context().Access(branchAttr))
	switch {
	case branch == "protected" && len(names) == 0:
		return compiled{}, false
	case branch == "protected":
		also = append(also, isProtected)
	case branch == "unprotected" && len(names) > 0:
		also = append(also, build.Not(isProtected))
	}
	return compile(r, p.target, also...), true
}

// members returns the actors of a group, sorted.
func (p *Policy) members(group string) []string {
	var all []string
	for actor, groups := range p.source.groupsOf {
		if slices.Contains(groups, group) {
			all = append(all, actor)
		}
	}
	slices.Sort(all)
	return all
}

// actionsOf returns the actions that the policy can grant: those of a graph, or of the server.
func actionsOf(p *Policy) []tool.Action { return Actions(p.target.Type == serverType) }
