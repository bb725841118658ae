package load

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"sort"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/parallel"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/segment"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// Store makes a segment durable, and returns the segment for later reads. The returned
// segment need not be in memory.
type Store func(t *schema.Type, d *segment.Draft) (*segment.Segment, error)

// Apply puts an input into a transaction, and empties the input. If the size of the rows is at most
// `inline` bytes, or if the input deletes or moves entities, Apply puts the rows one by one, as in any
// other commit, so that they are in the log record of the commit. Otherwise it makes segments, calls the
// function `store` for each of them in turn, and returns the parts in the order in which it put them. It
// returns the parts made so far even with an error, so that the caller can remove them. If `store` is nil,
// the segments stay in memory.
//
// The mode Overwrite also removes all other entities of the types in the input. The mode Sync lets go of
// what its source claimed and no line has, and deletes the entities that nobody claims any more.
//
// The error is a *engine.LoadErrors, a *engine.ConstraintViolation that is not due to a single line, the
// error of `store` or of the options' Guard, or that of the context.
func Apply(ctx context.Context, tx *version.Txn, in *Input, inline int, store Store) ([]version.Part, error) {
	a := newApplier(ctx, tx, in, store)
	if in.Spilled() {
		inMemory := in.memoryBytes()
		if err := in.spill(); err != nil {
			return nil, err
		}
		a.collect(inMemory)
	}
	if err := cmp.Or(a.change(), a.err()); err != nil {
		return nil, err
	}
	size, err := a.arrange()
	if err != nil {
		return nil, err
	}
	parts, err := a.putAll(size, inline)
	if err != nil {
		return parts, err
	}
	return parts, a.finish(parts != nil)
}

// newApplier returns an applier. If the load claims its lines for a source, the result of the input is set.
func newApplier(ctx context.Context, tx *version.Txn, in *Input, store Store) *applier {
	mode := in.opts.Mode
	a := &applier{ctx: ctx, tx: tx, in: in, mode: mode, store: store, bad: &engine.LoadErrors{}}
	if in.opts.Sync.Source != "" {
		a.sync = &syncer{opts: &in.opts.Sync, adds: mode != engine.Sync, found: map[*schema.Type]engine.Bitmap{}, claimed: map[string]int64{}, deleted: map[string]int64{}, result: &engine.SyncResult{}}
		in.synced = a.sync.result
	}
	return a
}

// arrange completes the rows of each type and puts them in the order of their ids. It returns the size of the rows in bytes. Of a load
// that claims its lines, it takes out those that change nothing. The error may be that of faults in lines.
func (a *applier) arrange() (size int, err error) {
	for _, r := range slices.Concat(a.in.Nodes, a.in.Edges) {
		if r == nil {
			continue
		}
		if err := cmp.Or(a.fill(r), a.ctx.Err()); err != nil {
			return 0, err
		}
		if err := cmp.Or(a.order(r), a.ctx.Err()); err != nil {
			return 0, err
		}
		a.askAboutClaims(r)
		bytes := r.bytes()
		if a.sync != nil {
			all := r.entities
			if err := a.drop(r, a.unchanged); err != nil {
				return 0, err
			}
			bytes = int(int64(bytes) * r.entities / max(all, 1))
		}
		size += bytes
	}
	return size, a.err()
}

// putAll puts rows of the given size in bytes: as segments, which it returns, or one by one; see Apply. Of a large merge or patch, it
// first takes out the rows that change nothing.
func (a *applier) putAll(size, inline int) (parts []version.Part, err error) {
	if size > inline && a.sync == nil && a.mode.Finds() && a.in.changes.empty() {
		if size, err = a.dropSame(); err != nil {
			return nil, err
		}
	}
	if size <= inline || !a.in.changes.empty() {
		return nil, a.putRows()
	}
	return a.putSegments()
}

