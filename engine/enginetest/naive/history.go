package naive

import (
	"context"
	"maps"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// moment finds a commit that is an ancestor of a branch's head.
func (g *Graph) moment(id string) (moment, error) {
	for _, l := range g.lines {
		if g.ancestors(l.head.ID, map[string]bool{})[id] {
			if g.gone[id] {
				return moment{}, &engine.NotFound{What: "state of commit", Name: id}
			}
			return g.commits[id], nil
		}
	}
	return moment{}, &engine.NotFound{What: "commit", Name: id}
}

// Changes compares a commit's entities with those of its first parent.
func (g *Graph) Changes(ctx context.Context, commit string, r engine.ChangeRange) (*engine.Changes, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, err := g.line(""); err != nil {
		return nil, err
	}
	is, err := g.moment(commit)
	if err != nil {
		return nil, err
	}
	was := moment{state: newState(g.schema)}
	if len(is.commit.Parents) > 0 {
		parent := is.commit.Parents[0]
		if g.fault == ChangesOfMerged {
			parent = is.commit.Parents[len(is.commit.Parents)-1]
		}
		if was, err = g.moment(parent); err != nil {
			return nil, err
		}
	}
	out := &engine.Changes{Commit: is.commit}
	var all []engine.EntityChange
	for _, n := range g.schema.Nodes {
		all = append(all, differences(plan.Node, n.Name, n.Properties, was.state, is.state, &out.Nodes)...)
	}
	for _, e := range g.schema.Edges {
		all = append(all, differences(plan.Edge, e.Name, e.Properties, was.state, is.state, &out.Edges)...)
	}
	if r.After != (engine.ChangePosition{}) {
		types := g.schema.Node(r.After.Type) != nil
		if r.After.Entity == "edge" {
			types = g.schema.Edge(r.After.Type) != nil
		}
		if !types {
			return nil, &engine.BadArgument{Param: "after", Detail: "no such type"}
		}
		all = slices.DeleteFunc(all, func(c engine.EntityChange) bool { return !g.before(r.After, c.Position()) })
	}
	if g.fault == ChangesKeepDeleted {
		all = slices.DeleteFunc(all, func(c engine.EntityChange) bool { return c.Kind == engine.Deleted })
	}
	if r.Limit > 0 && len(all) > r.Limit {
		all, out.More = all[:r.Limit], true
	}
	out.List = all
	return out, nil
}

// before reports whether one change comes before another.
func (g *Graph) before(a, b engine.ChangePosition) bool {
	place := func(p engine.ChangePosition) int {
		if p.Entity == "node" {
			return slices.IndexFunc(g.schema.Nodes, func(n *catalog.Node) bool { return n.Name == p.Type })
		}
		return len(g.schema.Nodes) + slices.IndexFunc(g.schema.Edges, func(e *catalog.Edge) bool { return e.Name == p.Type })
	}
	if place(a) != place(b) {
		return place(a) < place(b)
	}
	return a.ID < b.ID
}

// differences lists the entities of a type that differ.
func differences(kind plan.Entity, typ string, props []*catalog.Property, was, is *state, n *engine.ChangeCounts) (list []engine.EntityChange) {
	ids := map[string]bool{}
	for id := range was.of(kind, typ) {
		ids[id] = true
	}
	for id := range is.of(kind, typ) {
		ids[id] = true
	}
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		old, now := was.of(kind, typ)[id], is.of(kind, typ)[id]
		c := engine.EntityChange{Kind: engine.Updated, Entity: kind.String(), Type: typ, ID: id}
		count := &n.Updated
		switch {
		case old == nil:
			c.Kind, count, old = engine.Inserted, &n.Inserted, &entity{}
		case now == nil:
			c.Kind, count, now = engine.Deleted, &n.Deleted, &entity{}
		case kind == plan.Edge:
			c.Properties = appendDifferent(c.Properties, "from", value.OfString(old.from), value.OfString(now.from))
			c.Properties = appendDifferent(c.Properties, "to", value.OfString(old.to), value.OfString(now.to))
		}
		c.From, c.To = now.from, now.to
		if c.Kind == engine.Deleted {
			c.From, c.To = old.from, old.to
		}
		for _, p := range props {
			c.Properties = appendDifferent(c.Properties, p.Name, old.props[p.Name], now.props[p.Name])
		}
		if c.Kind != engine.Updated || len(c.Properties) > 0 {
			*count++
			list = append(list, c)
		}
	}
	return list
}

func appendDifferent(list []engine.PropertyChange, name string, old, now value.Value) []engine.PropertyChange {
	if value.Equal(old, now) {
		return list
	}
	return append(list, engine.PropertyChange{Name: name, Old: old, New: now})
}

// Cleanup takes note of the commits that are not to be read any more.
func (g *Graph) Cleanup(ctx context.Context, opts engine.CleanupOptions) (*engine.CleanupResult, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, err := g.line(""); err != nil {
		return nil, err
	}
	if opts.KeepCommits < 0 {
		return nil, &engine.BadArgument{Param: "keep_commits", Detail: "less than none"}
	}
	keep, live := map[string]bool{}, map[string]bool{}
	for name, l := range g.lines {
		g.ancestors(l.head.ID, live)
		keep[l.head.ID] = true
		for i, c := range g.past(l.head) {
			if i < opts.KeepCommits || g.fault == CleanupKeepsLines {
				keep[c.ID] = true
			}
		}
		for other, o := range g.lines {
			if name != other && g.fault != CleanupDropsBases {
				keep[g.lowest(l.head.ID, o.head.ID)] = true
			}
		}
	}
	out := &engine.CleanupResult{}
	for id := range live {
		late := !opts.Before.IsZero() && !g.commits[id].commit.Time.Before(opts.Before)
		switch {
		case g.gone[id]:
		case keep[id] || late:
			out.Kept++
		default:
			out.Commits++
			if !opts.DryRun {
				g.gone[id] = true
			}
		}
	}
	return out, nil
}
