package embedded

import (
	"cmp"
	"context"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/ancestry"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
)

// keptBases is the maximum number of states of merge bases in memory. If the base of a merge is not
// in memory, the merge restores it from an anchor and records, as a read of the past does. That
// merge also compares more rows, because a restored state shares fewer pages with the two sides.
const keptBases = 256

// mergeBase is a state that the next merge of a branch probably compares with: the state where
// the branch began, or the source of its last merge. Guarded by branches.mu.
type mergeBase struct {
	id       string            // id of the state's commit
	snap     *version.Snapshot // nil once mergeBases has dropped the base
	branches int               // number of branches that hold the base
}

// mergeBases keeps the states of merge bases in memory while branches hold them. It keeps at most
// keptBases states and drops the oldest first. Guarded by branches.mu.
type mergeBases struct {
	at    map[string]*mergeBase // by commit id
	order []*mergeBase          // oldest first; some of them are no longer in `at`
}

// hold makes s the merge base that branch b holds, and releases the previous one.
func (l *mergeBases) hold(b *branch, s *version.Snapshot) {
	id := s.Commit.ID
	base := l.at[id]
	if base == nil {
		base = &mergeBase{id: id, snap: s}
		l.at[id] = base
		l.order = append(l.order, base)
	}
	base.branches++
	l.release(b)
	b.base = base
	for i := 0; len(l.at) > keptBases; i++ {
		if oldest := l.order[i]; l.has(oldest) {
			l.drop(oldest)
		}
	}
	if len(l.order) > 2*keptBases {
		l.order = slices.DeleteFunc(l.order, func(base *mergeBase) bool { return !l.has(base) })
	}
}

// release ends the branch's hold on its merge base, and drops the base if no other branch holds
// it.
func (l *mergeBases) release(b *branch) {
	base := b.base
	if b.base = nil; base == nil {
		return
	}
	if base.branches--; base.branches == 0 && l.has(base) {
		l.drop(base)
	}
}

// has reports whether l still contains base.
func (l *mergeBases) has(base *mergeBase) bool { return l.at[base.id] == base }

// drop removes a merge base and releases its state.
func (l *mergeBases) drop(base *mergeBase) {
	delete(l.at, base.id)
	base.snap = nil
}

// keepOnly drops the states of all commits that are not in the set `commits`.
func (l *mergeBases) keepOnly(commits map[string]bool) {
	for id, base := range l.at {
		if !commits[id] {
			l.drop(base)
		}
	}
}

// merged records a merge. From then on, the commit `source` is the lowest common ancestor of the
// two branches, so both hold it. Main holds no base, because it merges with many branches.
func (l *mergeBases) merged(target, from *branch, source *version.Snapshot) {
	for _, b := range []*branch{target, from} {
		if b.name != engine.MainBranch {
			l.hold(b, source)
		}
	}
}

// states lists the states in the order of their commit ids.
func (l *mergeBases) states() []*version.Snapshot {
	all := make([]*version.Snapshot, 0, len(l.at))
	for _, base := range l.at {
		all = append(all, base.snap)
	}
	slices.SortFunc(all, func(a, b *version.Snapshot) int { return cmp.Compare(a.Commit.ID, b.Commit.ID) })
	return all
}

// mergeBase returns the state of the lowest common ancestor of a and b. REQUIRES: both states are
// durable, and their branches are not deleted during the call.
func (r *restorer) mergeBase(ctx context.Context, a, b *version.Snapshot) (*version.Snapshot, error) {
	id, ok := r.history.CommonAncestor(a.Commit.ID, b.Commit.ID)
	switch {
	case !ok:
		return nil, &engine.Corrupt{Object: "history", Detail: "commits " + a.Commit.ID + " and " + b.Commit.ID + " have no common ancestor"}
	case id == a.Commit.ID:
		return a, nil
	case id == b.Commit.ID:
		return b, nil
	}
	if s := r.branches.base(id); s != nil {
		return s, nil
	}
	return r.ancestor(ctx, id)
}

// readableWith checks, for every branch, that the merge bases of the commit and the branch can be
// read. A cleanup keeps only the merge bases of the branches that existed then, and a commit of the
// past may have other bases. readableWith returns a *engine.NotFound if one of them cannot be read.
// REQUIRES: layout.merging is held.
func (r *restorer) readableWith(id string) error {
	if r.retention.archiveComplete() {
		return nil
	}
	return r.retention.readable(r.history.LowestWith(id, r.branches.tipIDs()))
}

// mergeBases returns the set of the merge bases of all pairs of branches in a cut.
func (c *cut) mergeBases(h *ancestry.History) map[string]bool {
	heads := make([]string, len(c.branches))
	for i, b := range c.branches {
		heads[i] = b.Head.Commit.ID
	}
	all := map[string]bool{}
	for _, id := range h.MergeBases(heads) {
		all[id] = true
	}
	return all
}
