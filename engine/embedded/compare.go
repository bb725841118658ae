package embedded

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/corruption"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/rights"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// Compare reports what a merge of two states would do. It takes no lock of a branch: it merges into
// a fork of the target's state, and then drops the fork.
func (g *Graph) Compare(ctx context.Context, source, target engine.Target, opts engine.CompareOptions) (_ *engine.Comparison, err error) {
	defer corruption.Catch(corruption.Watch(), &err)
	if err := g.enter(ctx); err != nil {
		return nil, err
	}
	defer g.calls.Leave()
	base, theirs, ours, err := g.mergedStates(ctx, source, target)
	if err != nil {
		return nil, err
	}
	seen, err := g.mergeSides(ctx, base, theirs, ours, source.Rights, target.Rights)
	if err == nil {
		err = g.checkSeen(ctx, seen, opts.Resolutions)
	}
	if err == nil {
		err = seen.CheckShown(opts.Shown)
	}
	if err != nil {
		return nil, err
	}
	most := opts.MaxConflicts
	if !seen.Whole() {
		opts.MaxConflicts = 0 // each is checked
	}
	out := &engine.Comparison{Source: theirs.Commit, Target: ours.Commit, Base: base.Commit}
	part := g.partBetween(base, theirs)
	if c, ok := recall(&g.compared, changesKey(base, theirs), anyChanges); ok {
		part.Know(c.totals)
	}
	if opts.Changes != nil {
		if out.List, out.More, err = part.Page(ctx, opts.Changes); err != nil {
			return nil, err
		}
		g.keepPart(part, out.More)
		seen.Show(out.List)
	}
	if opts.ListOnly {
		return out, nil
	}
	branches := []string{branchNameOf(source, theirs), branchNameOf(target, ours)}
	changes, err := share(ctx, &g.compared, changesKey(base, theirs), branches[:1], anyChanges, func() (*comparedChanges, error) {
		return g.compareChanges(ctx, base, theirs)
	})
	if err != nil {
		return nil, err
	}
	part.Know(changes.totals)
	out.Nodes, out.Edges, out.Digest = changes.totals.Nodes, changes.totals.Edges, changes.digest(opts.Resolutions)
	listed := func(m *comparedMerge) bool {
		return len(m.conflicts) == m.count || opts.MaxConflicts > 0 && len(m.conflicts) >= opts.MaxConflicts
	}
	merge, err := share(ctx, &g.compared, mergeKey(base, theirs, ours, opts.Resolutions), branches, listed, func() (*comparedMerge, error) {
		return g.tryMerge(ctx, branches, base, theirs, ours, part, &opts)
	})
	if err != nil {
		return nil, err
	}
	out.Outcome, out.ConflictCount, out.Conflicts = merge.outcome, merge.count, slices.Clone(merge.conflicts)
	out.MergedNodes, out.MergedEdges = merge.nodes, merge.edges
	if err := seen.CheckConflicts(out.Conflicts); err != nil {
		return nil, err
	}
	if most > 0 && len(out.Conflicts) > most {
		out.Conflicts = out.Conflicts[:most]
	}
	for i := range out.Conflicts {
		showConflict(seen, &out.Conflicts[i])
	}
	return out, nil
}

// comparedChanges is what a comparison says about the changes from a merge base to the source.
type comparedChanges struct {
	totals *version.ChangeTotals
	hash   *engine.ChangeHash // of the changes, without resolutions; only for Clone
}

// size returns the approximate size in memory.
func (c *comparedChanges) size() int { return 512 + c.totals.Bytes() }

// anyChanges accepts all results for [share].
func anyChanges(*comparedChanges) bool { return true }

// digest returns the digest of the changes and of resolutions.
func (c *comparedChanges) digest(resolutions []engine.Resolution) string {
	h := c.hash.Clone()
	for i := range resolutions {
		h.Resolve(&resolutions[i])
	}
	return h.Sum()
}

// comparedMerge is the result that a merge would have.
type comparedMerge struct {
	conflicts []engine.MergeConflict // the first ones
	count     int                    // the number of all conflicts
	outcome   engine.MergeOutcome
	// nodes and edges are the changes from the target to the result; zero if there are conflicts.
	nodes, edges engine.ChangeCounts
}

// size returns the approximate size in memory.
func (m *comparedMerge) size() int {
	const conflict, image, property = 200, 128, 64 // bytes apart from texts and values
	n := 256
	for i := range m.conflicts {
		c := &m.conflicts[i]
		n += conflict + len(c.ID) + len(c.Message)
		for _, side := range []*engine.Image{c.Base, c.Ours, c.Theirs} {
			if side != nil {
				n += image + property*len(side.Properties) + (&engine.EntityChange{After: side}).Bytes()
			}
		}
	}
	return n
}

