package servedgraph

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/metatools"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// maxCompared is a number of branches. In a graph with more branches, an error suggests no branch,
// because comparing their names would take longer than the call.
const maxCompared = 1000

// Unknown returns the error for a tool that does not exist or that the actor may not see. The error
// suggests the tool with the most similar name among those that the actor may see, so that the error
// is the same in both cases. For a stored query that the actor sees, but that is no tool of its own, it says how to run it. It suggests a tool that writes only for a name that surely means it.
func (g *Graph) Unknown(ctx context.Context, actor *access.Actor, name string) *wireerror.UnknownTool {
	err := &wireerror.UnknownTool{Name: name}
	if g.Meta() {
		for _, q := range g.SeenQueries(ctx, actor) {
			if d := q.Descriptor(); d.Name == name {
				err.Run = fmt.Sprintf(`call %s with {"name": %q, "params": {…}}`, metatools.RunQuery, name)
				return err
			}
		}
	}
	seen, listErr := g.Tools(ctx, actor)
	if listErr != nil {
		return err // a suggestion is not worth another error
	}
	var names []string
	for _, d := range seen {
		if d.ReadOnly || metatools.OnlyMisspelt(name, d.Name) {
			names = append(names, d.Name)
		}
	}
	err.Near = diag.Closest(name, names)
	return err
}

// suggestBranch adds the most similar name of a branch that the actor may read to the error for an
// unknown branch. It returns other errors unchanged.
func (g *Graph) suggestBranch(ctx context.Context, actor *access.Actor, err error) error {
	var missing *engine.NotFound
	if !errors.As(err, &missing) || missing.What != "branch" {
		return err
	}
	branches, listErr := g.engine.Branches(ctx)
	if listErr != nil || len(branches) > maxCompared {
		return err
	}
	names := make([]string, len(branches))
	for i := range branches {
		names[i] = branches[i].Name
	}
	for {
		near := diag.Closest(missing.Name, names)
		switch {
		case near == "" || near == missing.Name:
			return err
		case g.access.Allowed(actor, access.ReadOn(tool.BranchNamed(near))):
			return &wireerror.Suggested{Err: err, Near: near}
		}
		names = slices.DeleteFunc(names, func(name string) bool { return name == near })
	}
}
