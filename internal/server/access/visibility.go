package access

import (
	"context"
	"slices"

	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Elsewhere is a tool whose calls also need permissions on another branch than the one of its gates.
type Elsewhere interface{ Elsewhere() []tool.Grant }

// Visible reports whether there is a branch on which all gates of a tool are granted, and one for what the
// tool needs elsewhere. If the tool runs a stored query, the actor may also see all types and properties there that the query names.
func (c *Control) Visible(actor *Actor, t tool.Tool, branches *Branches) (bool, error) {
	r, err := branches.restriction(actor)
	if err != nil {
		return false, err
	}
	if ok, err := c.somewhere(actor, t.Gates(), branches, fits(t, r)); !ok || err != nil {
		return false, err
	}
	if t, ok := t.(Elsewhere); ok {
		return c.somewhere(actor, t.Elsewhere(), branches, nil)
	}
	return true, nil
}

// somewhere reports whether there is a branch on which all the gates are granted, and on which `fits` is true unless it is nil.
func (c *Control) somewhere(actor *Actor, gates []tool.Grant, branches *Branches, fits func(branch tool.Branch, own bool) bool) (bool, error) {
	on := func(branch tool.Branch, own bool) bool {
		return c.gated(actor, gates, branch, own) && (fits == nil || fits(branch, own))
	}
	if !asksBranches(gates) {
		return on(tool.Branch{}, false), nil
	}
	if on(otherDraft, true) { // the caller's draft, which need not exist yet
		return true, nil
	}
	return branches.Some(func(branch tool.Branch) bool { return on(branch, false) })
}

// gated reports whether the actor has all the grants. Grants about a branch are checked for the argument
// `branch`. If `own` is true, the branch stands for a draft of the actor.
func (c *Control) gated(actor *Actor, gates []tool.Grant, branch tool.Branch, own bool) bool {
	for _, gate := range gates {
		if OnBranch(gate.Action) {
			gate.Branch, gate.OwnDraft = branch, own
		}
		if !c.Permitted(actor, gate) {
			return false
		}
	}
	return true
}

// asksBranches reports whether one of the gates is about a branch.
func asksBranches(gates []tool.Grant) bool {
	return slices.ContainsFunc(gates, func(g tool.Grant) bool { return OnBranch(g.Action) })
}

// Branches holds the branches that are tried for "some branch". It starts with
// main and lists the others only when they are needed, since a graph may have thousands. It is for one actor.
type Branches struct {
	restrict func(*Actor) (*Restriction, error)
	part     *Restriction // what restrict returned
	asked    bool         // part is set

	list   func() ([]tool.Branch, error) // lists the branches except main
	others []tool.Branch                 // the branches except main
	listed bool                          // others is set
}

// Branches returns the names to try for one list of tools or one lookup.
func (c *Control) Branches(ctx context.Context) *Branches {
	return &Branches{
		list:     func() ([]tool.Branch, error) { return c.otherBranches(ctx) },
		restrict: func(actor *Actor) (*Restriction, error) { return c.Restriction(ctx, actor) },
	}
}

// restriction returns the part of the graph that the actor may read or change.
func (a *Branches) restriction(actor *Actor) (r *Restriction, err error) {
	if !a.asked {
		if a.part, err = a.restrict(actor); err != nil {
			return nil, err
		}
		a.asked = true
	}
	return a.part, nil
}

// Some reports whether f is true for one of the branches.
func (a *Branches) Some(f func(tool.Branch) bool) (bool, error) {
	if f(tool.Branch{}) {
		return true, nil
	}
	if !a.listed {
		var err error
		if a.others, err = a.list(); err != nil {
			return false, err
		}
		a.listed = true
	}
	return slices.ContainsFunc(a.others, f), nil
}

// otherBranches lists the branches that represent all branches except main, one for each
// class.
func (c *Control) otherBranches(ctx context.Context) ([]tool.Branch, error) {
	existing, err := c.engine.Branches(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]string, len(existing)) // the names of the branches, sorted
	for i, b := range existing {
		all[i] = b.Name
	}
	named := c.authorizer.Branches()
	// A policy may grant an action on every branch except the ones that it names. It is possible
	// that no such branch exists yet, so an unused name represents them.
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
		class := c.authorizer.BranchClass(name)
		known := classes[class]
		classes[class] = true
		return known
	})
	names := slices.Concat(named, distinct, []string{free})
	slices.Sort(names)
	others := make([]tool.Branch, 0, len(names))
	for _, name := range slices.Compact(names) {
		if b := tool.BranchNamed(name); !b.IsMain() {
			others = append(others, b)
		}
	}
	return others, nil
}
