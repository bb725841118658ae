package embedded

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/corruption"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/mutate"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/load"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/logrecord"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/receipts"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/rights"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/segment"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// Mutate runs a mutation as one commit. It makes no commit if the mutation changes nothing. A
// call with an idempotency key that was used before returns the result of the first call.
func (g *Graph) Mutate(ctx context.Context, q *plan.Query, args engine.Args, opts engine.WriteOptions) (_ engine.Change, err error) {
	defer corruption.Catch(corruption.Watch(), &err)
	if err := g.enter(ctx); err != nil {
		return engine.Change{}, err
	}
	defer g.calls.Leave()
	if err := rights.CheckPlan(q, opts.Reads); err != nil {
		return engine.Change{}, err
	}
	if args, err = ir.CheckArgs(q.Params, args); err != nil {
		return engine.Change{}, err
	}
	call, err := newWrite(opts)
	if err != nil {
		return engine.Change{}, err
	}
	call.deletes = q.Mutation != nil && onlyDeletes(q.Mutation.Statements)
	if call.receipt != nil {
		call.receipt.Body = receipts.OfMutation(q, args)
		if call.former = call.receipt.Body; opts.Statement != "" {
			call.receipt.Body = receipts.OfStatement(opts.Statement, q, args)
		}
	}
	b, err := g.branches.findToWrite(opts.Branch, opts.IdempotencyKey)
	if err != nil {
		return engine.Change{}, err
	}
	if err := g.prepare(ctx, b, &opts); err != nil {
		return engine.Change{}, err
	}
	expected := b.head.Load().snap.Schema
	var first *receiptOfCommit
	if g.opts.Embedder != nil {
		// Computing vectors costs time and money, so look for a receipt first.
		first, err = g.writer.earlierReceipt(ctx, b, call)
	}
	w := mutate.Write{Args: args, Now: g.opts.now(), NewID: g.ids.Next, Origins: &g.history, Memory: max(0, g.opts.QueryMemory), Shared: g.opts.SharedMemory, Visits: g.opts.visits}
	if err == nil && first == nil {
		w.Vectors, err = mutate.EmbedFor(ctx, g.opts.Embedder, q, expected, args)
	}
	if err != nil {
		return engine.Change{}, err
	}
	var made *engine.Commit
	var head engine.Commit
	if first == nil {
		first, made, head, err = g.writer.write(ctx, b, call, func(tx *version.Txn) ([]version.Part, error) {
			if opts.Schema != "" && opts.Schema != tx.Schema().Digest {
				return nil, otherSchema(tx.Schema().Digest)
			}
			if err := cmp.Or(mutate.Bind(q, tx.Schema()), rights.CheckOrigins(q, opts.Reads, tx.Schema())); err != nil {
				return nil, err
			}
			if w.Vectors != nil && tx.Schema() != expected {
				return nil, &engine.SchemaMismatch{Detail: "the schema changed while the embedding provider computed vectors; try again"}
			}
			c, err := g.confine(ctx, tx, &opts)
			if err != nil {
				return nil, err
			}
			w.Tx = c.on
			if err = w.Run(ctx, q); err == nil {
				err = c.finish(ctx)
			}
			if call.receipt != nil {
				call.receipt.Nodes, call.receipt.Edges, call.receipt.Row = w.Nodes, w.Edges, w.Row
				packEffects(call.receipt, &w.Effects)
			}
			if err == nil && opts.DryRun {
				err = showChanges(ctx, version.Compare(c.on.Base(), c.on.View()), &w.Effects)
			}
			return nil, err
		})
	}
	switch {
	case err != nil:
		return engine.Change{}, err
	case first != nil:
		c := first.Commit
		return engine.Change{Commit: &c, Head: c, Nodes: first.Receipt.Nodes, Edges: first.Receipt.Edges, Row: first.Receipt.Row, Effects: unpackEffects(&first.Receipt)}, nil
	}
	return engine.Change{Commit: made, Head: head, Nodes: w.Nodes, Edges: w.Edges, Row: w.Row, Effects: &w.Effects}, nil
}

