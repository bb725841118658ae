package embedded

import (
	"context"
	"fmt"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/corruption"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
)

// digestPage is the number of changes that digestOf reads at a time.
const digestPage = 1000

// Compare reports what a merge of two states would do. It takes no lock of a branch: it merges into
// a fork of the target's state, and then drops the fork.
func (g *Graph) Compare(ctx context.Context, source, target engine.Target, opts engine.CompareOptions) (_ *engine.Comparison, err error) {
	defer corruption.Catch(corruption.Watch(), &err)
	if err := g.enter(ctx); err != nil {
		return nil, err
	}
	defer g.calls.leave()
	base, theirs, ours, err := g.mergedStates(ctx, source, target)
	if err != nil {
		return nil, err
	}
	id := base.Commit.ID
	out := &engine.Comparison{Source: theirs.Commit, Target: ours.Commit, Base: base.Commit, Outcome: engine.Merged}
	d, err := version.Compare(ctx, base, theirs)
	if err != nil {
		return nil, err
	}
	out.Nodes, out.Edges = d.Nodes, d.Edges
	if out.Digest, err = digestOf(ctx, d, opts.Resolutions); err != nil {
		return nil, err
	}
	if opts.Changes != nil {
		if out.List, out.More, err = d.Page(opts.Changes); err != nil {
			return nil, err
		}
	}
	tx := version.Begin(ours.Fork())
	if id != theirs.Commit.ID {
		if out.Conflicts, _, err = mergeInto(tx, branchNameOf(source, theirs), branchNameOf(target, ours), base, theirs, opts.Resolutions); err != nil {
			return nil, err
		}
	}
	switch {
	case len(out.Conflicts) > 0:
	case !tx.Changed():
		out.Outcome = engine.AlreadyUpToDate
	case id == ours.Commit.ID:
		out.Outcome = engine.FastForward
	}
	return out, nil
}

// mergedStates returns the three states that a merge of `source` into `target` starts from: the merge
// base, the state of the source, and that of the target. REQUIRES: the caller has entered the graph.
func (g *Graph) mergedStates(ctx context.Context, source, target engine.Target) (base, theirs, ours *version.Snapshot, err error) {
	if theirs, err = g.snapshot(ctx, source); err != nil {
		return nil, nil, nil, err
	}
	if ours, err = g.snapshot(ctx, target); err != nil {
		return nil, nil, nil, err
	}
	id, ok := g.history.CommonAncestor(theirs.Commit.ID, ours.Commit.ID)
	if !ok {
		return nil, nil, nil, &engine.Corrupt{Object: "history", Detail: "commits " + theirs.Commit.ID + " and " + ours.Commit.ID + " have no common ancestor"}
	}
	base, err = g.snapshot(ctx, engine.Target{Commit: id})
	return base, theirs, ours, err
}

// branchNameOf returns the name of the branch that the target `at` names. If `at` names a commit or
// nothing, it returns the branch of the state's commit.
func branchNameOf(at engine.Target, s *version.Snapshot) string {
	if at.Commit != "" || at.Branch == "" {
		return s.Commit.Branch
	}
	return at.Branch
}

// mergeInto applies the changes from base to source to a transaction on the target. The result
// `conflicts` lists the conflicts that the resolutions do not resolve; if there are any, the caller
// must abandon the transaction.
func mergeInto(tx *version.Txn, from, to string, base, source *version.Snapshot, resolutions []engine.Resolution) (conflicts []engine.MergeConflict, merged *version.Merged, err error) {
	base, source, lost, err := align(from, to, base, source, tx)
	if err != nil {
		return nil, nil, err
	}
	if err := checkResolutions(tx.Schema(), resolutions); err != nil {
		return nil, nil, err
	}
	merged = tx.Merge(base, source, resolutions)
	return append(lost, merged.Conflicts...), merged, nil
}

// checkResolutions checks that the schema has the types and properties that the resolutions name,
// and that their values fit the properties. The error is a *engine.BadArgument.
func checkResolutions(s *version.Schema, all []engine.Resolution) error {
	for i := range all {
		r := &all[i]
		bad := func(format string, args ...any) error {
			place := strings.TrimSuffix(fmt.Sprintf("%s %s %q, property %s", r.Entity, r.Type, r.ID, r.Property), ", property ")
			return &engine.BadArgument{Param: fmt.Sprintf("resolutions[%d]", i), Detail: place + ": " + fmt.Sprintf(format, args...)}
		}
		if r.Take.String() == "" {
			return bad("found side %d, expected ours, theirs or value", r.Take)
		}
		if problem := s.CheckResolution(r); problem != "" {
			return bad("%s", problem)
		}
	}
	return nil
}

// digestOf returns the digest of all changes and of the resolutions.
func digestOf(ctx context.Context, d *version.Difference, resolutions []engine.Resolution) (string, error) {
	var h engine.ChangeHash
	r := engine.ChangeRange{Limit: digestPage}
	for {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		list, more, err := d.Page(&r)
		if err != nil {
			return "", err
		}
		for i := range list {
			h.Change(&list[i])
		}
		if !more {
			break
		}
		r.After = list[len(list)-1].Position()
	}
	for i := range resolutions {
		h.Resolve(&resolutions[i])
	}
	return h.Sum(), nil
}
