package policy

import (
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/policy/protected"
	"github.com/omnigraph-go/omnigraph/internal/strictyaml"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

const protectedPolicy = `version: 1
groups: { reviewers: [act-ada], team: [act-ada, act-bot] }
owners: { act-bot: [act-ada, act-bo] }
protected_branches: [release, { name: main, approvals: 2, from: { group: reviewers }, checks: true, owner_approves: false }, { name: next }]
rules:
  - id: all
    allow: { actors: any, actions: [read, change, branch_merge, branch_delete, schema_apply] }
  - id: root
    allow: { actors: { ids: [act-root] }, actions: [protection_bypass] }
`

// TestProtection checks what a bundle says about its protected branches, and how an explanation
// shows it.
func TestProtection(t *testing.T) {
	p, err := Compile("policy.yaml", []byte(protectedPolicy), Options{Graph: "code", TokenGroups: map[string]string{"idp-reviewers": "reviewers"}})
	if err != nil {
		t.Fatal(err)
	}
	for branch, want := range map[string]*tool.Protection{
		"": {Approvals: 2, Group: "reviewers", Checks: true, NoOwners: true}, "main": {Approvals: 2, Group: "reviewers", Checks: true, NoOwners: true}, "next": {Approvals: 1}, "release": nil, "other": nil,
	} {
		if got := p.Protection(tool.BranchNamed(branch)); (got == nil) != (want == nil) || got != nil && *got != *want {
			t.Errorf("branch %q has the protection %+v, want %+v", branch, got, want)
		}
	}
	for _, tt := range []struct {
		owner, actor string
		want         bool
	}{{"act-ada", "act-bot", true}, {"act-bo", "act-bot", true}, {"act-bot", "act-ada", false}, {"act-ada", "act-ada", false}, {"", "", false}} {
		if got := p.Owns(tt.owner, tt.actor); got != tt.want {
			t.Errorf("%q owns %q: %t, want %t", tt.owner, tt.actor, got, tt.want)
		}
	}
	for _, tt := range []struct {
		actor *access.Actor
		group string
		want  bool
	}{
		{&access.Actor{ID: "act-ada"}, "reviewers", true}, {&access.Actor{ID: "act-bot"}, "reviewers", false}, {&access.Actor{ID: "act-bot"}, "team", true},
		{&access.Actor{ID: "act-sso", Groups: []string{"idp-reviewers"}}, "reviewers", true}, {&access.Actor{ID: "act-sso", Groups: []string{"reviewers"}}, "reviewers", false},
	} {
		if got := p.InGroup(tt.actor, tt.group); got != tt.want {
			t.Errorf("%+v in group %s: %t, want %t", tt.actor, tt.group, got, tt.want)
		}
	}
	for _, tt := range []struct {
		actor string
		grant tool.Grant
		want  bool
	}{
		{"act-ada", tool.Grant{Action: tool.Read}, true},
		{"act-ada", tool.Grant{Action: tool.Change}, false},
		{"act-ada", tool.Grant{Action: tool.Change, Via: tool.Stored, Query: "q"}, false},
		{"act-ada", tool.Grant{Action: tool.SchemaApply, Branch: tool.BranchNamed("main")}, false},
		{"act-ada", tool.Grant{Action: tool.BranchDelete, Branch: tool.BranchNamed("next")}, false},
		{"act-ada", tool.Grant{Action: tool.BranchMerge, Branch: tool.BranchNamed("main")}, false},
		{"act-ada", tool.Grant{Action: tool.BranchMerge, Branch: tool.BranchNamed("main"), Via: tool.Proposed}, true},
		{"act-ada", tool.Grant{Action: tool.Change, Branch: tool.BranchNamed("main"), Via: tool.Proposed}, true},
		{"act-ada", tool.Grant{Action: tool.Change, Branch: tool.BranchNamed("release")}, true},
		{"act-root", tool.Grant{Action: tool.Change, Branch: tool.BranchNamed("main")}, true},
	} {
		e := p.Explain(&access.Actor{ID: tt.actor}, tt.grant)
		if e.Allowed != tt.want || e.Protected != !tt.want {
			t.Errorf("%s %+v: allowed %t, protected %t; want allowed %t", tt.actor, tt.grant, e.Allowed, e.Protected, tt.want)
		}
	}
	if text := p.Standalone(); !strings.Contains(text, "branch main changes only by merging proposals") {
		t.Errorf("the standalone policy does not mention the protection:\n%s", text)
	}
}

// TestCedarProtection checks the protected branches that cluster.yaml states for a policy in Cedar's own
// language.
func TestCedarProtection(t *testing.T) {
	const text = `@id("all") permit (principal, action in [Action::"read", Action::"change", Action::"branch_merge"], resource);
@id("free") forbid (principal == Actor::"act-bot", action == Action::"change", resource) when { context.protected };
`
	o := Options{Graph: "code", TokenGroups: map[string]string{"idp-reviewers": "reviewers"}}
	if _, err := CompileCedar("policy.cedar", []byte(text), o); err == nil || !strings.Contains(err.Error(), "the graph has no protected branches") {
		t.Errorf("context.protected without protected branches: %v", err)
	}
	r := strictyaml.Read("cluster.yaml", []byte("protected_branches: [release, { name: main, from: { group: reviewers }, checks: true }]\nowners: { act-bot: [act-ada] }\n"))
	f, _ := r.Root().Fields("cluster.yaml", "protected_branches", "owners")
	o.Protected = protected.Parse(f["protected_branches"], f["owners"], nil)
	if err := r.Faults().Err(); err != nil {
		t.Fatal(err)
	}
	p, err := CompileCedar("policy.cedar", []byte(text), o)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := p.Protection(tool.Branch{}), (tool.Protection{Approvals: 1, Group: "reviewers", Checks: true}); got == nil || *got != want {
		t.Errorf("main has the protection %+v, want %+v", got, want)
	}
	if p.Protection(tool.BranchNamed("release")) != nil || !p.Owns("act-ada", "act-bot") {
		t.Error("release is protected in full, or act-ada does not own act-bot")
	}
	if got := strings.Join(p.Branches(), " "); got != "main release" {
		t.Errorf("the policy names %s", got)
	}
	for branch, want := range map[string]bool{"main": false, "release": false, "other": true} {
		if got := p.Allowed(&access.Actor{ID: "act-bot"}, tool.Grant{Action: tool.Change, Branch: tool.BranchNamed(branch)}); got != want {
			t.Errorf("act-bot may change %s: %t, want %t", branch, got, want)
		}
	}
	if e := p.Explain(&access.Actor{ID: "act-ada"}, tool.Grant{Action: tool.Change}); e.Allowed || !e.Protected {
		t.Errorf("the explanation of a change of main is %+v", e)
	}
}

// TestChangeOfProposal checks that rules see the change of a proposal as an ad-hoc change.
func TestChangeOfProposal(t *testing.T) {
	for via, want := range map[string]bool{"adhoc": true, "stored": false} {
		text := "version: 1\nrules:\n  - id: all\n    allow: { actors: any, actions: [change], via: " + via + " }\n"
		p, err := Compile("policy.yaml", []byte(text), Options{Graph: "code"})
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Allowed(&access.Actor{ID: "act-ada"}, tool.Grant{Action: tool.Change, Branch: tool.BranchNamed("main"), Via: tool.Proposed}); got != want {
			t.Errorf("via: %s allows it: %t, want %t", via, got, want)
		}
	}
}

// TestProtectionFaults checks the faults that are found in lists of protected branches.
func TestProtectionFaults(t *testing.T) {
	for entry, want := range map[string]string{
		"{ name: main, from: { group: nosuch } }": `unknown group "nosuch" in the protection of branch main`,
		"{ approvals: 1 }":                        "has no name",
		"{ name: main, approvals: many }":         "approvals",
		"{ name: main, approvals: -1 }":           "approvals",
		"{ name: main, reviews: 1 }":              `unknown key "reviews"`,
		"{ name: main, from: reviewers }":         "from",
		"{ name: main, from: {} }":                "has no group",
		"main, { name: main }":                    "branch main is in protected_branches twice",
		"{ name: main, checks: some }":            "checks",
		"{ name: main, owner_approves: 1 }":       "owner_approves",
		"]\nowners: { act-bot: [] }\nx: [":        "the list of the owners of act-bot is empty",
		"]\nowners: { act-bot: [act-bot] }\nx: [": "act-bot is listed as its own owner",
		"]\nowners: { act-bot: [a b] }\nx: [":     "an actor's name must be",
		"]\nowners: [act-bot]\nx: [":              "owners",
	} {
		_, err := Compile("policy.yaml", []byte("version: 1\ngroups: { reviewers: [act-ada] }\nprotected_branches: ["+entry+"]\nrules: []\n"), Options{Graph: "code"})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", entry, err, want)
		}
	}
}
