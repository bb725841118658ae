package policy

import (
	"maps"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/server/tool"
)

// otherBranch stands for the branches that no rule names.
const otherBranch = "any other branch"

// otherSource stands for the sources that no rule names.
const otherSource = "any other source"

// Regained lists the rights that the policy p gives and another one does not, such as "act-ada: change on branch main". It asks both about
// the actors and groups that p names, the branches that either names, and the given stored queries.
func Regained(was, p *Policy, queries []string) (list []string) {
	branches := []string{"main", otherBranch}
	for _, of := range []*Policy{was, p} {
		branches = append(append(branches, of.named...), of.tests.literals...)
		for _, pattern := range of.tests.patterns {
			branches = append(branches, strings.Trim(string(pattern.MarshalCedar()), `"`)) // the pattern matches itself
		}
	}
	slices.Sort(branches)
	branches = slices.Compact(branches)
	sources := append(joined(was.Sources(), p.Sources()), otherSource)
	for _, a := range actionsOf(p) {
		row := a.Row()
		vias := row.Vias[:]
		if !row.ByVia() {
			vias = vias[:1]
		}
		for _, via := range vias {
			what := string(a)
			if via != vias[0] {
				what += " (" + string(via) + ")"
			}
			places, preposition, all := branches, " on branch ", " on every branch"
			switch {
			case row.On == tool.OnSource:
				places, preposition, all = sources, " of source ", " of every source"
			case row.On == tool.OnQuery:
				places, preposition, all = queries, " ", " of every stored query"
			case !row.Branch():
				places, preposition, all = []string{""}, "", ""
			}
			at := map[string][]string{} // by who has the right
			for _, place := range places {
				g := tool.Grant{Action: a, Via: via}
				switch {
				case row.On == tool.OnSource && place != otherSource:
					g.Source = place
				case row.On == tool.OnQuery:
					g.Query = place
				case row.Branch():
					g.Branch = tool.BranchNamed(place)
				}
				for _, who := range gained(was, p, g) {
					at[who] = append(at[who], place)
				}
			}
			for _, who := range slices.Sorted(maps.Keys(at)) {
				where := all
				if len(at[who]) < len(places) {
					where = preposition + strings.Join(at[who], ", ")
				}
				list = append(list, who+": "+what+where)
			}
		}
	}
	if p.narrowing || was.narrowing {
		list = append(list, "rules are about parts of the graph; what the actors may see of types, properties and rows is not compared")
	}
	return list
}

// gained lists who has a grant by p and not by `was`.
func gained(was, p *Policy, g tool.Grant) (list []string) {
	c := p.Callers(g)
	if c.Any {
		if !was.decideIn(unnamed, "", g) {
			return []string{"every actor"}
		}
		for _, actor := range was.Callers(g).Except {
			if !slices.Contains(c.Except, actor) {
				list = append(list, actor)
			}
		}
		return list
	}
	for _, group := range c.Groups {
		if !was.decideIn(unnamed, group, g) {
			list = append(list, "group "+group)
		}
	}
	for _, actor := range c.Actors {
		if !was.decideIn(actor, "", g) {
			list = append(list, actor)
		}
	}
	return list
}

// name reports whether one of the policies names an action.
func (p policies) name(a tool.Action) bool {
	return slices.ContainsFunc(p, func(c compiled) bool { return slices.Contains(mentions(c.policy).actions, string(a)) })
}