// finish removes what the modes Overwrite and Sync remove after the rows, and checks the constraints. The argument `segments` says that
// the rows are in segments.
func (a *applier) finish(segments bool) error {
	if a.mode == engine.Overwrite {
		if err := a.orphans(); err != nil {
			return err
		}
	}
	if a.mode == engine.Sync {
		if segments {
			a.tx.NoteLate()
		}
		if err := a.letGo(); err != nil {
			return err
		}
	}
	for _, v := range a.tx.Violations(maxErrors) {
		line, ok := a.lineOf(v)
		if !ok {
			return v.Err
		}
		field := v.Err.Property
		if v.Err.Rule == "valid" {
			field = "data." + field
		}
		a.fail(line, field, v.Err)
	}
	return a.err()
}

// Counts returns the number of entities of each type in the input. Call it after Apply.
func (in *Input) Counts() (nodes, edges []engine.TypeCount) {
	for _, r := range in.Nodes {
		if r != nil {
			nodes = append(nodes, engine.TypeCount{Type: r.Type.Name, Count: r.entities + r.unchanged})
		}
	}
	for _, r := range in.Edges {
		if r != nil {
			edges = append(edges, engine.TypeCount{Type: r.Type.Name, Count: r.entities + r.unchanged})
		}
	}
	return nodes, edges
}

// Sync returns what the mode sync did beyond the lines, and nil for other modes. Call it after Apply.
func (in *Input) Sync() *engine.SyncResult { return in.synced }

// applier applies the parsed input to a transaction.
type applier struct {
	ctx        context.Context // ends the load when it is done
	tx         *version.Txn
	in         *Input
	mode       engine.LoadMode    // what to do with entities that exist
	sync       *syncer            // nil if the load claims nothing
	store      Store              // stores a segment; nil to keep segments in memory
	bulk       bool               // the load puts segments, not rows
	references []version.Part     // of a bulk load: the references that refer created for a type
	freedBytes int64              // bytes of memory released since the last collection
	bad        *engine.LoadErrors // the faults found so far
}

// fail records a fault in a line. At most maxErrors faults are kept.
func (a *applier) fail(line int64, field string, err error) {
	if len(a.bad.Lines) == maxErrors {
		a.bad.More = true
		return
	}
	a.bad.Lines = append(a.bad.Lines, engine.LineError{Line: line, Field: field, Err: err})
}

// err returns the faults so far in line order, or the context's error.
func (a *applier) err() error {
	if err := a.ctx.Err(); err != nil {
		return err
	}
	if len(a.bad.Lines) == 0 {
		return nil
	}
	slices.SortStableFunc(a.bad.Lines, func(x, y engine.LineError) int { return cmp.Compare(x.Line, y.Line) })
	return a.bad
}

// rows calls f for each effective row, with its position in id order and its row number.
func (a *applier) rows(r *Rows, f func(i int, row uint32)) {
	at := 0
	for k := range r.chunks {
		c := &r.chunks[k]
		for i := range c.n {
			f(at, uint32(c.row(i)))
			at++
		}
	}
}

// each calls f with the rows of each type in the input.
func (a *applier) each(e plan.Entity, f func(r *Rows)) {
	list := a.in.Nodes
	if e == plan.Edge {
		list = a.in.Edges
	}
	for _, r := range list {
		if r != nil {
			f(r)
		}
	}
}

// refuseExisting reports ids that exist already as faults, in append mode.
func (a *applier) refuseExisting(r *Rows) {
	table := a.tx.Table(r.Type)
	if a.mode != engine.Append || table.Live() == 0 || r.newID != nil {
		return
	}
	for _, b := range r.batches {
		b.openIDs()
	}
	rd := reader{Rows: r}
	a.rows(r, func(_ int, row uint32) {
		if _, ok := table.Lookup(rd.id(int(row))); ok {
			a.fail(rd.line(int(row)), "", &engine.KeyConflict{Entity: r.Type.Entity.String(), Type: r.Type.Name, ID: string(rd.raw(int(row)))})
		}
	})
}

// missing lists the rows of an edge type with wrong ends, in the order of their ids. The field `from` lists the rows whose
// source is not in the graph, `to` those whose target is not.
type missing struct {
	from, to []uint32
	moved    []uint32 // the rows of edges that exist between other nodes
}

