package access

import "github.com/omnigraph-go/omnigraph/server/tool"

// Explainer is an Authorizer that can name the rules behind its decisions.
type Explainer interface {
	Authorizer

	// Decision decides as Allowed does, and returns the rules that decided.
	Decision(actor *Actor, g tool.Grant) Decision

	// Actors returns the actors that the rules name, sorted.
	Actors() []string
}

// Decision is a decision of an Explainer with its reasons.
type Decision struct {
	Allowed bool // the decision

	// Deciding lists the rules that allowed, or the rules that denied. If it is empty and Allowed
	// is false, no rule allows the action.
	Deciding []Rule

	// Near lists the rules that would have allowed the action if one more condition had held. It is
	// empty if a rule denies.
	Near []NearRule

	Unanswerable string // why no rule could apply, or ""
}

// Rule is a rule with its place.
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
