package embedded

import (
	"context"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/store"
	"github.com/omnigraph-go/omnigraph/engine/embedded/version"
)

const (
	// catchUps is how often at most a rewrite takes in what was committed meanwhile:
	// the last time it stops the writers.
	catchUps = 5
	// fewCommits are done again in less time than the manifest takes to write.
	fewCommits = 64
)

// journal keeps the commits that are made while a rewrite is under way. It is guarded by
// the branch's turn.
type journal struct {
	entries []journalEntry
	bulk    bool // one of them holds numbers of entities, which the rewrite changes
}

type journalEntry struct {
	commit engine.Commit
	lsn    uint64
	ops    []byte
}

func (j *journal) note(c engine.Commit, lsn uint64, rec record) {
	switch {
	case j == nil:
	case rec.ops == nil:
		j.entries, j.bulk = nil, true
	case !j.bulk:
		j.entries = append(j.entries, journalEntry{c, lsn, rec.ops})
	}
}

// rewriting is a rewrite of one branch under way.
type rewriting struct {
	*branch
	tip  *commit   // that is laid out anew
	made []*commit // from there on, in the new layout
	held bool      // its turn is
}

// rewrite lays the tips of sparse branches out anew, without holes, stores them and makes
// them what an Open begins with; then it does again what was committed meanwhile, as that
// Open would do, and puts the outcome in the place of heads and tips. What branches share
// they share again, and so do the merge bases in memory. Readers are not touched;
// writers on these branches wait while the manifest is written. done is false when a bulk
// commit came between, whose record would not fit the rewrite. It is called with checkMu
// and shape held.
func (g *Graph) rewrite(ctx context.Context, branches []*branch) (done bool, err error) {
	var all []*rewriting
	defer func() {
		for _, w := range all {
			if !w.held {
				w.hold()
			}
			w.journal = nil
			w.unlock()
		}
	}()
	for _, b := range branches {
		b.hold()
		if b.err != nil {
			b.unlock()
			return false, nil
		}
		b.journal = &journal{}
		b.unlock()
		all = append(all, &rewriting{branch: b})
	}
	cut := g.cut()
	if err := cut.settled(ctx); err != nil {
		return false, err
	}
	logged := g.logged.Load()
	after, flushed, segments, err := g.layOut(ctx, cut, all)
	if err == nil {
		done, err = g.install(ctx, cut, all, after, flushed)
	}
	if !done {
		g.discard(segments)
		return false, err
	}
	g.logged.Add(-logged)
	return true, nil
}

// layOut stores the states of a cut, those of branches under rewrite and sparse merge
// bases laid out anew, and makes the former anchors.
func (g *Graph) layOut(ctx context.Context, cut *cut, all []*rewriting) (after map[*version.Snapshot]*version.Snapshot, flushed *version.Checkpoint, segments []store.SegmentID, err error) {
	w := version.Rewriter{Floor: g.opts.sparse}
	anew := map[*version.Snapshot]bool{}
	for _, b := range cut.bases {
		anew[b] = b.Sparse(g.opts.sparse)
	}
	for _, b := range cut.branches {
		i := slices.IndexFunc(all, func(r *rewriting) bool { return r.branch == b.branch })
		if anew[b.Head] = i >= 0; i < 0 {
			continue
		}
		all[i].tip = b.tip
		cut.past.anchored(&anchor{Anchor: version.Anchor{Commit: b.Head.Commit.ID}, snap: b.Head, lsn: b.tip.lsn, branch: b.branch})
	}
	keep := func(fresh []version.Fresh) error {
		for _, f := range fresh {
			id, err := g.storeSegment(ctx, f.Type, f.Segment)
			if err != nil {
				return err
			}
			segments = append(segments, id)
		}
		return nil
	}
	after = map[*version.Snapshot]*version.Snapshot{}
	for s := range cut.states {
		if !anew[s] {
			continue
		}
		fresh, err := w.Add(ctx, s)
		if err == nil {
			err = keep(fresh)
		}
		if err != nil {
			return nil, nil, segments, err
		}
		after[s] = w.Snapshot(s)
	}
	made, err := g.storeFlushes(ctx, cut, &w.Flushes, after)
	return after, &w.Flushes, append(segments, made...), err
}

// install catches up with the branches under rewrite, makes the manifest the one in force
// and puts the states of after in their places.
func (g *Graph) install(ctx context.Context, cut *cut, all []*rewriting, after map[*version.Snapshot]*version.Snapshot, flushed *version.Checkpoint) (done bool, err error) {
	anchors := map[string]*version.Snapshot{}
	for _, w := range all {
		if w.tip == nil {
			return false, nil // it is deleted
		}
		w.made = []*commit{{snap: after[w.tip.snap], lsn: w.tip.lsn}}
	}
	for round, calm := 1, false; !calm; round++ {
		calm = true
		for _, w := range all {
			n, err := g.catchUp(ctx, w, anchors)
			if n < 0 || err != nil {
				return false, err
			}
			calm = calm && n <= fewCommits
		}
		calm = calm || round == catchUps
	}
	for _, w := range all {
		w.hold()
		w.held = true
		if n, err := g.catchUp(ctx, w, anchors); n < 0 || err != nil {
			return false, err
		}
		// If the manifest fails it may be in force all the same after the next Open.
		w.doubt = true
	}
	if err := g.manifest(ctx, cut, after); err != nil {
		return false, err
	}
	for _, w := range all {
		w.doubt = false
		byLSN := make(map[uint64]*version.Snapshot, len(w.made))
		for _, c := range w.made {
			byLSN[c.lsn] = c.snap
		}
		w.replace(func(c *commit) *version.Snapshot { return byLSN[c.lsn] })
		g.readopt(w.branch, func(a *anchor) *version.Snapshot { return anchors[a.Commit] })
	}
	return true, g.adopt(cut, after, flushed, func(b *branch) bool {
		return !slices.ContainsFunc(all, func(w *rewriting) bool { return w.branch == b })
	})
}

// catchUp does again what was committed to a branch since the last time, and returns how
// many commits these were, or -1 when there is one that cannot be done again. States that
// are anchors are put in the map.
func (g *Graph) catchUp(ctx context.Context, w *rewriting, anchors map[string]*version.Snapshot) (int, error) {
	if !w.held {
		w.hold()
	}
	entries, bulk := w.journal.entries, w.journal.bulk
	w.journal.entries = nil
	if !w.held {
		w.unlock()
	}
	if bulk {
		return -1, nil
	}
	for i, e := range entries {
		if e.lsn <= w.tip.lsn {
			continue
		}
		if i%256 == 0 {
			if err := ctx.Err(); err != nil {
				return 0, err
			}
			w.made = w.needed(w.made)
		}
		tx := version.Begin(w.made[len(w.made)-1].snap)
		if err := tx.ApplyOps(e.ops); err != nil {
			return 0, err
		}
		s := tx.Commit(e.commit)
		w.made = append(w.made, &commit{snap: s, lsn: e.lsn})
		if g.anchored(e.commit.ID) {
			anchors[e.commit.ID] = s
		}
	}
	w.made = w.needed(w.made)
	return len(entries), nil
}

// needed drops the states before the head's, the last one excepted.
func (b *branch) needed(made []*commit) []*commit {
	head, n := b.head.Load().lsn, 0
	for n < len(made)-1 && made[n].lsn < head {
		made[n] = nil
		n++
	}
	return made[n:]
}
