package embedded

import (
	"cmp"
	"context"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/corruption"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/load"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/logrecord"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/segment"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/store"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
)

const (
	// maxCatchUps is the maximum number of rounds in which a rewrite replays the commits made
	// meanwhile. Then the writers are stopped, and a final round follows.
	maxCatchUps = 5
	// fewCommits is a number of commits. To replay them takes less time than to write the manifest.
	fewCommits = 64
)

// journal records the commits of a branch that are made during a rewrite. Guarded by the
// write lock of the branch.
type journal struct {
	entries []journalEntry // oldest first
	bulk    bool           // a record has entity numbers, which the rewrite changes
}

// journalEntry is a commit that was made during a rewrite.
type journalEntry struct {
	commit logrecord.Commit // the commit
	lsn    uint64           // LSN of the commit's record
	ops    []byte           // the operations of the commit's record
}

// note adds a commit to the journal. If the journal is nil, note does nothing.
func (j *journal) note(c logrecord.Commit, lsn uint64, rec record) {
	switch {
	case j == nil:
	case rec.ops == nil:
		j.entries, j.bulk = nil, true
	case !j.bulk:
		j.entries = append(j.entries, journalEntry{c, lsn, rec.ops})
	}
}

// rewriting is the state of a rewrite of one branch.
type rewriting struct {
	*branch
	tip       *commit   // the tip that is laid out anew
	rewritten []*commit // that tip and the commits after it, in the new layout
	holdsLock bool      // whether the rewrite holds the write lock of the branch
}

// rewriteLocked lays out the tips of sparse branches anew, without holes. It works in three steps:
//
//  1. It stores the new layout. If branches or the merge bases in memory shared rows before, they
//     share them in the new layout too.
//  2. It replays the commits made meanwhile, as Open would.
//  3. It writes a manifest from which Open begins, and replaces the heads and tips in memory.
//
// Readers are not affected. Writers on these branches wait while the manifest is written. The layout is
// locked at the beginning and in step 3. If a call locked it for reading in between, the new layout may
// lack a branch or a merge base; rewriteLocked then discards it, and the next rewrite keeps the layout
// locked from the beginning to the end.
//
// The result `done` is false if no branch is sparse, if the new layout was discarded, or if a bulk
// commit was made meanwhile, because its record does not fit the new layout. REQUIRES: c.mu is locked.
func (c *checkpoints) rewriteLocked(ctx context.Context) (done bool, err error) {
	var all []*rewriting
	defer func() {
		for _, w := range all {
			if !w.holdsLock {
				w.hold()
			}
			w.journal = nil
			w.unlock()
		}
	}()
	c.layout.Lock()
	locked := true
	defer func() {
		if locked {
			c.branches.noteStale()
			c.layout.Unlock()
		}
	}()
	sparse := c.branches.sparseBranches(c.opts.sparse)
	if len(sparse) == 0 {
		return false, nil
	}
	for _, b := range sparse {
		b.hold()
		if b.err != nil {
			b.unlock()
			return false, nil
		}
		b.journal = &journal{}
		b.unlock()
		all = append(all, &rewriting{branch: b})
	}
	cut := c.branches.cut(c.opts.time())
	cut.rewrite = true
	logged, carried := c.logged.Load(), c.layout.Carried.Load()
	if !c.insist {
		c.layout.Unlock()
		locked = false
	}
	if err := cut.waitDurable(ctx); err != nil {
		return false, err
	}
	after, flushed, segments, err := c.layOutLocked(ctx, cut, all)
	anchors := map[string]*version.Snapshot{}
	fits := err == nil
	if fits {
		fits, err = c.catchUpAll(ctx, all, after, anchors)
	}
	if !locked {
		c.layout.Lock()
		locked = true
		if c.layout.Carried.Load() != carried {
			fits, c.insist = false, true
		}
	}
	if fits {
		done, err = c.installLocked(ctx, cut, all, after, flushed, anchors)
	}
	if !done {
		c.files.discard(segments)
		return false, err
	}
	c.insist = false
	c.logged.Add(-logged)
	return true, nil
}

