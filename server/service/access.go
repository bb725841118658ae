package service

import (
	"context"
	"errors"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Tools lists what the actor may see, built-ins first and then stored queries, each
// in a stable order. A tool is seen when its gates are all granted on some branch:
// one that exists, one that the policy names, main, or one that nobody has named.
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

// Lookup returns the tool called name. A tool that the actor may not see is the same
// *UnknownTool as one that does not exist.
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

// allowed asks the authorizer. Nobody is allowed nothing.
func (g *Graph) allowed(actor *Actor, grant tool.Grant) bool {
	if actor == nil {
		return false
	}
	if grant.Branch == "" && onBranch(grant.Action) {
		grant.Branch = engine.MainBranch
	}
	return g.authorizer.Allowed(actor, grant)
}

// require returns a *Forbidden for the first grant that the actor lacks.
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

// helpFor takes out of an argument error the help that speaks of what the actor may
// not see.
func (g *Graph) helpFor(actor *Actor, err error) error {
	var a *tool.ArgumentError
	if !errors.As(err, &a) || a.HelpFor == nil || g.allowed(actor, *a.HelpFor) {
		return err
	}
	short := *a
	short.Help, short.HelpFor = "", nil
	return &short
}

// placed puts grants on a commit on the branch that the commit was made on. A commit of a
// branch that the actor lacks the grant for, and one that does not exist, are the same
// *engine.NotFound; whoever lacks it for main too is asked for main, so that whoever may
// read nothing learns nothing.
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

// visible reports whether all gates of a tool are granted on one of the branches.
func (g *Graph) visible(actor *Actor, t tool.Tool, branches *askedBranches) (bool, error) {
	if t, ok := t.(perCaller); ok {
		return t.visibleTo(actor), nil
	}
	if !asksBranches(t) {
		return g.granted(actor, t, ""), nil
	}
	return branches.some(func(branch string) bool { return g.granted(actor, t, branch) })
}

// granted reports whether all gates of a tool are granted, those on branches on this one.
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

// asksBranches reports whether it depends on branches who may see a tool.
func asksBranches(t tool.Tool) bool {
	return slices.ContainsFunc(t.Gates(), func(g tool.Grant) bool { return onBranch(g.Action) })
}

// askedBranches are the branch names that stand for "some branch": main, and the others
// once they are needed, since a graph may have thousands.
type askedBranches struct {
	list func() ([]string, error)
	rest []string
	done bool
}

func (g *Graph) askedBranches(ctx context.Context) *askedBranches {
	return &askedBranches{list: func() ([]string, error) { return g.otherBranches(ctx) }}
}

// some reports whether f is true of one of the names.
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

// otherBranches lists names that stand for all branches but main.
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
	// A policy may grant on every branch but the named ones, and none of those need
	// exist yet: a name that nobody uses asks for that.
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

// onBranch reports whether an action is one on a branch.
func onBranch(a tool.Action) bool {
	switch a {
	case tool.Read, tool.Export, tool.Change, tool.SchemaApply, tool.BranchCreate, tool.BranchDelete, tool.BranchMerge:
		return true
	case tool.InvokeQuery, tool.Admin, tool.GraphList:
		return false
	}
	return false
}
