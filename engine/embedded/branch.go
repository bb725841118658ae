package embedded

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/store"
	"github.com/omnigraph-go/omnigraph/engine/embedded/version"
)

// branch is a line of commits. Readers see its head, the last durable commit. Writers build on
// its tip, which may not be durable yet.
type branch struct {
	name    string
	live    atomic.Bool // whether the record that made it is durable
	deleted bool        // whether the record that deletes it is in the log; guarded by Graph.lines
	head    atomic.Pointer[commit]

	// writing is the write lock of the branch. It guards the fields from tip to doubt. Writers
	// change the tip with Graph.lines locked too. So the tip may also be read with Graph.lines and
	// Graph.shape locked.
	writing ctxMutex
	tip     *commit
	err     error       // if set, why the tip can never become durable
	keys    idempotency // the keys of its commits of the last day; has its own lock
	journal *journal    // commits during a rewrite; nil when no rewrite runs
	// doubt reports a stale manifest: after a crash, a manifest may be in force that numbers
	// entities differently from the tip. Recovery would then misread a record that holds entity
	// numbers.
	doubt bool

	// Guarded by Graph.lines:
	run     run        // counts since the last anchor in its line
	tipAt   int        // its index in lines.tips among the branches with this tip
	base    *mergeBase // the merge base that it holds, or nil
	anchors []*anchor  // anchors of its commits; some may not be stored

	mu      sync.Mutex // guards pending and stores to head
	pending []*commit  // in-flight commits, in log order
}

// commit is an in-flight or durable commit.
type commit struct {
	snap *version.Snapshot
	lsn  uint64
	out  *outcome // nil if recovery restored the commit
}

// outcome is the result of an in-flight commit.
type outcome struct {
	done chan struct{} // closed when the commit is durable or has failed
	err  error         // valid once done is closed
}

func newBranch(name string, snap *version.Snapshot, lsn uint64) *branch {
	b := &branch{name: name, writing: newCtxMutex(), tip: &commit{snap: snap, lsn: lsn}}
	b.head.Store(b.tip)
	return b
}

// recovered returns a branch whose record is durable already.
func recovered(name string, snap *version.Snapshot, lsn uint64) *branch {
	b := newBranch(name, snap, lsn)
	b.live.Store(true)
	return b
}

// lock waits for the write lock of the branch. It fails if ctx ends first, or with b.err if the
// branch can no longer be written.
func (b *branch) lock(ctx context.Context) error {
	if err := b.writing.lock(ctx); err != nil {
		return err
	}
	if b.err != nil {
		b.unlock()
		return b.err
	}
	return nil
}

func (b *branch) unlock() { b.writing.unlock() }

// hold waits for the write lock of the branch, even if the branch can no longer be written.
func (b *branch) hold() { _ = b.writing.lock(context.Background()) }

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

// replace replaces every state that may still be read or built on with the result of f: the
// head, the pending commits after it, and the tip. REQUIRES: b.writing is held.
func (b *branch) replace(f func(*commit) *version.Snapshot) {
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
			continue // durable, and a later commit is the head: only its writer has yet to settle it
		}
		b.pending[i] = of(c)
		if c == b.tip {
			b.tip = b.pending[i]
		}
	}
}

