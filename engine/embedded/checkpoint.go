package embedded

import (
	"context"
	"maps"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/damage"
	"github.com/omnigraph-go/omnigraph/engine/embedded/store"
	"github.com/omnigraph-go/omnigraph/engine/embedded/version"
)

// closeBytes is how much log makes a checkpoint at Close worth its while: to replay as
// much takes some milliseconds.
const closeBytes = 256 << 10

// checkpoints makes checkpoints when they are asked for, until the context ends.
func (g *Graph) checkpoints(ctx context.Context) {
	defer close(g.stopped)
	for {
		select {
		case <-ctx.Done():
			return
		case <-g.kick:
			if err := g.checkpoint(ctx); err != nil && ctx.Err() == nil {
				g.counts.failures.Add(1)
				if g.opts.Failed != nil {
					g.opts.Failed(err)
				}
			}
		}
	}
}

// requestCheckpoint asks for a checkpoint in the background.
func (g *Graph) requestCheckpoint() {
	if g.opts.quiet {
		return
	}
	select {
	case g.kick <- struct{}{}:
	default:
	}
}

// cut is what a graph is after one of its log records.
type cut struct {
	lsn      uint64
	last     *outcome // of the record
	branches []cutBranch
	bases    []*version.Snapshot // that are in memory
	commits  int
	past     cutPast
}

type cutBranch struct {
	*branch
	tip      *commit
	receipts []receipt
	version.ManifestBranch
}

// cut returns the state after the last record, which may not be durable yet, without
// the receipts that are out of date.
func (g *Graph) cut() *cut {
	g.lines.Lock()
	defer g.lines.Unlock()
	c := &cut{lsn: g.lines.lsn, last: g.lines.last, commits: g.history.Len()}
	now := g.time()
	for _, b := range g.lines.sorted {
		if b.deleted {
			continue
		}
		cb := cutBranch{branch: b, tip: b.tip, ManifestBranch: version.ManifestBranch{Name: b.name, Head: b.tip.snap}}
		cb.receipts = b.receipts.current(&g.history, now)
		c.branches = append(c.branches, cb)
	}
	c.bases = g.lines.bases.states()
	c.past = g.cutPast(c.branches, c.commits, c.lsn)
	return c
}

// settled waits until all of it is durable, and the heads are no older.
func (c *cut) settled(ctx context.Context) error {
	for _, b := range c.branches {
		if err := b.tip.settled(ctx); err != nil {
			return err
		}
	}
	return (&commit{out: c.last}).settled(ctx)
}

// states calls yield with each state once.
func (c *cut) states(yield func(*version.Snapshot) bool) {
	seen := map[*version.Snapshot]bool{}
	for _, b := range c.branches {
		if seen[b.Head] = true; !yield(b.Head) {
			return
		}
	}
	for _, b := range c.bases {
		if !seen[b] && !yield(b) {
			return
		}
		seen[b] = true
	}
}

// checkpoint writes a manifest over every branch, or over rewrites of those that have many
// holes. The merge bases in memory are stored and rewritten along, so that they share
// their rows with the branches on.
func (g *Graph) checkpoint(ctx context.Context) (err error) {
	defer damage.Catch(damage.Watch(), &err)
	g.checkMu.Lock()
	defer g.checkMu.Unlock()
	g.shape.Lock()
	defer g.shape.Unlock()
	defer g.countDoubts()
	if sparse := g.sparse(); len(sparse) > 0 {
		if done, err := g.rewrite(ctx, sparse); done || err != nil {
			if done && err == nil {
				g.counts.rewrites.Add(1)
			}
			return err
		}
	}
	return g.flush(ctx, false)
}

// sparse lists the branches that have many holes, in name order. It is called with shape
// held.
func (g *Graph) sparse() (sparse []*branch) {
	g.lines.Lock()
	defer g.lines.Unlock()
	for _, b := range g.lines.sorted {
		if !b.deleted && b.head.Load().snap.Sparse(g.opts.sparse) {
			sparse = append(sparse, b)
		}
	}
	return sparse
}

// flush stores the rows that lie in the log alone and the commits, writes a manifest,
// and gives the tables the stored segments and the indexes over them. Without a record
// since the last one it does so only if it must. It is called with checkMu held, and
// shape.
func (g *Graph) flush(ctx context.Context, must bool) error {
	cut := g.cut()
	if cut.lsn == g.checkedTo && !must && !g.textsToStore() {
		return nil
	}
	return g.flushCut(ctx, cut)
}

// flushCut is flush of a cut.
func (g *Graph) flushCut(ctx context.Context, cut *cut) error {
	logged := g.logged.Load()
	if err := cut.settled(ctx); err != nil {
		return err
	}
	var flushed version.Checkpoint
	after := map[*version.Snapshot]*version.Snapshot{}
	made, err := g.storeFlushes(ctx, cut, &flushed, after)
	if err == nil {
		err = g.manifest(ctx, cut, after)
	}
	if err != nil {
		g.discard(made)
		return err
	}
	g.logged.Add(-logged)
	g.counts.checkpoints.Add(1)
	return g.adopt(cut, after, &flushed, func(*branch) bool { return true })
}

