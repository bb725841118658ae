package operations

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/restricted"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// ExplainAccess is the call that says what an actor may do on a graph, and why. Its answer is a
// client.AccessAnswer, which contains no data of the graph, but names of its types.
type ExplainAccess struct {
	Actor  *access.Actor // the actor whose permissions are explained
	Own    bool          // Actor is the caller, who may know what its calls would tell it, and no rules
	Branch tool.Branch   // the branch for which the permissions are explained; it has the name in the call

	Authorizer access.Authorizer // allows or denies the grants
	Tools      []tool.Tool       // the tools for which the needed permissions are explained
	Visible    func(context.Context, tool.Tool) (bool, error)
	OwnDraft   func(context.Context) (bool, error) // reports whether Branch stands for a draft of Actor
	// Decider returns a function that says what calls of Actor would be told; it is used if Own is true.
	Decider func(context.Context) (func(tool.Grant) (allowed, partial bool), error)

	own    bool                                     // what OwnDraft reported
	schema *engine.Schema                           // of main
	seen   *engine.Schema                           // of main, as the caller may see it
	decide func(tool.Grant) (allowed, partial bool) // what Decider returned; nil unless Own is true
}

// Needs returns the permission to read the policy, unless the caller asks about itself.
func (c *ExplainAccess) Needs() []tool.Need {
	if c.Own {
		return nil
	}
	return []tool.Need{{Action: tool.PolicyRead}}
}

// Run explains the decision about each action and each tool.
func (c *ExplainAccess) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	a := &client.AccessAnswer{
		Actor: c.Actor.Name(), Groups: append([]string{}, c.Actor.Groups...), Branch: c.Branch.Name(),
		Actors: []string{}, Decisions: []client.AccessDecision{}, Tools: []client.AccessTool{},
	}
	if e, ok := c.Authorizer.(access.Explainer); ok && !c.Own {
		a.Actors = append(a.Actors, e.Actors()...)
	}
	var err error
	if c.own, err = c.OwnDraft(ctx); err != nil {
		return nil, err
	}
	if c.Own {
		if c.decide, err = c.Decider(ctx); err != nil {
			return nil, err
		}
	}
	if r, ok := c.Authorizer.(access.Restrictor); ok && r.Restricts() && !c.Own {
		// The decisions are about the whole schema: rules about what the caller does not see decide about the rest of it too, as a text
		// hides its vectors.
		if c.schema, err = restricted.Whole(env.Graph).Schema(ctx, engine.Target{}); err != nil {
			return nil, err
		}
		if c.seen, err = env.Graph.Schema(ctx, engine.Target{}); err != nil {
			return nil, err
		}
	}
	for _, row := range tool.Actions() {
		switch {
		// Actions on the server do not concern the graph. The decisions about tools include those
		// about stored queries.
		case row.Server() || row.On == tool.OnQuery:
		case row.ByVia():
			for _, via := range row.Vias {
				a.Decisions = append(a.Decisions, c.decision(tool.Grant{Action: row.Action, Via: via}))
			}
		case row.On == tool.OnSource:
			if p, ok := c.Authorizer.(interface{ Sources() []string }); ok {
				for _, source := range p.Sources() {
					a.Decisions = append(a.Decisions, c.decision(tool.Grant{Action: row.Action, Source: source}))
				}
			}
			fallthrough // the sources that no rule names
		default:
			a.Decisions = append(a.Decisions, c.decision(tool.Grant{Action: row.Action}))
		}
	}
	for _, t := range c.Tools {
		visible, err := c.Visible(ctx, t)
		if err != nil {
			return nil, err
		}
		if c.Own && !visible {
			continue
		}
		d := t.Descriptor()
		entry := client.AccessTool{Name: d.Name, Title: d.Title, Visible: visible, Needs: []client.AccessDecision{}}
		grants := t.Gates()
		if q, ok := t.(tool.StoredQuery); ok {
			entry.Query = q.Info().Name
		}
		for _, grant := range grants {
			entry.Needs = append(entry.Needs, c.decision(grant))
		}
		a.Tools = append(a.Tools, entry)
	}
	return &tool.Outcome{Value: a}, nil
}

// decision explains the policy's decision about a grant. If the action is about a branch, decision
// uses the branch of the call.
func (c *ExplainAccess) decision(grant tool.Grant) client.AccessDecision {
	if access.OnBranch(grant.Action) {
		grant.Branch, grant.OwnDraft = c.Branch, c.own
	}
	d := client.AccessDecision{Action: string(grant.Action), Query: grant.Query, Source: grant.Source, Rules: []client.AccessRule{}}
	if grant.Action.Row().ByVia() {
		d.Via = string(grant.Via)
	}
	if c.Own {
		d.Allowed, d.Partial = c.decide(grant)
		return d
	}
	explainer, ok := c.Authorizer.(access.Explainer)
	if !ok {
		d.Allowed = c.Authorizer.Allowed(c.Actor, grant) && c.Actor.Scopes.Cover(grant.Action)
		return d
	}
	e := explainer.Decision(c.Actor, grant)
	d.Allowed, d.Reason = e.Allowed, e.Reason
	for _, r := range e.Deciding {
		d.Rules = append(d.Rules, ruleEntry(r))
	}
	if e.Allowed && grant.Action.Row().On == tool.OnBranch && c.schema != nil {
		for _, p := range explainer.Parts(c.Actor, grant, c.schema) {
			if !c.sees(p.Type, "") {
				continue
			}
			p.Without = slices.DeleteFunc(p.Without, func(property string) bool { return !c.sees(p.Type, property) })
			part := client.AccessPart{Type: p.Type, Hidden: p.Hidden, Reason: p.Reason, Rows: p.Rows, NotRows: p.NotRows, Without: p.Without, Rules: []client.AccessRule{}}
			for _, r := range p.Rules {
				part.Rules = append(part.Rules, ruleEntry(r))
			}
			d.Parts = append(d.Parts, part)
		}
	}
	for _, r := range e.Near {
		d.Near = append(d.Near, client.NearRule{AccessRule: ruleEntry(r.Rule), Missing: r.Missing})
	}
	return d
}

// sees reports whether the caller sees a type and, unless it is "", a property of it.
func (c *ExplainAccess) sees(typ, property string) bool {
	n, e := c.seen.Catalog.Node(typ), c.seen.Catalog.Edge(typ)
	if e != nil && e.Name != typ {
		e = nil
	}
	return n != nil && (property == "" || n.Property(property) != nil) || e != nil && (property == "" || e.Property(property) != nil)
}

// ruleEntry converts a rule to the form in which the answer contains it. It leaves out the folder
// of the policy file, because the folder tells something about the machine and nothing about the
// rule.
func ruleEntry(r access.Rule) client.AccessRule {
	entry := client.AccessRule{ID: r.ID, Deny: r.Deny, Line: r.Line}
	if r.File != "" {
		entry.File = filepath.Base(r.File)
	}
	return entry
}
