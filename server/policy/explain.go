package policy

import (
	"bytes"
	"strings"

	"github.com/cedar-policy/cedar-go"
	build "github.com/cedar-policy/cedar-go/ast"
	"github.com/cedar-policy/cedar-go/x/exp/ast"

	"github.com/omnigraph-go/omnigraph/gq/diag"
	"github.com/omnigraph-go/omnigraph/server/service"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Explanation says how a question was decided.
type Explanation struct {
	Allowed bool

	// Deciding are the rules that allowed, or those that denied. None, where Allowed is
	// false, means that no rule allows.
	Deciding []Rule

	// Near are rules about the action that would have allowed but for one part, where no
	// rule allows and none denies.
	Near []NearRule

	// Unanswerable says why no rule could apply, or is "".
	Unanswerable string
}

// Rule names a rule of a policy and its place.
type Rule struct {
	ID   string
	Deny bool
	At   diag.Span // the zero span in a policy that stands in no file
}

// NearRule is a rule that does not apply because of one part.
type NearRule struct {
	Rule
	Part string // the part that does not hold, as Cedar writes it
}

// Explain decides as [Policy.Allowed] does and says by which rules.
func (p *Policy) Explain(actor *service.Actor, g tool.Grant) Explanation {
	req, ok := p.request(actor, g)
	if !ok {
		return Explanation{Unanswerable: "no rule can speak of this: the action is not one of what the policy applies to, or the actor or the stored query is missing"}
	}
	known := p.known(actor)
	decision, diagnostic := cedar.Authorize(p.byAction[g.Action], known, req)
	e := Explanation{Allowed: decision == cedar.Allow && len(diagnostic.Errors) == 0}
	deciding := map[cedar.PolicyID]bool{}
	for _, r := range diagnostic.Reasons {
		deciding[r.PolicyID] = true
	}
	if len(diagnostic.Errors) > 0 {
		// A rule that could not be evaluated denies.
		clear(deciding)
		for _, f := range diagnostic.Errors {
			deciding[f.PolicyID] = true
		}
	}
	for _, c := range p.byAction[g.Action] {
		switch {
		case deciding[c.id]:
			e.Deciding = append(e.Deciding, c.rule())
		case len(deciding) == 0 && c.policy.Effect() == cedar.Permit:
			if part, near := c.missing(func(one *ast.Policy) bool {
				d, diagnostic := cedar.Authorize(policies{{policy: cedar.NewPolicyFromAST((*build.Policy)(one))}}, known, req)
				return d == cedar.Allow && len(diagnostic.Errors) == 0
			}); near {
				e.Near = append(e.Near, NearRule{c.rule(), part})
			}
		}
	}
	return e
}

func (c compiled) rule() Rule {
	return Rule{ID: string(c.id), Deny: c.policy.Effect() == cedar.Forbid, At: c.at}
}

// missing tries each part of a policy by itself, and returns the one that does not
// hold if there is exactly one.
func (c compiled) missing(holds func(*ast.Policy) bool) (part string, one bool) {
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
			part = only(p)
		}
	}
	return part, failed == 1
}

// only writes the one part of a policy that is more than its type.
func only(p *ast.Policy) string {
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
