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

// Mutate runs a mutation as one commit. It makes no commit if the mutation changes nothing. A
// call with an idempotency key that was used before returns the result of the first call.
func (g *Graph) Mutate(ctx context.Context, q *plan.Query, args engine.Args, opts engine.WriteOptions) (_ engine.Change, err error) {
	defer damage.Catch(damage.Watch(), &err)
	if err := g.enter(ctx); err != nil {
		return engine.Change{}, err
	}
	defer g.calls.leave()
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
	schema := b.head.Load().snap.Schema
	var first *receipted
	if g.opts.Embedder != nil {
		// Computing vectors costs time and money, so look for a receipt first.
		first, err = g.answered(ctx, b, call)
	}
	w := exec.Write{Args: args, Now: g.now(), NewID: g.ids.next}
	if err == nil && first == nil {
		w.Vectors, err = exec.EmbedFor(ctx, g.opts.Embedder, q, schema, args)
	}
	if err != nil {
		return engine.Change{}, err
	}
	var made *engine.Commit
	var head engine.Commit
	if first == nil {
		first, made, head, err = g.write(ctx, b, call, func(tx *version.Txn) ([]version.Part, error) {
			if err := exec.BindMutation(q, tx.Schema()); err != nil {
				return nil, err
			}
			if w.Vectors != nil && tx.Schema() != schema {
				return nil, &engine.SchemaMismatch{Detail: "the schema changed while vectors were computed; try again"}
			}
			w.Tx = tx
			err := w.Run(ctx, q)
			if call.receipt != nil {
				call.receipt.Nodes, call.receipt.Edges = w.Nodes, w.Edges
			}
			return nil, err
		})
	}
	switch {
	case err != nil:
		return engine.Change{}, err
	case first != nil:
		c := first.Commit
		return engine.Change{Commit: &c, Head: c, Nodes: first.Receipt.Nodes, Edges: first.Receipt.Edges}, nil
	}
	return engine.Change{Commit: made, Head: head, Nodes: w.Nodes, Edges: w.Edges}, nil
}

// Load reads NDJSON from r and applies it as one commit. If the schema changes meanwhile, it
// fails with a *engine.SchemaMismatch. A call with an idempotency key that was used before, and
// with the same input, returns the result of the first call.
func (g *Graph) Load(ctx context.Context, r io.Reader, opts engine.LoadOptions) (_ *engine.LoadResult, err error) {
	defer damage.Catch(damage.Watch(), &err)
	if err := g.enter(ctx); err != nil {
		return nil, err
	}
	defer g.calls.leave()
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
	in, err := load.Parse(ctx, r, schema, load.Options{IDs: g.ids.run, Progress: opts.Progress, Embeds: g.opts.Embedder != nil})
	if err != nil {
		return nil, err
	}
	if call.receipt != nil {
		digest.Sum(call.receipt.Body[:0])
	}
	var first *receipted
	if in.LeftOut() > 0 {
		if first, err = g.answered(ctx, b, call); err == nil && first == nil {
			err = g.embed(ctx, in)
		}
		if err != nil {
			return nil, err
		}
	}
	var nodes, edges []engine.TypeCount
	var made *engine.Commit
	var head engine.Commit
	build := func(tx *version.Txn) ([]version.Part, error) {
		if tx.Schema() != schema {
			return nil, &engine.SchemaMismatch{Detail: "the schema changed while the input was read; load it again"}
		}
		var store load.Store
		if !opts.DryRun {
			store = func(t *version.Type, s *version.Segment) (*version.Segment, error) {
				return g.segments.writeRows(ctx, t, s)
			}
		}
		parts, err := load.Apply(ctx, tx, in, opts.Mode, g.opts.InlineBytes, store)
		if nodes, edges = in.Counts(); call.receipt != nil {
			call.receipt.NodeIns, call.receipt.EdgeIns = nodes, edges
		}
		return parts, err
	}
	if first == nil {
		first, made, head, err = g.write(ctx, b, call, build)
	}
	switch {
	case err != nil:
		return nil, err
	case first != nil:
		c := first.Commit
		return &engine.LoadResult{Commit: &c, Head: c, Nodes: first.Receipt.NodeIns, Edges: first.Receipt.EdgeIns}, nil
	}
	return &engine.LoadResult{Commit: made, Head: head, Nodes: nodes, Edges: edges}, nil
}

