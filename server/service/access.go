package service

import (
	"context"
	"errors"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Tools lists the tools that the actor may see: built-in ones first, then stored queries,
// each group in a stable order. The actor sees a tool if some branch exists on which it has
// all grants of the tool's gates. The branches tried are main, the existing ones, the ones
// that the policy names, and one name that neither the graph nor the policy uses.
func (g *Graph) Tools(ctx context.Context, actor *Actor) ([]*tool.Descriptor, error) {
	branches := g.askedBranches(ctx)
	var seen []*tool.Descriptor
	for t := range g.all {
		ok, err := g.visible(actor, t, branches)
		if err != nil {
			return nil, err
		}
		if ok {
			d := t.Descriptor()
			if t, ok := t.(perCaller); ok {
				d = t.descriptorFor(actor)
			}
			seen = append(seen, d)
		}
	}
	return seen, nil
}

// Lookup returns the named tool. It returns the same *UnknownTool for a tool that the actor
// may not see as for a tool that does not exist.
func (g *Graph) Lookup(ctx context.Context, actor *Actor, name string) (tool.Tool, error) {
	t, ok := g.tools[name]
	if !ok {
		return nil, &UnknownTool{Name: name}
	}
	switch seen, err := g.visible(actor, t, g.askedBranches(ctx)); {
	case err != nil:
		return nil, err
	case !seen:
		return nil, &UnknownTool{Name: name}
	}
	return t, nil
}

// allowed asks the authorizer for a grant. A nil actor is allowed nothing.
func (g *Graph) allowed(actor *Actor, grant tool.Grant) bool {
	if actor == nil {
		return false
	}
	if grant.Branch == "" && onBranch(grant.Action) {
		grant.Branch = engine.MainBranch
	}
	return g.authorizer.Allowed(actor, grant)
}

// require returns a *Forbidden for the first grant that the actor lacks, or nil.
func (g *Graph) require(actor *Actor, grants ...tool.Grant) error {
	for _, grant := range grants {
		if !g.allowed(actor, grant) {
			if grant.Branch == "" && onBranch(grant.Action) {
				grant.Branch = engine.MainBranch
			}
			return &Forbidden{Action: grant.Action, Branch: grant.Branch}
		}
	}
	return nil
}

// helpFor removes the help from an argument error if the actor lacks the grant in HelpFor.
func (g *Graph) helpFor(actor *Actor, err error) error {
	var a *tool.ArgumentError
	if !errors.As(err, &a) || a.HelpFor == nil || g.allowed(actor, *a.HelpFor) {
		return err
	}
	short := *a
	short.Help, short.HelpFor = "", nil
	return &short
}

// placed replaces the commit of each grant by the branch that the commit was made on. A
// commit that does not exist and a commit of a branch that the actor lacks the grant for
// give the same *engine.NotFound. If the actor lacks the grant for main too, placed instead
// returns the grant on main, whose check then fails. Thus an actor that may read nothing
// cannot probe for commits.
func (g *Graph) placed(ctx context.Context, actor *Actor, grants []tool.Grant) ([]tool.Grant, error) {
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
		c, err := g.engine.Commit(ctx, id)
		var missing *engine.NotFound
		switch {
		case err == nil:
			grants[i].Branch = c.Branch
			if g.allowed(actor, grants[i]) {
				continue
			}
		case !errors.As(err, &missing):
			return nil, err
		}
		grants[i].Branch = engine.MainBranch
		if g.allowed(actor, grants[i]) {
			return nil, &engine.NotFound{What: "commit", Name: id}
		}
	}
	return grants, nil
}

// visible reports whether all gates of a tool are granted on the same branch, for some
// branch.
func (g *Graph) visible(actor *Actor, t tool.Tool, branches *askedBranches) (bool, error) {
	if t, ok := t.(perCaller); ok {
		return t.visibleTo(actor), nil
	}
	if !asksBranches(t) {
		return g.granted(actor, t, ""), nil
	}
	return branches.some(func(branch string) bool { return g.granted(actor, t, branch) })
}

// granted reports whether all gates of a tool are granted. It checks gates on branches for
// the given branch.
func (g *Graph) granted(actor *Actor, t tool.Tool, branch string) bool {
	for _, gate := range t.Gates() {
		if onBranch(gate.Action) {
			gate.Branch = branch
		}
		if !g.allowed(actor, gate) {
			return false
		}
	}
	return true
}

// asksBranches reports whether the visibility of a tool depends on branches.
func asksBranches(t tool.Tool) bool {
	return slices.ContainsFunc(t.Gates(), func(g tool.Grant) bool { return onBranch(g.Action) })
}

// askedBranches holds the branch names that are tried for "some branch". It starts with
// main and lists the others only when they are needed, since a graph may have thousands.
type askedBranches struct {
	list func() ([]string, error)
	rest []string
	done bool
}

func (g *Graph) askedBranches(ctx context.Context) *askedBranches {
	return &askedBranches{list: func() ([]string, error) { return g.otherBranches(ctx) }}
}

// some reports whether f is true for one of the names.
func (a *askedBranches) some(f func(branch string) bool) (bool, error) {
	if f(engine.MainBranch) {
		return true, nil
	}
	if !a.done {
		var err error
		if a.rest, err = a.list(); err != nil {
			return false, err
		}
		a.done = true
	}
	return slices.ContainsFunc(a.rest, f), nil
}

// otherBranches lists the names that represent all branches except main, one for each
// class.
func (g *Graph) otherBranches(ctx context.Context) ([]string, error) {
	existing, err := g.engine.Branches(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]string, len(existing)) // in name order
	for i, b := range existing {
		all[i] = b.Name
	}
	named := g.authorizer.Branches()
	// A policy may grant an action on every branch except the named ones, and no such
	// branch need exist yet. An unused name represents them.
	free := "some-branch"
	for {
		_, used := slices.BinarySearch(all, free)
		if !used && !slices.Contains(named, free) {
			break
		}
		free += "-"
	}
	classes := map[string]bool{}
	distinct := slices.DeleteFunc(all, func(name string) bool {
		class := g.authorizer.BranchClass(name)
		known := classes[class]
		classes[class] = true
		return known
	})
	names := slices.Concat(named, distinct, []string{free})
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == engine.MainBranch }), nil
}

// onBranch reports whether an action applies to a branch.
func onBranch(a tool.Action) bool { return a.Row().Branch() }
