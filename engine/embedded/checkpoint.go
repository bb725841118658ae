package embedded

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/ancestry"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/corruption"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/locks"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/store"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
)

// closeBytes is the number of log bytes above which Close makes a checkpoint. Replaying this much
// takes some milliseconds.
const closeBytes = 256 << 10

// checkpoints owns the checkpoints, rewrites and cleanups of a graph, which run one at a time. A
// checkpoint stores the state of the graph and makes it the state from which Open begins.
type checkpoints struct {
	opts      *Options          // options of the graph
	store     store.Storage     // the stored data of the graph
	files     *segmentFiles     // writes and removes segments
	history   *ancestry.History // all commits of the graph
	layout    *locks.Layout     // the lock on the numbers of rows
	branches  *branches         // the state of each branch
	retention *retention        // owns the data about earlier commits
	restorer  *restorer         // restores the states of earlier commits
	vectors   *vectorBuilds     // builds approximate indexes

	mu     sync.Mutex                // held by a checkpoint (also the one in Close) and by a cleanup
	lsn    uint64                    // of the last record before the last checkpoint; guarded by mu
	stored []ancestry.HistorySegment // the stored history after the last checkpoint; guarded by mu
	// newTexts lists the segments of text indexes that were made since the last manifest; guarded by mu.
	newTexts []store.SegmentID
	// insist says that the next rewrite keeps the layout locked, because the last one was discarded:
	// a call carried a state to another branch or schema meanwhile. Guarded by mu.
	insist bool

	logged    atomic.Int64  // log bytes since the last checkpoint
	counts    counters      // numbers of checkpoints, rewrites and failures
	requested chan struct{} // contains a token when a checkpoint is requested
}

// loop makes a checkpoint on each request, until ctx ends. It begins with one if main has text indexes of
// another analyzer, or lacks some: the checkpoint builds them.
func (c *checkpoints) loop(ctx context.Context) {
	for _, t := range c.branches.main.head.Load().snap.Tables() {
		if t.HasOldTexts(c.opts.indexed) || t.LacksTexts(c.opts.indexed) {
			c.request()
			break
		}
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.requested:
			if err := c.make(ctx); err != nil && ctx.Err() == nil {
				c.failed(err)
			}
			c.vectors.request() // a rewrite leaves the new tables without approximate indexes
		}
	}
}

// failed reports the error of a checkpoint.
func (c *checkpoints) failed(err error) {
	c.counts.failures.Add(1)
	if c.opts.Failed != nil {
		c.opts.Failed(err)
	}
}

// request requests a checkpoint in the background. It does not wait.
func (c *checkpoints) request() {
	if c.opts.quiet {
		return
	}
	select {
	case c.requested <- struct{}{}:
	default:
	}
}

// countLogged counts bytes of the log. Unlike countCommit, it never requests a checkpoint.
func (c *checkpoints) countLogged(bytes int) { c.logged.Add(int64(bytes)) }

// countCommit counts the weight of a durable commit, in bytes. It requests a checkpoint if the log
// is long, or if the argument `must` is true.
func (c *checkpoints) countCommit(weight int64, must bool) {
	c.vectors.countCommit(weight, must)
	if c.logged.Add(weight) > c.opts.CheckpointBytes || must {
		c.request()
	}
}

// retry requests a checkpoint if the log is long, because an earlier checkpoint may have failed.
func (c *checkpoints) retry() {
	if c.logged.Load() > c.opts.CheckpointBytes {
		c.request()
	}
}

// close makes the last checkpoint if the log is long, or if the next Open would have to build
// indexes that are not stored. If it fails, no data is lost, because the log has the commits.
func (c *checkpoints) close() {
	c.mu.Lock()
	newTexts := len(c.newTexts) > 0
	c.mu.Unlock()
	if c.logged.Load() <= closeBytes && !newTexts && !c.indexesToStore() {
		return
	}
	if err := c.closingCheckpoint(); err != nil {
		c.failed(err)
	}
}

// closingCheckpoint makes the checkpoint of close. It leaves text indexes that take longer than Options.closingTexts to the next
// Open, so that a program that has loaded much can stop within the time that a supervisor gives it.
func (c *checkpoints) closingCheckpoint() (err error) {
	defer corruption.Catch(corruption.Watch(), &err)
	c.mu.Lock()
	defer c.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), c.opts.closingTexts)
	defer cancel()
	if err := c.buildTextsLocked(ctx); err != nil && ctx.Err() == nil {
		return err
	}
	c.layout.Lock()
	defer c.layout.Unlock()
	return c.flushLocked(context.Background(), len(c.newTexts) > 0)
}