// adopt puts what is stored in the place of what was, in the branches that which names
// and in the merge bases in memory. Whatever the context says: a state without the
// stored segments would name, at the next checkpoint, segments that this one has made
// superfluous.
func (g *Graph) adopt(cut *cut, after map[*version.Snapshot]*version.Snapshot, flushed *version.Checkpoint, which func(*branch) bool) (err error) {
	for _, b := range cut.branches {
		if !which(b.branch) {
			continue
		}
		fault := b.adopt(func() {
			b.replace(func(c *commit) *version.Snapshot { return flushed.Adopt(b.tip.snap, c.snap) })
			g.readopt(b.branch, func(a *anchor) *version.Snapshot { return flushed.Adopt(b.tip.snap, a.snap) })
		})
		if fault != nil {
			err = fault
		}
	}
	if err != nil {
		return err
	}
	g.rebase(after)
	return nil
}

// rebase gives the merge bases in memory the form that after has of them.
func (g *Graph) rebase(after map[*version.Snapshot]*version.Snapshot) {
	g.lines.Lock()
	for _, base := range g.lines.bases.at {
		if s := after[base.snap]; s != nil {
			base.snap = s
		}
	}
	g.lines.Unlock()
	g.past.forget(false)
}

// adopt gives the states of a branch the stored segments. A branch whose states cannot be
// read is written no more: they name segments that are gone.
func (b *branch) adopt(f func()) (err error) {
	b.hold()
	defer b.unlock()
	defer func() {
		if err != nil && b.err == nil {
			b.err = err
		}
	}()
	defer damage.Catch(damage.Watch(), &err)
	b.doubt = false
	f()
	return nil
}

// manifest makes a cut the state that an Open begins with: each of its states in the
// form that after has of it, whose rows are all stored.
func (g *Graph) manifest(ctx context.Context, cut *cut, after map[*version.Snapshot]*version.Snapshot) error {
	history, stored, err := g.storeHistory(ctx, cut.commits)
	if err != nil {
		return err
	}
	g.disown(after)
	indexes, err := g.storeIndexes(ctx, cut, after)
	stored = append(stored, indexes.ids...)
	if err == nil {
		var made []store.SegmentID
		made, err = g.storePast(ctx, cut, after)
		stored = append(stored, made...)
	}
	if err != nil {
		indexes.forget()
		g.discard(stored)
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
		b.Receipts = func(yield func(version.Receipted) bool) {
			for _, r := range b.receipts {
				if !yield(r.whole(&g.history)) {
					return
				}
			}
		}
		b.NumReceipts = len(b.receipts)
		m.Branches = append(m.Branches, b.ManifestBranch)
	}
	cut.past.describe(&m, named)
	ids, err := segmentIDs(named)
	// Nobody reads what this may remove.
	g.past.files.Lock()
	defer g.past.files.Unlock()
	if err == nil {
		err = g.store.Checkpoint(ctx, m.Append(nil, encode), cut.lsn, ids)
	}
	if err != nil {
		indexes.forget()
		g.discard(stored)
		return err
	}
	g.checkedTo, g.stored = cut.lsn, history
	g.keepPast(cut)
	return nil
}

// storeFlushes stores the rows of a cut that lie in no stored segment, and enters the
// states in after, except those that are there. The segments are listed when it fails too.
func (g *Graph) storeFlushes(ctx context.Context, c *cut, flushed *version.Checkpoint, after map[*version.Snapshot]*version.Snapshot) (made []store.SegmentID, err error) {
	pack := packer{g: g}
	defer func() { made = pack.made }()
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
	for s := range c.states {
		if after[s] != nil {
			continue
		}
		states = append(states, s)
		if err := keep(s, flushed.Flush); err != nil {
			return nil, err
		}
	}
	for _, a := range c.past.anchors {
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

// storedIndexes are indexes that have been stored, but no manifest names yet.
type storedIndexes struct {
	ids  []store.SegmentID
	what []version.Unstored
}

// forget makes them indexes that are not stored.
func (s *storedIndexes) forget() {
	for _, ix := range s.what {
		ix.Named("")
	}
}

// disown takes the names of segments that are gone from the indexes of states.
func (g *Graph) disown(after map[*version.Snapshot]*version.Snapshot) {
	sizes := g.store.Sizes()
	there := func(name string) bool {
		id, err := segmentID(name)
		_, ok := sizes[id]
		return ok && err == nil
	}
	for _, s := range after {
		for _, t := range s.Tables() {
			t.Disown(there)
		}
	}
}

// storeIndexes stores the indexes over the tables of heads and merge bases
// that are not stored and worth their while.
func (g *Graph) storeIndexes(ctx context.Context, cut *cut, after map[*version.Snapshot]*version.Snapshot) (made storedIndexes, err error) {
	var states []*version.Snapshot
	for _, b := range cut.branches {
		states = append(states, after[b.Head])
	}
	for _, b := range cut.bases {
		states = append(states, after[b])
	}
	for _, s := range states {
		for _, t := range s.Tables() {
			for _, ix := range t.Unstored(g.opts.indexed) {
				id, err := g.store.WriteSegment(ctx, func(w *store.SegmentWriter) error { return ix.Blocks(adder(w, ix.Cold)) })
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

// textsToStore reports whether text indexes were built that would have to be built again.
func (g *Graph) textsToStore() bool {
	for _, s := range g.states() {
		for _, t := range s.Tables() {
			if t.TextsToStore(g.opts.indexed) {
				return true
			}
		}
	}
	return false
}

func segmentIDs(names map[string]bool) ([]store.SegmentID, error) {
	all := map[store.SegmentID]bool{}
	for name := range names {
		id, err := segmentID(name)
		if err != nil {
			return nil, err
		}
		all[id] = true
	}
	return slices.Collect(maps.Keys(all)), nil
}