// partLoadBytes is the number of bytes of rows that a load may have if the caller may read a part of the graph only: they stay in memory.
const partLoadBytes = 64 << 20

// confined is a write with rights to a part of the graph. Its statements run on a transaction on the part that the caller may read; then the
// same changes are made in the whole graph, whose rules they must keep.
type confined struct {
	graph *Graph
	opts  *engine.WriteOptions
	tx    *version.Txn // on the whole state
	on    *version.Txn // on the part; tx if the caller may read everything
	seen  *rights.Part // the part; nil if the caller may read everything
}

// prepare makes the parts of the head of a branch that a write needs, so that the write lock is held only while they follow the
// latest commits.
func (g *Graph) prepare(ctx context.Context, b *branch, opts *engine.WriteOptions) error {
	for _, r := range []*engine.Rights{opts.Reads, opts.Writes} {
		if r != nil {
			if _, err := g.allowed(ctx, b.head.Load().snap, r); err != nil {
				return err
			}
		}
	}
	return nil
}

// confine begins a write. REQUIRES: the caller holds the write lock of the branch.
func (g *Graph) confine(ctx context.Context, tx *version.Txn, opts *engine.WriteOptions) (*confined, error) {
	c := &confined{graph: g, opts: opts, tx: tx, on: tx}
	if opts.Reads == nil {
		return c, nil
	}
	var err error
	if c.seen, err = g.allowed(ctx, tx.Base(), opts.Reads); err != nil {
		return nil, err
	}
	c.on = version.Begin(c.seen.Snapshot)
	c.on.Number(tx.NewStamp().Made)
	c.on.Defer()
	return c, nil
}

// finish makes the changes in the whole graph, and checks its rules and the rights to change it.
func (c *confined) finish(ctx context.Context) error {
	if c.seen != nil {
		if err := c.tx.Follow(c.on, c.seen.Excerpt, func(t *schema.Type) map[int]bool { return rights.Hidden(c.opts.Reads, t) }, func(edge *schema.Type) bool { return !rights.Restricts(c.opts.Writes, edge) }); err != nil {
			return err
		}
		if err := rights.CheckTimes(c.tx, c.opts.Reads); err != nil {
			return err
		}
		if err := rights.Withheld(c.tx.Check()); err != nil {
			return err
		}
	}
	if c.opts.Writes == nil {
		return nil
	}
	states, err := c.graph.statesOf(ctx, c.tx.Base())
	if err != nil {
		return err
	}
	return c.graph.parts.CheckWrite(ctx, states, c.tx, c.opts.Writes)
}

// showChanges sets the changes that a dry run shows: the first ones of the difference that it would make.
func showChanges(ctx context.Context, d *version.Difference, e *engine.WriteEffects) (err error) {
	e.Changes, e.More, err = d.Page(ctx, &engine.ChangeRange{Images: true, Limit: engine.MaxShownChanges, MaxBytes: engine.MaxShownBytes})
	return err
}

// Load reads NDJSON from r and applies it as one commit. If the schema changes meanwhile, it
// fails with a *engine.SchemaMismatch. A call with an idempotency key that was used before, and
// with the same input, returns the result of the first call.
func (g *Graph) Load(ctx context.Context, r io.Reader, opts engine.LoadOptions) (*engine.LoadResult, error) {
	if err := g.enter(ctx); err != nil {
		return nil, err
	}
	defer g.calls.Leave()
	scratch := &scratchFiles{ctx: ctx, store: g.store}
	res, err := g.load(ctx, r, opts, scratch)
	scratch.free()
	return res, err
}

