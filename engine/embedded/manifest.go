package embedded

import (
	"context"
	"maps"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/ancestry"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/corruption"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index/vectorindex"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/logrecord"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/store"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
)

// historyBlock is the name of the block that holds commits in a history segment.
const historyBlock = "commits"

// manifestLocked writes a manifest that makes a cut the state from which Open begins. The map
// `after` gives, for each state of the cut, a form in which every row is stored. REQUIRES: c.mu is
// locked, and c.layout for writing.
func (c *checkpoints) manifestLocked(ctx context.Context, cut *cut, after map[*version.Snapshot]*version.Snapshot) error {
	history, stored, err := c.storeHistoryLocked(ctx, cut.commits)
	if err != nil {
		return err
	}
	c.files.disown(after)
	indexes, err := c.storeIndexes(ctx, cut, after)
	stored = append(stored, indexes.ids...)
	if err == nil {
		var made []store.SegmentID
		made, err = c.retention.store(ctx, cut, after)
		stored = append(stored, made...)
	}
	if err != nil {
		indexes.forget()
		c.files.discard(stored)
		return err
	}
	named := map[string]bool{}
	for _, s := range after {
		for _, name := range s.Refs() {
			named[name] = true
		}
	}
	m := version.Manifest{History: history}
	for _, h := range history {
		named[h.Name] = true
	}
	for _, b := range cut.branches {
		b.ManifestBranch.Head = after[b.Head]
		b.Receipts = func(yield func(logrecord.Receipted) bool) {
			for _, r := range b.receipts {
				if !yield(r.Unpack(c.history)) {
					return
				}
			}
		}
		b.NumReceipts = len(b.receipts)
		m.Branches = append(m.Branches, b.ManifestBranch)
	}
	m.Proposals, m.Drafts, m.ReclaimedEvent = cut.proposals.kept(), cut.drafts.kept(), cut.proposals.reclaimed
	m.Watches = cut.watches.kept()
	cut.retained.describe(&m, named)
	ids, err := segmentIDs(named)
	if err == nil {
		// Checkpoint may remove files, so no state may be read from files meanwhile.
		err = c.restorer.replaceFiles(func() error {
			put := c.store.Checkpoint
			if cut.rewrite {
				put = c.store.Rewrite
			}
			if err := put(ctx, m.Append(nil, encode), cut.lsn, ids); err != nil {
				return err
			}
			c.restorer.forget(c.retention.adopt(cut))
			return nil
		})
	}
	if err != nil {
		indexes.forget()
		c.files.discard(stored)
		return err
	}
	c.lsn, c.stored = cut.lsn, history
	// A commit may have replaced parts of a text index after these parts were stored. The method
	// discard removes only the replaced parts, because the manifest lists the others.
	c.files.discard(c.newTexts)
	c.newTexts = nil
	c.mapVectors(ctx, indexes, after)
	return nil
}

// mapVectors makes the states in memory read the approximate indexes from the files in which they
// were just stored, so that the memory of the indexes is freed. If a file cannot be read, the index
// stays in memory. REQUIRES: c.layout is locked for writing.
func (c *checkpoints) mapVectors(ctx context.Context, made storedIndexes, after map[*version.Snapshot]*version.Snapshot) {
	any := false
	for _, ix := range made.what {
		if g, ok := ix.(*vectorindex.Graph); ok {
			if err := c.files.mapVectors(ctx, g); err != nil {
				c.failed(err)
				continue
			}
			any = true
		}
	}
	if !any {
		return
	}
	for _, s := range slices.Concat(slices.Collect(maps.Values(after)), c.branches.states(), c.branches.tipStates()) {
		for _, t := range s.Tables() {
			t.MapVectors()
		}
	}
}

