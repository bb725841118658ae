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

	// turn holds a token while nobody writes; it guards what follows. The tip and the
	// receipts also stand still while Graph.lines is locked.
	turn     chan struct{}
	tip      *commit
	err      error // why the tip can never become durable
	receipts map[receiptKey]*receipted

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
	b := &branch{name: name, receipts: map[receiptKey]*receipted{}, turn: make(chan struct{}, 1), tip: &commit{snap: snap, lsn: lsn}}
	b.head.Store(b.tip)
	b.turn <- struct{}{}
	return b
}

// recovered returns a branch that is durable.
func recovered(name string, snap *version.Snapshot, lsn uint64) *branch {
	b := newBranch(name, snap, lsn)
	b.live.Store(true)
	return b
}

// advance makes a durable commit the head and the tip of a branch that nobody uses yet.
func (b *branch) advance(c *commit) {
	b.tip = c
	b.head.Store(c)
}

// lock waits for the branch's turn to write.
func (b *branch) lock(ctx context.Context) error {
	select {
	case <-b.turn:
	case <-ctx.Done():
		return ctx.Err()
	}
	if b.err != nil {
		b.unlock()
		return b.err
	}
	return nil
}

func (b *branch) unlock() { b.turn <- struct{}{} }

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
func (b *branch) replace(f func(*version.Snapshot) *version.Snapshot) {
	b.mu.Lock()
	defer b.mu.Unlock()
	of := func(c *commit) *commit { return &commit{snap: f(c.snap), lsn: c.lsn, out: c.out} }
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

// commitTxn makes the transaction the branch's next commit. It is called with the
// branch locked, and unlocks it before it waits for the log. Segments of parts are
// stored and named first.
func (g *Graph) commitTxn(ctx context.Context, b *branch, tx *version.Txn, parts []version.Part, w *write) (*commit, error) {
	parent := b.tip.snap.Commit
	c := engine.Commit{ID: g.newID(), Seq: parent.Seq + 1, Branch: b.name, Parents: []string{parent.ID}, Actor: w.actor, Time: g.time(), Schema: parent.Schema}
	if w.source != nil {
		c.Parents = append(c.Parents, w.source.Commit.ID)
	}
	kind, payload, segments, err := g.record(ctx, tx, parts, c, w.receipt)
	if err != nil {
		b.unlock()
		return nil, err
	}
	out := &outcome{done: make(chan struct{})}
	next := &commit{snap: tx.Commit(c), out: out}
	g.lines.Lock()
	ticket, err := g.store.Enqueue(kind, payload, segments...)
	if err != nil {
		g.lines.Unlock()
		b.unlock()
		return nil, err
	}
	next.lsn = ticket.LSN
	b.tip = next
	b.keep(next, w.receipt)
	g.history.Add(c, next.lsn)
	g.lines.lsn, g.lines.last = next.lsn, out
	if w.source != nil {
		g.lines.join(&g.history, b.name, w.source, w.ancestors)
	}
	b.mu.Lock()
	b.pending = append(b.pending, next)
	b.mu.Unlock()
	g.lines.Unlock()
	b.unlock()
	if w.logged != nil {
		w.logged()
	}

	// From here the context is not heeded: the commit may become durable, and a
	// caller that went away would not know.
	out.err = g.store.Wait(ticket)
	b.settle(next.lsn, out.err == nil)
	close(out.done)
	if out.err != nil {
		<-b.turn
		if b.err == nil {
			b.err = &engine.Unavailable{Reason: "a write to its log failed; open it again"}
		}
		b.unlock()
		return nil, out.err
	}
	if g.logged.Add(int64(len(payload))) > g.opts.CheckpointBytes || len(parts) > 0 {
		g.requestCheckpoint()
	}
	return next, nil
}

// record makes the log record of a commit, and stores the segments that it names.
func (g *Graph) record(ctx context.Context, tx *version.Txn, parts []version.Part, c engine.Commit, receipt *version.Receipt) (kind uint8, payload []byte, segments []store.SegmentID, err error) {
	payload = version.AppendHeader(make([]byte, 0, 512), c, receipt)
	if parts != nil {
		for _, p := range parts {
			id, err := g.store.WriteSegment(ctx, func(w *store.SegmentWriter) error { return p.Segment.Blocks(p.Type, w.AddBlock) })
			if err != nil {
				g.discard(segments)
				return 0, nil, nil, err
			}
			segments = append(segments, id)
			p.Segment.Name = segmentName(id)
		}
		return version.KindBulk, version.AppendParts(payload, parts), segments, nil
	}
	header := len(payload)
	if payload = tx.AppendOps(payload); len(payload)-header <= g.opts.InlineBytes {
		return version.KindRows, payload, nil, nil
	}
	id, err := g.store.WriteSegment(ctx, func(w *store.SegmentWriter) error { return w.AddBlock("ops", payload[header:]) })
	if err != nil {
		return 0, nil, nil, err
	}
	return version.KindSpilled, version.AppendSpilled(payload[:header:header], segmentName(id)), []store.SegmentID{id}, nil
}

// discard removes segments that no record will name. One that stays costs space until
// the next checkpoint after an Open, and nothing else.
func (g *Graph) discard(segments []store.SegmentID) {
	for _, id := range segments {
		_ = g.store.RemoveSegment(id)
	}
}
