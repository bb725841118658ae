package embedded

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/version"
)

// keptBases is how many states of merge bases stay in memory. A merge whose base is not
// among them makes it of an anchor and records, as a read of the past does, and compares
// more rows, since the made state shares fewer pages with the two sides.
const keptBases = 256

// mergeBase is a state that the next merge of a branch probably compares with: where the
// branch began, or what its last merge brought. It is guarded by Graph.lines.
type mergeBase struct {
	id       string
	snap     *version.Snapshot // nil when it is not in the list any more
	branches int               // that hold it
}

// baseList keeps the states of merge bases that branches hold, the last ones up to a
// bound. It is guarded by Graph.lines.
type baseList struct {
	at    map[string]*mergeBase // by commit
	order []*mergeBase          // the oldest first; some are no longer in the map
}

// hold makes a state the one that a branch holds.
func (l *baseList) hold(b *branch, s *version.Snapshot) {
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

// release drops the state that a branch holds, unless another holds it.
func (l *baseList) release(b *branch) {
	base := b.base
	if b.base = nil; base == nil {
		return
	}
	if base.branches--; base.branches == 0 && l.has(base) {
		l.drop(base)
	}
}

func (l *baseList) has(base *mergeBase) bool { return l.at[base.id] == base }

func (l *baseList) drop(base *mergeBase) {
	delete(l.at, base.id)
	base.snap = nil
}

// keep drops the states of all commits but these.
func (l *baseList) keep(commits map[string]bool) {
	for id, base := range l.at {
		if !commits[id] {
			l.drop(base)
		}
	}
}

// merged notes a merge: its source is the lowest common ancestor of the two branches
// then. Main merges with many, and holds none.
func (l *lines) merged(target, from *branch, source *version.Snapshot) {
	for _, b := range []*branch{target, from} {
		if b.name != engine.MainBranch {
			l.bases.hold(b, source)
		}
	}
}

// states lists the states, in the order of their commits.
func (l *baseList) states() []*version.Snapshot {
	all := make([]*version.Snapshot, 0, len(l.at))
	for _, base := range l.at {
		all = append(all, base.snap)
	}
	slices.SortFunc(all, func(a, b *version.Snapshot) int { return cmp.Compare(a.Commit.ID, b.Commit.ID) })
	return all
}

// mergeBase returns the state of the lowest common ancestor of two states that are
// durable, of branches that are not deleted meanwhile.
func (g *Graph) mergeBase(ctx context.Context, a, b *version.Snapshot) (*version.Snapshot, error) {
	id, ok := g.history.CommonAncestor(a.Commit.ID, b.Commit.ID)
	switch {
	case !ok:
		return nil, &engine.Corrupt{Object: "history", Detail: "commits " + a.Commit.ID + " and " + b.Commit.ID + " have no common ancestor"}
	case id == a.Commit.ID:
		return a, nil
	case id == b.Commit.ID:
		return b, nil
	}
	g.lines.Lock()
	var s *version.Snapshot
	if base := g.lines.bases.at[id]; base != nil {
		s = base.snap
	}
	g.lines.Unlock()
	if s != nil {
		return s, nil
	}
	return g.stateOf(ctx, id)
}

// readableWith checks that the merge bases of a commit and every branch can be read. A
// cleanup keeps the bases of the branches that there were, and a commit of the past may
// have others. The error is a *engine.NotFound. REQUIRES: g.merging is held.
func (g *Graph) readableWith(id string) error {
	g.lines.Lock()
	whole := g.past.whole()
	g.lines.Unlock()
	if whole {
		return nil
	}
	bases := g.history.LowestWith(id, g.tips())
	g.lines.Lock()
	defer g.lines.Unlock()
	for _, base := range bases {
		if _, ok := g.runTo(base); !ok {
			return &engine.NotFound{What: notKept, Name: base}
		}
	}
	return nil
}

// whole reports whether the records of all commits after the first are there. REQUIRES:
// Graph.lines is locked.
func (p *past) whole() bool {
	next := 1
	for _, a := range p.archive {
		for _, r := range a.Runs {
			if r.First != next {
				return false
			}
			next += r.N
		}
	}
	return next == p.archived
}

// tips lists the commits that writers of the live branches build on, each once.
func (g *Graph) tips() []string {
	g.lines.Lock()
	defer g.lines.Unlock()
	var ids []string
	for id, all := range g.lines.tips {
		if slices.ContainsFunc(all, func(b *branch) bool { return !b.deleted }) {
			ids = append(ids, id)
		}
	}
	return ids
}

// mergeBases lists the lowest common ancestors of every two branches of a cut.
func (c *cut) mergeBases(h *version.History) map[string]bool {
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

func byName(b *branch, name string) int { return strings.Compare(b.name, name) }
