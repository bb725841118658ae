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
	vectors, err := exec.EmbedFor(ctx, g.opts.Embedder, q, b.head.Load().snap.Schema, args)
	if err != nil {
		return engine.Change{}, err
	}
	if err := b.lock(ctx); err != nil {
		return engine.Change{}, err
	}
	if err := exec.BindMutation(q, b.tip.snap.Schema); err != nil {
		b.unlock()
		return engine.Change{}, err
	}
	tx := version.Begin(b.tip.snap)
	w := exec.Write{Tx: tx, Args: args, Now: g.now(), NewID: g.newID, Vectors: vectors}
	if err := w.Run(ctx, q); err != nil {
		b.unlock()
		return engine.Change{}, err
	}
	made, head, err := g.finish(ctx, b, tx, nil, opts.Actor)
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
	in, err := load.Parse(ctx, r, schema, g.newID, opts.Progress)
	if err != nil {
		return nil, err
	}
	if err := b.lock(ctx); err != nil {
		return nil, err
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
	made, head, err := g.finish(ctx, b, tx, parts, opts.Actor)
	if err != nil {
		return nil, err
	}
	out := &engine.LoadResult{Commit: made, Head: head}
	out.Nodes, out.Edges = in.Counts()
	return out, nil
}

// finish commits a transaction that changes something, and unlocks the branch. The
// reply waits until the head that it names is durable.
func (g *Graph) finish(ctx context.Context, b *branch, tx *version.Txn, parts []version.Part, actor string) (made *engine.Commit, head engine.Commit, err error) {
	if !tx.Changed() {
		tip := b.tip
		b.unlock()
		return nil, tip.snap.Commit, tip.settled(ctx)
	}
	c, err := g.commitTxn(ctx, b, tx, parts, actor)
	if err != nil {
		return nil, engine.Commit{}, err
	}
	commit := c.snap.Commit
	return &commit, commit, nil
}
