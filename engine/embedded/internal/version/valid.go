package version

import (
	"context"
	"math"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// ValidPart is the part of a state that is valid at some instant of a period, see [plan.Valid]. It is the same for all periods whose first and
// last instants lie in two ranges: between them, no entity begins or ends to be valid.
type ValidPart struct {
	*Excerpt
	first, last steady
}

// steady is a range of instants, in microseconds since 1970: from, inclusive, to before.
type steady struct{ from, before int64 }

// has reports whether an instant is in the range.
func (r steady) has(at int64) bool { return r.from <= at && at < r.before }

// cut removes what lies beyond a boundary, as seen from an instant in the range.
func (r *steady) cut(at, boundary int64) {
	if boundary <= at {
		r.from = max(r.from, boundary)
	} else {
		r.before = min(r.before, boundary)
	}
}

// Fits reports whether the part is also that of another period.
func (p *ValidPart) Fits(first, last int64) bool {
	return p.first.has(first) && p.last.has(last) || fault.On(fault.ValidKept)
}

// ValidPart returns the part of s that is valid at some instant between `first` and `last`, both inclusive, in microseconds since 1970. Entities of types
// for which the function `ignored` is true are always valid. The argument `was`, if not nil, is a part of an earlier state with the same schema that fits the period and
// ignores the same types; the new one is derived from it. The only possible error is that of the context.
func (s *Snapshot) ValidPart(ctx context.Context, first, last int64, ignored func(t *schema.Type) bool, was *ValidPart) (*ValidPart, error) {
	whole := steady{math.MinInt64, math.MaxInt64}
	p := &ValidPart{first: whole, last: whole}
	if was != nil {
		p.first, p.last = was.first, was.last // a boundary that is gone does no harm
	}
	hidden := NewSelection(s)
	for _, t := range s.Tables() {
		if t.Type.Valid == nil || ignored(t.Type) {
			continue
		}
		set := engine.NewBitmap(int(t.next))
		v := validSweep{table: t, first: first, last: last, part: p, hidden: set}
		var err error
		if was == nil {
			err = v.all(ctx)
		} else {
			copy(set, *was.own.Set(t.Type))
			err = v.changed(ctx, was.Of.Table(t.Type.Entity, t.Type.Index))
		}
		if err != nil {
			return nil, err
		}
		*hidden.Set(t.Type) = set
	}
	var earlier *Excerpt
	if was != nil {
		earlier = was.Excerpt
	}
	var err error
	p.Excerpt, err = s.Excerpt(ctx, hidden, earlier)
	return p, err
}

// validSweep finds the entities of a table that are not valid in a period.
type validSweep struct {
	table       *Table
	first, last int64
	part        *ValidPart    // the ranges of which are cut
	hidden      engine.Bitmap // the result

	since, until column.Vec
	scratch      []uint32
}

// all looks at each entity.
func (v *validSweep) all(ctx context.Context) error {
	ords := make([]uint32, 1024)
	for n, from := 0, uint32(0); from < v.table.next; {
		if err := ctx.Err(); err != nil {
			return err
		}
		if n, from = v.table.Scan(from, ords); n == 0 {
			break
		}
		v.look(ords[:n])
	}
	return nil
}

// changed looks at the entities that are new since an earlier state of the table, or whose row may differ.
func (v *validSweep) changed(ctx context.Context, was *Table) error {
	ords := make([]uint32, 0, 1024)
	err := eachChangedRow(ctx, was, v.table, func(ord, _, _ uint32) {
		if !v.table.Alive(ord) {
			return
		}
		if ords = append(ords, ord); len(ords) == cap(ords) {
			v.look(ords)
			ords = ords[:0]
		}
	})
	v.look(ords)
	return err
}

// look looks at live entities.
func (v *validSweep) look(ords []uint32) {
	if len(ords) == 0 {
		return
	}
	typ := v.table.Type
	v.table.Gather(typ.Valid.Since, ords, &v.since, &v.scratch)
	v.table.Gather(typ.Valid.Until, ords, &v.until, &v.scratch)
	unit := int64(1)
	if typ.Props[typ.Valid.Since].Type.Kind == value.Date {
		unit = plan.Instant(value.OfDate(1))
	}
	for i, ord := range ords {
		since := v.since.Ints[i] * unit
		v.part.last.cut(v.last, since)
		valid := since <= v.last
		if v.until.Valid == nil || v.until.Valid.Get(i) {
			until := v.until.Ints[i] * unit
			v.part.first.cut(v.first, until)
			valid = valid && (until > v.first || until == v.first && fault.On(fault.ValidUntilLast))
		}
		if valid {
			v.hidden.Clear(int(ord))
		} else {
			v.hidden.Set(int(ord))
		}
	}
}
