package policy

import (
	"bytes"
	"slices"
	"strings"

	"github.com/cedar-policy/cedar-go"
	build "github.com/cedar-policy/cedar-go/ast"
	"github.com/cedar-policy/cedar-go/x/exp/ast"

	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Explanation gives a decision and its reasons.
type Explanation struct {
	Allowed bool // the decision

	// Deciding lists the rules that allowed, or the rules that denied. If Deciding is empty and
	// Allowed is false, no rule allows the request.
	Deciding []Rule

	// Near lists rules about the action that would have allowed the request if one part of them had
	// held. It is filled only if no rule allows and none denies.
	Near []NearRule

	// Protected is true if the rules allow the request, but the branch changes only by merging
	// proposals, and the actor does not have protection_bypass. Then Allowed is false.
	Protected bool

	// Unanswerable is the reason why no rule could apply, or "". If Allowed is true, no rule names the action.
	Unanswerable string

	// Refused says in words which of the actors of the call is not allowed, if an agent acts for another actor. It is "" for a
	// call without agents and for one that the rules allow.
	Refused string
}

// Rule identifies a rule of a policy and its place.
type Rule struct {
	ID   string
	Deny bool      // the rule denies; otherwise it allows
	At   diag.Span // the zero span if the policy does not come from a file
}

// NearRule is a rule that does not apply because one of its parts does not hold.
type NearRule struct {
	Rule
	Part string // the part that does not hold, as Cedar text
}

// Explain decides as a server does: it combines the answer of [Policy.Allowed] with the protection
// of the branch. It also returns the rules behind the decision: those of the first actor of the call that is not allowed, or all.
func (p *Policy) Explain(actor *access.Actor, g tool.Grant) Explanation {
	var e Explanation
	for i, l := range p.links(actor) {
		one := p.explain(l, g)
		if !one.Allowed {
			one.Refused = l.refusal()
			return one
		}
		if i == 0 {
			e = one
			continue
		}
		for _, r := range one.Deciding {
			if !slices.Contains(e.Deciding, r) {
				e.Deciding = append(e.Deciding, r)
			}
		}
	}
	if access.PastProposals(g) && p.Protection(g.Branch) != nil && !p.Allowed(actor, tool.Grant{Action: tool.ProtectionBypass, Branch: g.Branch}) {
		e.Allowed, e.Protected = false, true
	}
	return e
}

// explain explains the decision about one link, without the protection of the branch.
func (p *Policy) explain(l link, g tool.Grant) Explanation {
	req, ok := p.request(l, g)
	if !ok {
		return Explanation{Unanswerable: "no rule can decide this: the policy does not apply to the action, or the actor or the stored query is missing"}
	}
	if p.byAction[g.Action].unnamed {
		return Explanation{Allowed: true, Unanswerable: "no rule names " + string(g.Action) + ", so the policy does not decide about it"}
	}
	known := p.entitiesFor(l)
	allowed, diagnostic := p.byAction[g.Action].authorize(known, req)
	e := Explanation{Allowed: allowed}
	deciding := map[cedar.PolicyID]bool{}
	for _, r := range diagnostic.Reasons {
		deciding[r.PolicyID] = true
	}
	if len(diagnostic.Errors) > 0 {
		// A rule that could not be evaluated denies the request.
		clear(deciding)
		for _, f := range diagnostic.Errors {
			deciding[f.PolicyID] = true
		}
	}
	for _, c := range p.byAction[g.Action].all {
		switch {
		case deciding[c.id]:
			e.Deciding = append(e.Deciding, c.rule())
		case len(deciding) == 0 && c.policy.Effect() == cedar.Permit:
			req := req
			if c.resources != nil {
				req.Resource = c.resources[0]
			}
			if part, near := c.onlyFailing(func(one *ast.Policy) bool {
				d, diagnostic := cedar.Authorize(policies{{policy: cedar.NewPolicyFromAST((*build.Policy)(one))}}, known, req)
				return d == cedar.Allow && len(diagnostic.Errors) == 0
			}); near {
				e.Near = append(e.Near, NearRule{c.rule(), part})
			}
		}
	}
	return e
}

// rule returns the id, the effect and the place of the rule.
func (c compiled) rule() Rule {
	return Rule{ID: string(c.id), Deny: c.policy.Effect() == cedar.Forbid, At: c.at}
}

// onlyFailing evaluates each part of a policy separately. If exactly one part does not hold,
// onlyFailing returns that part and true.
func (c compiled) onlyFailing(holds func(*ast.Policy) bool) (part string, one bool) {
	whole := (*ast.Policy)(c.policy.AST())
	var parts []*ast.Policy
	add := func(set func(*ast.Policy)) {
		p := ast.Permit()
		set(p)
		parts = append(parts, p)
	}
	add(func(p *ast.Policy) { p.Principal = whole.Principal })
	add(func(p *ast.Policy) { p.Resource = whole.Resource })
	for _, condition := range whole.Conditions {
		add(func(p *ast.Policy) { p.Conditions = []ast.ConditionType{condition} })
	}
	failed := 0
	for _, p := range parts {
		if !holds(p) {
			failed++
			part = partText(p)
		}
	}
	return part, failed == 1
}

// partText returns the Cedar text of the one part of p that is set. The rest of p is the default
// permit policy.
func partText(p *ast.Policy) string {
	var text bytes.Buffer
	text.Write((*build.Policy)(p).MarshalCedar())
	for _, line := range strings.Split(text.String(), "\n") {
		line = strings.TrimRight(strings.TrimSpace(line), ",;")
		switch line {
		case "", "principal", "action", "resource", "permit (", ")", "permit ( principal, action, resource )":
		default:
			return line
		}
	}
	return strings.TrimSpace(text.String())
}
