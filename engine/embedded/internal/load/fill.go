package load

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// markSeen notes which properties the line of the next row has.
func (b *batch) markSeen(has func(p int) bool) {
	b.mask = slices.Grow(b.mask[:0], (len(b.props)+7)/8)[:(len(b.props)+7)/8]
	clear(b.mask)
	for p := range b.props {
		if has(p) {
			b.mask[p/8] |= 1 << (p % 8)
		}
	}
	b.seen.AppendString(view(b.mask)) // which is far from the limit of a column that the ids have passed
}

// sees reports whether the line of a row has property p.
func (b *batch) sees(row, p int) bool { return b.seen.Raw(row)[p/8]&(1<<(p%8)) != 0 }

// fill gives the rows of a patch the values that their lines leave out: those of the earlier line with the same id, if
// the lines apply in order, or those that the entity has. It records lines of new entities that lack a value as faults.
func (a *applier) fill(r *Rows) error {
	f := &filler{applier: a, r: r, table: a.tx.Table(r.Type)}
	if a.in.opts.LastWins {
		f.earlier = make(map[string]uint32, r.Len())
	}
	for i, b := range r.batches {
		b.open()
		if b.seen == nil {
			return nil // the mode is another one
		}
		if err := f.fill(b, r.first[i]); err != nil {
			return err
		}
		if a.ctx.Err() != nil {
			return a.ctx.Err()
		}
	}
	return nil
}

// filler fills the rows of one type.
type filler struct {
	*applier
	r       *Rows
	table   *version.Table    // the entities before the load
	earlier map[string]uint32 // by id: the last row before; nil if a second row is a fault
}

// origin says where the values come from that a line leaves out.
type origin struct {
	row uint32 // number of an earlier row with the same id, or version.NoOrd
	ord uint32 // entity, or version.NoOrd if the row is new
}

// fill fills a batch, whose first row has the number `first`.
func (f *filler) fill(b *batch, first int) error {
	var made []*claim
	origins := make([]origin, b.rows())
	ids := b.idColumn() // nil if all rows are new
	for i := range origins {
		o := origin{version.NoOrd, version.NoOrd}
		if origins[i] = o; ids == nil {
			continue
		}
		id := view(ids.Raw(i))
		if row, ok := f.earlier[id]; ok {
			o.row = row
		} else if ord, ok := f.table.Lookup(id); ok {
			o.ord = ord
		}
		if origins[i] = o; f.earlier != nil {
			f.earlier[id] = uint32(first + i)
		}
	}
	if f.sync != nil {
		made = f.claim(b, origins)
	}
	keeps := func(i, p int) bool { return !b.sees(i, p) || made != nil && made[i].yields[p] }
	filled := false
	for p := range b.props {
		for i := range origins {
			if keeps(i, p) {
				filled = true
				if err := f.property(b, p, first, origins, made); err != nil {
					return err
				}
				break
			}
		}
	}
	if f.sync != nil {
		f.markUnchanged(b, origins, made)
	}
	if b.file == nil || !filled {
		return nil
	}
	return f.resize(b)
}

// property fills one property of a batch. In the mode sync, `made` has the claims of the rows.
func (f *filler) property(b *batch, p, first int, origins []origin, made []*claim) error {
	old, out := b.props[p], column.NewBuilder(f.r.Type.Props[p].Type)
	rd := reader{Rows: f.r}
	for i, o := range origins {
		var v value.Value
		switch {
		case made != nil && made[i].yields[p]:
			v = f.table.Value(o.ord, p)
		case made != nil && made[i].clears[p]:
		case b.sees(i, p):
			v = old.Value(i)
		case int(o.row) >= first && o.row != version.NoOrd:
			v = out.Value(int(o.row) - first)
		case o.row != version.NoOrd:
			other, at := rd.at(int(o.row))
			v = other.props[p].Value(at)
		case o.ord != version.NoOrd:
			v = f.table.Value(o.ord, p)
		default:
			v = f.r.Type.Default(p)
			if err := f.r.Type.CheckValue(p, v); err != nil {
				f.fail(b.line(i), "data."+f.r.Type.Props[p].Name, err)
			}
		}
		if err := out.Append(v); err != nil {
			return err
		}
	}
	if b.file == nil {
		b.props[p] = out
		return nil
	}
	src, err := b.file.replace(p, out, f.in.opts.Scratch)
	if err != nil {
		return err
	}
	b.props[p] = b.file.open(src, propColumn(p), f.r.Type.Props[p].Type)
	return nil
}

// resize notes the sizes of the rows of a spilled batch again.
func (f *filler) resize(b *batch) error {
	sizes := make([]uint32, b.rows())
	b.builders(func(x **column.Builder) { (*x).AddSizes(sizes) })
	total := int64(0)
	for _, n := range sizes {
		total += int64(n)
	}
	name := b.file.name + sizeColumn
	src, err := f.in.opts.Scratch(func(add func(string, []byte) error) error { return add(name, column.Bytes(sizes)) })
	if err != nil {
		return err
	}
	b.file.size, b.file.filled = total, src
	return nil
}
