package access

import (
	"context"
	"errors"
	"slices"

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

// Allowed asks the authorizer for a grant. A nil actor is allowed nothing.
func (c *Control) Allowed(actor *Actor, grant tool.Grant) bool {
	if actor == nil {
		return false
	}
	if grant.Branch == "" && OnBranch(grant.Action) {
		grant.Branch = engine.MainBranch
	}
	return c.authorizer.Allowed(actor, grant)
}

// Require returns a *wireerror.Forbidden for the first grant that the actor lacks, or nil.
func (c *Control) Require(actor *Actor, grants ...tool.Grant) error {
	for _, grant := range grants {
		if !c.Allowed(actor, grant) {
			if grant.Branch == "" && OnBranch(grant.Action) {
				grant.Branch = engine.MainBranch
			}
			return &wireerror.Forbidden{Action: grant.Action, Branch: grant.Branch}
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
