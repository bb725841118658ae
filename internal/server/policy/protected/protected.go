// Package protected reads which branches of a graph are protected, which actors own others, and which filters rules may
// name. A policy in YAML says so itself; for a policy in Cedar's own language, cluster.yaml does.
package protected

import (
	"fmt"
	"regexp"
	"slices"
	"sync"

	"github.com/omnigraph-go/omnigraph/internal/strictyaml"
)

// Branch is a protected branch.
type Branch struct {
	Name  string
	At    *strictyaml.Node // the place of the name
	Needs *Needs           // nil if the branch is only distinguished by rules, and may change in every way
}

// Needs says what a proposal needs before it can be merged into a branch.
type Needs struct {
	Approvals     int               // number of approvals
	Group         *strictyaml.Entry // the group whose approvals count; nil if all approvals count
	Checks        bool              // all checks must pass on the result of the merge
	OwnerApproves bool              // an actor may approve the changes of the actors that it owns
}

// Owned is an actor with the actors that own it, such as a bot with the people who run it.
type Owned struct {
	Actor  strictyaml.Entry
	Owners []strictyaml.Entry
}

// Rules are the protected branches of a graph, the owners of actors and the filters, in the order of the file.
type Rules struct {
	Branches []Branch
	Owned    []Owned
	Filters  []Filter
}

// BranchesSetting describes the list of protected branches.
var BranchesSetting = &strictyaml.Setting{Key: "protected_branches", Type: strictyaml.List, Default: "no branch", Example: "[main]",
	Each:   branchSetting,
	Limits: "different branches, which need not exist",
	Text:   "These branches are protected. With branch_scope and target_branch_scope, rules can treat them differently from other branches.",
}

// branchSetting describes an entry of the list of protected branches.
var branchSetting = &strictyaml.Setting{Type: strictyaml.Union, Example: "main", Text: "This is a branch.", Forms: []*strictyaml.Setting{
	{Example: "main", Limits: "a name of a branch", Text: "The branch has no settings of its own; rules with the scope protected apply to it."},
	{Type: strictyaml.Mapping, Example: "{ name: main, approvals: 1, from: { group: reviewers } }",
		Text: "This branch changes only by merging a proposal. Every other change, load, merge and deletion is refused, except for actors with protection_bypass.",
		Keys: []*strictyaml.Setting{
			{Key: "name", Required: true, Example: "main", Limits: "a name of a branch", Text: "This is the branch."},
			{Key: "approvals", Type: strictyaml.Int, Min: 0, Max: 100, Default: "1", Example: "2", Text: "A proposal needs this number of approvals."},
			{Key: "from", Type: strictyaml.Mapping, Default: "every actor with proposal_review", Example: "{ group: reviewers }", Text: "Only approvals by these actors count.",
				Keys: []*strictyaml.Setting{{Key: "group", Required: true, Example: "reviewers", Limits: "a group of the policy", Text: "This is the group of the approvers."}}},
			{Key: "checks", Type: strictyaml.Bool, Default: "false", Example: "true", Text: "All checks must pass on the result of the merge."},
			{Key: "owner_approves", Type: strictyaml.Bool, Default: "true", Example: "false", Text: "If this is false, an actor cannot approve changes of the actors that it owns."},
		}},
}}

// ActorPattern matches the names of actors.
const ActorPattern = `^[!-~]{1,128}$`

// OwnersSetting describes the owners of actors.
var OwnersSetting = &strictyaml.Setting{Key: "owners", Type: strictyaml.Map, Default: "no owners", Pattern: ActorPattern, Example: "{ act-bot: [act-ada] }",
	Each: &strictyaml.Setting{Type: strictyaml.List, NotEmpty: true, Example: "[act-ada]", Text: "These actors own the actor.",
		Each: &strictyaml.Setting{Example: "act-ada", Pattern: ActorPattern, Limits: "the name of an actor", Text: "This actor is an owner."}},
	Limits: "a name is the name of an actor",
	Text:   "Each entry is an actor, such as a bot, and lists its owners, which owner_approves is about.",
}

// Parse reads the lists of protected branches, of owners and of filters. A nil node is an absent list. Parse reports
// the faults of the lists, except for names that do not exist and for conditions.
func Parse(branches, owners, filters *strictyaml.Node) (r Rules) {
	r.Filters = parseFilters(filters)
	list, _ := branches.List(BranchesSetting.Key)
	for _, item := range list {
		b, ok := parseBranch(item)
		if !ok {
			continue
		}
		if slices.ContainsFunc(r.Branches, func(o Branch) bool { return o.Name == b.Name }) {
			b.At.Fault(strictyaml.Duplicate, fmt.Sprintf("branch %s is in protected_branches twice", b.Name), "keep one of the two")
		}
		r.Branches = append(r.Branches, b)
	}
	entries, _ := owners.Entries("owners")
	for _, e := range entries {
		checkActor(e)
		all, ok := e.Value.Texts("the owners of " + e.Key)
		if ok && len(all) == 0 {
			e.At.Fault(strictyaml.Missing, "the list of the owners of "+e.Key+" is empty", "list actors, or remove the entry")
		}
		for _, o := range all {
			if checkActor(o); o.Key == e.Key {
				o.At.Fault(strictyaml.Contradicts, e.Key+" is listed as its own owner", "remove it from the list")
			}
		}
		r.Owned = append(r.Owned, Owned{e, all})
	}
	return r
}

// actor matches the names of actors.
var actor = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(ActorPattern) })

// checkActor reports an entry that is not the name of an actor.
func checkActor(e strictyaml.Entry) {
	if !actor().MatchString(e.Key) {
		e.At.Fault(strictyaml.BadValue, "an actor's name must be at most 128 ASCII characters without blanks", "write it as it is in the actor's token")
	}
}

// parseBranch reads an entry of the list of protected branches: the name of a branch, or a mapping that
// also says what a merge into the branch needs.
func parseBranch(item *strictyaml.Node) (b Branch, ok bool) {
	if item.IsText() {
		b.Name, ok = item.Text("a protected branch")
		b.At = item
		return b, ok
	}
	f, ok := item.Fields("a protected branch", "name", "approvals", "from", "checks", "owner_approves")
	if !ok {
		return b, false
	}
	b.Needs = &Needs{Approvals: 1, OwnerApproves: true}
	b.At = item
	if name := item.Require(f, "name", "the protected branch"); name != nil {
		b.Name, _ = name.Text("name")
		b.At = name
	}
	if f["approvals"] != nil {
		if v, ok := f["approvals"].Int("approvals", 0, 100); ok {
			b.Needs.Approvals = int(v)
		}
	}
	if f["from"] != nil {
		from, ok := f["from"].Fields("from", "group")
		if group := f["from"].Require(from, "group", "from"); ok && group != nil {
			if s, ok := group.Text("from.group"); ok {
				b.Needs.Group = &strictyaml.Entry{Key: s, At: group}
			}
		}
	}
	for key, set := range map[string]*bool{"checks": &b.Needs.Checks, "owner_approves": &b.Needs.OwnerApproves} {
		if f[key] != nil {
			if v, ok := f[key].Bool(key); ok {
				*set = v
			}
		}
	}
	return b, true
}

// CheckGroups reports each group of the branches that is not one of the known groups.
func (r *Rules) CheckGroups(known []string) {
	for _, b := range r.Branches {
		if b.Needs != nil && b.Needs.Group != nil && !slices.Contains(known, b.Needs.Group.Key) {
			b.Needs.Group.At.Unknown(strictyaml.UnknownName, "group", b.Needs.Group.Key, "the protection of branch "+b.Name, known)
		}
	}
}
