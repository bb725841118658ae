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
	if err := exec.CheckArgs(q.Params, args); err != nil {
		return engine.Change{}, err
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
	made, head, err := g.write(ctx, opts, func(tx *version.Txn) ([]version.Part, error) {
		if err := exec.BindMutation(q, tx.Schema()); err != nil {
			return nil, err
		}
		w.Tx = tx
		return nil, w.Run(ctx, q)
	})
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
	made, head, err := g.write(ctx, opts.WriteOptions, func(tx *version.Txn) ([]version.Part, error) {
		if tx.Schema() != schema {
			return nil, &engine.SchemaMismatch{Detail: "the schema changed while the input was read; load it again"}
		}
		return load.Apply(tx, in, opts.Mode, g.opts.InlineBytes)
	})
	if err != nil {
		return nil, err
	}
	out := &engine.LoadResult{Commit: made, Head: head}
	out.Nodes, out.Edges = in.Counts()
	return out, nil
}

// write makes a commit of what build does to a transaction, or none if that changes
// nothing. The reply waits until the head that it names is durable.
func (g *Graph) write(ctx context.Context, opts engine.WriteOptions, build func(*version.Txn) ([]version.Part, error)) (made *engine.Commit, head engine.Commit, err error) {
	b, err := g.branch(opts.Branch)
	if err != nil {
		return nil, engine.Commit{}, err
	}
	c, staged, err := g.stage(ctx, b, opts.Actor, build)
	if err != nil {
		return nil, engine.Commit{}, err
	}
	if staged == nil {
		return nil, c.snap.Commit, c.settled(ctx)
	}
	if err := g.complete(b, c, staged); err != nil {
		return nil, engine.Commit{}, err
	}
	commit := c.snap.Commit
	return &commit, commit, nil
}
