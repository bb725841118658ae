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

// branch is a line of commits. Readers see its head, the last durable commit; writers
// build on its tip, which may not be durable yet.
type branch struct {
	name    string
	live    atomic.Bool // the record that made it is durable
	deleted bool        // the record that deletes it is in the log; guarded by Graph.lines
	head    atomic.Pointer[commit]

	// turn is to write; it guards the fields up to mu. The tip and the receipts also
	// stand still while Graph.lines is locked.
	turn     turn
	tip      *commit
	err      error // why the tip can never become durable
	receipts receipts
	journal  *journal // what is committed while a rewrite is under way; else nil
	// doubt says that a manifest may be in force after a crash which numbers entities
	// otherwise than the tip: a record that holds numbers would be misread.
	doubt bool

	// Guarded by Graph.lines:
	run     run        // since the last anchor in its line
	tipAt   int        // its place among the branches with this tip
	base    *mergeBase // that it holds, or nil
	anchors []*anchor  // of its commits, that may not be stored

	mu      sync.Mutex // guards pending, and stores to head
	pending []*commit  // commits that are not known to be durable, in order
}

// commit is a commit under way or done.
type commit struct {
	snap *version.Snapshot
	lsn  uint64
	out  *outcome // nil of a commit that was recovered
}

// outcome tells what became of a commit.
type outcome struct {
	done chan struct{} // closed when the commit is durable or has failed
	err  error         // valid after done
}

func newBranch(name string, snap *version.Snapshot, lsn uint64) *branch {
	b := &branch{name: name, turn: newTurn(), tip: &commit{snap: snap, lsn: lsn}}
	b.head.Store(b.tip)
	return b
}

// recovered returns a branch that is durable.
func recovered(name string, snap *version.Snapshot, lsn uint64) *branch {
	b := newBranch(name, snap, lsn)
	b.live.Store(true)
	return b
}

// lock waits for the branch's turn to write.
func (b *branch) lock(ctx context.Context) error {
	if err := b.turn.take(ctx); err != nil {
		return err
	}
	if b.err != nil {
		b.unlock()
		return b.err
	}
	return nil
}

func (b *branch) unlock() { b.turn.give() }

// hold waits for the branch's turn, whatever has become of the branch.
func (b *branch) hold() { _ = b.turn.take(context.Background()) }

// settle takes a commit off the pending ones. A durable one becomes the head, unless a
// later one is.
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

// replace puts f's outcome in the place of every state that may still be read or
// built on: the head, the pending ones after it, and the tip. It is called in turn.
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
			continue // durable, and overtaken: only its writer has yet to see it
		}
		b.pending[i] = of(c)
		if c == b.tip {
			b.tip = b.pending[i]
		}
	}
}

// settled waits until a commit is durable.
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

// staged is a commit that has its place in the log.
type staged struct {
	ticket *store.Ticket
	bytes  int64 // of the record, and of the rows that it copied
	bulk   bool
}

// stage waits for the branch's turn, and makes the transaction that build fills the
// branch's next commit and puts its record in the log. Without a change, and in a dry
// run, there is nothing staged, and the commit is the branch's tip; nor is there when
// the call was made before, of which the receipt is returned. Whatever build does, the
// turn is given back.
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
			g.discardParts(parts)
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
	c := engine.Commit{ID: g.newID(), Seq: parent.Seq + 1, Branch: b.name, Parents: []string{parent.ID}, Actor: w.actor, Time: g.time(), Schema: tx.Schema().Digest}
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
			g.discard(rec.segments)
		}
		return nil, nil, nil, err
	}
	next := &commit{snap: tx.Commit(c), out: &outcome{done: make(chan struct{})}}
	g.lines.Lock()
	defer g.lines.Unlock()
	ticket, err := g.store.Enqueue(rec.kind, rec.payload, rec.segments...)
	if err != nil {
		if parts == nil {
			g.discard(rec.segments)
		}
		return nil, nil, nil, err
	}
	enqueued = true
	next.lsn = ticket.LSN
	b.journal.note(c, ticket.LSN, rec)
	g.lines.advance(b, next)
	g.history.Add(c, next.lsn)
	b.keep(&g.history, c, w.receipt)
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

