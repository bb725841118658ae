package access

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Control answers questions about what actors may do on one graph. It is safe for concurrent
// use.
type Control struct {
	authorizer Authorizer   // decides about the grants
	engine     engine.Graph // the graph
}

// NewControl returns the access control of a graph.
func NewControl(a Authorizer, g engine.Graph) *Control { return &Control{authorizer: a, engine: g} }

// Authorizer returns the authorizer of the graph.
func (c *Control) Authorizer() Authorizer { return c.authorizer }

// Allowed reports whether the authorizer allows a grant, and no protection of the branch forbids
// the grant. A nil actor is allowed nothing.
func (c *Control) Allowed(actor *Actor, grant tool.Grant) bool {
	return c.granted(actor, grant) && (!c.protects(grant) || c.bypasses(actor, grant))
}

// granted asks the authorizer for a grant.
func (c *Control) granted(actor *Actor, grant tool.Grant) bool {
	if actor == nil {
		return false
	}
	grant = placed(grant)
	grant.OwnDraft = grant.OwnDraft || c.OwnsDraft(actor, grant.Branch)
	return c.authorizer.Allowed(actor, grant)
}

// DraftAlias returns NAME if the name of a branch is draft/NAME, and "" if it is draft. It reports whether
// the name is one of these, which stand for drafts of the caller unless a branch has the name itself.
func DraftAlias(branch string) (name string, ok bool) {
	if branch == "draft" {
		return "", true
	}
	name, ok = strings.CutPrefix(branch, engine.DraftPrefix)
	if !ok || name == "" || engine.CheckDraftName(name) != nil {
		return "", false
	}
	return name, true
}

// OwnsDraft reports whether a branch is a draft of the actor, which may have ended. It is false for a
// draft that does not exist, so that a policy treats such a draft like those of others.
func (c *Control) OwnsDraft(actor *Actor, branch string) bool {
	id, ok := engine.DraftID(branch)
	if !ok || c.engine == nil {
		return false
	}
	own, err := c.engine.Drafts(context.Background(), engine.DraftRange{ID: id, Owner: actor.ID})
	return err == nil && len(own) > 0
}

// Confined reports whether the policy lets the actor use a grant on its own drafts, but neither on main
// nor on another branch with the name of a draft. So the policy confines the actor to drafts.
func (c *Control) Confined(actor *Actor, grant tool.Grant) bool {
	onMain, onOther := grant, grant
	onMain.Branch, onOther.Branch = engine.MainBranch, "draft"
	onOwn := onOther
	onOwn.OwnDraft = true
	return !c.granted(actor, onMain) && !c.granted(actor, onOther) && c.granted(actor, onOwn)
}

// placed returns the grant. If the grant is about a branch and does not name one, placed sets the
// branch to main.
func placed(grant tool.Grant) tool.Grant {
	if grant.Branch == "" && OnBranch(grant.Action) {
		grant.Branch = engine.MainBranch
	}
	return grant
}

// PastProposals reports whether a grant permits changing a branch without merging a proposal. Such
// a grant is refused on a branch with a protection, unless the actor may bypass the protection. A
// tool.Change via tool.Proposed changes no branch.
func PastProposals(grant tool.Grant) bool {
	switch grant.Action {
	case tool.SchemaApply, tool.BranchDelete:
		return true
	case tool.Change, tool.BranchMerge:
		return grant.Via != tool.Proposed
	}
	return false
}

// protects reports whether the protection of a branch forbids the grant.
func (c *Control) protects(grant tool.Grant) bool {
	return PastProposals(grant) && c.authorizer.Protection(placed(grant).Branch) != nil
}

// bypasses reports whether the actor may change the protected branch of the grant without merging a
// proposal.
func (c *Control) bypasses(actor *Actor, grant tool.Grant) bool {
	return actor != nil && c.authorizer.Allowed(actor, tool.Grant{Action: tool.ProtectionBypass, Branch: placed(grant).Branch})
}

// Bypassed returns the first protected branch that the grants permit to change without merging a
// proposal, or "" if there is none. Require must have accepted the grants.
func (c *Control) Bypassed(grants []tool.Grant) string {
	for _, grant := range grants {
		if c.protects(grant) {
			return placed(grant).Branch
		}
	}
	return ""
}