// make makes a checkpoint: it writes a manifest of every branch. It first rewrites the branches
// that have many holes. It stores and rewrites the merge bases in memory together with the
// branches, so that they continue to share rows.
func (c *checkpoints) make(ctx context.Context) (err error) {
	defer corruption.Catch(corruption.Watch(), &err)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.buildTextsLocked(ctx); err != nil {
		return err
	}
	if done, err := c.rewriteLocked(ctx); done || err != nil {
		if done && err == nil {
			c.counts.rewrites.Add(1)
		}
		return err
	}
	c.layout.Lock()
	defer c.layout.Unlock()
	defer c.branches.noteStale()
	return c.flushLocked(ctx, len(c.newTexts) > 0)
}

// buildTextsLocked builds and stores the text indexes that the schema declares, for the main branch
// only. The text indexes of another branch are built by its searches, because each branch has its
// own. A build may take long, so it runs without the layout lock. REQUIRES: c.mu is locked.
func (c *checkpoints) buildTextsLocked(ctx context.Context) error {
	if !c.lacksTexts() {
		return nil
	}
	return c.buildTextsOfLocked(ctx, c.planTexts())
}

// buildTextsOfLocked does the work of buildTextsLocked for the given tables. REQUIRES: c.mu is
// locked.
func (c *checkpoints) buildTextsOfLocked(ctx context.Context, tables []*version.Table) error {
	files := c.files.textFiles(ctx, c.opts, func(id store.SegmentID) { c.newTexts = append(c.newTexts, id) })
	for _, t := range tables {
		if err := t.BuildTexts(ctx, c.opts.indexed, files); err != nil {
			return err
		}
	}
	return nil
}

// planTexts lists the tables at the tip of main that lack text indexes. It also makes later states
// inherit the indexes, which the caller is going to build for these tables.
func (c *checkpoints) planTexts() (tables []*version.Table) {
	b := c.branches.main
	b.hold()
	defer b.unlock()
	for _, t := range b.tip.snap.Tables() {
		if t.PlanTexts(c.opts.indexed) {
			tables = append(tables, t)
		}
	}
	return tables
}

// lacksTexts reports whether the main branch lacks a text index that its schema declares.
func (c *checkpoints) lacksTexts() bool {
	for _, t := range c.branches.main.head.Load().snap.Tables() {
		if t.LacksTexts(c.opts.indexed) {
			return true
		}
	}
	return false
}

// flushLocked stores the commits and the rows that are only in the log. Then it writes a manifest
// and replaces the rows in memory with the stored segments and their indexes. If the log has no
// record since the last checkpoint, it does this only if the argument `must` is true or there are
// indexes to store. REQUIRES: c.mu is locked, and c.layout for writing.
func (c *checkpoints) flushLocked(ctx context.Context, must bool) error {
	cut := c.branches.cut(c.opts.time())
	if cut.lsn == c.lsn && !must && !c.indexesToStore() {
		return nil
	}
	return c.flushCutLocked(ctx, cut)
}

// flushCutLocked does the work of flushLocked for one cut. REQUIRES: c.mu is locked, and c.layout
// for writing.
func (c *checkpoints) flushCutLocked(ctx context.Context, cut *cut) error {
	logged := c.logged.Load()
	if err := cut.waitDurable(ctx); err != nil {
		return err
	}
	var flushed version.Checkpoint
	after := map[*version.Snapshot]*version.Snapshot{}
	made, err := c.storeFlushes(ctx, cut, &flushed, after)
	if err == nil {
		err = c.manifestLocked(ctx, cut, after)
	}
	if err != nil {
		c.files.discard(made)
		return err
	}
	c.logged.Add(-logged)
	c.counts.checkpoints.Add(1)
	return c.adopt(cut, after, &flushed, func(*branch) bool { return true })
}

// adopt replaces states in memory with their stored forms: in the branches that the function
// `which` selects, and in the merge bases. It takes no context and always finishes. If a state kept
// its old form, the next checkpoint would list segments of that state although this checkpoint has
// made them superfluous.
func (c *checkpoints) adopt(cut *cut, after map[*version.Snapshot]*version.Snapshot, flushed *version.Checkpoint, which func(*branch) bool) (err error) {
	for _, b := range cut.branches {
		if !which(b.branch) {
			continue
		}
		fault := b.adopt(func() {
			b.replaceLocked(func(old *commit) *version.Snapshot { return flushed.Adopt(b.tip.snap, old.snap) })
			c.retention.replace(b.branch, func(a *anchor) *version.Snapshot { return flushed.Adopt(b.tip.snap, a.snap) })
		})
		if fault != nil {
			err = fault
		}
	}
	if err != nil {
		return err
	}
	c.branches.replaceBases(after)
	c.restorer.forget(false)
	return nil
}

// adopt runs f with the write lock held. f replaces the branch's states with their stored forms. If
// the states cannot be read, the branch accepts no further writes, because its states refer to
// segments that no longer exist.
func (b *branch) adopt(f func()) (err error) {
	b.hold()
	defer b.unlock()
	defer func() {
		if err != nil && b.err == nil {
			b.err = err
		}
	}()
	defer corruption.Catch(corruption.Watch(), &err)
	b.stale = false
	f()
	return nil
}