// settled waits until the commit is durable. It returns the commit's error, or the error of ctx
// if that ends first.
func (c *commit) settled(ctx context.Context) error {
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

// settled waits until the commit with the record at lsn is durable. The caller need not hold
// b.writing. The error is errPoisoned if the commit failed.
func (b *branch) settled(ctx context.Context, lsn uint64) error {
	b.mu.Lock()
	i := slices.IndexFunc(b.pending, func(c *commit) bool { return c.lsn == lsn })
	if i >= 0 {
		c := b.pending[i]
		b.mu.Unlock()
		return c.settled(ctx)
	}
	durable := lsn <= b.head.Load().lsn
	b.mu.Unlock()
	if !durable {
		return errPoisoned
	}
	return nil
}

// staged is a commit whose record has its place in the log.
type staged struct {
	ticket *store.Ticket
	bytes  int64 // size of the record and of the rows that the commit copied
	bulk   bool
}

// stage holds the branch's write lock, turns the transaction that build fills into the branch's
// next commit, and puts its record in the log. The results are:
//
//   - If the idempotency key was used before, the receipt of that first call and nothing else.
//   - For a dry run or a transaction without a change, the branch's tip as the commit, and no
//     staged record.
//   - Otherwise the new commit and its staged record.
//
// stage releases the write lock in every case.
func (g *Graph) stage(ctx context.Context, b *branch, w *write, build func(*version.Txn) ([]version.Part, error)) (*receipted, *commit, *staged, error) {
	if err := b.lock(ctx); err != nil {
		return nil, nil, nil, err
	}
	defer b.unlock()
	if first, err := g.repeated(b, w); first != nil || err != nil {
		return first, nil, nil, err
	}
	if head := b.tip.snap.Commit.ID; w.ifCommit != "" && w.ifCommit != head {
		return nil, nil, nil, &engine.PreconditionFailed{Expected: w.ifCommit, Actual: head}
	}
	tx := version.Begin(b.tip.snap)
	parts, err := build(tx)
	enqueued := false
	defer func() {
		if !enqueued {
			g.segments.discardParts(parts)
		}
	}()
	if err != nil {
		return nil, nil, nil, err
	}
	if w.dryRun || !tx.Changed() {
		return nil, b.tip, nil, nil
	}
	if err := tx.Room(); err != nil {
		return nil, nil, nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, nil, err
	}
	parent := b.tip.snap.Commit
	c := engine.Commit{ID: g.ids.next(), Seq: parent.Seq + 1, Branch: b.name, Parents: []string{parent.ID}, Actor: w.actor, Time: g.time(), Schema: tx.Schema().Digest}
	if w.source != nil {
		c.Parents = append(c.Parents, w.source.Commit.ID)
	}
	if parts != nil && b.doubt {
		g.requestCheckpoint()
		return nil, nil, nil, &engine.Unavailable{Reason: "a checkpoint failed, and large loads wait for the next one"}
	}
	rec, err := g.record(ctx, tx, parts, c, w.receipt)
	if err != nil {
		return nil, nil, nil, err
	}
	if err := g.store.Reserve(len(rec.payload)); err != nil {
		if parts == nil {
			g.segments.discard(rec.segments)
		}
		return nil, nil, nil, err
	}
	next := &commit{snap: tx.Commit(c), out: &outcome{done: make(chan struct{})}}
	g.lines.Lock()
	defer g.lines.Unlock()
	ticket, err := g.store.Enqueue(rec.kind, rec.payload, rec.segments...)
	if err != nil {
		if parts == nil {
			g.segments.discard(rec.segments)
		}
		return nil, nil, nil, err
	}
	enqueued = true
	next.lsn = ticket.LSN
	b.journal.note(c, ticket.LSN, rec)
	g.lines.advance(b, next)
	g.history.Add(c, next.lsn)
	b.keys.add(&g.history, c, w.receipt)
	g.note(b, next, rec.kind, rec.rest, len(rec.ops))
	g.lines.lsn, g.lines.last = next.lsn, next.out
	if w.source != nil {
		g.lines.merged(b, w.from, w.source)
	}
	b.mu.Lock()
	b.pending = append(b.pending, next)
	b.mu.Unlock()
	return nil, next, &staged{ticket: ticket, bytes: int64(len(rec.payload) + rowWeight*tx.Copied()), bulk: parts != nil}, nil
}

// errPoisoned is the error of writes to a branch after a write to the log has failed.
var errPoisoned = &engine.Unavailable{Reason: "a write to its log failed; open it again"}

// poisoned returns the failure of the log if it is known, and errPoisoned otherwise.
func (g *Graph) poisoned() error {
	if err := g.Failure(); err != nil {
		return err
	}
	return errPoisoned
}

// complete waits until a staged commit is durable or has failed. It takes no context: the
// commit may become durable after its caller has gone, and complete must still make it the
// head.
func (g *Graph) complete(b *branch, c *commit, s *staged) error {
	c.out.err = g.store.Wait(s.ticket)
	b.settle(c.lsn, c.out.err == nil)
	close(c.out.done)
	if c.out.err != nil {
		b.hold()
		if b.err == nil {
			b.err = g.poisoned()
		}
		b.unlock()
		return c.out.err
	}
	if g.logged.Add(s.bytes+commitWeight) > g.opts.CheckpointBytes || s.bulk {
		g.requestCheckpoint()
	}
	return nil
}

// commitWeight is how many bytes a commit counts in addition to the bytes of its record, when
// the graph decides on a checkpoint. It bounds the commits between two checkpoints, to 8192 by
// default. So it bounds the memory that only a checkpoint frees: the records, the rows that
// they wrote (about a kilobyte for each small commit), and one anchor per anchorRecords
// records.
const commitWeight = 1 << 10

// rowWeight is how many bytes each copied row counts. The first commit of a branch copies the
// rows written before it since the last checkpoint. rowWeight bounds what many branches copy of
// one long line of commits.
const rowWeight = 64

// record is the log record of a commit.
type record struct {
	kind     uint8
	payload  []byte
	rest     []byte            // the payload after the header
	ops      []byte            // the operations; nil for a bulk commit or a change of schema
	segments []store.SegmentID // the segments that the record names
}

// maxOps bounds the operations of one commit, in bytes. It is far below the limit of one column
// of a segment, so that several commits fit together.
const maxOps = 1 << 30

// record makes the log record of a commit and stores the segments that the record names.
func (g *Graph) record(ctx context.Context, tx *version.Txn, parts []version.Part, c engine.Commit, receipt *version.Receipt) (record, error) {
	payload := version.AppendHeader(make([]byte, 0, 256), c, receipt)
	if parts != nil {
		rec := record{kind: version.KindBulk}
		for _, p := range parts {
			id, err := g.segments.writePart(ctx, p)
			if err != nil {
				return record{}, err
			}
			rec.segments = append(rec.segments, id)
		}
		rec.payload = version.AppendParts(payload, parts)
		rec.rest = rec.payload[len(payload):]
		return rec, nil
	}
	if tx.Change() != nil {
		return g.changeRecord(ctx, tx, payload)
	}
	header := len(payload)
	payload = tx.AppendOps(payload)
	ops := payload[header:]
	switch {
	case len(ops) <= g.opts.InlineBytes:
		return record{kind: version.KindRows, payload: payload, rest: ops, ops: ops}, nil
	case len(ops) > maxOps:
		return record{}, &engine.TooLarge{Resource: "bytes of one commit", Limit: maxOps, Actual: int64(len(ops))}
	}
	id, err := g.store.WriteSegment(ctx, func(w *store.SegmentWriter) error { return w.AddBlock("ops", ops) })
	if err != nil {
		return record{}, err
	}
	payload = version.AppendSpilled(payload[:header:header], segmentName(id))
	return record{kind: version.KindSpilled, payload: payload, rest: payload[header:], ops: ops, segments: []store.SegmentID{id}}, nil
}