// embed computes the vectors that the input leaves out.
func (g *Graph) embed(ctx context.Context, in *load.Input) error {
	return in.Embed(ctx, func(ctx context.Context, t *version.Type, prop int, line int64, texts []string) ([][]float32, error) {
		p := t.Props[prop]
		vectors, err := exec.EmbedTexts(ctx, g.opts.Embedder, p, texts)
		if err != nil {
			return nil, &exec.EmbedError{Type: t.Name, Property: p.Name, Line: line, Err: err}
		}
		return vectors, nil
	})
}

// write holds the parameters of a commit, apart from its transaction.
type write struct {
	actor    string
	ifCommit string
	dryRun   bool
	receipt  *version.Receipt  // nil without an idempotency key
	from     *branch           // for a merge, the source branch
	source   *version.Snapshot // for a merge, the state of from
	staged   func()            // if set, called once stage has returned or panicked
}

func newWrite(opts engine.WriteOptions) *write {
	return &write{actor: opts.Actor, ifCommit: opts.IfCommit, dryRun: opts.DryRun, receipt: newReceipt(opts.IdempotencyKey)}
}

// write runs build on a transaction and commits the result. It makes no commit if build changes
// nothing or in a dry run. It returns once head is durable. If the idempotency key was used
// before, write makes no commit either, and first is the receipt of the earlier call.
func (g *Graph) write(ctx context.Context, b *branch, w *write, build func(*version.Txn) ([]version.Part, error)) (first *receipted, made *engine.Commit, head engine.Commit, err error) {
	var c *commit
	var s *staged
	func() {
		if w.staged != nil {
			defer w.staged() // also if build panics
		}
		first, c, s, err = g.stage(ctx, b, w, build)
	}()
	switch {
	case err != nil:
		return nil, nil, engine.Commit{}, err
	case first != nil:
		return first, nil, engine.Commit{}, first.settled(ctx)
	case s == nil:
		return nil, nil, c.snap.Commit, c.settled(ctx)
	}
	if err := g.complete(b, c, s); err != nil {
		return nil, nil, engine.Commit{}, err
	}
	commit := c.snap.Commit
	return nil, &commit, commit, nil
}

// receipted is a receipt and the commit that holds it, which may be in flight.
type receipted struct {
	version.Receipted
	branch *branch
	lsn    uint64 // 0 if recovery restored the commit
}

// settled waits until the commit of the receipt is durable.
func (r *receipted) settled(ctx context.Context) error { return r.branch.settled(ctx, r.lsn) }

// repeated returns the receipt of the earlier call with the idempotency key of w, or nil if
// there is none. The error is a *engine.Conflict if that call had another body. REQUIRES: the
// caller holds the write lock of b.
func (g *Graph) repeated(b *branch, w *write) (*receipted, error) {
	if w.receipt == nil || w.dryRun {
		return nil, nil
	}
	r, ok, err := b.keys.repeated(&g.history, w.actor, w.receipt, g.time())
	if !ok || err != nil {
		return nil, err
	}
	_, lsn, _ := g.history.Get(r.Commit.ID)
	return &receipted{r, b, lsn}, nil
}

// answered returns the receipt of the earlier call with the idempotency key of w, or nil,
// before w takes the write lock itself. It waits until the receipt's commit is durable. The
// errors include those of repeated.
func (g *Graph) answered(ctx context.Context, b *branch, w *write) (*receipted, error) {
	if w.receipt == nil || w.dryRun {
		return nil, nil
	}
	if err := b.lock(ctx); err != nil {
		return nil, err
	}
	first, err := g.repeated(b, w)
	b.unlock()
	if first == nil || err != nil {
		return nil, err
	}
	return first, first.settled(ctx)
}
