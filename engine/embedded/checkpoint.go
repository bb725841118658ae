package embedded

import (
	"context"

	"github.com/omnigraph-go/omnigraph/engine/embedded/damage"
	"github.com/omnigraph-go/omnigraph/engine/embedded/store"
	"github.com/omnigraph-go/omnigraph/engine/embedded/version"
)

// closeBytes is how many bytes of log justify a checkpoint in Close. Replaying this much takes
// some milliseconds.
const closeBytes = 256 << 10

// checkpoints makes a checkpoint on each request, until ctx ends.
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

// requestCheckpoint requests a checkpoint in the background. It does not wait.
func (g *Graph) requestCheckpoint() {
	if g.opts.quiet {
		return
	}
	select {
	case g.kick <- struct{}{}:
	default:
	}
}

// cut is the state of a graph after one of its log records.
type cut struct {
	lsn      uint64
	last     *outcome // outcome of the record at lsn
	branches []cutBranch
	bases    []*version.Snapshot // the merge bases in memory
	commits  int
	past     cutPast
}

type cutBranch struct {
	*branch
	tip      *commit
	receipts []receipt
	version.ManifestBranch
}

// cut returns the state after the last record, which may not be durable yet. It leaves out
// expired receipts.
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
		cb.receipts = b.keys.current(&g.history, now)
		c.branches = append(c.branches, cb)
	}
	c.bases = g.lines.bases.states()
	c.past = g.cutPast(c.branches, c.commits, c.lsn)
	return c
}

// settled waits until every record of the cut is durable. Then the head of each branch is at
// least as new as in the cut.
func (c *cut) settled(ctx context.Context) error {
	for _, b := range c.branches {
		if err := b.tip.settled(ctx); err != nil {
			return err
		}
	}
	return (&commit{out: c.last}).settled(ctx)
}

// states calls yield once for each distinct state of the cut.
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

// checkpoint writes a manifest of every branch. It first rewrites the branches that have many
// holes. It stores and rewrites the merge bases in memory together with the branches, so that
// they continue to share rows.
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

// sparse lists the branches that have many holes, in name order. REQUIRES: g.shape is locked.
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

// flush stores the commits and the rows that are only in the log. Then it writes a manifest and
// replaces the rows in memory with the stored segments and their indexes. If the log has no
// record since the last checkpoint, flush does this only if must is set or there are text
// indexes to store. REQUIRES: g.checkMu is locked, and g.shape for writing.
func (g *Graph) flush(ctx context.Context, must bool) error {
	cut := g.cut()
	if cut.lsn == g.checkedTo && !must && !g.textsToStore() {
		return nil
	}
	return g.flushCut(ctx, cut)
}

// flushCut does the work of flush for one cut. REQUIRES: g.checkMu is locked, and g.shape for
// writing.
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
		g.segments.discard(made)
		return err
	}
	g.logged.Add(-logged)
	g.counts.checkpoints.Add(1)
	return g.adopt(cut, after, &flushed, func(*branch) bool { return true })
}

// adopt replaces states in memory with their stored forms: in the branches for which the
// function which returns true, and in the merge bases. It takes no context and always finishes.
// A state without the stored segments would name, at the next checkpoint, segments that this
// checkpoint has made superfluous.
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

// rebase replaces each merge base in memory with its form in after.
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

// adopt runs f, which replaces the branch's states with their stored forms, with the write lock
// held. If the states cannot be read, the branch accepts no further writes, because its states
// name segments that are gone.
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

// manifest writes a manifest that makes a cut the state from which Open begins. after maps each
// state of the cut to a form in which every row is stored.
func (g *Graph) manifest(ctx context.Context, cut *cut, after map[*version.Snapshot]*version.Snapshot) error {
	history, stored, err := g.storeHistory(ctx, cut.commits)
	if err != nil {
		return err
	}
	g.segments.disown(after)
	indexes, err := g.storeIndexes(ctx, cut, after)
	stored = append(stored, indexes.ids...)
	if err == nil {
		var made []store.SegmentID
		made, err = g.storePast(ctx, cut, after)
		stored = append(stored, made...)
	}
	if err != nil {
		indexes.forget()
		g.segments.discard(stored)
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
	// Holding files for writing excludes readers of the files that Checkpoint may remove.
	g.past.files.Lock()
	defer g.past.files.Unlock()
	if err == nil {
		err = g.store.Checkpoint(ctx, m.Append(nil, encode), cut.lsn, ids)
	}
	if err != nil {
		indexes.forget()
		g.segments.discard(stored)
		return err
	}
	g.checkedTo, g.stored = cut.lsn, history
	g.keepPast(cut)
	return nil
}

// storeFlushes stores the rows of a cut that are in no stored segment, and enters the resulting
// states in after, unless after has them already. It returns the segments that it made, also
// when it fails.
func (g *Graph) storeFlushes(ctx context.Context, c *cut, flushed *version.Checkpoint, after map[*version.Snapshot]*version.Snapshot) (made []store.SegmentID, err error) {
	pack := packer{files: &g.segments}
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

// storedIndexes are indexes that are stored but not yet named by a manifest.
type storedIndexes struct {
	ids  []store.SegmentID
	what []version.Unstored
}

// forget marks the indexes as not stored.
func (s *storedIndexes) forget() {
	for _, ix := range s.what {
		ix.Named("")
	}
}

// storeIndexes stores those indexes over the tables of heads and merge bases that are not
// stored yet and are large enough to be worth a file.
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

// textsToStore reports whether there are text indexes in memory only, which Open would have to
// build again.
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