// Protection returns the protection of a branch, or nil if the branch has none.
func (c *Control) Protection(branch string) *tool.Protection { return c.authorizer.Protection(branch) }

// Owns reports whether an actor is an owner of another actor.
func (c *Control) Owns(owner, actor string) bool { return c.authorizer.Owns(owner, actor) }

// InGroupAs returns a function that reports whether another actor of the same tenant as `caller` is
// in a group of the policy.
func (c *Control) InGroupAs(caller *Actor) func(actor string, groups []string, group string) bool {
	return func(actor string, groups []string, group string) bool {
		return c.authorizer.InGroup(other(caller, actor, groups), group)
	}
}

// AllowedAs returns a function that reports whether another actor of the same tenant as `caller` has
// a grant.
func (c *Control) AllowedAs(caller *Actor) func(actor string, groups []string, grant tool.Grant) bool {
	return func(actor string, groups []string, grant tool.Grant) bool {
		return c.Allowed(other(caller, actor, groups), grant)
	}
}

// other returns an actor with the name `actor` that has the same tenant as the caller.
func other(caller *Actor, actor string, groups []string) *Actor {
	a := &Actor{ID: actor, Groups: groups}
	if caller != nil {
		a.Tenant, a.Source = caller.Tenant, caller.Source
	}
	return a
}

// OpensDraft reports whether a call with the grant writes to the branch, and so opens the draft that the
// name of the branch stands for.
func OpensDraft(grant tool.Grant) bool {
	return grant.Action == tool.Change && grant.Via != tool.Proposed || grant.Action == tool.SchemaApply
}

// Require returns a *wireerror.Forbidden for the first grant that the actor lacks, a
// *wireerror.Protected for the first grant that the protection of a branch forbids, or nil.
func (c *Control) Require(actor *Actor, grants ...tool.Grant) error {
	for _, grant := range grants {
		grant = placed(grant)
		switch {
		case !c.granted(actor, grant):
			own := grant.Branch != "" && !grant.OwnDraft && OpensDraft(grant) && c.Confined(actor, grant)
			return &wireerror.Forbidden{Action: grant.Action, Branch: grant.Branch, OnDrafts: own}
		case c.protects(grant) && !c.bypasses(actor, grant):
			return &wireerror.Protected{Action: grant.Action, Branch: grant.Branch}
		}
	}
	return nil
}

// HelpFor removes the help and the route from an argument error unless the actor has the grant in
// the error's field HelpFor.
func (c *Control) HelpFor(actor *Actor, err error) error {
	var a *tool.ArgumentError
	if !errors.As(err, &a) || a.HelpFor == nil || c.Allowed(actor, *a.HelpFor) {
		return err
	}
	short := *a
	short.Help, short.Route, short.HelpFor = "", "", nil
	return &short
}

// Placed returns the grants with a branch in place of each commit: the branch on which the commit
// was made. If the commit does not exist, or if the actor lacks the grant for its branch, the error
// is an *engine.NotFound, which is the same in both cases. If the actor lacks the grant for main
// too, Placed instead returns the grant on main, and the check of that grant then fails. Thus an
// actor that may read nothing cannot probe for commits.
func (c *Control) Placed(ctx context.Context, actor *Actor, grants []tool.Grant) ([]tool.Grant, error) {
	if !slices.ContainsFunc(grants, func(g tool.Grant) bool { return g.Commit != "" }) {
		return grants, nil
	}
	grants = slices.Clone(grants)
	for i := range grants {
		id := grants[i].Commit
		if id == "" {
			continue
		}
		grants[i].Commit = ""
		made, err := c.engine.Commit(ctx, id)
		var missing *engine.NotFound
		switch {
		case err == nil:
			grants[i].Branch = made.Branch
			if c.Allowed(actor, grants[i]) {
				continue
			}
		case !errors.As(err, &missing):
			return nil, err
		}
		grants[i].Branch = engine.MainBranch
		if c.Allowed(actor, grants[i]) {
			return nil, &engine.NotFound{What: "commit", Name: id}
		}
	}
	return grants, nil
}

// OnBranch reports whether an action applies to a branch.
func OnBranch(a tool.Action) bool { return a.Row().Branch() }
