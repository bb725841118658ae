package operations

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// maxNamedPlaces is the maximum number of conflicts that an error about a resolution names.
const maxNamedPlaces = 3

// checkConflicts checks that each new resolution of a proposal is about a conflict that a resolution
// can resolve. It ignores the resolutions that the proposal has at the same places, because the new
// ones replace them. The error is a *tool.ArgumentError, or the fault of the comparison.
func checkConflicts(ctx context.Context, env *tool.Env, p *engine.Proposal, added []engine.Resolution) error {
	before := *p
	before.Resolutions = withoutPlaces(p.Resolutions, added)
	s := compareProposalUpTo(ctx, env, &before, 0)
	if s.fault != nil {
		return asArgument("resolutions", s.fault)
	}
	places := make(map[engine.ConflictPlace]bool, len(s.comparison.Conflicts)) // whether a resolution can resolve the conflict
	for i := range s.comparison.Conflicts {
		c := &s.comparison.Conflicts[i]
		places[conflictPlace(c)] = places[conflictPlace(c)] || c.Resolvable()
	}
	for i := range added {
		at := added[i].ConflictPlace
		resolvable, found := places[at]
		if resolvable {
			continue
		}
		wrong := &tool.ArgumentError{Path: fmt.Sprintf("resolutions[%d]", i), Detail: "found " + placeText(at) + ", where the proposal has no conflict", Help: nextConflicts(s.comparison.Conflicts, at)}
		if found {
			wrong.Detail = "found " + placeText(at) + ", whose conflict no resolution can resolve"
			wrong.Help = fmt.Sprintf("write to branch %s, or merge branch %s into it", p.Source, p.Target)
		}
		return wrong
	}
	return nil
}

// withoutPlaces returns the resolutions without those at the places of the `added` ones.
func withoutPlaces(all, added []engine.Resolution) []engine.Resolution {
	return slices.DeleteFunc(slices.Clone(all), func(r engine.Resolution) bool {
		return slices.ContainsFunc(added, func(a engine.Resolution) bool { return a.ConflictPlace == r.ConflictPlace })
	})
}

// nextConflicts says in a clause which conflicts a caller can resolve instead of one at a place that
// has none: those of the same entity first, else the first ones of the proposal.
func nextConflicts(all []engine.MergeConflict, wrong engine.ConflictPlace) string {
	var same, others []string
	for i := range all {
		c := &all[i]
		switch at := conflictPlace(c); {
		case !c.Resolvable():
		case at.Entity == wrong.Entity && at.Type == wrong.Type && at.ID == wrong.ID:
			same = append(same, placeText(at))
		default:
			others = append(others, placeText(at))
		}
	}
	named := same
	if len(named) == 0 {
		named = others
	}
	if len(named) == 0 {
		return "no conflict is left that a resolution can resolve"
	}
	more := ""
	if n := len(named) - maxNamedPlaces; n > 0 {
		more = fmt.Sprintf(" or one of %d more", n)
	}
	return "resolve the conflict at " + strings.Join(named[:min(len(named), maxNamedPlaces)], " or ") + more
}

// conflictPlace returns the place of a conflict.
func conflictPlace(c *engine.MergeConflict) engine.ConflictPlace {
	return engine.ConflictPlace{Entity: c.Entity, Type: c.Type, ID: c.ID, Property: c.Property}
}

// placeText returns the text for a place in a sentence.
func placeText(at engine.ConflictPlace) string {
	text := fmt.Sprintf("%s %s %q", at.Entity, at.Type, at.ID)
	if at.Property != "" {
		return text + ", property " + at.Property
	}
	return text + " as a whole"
}