// repeatedLoad returns the result of the first call if a load that fits the present schema no longer repeats one that was made
// before the schema changed, and `bad` otherwise. It reads the rest of r, which writes what it reads to the digest.
func (g *Graph) repeatedLoad(ctx context.Context, b *branch, call *write, r io.Reader, digest hash.Hash, bad error) (*engine.LoadResult, error) {
	if call.receipt == nil {
		return nil, bad
	}
	if _, err := io.Copy(io.Discard, r); err != nil {
		return nil, fmt.Errorf("reading the input: %w", err)
	}
	digest.Sum(call.receipt.Body[:0])
	first, err := g.writer.earlierReceipt(ctx, b, call)
	switch {
	case err != nil:
		return nil, err
	case first == nil:
		return nil, bad
	}
	return first.load(), nil
}

// load does the work of Load. When it returns, nothing refers to the files of `scratch` any more.
func (g *Graph) load(ctx context.Context, r io.Reader, opts engine.LoadOptions, scratch *scratchFiles) (_ *engine.LoadResult, err error) {
	defer corruption.Catch(corruption.Watch(), &err)
	b, err := g.branches.findToWrite(opts.Branch, opts.IdempotencyKey)
	if err != nil {
		return nil, err
	}
	if err := g.prepare(ctx, b, &opts.WriteOptions); err != nil {
		return nil, err
	}
	if opts.Reads != nil && (opts.Mode == engine.Overwrite || opts.Changes != nil) {
		return nil, &engine.NotAllowed{Reason: "overwriting types and following a source need the right to read the whole graph"}
	}
	base := b.head.Load().snap
	expected := base.Schema
	call, err := newWrite(opts.WriteOptions)
	if err != nil {
		return nil, err
	}
	call.changes, call.origin = opts.Changes, opts.Sync.Source
	if opts.Changes != nil && call.origin == "" {
		call.origin = opts.Changes.DefaultClaim()
	}
	digest := receipts.OfLoad(&opts)
	if call.receipt != nil {
		r = io.TeeReader(r, digest)
	}
	if err := opts.Check(expected.Catalog); err != nil {
		return g.repeatedLoad(ctx, b, call, r, digest, err)
	}
	if opts.Reads != nil {
		part, err := g.allowed(ctx, base, opts.Reads)
		if err != nil {
			return nil, err
		}
		base = part.Snapshot
	}
	if err := opts.CheckChanges(); err != nil {
		return nil, err
	}
	memory := g.opts.loadMemory
	if opts.Reads != nil {
		memory = max(memory, partLoadBytes) // see confine
	}
	in, err := load.Parse(ctx, r, expected, load.Options{
		IDs: g.ids.Run, Progress: opts.Progress, Embeds: g.opts.Embedder != nil,
		Mode: opts.Mode, NewEdges: opts.NewEdges, LastWins: opts.LastWins, Sync: opts.Sync, Claims: opts.Claims, Changes: opts.Changes != nil, Base: base,
		Hidden:  rights.Hides(expected, opts.Reads),
		Scratch: scratch.create, Memory: memory, Segment: g.opts.loadSegment,
	})
	var first *receiptOfCommit
	var bad *engine.LoadErrors
	switch {
	case errors.As(err, &bad):
		return g.repeatedLoad(ctx, b, call, r, digest, bad)
	case err != nil:
		return nil, err
	case call.receipt != nil:
		digest.Sum(call.receipt.Body[:0])
	}
	if in.LeftOut() > 0 {
		if first, err = g.writer.earlierReceipt(ctx, b, call); err == nil && first == nil {
			err = g.embed(ctx, in)
		}
		if err != nil {
			return nil, err
		}
	}
	res := &engine.LoadResult{Effects: &engine.WriteEffects{}}
	if c := opts.Changes; c != nil {
		if c.Position == "" && !in.Empty() {
			return nil, &engine.BadArgument{Detail: "the load has lines, but no new position of the source"}
		}
		call.receipt = logrecord.NewPosition(c.Source, c.Position)
	}
	build := func(tx *version.Txn) ([]version.Part, error) {
		if c := opts.Changes; c != nil {
			if res.Position = c.Position; c.Position == "" || opts.DryRun {
				res.Position = b.keys.Position(c.Source)
			}
		}
		if tx.Schema() != expected {
			return nil, &engine.SchemaMismatch{Detail: "the schema changed while the load read its input; load it again"}
		}
		var store load.Store
		if !opts.DryRun || in.Spilled() {
			store = func(t *schema.Type, d *segment.Draft) (*segment.Segment, error) {
				return g.files.writeDraft(ctx, t, d)
			}
		}
		c, err := g.confine(ctx, tx, &opts.WriteOptions)
		if err != nil {
			return nil, err
		}
		inline := g.opts.InlineBytes
		if c.on != tx {
			if in.Spilled() {
				return nil, &engine.TooLarge{Resource: "bytes of one load with rights to a part of the graph", Limit: memory, Actual: memory + 1, Hint: "split the load"}
			}
			inline, store = math.MaxInt, nil // all rows go through the log
		}
		if store != nil {
			tx.KeepIndexes(g.files.indexFiles(ctx, &g.opts, scratch, nil))
			tx.KeepLate(g.opts.lateBytes, func(ops []byte) (string, error) {
				id, err := g.files.writeOps(ctx, ops)
				return segmentName(id), err
			})
		}
		parts, err := load.Apply(ctx, c.on, in, inline, store)
		if err == nil {
			err = c.finish(ctx)
		}
		if err != nil {
			return parts, err
		}
		d := version.Compare(c.on.Base(), c.on.View())
		totals, err := d.Counts(ctx)
		if err != nil {
			return parts, err
		}
		res.Nodes, res.Edges = in.Counts()
		res.Sync = in.Sync()
		if res.Effects.Nodes, res.Effects.Edges = totals.Nodes, totals.Edges; call.receipt != nil && opts.Changes == nil {
			packLoad(call.receipt, res)
		}
		if opts.DryRun {
			err = showChanges(ctx, d, res.Effects)
		}
		return parts, err
	}
	if first == nil {
		first, res.Commit, res.Head, err = g.writer.write(ctx, b, call, build)
	}
	switch {
	case err != nil:
		return nil, err
	case first != nil:
		return first.load(), nil
	}
	return res, nil
}

