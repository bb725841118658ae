package access

import (
	"context"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/restricted"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Restriction is the part of a graph that an actor may read or change. A nil Restriction is the whole graph.
type Restriction struct {
	control *Control
	actor   *Actor
	schema  *engine.Schema // of main, for which the rights are
}

// Restriction returns the part of the graph that an actor may read or change. It is nil if the policy allows no actor a part only.
func (c *Control) Restriction(ctx context.Context, actor *Actor) (*Restriction, error) {
	if r, ok := c.authorizer.(Restrictor); actor == nil || !ok || !r.Restricts() {
		return nil, nil
	}
	s, err := c.engine.Schema(ctx, engine.Target{})
	if err != nil {
		return nil, err
	}
	return &Restriction{c, actor, s}, nil
}

// Rights returns the rights of the actor with a grant: nil if they are to all of the branch, or if the policy does not allow the grant
// at all. What rules hide from [tool.Read] is hidden also without that grant, because a call with another grant reads too: a
// mutation has conditions, and returns what it changed.
func (r *Restriction) Rights(g tool.Grant) *engine.Rights {
	g.OwnDraft = g.OwnDraft || r.control.OwnsDraft(r.actor, g.Branch)
	if g.Action != tool.Read && !r.control.authorizer.Allowed(r.actor, g) {
		return nil
	}
	asked, applied := r.control.authorizer.(Restrictor), r.control.applied
	rights := asked.Rights(r.actor, g, r.schema)
	if applied == nil || applied.Digest == r.schema.Digest {
		return rights
	}
	return r.control.cache.Since(rights, asked.Rights(r.actor, g, applied), applied, r.schema)
}

// grantOf returns the grant for an action on a branch in a call that has the grant `base`, or no grant on a branch if it is nil.
func grantOf(base *tool.Grant, action tool.Action, branch tool.Branch) tool.Grant {
	g := tool.Grant{Action: action, Branch: branch}
	if action.Row().ByVia() {
		g.Via = tool.AdHoc
		if base != nil && base.Via == tool.Stored {
			g.Via, g.Query = base.Via, base.Query
		}
	}
	g.OwnDraft = base != nil && base.OwnDraft && base.Branch == branch
	return g
}

// Plan returns what the plan of a stored query is for the actor, with the grant to read or change what the query does; see
// [restricted.Cache.Plan].
func (r *Restriction) Plan(q *plan.Query, g tool.Grant) *plan.Query {
	if r == nil {
		return q
	}
	return r.control.cache.Plan(q, r.schema, r.Rights(grantOf(&g, tool.Read, g.Branch)))
}

// Graph returns the graph for a call of the actor, or nil if the call needs no other than the whole one. The argument `base` is the
// grant to read or change a branch that the call is about; it is nil for a call that asks for its grants while it runs.
func (r *Restriction) Graph(base *tool.Grant, grants []tool.Grant) *restricted.Graph {
	reads := tool.Read
	if base != nil && base.Action == tool.Export {
		reads = tool.Export
	}
	narrows := base == nil || r.narrows(base, reads, tool.Branch{})
	for i := 0; i < len(grants) && !narrows; i++ {
		narrows = r.narrows(base, reads, grants[i].Branch)
	}
	if !narrows {
		return nil
	}
	c := restricted.Config{
		Whole: r.control.engine, Main: r.schema, Cache: &r.control.cache, Reads: reads, Actor: r.actor.Name(),
		Rights: func(action tool.Action, branch tool.Branch) *engine.Rights {
			return r.Rights(grantOf(base, action, branch))
		},
		MayChange: func(branch tool.Branch) bool { return r.control.granted(r.actor, grantOf(base, tool.Change, branch)) },
		CheckCopy: r.CheckCopy,
	}
	if base != nil {
		c.At = &base.Branch
	}
	return restricted.New(c)
}

// narrows reports whether the rights to read or to change a branch are to a part of it.
func (r *Restriction) narrows(base *tool.Grant, reads tool.Action, branch tool.Branch) bool {
	return r.Rights(grantOf(base, reads, branch)) != nil || r.Rights(grantOf(base, tool.Change, branch)) != nil
}

// Decider returns a function that says what a call of the actor with a grant would be told: whether it is allowed, and whether the actor
// may do it with a part of the branch only. A call may be refused nevertheless, because of its arguments.
func (c *Control) Decider(ctx context.Context, actor *Actor) (func(tool.Grant) (allowed, partial bool), error) {
	r, err := c.Restriction(ctx, actor)
	if err != nil {
		return nil, err
	}
	return func(g tool.Grant) (allowed, partial bool) {
		if !c.Allowed(actor, g) {
			return false, false
		}
		if r == nil {
			return true, false
		}
		switch g.Action {
		case tool.Read, tool.Export:
			return true, r.Rights(g) != nil
		case tool.Change, tool.ProposalReview:
			return true, r.narrows(&g, tool.Read, g.Branch)
		case tool.BranchMerge: // with rights to a part, whoever merges must be allowed to change the target
			partial = r.narrows(&g, tool.Read, g.Branch)
			allowed = !partial || c.granted(actor, grantOf(&g, tool.Change, g.Branch))
			return allowed, allowed && partial
		case tool.SchemaApply: // needs the right to all
			return !r.narrows(&g, tool.Read, g.Branch), false
		}
		return true, false
	}, nil
}

// ReadsStates reports whether an actor that may read the branch `on` may read at least as much of the states that were made on another one.
func (c *Control) ReadsStates(ctx context.Context, actor *Actor, on, made tool.Branch) (bool, error) {
	if on == made {
		return true, nil
	}
	if !c.Allowed(actor, ReadOn(made)) {
		return false, nil
	}
	r, err := c.Restriction(ctx, actor)
	if r == nil || err != nil {
		return err == nil, err
	}
	used, may := r.Rights(ReadOn(on)), r.Rights(ReadOn(made))
	return may == nil || used != nil && used.Digest == may.Digest, nil
}

// ReadsAsMuch reports whether queries of the actor's own read as much of the branches of the grants as a call with the grant `base` reads.
// A stored query may read more, or another part. The actor must be allowed to read the branches; see [Control.ReadsTargets].
func (r *Restriction) ReadsAsMuch(base *tool.Grant, grants []tool.Grant) bool {
	for _, g := range grants {
		if g.Action != tool.Read && !g.Action.Row().NeedsRead {
			continue
		}
		if own := r.Rights(ReadOn(g.Branch)); own != nil {
			used := r.Rights(grantOf(base, tool.Read, g.Branch))
			if used == nil || used.Digest != own.Digest {
				return false
			}
		}
	}
	return true
}

// CheckCopy returns a *wireerror.PartOnly if the actor may read or export only a part of the branch `from`, and another part of a branch
// that starts with the same entities. What the call is does not matter: later calls read the new branch. For the same reason the scopes
// of the token do not count.
func (r *Restriction) CheckCopy(what string, from, made tool.Branch) error {
	reads, exports := ReadOn(from), tool.Grant{Action: tool.Export, Branch: from}
	for _, c := range []struct {
		later tool.Grant   // what the actor may do on the new branch
		now   []tool.Grant // what shows the same entities at its start
	}{
		{ReadOn(made), []tool.Grant{reads}},
		{tool.Grant{Action: tool.Export, Branch: made}, []tool.Grant{exports, reads}},
	} {
		if !r.control.Permitted(r.actor, c.later) {
			continue
		}
		is, known, same := r.Rights(c.later), false, false
		for _, g := range c.now {
			if r.control.Permitted(r.actor, g) {
				was := r.Rights(g)
				known = true
				same = same || was == nil || is != nil && is.Digest == was.Digest
			}
		}
		if known && !same {
			return &wireerror.PartOnly{What: what + " on which you may read other parts", Action: c.later.Action, Branch: from}
		}
	}
	return nil
}

// Schema returns what the actor may see of the schema of main with the right to read it.
func (r *Restriction) Schema() *engine.Schema {
	return r.control.cache.Schema(r.schema, r.Rights(ReadOn(tool.Branch{})))
}

// NamesHidden reports whether the actor may not know of a stored query, although it may invoke it, because the query names a type or a
// property that is hidden from the actor on each branch where the actor may do what the query does.
func (c *Control) NamesHidden(ctx context.Context, actor *Actor, t tool.Tool) (bool, error) {
	r, err := c.Restriction(ctx, actor)
	if r == nil || err != nil {
		return false, err
	}
	if on := fits(t, r); on == nil || c.gated(actor, t.Gates(), tool.Branch{}, false) && on(tool.Branch{}, false) {
		return false, nil
	}
	branches := c.Branches(ctx)
	may, err := c.somewhere(actor, t.Gates(), branches, nil)
	if !may || err != nil {
		return false, err
	}
	seen, err := c.Visible(actor, t, branches)
	return !seen, err
}

// fits returns a function that reports whether an actor may see all types and properties that a tool names, on a branch. The function is
// nil if the tool runs no stored query.
func fits(t tool.Tool, r *Restriction) func(branch tool.Branch, own bool) bool {
	q, ok := t.(interface{ Plan() *plan.Query })
	if !ok || r == nil {
		return nil
	}
	gates := t.Gates()
	return func(branch tool.Branch, own bool) bool {
		g := gates[len(gates)-1] // what the query does
		g.Branch, g.OwnDraft = branch, own
		return r.Plan(q.Plan(), g) != nil
	}
}
