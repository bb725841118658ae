package enginetest

import (
	"context"
	"fmt"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// This file checks a law about merges without the model: every change of the source is in the result, is in a
// conflict, or was resolved away. A merge with conflicts has no result, so only the result has to be looked at.

// sourceChanges are the changes that the source of a merge made since the merge base.
type sourceChanges struct {
	base string // id of the merge base
	list []engine.EntityChange
}

// sourceChanges lists the changes that the law of a merge is about. It returns nil if there is no such merge, or if the
// law says nothing about it: a dry run has no result, and a key can name an earlier merge.
func (p *pair) sourceChanges(ctx context.Context, s step) *sourceChanges {
	if s.dryRun || s.key != "" {
		return nil
	}
	all := engine.CompareOptions{Changes: &engine.ChangeRange{}, ListOnly: true}
	c, err := p.engine.Compare(ctx, engine.Target{Branch: s.branching.source}, engine.Target{Branch: s.branching.target}, all)
	if err != nil {
		return nil
	}
	return &sourceChanges{c.Base.ID, c.List}
}

// unmerged describes a change of the source that the result of a merge lacks, or returns "". The branch `target` must
// have the result.
func (p *pair) unmerged(ctx context.Context, of *sourceChanges, target string, resolutions []engine.Resolution) string {
	all := engine.CompareOptions{Changes: &engine.ChangeRange{}, ListOnly: true}
	c, err := p.engine.Compare(ctx, engine.Target{Branch: target}, engine.Target{Commit: of.base}, all)
	if err != nil {
		return "the changes of the result: " + err.Error()
	}
	resolved := func(entity, id string) bool {
		return slices.ContainsFunc(resolutions, func(r engine.Resolution) bool { return r.Entity == entity && r.ID == id })
	}
	for i := range of.list {
		a := &of.list[i]
		// An edge that the source deleted together with a node stays if the resolution keeps the node.
		if resolved(a.Entity, a.ID) || a.Entity == "edge" && a.Kind == engine.Deleted && (resolved("node", a.From) || resolved("node", a.To)) {
			continue
		}
		same := func(r engine.EntityChange) bool { return r.Entity == a.Entity && r.ID == a.ID && includes(&r, a) }
		if (a.Kind == engine.Deleted || values(a) > 0) && !slices.ContainsFunc(c.List, same) {
			return fmt.Sprintf("a change of the source is neither in the result nor in a conflict: %s", changeText(a))
		}
	}
	p.seen.add("law of merges", "holds")
	return ""
}

// values counts the values that a change gives an entity.
func values(c *engine.EntityChange) (n int) {
	for _, v := range c.Properties {
		if !v.New.IsNull() {
			n++
		}
	}
	return n
}

// includes reports whether a change of the result has all values that a change of the source gave the entity. The
// properties can have other names and wider types in the schema of the result.
func includes(result, source *engine.EntityChange) bool {
	if source.Kind == engine.Deleted {
		return result.Kind == engine.Deleted
	}
	for _, s := range source.Properties {
		if !s.New.IsNull() && !slices.ContainsFunc(result.Properties, func(r engine.PropertyChange) bool {
			return !r.New.IsNull() && value.Equal(value.Widen(s.New, r.New.Kind()), r.New)
		}) {
			return false
		}
	}
	return true
}
