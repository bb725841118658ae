package access

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/restricted"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Control answers questions about what actors may do on one graph. It is safe for concurrent
// use.
type Control struct {
	authorizer Authorizer     // decides about the grants
	engine     engine.Graph   // the graph
	applied    *engine.Schema // see NewControl
	cache      restricted.Cache
}

// NewControl returns the access control of a graph. The rules of the authorizer were written for the schema `applied`, which is nil if
// nobody knows. If main has another one, actors that see a part of the graph do not see what is new in it.
func NewControl(a Authorizer, g engine.Graph, applied *engine.Schema) *Control {
	return &Control{authorizer: a, engine: g, applied: applied}
}

// Authorizer returns the authorizer of the graph.
func (c *Control) Authorizer() Authorizer { return c.authorizer }

// Allowed reports whether the authorizer allows a grant, a scope of the actor's token covers its action, and no protection
// of the branch forbids the grant. A nil actor is allowed nothing.
func (c *Control) Allowed(actor *Actor, grant tool.Grant) bool {
	s := actor.scopes()
	return s.Cover(grant.Action) && c.Permitted(actor, grant) && (s.Cover(tool.ProtectionBypass) || !c.protects(grant))
}

// Permitted is Allowed without regard to scopes. It decides what an actor sees in a list: a client that calls a tool learns
// which scope to ask for.
func (c *Control) Permitted(actor *Actor, grant tool.Grant) bool {
	return c.granted(actor, grant) && (!c.protects(grant) || c.bypasses(actor, grant))
}

// granted asks the authorizer for a grant.
func (c *Control) granted(actor *Actor, grant tool.Grant) bool {
	if actor == nil {
		return false
	}
	grant.OwnDraft = grant.OwnDraft || c.OwnsDraft(actor, grant.Branch)
	return c.authorizer.Allowed(actor, grant)
}

// DraftName is the name that stands for the first draft of the caller. draft/NAME stands for the draft
// with the name NAME.
const DraftName tool.BranchName = "draft"

// DraftAlias returns NAME if the name of a branch is draft/NAME, and "" if it is draft. It reports whether
// the name is one of these, which stand for drafts of the caller unless a branch has the name itself.
func DraftAlias(branch tool.BranchName) (name string, ok bool) {
	if branch == DraftName {
		return "", true
	}
	name, ok = strings.CutPrefix(string(branch), engine.DraftPrefix)
	if !ok || name == "" || engine.CheckDraftName(name) != nil {
		return "", false
	}
	return name, true
}

// OwnsDraft reports whether a branch is a draft of the actor, which may have ended. It is false for a
// draft that does not exist, so that a policy treats such a draft like those of others.
func (c *Control) OwnsDraft(actor *Actor, branch tool.Branch) bool {
	id, ok := branch.DraftID()
	if !ok || c.engine == nil {
		return false
	}
	own, err := c.engine.Drafts(context.Background(), engine.DraftRange{ID: id, Owner: actor.Name()})
	return err == nil && len(own) > 0
}

// Confined reports whether the policy lets the actor use a grant on its own drafts, but neither on main
// nor on another branch with the name of a draft. So the policy confines the actor to drafts.
func (c *Control) Confined(actor *Actor, grant tool.Grant) bool {
	onMain, onOther := grant, grant
	onMain.Branch, onOther.Branch = tool.Branch{}, otherDraft
	onOwn := onOther
	onOwn.OwnDraft = true
	return !c.granted(actor, onMain) && !c.granted(actor, onOther) && c.granted(actor, onOwn)
}

// otherDraft is a branch with the name of a draft, which need not exist.
var otherDraft = tool.BranchNamed(string(DraftName))

// OnOwnDraft returns a grant on a draft of the caller, which need not exist yet. The name in the call is for messages;
// if it is empty, the draft has the name draft.
func OnOwnDraft(grant tool.Grant, name tool.BranchName) tool.Grant {
	if !OnBranch(grant.Action) {
		return grant
	}
	grant.Branch, grant.OwnDraft = tool.BranchNamed(string(cmp.Or(name, DraftName))), true
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
	return PastProposals(grant) && c.authorizer.Protection(grant.Branch) != nil
}

// bypasses reports whether the policy lets the actor change the protected branch of the grant without merging a
// proposal.
func (c *Control) bypasses(actor *Actor, grant tool.Grant) bool {
	return actor != nil && c.authorizer.Allowed(actor, tool.Grant{Action: tool.ProtectionBypass, Branch: grant.Branch})
}