// storeFlushes stores the rows of a cut that are in no stored segment. It adds each resulting state
// to the map `after`, unless the map contains one already. It returns the segments that it made,
// even if it fails. It does not throw faults of stored data but returns them as errors, so that the
// caller can remove the segments.
func (c *checkpoints) storeFlushes(ctx context.Context, cut *cut, flushed *version.Checkpoint, after map[*version.Snapshot]*version.Snapshot) (made []store.SegmentID, err error) {
	pack := packer{files: c.files}
	defer func() { made = pack.written }()
	defer corruption.Catch(corruption.Watch(), &err)
	if flushed.Files == nil {
		scratch := &scratchFiles{ctx: ctx, store: c.store}
		defer scratch.free()
		flushed.Files = c.files.indexFiles(ctx, c.opts, scratch, func(id store.SegmentID) { pack.written = append(pack.written, id) })
	}
	keep := func(s *version.Snapshot, flush func(*version.Table) (version.Flush, bool, error)) error {
		for _, t := range s.Tables() {
			f, ok, err := flush(t)
			if err == nil && ok {
				err = pack.add(ctx, t.Type, f.Segment)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	var states []*version.Snapshot
	for s := range cut.states {
		if after[s] != nil {
			continue
		}
		states = append(states, s)
		if err := keep(s, flushed.Flush); err != nil {
			return nil, err
		}
	}
	for _, a := range cut.retained.anchors {
		if after[a.snap] != nil {
			continue
		}
		states = append(states, a.snap)
		if err := keep(a.snap, flushed.FlushEarlier); err != nil {
			return nil, err
		}
	}
	if err := pack.finish(ctx); err != nil {
		return nil, err
	}
	for _, s := range states {
		after[s] = flushed.Snapshot(s)
	}
	return nil, nil
}

// storedIndexes are indexes that are stored, but that no manifest lists yet.
type storedIndexes struct {
	ids  []store.SegmentID  // the segments with the indexes
	what []version.Unstored // the parts of indexes that the segments hold
}

// forget marks the indexes as not stored.
func (s *storedIndexes) forget() {
	for _, ix := range s.what {
		ix.Named("")
	}
}

// storeIndexes stores the indexes of the tables of heads and merge bases, unless they are stored
// already or too small to be worth a file. It returns what it made even if it fails, and throws no
// faults of stored data.
func (c *checkpoints) storeIndexes(ctx context.Context, cut *cut, after map[*version.Snapshot]*version.Snapshot) (made storedIndexes, err error) {
	defer corruption.Catch(corruption.Watch(), &err)
	var states []*version.Snapshot
	for _, b := range cut.branches {
		states = append(states, after[b.Head])
	}
	for _, b := range cut.bases {
		states = append(states, after[b])
	}
	for _, s := range states {
		for _, t := range s.Tables() {
			for _, ix := range t.Unstored(c.opts.indexed) {
				id, err := c.store.WriteSegment(ctx, func(w *store.SegmentWriter) error { return ix.Blocks(adder(w, ix.Cold)) })
				if err != nil {
					return made, err
				}
				ix.Named(segmentName(id))
				made.ids, made.what = append(made.ids, id), append(made.what, ix)
			}
		}
	}
	return made, nil
}

// indexesToStore reports whether some indexes exist only in memory, so that Open would have to
// build them again.
func (c *checkpoints) indexesToStore() bool {
	if c.lacksTexts() {
		return true
	}
	for _, s := range c.branches.states() {
		for _, t := range s.Tables() {
			if t.IndexesToStore(c.opts.indexed) {
				return true
			}
		}
	}
	return false
}

// storeHistoryLocked stores the commits, among the first n, that are not stored yet. It merges the
// last stored segments into the new one if they are small. The result `all` lists the segments that
// then hold the n commits; `made` lists the segments that this call wrote. REQUIRES: c.mu is
// locked.
func (c *checkpoints) storeHistoryLocked(ctx context.Context, n int) (all []ancestry.HistorySegment, made []store.SegmentID, err error) {
	from := 0
	for _, s := range c.stored {
		from += s.N
	}
	if from == n {
		return c.stored, nil, nil
	}
	keep := len(c.stored)
	for keep > 0 && c.stored[keep-1].N < 2*(n-from) {
		keep--
		from -= c.stored[keep].N
	}
	id, err := c.store.WriteSegment(ctx, func(w *store.SegmentWriter) error {
		return w.AddBlock(historyBlock, c.history.AppendHistory(nil, from, n))
	})
	if err != nil {
		return nil, nil, err
	}
	all = append(c.stored[:keep:keep], ancestry.HistorySegment{Name: segmentName(id), N: n - from})
	return all, []store.SegmentID{id}, nil
}
