package embedded

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/ancestry"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/locks"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/logrecord"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/newid"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/receipts"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/store"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// writer writes the records of a graph: its commits, and the creation and deletion of branches.
// Nothing else appends to the log. writer has no lock: a commit holds the write lock of its branch
// while it is staged, and branches.mu while its record gets its place in the log.
type writer struct {
	opts        *Options          // options of the graph
	store       store.Storage     // has the log
	files       *segmentFiles     // stores segments
	ids         *newid.Source     // makes ids of commits and entities
	history     *ancestry.History // gets each new commit
	layout      *locks.Layout     // the lock on the row layout
	branches    *branches         // the tips of the branches
	restorer    *restorer         // restores states of old commits
	checkpoints *checkpoints      // make checkpoints when the log is long
	refusals    atomic.Int64      // writes refused because of Options.MaxBytes or Options.MaxBranches
}

// write holds the parameters of a commit, apart from its transaction.
type write struct {
	actor    string                // recorded in the commit
	message  string                // recorded in the commit
	tool     string                // recorded in the commit
	origin   string                // of a load, the source of its records; recorded in the commit
	number   uint32                // the commit in the origins of its rows
	ifCommit string                // required id of the head of the branch; empty for any
	dryRun   bool                  // commit nothing
	receipt  *logrecord.Receipt    // nil without an idempotency key
	former   [32]byte              // another body that the earlier call may have: that of the plan, if the receipt has that of a name
	changes  *engine.SourceChanges // of a load; nil if it moves no position
	from     *branch               // for a merge, the source branch
	source   *version.Snapshot     // for a merge, the state of from
	base     string                // for a merge, the id of the merge base
	approved []string              // for the merge of a proposal, its approvers
	merging  *proposalMerge        // for the merge of a proposal, that proposal; else nil
	ends     *draftMerge           // for a merge of a draft, that draft; else nil
	deletes  bool                  // the call only deletes entities, so MaxBytes does not refuse it
	staged   func()                // if set, called once stage has returned or panicked
}

// newWrite returns the parameters for the options of a call. The message is not a part of the receipt's digest: like
// the actor, it says nothing about the outcome, so a repeated call with other words gets the first outcome.
func newWrite(opts engine.WriteOptions) (*write, error) {
	w := &write{actor: opts.Actor, message: opts.Message, tool: opts.Tool, ifCommit: opts.IfCommit, dryRun: opts.DryRun, receipt: receipts.New(opts.IdempotencyKey)}
	return w, engine.CheckMessage(opts.Message)
}

// write runs the function `build` on a transaction and commits the result. It makes no commit if
// `build` changes nothing or in a dry run. It returns once the commit `head` is durable. If the
// idempotency key was used before, write makes no commit either, and `first` is the receipt of the
// earlier call.
func (r *writer) write(ctx context.Context, b *branch, w *write, build func(*version.Txn) ([]version.Part, error)) (first *receiptOfCommit, made *engine.Commit, head engine.Commit, err error) {
	var c *commit
	var s *staged
	func() {
		if w.staged != nil {
			defer w.staged() // also if `build` panics
		}
		first, c, s, err = r.stage(ctx, b, w, build)
	}()
	switch {
	case err != nil && c != nil:
		// Readers must see the commit that the error names, so that the caller can try again with it.
		if failed := c.waitDurable(ctx); failed != nil {
			err = failed
		}
		return nil, nil, engine.Commit{}, err
	case err != nil:
		return nil, nil, engine.Commit{}, err
	case first != nil:
		return first, nil, engine.Commit{}, first.waitDurable(ctx)
	case s == nil:
		return nil, nil, c.snap.Commit, c.waitDurable(ctx)
	}
	if err := r.complete(b, c, s); err != nil {
		return nil, nil, engine.Commit{}, err
	}
	commit := c.snap.Commit
	return nil, &commit, commit, nil
}

// receiptOfCommit is a receipt with the commit that holds it. The commit may still be in flight.
type receiptOfCommit struct {
	logrecord.Receipted
	branch *branch // branch that the call wrote to
	lsn    uint64  // 0 if recovery restored the commit
}

// waitDurable waits until the commit of the receipt is durable.
func (r *receiptOfCommit) waitDurable(ctx context.Context) error {
	return r.branch.waitDurable(ctx, r.lsn)
}

// repeated returns the receipt of the earlier call with the idempotency key of w, or nil if there
// was no such call. It returns a *engine.Conflict if that call had another body. REQUIRES: the
// caller holds the write lock of b.
func (r *writer) repeated(b *branch, w *write) (*receiptOfCommit, error) {
	if w.receipt == nil || w.dryRun || w.changes != nil {
		return nil, nil
	}
	first, ok, err := b.keys.Repeated(r.history, w.actor, w.receipt, w.former, r.opts.time())
	if !ok || err != nil {
		return nil, err
	}
	_, lsn, _ := r.history.Get(first.Commit.ID)
	return &receiptOfCommit{first, b, lsn}, nil
}