// tryMerge returns the result that a merge of `theirs` into `ours` would have. The branches are the names of the
// source and the target for messages. REQUIRES: the numbers of changes are known in `part`, which is the
// difference from base to theirs.
func (g *Graph) tryMerge(ctx context.Context, branches []string, base, theirs, ours *version.Snapshot, part *version.Difference, opts *engine.CompareOptions) (*comparedMerge, error) {
	changes := part.Known().Total()
	result := func(outcome engine.MergeOutcome, d *version.Difference) (*comparedMerge, error) {
		counts, err := d.Counts(ctx)
		if err != nil {
			return nil, err
		}
		return &comparedMerge{outcome: outcome, nodes: counts.Nodes, edges: counts.Edges}, nil
	}
	if fastForwards(base, theirs, ours) {
		if err := checkResolutions(theirs.Schema, opts.Resolutions); err != nil {
			return nil, err
		}
		if changes > 0 {
			return result(engine.FastForward, part)
		} // else memberships, which are no changes, may still differ
	}
	wanted := version.MergeOptions{Resolutions: opts.Resolutions, MaxConflicts: opts.MaxConflicts}
	reversed, merged, err := mergeReversed(ctx, base, theirs, ours, wanted)
	switch {
	case err != nil:
		return nil, err
	case merged == nil:
	case merged.ConflictCount == 0 && changes > merged.Changed:
		// The source has changed an entity that the target has not, so the merge changes the target.
		return result(engine.Merged, version.Compare(ours, reversed.Commit(ours.Commit)))
	case merged.ConflictCount > 0 && merged.RuleConflicts == 0 && part.Separate():
		return &comparedMerge{conflicts: merged.Conflicts, count: merged.ConflictCount, outcome: engine.Merged}, nil
	}
	tx := version.Begin(ours.Fork())
	if base.Commit.ID != theirs.Commit.ID {
		merged, err := mergeInto(ctx, tx, branches[0], branches[1], base, theirs, wanted)
		if err != nil {
			return nil, err
		}
		if merged.ConflictCount > 0 {
			return &comparedMerge{conflicts: merged.Conflicts, count: merged.ConflictCount, outcome: engine.Merged}, nil
		}
	}
	if !tx.Changed() {
		return &comparedMerge{outcome: engine.AlreadyUpToDate}, nil
	}
	outcome := engine.Merged
	if base.Commit.ID == ours.Commit.ID {
		outcome = engine.FastForward
	}
	return result(outcome, version.Compare(ours, tx.Commit(ours.Commit)))
}

// mergeReversed merges the changes of the target into a fork of the state of the source, if the target changed
// less than half as many rows as the source, the schemas are the same, and no resolution is about a whole entity.
// That takes less time than a merge in the other direction; see [version.MergeOptions] for the meaning of the
// result. Otherwise `merged` is nil. A resolution about a whole entity can keep a node with fewer edges than its
// minimum, because the other side deleted some of them with the node; a reversed merge would not touch these edges, and
// so would not check their number. The state of the source may contain such a node because of an earlier merge. Therefore `merged` is also nil if the
// source changed edges of a type with a minimum.
func mergeReversed(ctx context.Context, base, theirs, ours *version.Snapshot, opts version.MergeOptions) (tx *version.Txn, merged *version.Merged, err error) {
	whole := func(r engine.Resolution) bool { return r.Property == "" }
	if base.Schema.Digest != theirs.Schema.Digest || base.Schema.Digest != ours.Schema.Digest || slices.ContainsFunc(opts.Resolutions, whole) {
		return nil, nil, nil
	}
	for _, t := range base.Schema.Edges {
		if t.Card != nil && t.Card.Min > 0 && base.Table(plan.Edge, t.Index) != theirs.Table(plan.Edge, t.Index) {
			return nil, nil, nil
		}
	}
	changed, err := version.Compare(base, theirs).Size(ctx)
	if err != nil {
		return nil, nil, err
	}
	if own, err := version.Compare(base, ours).Size(ctx); err != nil || own >= changed/2 {
		return nil, nil, err
	}
	if err := checkResolutions(theirs.Schema, opts.Resolutions); err != nil {
		return nil, nil, err
	}
	tx, opts.Reversed = version.Begin(theirs.Fork()), true
	merged, err = tx.Merge(ctx, base, ours, opts)
	return tx, merged, err
}

// showConflict removes hidden properties from the images of a conflict.
func showConflict(seen rights.Sides, c *engine.MergeConflict) {
	for _, image := range []**engine.Image{&c.Base, &c.Ours, &c.Theirs} {
		*image = seen.Image(c.Entity, c.Type, *image)
	}
}

// seenConflicts returns the error of a merge as a caller with rights sees it. The conflicts in it lose their hidden properties; if the caller
// may not see them, the error is an *engine.NotAllowed.
func seenConflicts(seen rights.Sides, err error) error {
	var conflicts *engine.MergeConflicts
	if errors.As(err, &conflicts) {
		if denied := seen.CheckConflicts(conflicts.Conflicts); denied != nil {
			return denied
		}
		for i := range conflicts.Conflicts {
			showConflict(seen, &conflicts.Conflicts[i])
		}
	}
	return err
}