// Bypassed returns the first protected branch that the grants permit to change without merging a
// proposal, or nil if there is none. Require must have accepted the grants.
func (c *Control) Bypassed(grants []tool.Grant) *tool.Branch {
	for _, grant := range grants {
		if c.protects(grant) {
			return &grant.Branch
		}
	}
	return nil
}

// Protection returns the protection of a branch, or nil if the branch has none.
func (c *Control) Protection(branch tool.Branch) *tool.Protection {
	return c.authorizer.Protection(branch)
}

// Owns reports whether an actor is an owner of another actor.
func (c *Control) Owns(owner, actor string) bool { return c.authorizer.Owns(owner, actor) }

// InGroupAs reports whether another actor of the same tenant as `caller` is in a group of the policy. The groups of its agents do not count.
func (c *Control) InGroupAs(caller *Actor, actor string, groups []string, group string) bool {
	return c.authorizer.InGroup(other(caller, actor, groups), group)
}

// AllowedAs reports whether another actor of the same tenant as `caller` has a grant. The actor and its groups are as [Actor.Name] and
// [GroupsOf] return them.
func (c *Control) AllowedAs(caller *Actor, actor string, groups []string, grant tool.Grant) bool {
	return c.Allowed(other(caller, actor, groups), grant)
}

// other returns an actor with the name `actor` that has the same tenant as the caller.
func other(caller *Actor, actor string, groups []string) *Actor {
	a := Named(actor, groups)
	if caller != nil {
		a.Tenant, a.Source = caller.Tenant, caller.Source
	}
	return a
}

// OpensDraft reports whether a call with a permission writes to the branch, and so opens the draft that the
// name of the branch stands for.
func OpensDraft(action tool.Action, via tool.Via) bool {
	return action == tool.Change && via != tool.Proposed || action == tool.SchemaApply
}

// Require returns a *wireerror.Forbidden for the first grant that the actor lacks, a *wireerror.Protected for the first one
// that the protection of a branch forbids, or nil. If the policy permits all of them, it returns a
// *wireerror.InsufficientScope for the first one that needs a scope that the actor's token lacks.
func (c *Control) Require(actor *Actor, grants ...tool.Grant) error {
	for _, grant := range grants {
		switch {
		case !c.granted(actor, grant):
			own := !grant.OwnDraft && OpensDraft(grant.Action, grant.Via) && c.Confined(actor, grant)
			denied := &wireerror.Forbidden{Action: grant.Action, Source: grant.Source, OnDrafts: own, OutOfScope: !actor.scopes().Cover(grant.Action)}
			if OnBranch(grant.Action) {
				denied.Branch = &grant.Branch
			}
			return denied
		case c.protects(grant) && !c.bypasses(actor, grant):
			return &wireerror.Protected{Action: grant.Action, Branch: grant.Branch}
		}
	}
	if actor == nil || actor.Scopes == nil {
		return nil
	}
	for _, grant := range grants {
		if err := actor.Scopes.require(grant.Action); err != nil {
			return err
		}
		if c.protects(grant) {
			if err := actor.Scopes.require(tool.ProtectionBypass); err != nil {
				return err
			}
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

// AtCommit returns the grant for a need about a commit, on the branch where the commit was made. If the
// commit does not exist, or if the actor lacks the grant for its branch, the error is an *engine.NotFound,
// which is the same in both cases. If the actor lacks the grant for main too, AtCommit instead returns the
// grant on main, and the check of that grant then fails. Thus an actor that may read nothing cannot probe
// for commits.
func (c *Control) AtCommit(ctx context.Context, actor *Actor, need tool.Need) (tool.Grant, error) {
	made, err := c.engine.Commit(ctx, need.Commit)
	var missing *engine.NotFound
	switch {
	case err == nil:
		if grant := need.On(tool.BranchNamed(made.Branch)); c.Permitted(actor, grant) {
			return grant, nil
		}
	case !errors.As(err, &missing):
		return tool.Grant{}, err
	}
	grant := need.On(tool.Branch{})
	if c.Permitted(actor, grant) {
		return tool.Grant{}, &engine.NotFound{What: "commit", Name: need.Commit}
	}
	return grant, nil
}

// OnBranch reports whether an action applies to a branch.
func OnBranch(a tool.Action) bool { return a.Row().Branch() }