// layOutLocked stores the states of a cut. It lays out anew the branches under rewrite and the sparse
// merge bases, and stores the old heads of those branches as anchors. It returns the segments
// that it made, also when it fails, and throws no faults of stored data. It also builds the text
// indexes of the new state of main. REQUIRES: c.mu is locked.
func (c *checkpoints) layOutLocked(ctx context.Context, cut *cut, all []*rewriting) (after map[*version.Snapshot]*version.Snapshot, flushed *version.Checkpoint, segments []store.SegmentID, err error) {
	defer corruption.Catch(corruption.Watch(), &err)
	scratch := &scratchFiles{ctx: ctx, store: c.store}
	defer scratch.free()
	files := c.files.indexFiles(ctx, c.opts, scratch, func(id store.SegmentID) { segments = append(segments, id) })
	w := version.Rewriter{
		Floor: c.opts.sparse, Segment: cmp.Or(c.opts.rewriteSegment, load.DefaultSegment),
		Files: files, Flushes: version.Checkpoint{Files: files},
		Keep: func(t *schema.Type, s *segment.Segment) error {
			id, err := c.files.write(ctx, t, s)
			if err == nil {
				segments = append(segments, id)
			}
			return err
		},
	}
	anew := map[*version.Snapshot]bool{}
	for _, b := range cut.bases {
		anew[b] = b.Sparse(c.opts.sparse)
	}
	for _, b := range cut.branches {
		i := slices.IndexFunc(all, func(r *rewriting) bool { return r.branch == b.branch })
		if anew[b.Head] = i >= 0; i < 0 {
			continue
		}
		all[i].tip = b.tip
		cut.retained.anchored(&anchor{Anchor: version.Anchor{Commit: b.Head.Commit.ID}, snap: b.Head, lsn: b.tip.lsn, branch: b.branch})
	}
	after = map[*version.Snapshot]*version.Snapshot{}
	for s := range cut.states {
		if !anew[s] {
			continue
		}
		if err := w.Add(ctx, s); err != nil {
			return nil, nil, segments, err
		}
		after[s] = w.Snapshot(s)
	}
	made, err := c.storeFlushes(ctx, cut, &w.Flushes, after)
	segments = append(segments, made...)
	for _, b := range cut.branches {
		if err == nil && b.branch == c.branches.main {
			// The first search of the new state should find the text indexes and not have to build
			// them.
			err = c.buildTextsOfLocked(ctx, after[b.Head].Tables())
		}
	}
	return after, &w.Flushes, segments, err
}

// catchUpAll replays the new commits of the branches under rewrite, until only a few are missing. It
// returns false if one of them cannot be replayed.
func (c *checkpoints) catchUpAll(ctx context.Context, all []*rewriting, after map[*version.Snapshot]*version.Snapshot, anchors map[string]*version.Snapshot) (bool, error) {
	for _, w := range all {
		if w.tip == nil {
			return false, nil // the branch is deleted
		}
		w.rewritten = []*commit{{snap: after[w.tip.snap], lsn: w.tip.lsn}}
	}
	for round, calm := 1, false; !calm; round++ {
		calm = true
		for _, w := range all {
			n, err := c.catchUp(ctx, w, anchors)
			if n < 0 || err != nil {
				return false, err
			}
			calm = calm && n <= fewCommits
		}
		calm = calm || round == maxCatchUps
	}
	return true, nil
}

// installLocked replays the last commits of the branches under rewrite, puts the manifest in force,
// and replaces each state in memory with its new state in the map `after`. REQUIRES: c.mu is
// locked, and c.layout for writing.
func (c *checkpoints) installLocked(ctx context.Context, cut *cut, all []*rewriting, after map[*version.Snapshot]*version.Snapshot, flushed *version.Checkpoint, anchors map[string]*version.Snapshot) (done bool, err error) {
	for _, w := range all {
		w.hold()
		w.holdsLock = true
		if n, err := c.catchUp(ctx, w, anchors); n < 0 || err != nil {
			return false, err
		}
		// If the write of the manifest fails, the manifest may still be in force after the next
		// Open.
		w.stale = true
	}
	if err := c.manifestLocked(ctx, cut, after); err != nil {
		return false, err
	}
	for _, w := range all {
		w.stale = false
		byLSN := make(map[uint64]*version.Snapshot, len(w.rewritten))
		for _, made := range w.rewritten {
			byLSN[made.lsn] = made.snap
		}
		w.replaceLocked(func(old *commit) *version.Snapshot { return byLSN[old.lsn] })
		c.retention.replace(w.branch, func(a *anchor) *version.Snapshot { return anchors[a.Commit] })
	}
	return true, c.adopt(cut, after, flushed, func(b *branch) bool {
		return !slices.ContainsFunc(all, func(w *rewriting) bool { return w.branch == b })
	})
}

// catchUp replays the commits made on a branch since the last call. It returns their number, or -1
// if one of them cannot be replayed. It enters the new states of anchors in the map `anchors`.
func (c *checkpoints) catchUp(ctx context.Context, w *rewriting, anchors map[string]*version.Snapshot) (int, error) {
	if !w.holdsLock {
		w.hold()
	}
	entries, bulk := w.journal.entries, w.journal.bulk
	w.journal.entries = nil
	if !w.holdsLock {
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
			w.rewritten = w.needed(w.rewritten)
		}
		tx := version.Begin(w.rewritten[len(w.rewritten)-1].snap)
		tx.Replay(e.commit.Number)
		if err := tx.ApplyOps(e.ops); err != nil {
			return 0, err
		}
		s := tx.Commit(e.commit.Commit)
		w.rewritten = append(w.rewritten, &commit{snap: s, lsn: e.lsn})
		if c.retention.anchored(e.commit.ID) {
			anchors[e.commit.ID] = s
		}
	}
	w.rewritten = w.needed(w.rewritten)
	return len(entries), nil
}

// needed drops the commits that are older than the head, but always keeps the last commit.
func (b *branch) needed(made []*commit) []*commit {
	head, n := b.head.Load().lsn, 0
	for n < len(made)-1 && made[n].lsn < head {
		made[n] = nil
		n++
	}
	return made[n:]
}
