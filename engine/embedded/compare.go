package embedded

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/corruption"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
)

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
	out := &engine.Comparison{Source: theirs.Commit, Target: ours.Commit, Base: base.Commit}
	part := g.partBetween(base, theirs)
	if opts.Changes != nil {
		if out.List, out.More, err = part.Page(ctx, opts.Changes); err != nil {
			return nil, err
		}
		g.keepPart(part, out.More)
	}
	if opts.ListOnly {
		return out, nil
	}
	key := comparedKey(base, theirs, ours, opts.Resolutions)
	if g.compared.recall(key, out) {
		return out, nil
	}
	counts, err := part.count(ctx)
	if err != nil {
		return nil, err
	}
	out.Nodes, out.Edges = counts.nodes, counts.edges
	if out.Digest, err = g.digestOf(ctx, base, theirs, counts.total(), opts.Resolutions); err != nil {
		return nil, err
	}
	if out.Conflicts, out.Outcome, err = g.tryMerge(ctx, source, target, base, theirs, ours, counts.total(), opts.Resolutions); err != nil {
		return nil, err
	}
	g.compared.remember(key, out)
	return out, nil
}

// tryMerge returns the conflicts and the outcome of a merge. The argument `changes` is the number of
// changes from base to theirs.
func (g *Graph) tryMerge(ctx context.Context, source, target engine.Target, base, theirs, ours *version.Snapshot, changes int64, resolutions []engine.Resolution) ([]engine.MergeConflict, engine.MergeOutcome, error) {
	if fastForwards(base, theirs, ours) {
		if err := checkResolutions(theirs.Schema, resolutions); err != nil {
			return nil, 0, err
		}
		if changes == 0 {
			return nil, engine.AlreadyUpToDate, nil
		}
		return nil, engine.FastForward, nil
	}
	tx := version.Begin(ours.Fork())
	if base.Commit.ID != theirs.Commit.ID {
		conflicts, _, err := mergeInto(ctx, tx, branchNameOf(source, theirs), branchNameOf(target, ours), base, theirs, resolutions)
		if err != nil || len(conflicts) > 0 {
			return conflicts, engine.Merged, err
		}
	}
	switch {
	case !tx.Changed():
		return nil, engine.AlreadyUpToDate, nil
	case base.Commit.ID == ours.Commit.ID:
		return nil, engine.FastForward, nil
	}
	return nil, engine.Merged, nil
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
	if at.Commit != "" || at.Branch == "" {
		return s.Commit.Branch
	}
	return at.Branch
}

// mergeInto applies the changes from base to source to a transaction on the target. The result
// `conflicts` lists the conflicts that the resolutions do not resolve; if there are any, the caller
// must abandon the transaction.
func mergeInto(ctx context.Context, tx *version.Txn, from, to string, base, source *version.Snapshot, resolutions []engine.Resolution) (conflicts []engine.MergeConflict, merged *version.Merged, err error) {
	base, source, lost, err := align(ctx, from, to, base, source, tx)
	if err != nil {
		return nil, nil, err
	}
	if err := checkResolutions(tx.Schema(), resolutions); err != nil {
		return nil, nil, err
	}
	if merged, err = tx.Merge(ctx, base, source, resolutions); err != nil {
		return nil, nil, err
	}
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

// digestOf returns the digest of the changes between two states, and of the resolutions. The ids of the
// changes, in order, count towards the memory of all calls. Without that memory, the call takes longer.
// The argument `changes` is the number of changes.
func (g *Graph) digestOf(ctx context.Context, was, is *version.Snapshot, changes int64, resolutions []engine.Resolution) (string, error) {
	const idBytes = 2 * 16 // the head of a string, twice while the ids are sorted
	window, memory := int(changes), g.opts.SharedMemory
	switch bytes := changes * idBytes; {
	case g.opts.QueryMemory > 0 && bytes > g.opts.QueryMemory:
		window = 0
	case memory == nil:
	case memory.Take(bytes):
		defer memory.Give(bytes)
	default:
		window = 0
	}
	// A difference of its own, because a kept one would keep the ids.
	d := version.Compare(was, is)
	var h engine.ChangeHash
	if err := d.Digest(ctx, &h, window); err != nil {
		return "", err
	}
	for i := range resolutions {
		h.Resolve(&resolutions[i])
	}
	return h.Sum(), nil
}

// maxCompared is the number of comparisons that a graph remembers, each with some hundred bytes.
const maxCompared = 64

// comparedStates remembers the comparisons without conflicts that were made last. A comparison depends
// only on commits, which do not change, and on the resolutions.
type comparedStates struct {
	mu   sync.Mutex
	keys []string                     // of `by`, the oldest first
	by   map[string]engine.Comparison // without List and More
}

// comparedKey identifies a comparison.
func comparedKey(base, theirs, ours *version.Snapshot, resolutions []engine.Resolution) string {
	var h engine.ChangeHash
	for i := range resolutions {
		h.Resolve(&resolutions[i])
	}
	return base.Commit.ID + "/" + theirs.Commit.ID + "/" + ours.Commit.ID + "/" + h.Sum()
}

// recall sets the remembered fields of a comparison, and reports whether there are any.
func (m *comparedStates) recall(key string, out *engine.Comparison) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	c, ok := m.by[key]
	if ok {
		out.Nodes, out.Edges, out.Digest, out.Outcome = c.Nodes, c.Edges, c.Digest, c.Outcome
	}
	return ok
}

// remember keeps a comparison if it has no conflicts. The conflicts have values of the graph, which could
// take much memory.
func (m *comparedStates) remember(key string, c *engine.Comparison) {
	if len(c.Conflicts) > 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.by == nil {
		m.by = map[string]engine.Comparison{}
	}
	if _, known := m.by[key]; !known {
		if len(m.keys) == maxCompared {
			delete(m.by, m.keys[0])
			m.keys = slices.Delete(m.keys, 0, 1)
		}
		m.keys = append(m.keys, key)
	}
	m.by[key] = engine.Comparison{Nodes: c.Nodes, Edges: c.Edges, Digest: c.Digest, Outcome: c.Outcome}
}
