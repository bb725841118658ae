package load

import (
	"cmp"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/parallel"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/segment"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// putSegments puts an input into the transaction as segments.
func (a *applier) putSegments() ([]version.Part, error) {
	var parts []version.Part
	var err error
	a.bulk = true
	put := func(r *Rows) {
		a.refuseExisting(r)
		if err != nil || len(a.bad.Lines) > 0 && r.Type.Entity == plan.Node {
			return
		}
		var made []version.Part
		made, err = a.putType(r)
		parts = append(append(parts, a.references...), made...)
		a.references = nil
		if err == nil && len(a.bad.Lines) == 0 {
			err = a.tx.PutSegments(made)
		}
		released := 0
		for _, b := range r.batches {
			if b.file != nil {
				released += b.bytes()
			}
			b.close()
		}
		a.collect(int64(released))
		err = cmp.Or(err, a.ctx.Err())
	}
	a.each(plan.Node, put)
	if err = cmp.Or(err, a.err()); err != nil {
		return parts, err
	}
	a.each(plan.Edge, put)
	return parts, cmp.Or(err, a.err())
}

// togetherFrom is the least number of segments of a type for which two segments are made at a time.
const togetherFrom = 4

// putType makes the segments of a type. It records edges with a missing end node as faults. Once
// there are faults, it makes no more segments.
func (a *applier) putType(r *Rows) (parts []version.Part, err error) {
	var lost missing
	together := 1
	if len(r.chunks) >= togetherFrom {
		together = min(2, parallel.Processors())
	}
	for first := 0; first < len(r.chunks); first += together {
		chunks := r.chunks[first:min(first+together, len(r.chunks))]
		drafts := make([]*segment.Draft, len(chunks))
		for k := range chunks {
			if drafts[k], err = a.draft(r, &chunks[k], &lost, together > 1); err != nil {
				return parts, err
			}
		}
		if len(a.bad.Lines)+len(lost.from)+len(lost.to)+len(lost.moved) > 0 {
			continue
		}
		errs := make([]error, len(chunks))
		tasks := make([]func(), len(chunks))
		for k := range chunks {
			tasks[k] = func() { chunks[k].made, errs[k] = a.make(r.Type, drafts[k]) }
		}
		parallel.Do(tasks...)
		for k := range chunks {
			c := &chunks[k]
			if err = cmp.Or(err, errs[k]); c.made == nil {
				continue
			}
			p := version.Part{Type: r.Type, Segment: c.made, Last: c.last}
			if a.mode == engine.Overwrite && first+k == 0 {
				p.Replace, p.Reset = true, a.free(r.Type)
			}
			parts = append(parts, p)
			a.collect(c.size)
		}
		if err = cmp.Or(err, a.ctx.Err()); err != nil {
			return parts, err
		}
	}
	a.failMissing(r, &lost)
	return parts, nil
}

// make makes a segment. It stores the segment if there is a store.
func (a *applier) make(t *schema.Type, d *segment.Draft) (*segment.Segment, error) {
	if a.store == nil {
		return d.Segment(t)
	}
	return a.store(t, d)
}

// draft returns a segment of the rows in a chunk. It adds the edges with a missing end node to
// `lost`. If `together` is true, the segment is made at the same time as another one; draft then
// makes the new ids itself, so that they keep their order.
func (a *applier) draft(r *Rows, c *chunk, lost *missing, together bool) (*segment.Draft, error) {
	for _, b := range r.batchesOf(c) {
		b.open()
	}
	d := r.draft(c, !together && c == &r.chunks[len(r.chunks)-1])
	text := a.claimsOf(r, c)
	d.Claims = a.segmentClaims(c, text)
	if r.Type.Entity == plan.Edge {
		var err error
		if d.Src, d.Dst, err = a.ends(r, c, lost); cmp.Or(err, a.ctx.Err()) != nil {
			return nil, cmp.Or(err, a.ctx.Err())
		}
	}
	if d.Stamps = a.stamps(r, c, d, lost); a.ctx.Err() != nil {
		return nil, a.ctx.Err()
	}
	if together && r.newID != nil {
		ids, err := d.ID()
		if err != nil {
			return nil, err
		}
		d.ID = func() (*column.Column, error) { return ids, nil }
	}
	return d, nil
}

// draft returns a segment of the rows in a chunk. As soon as a column of the segment is made, draft
// releases the column of the rows, if no other chunk needs it. The argument `last` says that all
// other chunks have been made.
func (r *Rows) draft(c *chunk, last bool) *segment.Draft {
	batches := r.batchesOf(c)
	concat := func(of func(b *batch) **column.Builder) (*column.Column, error) {
		parts := make([]*column.Builder, len(batches))
		for i, b := range batches {
			x := of(b)
			parts[i] = *x
			if last || c.perm == nil {
				*x = nil
			}
		}
		return column.Concat(parts, c.perm)
	}
	noteLast := func(ids *column.Column, err error) (*column.Column, error) {
		if err == nil {
			c.last = strings.Clone(ids.Str(uint32(c.n - 1)))
		}
		return ids, err
	}
	d := &segment.Draft{N: uint32(c.n), Prop: func(p int) (*column.Column, error) {
		made, err := concat(func(b *batch) **column.Builder { return &b.props[p] })
		if p == r.Type.IDProp {
			return noteLast(made, err)
		}
		return made, err
	}}
	switch {
	case r.Type.IDProp >= 0:
	case r.newID != nil:
		d.ID = func() (*column.Column, error) { return noteLast(makeIDs(r.newID, c.n)) }
	default:
		d.ID = func() (*column.Column, error) {
			return noteLast(concat(func(b *batch) **column.Builder { return &b.ids }))
		}
	}
	return d
}

// makeIDs returns a column of n new ids.
func makeIDs(next func(dst []byte) []byte, n int) (*column.Column, error) {
	ids := column.NewBuilder(value.Of(value.String))
	ids.Grow(n, n*madeIDLen)
	var buf []byte
	for range n {
		buf = next(buf[:0])
		if err := ids.AppendString(view(buf)); err != nil {
			return nil, err
		}
	}
	return ids.Finish(nil), nil
}
