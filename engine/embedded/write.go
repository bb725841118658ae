package embedded

import (
	"context"
	"io"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/damage"
	"github.com/omnigraph-go/omnigraph/engine/embedded/exec"
	"github.com/omnigraph-go/omnigraph/engine/embedded/load"
	"github.com/omnigraph-go/omnigraph/engine/embedded/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// Mutate runs a mutation as one commit, or as none when it changes nothing.
func (g *Graph) Mutate(ctx context.Context, q *plan.Query, args engine.Args, opts engine.WriteOptions) (_ engine.Change, err error) {
	defer damage.Catch(damage.Watch(), &err)
	if err := g.enter(ctx); err != nil {
		return engine.Change{}, err
	}
	defer g.calls.RUnlock()
	if err := exec.CheckArgs(q.Params, args); err != nil {
		return engine.Change{}, err
	}
	call := newWrite(opts)
	if call.receipt != nil {
		call.receipt.Body = mutationDigest(q, args)
	}
	b, err := g.branch(opts.Branch)
	if err != nil {
		return engine.Change{}, err
	}
	vectors, err := exec.EmbedFor(ctx, g.opts.Embedder, q, b.head.Load().snap.Schema, args)
	if err != nil {
		return engine.Change{}, err
	}
	w := exec.Write{Args: args, Now: g.now(), NewID: g.newID, Vectors: vectors}
	first, made, head, err := g.write(ctx, b, call, func(tx *version.Txn) ([]version.Part, error) {
		if err := exec.BindMutation(q, tx.Schema()); err != nil {
			return nil, err
		}
		w.Tx = tx
		err := w.Run(ctx, q)
		if call.receipt != nil {
			call.receipt.Nodes, call.receipt.Edges = w.Nodes, w.Edges
		}
		return nil, err
	})
	switch {
	case err != nil:
		return engine.Change{}, err
	case first != nil:
		c := first.Commit
		return engine.Change{Commit: &c, Head: c, Nodes: first.Receipt.Nodes, Edges: first.Receipt.Edges}, nil
	}
	return engine.Change{Commit: made, Head: head, Nodes: w.Nodes, Edges: w.Edges}, nil
}

// Load reads NDJSON and applies it as one commit.
func (g *Graph) Load(ctx context.Context, r io.Reader, opts engine.LoadOptions) (_ *engine.LoadResult, err error) {
	defer damage.Catch(damage.Watch(), &err)
	if err := g.enter(ctx); err != nil {
		return nil, err
	}
	defer g.calls.RUnlock()
	b, err := g.branch(opts.Branch)
	if err != nil {
		return nil, err
	}
	schema := b.head.Load().snap.Schema
	call := newWrite(opts.WriteOptions)
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
	var nodes, edges []engine.TypeCount
	first, made, head, err := g.write(ctx, b, call, func(tx *version.Txn) ([]version.Part, error) {
		if tx.Schema() != schema {
			return nil, &engine.SchemaMismatch{Detail: "the schema changed while the input was read; load it again"}
		}
		parts, err := load.Apply(tx, in, opts.Mode, g.opts.InlineBytes)
		if nodes, edges = in.Counts(); call.receipt != nil {
			call.receipt.NodeIns, call.receipt.EdgeIns = nodes, edges
		}
		return parts, err
	})
	switch {
	case err != nil:
		return nil, err
	case first != nil:
		c := first.Commit
		return &engine.LoadResult{Commit: &c, Head: c, Nodes: first.Receipt.NodeIns, Edges: first.Receipt.EdgeIns}, nil
	}
	return &engine.LoadResult{Commit: made, Head: head, Nodes: nodes, Edges: edges}, nil
}

// write is what a commit is made with, beside its transaction.
type write struct {
	actor     string
	ifCommit  string
	dryRun    bool
	receipt   *version.Receipt  // nil without an idempotency key
	source    *version.Snapshot // of a merge
	ancestors map[string]string // of the source with each branch, by its name
	staged    func()            // if set, called when the commit has its place in the log, or there is none
}

func newWrite(opts engine.WriteOptions) *write {
	return &write{actor: opts.Actor, ifCommit: opts.IfCommit, dryRun: opts.DryRun, receipt: newReceipt(opts.IdempotencyKey)}
}

// write makes a commit of what build does to a transaction, or none if that changes
// nothing. The reply waits until the head that it names is durable. When the call was
// made before, it is the receipt.
func (g *Graph) write(ctx context.Context, b *branch, w *write, build func(*version.Txn) ([]version.Part, error)) (first *receipted, made *engine.Commit, head engine.Commit, err error) {
	var c *commit
	var s *staged
	func() {
		if w.staged != nil {
			defer w.staged() // even if build panics
		}
		first, c, s, err = g.stage(ctx, b, w, build)
	}()
	switch {
	case err != nil:
		return nil, nil, engine.Commit{}, err
	case first != nil:
		return first, nil, engine.Commit{}, first.made.settled(ctx)
	case s == nil:
		return nil, nil, c.snap.Commit, c.settled(ctx)
	}
	if err := g.complete(b, c, s); err != nil {
		return nil, nil, engine.Commit{}, err
	}
	commit := c.snap.Commit
	return nil, &commit, commit, nil
}