// earlierReceipt returns the receipt of the earlier call with the idempotency key of w, or nil. It
// is for a call that does not hold the write lock yet. It waits until the receipt's commit is
// durable. The errors include those of repeated.
func (r *writer) earlierReceipt(ctx context.Context, b *branch, w *write) (*receiptOfCommit, error) {
	if w.receipt == nil || w.dryRun {
		return nil, nil
	}
	if err := b.lock(ctx); err != nil {
		return nil, err
	}
	first, err := r.repeated(b, w)
	b.unlock()
	if first == nil || err != nil {
		return nil, err
	}
	return first, first.waitDurable(ctx)
}

// next returns the commit that the next one would build on, or the receipt of an earlier call, as stage does. It holds the
// write lock only for that.
func (r *writer) next(ctx context.Context, b *branch, w *write) (*receiptOfCommit, *commit, error) {
	if err := b.lock(ctx); err != nil {
		return nil, nil, err
	}
	first, err := r.check(b, w)
	tip := b.tip
	b.unlock()
	switch {
	case first != nil:
		return first, nil, first.waitDurable(ctx)
	case errors.As(err, new(*engine.PreconditionFailed)):
		if failed := tip.waitDurable(ctx); failed != nil { // see write
			err = failed
		}
		return nil, nil, err
	}
	return nil, tip, err
}

// check checks whether a write may build on the tip of the branch, and returns the receipt of an earlier call with its
// idempotency key. REQUIRES: the caller holds the write lock of b.
func (r *writer) check(b *branch, w *write) (first *receiptOfCommit, err error) {
	if first, err = r.repeated(b, w); first != nil || err != nil {
		return first, err
	}
	if err := r.branches.checkWrite(b); err != nil {
		return nil, err
	}
	if head := b.tip.snap.Commit.ID; w.ifCommit != "" && w.ifCommit != head {
		return nil, &engine.PreconditionFailed{Expected: w.ifCommit, Actual: head}
	}
	return nil, nil
}

// staged is a commit with a record that has its place in the log.
type staged struct {
	ticket *store.Ticket // place of the record in the log
	bytes  int64         // size of the record and of the rows that the commit copied
	bulk   bool          // whether the rows are in segments that the record lists
}

