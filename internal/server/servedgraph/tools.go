package servedgraph

import (
	"context"

	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/metatools"
	"github.com/omnigraph-go/omnigraph/internal/server/queryrun"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Tools lists the tools that the actor may see: built-in tools first, then stored queries, each
// group in a stable order. The actor sees a tool if there is a branch on which it has the grants of
// all of the tool's gates. Tools tries main, the existing branches, the branches that the policy
// names, and one name that neither the graph nor the policy uses.
func (g *Graph) Tools(ctx context.Context, actor *access.Actor) ([]*tool.Descriptor, error) {
	branches := g.access.Branches(ctx)
	part, err := g.access.Restriction(ctx, actor)
	if err != nil {
		return nil, err
	}
	var seen []*tool.Descriptor
	for t := range g.all {
		ok, err := g.visible(ctx, actor, t, branches)
		if err != nil {
			return nil, err
		}
		if ok {
			d := t.Descriptor()
			if t, ok := t.(metatools.PerCaller); ok {
				d = t.DescriptorFor(ctx, actor)
			}
			if t, ok := t.(queryrun.Tool); ok {
				d = g.seen(part, t.StoredQuery).Descriptor()
			}
			seen = append(seen, d)
		}
	}
	return seen, nil
}

// Confined reports whether the policy lets the actor change its own drafts, but neither main nor a
// branch that is no draft.
func (g *Graph) Confined(actor *access.Actor) bool {
	return g.access.Confined(actor, tool.Grant{Action: tool.Change, Via: tool.AdHoc})
}

// Lookup returns the named tool. It returns the same *wireerror.UnknownTool for a tool that the
// actor may not see as for a tool that does not exist.
func (g *Graph) Lookup(ctx context.Context, actor *access.Actor, name string) (tool.Tool, error) {
	t, ok := g.tools[name]
	if !ok {
		if err := g.LacksProvider(actor, name); err != nil {
			return nil, err
		}
		return nil, g.Unknown(ctx, actor, name)
	}
	switch seen, err := g.visible(ctx, actor, t, g.access.Branches(ctx)); {
	case err != nil:
		return nil, err
	case !seen:
		return nil, g.Unknown(ctx, actor, name)
	}
	return t, nil
}

// visible reports whether the actor may see a tool. A meta tool decides for itself.
func (g *Graph) visible(ctx context.Context, actor *access.Actor, t tool.Tool, branches *access.Branches) (bool, error) {
	if t, ok := t.(metatools.PerCaller); ok {
		return t.VisibleTo(ctx, actor), nil
	}
	return g.access.Visible(actor, t, branches)
}