// embed computes the vectors that are missing in the input.
func (g *Graph) embed(ctx context.Context, in *load.Input) error {
	return in.Embed(ctx, func(ctx context.Context, t *schema.Type, prop int, line int64, texts []string) ([][]float32, error) {
		p := t.Props[prop]
		vectors, err := eval.EmbedTexts(ctx, g.opts.Embedder, p, texts)
		if err != nil {
			return nil, &eval.EmbedError{Type: t.Name, Property: p.Name, Line: line, Err: err}
		}
		return vectors, nil
	})
}

// The receipts of mutations and loads keep the effects in the two lists of numbers by type, which begin with an entry
// for each kind of change. In the receipt of a mutation, more entries follow for the nodes: one with the number of
// replaced nodes, and one for each of the first ones with its type and id. In that of a load, the numbers
// of entities in the input follow, by type; that of a sync ends with its numbers. A receipt without the entries for the kinds of change is from a program that
// did not store effects.

// replacedName is the name of the entry with the number of replaced nodes.
const replacedName = "replaced"

// packEffects stores the effects of a mutation in its receipt.
func packEffects(r *logrecord.Receipt, e *engine.WriteEffects) {
	r.NodeIns, r.EdgeIns = packCounts(&e.Nodes), packCounts(&e.Edges)
	if e.Replaced > 0 {
		r.NodeIns = append(r.NodeIns, engine.TypeCount{Type: replacedName, Count: e.Replaced})
	}
	for _, at := range e.ReplacedFirst {
		r.NodeIns = append(r.NodeIns, engine.TypeCount{Type: at.Entity + "/" + at.Type + "/" + at.ID})
	}
}

// packCounts returns the entries for the kinds of change.
func packCounts(c *engine.ChangeCounts) []engine.TypeCount {
	return []engine.TypeCount{{Type: engine.Inserted.String(), Count: c.Inserted}, {Type: engine.Updated.String(), Count: c.Updated}, {Type: engine.Deleted.String(), Count: c.Deleted}}
}