// sides returns states as a caller with rights sees them.
func (g *Graph) sides(ctx context.Context, states []*version.Snapshot, of []*engine.Rights) (rights.Sides, error) {
	list := make(rights.Sides, len(states))
	for i, s := range states {
		list[i] = rights.Side{State: s, Rights: of[i]}
		if s == nil || of[i] == nil {
			continue
		}
		var err error
		if list[i].Part, err = g.allowed(ctx, s, of[i]); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// mergeSides returns the states of a merge as a caller sees them who has rights to the source and to the target.
func (g *Graph) mergeSides(ctx context.Context, base, theirs, ours *version.Snapshot, source, target *engine.Rights) (rights.Sides, error) {
	return g.sides(ctx, []*version.Snapshot{base, theirs, ours}, []*engine.Rights{source, source, target})
}

// seenChanges says that a caller may see all changes between two states, or why not.
type seenChanges struct{ denied error }

// size returns the approximate size in memory.
func (*seenChanges) size() int { return 128 }

// checkSeen returns an *engine.NotAllowed unless a caller may see a comparison and resolutions whole. It remembers what it finds for each commit of main.
func (g *Graph) checkSeen(ctx context.Context, s rights.Sides, resolutions []engine.Resolution) error {
	if s.Whole() {
		return nil
	}
	main, err := g.branches.find(engine.MainBranch)
	if err != nil {
		return err
	}
	key := "seen/" + main.head.Load().snap.Commit.ID
	for _, side := range s {
		key += "/"
		if side.State != nil {
			key += side.State.Commit.ID
		}
		if side.Rights != nil {
			key += ":" + side.Rights.Digest
		}
	}
	found, err := share(ctx, &g.compared, key, nil, func(*seenChanges) bool { return true }, func() (*seenChanges, error) {
		err := s.CheckChanges(ctx)
		if denied := (*engine.NotAllowed)(nil); err != nil && !errors.As(err, &denied) {
			return nil, err
		}
		return &seenChanges{err}, nil
	})
	switch {
	case err != nil:
		return err
	case found.denied != nil:
		return found.denied
	}
	return s.CheckPlaces(resolutions)
}

// fastForwards reports whether the state of the source is the result of the merge: the target did not
// change since the merge base, and the source has changed and has the same schema.
func fastForwards(base, theirs, ours *version.Snapshot) bool {
	return base.Commit.ID == ours.Commit.ID && base.Commit.ID != theirs.Commit.ID && theirs.Schema.Digest == ours.Schema.Digest
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
	if at.Commit != "" || at.Branch == "" || !at.AsOf.IsZero() {
		return s.Commit.Branch
	}
	return at.Branch
}

// mergeInto applies the changes from base to source to a transaction on the target. If the result has
// conflicts, the caller must abandon the transaction.
func mergeInto(ctx context.Context, tx *version.Txn, from, to string, base, source *version.Snapshot, opts version.MergeOptions) (*version.Merged, error) {
	a, err := align(ctx, from, to, base, source, tx)
	if err != nil {
		return nil, err
	}
	if err := checkResolutions(tx.Schema(), opts.Resolutions); err != nil {
		return nil, err
	}
	opts.Uncarried, opts.Filled = a.edges, a.filled
	merged, err := tx.Merge(ctx, a.base, a.source, opts)
	if err != nil {
		return nil, err
	}
	if len(a.lost) > 0 {
		merged.ConflictCount += len(a.lost)
		merged.Conflicts = append(a.lost, merged.Conflicts...)
		if most := opts.MaxConflicts; most > 0 && len(merged.Conflicts) > most {
			merged.Conflicts = merged.Conflicts[:most]
		}
	}
	return merged, nil
}

// checkResolutions checks that the schema has the types and properties that the resolutions name,
// and that their values fit the properties. The error is a *engine.BadArgument.
func checkResolutions(s *schema.Schema, all []engine.Resolution) error {
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

// compareChanges counts and hashes the changes between two states. The candidates for changes, in order, count
// towards the memory of all calls. Without that memory, the call takes longer.
func (g *Graph) compareChanges(ctx context.Context, was, is *version.Snapshot) (*comparedChanges, error) {
	d := version.Compare(was, is) // of its own, because a kept one would keep the candidates
	n, err := d.Size(ctx)
	if err != nil {
		return nil, err
	}
	window, memory := int(n), g.opts.SharedMemory
	switch bytes := n * version.CandidateBytes; {
	case g.opts.QueryMemory > 0 && bytes > g.opts.QueryMemory:
		window = 0
	case memory == nil:
	case memory.Take(bytes):
		defer memory.Give(bytes)
	default:
		window = 0
	}
	c := &comparedChanges{hash: &engine.ChangeHash{}}
	if c.totals, err = d.Digest(ctx, c.hash, window); err != nil {
		return nil, err
	}
	c.hash = c.hash.Clone() // without memory for more changes
	return c, nil
}

// changesKey identifies a comparedChanges.
func changesKey(base, theirs *version.Snapshot) string {
	return base.Commit.ID + "/" + theirs.Commit.ID
}

// mergeKey identifies a comparedMerge.
func mergeKey(base, theirs, ours *version.Snapshot, resolutions []engine.Resolution) string {
	var h engine.ChangeHash
	for i := range resolutions {
		h.Resolve(&resolutions[i])
	}
	return changesKey(base, theirs) + "/" + ours.Commit.ID + "/" + h.Sum()
}