// ends returns the end nodes of the edges in a chunk. It adds the rows with a missing end node to
// `lost`.
func (a *applier) ends(r *Rows, c *chunk, lost *missing) (src, dst []uint32, err error) {
	find := func(node int, ids func(*batch) *column.Builder, lost *[]uint32) []uint32 {
		t := a.tx.Schema().Nodes[node]
		if t.Of != nil && err == nil {
			err = a.refer(r, c, t, ids)
		}
		table := a.tx.Table(t)
		out := make([]uint32, c.n)
		missing := make([][]uint32, parallel.Processors()) // rows, by the range that found them
		parallel.Ranges(c.n, len(missing), cancelEvery, func(k, from, to int) {
			rd := reader{Rows: r}
			for i := from; i < to; i++ {
				if i%cancelEvery == 0 && a.ctx.Err() != nil {
					return
				}
				row := c.row(i)
				b, at := rd.at(row)
				ord, ok := table.Lookup(view(ids(b).Raw(at)))
				if out[i] = ord; !ok && len(missing[k]) <= maxErrors {
					missing[k] = append(missing[k], uint32(row))
				}
			}
		})
		for _, rows := range missing {
			if len(*lost) <= maxErrors {
				*lost = append(*lost, rows...)
			}
		}
		return out
	}
	src = find(r.Type.From, fromIDs, &lost.from)
	dst = find(r.Type.To, toIDs, &lost.to)
	a.findMoved(r, c, src, dst, lost)
	return src, dst, err
}

// fromIDs returns the ids of the source nodes of a batch of edges.
func fromIDs(b *batch) *column.Builder { return b.from }

// toIDs returns the ids of the target nodes of a batch of edges.
func toIDs(b *batch) *column.Builder { return b.to }

// failMissing records the missing end nodes of the edges of a type as faults.
func (a *applier) failMissing(r *Rows, lost *missing) {
	fail := func(node int, ids func(*batch) *column.Builder, field string, rows []uint32) {
		nt := a.tx.Schema().Nodes[node]
		rd := reader{Rows: r}
		for _, row := range rows {
			b, at := rd.at(int(row))
			typ, id := nt.Label(string(ids(b).Raw(at)))
			detail := fmt.Sprintf("node %s %q is not in the graph or the input", typ, id)
			if form := a.tx.Schema().Type(plan.Node, typ).IDForm(id); form != "" {
				detail += "; " + form
			}
			a.fail(b.line(at), field, &engine.ConstraintViolation{Entity: "edge", Type: r.Type.Name, Property: field, Rule: "endpoint", Detail: detail})
		}
	}
	fail(r.Type.From, fromIDs, "from", lost.from)
	fail(r.Type.To, toIDs, "to", lost.to)
	a.failMoved(r, lost.moved)
}

// cancelEvery is the number of rows between two checks of the context.
const cancelEvery = 1 << 12

// putRows puts a small input into the transaction, row by row.
func (a *applier) putRows() error {
	var err error
	for _, e := range []plan.Entity{plan.Node, plan.Edge} {
		a.each(e, func(r *Rows) {
			for _, b := range r.batches {
				b.open()
			}
			err = cmp.Or(err, r.makeIDs())
		})
	}
	if err != nil {
		return err
	}
	if a.mode == engine.Overwrite {
		a.each(plan.Edge, a.clear)
		a.each(plan.Node, a.clear)
	}
	a.each(plan.Node, func(r *Rows) {
		a.refuseExisting(r)
		rd := reader{Rows: r}
		a.rows(r, func(_ int, row uint32) {
			a.put(&rd, int(row), 0, 0)
		})
	})
	if err := a.err(); err != nil {
		return err
	}
	a.each(plan.Edge, func(r *Rows) {
		if err != nil {
			return
		}
		a.refuseExisting(r)
		var src, dst []uint32
		var lost missing
		for k := range r.chunks {
			s, d, failed := a.ends(r, &r.chunks[k], &lost)
			if err = cmp.Or(err, failed); err != nil {
				return
			}
			src, dst = append(src, s...), append(dst, d...)
		}
		if a.failMissing(r, &lost); len(a.bad.Lines) > 0 {
			return
		}
		rd := reader{Rows: r}
		a.rows(r, func(i int, row uint32) {
			a.put(&rd, int(row), src[i], dst[i])
		})
	})
	return cmp.Or(err, a.err())
}

