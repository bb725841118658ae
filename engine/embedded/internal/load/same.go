package load

import (
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/parallel"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// dropSame takes the rows of a large merge or patch that leave their entity as it is out of the chunks, so that a load that
// repeats another one makes no segments of them. It returns the size of the rows that remain.
func (a *applier) dropSame() (size int, err error) {
	for _, e := range []plan.Entity{plan.Node, plan.Edge} {
		a.each(e, func(r *Rows) {
			bytes, all := r.bytes(), r.entities
			if err == nil && r.newID == nil && a.tx.Table(r.Type).Live() > 0 {
				err = a.drop(r, a.same)
			}
			size += int(int64(bytes) * r.entities / max(all, 1))
		})
	}
	return size, err
}

// same returns which rows of a chunk leave their entity as it is, by position in the chunk.
func (a *applier) same(r *Rows, c *chunk) []bool {
	table := a.tx.Table(r.Type)
	var from, to *version.Table
	if r.Type.Entity == plan.Edge {
		from, to = a.tx.Table(a.tx.Schema().Nodes[r.Type.From]), a.tx.Table(a.tx.Schema().Nodes[r.Type.To])
	}
	for _, b := range r.batchesOf(c) {
		b.open()
	}
	out := make([]bool, c.n)
	parallel.Ranges(c.n, parallel.Processors(), cancelEvery, func(_, first, end int) {
		rd := reader{Rows: r}
		for i := first; i < end; i++ {
			if i%cancelEvery == 0 && a.ctx.Err() != nil {
				return
			}
			b, k := rd.at(c.row(i))
			ord, ok := table.Lookup(view(b.idColumn().Raw(k)))
			if !ok {
				continue
			}
			text := b.claims.at(k)
			same := text == "" || text == table.Claims(ord)
			if same && from != nil {
				src, dst := table.Ends(ord)
				same = from.ID(src) == view(b.from.Raw(k)) && to.ID(dst) == view(b.to.Raw(k))
			}
			for p := 0; p < len(b.props) && same; p++ {
				same = p == r.Type.IDProp || value.Equal(b.props[p].Value(k), table.Value(ord, p))
			}
			out[i] = same
		}
	})
	return out
}

// drop takes the rows that change nothing out of the chunks; the function `same` finds them, by position in the chunk. If there is
// one, every chunk lists its rows, because a chunk without a list takes the columns of its batches away from the others.
func (a *applier) drop(r *Rows, same func(r *Rows, c *chunk) []bool) error {
	var kept []chunk
	entities, read := int64(0), int64(0)
	for k := range r.chunks {
		c := &r.chunks[k]
		perm := make([]uint32, 0, c.n)
		for i, drop := range same(r, c) {
			if !drop {
				perm = append(perm, uint32(c.row(i)))
			}
		}
		if a.ctx.Err() != nil {
			return a.ctx.Err()
		}
		read += int64(c.n)
		if len(perm) == 0 {
			continue
		}
		entities += int64(len(perm))
		made := chunk{perm: perm, n: len(perm), size: c.size * int64(len(perm)) / int64(c.n)}
		if err := a.keepPerm(r, &made); err != nil {
			return err
		}
		kept = append(kept, made)
	}
	if entities == read {
		return nil
	}
	r.unchanged += read - entities
	r.chunks, r.entities = kept, entities
	return nil
}

// keepPerm gives a chunk a list of its rows that is its own: in a temporary file, if the rows are in such files.
func (a *applier) keepPerm(r *Rows, c *chunk) (err error) {
	if !r.spilled() {
		return nil
	}
	if c.src, err = a.in.opts.Scratch(func(add func(string, []byte) error) error { return add("perm", column.Bytes(c.perm)) }); err == nil {
		c.perm = column.Read[uint32](c.src, "perm", c.n)
	}
	return err
}
