package version

import (
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// enter adds a row of an entity of type t to the indexes. The argument `made` says that the indexes do not hold the row's
// entity yet.
func (x *Indexes) enter(t *schema.Type, owner *index.Owner, ord uint32, r *Row, made bool) {
	if made {
		x.keys.Add(owner, index.String(r.ID), ord)
		if t.Entity == plan.Edge {
			x.out.Add(owner, r.Src, r.Dst, ord)
			x.in.Add(owner, r.Dst, r.Src, ord)
		}
	}
	for i, tuple := range t.Tuples {
		if h, ok := tupleHash(tuple, func(p int) value.Value { return r.Vals[p] }, r.Src, r.Dst); ok {
			x.idx[i].Add(owner, h, ord)
		}
	}
}

// remove removes a live entity of the given rows from the overlays of the indexes.
func (x *Indexes) remove(owner *index.Owner, t *Rows, ord uint32) {
	row := t.rows.Get(ord)
	if x.keys.Overlay() > 0 {
		x.keys.Remove(owner, index.String(t.idAt(row)), ord)
	}
	var src, dst uint32
	if t.Type.Entity == plan.Edge {
		src, dst = t.endsAt(row)
		x.out.Remove(owner, src, ord)
		x.in.Remove(owner, dst, ord)
	}
	for i, tuple := range t.Type.Tuples {
		if x.idx[i].Overlay() == 0 {
			continue
		}
		if h, ok := tupleHash(tuple, func(p int) value.Value { return t.ValueAt(row, p) }, src, dst); ok {
			x.idx[i].Remove(owner, h, ord)
		}
	}
}