// unpackCounts returns the numbers by kind of change with which a list of a receipt begins, and the entries after them.
// If the list has no such numbers, `ok` is false.
func unpackCounts(list []engine.TypeCount) (c engine.ChangeCounts, rest []engine.TypeCount, ok bool) {
	if len(list) < 3 || list[0].Type != engine.Inserted.String() {
		return c, list, false
	}
	return engine.ChangeCounts{Inserted: list[0].Count, Updated: list[1].Count, Deleted: list[2].Count}, list[3:], true
}

// packLoad stores the result of a load in its receipt.
func packLoad(r *logrecord.Receipt, res *engine.LoadResult) {
	r.NodeIns, r.EdgeIns = append(packCounts(&res.Effects.Nodes), res.Nodes...), append(packCounts(&res.Effects.Edges), res.Edges...)
	if s := res.Sync; s != nil {
		for i, n := range syncNumbers(s) {
			r.EdgeIns = append(r.EdgeIns, engine.TypeCount{Type: syncNames[i], Count: *n})
		}
		for _, at := range s.KeptFirst {
			r.EdgeIns = append(r.EdgeIns, engine.TypeCount{Type: keptName + at.Type + "/" + at.ID})
		}
	}
}

// syncNames are the names of the entries with the numbers of a sync, in the order of syncNumbers. No type has such a name.
var syncNames = []string{"sync/overwritten", "sync/released", "sync/deleted", "sync/cascaded", "sync/kept"}

// keptName is the beginning of the names of the entries with the first nodes that a sync kept.
const keptName = "sync/node/"

// syncNumbers lists the numbers of a sync.
func syncNumbers(s *engine.SyncResult) []*int64 {
	return []*int64{&s.Overwritten, &s.Released, &s.Deleted, &s.Cascaded, &s.Kept}
}

// unpackSync takes the entries of a sync off the end of a list, and returns the result of the sync, or nil if there was none.
func unpackSync(list []engine.TypeCount) (s *engine.SyncResult, rest []engine.TypeCount) {
	at := slices.IndexFunc(list, func(c engine.TypeCount) bool { return c.Type == syncNames[0] })
	if at < 0 || len(list) < at+len(syncNames) {
		return nil, list
	}
	s = &engine.SyncResult{}
	for i, n := range syncNumbers(s) {
		*n = list[at+i].Count
	}
	for _, c := range list[at+len(syncNames):] {
		typ, id, _ := strings.Cut(strings.TrimPrefix(c.Type, keptName), "/")
		s.KeptFirst = append(s.KeptFirst, engine.ChangePosition{Entity: plan.Node.String(), Type: typ, ID: id})
	}
	return s, list[:at:at]
}

// load returns the result of the load that made the commit.
func (r *receiptOfCommit) load() *engine.LoadResult {
	res := &engine.LoadResult{Commit: &r.Commit, Head: r.Commit}
	e, ok := &engine.WriteEffects{}, false
	e.Nodes, res.Nodes, ok = unpackCounts(r.Receipt.NodeIns)
	e.Edges, res.Edges, _ = unpackCounts(r.Receipt.EdgeIns)
	res.Sync, res.Edges = unpackSync(res.Edges)
	if ok {
		res.Effects = e
	}
	return res
}

// unpackEffects returns the effects of a mutation from its receipt, or nil if the receipt has none.
func unpackEffects(r *logrecord.Receipt) *engine.WriteEffects {
	nodes, replaced, ok := unpackCounts(r.NodeIns)
	if !ok {
		return nil
	}
	edges, _, _ := unpackCounts(r.EdgeIns)
	e := &engine.WriteEffects{Nodes: nodes, Edges: edges}
	for _, c := range replaced {
		if parts := strings.SplitN(c.Type, "/", 3); len(parts) == 3 {
			e.ReplacedFirst = append(e.ReplacedFirst, engine.ChangePosition{Entity: parts[0], Type: parts[1], ID: parts[2]})
		} else {
			e.Replaced = c.Count
		}
	}
	return e
}