// stage holds the branch's write lock. It turns the transaction that the function `build` fills
// into the branch's next commit, and puts the record of the commit in the log. The results are:
//
//   - If the idempotency key was used before, the receipt of that first call and nothing else.
//   - For a dry run or a transaction without a change, the branch's tip as the commit, and no
//     staged record.
//   - If the tip is not the commit that w.ifCommit names, the tip and a *engine.PreconditionFailed.
//   - Otherwise the new commit and its staged record.
//
// stage releases the write lock in every case.
func (r *writer) stage(ctx context.Context, b *branch, w *write, build func(*version.Txn) ([]version.Part, error)) (*receiptOfCommit, *commit, *staged, error) {
	if err := b.lock(ctx); err != nil {
		return nil, nil, nil, err
	}
	defer b.unlock()
	switch first, err := r.check(b, w); {
	case errors.As(err, new(*engine.PreconditionFailed)):
		return nil, b.tip, nil, err
	case first != nil || err != nil:
		return first, nil, nil, err
	}
	if c := w.changes; c != nil && c.Position != "" {
		if at := b.keys.Position(c.Source); at != c.After {
			return nil, b.tip, nil, &engine.Conflict{Reason: fmt.Sprintf("the branch has the changes of %s up to %s, expected %s; read the position again", c.Source, positionText(at), positionText(c.After))}
		}
	}
	tx := version.Begin(b.tip.snap)
	w.number = r.history.Reserve()
	tx.Number(w.number)
	var parts []version.Part
	enqueued := false
	defer func() { // also after a fault that `build` throws
		if !enqueued {
			r.history.Release(w.number)
			r.files.discardParts(parts)
			r.files.discardNamed(tx.Stored())
		}
	}()
	parts, err := build(tx)
	if err != nil {
		return nil, nil, nil, err
	}
	if w.dryRun || !tx.Changed() && (w.changes == nil || w.changes.Position == "" || w.changes.Position == w.changes.After) {
		return nil, b.tip, nil, nil
	}
	if err := tx.Room(); err != nil {
		return nil, nil, nil, err
	}
	if !w.deletes {
		if err := r.checkBytes(); err != nil {
			return nil, nil, nil, err
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, nil, err
	}
	b.timing.Lock()
	defer b.timing.Unlock()
	parent := b.tip.snap.Commit
	c := engine.Commit{ID: r.ids.Next(), Seq: parent.Seq + 1, Branch: b.name, Parents: []string{parent.ID}, Actor: w.actor, Time: laterOf(r.opts.time(), parent.Time), Schema: tx.Schema().Digest, Message: w.message, Tool: w.tool, Source: w.origin}
	if w.merging != nil {
		c.Proposal, c.Approvers = w.merging.proposal.ID, w.approved
	}
	if fault.On(fault.MessageKept) && w.source == nil {
		c.Message = parent.Message
	}
	if w.source != nil {
		c.Parents = append(c.Parents, w.source.Commit.ID)
		c.Time = laterOf(c.Time, w.source.Commit.Time)
	}
	if parts != nil && b.stale {
		r.checkpoints.request()
		return nil, nil, nil, &engine.Unavailable{Reason: "a checkpoint failed, so the graph refuses large loads until the next one; try again later"}
	}
	rec, err := r.record(ctx, tx, parts, logrecord.Commit{Commit: c, Number: w.number}, w.receipt)
	if err != nil {
		return nil, nil, nil, err
	}
	if w.merging != nil {
		r.branches.naming.Lock()
		defer r.branches.naming.Unlock()
		err = r.completeMerge(w.merging, &rec, c, w.base)
	}
	if err == nil {
		w.ends = r.newDraftMerge(&rec, c, w)
	}
	_, logged := rec.logged()
	if err == nil {
		err = r.store.Reserve(len(logged))
	}
	if err != nil {
		if parts == nil {
			r.files.discard(rec.segments)
		}
		return nil, nil, nil, err
	}
	next := &commit{snap: tx.Commit(c), out: &outcome{done: make(chan struct{})}}
	ticket, err := r.branches.commit(b, next, rec, w)
	if err != nil {
		if parts == nil {
			r.files.discard(rec.segments)
		}
		return nil, nil, nil, err
	}
	enqueued = true
	return nil, next, &staged{ticket: ticket, bytes: int64(len(logged) + rowWeight*tx.Copied()), bulk: parts != nil}, nil
}

// positionText returns a position for a message.
func positionText(at string) string { return cmp.Or(at, "no position") }

// laterOf returns the later of two times. With it, no commit has a time before that of a parent, even
// if the clock was set back, or if another server with a faster clock made the parent.
func laterOf(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// errLogFailed is the error of writes to a branch after a write to the log has failed.
var errLogFailed = &engine.Unavailable{Reason: "a write to the log failed; open the graph again", RetryAfter: time.Second}

// logFailure returns the failure of the log if it is known, and errLogFailed otherwise.
func (r *writer) logFailure() error {
	if err := r.store.Failure(); err != nil {
		return err
	}
	return errLogFailed
}

// complete waits until a staged commit is durable or has failed. It takes no context: the
// commit may become durable after its caller has given up, and complete must still make it the
// head.
func (r *writer) complete(b *branch, c *commit, s *staged) error {
	c.out.err = r.store.Wait(s.ticket)
	b.settle(c.lsn, c.out.err == nil)
	close(c.out.done)
	if c.out.err != nil {
		b.hold()
		if b.err == nil {
			b.err = r.logFailure()
		}
		b.unlock()
		return c.out.err
	}
	weight := s.bytes + r.opts.commitWeight
	if s.bulk {
		weight += closeBytes // ensures a checkpoint even if the graph is closed at once
	}
	r.checkpoints.countCommit(weight, s.bulk)
	return nil
}

// defaultCommitWeight is the number of bytes that the graph counts for each commit, in addition to
// the bytes of its record, when it decides on a checkpoint. It bounds the commits between two
// checkpoints, to 8192 by default. So it bounds the memory that only a checkpoint frees: the
// records, the rows that they wrote (about a kilobyte for each small commit), and one anchor per
// anchorRecords records.
const defaultCommitWeight = 1 << 10

// rowWeight is the number of bytes that the graph counts for each copied row. The first commit of a
// branch copies the rows written before it since the last checkpoint. rowWeight bounds the rows
// that many branches copy from one long line of commits.
const rowWeight = 64

// checkBytes returns a *engine.TooLarge if the stored data of the graph exceeds Options.MaxBytes. The
// segments that the present write has made count too.
func (r *writer) checkBytes() error {
	most := r.opts.MaxBytes
	if most <= 0 {
		return nil
	}
	stored := max(0, r.checkpoints.logged.Load())
	for _, size := range r.store.Sizes() {
		stored += size
	}
	if stored <= most {
		return nil
	}
	return r.refused(&engine.TooLarge{
		Resource: "stored bytes of the graph", Limit: most, Actual: stored,
		Hint: "delete data or branches and run a cleanup, or ask the operator to raise the quota of the graph",
	})
}

// refused counts a write that one of the two quotas refused, and returns the error.
func (r *writer) refused(err error) error {
	var full *engine.TooLarge
	if errors.As(err, &full) {
		r.refusals.Add(1)
	}
	return err
}

// onlyDeletes reports whether the statements of a mutation delete entities and do nothing else.
func onlyDeletes(statements []plan.Statement) bool {
	return len(statements) > 0 && !slices.ContainsFunc(statements, func(s plan.Statement) bool {
		switch s := s.(type) {
		case plan.Delete:
			return false
		case plan.ForEach:
			return !onlyDeletes(s.Statements)
		}
		return true
	})
}
