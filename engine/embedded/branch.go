package embedded

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/locks"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/receipts"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
)

// branch is a line of commits. Readers see its head, the last durable commit. Writers build on
// its tip, which may not be durable yet.
type branch struct {
	name string                 // does not change
	live atomic.Bool            // whether the record that created the branch is durable
	head atomic.Pointer[commit] // the last durable commit

	// deleted reports whether the log has the record that deletes the branch. A caller that changes
	// it must hold layout for reading, and branches.mu. So a caller may read it with layout held
	// for writing, or with branches.mu held.
	deleted bool

	keys receipts.Set // the keys of its commits of the last day, and the positions of sources; has its own lock
	line lineage      // guarded by retention.mu

	// writing is the write lock of the branch. It guards the fields from tip to stale. A writer
	// that changes the tip locks branches.mu too; a checkpoint that replaces the tip holds layout
	// for writing. So the tip may also be read with branches.mu and layout locked.
	writing locks.Mutex
	tip     *commit  // the last commit, durable or in flight
	err     error    // if set, the reason why the tip can never become durable
	journal *journal // commits during a rewrite; nil when no rewrite runs
	// stale reports a stale manifest: after a crash, the manifest in force may number entities
	// differently from the tip. Recovery would then misread a record that contains entity numbers.
	stale bool

	// Guarded by branches.mu:
	tipAt int        // its index in branches.tips among the branches with this tip
	base  *mergeBase // the merge base that it holds, or nil

	// timing is held from the moment when a commit gets its time until its record has a place in the log. A
	// caller that locks it after an instant finds every commit with an earlier time among pending or at the head.
	timing sync.Mutex

	mu      sync.Mutex // guards pending and stores to head
	pending []*commit  // in-flight commits, in log order
}

// commit is an in-flight or durable commit.
type commit struct {
	snap *version.Snapshot // the state that the commit made
	lsn  uint64            // LSN of the commit's record
	out  *outcome          // nil if recovery restored the commit
}

// outcome is the result of an in-flight commit.
type outcome struct {
	done chan struct{} // closed when the commit is durable or has failed
	err  error         // valid once done is closed
}

// newBranch returns a branch whose tip has the state `snap`. The LSN of its log record is `lsn`.
func newBranch(name string, snap *version.Snapshot, lsn uint64) *branch {
	b := &branch{name: name, writing: locks.NewMutex(), tip: &commit{snap: snap, lsn: lsn}}
	b.head.Store(b.tip)
	return b
}

// recoveredBranch returns a branch whose record is durable already.
func recoveredBranch(name string, snap *version.Snapshot, lsn uint64) *branch {
	b := newBranch(name, snap, lsn)
	b.live.Store(true)
	return b
}

// lock waits for the write lock of the branch. It fails if ctx ends first, or with b.err if the
// branch can no longer be written.
func (b *branch) lock(ctx context.Context) error {
	if err := b.writing.Lock(ctx); err != nil {
		return err
	}
	if b.err != nil {
		b.unlock()
		return b.err
	}
	return nil
}

// unlock releases the write lock of the branch.
func (b *branch) unlock() { b.writing.Unlock() }

// latest returns the id of the last commit that has a place in the log. It first waits for a commit that
// has its time already and not yet its place.
func (b *branch) latest() string {
	b.timing.Lock()
	defer b.timing.Unlock()
	b.mu.Lock()
	defer b.mu.Unlock()
	last := b.head.Load()
	if n := len(b.pending); n > 0 && b.pending[n-1].lsn > last.lsn {
		last = b.pending[n-1]
	}
	return last.snap.Commit.ID
}

// hold waits for the write lock of the branch, even if the branch can no longer be written.
func (b *branch) hold() { _ = b.writing.Lock(context.Background()) }

// stage adds a commit to the pending commits. The commit already has its place in the log.
func (b *branch) stage(c *commit) {
	b.mu.Lock()
	b.pending = append(b.pending, c)
	b.mu.Unlock()
}

// settle removes a commit from the pending commits. A durable commit becomes the head, unless
// the head is a later commit already.
func (b *branch) settle(lsn uint64, durable bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.IndexFunc(b.pending, func(c *commit) bool { return c.lsn == lsn })
	c := b.pending[i]
	b.pending = slices.Delete(b.pending, i, i+1)
	if durable && b.head.Load().lsn < lsn {
		b.head.Store(c)
	}
}

// show makes a durable commit that was never pending the head.
func (b *branch) show(c *commit) {
	b.mu.Lock()
	b.head.Store(c)
	b.mu.Unlock()
}

// replaceLocked applies f to every state that may still be read or built on (the head, the pending
// commits after it, and the tip) and stores the result in its place. REQUIRES: b.writing is held.
func (b *branch) replaceLocked(f func(*commit) *version.Snapshot) {
	b.mu.Lock()
	defer b.mu.Unlock()
	of := func(c *commit) *commit { return &commit{snap: f(c), lsn: c.lsn, out: c.out} }
	head := b.head.Load()
	if head == b.tip {
		b.tip = of(head)
		b.head.Store(b.tip)
		return
	}
	b.head.Store(of(head))
	for i, c := range b.pending {
		if c.lsn < head.lsn {
			continue // durable, because a later commit is the head; settle has not removed it yet
		}
		b.pending[i] = of(c)
		if c == b.tip {
			b.tip = b.pending[i]
		}
	}
}

// waitDurable waits until the commit is durable. It returns the commit's error, or the error of ctx
// if ctx ends first.
func (c *commit) waitDurable(ctx context.Context) error {
	if c.out == nil {
		return nil
	}
	select {
	case <-c.out.done:
		return c.out.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// waitDurable waits until the commit with the record at lsn is durable. The caller need not hold
// b.writing. It returns errLogFailed if the commit failed.
func (b *branch) waitDurable(ctx context.Context, lsn uint64) error {
	b.mu.Lock()
	i := slices.IndexFunc(b.pending, func(c *commit) bool { return c.lsn == lsn })
	if i >= 0 {
		c := b.pending[i]
		b.mu.Unlock()
		return c.waitDurable(ctx)
	}
	durable := lsn <= b.head.Load().lsn
	b.mu.Unlock()
	if !durable {
		return errLogFailed
	}
	return nil
}