// errPoisoned is why a branch is not written any more after a write that failed.
var errPoisoned = &engine.Unavailable{Reason: "a write to its log failed; open it again"}

// poisoned is errPoisoned, with the reason if it is known.
func (g *Graph) poisoned() error {
	if err := g.Failure(); err != nil {
		return err
	}
	return errPoisoned
}

// complete waits for a commit that is staged. The context of its caller is not heeded:
// the commit may become durable, and a caller that went away would not know.
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

// commitWeight is how many bytes a commit counts for beside those of its record, when it
// comes to a checkpoint: it bounds the commits between two checkpoints, to 8192 by default,
// and so what only a checkpoint lets go of. That is the records themselves, the rows that
// they wrote, about a kilobyte for each small commit, and an anchor for each anchorRecords.
const commitWeight = 1 << 10

// rowWeight is how many bytes a row counts for that the first commit of a branch copies:
// those that were written before it since the last checkpoint. It bounds what many branches
// copy of one long line of commits.
const rowWeight = 64

// record is a commit as the log holds it.
type record struct {
	kind     uint8
	payload  []byte
	rest     []byte            // the payload behind the header
	ops      []byte            // the operations, wherever they lie; nil of a bulk commit
	segments []store.SegmentID // those that it names
}

// maxOps bounds the operations of one commit, in bytes: so much less than what one
// column of a segment can hold that some commits together fit too.
const maxOps = 1 << 30

// record makes the log record of a commit, and stores the segments that it names.
func (g *Graph) record(ctx context.Context, tx *version.Txn, parts []version.Part, c engine.Commit, receipt *version.Receipt) (record, error) {
	payload := version.AppendHeader(make([]byte, 0, 256), c, receipt)
	if parts != nil {
		rec := record{kind: version.KindBulk}
		for _, p := range parts {
			id, err := g.storedPart(ctx, p)
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

// storeSegment stores a segment that is not published yet, and names it. From then on its
// rows are those of the file: the memory in which it was made goes away.
func (g *Graph) storeSegment(ctx context.Context, t *version.Type, s *version.Segment) (store.SegmentID, error) {
	id, err := g.store.WriteSegment(ctx, func(w *store.SegmentWriter) error {
		return s.Blocks(t, adder(w, func(block string) (cold, delta bool) { return s.Cold(t, block) }))
	})
	if err != nil {
		return id, err
	}
	s.Name = segmentName(id)
	if src, err := g.segment(ctx, s.Name); err == nil {
		g.mapped(t, s, src)
	}
	return id, nil
}

// adder adds blocks to a segment, those that are cold compressed.
func adder(w *store.SegmentWriter, isCold func(block string) (cold, delta bool)) func(block string, data []byte) error {
	return func(block string, data []byte) error {
		if cold, delta := isCold(block); cold {
			return w.AddCold(block, data, delta)
		}
		return w.AddBlock(block, data)
	}
}

// storeRows stores a segment, which is mapped then.
func (g *Graph) storeRows(ctx context.Context, t *version.Type, s *version.Segment) (*version.Segment, error) {
	if _, err := g.storeSegment(ctx, t, s); err != nil {
		return nil, err
	}
	return s, nil
}

// storedPart stores the segment of a part, unless that is done.
func (g *Graph) storedPart(ctx context.Context, p version.Part) (store.SegmentID, error) {
	if p.Segment.Name != "" {
		return segmentID(p.Segment.Name)
	}
	return g.storeSegment(ctx, p.Type, p.Segment)
}

// discardParts removes the segments of parts that no record will name.
func (g *Graph) discardParts(parts []version.Part) {
	for _, p := range parts {
		if id, err := segmentID(p.Segment.Name); err == nil {
			g.discard([]store.SegmentID{id})
		}
	}
}

// discard removes segments that no record will name. One that stays costs space until
// the next checkpoint after an Open, and nothing else.
func (g *Graph) discard(segments []store.SegmentID) {
	for _, id := range segments {
		_ = g.store.RemoveSegment(id)
	}
}
