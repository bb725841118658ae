package policy

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/internal/server/policy/protected"
	"github.com/omnigraph-go/omnigraph/internal/strictyaml"
)

// setting is a short name that keeps the tables of this file compact.
type setting = strictyaml.Setting

// The patterns of names, and the same limits in words.
const (
	ruleIDPattern = `^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$` // of ids of rules and groups
	actorPattern  = protected.ActorPattern              // of names of actors

	ruleIDLimits = "at most 64 letters, digits and _ . -, of which the first is a letter or a digit"
	actorLimits  = "at most 128 characters of ASCII without blanks"
)

// actorSetting describes one name of an actor.
var actorSetting = &setting{Example: "act-ada", Pattern: actorPattern, Limits: actorLimits, Text: "This is the name of an actor."}

// Settings describes a policy file in YAML.
var Settings = &setting{
	Type: strictyaml.Mapping,
	Text: "A policy says which actor may do what, on a graph or on the server.",
	Keys: []*setting{
		{Key: "version", Type: strictyaml.Int, Min: 1, Max: 1, Required: true, Example: "1",
			Text: "This is the version of the format of the file."},
		{Key: "groups", Type: strictyaml.Map, Default: "no groups", Pattern: ruleIDPattern, Example: "{ admins: [act-ada] }",
			Each:   &setting{Type: strictyaml.List, Each: actorSetting, Example: "[act-ada, act-bob]", Text: "These actors are the group."},
			Limits: "a name is " + ruleIDLimits,
			Text:   "Each entry is a group, and lists its actors."},
		protected.BranchesSetting,
		protected.OwnersSetting,
		protected.FiltersSetting,
		{Key: "rules", Type: strictyaml.List, Required: true, Each: ruleSettings,
			Limits:  "rules with different ids; the list may be empty",
			Example: "[{ id: readers-read, allow: { actors: any, actions: [read] } }]",
			Text:    "A rule allows or denies some actions to some actors; an action that no rule allows is denied, and a rule that denies wins."},
	},
}

// ruleSettings describes one rule.
var ruleSettings = &setting{
	Type: strictyaml.Mapping, Example: "{ id: readers-read, allow: { actors: any, actions: [read] } }", ExactlyOne: []string{"allow", "deny"},
	Text: "This is a rule: it has either allow or deny.",
	Keys: []*setting{
		{Key: "id", Required: true, Example: "readers-read", Pattern: ruleIDPattern, Limits: ruleIDLimits,
			Text: "Explanations and errors name the rule by this id."},
		ruleBody("allow", "The rule allows what this section describes.", slices.DeleteFunc(slices.Clone(clauseSettings.Keys), func(k *setting) bool { return k == throughSettings })),
		ruleBody("deny", "The rule denies what this section describes, even if another rule allows it.", clauseSettings.Keys),
	},
}

