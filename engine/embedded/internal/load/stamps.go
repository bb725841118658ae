package load

import (
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/segment"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// stamps returns the origins of the rows of a chunk, of which `of` has the memberships and d the ends.
func (a *applier) stamps(r *Rows, c *chunk, of *claims, d *segment.Draft, lost *missing) segment.Stamps {
	if len(lost.from)+len(lost.to) > 0 {
		return segment.Stamps{} // an end is missing, so the load fails
	}
	if r.newID != nil || a.tx.Base().Table(r.Type.Entity, r.Type.Index).Live() == 0 {
		return segment.Stamps{Same: a.tx.NewStamp()}
	}
	var out segment.Stamps
	rd := reader{Rows: r}
	vals := make([]value.Value, len(r.Type.Props))
	for i := range c.n {
		b, k := rd.at(c.row(i))
		for p := range vals {
			vals[p] = b.props[p].Value(k)
		}
		row := version.Row{ID: view(b.idColumn().Raw(k)), Vals: vals, Claims: of.at(i)}
		if d.Src != nil {
			row.Src, row.Dst = d.Src[i], d.Dst[i]
		}
		out.Add(a.tx.StampOf(r.Type, &row))
	}
	out.Pack()
	return out
}