// clear removes the entities of a type that are not in the input.
func (a *applier) clear(r *Rows) {
	table := a.tx.Table(r.Type)
	named := make(map[uint32]bool, r.Len())
	if rd := (reader{Rows: r}); r.newID == nil {
		a.rows(r, func(_ int, row uint32) {
			if ord, ok := table.Lookup(rd.id(int(row))); ok {
				named[ord] = true
			}
		})
	}
	for ord := range table.Ordinals() {
		if a.tx.Table(r.Type).Alive(ord) && !named[ord] {
			a.tx.Remove(r.Type, ord)
		}
	}
}

// collectFrom is the number of released bytes, in memory or in temporary files, that justifies a
// garbage collection.
const collectFrom = 16 << 20

// collect counts released bytes and runs the garbage collector when there are enough, so
// that the memory can be reused and the files are removed. A load holds a few large arrays without pointers, so a
// collection is fast. Without it, the heap could grow to twice the size of the graph before
// the next collection.
func (a *applier) collect(bytes int64) {
	if a.freedBytes += bytes; a.freedBytes > collectFrom {
		runtime.GC()
		a.freedBytes = 0
	}
}

// free reports whether no edge outside the input refers to the entities of a type.
func (a *applier) free(t *schema.Type) bool {
	if t.Entity == plan.Edge {
		return true
	}
	for _, end := range append([]int{t.Index}, t.Refs...) {
		of := a.tx.Schema().Nodes[end]
		for _, e := range slices.Concat(of.Out, of.In) {
			if a.in.Edges[e] == nil && a.tx.Base().Edges(e).Live() > 0 {
				return false
			}
		}
	}
	return true
}

// orphans returns an error if the load would remove a node that an edge outside the input
// needs.
func (a *applier) orphans() error {
	for _, t := range a.tx.Schema().Edges {
		from, to := a.tx.Schema().EndType(t, false), a.tx.Schema().EndType(t, true)
		if a.in.Edges[t.Index] != nil || !a.takes(from) && !a.takes(to) {
			continue
		}
		if ord, lost, ok := a.tx.Orphan(t); ok {
			return &engine.ConstraintViolation{Entity: "edge", Type: t.Name, ID: strings.Clone(a.tx.Table(t).ID(ord)), Rule: "endpoint",
				Detail: fmt.Sprintf("the load would remove node %q, an endpoint of this edge; add the node, or the edges of type %s, to the input", lost, t.Name)}
		}
	}
	return nil
}

// lineOf returns the line of the entity that breaks a rule.
func (a *applier) lineOf(v version.Violation) (int64, bool) {
	if v.Ord == version.NoOrd {
		return 0, false
	}
	list := a.in.Nodes
	if v.Type.Entity == plan.Edge {
		list = a.in.Edges
	}
	r := list[v.Type.Index]
	if r == nil {
		return 0, false
	}
	rd := reader{Rows: r}
	i, ok := sort.Find(int(r.entities), func(i int) int {
		c, at := r.find(i)
		id := ""
		switch {
		case c.made == nil:
			id = rd.id(c.row(at))
		case r.Type.IDProp >= 0:
			id = c.made.Props[r.Type.IDProp].Str(uint32(at))
		default:
			id = c.made.ID.Str(uint32(at))
		}
		return cmp.Compare(a.tx.Table(v.Type).ID(v.Ord), id)
	})
	if !ok {
		return 0, false
	}
	c, at := r.find(i)
	return rd.line(c.row(at)), true
}
