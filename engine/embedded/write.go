package embedded

import (
	"context"
	"io"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/exec"
	"github.com/omnigraph-go/omnigraph/engine/embedded/load"
	"github.com/omnigraph-go/omnigraph/engine/embedded/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// Mutate runs a mutation as one commit, or as none when it changes nothing.
func (g *Graph) Mutate(ctx context.Context, q *plan.Query, args engine.Args, opts engine.WriteOptions) (engine.Change, error) {
	if err := g.enter(ctx); err != nil {
		return engine.Change{}, err
	}
	defer g.calls.RUnlock()
	b, err := g.branch(opts.Branch)
	if err != nil {
		return engine.Change{}, err
	}
	if err := exec.CheckArgs(q.Params, args); err != nil {
		return engine.Change{}, err
	}
	call := write{actor: opts.Actor, receipt: newReceipt(opts.IdempotencyKey), dryRun: opts.DryRun}
	if call.receipt != nil {
		call.receipt.Body = mutationDigest(q, args)
	}
	first, err := g.lock(ctx, b, &call, opts.IfCommit)
	switch {
	case err != nil:
		return engine.Change{}, err
	case first != nil:
		c := first.Commit
		return engine.Change{Commit: &c, Head: c, Nodes: first.Receipt.Nodes, Edges: first.Receipt.Edges}, nil
	}
	if err := exec.BindMutation(q, b.tip.snap.Schema); err != nil {
		b.unlock()
		return engine.Change{}, err
	}
	tx := version.Begin(b.tip.snap)
	w := exec.Write{Tx: tx, Args: args, Now: g.now(), NewID: g.newID}
	if err := w.Run(ctx, q); err != nil {
		b.unlock()
		return engine.Change{}, err
	}
	if call.receipt != nil {
		call.receipt.Nodes, call.receipt.Edges = w.Nodes, w.Edges
	}
	made, head, err := g.finish(ctx, b, tx, nil, &call)
	if err != nil {
		return engine.Change{}, err
	}
	return engine.Change{Commit: made, Head: head, Nodes: w.Nodes, Edges: w.Edges}, nil
}

// Load reads NDJSON and applies it as one commit.
func (g *Graph) Load(ctx context.Context, r io.Reader, opts engine.LoadOptions) (*engine.LoadResult, error) {
	if err := g.enter(ctx); err != nil {
		return nil, err
	}
	defer g.calls.RUnlock()
	b, err := g.branch(opts.Branch)
	if err != nil {
		return nil, err
	}
	schema := b.head.Load().snap.Schema
	call := write{actor: opts.Actor, receipt: newReceipt(opts.IdempotencyKey), dryRun: opts.DryRun}
	digest := loadDigest(opts.Mode)
	if call.receipt != nil {
		r = io.TeeReader(r, digest)
	}
	in, err := load.Parse(ctx, r, schema, g.newID, opts.Progress)
	if err != nil {
		return nil, err
	}
	if call.receipt != nil {
		digest.Sum(call.receipt.Body[:0])
	}
	first, err := g.lock(ctx, b, &call, opts.IfCommit)
	switch {
	case err != nil:
		return nil, err
	case first != nil:
		c := first.Commit
		return &engine.LoadResult{Commit: &c, Head: c, Nodes: first.Receipt.NodeIns, Edges: first.Receipt.EdgeIns}, nil
	}
	tx := version.Begin(b.tip.snap)
	if tx.Schema() != schema {
		b.unlock()
		return nil, &engine.SchemaMismatch{Detail: "the schema changed while the input was read; load it again"}
	}
	parts, err := load.Apply(tx, in, opts.Mode, g.opts.InlineBytes)
	if err != nil {
		b.unlock()
		return nil, err
	}
	nodes, edges := in.Counts()
	if call.receipt != nil {
		call.receipt.NodeIns, call.receipt.EdgeIns = nodes, edges
	}
	made, head, err := g.finish(ctx, b, tx, parts, &call)
	if err != nil {
		return nil, err
	}
	return &engine.LoadResult{Commit: made, Head: head, Nodes: nodes, Edges: edges}, nil
}

// write is what a commit is made with, beside its transaction.
type write struct {
	actor     string
	dryRun    bool
	receipt   *version.Receipt  // nil without an idempotency key
	source    *version.Snapshot // of a merge
	ancestors map[string]string // of the source with each branch, by its name
	logged    func()            // if set, called when the commit has its place in the log
}

// lock waits for the turn of a branch. When the call was made before, it returns its
// receipt instead, once its commit is durable.
func (g *Graph) lock(ctx context.Context, b *branch, w *write, ifCommit string) (first *receipted, err error) {
	if err := b.lock(ctx); err != nil {
		return nil, err
	}
	if w.receipt != nil && !w.dryRun {
		first, err := g.repeated(b, w)
		if err != nil || first != nil {
			b.unlock()
		}
		if first != nil {
			return first, first.made.settled(ctx)
		}
		if err != nil {
			return nil, err
		}
	}
	if head := b.tip.snap.Commit.ID; ifCommit != "" && ifCommit != head {
		b.unlock()
		return nil, &engine.PreconditionFailed{Expected: ifCommit, Actual: head}
	}
	return nil, nil
}

// finish commits a transaction that changes something, and unlocks the branch. The
// reply waits until the head that it names is durable.
func (g *Graph) finish(ctx context.Context, b *branch, tx *version.Txn, parts []version.Part, w *write) (made *engine.Commit, head engine.Commit, err error) {
	if w.dryRun || !tx.Changed() {
		tip := b.tip
		b.unlock()
		return nil, tip.snap.Commit, tip.settled(ctx)
	}
	c, err := g.commitTxn(ctx, b, tx, parts, w)
	if err != nil {
		return nil, engine.Commit{}, err
	}
	commit := c.snap.Commit
	return &commit, commit, nil
}
