package access

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Explainer is an Authorizer that can name the rules behind its decisions.
type Explainer interface {
	Authorizer

	// Decision decides in the same way as Allowed, and also returns the rules behind the decision.
	Decision(actor *Actor, g tool.Grant) Decision

	// Allowing returns the ids of the rules that allow a grant, separated by blanks. It is "" for a grant that is denied.
	Allowing(actor *Actor, g tool.Grant) string

	// Actors returns the actors that the rules name, sorted.
	Actors() []string

	// Parts says what the rules show of each type of a schema, to an actor that has a grant: node types first, then edge types. It
	// returns nil if no rule about the action is about a part of a graph.
	Parts(actor *Actor, g tool.Grant, schema *engine.Schema) []Part
}

// Part says what rules show of a type, and which rules decide it.
type Part struct {
	Type   string // name of the type
	Hidden bool   // nothing of the type is shown
	Reason string // why the type is hidden, if no rule that hides it says so
	// Rows are the filters that an entity must pass: one of each list. There is a list for each actor of a call that has one.
	Rows    [][]string
	NotRows []string // the filters that an entity must not pass
	Without []string // the properties that are hidden
	Rules   []Rule
}

// Decision says whether an Explainer allows a grant, and why.
type Decision struct {
	Allowed bool // whether the grant is allowed

	// Deciding lists the rules that allowed the grant, or those that denied it. If it is empty and
	// Allowed is false, the grant is denied because no rule allows it.
	Deciding []Rule

	// Near lists the rules that would have allowed the grant if one more condition had held. It is
	// empty if a rule denies the grant.
	Near []NearRule

	// Reason says what the rules do not: why none could apply, which actor of a call through an agent is not allowed, or that the
	// branch changes only by merging proposals. It is "" if the rules say all.
	Reason string
}

// Rule is a rule of a policy, and where it is written.
type Rule struct {
	ID   string
	Deny bool   // the rule denies; otherwise it allows
	File string // the policy file; empty if the rule does not come from a file
	Line int    // line of the rule in the file, from 1; 0 if it does not come from a file
}

// NearRule is a rule that would allow an action if one more condition held.
type NearRule struct {
	Rule
	Missing string // the condition, as Cedar text
}

// Allowing returns the ids of the rules that allow the grants, separated by blanks. The authorizer allows each of them. It is empty if the authorizer
// cannot name rules.
func (c *Control) Allowing(actor *Actor, grants []tool.Grant) string {
	e, ok := c.authorizer.(Explainer)
	if !ok || actor == nil {
		return ""
	}
	var all []string
	for _, grant := range grants {
		grant.OwnDraft = grant.OwnDraft || c.OwnsDraft(actor, grant.Branch)
		rules := e.Allowing(actor, grant)
		if len(grants) == 1 {
			return rules
		}
		for rule := range strings.FieldsSeq(rules) {
			if !slices.Contains(all, rule) {
				all = append(all, rule)
			}
		}
	}
	return strings.Join(all, " ")
}

// Denying returns the rules that deny the first of the grants that the authorizer denies. It is empty if no rule allows that grant,
// or if the authorizer cannot name rules.
func (c *Control) Denying(actor *Actor, grants []tool.Grant) []Rule {
	e, ok := c.authorizer.(Explainer)
	for _, grant := range grants {
		if ok && actor != nil && !c.granted(actor, grant) {
			grant.OwnDraft = grant.OwnDraft || c.OwnsDraft(actor, grant.Branch)
			return e.Decision(actor, grant).Deciding
		}
	}
	return nil
}
