package load

import (
	"bytes"
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
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// Store makes a segment durable, and returns the segment for later reads. The returned
// segment need not be in memory.
type Store func(t *version.Type, s *version.Segment) (*version.Segment, error)

// Apply puts an input into a transaction, and empties the input. If the rows take at most
// inline bytes, Apply puts them row by row, as in any other commit, so that they are in its
// log record. Otherwise it makes segments and calls store for one after the other, and
// returns the parts in the order in which it put them. It returns the parts made so far
// even with an error, so that the caller can remove them. If store is nil, the segments
// stay in memory. The error is a *engine.LoadErrors, a *engine.ConstraintViolation that no
// line causes, the error of store, or the context's.
func Apply(ctx context.Context, tx *version.Txn, in *Input, mode engine.LoadMode, inline int, store Store) ([]version.Part, error) {
	a := &applier{ctx: ctx, tx: tx, in: in, mode: mode, store: store, perms: map[*Rows][]uint32{}, bad: &engine.LoadErrors{}}
	size := 0
	for _, list := range [][]*Rows{in.Nodes, in.Edges} {
		for _, r := range list {
			if r != nil {
				size += r.bytes()
				a.order(r)
				if err := ctx.Err(); err != nil {
					return nil, err
				}
			}
		}
	}
	if err := a.err(); err != nil {
		return nil, err
	}
	var parts []version.Part
	var err error
	if size <= inline {
		err = a.putRows()
	} else {
		parts, err = a.putSegments()
	}
	if err != nil {
		return parts, err
	}
	if mode == engine.Overwrite {
		if err := a.orphans(); err != nil {
			return parts, err
		}
	}
	for _, v := range tx.Violations(maxErrors) {
		line, ok := a.lineOf(v)
		if !ok {
			return parts, v.Err
		}
		a.fail(line, v.Err.Property, v.Err)
	}
	return parts, a.err()
}

// Counts returns the number of entities of each type in the input. Call it after Apply.
func (in *Input) Counts() (nodes, edges []engine.TypeCount) {
	for _, r := range in.Nodes {
		if r != nil {
			nodes = append(nodes, engine.TypeCount{Type: r.Type.Name, Count: r.entities})
		}
	}
	for _, r := range in.Edges {
		if r != nil {
			edges = append(edges, engine.TypeCount{Type: r.Type.Name, Count: r.entities})
		}
	}
	return nodes, edges
}

// applier applies the parsed input to a transaction.
type applier struct {
	ctx        context.Context
	tx         *version.Txn
	in         *Input
	mode       engine.LoadMode
	store      Store
	freedBytes int // bytes of memory released since the last collection
	// perms holds the effective rows in id order; nil if these are all rows, in the order
	// of the input.
	perms map[*Rows][]uint32
	bad   *engine.LoadErrors // the faults found so far
}

// fail records a fault in a line; it keeps at most maxErrors.
func (a *applier) fail(line uint32, field string, err error) {
	if len(a.bad.Lines) == maxErrors {
		a.bad.More = true
		return
	}
	a.bad.Lines = append(a.bad.Lines, engine.LineError{Line: int64(line), Field: field, Err: err})
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

// order sorts rows by id and reports duplicate ids as faults. For an edge in merge mode it
// keeps the last row of a duplicate id instead.
func (a *applier) order(r *Rows) {
	perm := r.sorted()
	r.entities = int64(r.Len())
	if perm == nil {
		return
	}
	rd := reader{Rows: r}
	out := perm[:0]
	for _, row := range perm {
		if n := len(out); n > 0 && bytes.Equal(rd.raw(int(row)), rd.raw(int(out[n-1]))) {
			if r.Type.Entity == plan.Edge && a.mode == engine.Merge {
				out[n-1] = row
				continue
			}
			a.fail(rd.line(int(row)), "", &engine.KeyConflict{Entity: r.Type.Entity.String(), Type: r.Type.Name, ID: string(rd.raw(int(row)))})
			continue
		}
		out = append(out, row)
	}
	r.entities = int64(len(out))
	a.perms[r] = out
}

// rows calls f for each effective row, with its position in id order and its row number.
func (a *applier) rows(r *Rows, f func(i int, row uint32)) {
	if perm := a.perms[r]; perm != nil {
		for i, row := range perm {
			f(i, row)
		}
		return
	}
	for i := range r.Len() {
		f(i, uint32(i))
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
	rd := reader{Rows: r}
	a.rows(r, func(_ int, row uint32) {
		if _, ok := table.Lookup(rd.id(int(row))); ok {
			a.fail(rd.line(int(row)), "", &engine.KeyConflict{Entity: r.Type.Entity.String(), Type: r.Type.Name, ID: string(rd.raw(int(row)))})
		}
	})
}

// ends returns the end nodes of the effective edges, in the edges' order. It releases the
// memory of the end ids.
func (a *applier) ends(r *Rows) (src, dst []uint32) {
	perm := a.perms[r]
	n := r.Len()
	if perm != nil {
		n = len(perm)
	}
	find := func(node int, ids func(*batch) *column.Builder, field string) []uint32 {
		nt := a.tx.Schema().Nodes[node]
		table := a.tx.Table(nt)
		out := make([]uint32, n)
		missing := make([][]uint32, runtime.GOMAXPROCS(0)) // rows, by the range that found them
		parallel.Ranges(n, len(missing), cancelEvery, func(k, from, to int) {
			rd := reader{Rows: r}
			for i := from; i < to; i++ {
				if i%cancelEvery == 0 && a.ctx.Err() != nil {
					return
				}
				row := i
				if perm != nil {
					row = int(perm[i])
				}
				b, at := rd.at(row)
				ord, ok := table.Lookup(view(ids(b).Raw(at)))
				if out[i] = ord; !ok && len(missing[k]) <= maxErrors {
					missing[k] = append(missing[k], uint32(row))
				}
			}
		})
		rd := reader{Rows: r}
		for _, rows := range missing {
			for _, row := range rows {
				b, at := rd.at(int(row))
				id := string(ids(b).Raw(at))
				detail := fmt.Sprintf("node %s %q is not in the graph or the input", nt.Name, id)
				if form := nt.IDForm(id); form != "" {
					detail += "; " + form
				}
				a.fail(b.lines[at], field, &engine.ConstraintViolation{Entity: "edge", Type: r.Type.Name, Property: field, Rule: "endpoint", Detail: detail})
			}
		}
		return out
	}
	src = find(r.Type.From, func(b *batch) *column.Builder { return b.from }, "from")
	dst = find(r.Type.To, func(b *batch) *column.Builder { return b.to }, "to")
	for _, b := range r.batches {
		b.from, b.to = nil, nil
	}
	return src, dst
}

// cancelEvery is the number of rows between two checks of the context.
const cancelEvery = 1 << 12

// putRows puts a small input row by row.
func (a *applier) putRows() error {
	var err error
	for _, e := range []plan.Entity{plan.Node, plan.Edge} {
		a.each(e, func(r *Rows) { err = cmp.Or(err, r.makeIDs()) })
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
			a.tx.Put(r.Type, version.Row{ID: string(rd.raw(int(row))), Vals: rd.values(int(row))})
		})
	})
	if err := a.err(); err != nil {
		return err
	}
	a.each(plan.Edge, func(r *Rows) {
		a.refuseExisting(r)
		src, dst := a.ends(r)
		if len(a.bad.Lines) > 0 {
			return
		}
		rd := reader{Rows: r}
		a.rows(r, func(i int, row uint32) {
			a.tx.Put(r.Type, version.Row{ID: string(rd.raw(int(row))), Src: src[i], Dst: dst[i], Vals: rd.values(int(row))})
		})
	})
	return a.err()
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

// putSegments puts an input as segments.
func (a *applier) putSegments() ([]version.Part, error) {
	var parts []version.Part
	put := func(r *Rows, src, dst []uint32) error {
		size := r.bytes()
		s, err := r.segment(a.perms[r])
		if err != nil {
			return err
		}
		s.Src, s.Dst = src, dst
		if a.store != nil {
			if s, err = a.store(r.Type, s); err != nil {
				return err
			}
		}
		r.segmentMade = s
		p := version.Part{Type: r.Type, Segment: s}
		if a.mode == engine.Overwrite {
			p.Replace, p.Reset = true, a.free(r.Type)
		}
		parts = append(parts, p)
		a.tx.PutSegment(p)
		a.collect(size)
		return a.ctx.Err()
	}
	var err error
	a.each(plan.Node, func(r *Rows) {
		a.refuseExisting(r)
		if len(a.bad.Lines) == 0 && err == nil {
			err = put(r, nil, nil)
		}
	})
	if err = cmp.Or(err, a.err()); err != nil {
		return parts, err
	}
	a.each(plan.Edge, func(r *Rows) {
		a.refuseExisting(r)
		src, dst := a.ends(r)
		if len(a.bad.Lines) == 0 && err == nil {
			err = put(r, src, dst)
		}
	})
	return parts, cmp.Or(err, a.err())
}

// collectFrom is the number of released bytes that justifies a garbage collection.
const collectFrom = 16 << 20

// collect counts released bytes and runs the garbage collector when there are enough, so
// that the memory can be reused. A load holds a few large arrays without pointers, so a
// collection is fast. Without it, the heap could grow to twice the size of the graph before
// the next collection.
func (a *applier) collect(bytes int) {
	if a.freedBytes += bytes; a.freedBytes > collectFrom {
		runtime.GC()
		a.freedBytes = 0
	}
}

// free reports whether no edge outside the input refers to the entities of a type.
func (a *applier) free(t *version.Type) bool {
	if t.Entity == plan.Edge {
		return true
	}
	for _, list := range [][]int{t.Out, t.In} {
		for _, e := range list {
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
		if a.in.Edges[t.Index] != nil || a.in.Nodes[t.From] == nil && a.in.Nodes[t.To] == nil {
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
func (a *applier) lineOf(v version.Violation) (uint32, bool) {
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
	perm, rd := a.perms[r], reader{Rows: r}
	row := func(i int) int {
		if perm != nil {
			return int(perm[i])
		}
		return i
	}
	i, ok := sort.Find(int(r.entities), func(i int) int {
		id := ""
		switch {
		case r.segmentMade == nil:
			id = rd.id(row(i))
		case r.Type.IDProp >= 0:
			id = r.segmentMade.Props[r.Type.IDProp].Str(uint32(i))
		default:
			id = r.segmentMade.ID.Str(uint32(i))
		}
		return cmp.Compare(a.tx.Table(v.Type).ID(v.Ord), id)
	})
	if !ok {
		return 0, false
	}
	return rd.line(row(i)), true
}
