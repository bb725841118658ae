package access

import "github.com/omnigraph-go/omnigraph/server/tool"

// Explainer is an Authorizer that can name the rules behind its decisions.
type Explainer interface {
	Authorizer

	// Decision decides in the same way as Allowed, and also returns the rules behind the decision.
	Decision(actor *Actor, g tool.Grant) Decision

	// Actors returns the actors that the rules name, sorted.
	Actors() []string
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

	Unanswerable string // why no rule could apply, or ""
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