// clauseSettings describes the values of allow and deny.
var clauseSettings = &setting{Type: strictyaml.Mapping, Keys: []*setting{
	{Key: "actors", Type: strictyaml.Union, Required: true, Example: "{ group: admins }",
		Text: "The rule is about these actors.",
		Forms: []*setting{
			{Type: strictyaml.Choice, OneOf: []string{"any"}, Example: "any", Text: "The rule is about every actor."},
			{Type: strictyaml.Mapping, Example: "{ group: admins }", Text: "The rule is about the actors of a group.", Keys: []*setting{
				{Key: "group", Required: true, Example: "admins", Limits: "a group of this file, or of server.oidc.groups in cluster.yaml", Text: "This is the group."}}},
			{Type: strictyaml.Mapping, Example: "{ ids: [act-ada] }", Text: "The rule is about the actors of a list.", Keys: []*setting{
				{Key: "ids", Type: strictyaml.List, NotEmpty: true, Required: true, Each: actorSetting, Limits: actorLimits, Example: "[act-ada]", Text: "These are the actors."}}},
		}},
	{Key: "actions", Type: strictyaml.List, NotEmpty: true, Required: true, Example: "[read, change]",
		Each:   &setting{Type: strictyaml.Choice, OneOf: actionNames(), Example: "read", Text: "This is an action."},
		Limits: "some of " + strings.Join(actionNames(), ", ") + "; a file has rules about graphs or rules about the server, not both",
		Text:   "The rule is about these actions."},
	{Key: "branch_scope", Type: strictyaml.Choice, OneOf: branchScopes, Default: "any", Example: "protected",
		Limits: takenBy(branchScope), Text: "The rule is about reads or writes on these branches only; draft means the actor's own drafts."},
	{Key: "target_branch_scope", Type: strictyaml.Choice, OneOf: branchScopes, Default: "any", Example: "unprotected",
		Limits: takenBy(targetBranchScope), Text: "The rule is about operations whose target is one of these branches only; draft means the actor's own drafts."},
	{Key: "queries", Type: strictyaml.List, NotEmpty: true, Default: "every stored query", Example: "[find_person]",
		Each:   &setting{Example: "find_person", Limits: "a stored query", Text: "This is a stored query."},
		Limits: "stored queries; " + takenBy(queriesScope) + ", and with read and change if via is stored", Text: "The rule is about these stored queries only."},
	{Key: "sources", Type: strictyaml.List, NotEmpty: true, Default: "every source", Example: "[crm]",
		Each:   &setting{Example: "crm", Limits: "the name of a source", Text: "This is a source, as --source names it."},
		Limits: "sources; " + takenBy(sourcesScope), Text: "The rule is about loads in the name of these sources only."},
	{Key: "via", Type: strictyaml.Choice, OneOf: viaWords, Default: "all", Example: "stored",
		Limits: takenBy(viaScope), Text: "The rule is only about stored queries (for read and change), only about merges of proposals (for branch_merge), or only about everything else."},
	{Key: "as", Type: strictyaml.Choice, OneOf: []string{string(agentLink)}, Default: "the actor takes part in the call in any way", Example: "agent",
		Limits: "not with through", Text: "The rule is only about an actor that acts for another, not about calls that it makes for itself."},
	throughSettings,
	{Key: "unless", Type: strictyaml.Mapping, Default: "no exception", Example: "{ group: payroll }", Text: "The rule is not about the actors of this group.",
		Keys: []*setting{{Key: "group", Required: true, Example: "payroll", Limits: "a group of this file, or of server.oidc.groups in cluster.yaml", Text: "This is the group."}}},
	{Key: "types", Type: strictyaml.List, NotEmpty: true, Default: "every type", Example: "[Case]",
		Each:   &setting{Example: "Case", Limits: "a node type, an edge type or an interface of the schema", Text: "This is a type; an interface stands for the types that implement it."},
		Limits: takenByParts, Text: "The rule is about these types only."},
	{Key: "properties", Type: strictyaml.List, NotEmpty: true, Default: "every property", Example: "[Person.salary]",
		Each:   &setting{Example: "Person.salary", Limits: "a type, a dot and one of its properties", Text: "This is a property of a type or of an interface."},
		Limits: takenByParts + "; not with rows", Text: "The rule is about these properties only."},
	{Key: "rows", Default: "every node and edge", Example: "north", Limits: "a filter; " + takenByParts, Text: "The rule is about the entities only that pass this filter."},
}}

// throughSettings describes the value of through.
var throughSettings = &setting{Key: "through", Type: strictyaml.Mapping, Default: "calls through any agent and through none", Example: "{ group: bots }",
	Limits: "not with as: agent", Text: "The rule is only about calls that an agent of this group makes for the actor.",
	Keys: []*setting{{Key: "group", Required: true, Example: "bots", Limits: "a group of this file, or of server.oidc.groups in cluster.yaml", Text: "This is the group of the agent."}}}

// The values of keys in a rule. The key target_branch_scope has the values of branch_scope.
var (
	branchScopes = []string{"any", "protected", "unprotected", "draft"} // of branch_scope
	viaWords     = []string{"adhoc", "stored", "proposal"}              // of via
)

// ruleBody returns the setting allow or deny.
func ruleBody(key, text string, keys []*setting) *setting {
	return &setting{
		Key: key, Type: strictyaml.Mapping, Default: "none", Limits: "a rule has either allow or deny",
		Example: "{ actors: { group: admins }, actions: [read, change] }", Text: text, Keys: keys,
	}
}

// takenByParts says which actions a rule about a part of a graph can name.
const takenByParts = "only with read, change and export"

// takenBy says which actions a rule with the scope can name.
func takenBy(s scope) string { return "only with " + strings.Join(actionsWith(s), ", ") }
