package load

import (
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/segment"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// stamps returns the origins of the rows of a chunk, of which d has the ends. The caller must look at the context afterwards.
func (a *applier) stamps(r *Rows, c *chunk, d *segment.Draft, lost *missing) segment.Stamps {
	if len(lost.from)+len(lost.to) > 0 {
		return segment.Stamps{} // an end is missing, so the load fails
	}
	before := a.tx.Base().Table(r.Type.Entity, r.Type.Index)
	if r.newID != nil || before.Live() == 0 {
		return segment.Stamps{Same: a.tx.NewStamp()}
	}
	var out segment.Stamps
	rd := reader{Rows: r}
	vals := make([]value.Value, len(r.Type.Props))
	for i := range c.n {
		if i%cancelEvery == 0 && a.ctx.Err() != nil {
			break // the caller looks at the context
		}
		b, k := rd.at(c.row(i))
		id := view(b.idColumn().Raw(k))
		if _, there := before.Lookup(id); !there {
			out.Add(a.tx.NewStamp())
			continue
		}
		for p := range vals {
			vals[p] = b.props[p].Value(k)
		}
		row := version.Row{ID: id, Vals: vals}
		if d.Src != nil {
			row.Src, row.Dst = d.Src[i], d.Dst[i]
		}
		out.Add(a.tx.StampOf(r.Type, &row))
	}
	out.Pack()
	return out
}
